"""Tests that command lines for copying name the game that they are about, and levels that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from persona_evo.errors import GameError, PersonaError, SettingsError
from persona_evo.games import registry
from persona_evo.games.commands import command, unseen
from persona_evo.personas import load, resolve, template
from tests.shared import ROOT

pytestmark = pytest.mark.quick

HOP = (ROOT / "tests" / "examples" / "corridor.py").read_text(encoding="utf-8").replace("Corridor", "Hopper")


@pytest.fixture
def hopper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a game of one's own in the current folder, as it is named there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hop.py").write_text(HOP, encoding="utf-8")
    return "hop.py:GAME"


def test_the_game_is_named_where_it_is_not_the_usual_one(hopper: str) -> None:
    usual, own = registry.get(registry.DEFAULT), registry.get(hopper)
    assert command(usual, "persona", "check", "my file.toml") == "persona-evo persona check 'my file.toml'"
    assert command(own, "policy", "list").startswith("persona-evo policy list --game")
    assert command(own, "policy", "list").endswith("hop.py:GAME")
    assert unseen(usual) == ("test",) and unseen(own, ("a.txt",)) == ("a.txt",) and unseen(own) == ("YOUR_LEVELS",)


def test_personas_of_a_game_of_ones_own(hopper: str, tmp_path: Path) -> None:
    own = registry.get(hopper)
    assert "hop.py:GAME" in template.text("brave", own).splitlines()[0]
    for ask in (lambda: load("runner", own), lambda: resolve(["all"], own)):
        with pytest.raises(PersonaError, match=r"Hopper has no personas of its own: .* persona new NAME --game"):
            ask()
    (tmp_path / "brave.toml").write_text(template.text("brave", own), encoding="utf-8")
    with pytest.raises(PersonaError, match=r"add --game FILE\.toml, .*, or --game FILE\.py:GAME"):
        load(tmp_path / "brave.toml", registry.get(registry.DEFAULT))


def test_a_class_in_place_of_a_game_is_told_what_makes_one(hopper: str) -> None:
    with pytest.raises(GameError, match=r"GAME = from_class\(Hopper\)"):
        registry.get("hop.py:Hopper")


def test_a_game_that_has_moved_is_named_anew(hopper: str) -> None:
    assert registry.again("minidungeons2", None, "runs/x") == "minidungeons2"
    assert registry.again("/nowhere/hop.py:GAME", hopper, "runs/x") == str(Path("hop.py").resolve()) + ":GAME"
    with pytest.raises(SettingsError, match="no longer where it was") as e:
        registry.again("/nowhere/hop.py:GAME", None, "runs/x")
    assert "/nowhere/hop.py" in str(e.value) and "--game" in str(e.value)
