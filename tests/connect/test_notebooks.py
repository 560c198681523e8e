"""The notebook templates do what they show: their code cells run in their order, in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tool import environment
from tests.connect.driving import GAMES, none_left
from tests.shared import ROOT

NOTEBOOKS = sorted((ROOT / "unity_support" / "notebooks").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[str]:
    """The texts of a notebook's cells."""
    data = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in data["cells"] if cell["cell_type"] == kind]


def played(notebook: Path, folder: Path, **variables: str) -> str:
    """What the notebook prints."""
    script = folder / "cells.py"
    script.write_text("\n\n".join(cells(notebook, "code")), encoding="utf-8")
    small = {"REPLICATES": "2", "ROLLOUTS": "60", "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(script)], cwd=folder, env=environment(**small, **variables),
                          capture_output=True, text=True, timeout=600, check=False)  # fmt: skip
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
def test_your_game(tmp_path: Path) -> None:
    game = tmp_path / "ladder.py"
    game.write_text((GAMES / "ladder.py").read_text(encoding="utf-8"), encoding="utf-8")
    said = played(ROOT / "unity_support" / "notebooks" / "your_game.ipynb", tmp_path, GAME=str(game))
    assert "corrected" in said and (tmp_path / "your-game-best" / "best.json").is_file()
    assert none_left(tmp_path)
