"""Games written as ordinary Python classes: slower than compiled ones, with the same search and everything around it.

A class is one state of the game:

| method | what |
|---|---|
| `from_text(text, **options)` | class method: the state before the first move; raises ValueError if it is no level |
| `copy()` | an independent state (left out: `copy.deepcopy`) |
| `legal()` | the legal actions in a fixed order: names out of the class's `actions`, or whole numbers |
| `apply(action)` | makes a move in place; with `apply(action, dice)` where chance plays a part |
| `over()` | None while the game goes on; "won", "lost", or "ended" |
| `measure()` | the metrics by symbol; `measure(player)` in games for two |
| `mover()` | games for two: whose turn it is, 0 or 1 |
| `key()` | optional: anything plain (numbers, text, tuples) that is equal for states with the same future |
| `position()` | optional: (x, y) of the avatar, for heatmaps |

Without `key`, all attributes of a state make its key: right, but slow, and blind to equal states if they count moves.

The engine keeps such a state as a row of one Python object. A step copies the object, changes the copy and puts it in
the row, so states are never shared between nodes.
"""

from __future__ import annotations

import copy
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import GameError, LevelError, Place, SettingsError, unknown
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Game, Level, Metric, Rules
from persona_evo.seeds import below, draw

OUTCOMES: dict[Any, int] = {None: RUNNING, "": RUNNING, "won": WON, "lost": LOST, "ended": ENDED}
"""What `over` may return; whole numbers as in `persona_evo.games.core` are taken too."""


class Dice:
    """Chance, as `apply` sees it: every draw comes from the search's or the game's own seeded stream."""

    def __init__(self, rng: NDArray[np.int64]) -> None:
        self._rng = rng

    def below(self, n: int) -> int:
        """A whole number in [0, n), all equally likely."""
        return int(below(self._rng, n))

    def random(self) -> float:
        """A number in [0, 1)."""
        return int(draw(self._rng)) / 2**32


@dataclass(frozen=True, eq=False)
class PythonLevel(Level):
    """A level of a Python game; another process gets its text and reads it again."""

    module: tuple[str, str] = ("", "")

    def __reduce__(self) -> tuple[Any, ...]:
        return _reload, (self.module, self.game, self.text, self.name, self.source, dict(self.options))


def from_class(
    cls: type[Any],
    *,
    metrics: Sequence[Metric] | None = None,
    name: str | None = None,
    title: str | None = None,
    version: int = 1,
    players: int = 1,
    deterministic: bool = True,
    horizon: int = 200,
    max_actions: int | None = None,
    levels: str | None = None,
    level_suffixes: tuple[str, ...] = (".txt",),
) -> Game:
    """The game whose states are instances of `cls` (see the module).

    Args:
        metrics: in the order of formulas' variables; the class's attribute `metrics` if left out.
        name, title: the class's name in lower case, and as it is, if left out.
        max_actions: the most legal actions of any state; needed where the class has no `actions`.
        levels: folder of the levels that come with the game.

    Raises:
        GameError: the class lacks something.
    """
    found = tuple(metrics if metrics is not None else getattr(cls, "metrics", ()))
    names = tuple(getattr(cls, "actions", ()))
    if not found or not all(isinstance(m, Metric) for m in found):
        raise GameError(f"{cls.__name__} has no metrics: give from_class or the class `metrics`, a tuple of Metric")
    needed = ["from_text", "legal", "apply", "over", "measure", *(["mover"] if players > 1 else [])]
    missing = [method for method in needed if not callable(getattr(cls, method, None))]
    if missing:
        raise GameError(f"{cls.__name__} lacks the methods {', '.join(missing)}")
    limit = max_actions or len(names)
    if limit < 1:
        raise GameError(f"{cls.__name__} has no `actions`: say max_actions, the most legal actions of any state")
    plain = _Plain(cls, found, names, players, deterministic)
    game_name = name or cls.__name__.lower()

    def load(text: str, level_name: str, source: str = "", **options: Any) -> Level:
        start = np.empty(1, dtype=object)
        try:
            start[0] = cls.from_text(text, **options)
        except (ValueError, TypeError) as e:
            raise LevelError(
                f"{cls.__name__} cannot read the level: {e}", place=Place(source or level_name),
                expected="what its from_text takes",
            ) from e  # fmt: skip
        return PythonLevel(
            game=game_name, name=level_name, text=text, tables=np.empty(0, dtype=object), start=start,
            max_actions=limit, source=source, options=options, module=_module_of(cls),
        )  # fmt: skip

    has_place = callable(getattr(cls, "position", None))
    return Game(
        name=game_name, title=title or cls.__name__, version=version, metrics=found,
        rules=lambda costly=False: plain.rules, load=load, action_name=plain.action_name,
        parse_action=plain.parse_action, players=players, deterministic=deterministic, compiled=False,
        horizon=horizon, levels=levels, level_suffixes=level_suffixes,
        locate=(lambda level, state: state[0].position()) if has_place else None,
    )  # fmt: skip


