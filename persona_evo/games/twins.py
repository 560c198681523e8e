"""Are two games the same game? For compiled rules beside the class that they were made from.

Both play the same random games, by the names of their actions and with the same luck; in every state they must agree on
who moves, what is legal, how the game stands, and every metric that both have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from persona_evo.errors import GameError
from persona_evo.games.core import RUNNING, Game, Level
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
        texts: of levels that both read, each with its name.
        seed, games, moves: of the random games: where their luck comes from, how many on each level, and how long.

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


def _picture(game: Game, level: Level, state: Any) -> dict[str, Any]:
    """What can be seen of a state, by what it is called in messages."""
    status = game.over(level, state)
    legal = [game.action_name(level, state, a) for a in game.legal(level, state)] if status == RUNNING else []
    mover = int(game.rules().mover(level.tables, state))
    metrics = {f"{symbol} of player {p}" if game.players > 1 else symbol: value
               for p in range(game.players) for symbol, value in game.measure(level, state, p).items()}  # fmt: skip
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
