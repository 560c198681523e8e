"""Ways to the exit: what makes the way short, and the traps and monsters on every way."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.games.analysis import at, distances, is_door, on_every_way, parts, shortest
from persona_evo.games.catalog.minidungeons2.board import (
    GOALS,
    MINITAUR,
    POTION,
    TRAP,
    TREASURE,
    DungeonBoard,
    is_are,
    named,
    tally,
)
from persona_evo.games.catalog.minidungeons2.levels import EXIT, MONSTERS
from persona_evo.games.findings import Finding, Severity, Spot, where
from persona_evo.words import counted, plural

AT_HAND = 3
"""The largest number of steps to an exit that counts as beside the start."""
SHORT = 0.5
"""The largest length of the way with a shortcut, as a share of the way without it."""
NEAR = 2
"""The distance from a way, in moves, within which an object counts as on the way."""
SKIPS_ALL = 0.75
"""Share of a level's objects that do not lie on the way from which on a shortcut skips the level ..."""
TINY = 1 / 3
"""... if it makes the way at most so long, as a share of the way without it."""
SPARES = 8
"""The fewest moves that a gap has to save to count as a shortcut; a way around one door is seldom worth reporting."""
OBJECTS = 3
"""The fewest objects of a level that can be reported as skipped."""


def forced(board: DungeonBoard) -> list[Finding]:
    """Return findings on traps on every way to the exit."""
    every = on_every_way(board.grid.hero, board.grid.exit, board.moves)
    traps = [s for s in every if board.char.get(s) == TRAP]
    least = board.survival.damage[board.grid.exit]
    found = []
    if least:
        spots = traps or a_layer(board)
        doors = [s for s in every if is_door(s, board.grid.passable)]
        text = f"Every way to the exit springs at least {counted(least, 'trap')}, such as one of those at {at(spots)}"
        if traps:
            text = f"Every way to the exit leads over the {plural(len(traps), 'trap')} at {at(traps)}"
            text += f" and springs {least} in all" if least > len(traps) else ""
        text += f": at least {least} of {counted(board.health, 'hit point')}"
        if least >= board.health:
            text += f", which only the potions at {at(board.survival.drinkable)} make up for"
        found.append(
            Finding(
                "forced_hazard",
                "notice",
                board.level.name,
                f"{text}.",
                tuple(spots),
                evidence={
                    "least_damage": least,
                    "hit_points": board.health,
                    "forced_traps": len(traps),
                    "doors": len(doors),
                },
            )
        )
    return found


def guards(board: DungeonBoard) -> list[Spot]:
    """Return the monsters that nobody can pass, in corridors on every way to the exit."""
    every = on_every_way(board.grid.hero, board.grid.exit, board.moves)
    return [s for s in every if _cannot_be_passed(board, s)]


def a_layer(board: DungeonBoard) -> list[Spot]:
    """Return traps of which every path to the exit springs one: those of the first hit point lost, or a later set.

    The smallest such set is returned.
    """
    damage, goal = board.survival.damage, board.grid.exit
    layers = [[s for s in board.at(TRAP) if damage.get(s) == k] for k in range(1, damage[goal] + 1)]
    on_the_way = [[s for s in spots if goal in distances([s], board.moves)] for spots in layers]
    return min(on_the_way, key=len)


def _cannot_be_passed(board: DungeonBoard, spot: Spot) -> bool:
    """Return whether a monster stands where the hero must meet it: the path between has no branch and no loop.

    Ogres and blobs go after treasures and potions, so they count only in levels without these.
    """
    char = board.char.get(spot, EXIT)
    if char not in MONSTERS or board.grid.portals:
        return False
    if (char == "o" and board.at(TREASURE)) or (char == "b" and board.at(POTION)):
        return False
    near = {*distances([board.grid.hero], board.moves, {spot}), spot}
    degrees = [sum(n in near for n in board.walk[tile]) for tile in near]
    return max(degrees) <= 2 and sum(degrees) == 2 * (len(near) - 1)


