"""Tests that the notebook templates work: their code cells run in order in a process of their own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tool import environment
from tests.connect.driving import GAMES, describe, none_left
from tests.connect.test_csharp import build, needs_mono
from tests.shared import ROOT

NOTEBOOKS = sorted((ROOT / "unity_support" / "notebooks").glob("*.ipynb"))
YOURS = ROOT / "unity_support" / "notebooks" / "your_game.ipynb"


def cells(notebook: Path, kind: str) -> list[str]:
    """The texts of a notebook's cells."""
    data = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in data["cells"] if cell["cell_type"] == kind]


def played(notebook: Path, folder: Path, **variables: str) -> str:
    """What the notebook prints."""
    script = folder / "cells.py"
    script.write_text("\n\n".join(cells(notebook, "code")), encoding="utf-8")
    small = {"REPLICATES": "2", "ROLLOUTS": "60", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env=environment(**small, **variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_notebooks_are_plain_and_without_output() -> None:
    assert {n.stem for n in NOTEBOOKS} == {"playstyles", "designs", "your_game"}
    for notebook in NOTEBOOKS:
        data = json.loads(notebook.read_text(encoding="utf-8"))
        assert data["nbformat"] == 4 and notebook.stat().st_size < 20_000
        code = [cell for cell in data["cells"] if cell["cell_type"] == "code"]
        assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_playstyles(tmp_path: Path) -> None:
    said = played(ROOT / "unity_support" / "notebooks" / "playstyles.ipynb", tmp_path)
    assert "greedy scores more than lazy in" in said and "the best game: [" in said
    assert (tmp_path / "playstyles-best" / "tree.npz").stat().st_size > 0


def test_designs(tmp_path: Path) -> None:
    said = played(ROOT / "unity_support" / "notebooks" / "designs.ipynb", tmp_path)
    assert "high_stakes: " in said and "corrected" in said


@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked for with ps")
@pytest.mark.parametrize(("name", "variant", "differs"), [("ladder", "loose", False), ("by_the_book", "double", True)])
def test_your_game(tmp_path: Path, name: str, variant: str, differs: bool) -> None:
    game = tmp_path / f"{name}.py"
    game.write_text((GAMES / f"{name}.py").read_text(encoding="utf-8"), encoding="utf-8")
    said = played(YOURS, tmp_path, GAME=str(game), VARIANTS=f"default {variant}")
    scores = [json.loads(line.split(" ", 1)[1]) for line in said.splitlines()[:2]]
    assert not differs or scores[1] == [2 * score for score in scores[0]]
    assert "corrected" in said and (tmp_path / "your-game-best" / "best.json").is_file()
    assert none_left(tmp_path)


def test_your_game_without_a_game_names_its_path_and_no_line_of_code(tmp_path: Path) -> None:
    script = tmp_path / "cells.py"
    script.write_text("\n\n".join(cells(YOURS, "code")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert f"there is no program {tmp_path.resolve() / 'Build' / 'Game.x86_64'}" in done.stderr


def test_what_notebooks_leave_behind_is_not_for_git() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git, or no repository")
    kept = [
        name
        for notebook in NOTEBOOKS
        for text in cells(notebook, "code")
        for name in re.findall(r"""(?:save|write)\(["']([^"']+)""", text)
    ]
    assert len(kept) >= 2
    for name in kept:
        path = f"unity_support/notebooks/{name}/tree.npz"
        assert subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, check=False).returncode == 0, path


@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked for with ps")
def test_your_game_may_be_a_description(tmp_path: Path) -> None:
    file = describe(tmp_path, "by_the_book")
    said = played(YOURS, tmp_path, GAME=str(file), VARIANTS="default double")
    scores = [json.loads(line.split(" ", 1)[1]) for line in said.splitlines()[:2]]
    assert scores[1] == [2 * score for score in scores[0]] and none_left(tmp_path)


@needs_mono
def test_your_game_may_be_an_exe_of_dotnet(tmp_path: Path) -> None:
    build(tmp_path, "corridor")
    said = played(YOURS, tmp_path, GAME="corridor.exe", VARIANTS="default")
    assert said.startswith("default [") and none_left(tmp_path)
