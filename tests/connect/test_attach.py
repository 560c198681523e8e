"""Tests `connect attach` with a game that someone else starts."""

import os
import re
import signal
import socket
import subprocess
import sys

from tests.cli.tool import command, environment
from tests.connect.driving import describe, none_left


def free_port():
    """Return a port that nobody listens to."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_a_game_that_is_started_by_hand_is_searched_and_stays_alone(tmp_path):
    file, port = describe(tmp_path, "ladder"), free_port()
    words = command("connect", "attach", file, "--port", port, "--level", "short@3", "--iterations", 30, "--seed", 1)
    driver = subprocess.Popen(words, env=environment(PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE, text=True)
    game = None
    try:
        line = driver.stdout.readline()
        given = dict(re.findall(r"(PE_[A-Z]+)=(\S+)", line))
        assert given["PE_PORT"] == str(port) and len(given["PE_NONCE"]) == 32, line
        stranger = subprocess.run(
            [sys.executable, str(tmp_path / "ladder.py")],
            env={**environment(), **given, "PE_NONCE": "0" * 32},
            stderr=subprocess.PIPE,
        )
        assert stranger.returncode != 0
        game = subprocess.Popen([sys.executable, str(tmp_path / "ladder.py")], env={**environment(), **given})
        said = driver.stdout.read()
        assert driver.wait(60) == 0 and "short@3: utility 3" in said, said
        assert game.wait(20) == 0, "it is told to end"
    finally:
        driver.kill()
        driver.wait()
        if game is not None and game.poll() is None:
            os.kill(game.pid, signal.SIGKILL)
            game.wait()
    assert none_left(tmp_path)
