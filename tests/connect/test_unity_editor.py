"""Tests the Editor side of the Unity package with stubs of Unity: recompiling, attaching, builds without a session."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from persona_evo.cli.connect import PORT
from tests.connect.driving import none_left
from tests.connect.test_csharp import build, clean_environment, needs_mono
from tests.connect.test_unity_docs import compile_to
from tests.connect.test_unity_package import PACKAGE, STUBS, compile_unity
from tests.shared import ROOT

pytestmark = needs_mono

KINDS = ("", "editor", "release")
"""Folders of what `build.py unity` makes: a player that playtests, the Editor, a player that is released."""


@pytest.fixture(scope="module")
def unity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package compiled in all three kinds, with a program for each that stands in for Unity."""
    out = tmp_path_factory.mktemp("unity")
    compile_unity(out)
    for kind in KINDS:
        if kind:
            for name in ("UnityEngine.dll", "UnityEditor.dll", "PersonaEvo.Playtest.Editor.dll"):
                shutil.copy(out / name, out / kind)
        compile_to(out / kind / "Player.exe", STUBS / "Player" / "Player.cs")
    return out


def command(unity: Path, kind: str, mode: str, *words: str) -> list[str]:
    """A call of the stand-in for Unity."""
    folder = unity / kind
    return ["mono", str(folder / "Player.exe"), mode, str(folder / "PersonaEvo.Playtest.Editor.dll"), *words]


def program(folder: Path, lines: str) -> Path:
    """A program in place of persona-evo."""
    file = folder / "it's persona-evo"
    file.write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


@pytest.mark.parametrize("code", [0, 3])
def test_a_playtest_is_found_again_after_each_recompile(unity: Path, tmp_path: Path, code: int) -> None:
    project = tmp_path / "pro'ject"
    project.mkdir()
    said = program(tmp_path, f'for word; do echo "<$word>"; done; sleep 0.3; echo late >&2; exit {code}')
    done = subprocess.run(
        command(
            unity, "editor", "run", str(said), 'playtest "a b" --game {game} --out {out}', "$HOME/g.toml", "o'ut", ""
        ),
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    words = ["playtest", "a b", "--game", "$HOME/g.toml", "--out", "o'ut"]
    assert done.stdout.splitlines() == [*(f"<{word}>" for word in words), "late", f"ended with {code}"], done.stderr


def test_a_playtest_can_be_stopped(unity: Path, tmp_path: Path) -> None:
    said = program(tmp_path, "echo began; exec sleep 600")
    began = time.monotonic()
    done = subprocess.run(
        command(unity, "editor", "run", str(said), str(tmp_path), "game", "out", "began"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["began"], done.stderr
    assert time.monotonic() - began < 30 and none_left(tmp_path)


def test_a_program_that_is_not_there_is_named(unity: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(unity, "editor", "run", "no-such-persona-evo", "", "game", "out", ""),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "'no-such-persona-evo' was not found; give the path of persona-evo" in done.stdout + done.stderr


def test_the_window_builds_after_it_was_drawn_and_with_the_session_inside(unity: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(unity, "editor", "press", "Build and playtest"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.splitlines() == ["while the window is drawn: ", "afterwards: PERSONA_EVO"], done.stderr


def test_play_mode_attaches_to_a_driver_that_waits_once(unity: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        port = listener.getsockname()[1]
        process = subprocess.Popen(
            command(unity, "editor", "attach", str(port), "t0ken "),
            env=clean_environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        driver, _ = listener.accept()
        with driver, driver.makefile("rb") as stream:
            size, kind = struct.unpack("<IB", stream.read(5))
            hello = json.loads(stream.read(size))
            assert kind == 1 and hello["nonce"] == "t0ken"
            welcome = json.dumps({"protocol": [1, 0], "settings": {}, "variant": "", "map": ""}).encode()
            order = struct.pack("<QQQBBIHHHH", 1, 2, 3, 0, 0, 0, 1, 3, 2, 3)
            driver.sendall(struct.pack("<IB", len(welcome), 2) + welcome + struct.pack("<IB", len(order), 3) + order)
            size, kind = struct.unpack("<IB", stream.read(5))
            assert kind == 4 and struct.unpack_from("<QBd", stream.read(size)) == (1, 0, 3.0)
            driver.sendall(struct.pack("<IB", 0, 10))
        said, _ = process.communicate(timeout=30)
    assert said.splitlines() == ["attached", "alone"], "the token is used once"


def test_a_console_game_attaches_to_the_driver_at_the_ports_of_both(tmp_path: Path) -> None:
    component = PACKAGE / "Runtime" / "Unity" / "PlaytestBehaviour.cs"
    assert f"AttachPort = {PORT};" in component.read_text(encoding="utf-8")
    build(tmp_path, "corridor")
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    (tmp_path / "corridor.toml").write_text('game = "corridor.exe"\nslots = 1\n', encoding="utf-8")
    words = ["connect", "attach", "corridor.toml", "--port", str(port), "--iterations", "30", "--level", "default@1"]
    driver = subprocess.Popen(
        [sys.executable, "-u", "-m", "persona_evo", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert driver.stdout is not None
    said = ""
    while "PE_NONCE=" not in said:
        line = driver.stdout.readline()
        assert line, said
        said += line
    told = dict(re.findall(r"(PE_\w+)=(\S+)", said))
    stranger = {**told, "PE_NONCE": "another"}
    subprocess.run(["mono", tmp_path / "corridor.exe"], env=clean_environment(**stranger), timeout=60)
    game = subprocess.run(["mono", tmp_path / "corridor.exe"], env=clean_environment(**told), timeout=60)
    rest, _ = driver.communicate(timeout=60)
    assert "refused: somebody connected with a wrong nonce" in rest
    assert game.returncode == 0 and driver.returncode == 0, rest
    assert "OUT=1" in rest


@pytest.mark.parametrize("kind", ["", "editor"])
def test_a_camera_draws_pictures_in_each_pipeline_and_leaves_nothing_behind(unity: Path, kind: str) -> None:
    done = subprocess.run(command(unity, kind, "picture"), capture_output=True, text=True, timeout=60, check=True)
    said = [line for line in done.stdout.splitlines() if not line.startswith("iVBOR")]
    assert said == [
        "persona-evo: there is no Playtest component yet, so this camera draws no pictures",
        "drawn by the camera",
        "drawn by the pipeline" if kind == "editor" else "drawn by the camera",
        "restored True, held 0, textures 1",
        "without graphics True",
        "without the camera True",
    ]
    for text in (line for line in done.stdout.splitlines() if line.startswith("iVBOR")):
        with Image.open(io.BytesIO(base64.b64decode(text))) as image:
            assert image.size == (320, 180)
            assert [image.getpixel((x, y))[0] for x, y in ((0, 179), (5, 179), (0, 178))] == [0, 5, 320 % 256]


def test_release_builds_have_no_session(unity: Path) -> None:
    names = (b"System.Net.Sockets", b"Socket")
    libraries = {kind: (unity / kind / "PersonaEvo.Playtest.Core.dll").read_bytes() for kind in KINDS}
    for name in names:
        assert name in libraries[""] and name in libraries["editor"] and name not in libraries["release"]
    started = {**os.environ, "PE_ADDR": "127.0.0.1", "PE_PORT": "9", "PE_NONCE": "n"}
    done = subprocess.run(
        command(unity, "release", "attach", "9", "n"), env=started, capture_output=True, text=True, timeout=60
    )
    warning = "persona-evo: this build has no playtest session; build it with the define PERSONA_EVO"
    assert done.stdout.splitlines() == [warning, "alone"] * 2, done.stderr
