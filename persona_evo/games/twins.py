"""Checks whether two games are the same: compiled rules, and the class that they were made from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from persona_evo.compiling import Callback
from persona_evo.errors import GameError
from persona_evo.games.core import RUNNING, Game, Level, Rules, State
from persona_evo.seeds import below, derive, stream
from persona_evo.words import counted

CLOSE = 1e-9
"""How much metrics may differ, for sums that are added up in another order."""


def check_twins(
    game: Game, other: Game, texts: Iterable[tuple[str, str]], seed: int = 0, *, games: int = 20, moves: int = 200
) -> int:
    """Play both games side by side; how many states were compared.

    Args:
        game, other: the game in question, and the one that is right.
        texts: the texts of levels that both read, each with its name.
        seed, games, moves: the seed of the random games, their number on each level, and their largest length.

    Raises:
        GameError: where they differ: in which level, after which actions, and how.
    """
    missing = sorted(set(other.symbols) - set(game.symbols))
    if missing or game.players != other.players:
        lacks = f"has no metric {', '.join(missing)}" if missing else f"is for {counted(game.players, 'player')}"
        raise GameError(f"{game.name} {lacks}, unlike {other.name}")
    looked = 0
    for name, text in texts:
        levels = game.load(text, name), other.load(text, name)
        for number in range(games):
            looked += _play(game, other, levels, derive(seed, "twins", name, number), moves)
    return looked


def _play(game: Game, other: Game, levels: tuple[Level, Level], seed: int, moves: int) -> int:
    states = [game.start(levels[0], seed), other.start(levels[1], seed)]
    luck, streams = stream(seed), [stream(derive(seed, "moves")) for _ in range(2)]
    names: list[str] = []
    for made in range(moves + 1):
        seen = [_picture(g, level, state) for g, level, state in zip((game, other), levels, states, strict=True)]
        _compare(game, other, levels[0].name, names, *seen)
        legal = seen[0]["legal"]
        if not legal or made == moves:
            break
        names.append(legal[int(below(luck, len(legal)))])
        for one, level, state, rng in zip((game, other), levels, states, streams, strict=True):
            one.rules().step(level.tables, state, one.parse_action(level, state, names[-1]), rng)
    return made + 1


def _picture(game: Game, level: Level, state: State) -> dict[str, Any]:
    """Return what can be seen of a state, by its name in messages."""
    status = game.over(level, state)
    legal = [game.action_name(level, state, a) for a in game.legal(level, state)] if status == RUNNING else []
    mover = int(game.rules().mover(level.tables, state))
    metrics = {
        f"{symbol} of player {p}" if game.players > 1 else symbol: value
        for p in range(game.players)
        for symbol, value in game.measure(level, state, p).items()
    }
    return {"over": ("running", "won", "lost", "ended")[status], "legal": legal, "mover": mover, **metrics}


def _compare(game: Game, other: Game, level: str, names: list[str], found: Any, expected: Any) -> None:
    for what, wanted in expected.items():
        value = found[what]
        equal = abs(value - wanted) <= CLOSE * max(1.0, abs(wanted)) if isinstance(wanted, float) else value == wanted
        if not equal:
            raise GameError(
                f"{game.name} is not the same game as {other.name}\n  level: {level}\n"
                f"  after: {' '.join(names) or 'no move'}\n  found: {what} {value}\n  expected: {what} {wanted}"
            )


class Guarded(np.ndarray[Any, Any]):
    """A row that refuses an index below 0, which compiled code takes for the place before the row."""

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(self._checked(at))

    def __setitem__(self, at: Any, value: Any) -> None:
        super().__setitem__(self._checked(at), value)

    def _checked(self, at: Any) -> Any:
        if isinstance(at, (int, np.integer)) and at < 0:
            raise IndexError(f"index {at} is below 0")
        return at


def check_rows(game: Game, levels: Iterable[Level], seed: int = 0, *, games: int = 4, moves: int = 200) -> int:
    """Play compiled rules as plain Python, on rows whose ends are watched; how many states were looked at.

    Compiled code looks at no index, so a wrong one would read and write what lies beside a row.

    Raises:
        GameError: an index is outside of its row; with the level, the moves and the rule.
    """
    rules, looked = game.rules(), 0
    if not all(isinstance(one, Callback) for one in rules):
        return 0
    for level in levels:
        for number in range(games):
            looked += _watched(game, level, rules, derive(seed, "rows", level.name, number), moves)
    return looked


def _watched(game: Game, level: Level, rules: Rules, seed: int, moves: int) -> int:
    tables, state = level.tables.view(Guarded), game.start(level, seed).view(Guarded)
    actions = np.zeros(level.max_actions, dtype=np.int64).view(Guarded)
    out, luck, names, at = np.zeros(len(game.metrics)).view(Guarded), stream(seed), [], "over"
    asked = (("over", ()), ("mover", ()), ("key", ()), ("measure", (0, out)), ("legal", (actions,)))
    try:
        with np.errstate(over="ignore", divide="raise", invalid="raise"):
            for made in range(moves + 1):
                for at, given in asked:
                    found = getattr(rules, at).plain(tables, state, *given)
                    if at == "over" and (found != RUNNING or made == moves):
                        return made + 1
                legal = [int(a) for a in actions[: int(found)]]
                if not legal:
                    return made + 1
                action = legal[int(below(luck, len(legal)))]
                names.append(game.action_name(level, state, action))
                at = "step"
                rules.step.plain(tables, state, action, luck)  # type: ignore[attr-defined]
    except (IndexError, ArithmeticError, RecursionError) as e:
        found = "it calls itself endlessly" if isinstance(e, RecursionError) else e
        raise GameError(
            f"{game.name}: its rule {at} uses an index or a number that is out of range\n  level: {level.name}\n"
            f"  after: {' '.join(names) or 'no move'}\n  found: {found}\n  expected: each index from 0 to below "
            "the length of its row, numbers from 0 to 65,535 in a state"
        ) from e
    return moves + 1