def shortcuts(board: DungeonBoard) -> list[Finding]:
    """Return findings on portals, or else a gap, that at least halve the way, or on an exit beside the start."""
    goal = board.grid.exit
    if board.grid.portals and board.reached[goal] <= SHORT * board.on_foot.get(goal, 0):
        short = shortest(board.grid.hero, goal, board.moves)
        long = shortest(board.grid.hero, goal, {**board.walk, goal: ()})
        pair = sorted(board.grid.portals, key=lambda p: board.on_foot.get(p, 0))
        what = f"The portals at {where(pair[0])} and {where(pair[1])} make"
        return [_shortcut(board, what, tuple(pair), short, long)]
    return _gap(board) or _at_hand(board)


def _at_hand(board: DungeonBoard) -> list[Finding]:
    """Return the finding on an exit so near the start that nobody has to see the rest of the level."""
    hero, goal = board.grid.hero, board.grid.exit
    steps = board.on_foot.get(goal, AT_HAND + 1)
    objects = [s for s in board.at(GOALS + MINITAUR) if s in board.reached]
    beyond = [s for s in objects if board.reached[s] > steps + NEAR]
    if steps > AT_HAND or len(objects) < OBJECTS or len(beyond) < SKIPS_ALL * len(objects):
        return []
    rest = tally(board, beyond)
    return [
        Finding(
            "shortcut",
            "notice",
            board.level.name,
            f"The exit at {where(goal)} is {counted(steps, 'step')} from the start at {where(hero)}, so players "
            f"can leave at once: {rest} {is_are(beyond)} farther away.",
            (goal, hero),
            evidence={"steps": steps, "objects": len(objects), "skipped": len(beyond)},
        )
    ]


def _gap(board: DungeonBoard) -> list[Finding]:
    """Return the finding on an opening in a wall that at least halves the way and skips much of the level."""
    hero, goal = board.grid.hero, board.grid.exit
    short = shortest(hero, goal, board.moves)
    every = set(on_every_way(hero, goal, board.moves))
    best: tuple[int, Spot, list[Spot]] | None = None
    runs = parts(s for s in short[1:-1] if s not in every and is_door(s, board.grid.passable))
    for run in runs:
        long = shortest(hero, goal, board.moves, {run[0]})
        saved = len(long) - len(short)
        if long and len(short) - 1 <= SHORT * (len(long) - 1) and saved >= SPARES and (best is None or saved > best[0]):
            best = saved, run[0], long
    if best is None:
        return []
    _, spot, long = best
    found = _shortcut(board, f"The opening at {where(spot)} makes", (spot,), short, long)
    return [found] if found.evidence["skipped_share"] >= SHORT and found.evidence["skipped"] else []


def _shortcut(board: DungeonBoard, what: str, spots: tuple[Spot, ...], short: list[Spot], long: list[Spot]) -> Finding:
    """Return the finding on two ways, the shorter of which leads through `spots`."""
    objects = [s for s in board.at(GOALS + MINITAUR) if s in board.reached]
    on_short, on_long = (
        {s for s in objects if near.get(s, NEAR + 1) <= NEAR}
        for near in (distances(way, board.walk) for way in (short, long))
    )
    skipped = [s for s in objects if s in on_long and s not in on_short]
    share = 1 - len(on_short) / len(objects) if objects else 0.0
    everything = share >= SKIPS_ALL and len(short) - 1 <= TINY * (len(long) - 1) and len(objects) >= OBJECTS
    severity: Severity = "problem" if everything else "notice"
    if everything:
        left = f"all but {tally(board, sorted(on_short))} of the" if on_short else "all"
        tail = f", and {is_skipped(what)} {left} {len(objects)} treasures, potions and monsters"
    elif skipped:
        tail = f", and {is_skipped(what)} {_few(board, skipped)}"
    else:
        tail = ""
    return Finding(
        "shortcut",
        severity,
        board.level.name,
        f"{what} the way to the exit {counted(len(short) - 1, 'step')} long instead of {len(long) - 1}{tail}.",
        spots,
        evidence={
            "steps": len(short) - 1,
            "steps_without": len(long) - 1,
            "objects": len(objects),
            "skipped": len(objects) - len(on_short),
            "skipped_share": round(share, 2),
        },
    )


def is_skipped(what: str) -> str:
    """Return the verb that follows "The portals make" or "The opening makes"."""
    return "skips" if what.endswith("makes") else "skip"


def _few(board: DungeonBoard, spots: Sequence[Spot]) -> str:
    """Name objects with their places, or count them if there are many."""
    return named(board, spots) if len(spots) <= 3 else tally(board, spots)
