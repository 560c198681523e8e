"""An importer of levels from another package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.extensions.examples import examples
from tests.extensions.packages import command, install, python
from tests.shared import ROOT

ROOM = "1,1,1,1,1\n1,2,0,3,1\n1,4,0,5,1\n1,1,1,1,1\n"
TEXT = "XXXXX\nXH eX\nXM TX\nXXXXX\n"
POINTS = {"persona_evo.importers": {"tiled_csv": "tiled_csv:CSV", "broken": "tiled_csv:NOWHERE"}}


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    return install(tmp_path, "tiled_csv", examples()["tiled_csv"], POINTS)


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "room.csv").write_text(ROOM)
    return folder


@pytest.mark.parametrize("name", ["maps/room.csv", "maps", "maps/room", "maps/*.csv"])
def test_imported_levels_are_named_like_others(installed: dict[str, str], maps: Path, name: str) -> None:
    program = "import sys, persona_evo as pe; print(*[x.text for x in pe.load_levels([sys.argv[1]])])"
    done = python(installed, "-c", program, name, cwd=maps.parent)
    assert done.returncode == 0 and done.stdout == f"{TEXT}\n", done.stderr


def test_own_files_go_before_imported_ones(installed: dict[str, str], maps: Path) -> None:
    (maps / "own.txt").write_text(TEXT)
    program = "import persona_evo as pe; print(*[x.name for x in pe.load_levels(['maps'])])"
    assert python(installed, "-c", program, cwd=maps.parent).stdout == "own\n"


def test_the_command_line_imports(installed: dict[str, str], maps: Path, tmp_path: Path) -> None:
    listed = command(installed, "level", "list")
    assert "imports .csv (tiled_csv): layers of Tiled as CSV" in listed.stdout
    assert "the importer of levels 'broken' cannot be loaded" in listed.stderr and listed.returncode == 0
    done = command(installed, "level", "import", maps / "room.csv", "--out", "own", cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "own" / "room.txt").read_text() == TEXT, done.stderr
    (tmp_path / "own" / "room.txt").write_text("mine")
    done = command(installed, "level", "import", maps / "room.csv", "--out", "own", cwd=tmp_path)
    assert done.returncode == 2 and "--force" in done.stderr


def test_a_playtest_keeps_the_imported_text(installed: dict[str, str], maps: Path, tmp_path: Path) -> None:
    little = ("--trials", 2, "--iterations", 50, "--bound-seconds", 0, "--no-pictures", "--jobs", 2, "--seed", 1)
    played = ("playtest", maps / "room.csv", "--personas", "runner", "--policy", "ucb1", *little, "--out", "run")
    done = command(installed, *played, cwd=tmp_path)
    assert done.returncode == 0 and "room" in done.stdout, done.stderr
    config = next(f for f in (tmp_path / "run").rglob("*.json") if '"levels"' in f.read_text())
    assert TEXT in {level["text"] for level in json.loads(config.read_text())["levels"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1,1\n1,9\n", "room.csv:2:2: unknown tile"),
        ("1,1,1\n", "the importer 'tiled_csv' makes a level that MiniDungeons 2 cannot read"),
    ],
)
def test_mistakes_have_their_place(installed: dict[str, str], maps: Path, text: str, says: str) -> None:
    (maps / "room.csv").write_text(text)
    done = command(installed, "level", "check", "maps/room.csv", cwd=maps.parent)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_without_the_importer_a_file_is_read_as_before(maps: Path, installed: dict[str, str]) -> None:
    without = {**installed, "PYTHONPATH": str(ROOT)}
    done = command(without, "level", "check", "maps/room.csv", cwd=maps.parent)
    assert done.returncode == 2 and "importer" not in done.stderr, done.stderr
