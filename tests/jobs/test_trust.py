"""Tests folders that name code: it runs only if the file is unchanged or was accepted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from persona_evo import personas
from persona_evo.errors import RunError
from persona_evo.experiments import job as course
from persona_evo.formula import parse
from persona_evo.games import registry, trust
from persona_evo.jobs import schema
from persona_evo.matches import reopening
from persona_evo.playtest import batch
from persona_evo.playtest.players import Player
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

EXAMPLE = Path(__file__).parents[1] / "examples" / "corridor.py"
RAN = "trust_test_ran"


def hostile(path: Path) -> str:
    """Return a game's file that says when it is run; its address."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"import sys\nsys.{RAN} = True\nGAME = None\n", encoding="utf-8")
    return f"{path}:GAME"


def ran() -> bool:
    """Return whether it was run."""
    return hasattr(sys, RAN)


def test_code_of_tells_files_apart_without_running_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trust.code_of("minidungeons2") == {} and trust.code_of("no_such_game") == {}
    address = hostile(tmp_path / "lib_pkg" / "inner.py")
    (tmp_path / "lib_pkg" / "__init__.py").write_text(f"import sys\nsys.{RAN} = True\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    of_file = trust.code_of(address)
    assert of_file == trust.code_of("lib_pkg.inner:GAME") and len(of_file[trust.CODE]) == 32
    (tmp_path / "lib_pkg" / "inner.py").write_text("GAME = 1\n", encoding="utf-8")
    assert trust.code_of(address) != of_file and trust.code_of(f"{tmp_path}/gone.py:GAME") == {}
    (tmp_path / "tower.toml").write_text("name = 'x'\n", encoding="utf-8")
    assert trust.code_of(str(tmp_path / "tower.toml"))
    assert not ran()


CONFIGS: dict[str, dict[str, Any]] = {
    "playtest.json": {
        "schema": 1,
        "game_version": 1,
        "seed": 1,
        "trials": 1,
        "budget": {"iterations": 10, "seconds": None, "nodes": None},
        "search": SearchSettings.single().to_dict(),
        "levels": [{"name": "a", "text": "x", "source": "", "options": {}}],
        "players": [{"label": "r", "persona": "r", "policy": "formula", "utility": "R", "formula": "R", "c": 1.0}],
    },
    "match.json": {"schema": 1, "game_version": 1, "agents": [], "levels": []},
    "experiment.json": {
        **{"schema": 1, "name": "x", "title": "x", "seed": 1, "replicates": 1},
        "cells": [
            {"variant": "", "player": "p", "level": "l", "score": "", "persona": "", "settings": {}, "search": {}}
        ],
    },
}
REOPEN = {"playtest.json": batch.kept, "match.json": reopening.reopen, "experiment.json": course.reopen}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("case", ["no digest", "another digest", "inside"])
def test_a_foreign_folder_runs_nothing(tmp_path: Path, name: str, case: str) -> None:
    folder = tmp_path / "foreign"
    file = (folder if case == "inside" else tmp_path) / "evil.py"
    address = hostile(file)
    code = {"no digest": {}, "another digest": {trust.CODE: "0" * 32}, "inside": trust.code_of(address)}[case]
    folder.mkdir(exist_ok=True)
    schema.write(folder / name, {**CONFIGS[name], "game": address, **code})
    with pytest.raises(RunError) as caught:
        REOPEN[name](folder)
    assert str(file) in str(caught.value) and "--trust" in str(caught.value)
    assert caught.value.place is not None and caught.value.place.source == str(folder / name)
    assert not ran()


def test_a_playtest_of_a_changed_game_is_resumed_when_it_is_accepted(tmp_path: Path) -> None:
    file, folder = tmp_path / "corridor.py", tmp_path / "out"
    file.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    game = registry.get(f"{file}:GAME")
    levels = [game.load("@.$..", "short")]
    persona = personas.Persona("mine", game.name, parse(game.metrics[0].symbol), game.metrics[0].symbol)
    players = [Player(persona, TreePolicy.ucb1())]
    rules: dict[str, Any] = {"seed": 1, "budget": Budget(30), "settings": SearchSettings.single()}
    batch.playtest(game, levels, players, 2, **rules, folder=folder, game_name=registry.address(game))
    config = json.loads((folder / "playtest.json").read_text(encoding="utf-8"))
    assert config[trust.CODE] == trust.code_of(config["game"])[trust.CODE]
    assert len(batch.resume(folder).records) == 2, "the same file needs no permission"
    file.write_text(file.read_text(encoding="utf-8") + "\n# a comment\n", encoding="utf-8")
    with pytest.raises(RunError, match="not the one this folder was made with"):
        batch.resume(folder)
    assert len(batch.resume(folder, game_name=f"{file}:GAME").records) == 2, "who names the file knows it"
    trust.accept(folder)
    assert len(batch.resume(folder).records) == 2
