"""An importer of levels from another package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import persona_evo as pe
from tests.cli.tool import run
from tests.extensions.conftest import Install
from tests.extensions.examples import examples
from tests.extensions.packages import command

Capture = pytest.CaptureFixture[str]
ROOM = "1,1,1,1,1\n1,2,0,3,1\n1,4,0,5,1\n1,1,1,1,1\n"
TEXT = "XXXXX\nXH eX\nXM TX\nXXXXX\n"
POINTS = {"persona_evo.importers": {"tiled_csv": "tiled_csv:CSV", "broken": "tiled_csv:NOWHERE"}}


@pytest.fixture
def installed(install: Install) -> dict[str, str]:
    return install("tiled_csv", examples()["tiled_csv"], POINTS)


@pytest.fixture
def maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one map, in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "room.csv").write_text(ROOM)
    return folder


@pytest.mark.parametrize("name", ["maps/room.csv", "maps", "maps/room", "maps/*.csv"])
def test_imported_levels_are_named_like_others(installed: dict[str, str], maps: Path, name: str) -> None:
    assert [level.text for level in pe.load_levels(name)] == [TEXT]


def test_own_files_go_before_imported_ones(installed: dict[str, str], maps: Path) -> None:
    (maps / "own.txt").write_text(TEXT)
    assert [level.name for level in pe.load_levels("maps")] == ["own"]


def test_the_command_line_imports(installed: dict[str, str], maps: Path, capsys: Capture) -> None:
    listed = run(capsys, "level", "list")
    assert "imports .csv (tiled_csv): layers of Tiled as CSV" in listed.out and listed.code == 0
    assert "the importer of levels 'broken' cannot be loaded" in listed.err
    done = run(capsys, "level", "import", "maps/room.csv", "--out", "own")
    assert done.code == 0 and Path("own/room.txt").read_text() == TEXT, done.err
    Path("own/room.txt").write_text("mine")
    done = run(capsys, "level", "import", "maps/room.csv", "--out", "own")
    assert done.code == 2 and "--force" in done.err


def test_a_playtest_keeps_the_imported_text(installed: dict[str, str], maps: Path) -> None:
    """Workers and resumed runs load it without the importer."""
    little = ("--trials", 2, "--iterations", 50, "--bound-seconds", 0, "--no-pictures", "--jobs", 2, "--seed", 1)
    played = ("playtest", "maps/room.csv", "--personas", "runner", "--policy", "ucb1", *little, "--out", "run")
    done = command(installed, *played)
    assert done.returncode == 0 and "room" in done.stdout, done.stderr
    config = next(f for f in Path("run").rglob("*.json") if '"levels"' in f.read_text())
    assert TEXT in {level["text"] for level in json.loads(config.read_text())["levels"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1,1\n1,9\n", "room.csv:2:2: unknown tile"),
        ("1,1,1\n", "the importer 'tiled_csv' makes a level that MiniDungeons 2 cannot read"),
    ],
)
def test_mistakes_have_their_place(
    installed: dict[str, str], maps: Path, capsys: Capture, text: str, says: str
) -> None:
    (maps / "room.csv").write_text(text)
    done = run(capsys, "level", "check", "maps/room.csv")
    assert done.code == 2 and says in done.err, done.err


def test_without_the_importer_a_file_is_read_as_before(maps: Path, capsys: Capture) -> None:
    done = run(capsys, "level", "check", "maps/room.csv")
    assert done.code == 2 and "unknown character" in done.err and "importer" not in done.err, done.err
