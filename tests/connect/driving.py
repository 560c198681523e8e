"""Helpers for these tests: games in folders of their own, and a check for remaining processes."""

import subprocess
import time
from pathlib import Path

from persona_evo.connect.description_file import read
from persona_evo.connect.game import of
from persona_evo.connect.session import Session

GAMES = Path(__file__).parent / "games"
LIMITS = "[timeouts]\nconnect = 60\nhandshake = 0.5\nrollout = 1\n"


def describe(folder, game="ladder", top="", tables=""):
    """Write a description into a folder, with a copy of the game beside it so that its processes can be identified."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{game}.py"
    source.write_text((GAMES / f"{game}.py").read_text(encoding="utf-8"), encoding="utf-8")
    file = folder / f"{game}.toml"
    file.write_text(f'game = "{game}.py"\nlogs = "logs"\n{top}\n{tables}\n', encoding="utf-8")
    return file


def faulty(folder, fault, top="", tables=LIMITS):
    """A description of the game that misbehaves."""
    return describe(folder, "faulty", f'arguments = ["{fault}"]\n{top}', tables)


def session(file):
    """A session, and its game once that has been started."""
    return Session(read(file))


def game(file):
    """The game of a description, its session not shared with other tests."""
    one = session(file)
    try:
        return of(one), one
    except BaseException:
        one.close()
        raise


def left(folder):
    """Return the processes whose command line names something in a folder."""
    columns = "pid=,ppid=,stat=,etimes=,args="
    text = subprocess.run(["ps", "-axww", "-o", columns], capture_output=True, text=True, check=True).stdout
    return [line for line in text.splitlines() if str(folder) in line and "ps -axww" not in line]


def games(folder):
    """Return the game processes of a folder, without their guards."""
    return [line for line in left(folder) if "guard.py" not in line]


def none_left(folder, seconds=15.0):
    """Return whether no process of a folder is left after a short wait; print those that are."""
    end = time.monotonic() + seconds
    while (found := left(folder)) and time.monotonic() < end:
        time.sleep(0.05)
    print(*found, sep="\n")
    return not found
