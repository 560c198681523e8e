"""Games of your own as compiled rules, which are much faster than a class.

A state is a row of whole numbers from 0 to 65,535, and what a level fixes is a second row, `tables`. The functions are
marked with `rule` and called as the table in `persona_evo.games.core` says; `legal`, `step`, `over` and `measure` are
needed. They may contain whole and real numbers, `if`, `while`, `for ... in range(...)`, entries of rows, `len`, `min`,
`max`, `abs`, the functions of `math`, constants of the module, and functions marked with `compiled`. They may hold no
lists, texts or dictionaries, nothing of NumPy, and no index below 0.

`persona-evo game new NAME --compiled` writes a whole game with its class beside it, and `persona-evo game check` plays
both to see that they are the same game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Callback, compiled, with_names
from persona_evo.compiling.arrays import WordRow
from persona_evo.errors import GameError, LevelError, Place, SettingsError, unknown
from persona_evo.games.core import Asked, Game, Level, Metric, Rules, rule
from persona_evo.games.rollouts import rollout_of
from persona_evo.games.rows import HASH_START, mix, word

Rows: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""A level's tables and its first state, as `read` returns them."""

_CLOCK = -1


@rule("mover")
def alone(tables: WordRow, state: WordRow) -> int:
    """Return the mover of a single-player game."""
    return 0


@compiled
def whole_key(tables: WordRow, state: WordRow) -> int:
    """Return a hash of all words of a state but the one that counts moves."""
    h = HASH_START + 0
    for i in range(len(state)):
        if i != _CLOCK:
            h = mix(h, word(state, i))
    return h


def from_rules(
    *,
    name: str,
    metrics: Sequence[Metric],
    actions: Sequence[str],
    read: Callable[..., Rows],
    legal: Callback,
    step: Callback,
    over: Callback,
    measure: Callback,
    key: Callback | None = None,
    mover: Callback | None = None,
    clock: int = -1,
    title: str = "",
    version: int = 1,
    players: int = 1,
    deterministic: bool = True,
    horizon: int = 200,
    health: str = "",
    idle: str = "",
    locate: Callable[[Level, NDArray[np.uint16]], tuple[int, int] | None] | None = None,
) -> Game:
    """Return the game that consists of some compiled rules.

    Args:
        name: a short name in lower case.
        title: the name that people read; the same if left out.
        metrics: in the order in which `measure` writes them.
        actions: what people call the actions 0, 1, ...
        read: read(text, **options) -> (tables, state): a level's tables and its first state, whole numbers from 0 to
            65,535; raises ValueError if the text is no level.
        legal, step, over, measure: marked with `rule` (see `persona_evo.games.core`).
        key: returns a hash of what decides the future; if left out, a hash of the whole state.
        mover: whose turn it is; needed in two-player games.
        version: raise it whenever the rules change.
        players: 1 or 2.
        deterministic: whether chance plays no part.
        horizon: the longest game that is searched, in moves.
        clock: the word of the state that counts moves, which the default `key` does not read; -1 for none.
        health: formula over the metrics for the hit points left.
        idle: the action that stands still.
        locate: the avatar's place (column, row), for heatmaps.

    Raises:
        GameError: something is missing or not marked.
    """
    for kind, function in (("legal", legal), ("step", step), ("over", over), ("measure", measure)):
        if not isinstance(function, Callback):
            raise GameError(f"{name}: {kind} is not a compiled rule\n  hint: write @rule({kind!r}) above it")
    if players > 1 and mover is None:
        raise GameError(f"{name}: a game for {players} players needs the rule mover")
    rules = Rules(
        legal,
        step,
        over,
        mover or alone,
        measure,
        key or Callback(with_names(whole_key, _CLOCK=clock), Asked),  # type: ignore[arg-type]
        rollout_of(legal, step, over, measure),
    )
    named = _ActionNames(name, actions)
    return Game(
        name,
        title or name,
        version,
        tuple(metrics),
        lambda costly=False: rules,
        _reader(name, title or name, len(actions), read),
        named.name_of,
        named.parse,
        players,
        deterministic,
        horizon=horizon,
        locate=locate,
        health=health,
        idle=idle,
    )


class _ActionNames:
    """What people call the actions of a game."""

    def __init__(self, game: str, names: Sequence[str]) -> None:
        self._game, self._names = game, names
        self._number = {name: k for k, name in enumerate(names)}

    def name_of(self, level: Level, state: NDArray[np.uint16], action: int) -> str:
        """Return the name of an action.

        Raises:
            GameError: the rule `legal` gave a number that has no name.
        """
        if not 0 <= action < len(self._names):
            raise GameError(
                f"{self._game}: legal names action {action}\n"
                f"  expected: 0 to {len(self._names) - 1}, the numbers of its `actions`"
            )
        return self._names[action]

    def parse(self, level: Level, state: NDArray[np.uint16], text: str) -> int:
        """Return the action with a name.

        Raises:
            SettingsError: there is none.
        """
        if text not in self._number:
            expected, hint = unknown(text, self._number)
            raise SettingsError("no such action", found=text, expected=expected, hint=hint)
        return self._number[text]


def _reader(game: str, title: str, actions: int, read: Callable[..., Rows]) -> Callable[..., Level]:
    """Return the function `load` of a game: load(text, name, source, **options) reads a level."""

    def load(text: str, name: str, source: str = "", **options: object) -> Level:
        try:
            tables, state = (_words(row) for row in read(text, **options))
        except (ValueError, TypeError, IndexError, OverflowError) as e:
            raise LevelError(
                f"{title} cannot read the level: {e}",
                place=Place(source or name),
                expected="text that its function `read` accepts",
            ) from e
        return Level(game, name, text, tables, state, actions, source, options)

    return load


def _words(row: Sequence[int]) -> NDArray[np.uint16]:
    """Return a row of whole numbers as uint16.

    Raises:
        ValueError: a number does not fit.
    """
    found = np.asarray(row, dtype=np.int64).reshape(-1)
    if found.size == 0:
        found = np.zeros(1, dtype=np.int64)
    if found.min() < 0 or found.max() > 0xFFFF:
        raise ValueError(f"a row holds {found.min()} to {found.max()}, but only 0 to 65,535 fit")
    return found.astype(np.uint16)