class _Plain:
    """The rules of a class as functions over rows of one object."""

    def __init__(
        self, cls: type[Any], metrics: tuple[Metric, ...], names: tuple[str, ...], players: int, deterministic: bool
    ) -> None:
        self.cls, self.names, self.players, self.chance = cls, names, players, not deterministic
        self.symbols = tuple(m.symbol for m in metrics)
        self.number = {action: i for i, action in enumerate(names)}
        self.copy: Callable[[Any], Any] = getattr(cls, "copy", None) or copy.deepcopy
        self.has_key = callable(getattr(cls, "key", None))
        self.rules = Rules(self.legal, self.step, self.over, self.mover, self.measure, self.key, self.rollout)

    def legal(self, tables: Any, state: Any, actions: Any) -> int:
        found = state[0].legal()
        if len(found) > len(actions):
            raise GameError(f"{self.cls.__name__}.legal gives {len(found)} actions, max_actions is {len(actions)}")
        for k, action in enumerate(found):
            actions[k] = self._number(action)
        return len(found)

    def step(self, tables: Any, state: Any, action: int, rng: Any) -> int:
        after = self.copy(state[0])
        move = self.names[action] if self.names else int(action)
        if self.chance:
            after.apply(move, Dice(rng))
        else:
            after.apply(move)
        state[0] = after
        return 0

    def over(self, tables: Any, state: Any) -> int:
        said = state[0].over()
        if isinstance(said, str) or said is None:
            status = OUTCOMES.get(said)
        else:
            status = None if said is True or said not in (RUNNING, WON, LOST, ENDED) else int(said)
        if status is None:
            raise GameError(f'{self.cls.__name__}.over gives {said!r}, expected None, "won", "lost" or "ended"')
        return status

    def mover(self, tables: Any, state: Any) -> int:
        return int(state[0].mover()) if self.players > 1 else 0

    def measure(self, tables: Any, state: Any, player: int, out: Any) -> int:
        found = state[0].measure(player) if self.players > 1 else state[0].measure()
        for i, symbol in enumerate(self.symbols):
            if symbol not in found:
                expected, hint = unknown(symbol, found)
                raise GameError(f"{self.cls.__name__}.measure lacks {symbol!r} (it has {expected[7:]}; {hint})")
            out[i] = found[symbol]
        return 0

    def key(self, tables: Any, state: Any) -> int:
        return number_of(state[0].key() if self.has_key else state[0])

    def rollout(
        self, tables: Any, state: Any, actions: Any, played: Any, length: int, rng: Any, seen: Any, every: int
    ) -> int:
        made = 0
        while made < length and self.over(tables, state) == RUNNING:
            count = self.legal(tables, state, actions)
            if count <= 0:
                break
            action = int(actions[below(rng, count)])
            self.step(tables, state, action, rng)
            played[made] = action
            if every:
                self.measure(tables, state, 0, seen[made])
            made += 1
        return made

    def action_name(self, level: Level, state: Any, action: int) -> str:
        return self.names[action] if self.names else str(action)

    def parse_action(self, level: Level, state: Any, text: str) -> int:
        if self.names and text in self.number:
            return self.number[text]
        if not self.names and text.lstrip("-").isdigit():
            return int(text)
        raise SettingsError(
            "no such action", found=text, expected=", ".join(self.names) or "a whole number", hint="see the game"
        )

    def _number(self, action: Any) -> int:
        if not self.names:
            return int(action)
        if action not in self.number:
            raise GameError(f"{self.cls.__name__}.legal gives {action!r}, its `actions` are {', '.join(self.names)}")
        return self.number[action]


def number_of(value: Any) -> int:
    """A number in [0, 2**63) that is the same for equal plain values in every process.

    Raises:
        GameError: the value holds something that has no contents to compare.
    """
    if type(value) is int:
        if 0 <= value < 2**63:
            return value
    elif type(value) not in (tuple, str, bytes) or not _is_flat(value):
        value = _contents(value, 0)
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little") >> 1


def _is_flat(value: Any) -> bool:
    return type(value) is not tuple or all(type(v) in (int, float, str, bytes, bool) or v is None for v in value)


def _contents(value: Any, depth: int) -> Any:
    if depth > 50:
        raise GameError(f"a state of type {type(value).__name__} is nested too deep to compare; write a method `key`")
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        return [_contents(v, depth + 1) for v in value]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(repr(_contents(v, depth + 1)) for v in value)]
    if isinstance(value, Mapping):
        return sorted((repr(_contents(k, depth + 1)), repr(_contents(v, depth + 1))) for k, v in value.items())
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.shape, value.tobytes()]
    slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
    if hasattr(value, "__dict__") or slots:
        attributes = {**getattr(value, "__dict__", {}), **{s: getattr(value, s) for s in slots}}
        return [type(value).__name__, _contents(attributes, depth + 1)]
    raise GameError(f"states cannot be compared by a {type(value).__name__}; write a method `key`")


def _module_of(cls: type[Any]) -> tuple[str, str]:
    module = sys.modules.get(cls.__module__)
    return cls.__module__, str(getattr(module, "__file__", "") or "")


def _reload(
    module: tuple[str, str], game: str, text: str, name: str, source: str, options: Mapping[str, Any]
) -> Level:
    """A level in another process (what unpickling calls)."""
    from persona_evo.games import registry

    return registry.in_module(*module, game).load(text, name, source, **options)
