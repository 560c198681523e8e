"""Reads what a Python class declares about its game in its attributes, and checks it before the first state is made."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from persona_evo.errors import FormulaError, GameError
from persona_evo.formula import parse
from persona_evo.games.core import Metric

NEEDED = ("from_text", "legal", "apply", "over", "measure")
"""Methods that every class has."""


@dataclass(frozen=True, eq=False)
class Declaration:
    """Holds what a class declares about its game.

    Attributes:
        metrics: the class's own, then one for each of its `ways`.
        actions: names of the actions; empty where actions are whole numbers.
        ways: symbols of the metrics that are moves to the nearest target.
        max_actions: the most legal actions of any state.
        care, health, homing: formulas over the metrics; "" where there is none.
        idle: the action that stands still; "" where there is none.
        module: name and file of the module that defines the class.
    """

    cls: type[Any]
    metrics: tuple[Metric, ...]
    actions: tuple[str, ...]
    ways: tuple[str, ...]
    players: int
    deterministic: bool
    max_actions: int
    care: str
    health: str
    homing: str
    idle: str
    module: tuple[str, str]

    def has(self, method: str) -> bool:
        """Return whether the class has an optional method."""
        return callable(getattr(self.cls, method, None))


def declaration_of(
    cls: type[Any], metrics: Sequence[Metric] | None, players: int, deterministic: bool, max_actions: int | None
) -> Declaration:
    """Return what a class says about its game.

    Args:
        metrics: takes the place of the class's attribute `metrics`, if given.
        max_actions: the most legal actions of any state; the number of `actions` if left out.

    Raises:
        GameError: the class lacks something, or an attribute has no valid value.
    """
    found = tuple(metrics if metrics is not None else getattr(cls, "metrics", ()))
    if not found or not all(isinstance(m, Metric) for m in found):
        raise GameError(f"{cls.__name__} has no metrics: give from_class or the class `metrics`, a tuple of Metric")
    needed = (*NEEDED, "mover") if players > 1 else NEEDED
    missing = [method for method in needed if not callable(getattr(cls, method, None))]
    if missing:
        raise GameError(f"{cls.__name__} lacks the methods {', '.join(missing)}")
    names = tuple(getattr(cls, "actions", ()))
    if not all(isinstance(n, str) and n for n in names) or len(set(names)) != len(names):
        raise GameError(f"{cls.__name__} has the actions {names!r}, expected texts that differ")
    most = max_actions or len(names)
    if most < 1:
        raise GameError(
            f"{cls.__name__} has no `actions`: set max_actions to the largest number of legal actions in any state"
        )
    ways = _ways_of(cls, [m.symbol for m in found], players)
    symbols = [m.symbol for m in (*found, *ways)]
    care, health, homing = (_formula_of(cls, name, symbols) for name in ("care", "health", "homing"))
    idle = getattr(cls, "idle", "")
    if idle and idle not in names:
        raise GameError(
            f"{cls.__name__}.idle is not one of its actions\n  found: {idle!r}\n"
            f"  expected: one of {', '.join(names) or 'its actions, which it has to name'}"
        )
    return Declaration(
        cls=cls,
        metrics=found + ways,
        actions=names,
        ways=tuple(m.symbol for m in ways),
        players=players,
        deterministic=deterministic,
        max_actions=most,
        care=care,
        health=health,
        homing=homing,
        idle=idle,
        module=module_of(cls),
    )


def _formula_of(cls: type[Any], name: str, symbols: Sequence[str]) -> str:
    """Return the formula that a class attribute holds, "" without one."""
    text = getattr(cls, name, "")
    try:
        if text != "":
            parse(text, symbols)
    except (FormulaError, TypeError, AttributeError) as e:
        raise GameError(
            f"{cls.__name__}.{name} is not a formula over the class's metrics\n  found: {text!r}\n"
            f"  expected: a formula over {', '.join(symbols)}\n  hint: {e}"
        ) from e
    return str(text)


def _ways_of(cls: type[Any], symbols: Sequence[str], players: int) -> tuple[Metric, ...]:
    """Return the metrics that a class's attribute `ways` asks for."""
    ways = getattr(cls, "ways", {})
    if not ways:
        return ()
    for method in ("position", "targets"):
        if not callable(getattr(cls, method, None)):
            raise GameError(f"{cls.__name__} has `ways` and lacks the method {method}")
    if players > 1:
        raise GameError(f"{cls.__name__} has `ways`, which are for single-player games")
    for symbol, name in ways.items() if isinstance(ways, Mapping) else [(ways, "")]:
        known = isinstance(symbol, str) and symbol.isascii() and symbol.isidentifier()
        if not (known and isinstance(name, str) and name):
            raise GameError(
                f"{cls.__name__}.ways holds {symbol!r}: {name!r}\n"
                '  expected: symbols and what they lead to, as in {"NC": "coin"}'
            )
        if symbol in symbols:
            raise GameError(f"{cls.__name__}.ways names {symbol!r}, which is one of its metrics already")
    meaning = "moves to the nearest {0} / to the farthest place, 0 without any"
    return tuple(
        Metric(symbol, f"nearest {name}", meaning.format(name), high=1, better="lower", costly=True)
        for symbol, name in ways.items()
    )


def module_of(cls: type[Any]) -> tuple[str, str]:
    """Return the name and the file of the module that defines a class; "" for a file that is not known."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__, str(getattr(module, "__file__", "") or "")
