"""Finds out why an explored level cannot be won, by testing which change would help.

The level is explored again without the tiles of one kind, or with one more object of a kind. The change that makes it
possible to win shows the cause.
"""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import numpy as np

from persona_evo.games.analysis import at, beside
from persona_evo.games.core import LOST, Game, Metric
from persona_evo.games.findings import Finding, Spot, where
from persona_evo.games.seen import SeenLevel, same_step
from persona_evo.words import counted

FEW_MOVES, VERY_FEW_MOVES = 20, 8
"""A game that is always lost within FEW_MOVES counts as lost at its start; within VERY_FEW_MOVES, it does even if one
kind of tile explains the loss."""
MOST_HURT = 0.8
"""The share of all losses of hit points, and of games, from which one kind of tile counts as their cause."""
MOST_CULPRITS = 8
"""The largest number of tiles of a kind that a finding names."""


def no_win(seen: SeenLevel, usual: int = 0) -> list[Finding]:
    """Return the finding on why the level cannot be won: the simplest cause that explains it, or that none is known.

    The list is empty if the game has no losses and never says that a game is won.

    Args:
        seen: the explored level.
        usual: the number of moves that a complete game may take.
    """
    found, name = seen.found, seen.level.name
    proof = {"states": len(found.states), "proven": True}
    if not found.has(LOST) and not says_won(seen.game):
        return []
    short = used_up(seen)
    if short is not None:
        return [_shut(seen, proof, for_good=True) or _scarce(seen, short, proof)]
    moves = found.longest if found.all_die else FEW_MOVES + 1
    hazard = _hazard(seen) if moves > VERY_FEW_MOVES else ""
    if hazard:
        return [_deadly(seen, hazard, proof)]
    if moves <= FEW_MOVES and moves > usual:
        return [_lethal(seen, proof)]
    cause = _too_few(seen, proof) or _shut(seen, proof)
    if cause is not None:
        return [cause]
    return [
        Finding(
            "impossible",
            "problem",
            name,
            f"The level cannot be won: all {counted(len(found.states), 'state')} that play can come to were looked at, "
            "and none is won.",
            evidence=proof,
        )
    ]


def says_won(game: Game) -> bool:
    """Return whether a game's class can say that a game is won, as far as its code shows."""
    cls = getattr(getattr(game.rules().over, "__self__", None), "cls", None)
    if cls is None:
        return True
    found = [inspect.getattr_static(cls, name) for name in dir(cls)]
    codes = [one.__code__ for one in found if hasattr(one, "__code__")]
    for code in codes:
        if "won" in code.co_consts:
            return True
        codes += [c for c in code.co_consts if hasattr(c, "co_consts")]
    return any(
        "won" in (value if isinstance(value, (tuple, list)) else (value,))
        for value in found
        if isinstance(value, (str, tuple, list))
    )


def used_up(seen: SeenLevel) -> Metric | None:
    """Return the metric of the resource that every move uses up, if all games are lost because it runs out."""
    lost = [i for i, status in enumerate(seen.found.status) if status == LOST]
    if not lost:
        return None
    for k, metric in enumerate(seen.game.metrics):
        values = seen.metrics[:, k]
        if metric.clock or metric.better == "lower" or values[0] <= metric.low or (values[lost] > metric.low).any():
            continue
        falls = [values[to] < values[i] for i, to in seen.moves()]
        if len(falls) >= 2 and np.mean(falls) > 0.5 and same_step(seen, values):
            return metric
    return None


def _scarce(seen: SeenLevel, metric: Metric, proof: dict[str, Any]) -> Finding:
    k = seen.game.symbols.index(metric.symbol)
    start = float(seen.metrics[0, k])
    sources = sorted(
        {p for i, to in seen.moves() if seen.metrics[to, k] > seen.metrics[i, k] if (p := seen.places[to]) is not None}
    )
    gained = f"; more of it is found at {at(sources)}" if sources else ""
    within = f" within {counted(seen.found.longest, 'move')}" if seen.found.longest else ""
    return Finding(
        "scarce_resource",
        "problem",
        seen.level.name,
        f"{metric.name.capitalize()} ({metric.symbol}) does not suffice: it is {start:g} at the start, every move uses "
        f"some, and it runs out{within} whatever is played (proven){gained}.",
        tuple(sources) or ((seen.places[0],) if seen.places[0] else ()),
        evidence={**proof, metric.symbol: start},
    )


def _hazard(seen: SeenLevel) -> str:
    """Return the kind of tile that hurts players and without which the level could be won; "" if there is none."""
    if seen.map is None:
        return ""
    hurts: Counter[str] = Counter()
    for i, to in seen.moves():
        place = seen.places[to]
        if place is not None and (
            seen.found.status[to] == LOST or (seen.health is not None and seen.health[to] < seen.health[i])
        ):
            hurts[seen.map.char(place)] += 1
    for char, count in hurts.most_common(1):
        if char in seen.kinds() and count >= MOST_HURT * sum(hurts.values()):
            return char if seen.win_of(seen.map.without(char, seen.floor)) is not False else ""
    return ""


