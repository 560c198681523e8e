"""Chooses games of a match that are worth watching, and replays their positions from the stored moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from persona_evo.errors import InputError, Place, RunError
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level
from persona_evo.matches.records import AGAIN, GameRecord
from persona_evo.seeds import stream

MARGIN = "MG"
"""Metric that games use for a player's margin, if they have one."""

RESULTS = {WON: 1.0, LOST: 0.0}
"""How a game ended for the first player -> its points; any other end gives half a point."""


class Telling(NamedTuple):
    """A game worth watching: the number of its line in the file of games, and the reason in words."""

    number: int
    why: str


def positions(game: Game, level: Level, record: GameRecord, place: Place | None = None) -> list[Any]:
    """Return the states of a game, the start first; `place` is that of its line in the file of games.

    Raises:
        RunError: a move cannot be read or is not allowed, or the end differs from the record.
    """

    def wrong(what: str, found: str, expected: str) -> RunError:
        name = f"game {place.line}" if place is not None else "a game"
        return RunError(
            f"{name} of the match does not replay: {what}", place=place, found=found, expected=expected, hint=AGAIN
        )

    state, luck, step = game.start(level, record.start), stream(record.start), game.rules().step
    found, limit = [state.copy()], game.horizon_of(level)
    for text in record.actions.split():
        if game.over(level, state) != RUNNING or len(found) > limit:
            raise wrong(f"move {len(found)} comes after its end", text, f"{len(found) - 1} moves")
        try:
            action = game.parse_action(level, state, text)
        except InputError as e:
            raise wrong(f"move {len(found)} cannot be read", text, e.expected or "a move of the game") from e
        if action not in game.legal(level, state):
            raise wrong(f"move {len(found)} is not allowed", text, "a move that is allowed there")
        step(level.tables, state, action, luck)
        found.append(state.copy())
    if game.over(level, state) == RUNNING and len(found) <= limit:
        raise wrong("it has not come to an end", f"{len(found) - 1} moves", f"{record.plies}")
    result, margin = RESULTS.get(game.over(level, state), 0.5), game.measure(level, state).get(MARGIN, 0.0)
    if result != record.result or abs(margin - record.margin) > 1e-9 or record.plies != len(found) - 1:
        raise wrong(
            "its moves do not give its result",
            f"result {record.result:g}, margin {record.margin:g}, {record.plies} moves",
            f"result {result:g}, margin {margin:g}, {len(found) - 1} moves, as its moves give",
        )
    return found


def telling(records: Sequence[GameRecord], a: str, b: str, most: int = 4) -> list[Telling]:
    """Choose up to `most` games of a pair that are worth watching, in the order in which they were played.

    They are the closest game (the longest of equals), one lost by each agent, the one with the largest margin, the
    first, and the one in which the most moves were lost.
    """
    own = [(i, r) for i, r in enumerate(records, 1) if {r.first, r.second} == {a, b}]
    if not own:
        return []
    chosen = [("closest", min(own, key=lambda g: (abs(g[1].margin), -g[1].plies, g[0])))]
    for name in (a, b):
        lost = [g for g in own if g[1].result_of(name) == 0]
        if lost:
            chosen.append((f"lost by {name}", max(lost, key=lambda g: (abs(g[1].margin), -g[0]))))
    chosen.append(("first", own[0]))
    if any(r.faults for _, r in own):
        chosen.append(("most moves lost", max(own, key=lambda g: (len(g[1].faults), -g[0]))))
    found: dict[int, list[str]] = {}
    for why, (number, _) in chosen:
        if number in found or len(found) < most:
            found.setdefault(number, []).append(why)
    return [Telling(number, "; ".join(why)) for number, why in sorted(found.items())]
