"""Tests that every mistake in a Python class game is one GameError with the place, the problem and the moves."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.errors import GameError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.check import glance
from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class
from persona_evo.search.plan import plan
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
from tests.examples import coin, corridor, nim


class Walk:
    actions = ("left", "right")
    metrics = (Metric("A", "a", "a number"),)

    def __init__(self, at: int = 3) -> None:
        self.at = at

    @classmethod
    def from_text(cls, text: str) -> Any:
        return cls()

    def copy(self) -> Any:
        return type(self)(self.at)

    def legal(self) -> Any:
        return list(self.actions)

    def apply(self, action: str) -> None:
        self.at += 1

    def over(self) -> Any:
        return "ended" if self.at > 9 else None

    def measure(self) -> Any:
        return {"A": self.at}

    def key(self) -> Any:
        return self.at


def fails(*_: object) -> Any:
    raise KeyError("oh")


def leaves(*_: object) -> Any:
    sys.exit(3)


def gives(value: Any) -> Any:
    return lambda *_: value


WRONG: list[tuple[dict[str, Any], str]] = [
    *(
        ({name: fails}, rf"test_broken_games.py:\d+: Wrong.{name} raises KeyError: 'oh'")
        for name in ("copy", "legal", "apply", "over", "measure", "key")
    ),
    *(
        ({name: leaves}, f"Wrong.{name} raises SystemExit: 3")
        for name in ("copy", "legal", "apply", "over", "measure", "key")
    ),
    ({"legal": gives(None)}, "legal gives None at the start, expected a list"),
    ({"legal": gives({"left"})}, "legal gives {'left'}"),
    ({"legal": gives(["left", "left"])}, "expected each action once"),
    ({"legal": gives([["left"]])}, "its `actions` are"),
    ({"copy": gives(None)}, "copy gives 'NoneType', expected an independent Wrong"),
    ({"copy": lambda self: self}, "copy gives the state itself"),
    ({"over": gives(np.zeros(2))}, "over gives array"),
    ({"over": gives(float("nan"))}, "over gives nan"),
    ({"measure": gives(None)}, "measure gives None"),
    *(
        ({"measure": gives({"A": value})}, "measure gives .*expected a number")
        for value in (None, "1", 1j, np.zeros(2), float("nan"), float("inf"), 10**400, 1e200)
    ),
    ({"measure": lambda self: {"A": float("nan") if self.at == 6 else 1}}, "measure gives nan after 3 moves"),
]


@pytest.mark.parametrize(("methods", "message"), WRONG)
def test_what_a_method_does_wrong_is_told_by_search_and_glance(methods: dict[str, Any], message: str) -> None:
    game = from_class(type("Wrong", (Walk,), methods))
    level = game.load("x", "x")
    with pytest.raises(GameError, match=message):
        glance(game, level)
    with pytest.raises(GameError, match=message):
        plan(game, level, parse("A"), TreePolicy.ucb1(), Budget(60))


def test_from_text_is_held_to_the_contract() -> None:
    for method, message in ((fails, "from_text raises KeyError"), (leaves, "raises SystemExit"), (gives(3), "gives 3")):
        game = from_class(type("Wrong", (Walk,), {"from_text": classmethod(method)}))
        with pytest.raises(GameError, match=message):
            game.load("x", "x")


class Shared(Walk):
    def __init__(self, at: Any = None) -> None:
        self.at = at or [3]

    def apply(self, action: str) -> None:
        self.at[0] += 1

    def over(self) -> Any:
        return None

    def measure(self) -> Any:
        return {"A": self.at[0]}


def by_luck(self: Walk, action: str) -> None:
    self.at += random.randrange(1, 5)


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Shared, "does not lead to the same state twice|changes the state"),
        (type("Lucky", (Walk,), {"apply": by_luck}), "does not lead to the same state twice"),
        (type("Start", (Walk,), {"from_text": classmethod(lambda c, _: c(random.random()))}), "different starts"),
        (type("Low", (Walk,), {"measure": gives({"A": -1})}), r"A is -1, its range is \[0, inf\]"),
    ],
)
def test_a_glance_finds_what_would_make_results_depend_on_the_machine(cls: Any, message: str) -> None:
    game = from_class(cls)
    with pytest.raises(GameError, match=message):
        glance(game, game.load("x", "x"))


def test_good_games_pass_and_a_level_that_is_resolved_is_glanced_at(tmp_path: Path) -> None:
    for game, text in ((corridor.GAME, "$..$@....D"), (nim.GAME, "11"), (coin.GAME, "0.4 1"), (from_class(Walk), "x")):
        glance(game, game.load(text, "level"))
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    with pytest.raises(GameError, match="copy gives the state itself"):
        mapsets.resolve(from_class(type("Self", (Walk,), {"copy": lambda self: self})), [str(tmp_path / "a.txt")])


def test_a_state_with_a_key_may_hold_what_cannot_be_compared() -> None:
    def start(self: Any, at: int = 3) -> None:
        self.at, self.help = at, lambda: 1

    glance(game := from_class(type("Held", (Walk,), {"__init__": start})), game.load("x", "x"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("import sys\nsys.exit(1)", r"broken.py:2: .*SystemExit: 1"),
        ("x = 1\n1 / 0", r"broken.py:2: .*ZeroDivisionError"),
        ("raise RuntimeError('no')", "RuntimeError: no"),
        ("{}['a']", "KeyError"),
    ],
)
def test_a_file_that_fails_when_it_is_imported_is_told(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(GameError, match=message):
        registry.get(str(file))


@pytest.mark.parametrize("name", ["..:x", ":", "a\0b:GAME", "a\0b.py", ".:x", "os:", "os:path.join", "/dev/null.py:G"])
def test_names_of_games_that_cannot_be_are_told(name: str) -> None:
    with pytest.raises(SettingsError, match=r"cannot be loaded|no such game"):
        registry.get(name)
