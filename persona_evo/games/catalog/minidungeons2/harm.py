"""Finds the fewest hit points that any playthrough loses on its way to the exit, by a best-first search.

States with the least loss are expanded first. The least loss among the open states is therefore a proven bound, even if
the search ends before it reaches the exit.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from persona_evo.errors import LevelError
from persona_evo.games.analysis import distances, shortest
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.catalog.minidungeons2 import ways
from persona_evo.games.catalog.minidungeons2.board import DungeonBoard, named
from persona_evo.games.catalog.minidungeons2.core import CORE
from persona_evo.games.catalog.minidungeons2.levels import MONSTERS
from persona_evo.games.core import LOST, WON, Level
from persona_evo.games.findings import Finding, Spot
from persona_evo.games.following import Following
from persona_evo.words import capital, counted

MOST_STATES = 20_000
"""The largest number of states that a search explores."""
MOST_SUSPECTS = 6
"""The largest number of monsters that are left out in turn to find the one that hurts."""


@dataclass(frozen=True)
class Harm:
    """The result of the search for the least loss of hit points.

    Attributes:
        least: a lower bound of the hit points that any playthrough loses on its way to the exit.
        reached: whether a playthrough was found that loses no more.
        over: whether all states were explored and none is at the exit.
    """

    least: int
    reached: bool
    over: bool = False


def least_harm(level: Level, home: dict[Spot, int], most: int = MOST_STATES) -> Harm:
    """Search for the least loss; `home` has the moves from each tile to the exit and orders states of equal loss."""
    from persona_evo.games.catalog.minidungeons2.rules import RULES

    t, far, following = level.tables, len(home), Following(CORE, level)
    queue: list[tuple[int, int, int, int, Any]] = [(0, 0, 0, int(RULES.over(t, level.start)), level.start)]
    known = {int(RULES.key(t, level.start)): 0}
    ticket = itertools.count(1)
    n = int(t[tb.TILES])
    xs, ys = t[tb.HEADER : tb.HEADER + n], t[tb.HEADER + n : tb.HEADER + 2 * n]
    for _ in range(most):
        if not queue:
            return Harm(0, False, over=True)
        lost, _, _, status, state = heapq.heappop(queue)
        if status == WON:
            return Harm(lost, True)
        after = following.of([state])
        for key, status, new in zip(after.keys, after.ends, after.rows, strict=True):
            paid = lost + max(0, int(state[tb.HP_AT]) - int(new[tb.HP_AT]))
            if known.get(key, paid + 1) <= paid or status == LOST:
                continue
            known[key], at = paid, int(new[tb.HERO_AT])
            near = home.get((int(xs[at]), int(ys[at])), far)
            heapq.heappush(queue, (paid, near, next(ticket), status, new.copy()))
    return Harm(queue[0][0], False)


def home(board: DungeonBoard, goals: Sequence[Spot]) -> dict[Spot, int]:
    """Return the hero's moves from each tile to the nearest goal."""
    back: dict[Spot, list[Spot]] = {}
    for tile, following in board.moves.items():
        for to in following:
            back.setdefault(to, []).append(tile)
    return distances(goals, back)


def forced_monsters(board: DungeonBoard, told: int) -> list[Finding]:
    """Return findings on monsters that hurt everybody on the way to the exit, or that nobody can avoid.

    Args:
        board: the level.
        told: the certain loss of hit points that other findings report already.
    """
    suspects = [s for s in board.at(MONSTERS) if board.can_meet(s)]
    if not suspects:
        return []
    guards, traps = ways.guards(board), board.survival.damage[board.grid.exit]
    if int(board.level.tables[tb.TILES]) > tb.PAIR_FILL:
        return [_in_the_way(board, guards, None)] if guards else []
    way = home(board, [board.grid.exit])
    harm = least_harm(board.level, way)
    if not harm.over and harm.least > max(told, traps):
        spots = dict.fromkeys([*guards, *_culprits(board, suspects, way, harm.least)])
        return [_harmful(board, list(spots), harm, traps)] if spots else []
    return [_in_the_way(board, guards, harm.reached)] if guards else []


def _culprits(board: DungeonBoard, suspects: list[Spot], home: dict[Spot, int], least: int) -> list[Spot]:
    """Return the monsters near the way that each increase the loss, or else all of them if they do so together."""
    way = distances(shortest(board.grid.hero, board.grid.exit, board.moves), board.walk)
    near = sorted(suspects, key=lambda s: (way.get(s, len(way)), s))[:MOST_SUSPECTS]

    def cheaper(spots: list[Spot]) -> bool:
        level = _without(board.level, spots)
        return level is not None and least_harm(level, home).least < least

    return [s for s in near if cheaper([s])] or (near if cheaper(near) else [])


def _without(level: Level, spots: Iterable[Spot]) -> Level | None:
    """Return the level without the objects on some tiles."""
    rows = level.text.splitlines()
    for x, y in spots:
        rows[y] = f"{rows[y][:x]} {rows[y][x + 1 :]}"
    try:
        return CORE.load("\n".join(rows) + "\n", level.name, level.source, **level.options)
    except LevelError:
        return None


def _harmful(board: DungeonBoard, spots: list[Spot], harm: Harm, traps: int) -> Finding:
    also = f", {traps} of them to traps" if traps else ""
    return Finding(
        "forced_hazard",
        "notice",
        board.level.name,
        f"Nobody gets past {named(board, spots)} unhurt: whoever reaches the exit has lost at least {harm.least} of "
        f"{counted(board.health, 'hit point')}{also} (proven).",
        tuple(spots),
        evidence={"least_damage": harm.least, "hit_points": board.health, "monsters": len(spots), "proven": True},
    )


def _in_the_way(board: DungeonBoard, spots: list[Spot], unhurt: bool | None) -> Finding:
    """Return the finding on monsters in the way; `unhurt` says whether a good player passes unhurt, None if unknown."""
    them = "it" if len(spots) == 1 else "them"
    but = f". A hero who plays well gets past {them} unhurt" if unhurt else ""
    return Finding(
        "forced_hazard",
        "notice",
        board.level.name,
        f"{capital(named(board, spots))} {'stands' if len(spots) == 1 else 'stand'} in the only corridor from the "
        f"start, which has no room to pass{but}.",
        tuple(spots),
        evidence={"monsters": len(spots)},
    )
