"""Games of your own as compiled rules: some functions over rows of whole numbers, much faster than a class.

A state is a row of numbers from 0 to 65,535, what a level fixes once and for all another (`tables`). The functions are
marked with `rule` and called as the table in `persona_evo.games.core` says; `legal`, `step`, `over` and `measure` are
needed. What they may contain: whole and real numbers, `if`, `while`, `for ... in range(...)`, entries of rows, `len`,
`min`, `max`, `abs`, the functions of `math`, constants of the module, and functions marked with `compiled`. No lists,
texts or dictionaries, nothing of NumPy, and no index below 0.

`persona-evo game new NAME --compiled` writes a whole game with its class beside it, and `persona-evo game check` plays
both to see that they are the same game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from persona_evo.compiling import Callback, compiled, with_names
from persona_evo.compiling.arrays import WordRow
from persona_evo.errors import GameError, LevelError, Place, SettingsError, unknown
from persona_evo.games.core import Asked, Game, Level, Metric, Rules, rule
from persona_evo.games.rollouts import rollout_of
from persona_evo.games.rows import HASH_START, mix, word

_CLOCK = -1


@rule("mover")
def alone(tables: WordRow, state: WordRow) -> int:
    """The mover of a single-player game."""
    return 0


@compiled
def whole_key(tables: WordRow, state: WordRow) -> int:
    """A hash of all words of a state but the one that counts moves."""
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
    read: Callable[..., tuple[Any, Any]],
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
    locate: Callable[[Level, Any], tuple[int, int] | None] | None = None,
) -> Game:
    """The game of some compiled rules.

    Args:
        name, title: in lower case, and as people read it (the name if left out).
        metrics: in the order in which `measure` writes them.
        actions: what people call the actions 0, 1, ...
        read: read(text, **options) -> (tables, state): a level's tables and its first state, whole numbers from 0 to
            65,535; raises ValueError if the text is no level.
        legal, step, over, measure: marked with `rule` (see `persona_evo.games.core`).
        key: a hash of what decides the future; left out, of the whole state.
        mover: whose turn it is; needed in two-player games.
        clock: the word of the state that counts moves, which a `key` left out does not read; -1 for none.
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
    number = {text: k for k, text in enumerate(actions)}
    rules = Rules(
        legal,
        step,
        over,
        mover or alone,
        measure,
        key or Callback(with_names(whole_key, _CLOCK=clock), Asked),  # type: ignore[arg-type]
        rollout_of(legal, step, over, measure),
    )

    def load(text: str, level: str, source: str = "", **options: Any) -> Level:
        try:
            tables, state = (_words(row) for row in read(text, **options))
        except (ValueError, TypeError, IndexError, OverflowError) as e:
            raise LevelError(
                f"{title or name} cannot read the level: {e}",
                place=Place(source or level),
                expected="text that its function `read` accepts",
            ) from e
        return Level(name, level, text, tables, state, len(actions), source, options)

    def parse_action(level: Level, state: Any, text: str) -> int:
        if text not in number:
            expected, hint = unknown(text, number)
            raise SettingsError("no such action", found=text, expected=expected, hint=hint)
        return number[text]

    def called(action: int) -> str:
        if not 0 <= action < len(actions):
            raise GameError(
                f"{name}: legal names action {action}\n"
                f"  expected: 0 to {len(actions) - 1}, the numbers of its `actions`"
            )
        return actions[action]

    return Game(
        name,
        title or name,
        version,
        tuple(metrics),
        lambda costly=False: rules,
        load,
        lambda level, state, action: called(action),
        parse_action,
        players,
        deterministic,
        horizon=horizon,
        locate=locate,
        health=health,
        idle=idle,
    )


def _words(row: Any) -> Any:
    """A row of uint16 that nothing was lost from."""
    found = np.asarray(row, dtype=np.int64).reshape(-1)
    if found.size == 0:
        found = np.zeros(1, dtype=np.int64)
    if found.min() < 0 or found.max() > 0xFFFF:
        raise ValueError(f"a row holds {found.min()} to {found.max()}, but only 0 to 65,535 fit")
    return found.astype(np.uint16)