def _deadly(seen: SeenLevel, char: str, proof: dict[str, Any]) -> Finding:
    """Return the finding on tiles that hurt and cannot be avoided."""
    assert seen.map is not None
    cells = [p for p in seen.map.cells(char) if p in seen.visited]
    goal = seen.win_of(seen.map.without(char, seen.floor))
    end = f" at {where(goal)}" if isinstance(goal, tuple) else ""
    has = f" (the player has {seen.health[0]:g} hit points)" if seen.health is not None else ""
    return Finding(
        "deadly_way",
        "problem",
        seen.level.name,
        f"No way to the end{end} can be survived{has}: without the '{char}' at {at(cells)} the level could be won, "
        f"with {'it' if len(cells) == 1 else 'them'} it cannot (proven).",
        tuple(cells),
        evidence={**proof, "hit_points": float(seen.health[0])} if seen.health is not None else proof,
    )


def _lethal(seen: SeenLevel, proof: dict[str, Any]) -> Finding:
    """Return the finding on a level in which every continuation is lost soon."""
    start, moves = seen.places[0], seen.found.longest
    culprits: list[Spot] = []
    char = ""
    if seen.map is not None:
        char = next((c for c in seen.kinds() if seen.win_of(seen.map.without(c, seen.floor)) is not False), "")
        culprits = seen.map.cells(char) if 0 < len(seen.map.cells(char)) <= MOST_CULPRITS else []
    by = f"; without the '{char}' at {at(culprits)} it could be won" if culprits else ""
    return Finding(
        "lethal_start",
        "problem",
        seen.level.name,
        f"Every continuation from the start{f' at {where(start)}' if start else ''} is lost within "
        f"{counted(moves, 'move')} (proven){by}.",
        (*((start,) if start else ()), *culprits),
        evidence={**proof, "moves": moves},
    )


def _too_few(seen: SeenLevel, proof: dict[str, Any]) -> Finding | None:
    """Return the finding on an object that is too scarce or out of reach: one more near the start would allow a win."""
    if seen.map is None:
        return None
    free = [p for p in dict.fromkeys(seen.places) if p is not None and seen.map.char(p) == seen.floor]
    for char in seen.kinds() if free else ():
        cells = seen.map.cells(char)
        won = seen.win_of(seen.map.with_char(free[0], char))
        if won is False or won == free[0]:
            continue
        shut = [p for p in cells if p not in seen.visited]
        if shut:
            text = f"The '{char}' at {at(shut)} cannot be reached, and the level cannot be won without it (proven)."
            return Finding(
                "unreachable_object",
                "problem",
                seen.level.name,
                text,
                tuple(shut),
                evidence={**proof, "prevents_winning": True},
            )
        text = f"The level cannot be won: there are too few '{char}' ({at(cells)}); with one more it could be (proven)."
        return Finding(
            "scarce_resource", "problem", seen.level.name, text, tuple(cells), evidence={**proof, "there": len(cells)}
        )
    return None


def _shut(seen: SeenLevel, proof: dict[str, Any], for_good: bool = False) -> Finding | None:
    """Return the finding on a kind of tile that blocks the way to the place where the level would be won without it.

    Args:
        seen: the explored level.
        proof: the evidence of the finding.
        for_good: whether to report a kind only if no tiles that can be entered lead there, with any number of moves.
    """
    for char in seen.kinds() if seen.map is not None else ():
        assert seen.map is not None
        won = seen.win_of(seen.map.without(char, seen.floor))
        if won is False:
            continue
        cells = seen.map.cells(char)
        if for_good and (not isinstance(won, tuple) or won in seen.ground):
            continue
        if not isinstance(won, tuple) or won in seen.visited:
            text = f"The level cannot be won: the '{char}' at {at(cells)} cannot be passed (proven)."
            return Finding("impossible", "problem", seen.level.name, text, tuple(cells), evidence=proof)
        near = _opening(seen, char, won)
        named = f"the '{char}' at {at(near or cells)}" if near or len(cells) <= MOST_CULPRITS else f"'{char}'"
        return Finding(
            "unreachable_exit",
            "problem",
            seen.level.name,
            f"The end at {where(won)} cannot be reached (proven): {named} shuts it off.",
            (won, *near),
            evidence=proof,
            look=f"Open the way at {where(near[0])}." if near else "",
        )
    return None


def _opening(seen: SeenLevel, char: str, won: Spot) -> list[Spot]:
    """Return the tile nearest to the place of the win that would open the way there, as a list of at most one."""
    assert seen.map is not None
    around = {n for p in seen.visited for n in beside(p)}
    cells = [p for p in seen.map.cells(char) if p in around]
    cells.sort(key=lambda p: (abs(p[0] - won[0]) + abs(p[1] - won[1]), p))
    for cell in cells[:8]:
        if seen.win_of(seen.map.with_char(cell, seen.floor)) is not False:
            return [cell]
    return []
