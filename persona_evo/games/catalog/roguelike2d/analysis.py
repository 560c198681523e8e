"""Analyses a level of 2D Roguelike without playing it: whether the food can last, and on which days hits are certain.

The most food that a day can bring is that of the shortest tours over its items with nothing in the way (see
`layout.tours`). Walls and enemies only reduce it. The fewest food points that attacks cost on a day are found by
exploring all ways to the exit with the game's own rules. If this food does not suffice, the level cannot be won.
"""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np

from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.core import Level, State
from persona_evo.games.findings import Finding
from persona_evo.words import counted, enumerated, plural

NARROW = 10
"""The food left at the end of a day, at most, for which a level counts as tight."""
MOST_STATES = 4_000
"""The number of states of a day to explore for a way to the exit without an attack."""
PLENTY = 50_000
"""The food with which a day is explored, so that the player does not starve on the way."""


def analyse(level: Level) -> list[Finding]:
    """Return findings on the first day that the food cannot last, or else the tightest one, and on certain hits."""
    days: tuple[layout.DayLayout, ...] = level.facts["days"]
    gains = (int(level.tables[layout.GAINS]), int(level.tables[layout.GAINS + 1]))
    best = layout.tours(days, gains)
    harm = {number: cost for number in range(1, len(days) + 1) if (cost := least_damage(level, number))}
    food, least, tightest = layout.START_FOOD, layout.START_FOOD, 0
    for number, day in enumerate(days, 1):
        food += int(best[number - 1, (1 << len(day.items)) - 1, layout.START]) - harm.get(number, 0)
        if food <= 0:
            return [_runs_out(level, number, day, food)]
        if food < least:
            least, tightest = food, number
    return [*([_tight(level, tightest, least)] if least <= NARROW else []), *([_hit(level, harm)] if harm else [])]


def least_damage(level: Level, day: int) -> int:
    """Return the fewest food points that attacks cost on any way to a day's exit, as far as MOST_STATES can tell."""
    from persona_evo.games.catalog.roguelike2d import rules as r

    if not level.facts["days"][day - 1].enemies:
        return 0
    state, rng = level.start.copy(), np.ones(2, dtype=np.int64)
    r.dawn(level.tables, state, day)
    queue: list[tuple[int, int, int, Any]] = [(0, 0, 0, _only_the_board(state))]
    least: dict[int, int] = {}
    actions, ticket = np.zeros(level.max_actions, dtype=np.int64), itertools.count(1)
    for _ in range(MOST_STATES):
        if not queue:
            return 0
        cost, _, _, state = heapq.heappop(queue)
        if int(state[r.DAY_AT]) != day or int(state[r.FLAGS_AT]) == r.HAS_WON:
            return cost
        for action in actions[: int(r.RULES.legal(level.tables, state, actions))].tolist():
            new = state.copy()
            r.RULES.step(level.tables, new, action, rng)
            paid = cost + int(new[r.DAMAGE_AT]) - int(state[r.DAMAGE_AT])
            key = int(r.RULES.key(level.tables, _only_the_board(new)))
            if paid < least.get(key, paid + 1):
                least[key] = paid
                cell = int(new[r.CELL_AT])
                left = layout.WAY - cell % layout.SIDE - cell // layout.SIDE
                over = int(new[r.DAY_AT]) != day or int(new[r.FLAGS_AT]) == r.HAS_WON
                heapq.heappush(queue, (paid, 0 if over else left, next(ticket), new))
    return queue[0][0] if queue else 0


def _only_the_board(state: State) -> Any:
    """Return the state with more food than a day can take, and without items, which only change the food."""
    from persona_evo.games.catalog.roguelike2d import rules as r

    state[r.FOOD_AT], state[r.ITEMS_AT] = PLENTY, 0
    return state


def _tight(level: Level, day: int, left: int) -> Finding:
    return Finding(
        "scarce_resource",
        "notice",
        level.name,
        f"Food is tight: at most {left} is left at the end of day {day}, even with no wall in the way.",
        evidence={"day": day, "food_left": left},
    )


def _hit(level: Level, harm: dict[int, int]) -> Finding:
    names = enumerated([str(day) for day in harm])
    spots = [(cell, kind) for cell, kind in level.facts["days"][min(harm) - 1].enemies] if len(harm) == 1 else []
    places = tuple((cell % layout.SIDE, layout.SIDE - 1 - cell // layout.SIDE) for cell, _ in spots)
    return Finding(
        "forced_hazard",
        "notice",
        level.name,
        f"On {plural(len(harm), 'day')} {names} enemies hit everybody on the way to the exit: it costs at least "
        f"{sum(harm.values())} food in all (proven).",
        places,
        evidence={"days": list(harm), "least_damage": sum(harm.values()), "proven": True},
    )


def _runs_out(level: Level, number: int, day: layout.DayLayout, food: int) -> Finding:
    return Finding(
        "scarce_resource",
        "problem",
        level.name,
        f"The food cannot last: on day {number} it runs out before the exit, even if every item is eaten and no wall "
        f"is in the way (proven). That day has {counted(len(day.items), 'item')}.",
        evidence={"day": number, "missing": 1 - food, "items": len(day.items), "proven": True},
        look="Use another seed, fewer days, or a variant whose items give more food.",
    )
