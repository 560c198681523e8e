"""Levels of a game that is a Python class: read, drawn, shown as text, and sent to other processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from persona_evo.errors import GameError, LevelError, PersonaEvoError, Place, raised
from persona_evo.games.constraints import Constraints, Generator
from persona_evo.games.core import Level, State
from persona_evo.games.python_game.declaration import Declaration, module_of
from persona_evo.games.python_game.rules import ClassRules
from persona_evo.games.python_game.ways import MoveGraph


@dataclass(frozen=True, eq=False)
class PythonLevel(Level):
    """A level of a Python game; another process gets its text and reads it again."""

    module: tuple[str, str] = ("", "")

    def __reduce__(self) -> tuple[Callable[..., Level], tuple[Any, ...]]:
        return _reload, (self.module, self.game, self.text, self.name, self.source, dict(self.options))


def _reload(module: tuple[str, str], game: str, text: str, name: str, source: str, options: Mapping[str, Any]) -> Level:
    """Read a level again in another process (what unpickling calls)."""
    from persona_evo.games import registry

    return registry.in_module(*module, game).load(text, name, source, **options)


def reader(game: str, declared: Declaration, rules: ClassRules) -> Callable[..., Level]:
    """Return the function `load` of a game: load(text, name, source, **options) reads a level."""
    cls = declared.cls

    def load(text: str, name: str, source: str = "", **options: Any) -> Level:
        start = np.empty(2, dtype=object)
        try:
            start[0], start[1] = cls.from_text(text, **options), 0
        except PersonaEvoError:
            raise
        except (ValueError, TypeError) as e:
            raise LevelError(
                f"{cls.__name__} cannot read the level: {e}",
                place=Place(source or name),
                expected="text that its from_text accepts",
            ) from e
        except (Exception, SystemExit) as e:
            hint = "\n  hint: from_text has to raise ValueError for text that is not a level"
            raise GameError(f"{rules.raised('from_text', e)}, level {source or name}{hint}") from e
        if not isinstance(start[0], cls):
            rules.refuse("from_text", start[0], f"a {cls.__name__}")
        tables = np.empty(1 if declared.ways else 0, dtype=object)
        if declared.ways:
            tables[0] = MoveGraph(rules, start)
        return PythonLevel(
            game=game,
            name=name,
            text=text,
            tables=tables,
            start=start,
            max_actions=declared.max_actions,
            source=source,
            options=options,
            module=declared.module,
        )

    return load


def generator(rules: ClassRules) -> Generator:
    """Return how a class with a method `generate` draws levels."""

    def drawn(rng: Random, kind: str, wanted: Constraints) -> str | None:
        try:
            text = rules.cls.generate(rng)
        except (Exception, SystemExit) as e:
            raise GameError(rules.raised("generate", e)) from e
        if text is not None and not isinstance(text, str):
            rules.refuse("generate", text, "the text of a level, or None")
        return text

    return Generator(drawn, {"level": "as the class draws them"})


def as_text(state: State) -> str:
    """Return a state as its class shows it: what its method `draw` returns, or its own `__str__`; "" without either.

    Raises:
        GameError: the method fails.
    """
    if state.dtype != object or len(state) != 2:
        return ""
    own = state[0]
    method = "draw" if callable(getattr(own, "draw", None)) else "__str__"
    if method == "__str__" and not any("__str__" in cls.__dict__ for cls in type(own).__mro__[:-1]):
        return ""
    try:
        text = getattr(own, method)()
    except (Exception, SystemExit) as e:
        place = raised(e, module_of(type(own))[1])
        raise GameError(f"{place}: {type(own).__name__}.{method} raises {type(e).__name__}: {str(e)[:500]}") from e
    return text if isinstance(text, str) else ""
