"""What can be said of a level of 2D Roguelike before anybody plays it: whether the food can last.

The most food that a day can bring is that of the shortest tours over its items with nothing in the way (see
`layout.tours`). Walls and enemies only take from it, so a level that this does not suffice for cannot be won.
"""

from __future__ import annotations

from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.core import Level
from persona_evo.games.findings import Finding
from persona_evo.words import counted

NARROW = 10
"""Food left at the end of a day, at most, from which down a level says that it is tight."""


def analyse(level: Level) -> list[Finding]:
    """The finding on the first day that the food cannot last, or else on the tightest day."""
    days: tuple[layout.Layout, ...] = level.facts["days"]
    gains = (int(level.tables[layout.GAINS]), int(level.tables[layout.GAINS + 1]))
    best = layout.tours(days, gains)
    food, least, tightest = layout.START_FOOD, layout.START_FOOD, 0
    for number, day in enumerate(days, 1):
        food += int(best[number - 1, (1 << len(day.items)) - 1, layout.START])
        if food <= 0:
            return [_runs_out(level, number, day, food)]
        if food < least:
            least, tightest = food, number
    if least > NARROW:
        return []
    return [
        Finding(
            "scarce_resource", "notice", level.name,
            f"Food is tight: at most {least} is left at the end of day {tightest}, even with nothing in the way.",
            evidence={"day": tightest, "food_left": least},
        )
    ]  # fmt: skip


def _runs_out(level: Level, number: int, day: layout.Layout, food: int) -> Finding:
    return Finding(
        "scarce_resource", "problem", level.name,
        f"The food cannot last: on day {number} it runs out before the exit, even if every item within reach is eaten "
        f"and no wall or enemy is in the way (proven). That day has {counted(len(day.items), 'item')}.",
        evidence={"day": number, "missing": 1 - food, "items": len(day.items), "proven": True},
        look="Take another seed, fewer days, or a variant whose items give more food.",
    )  # fmt: skip
