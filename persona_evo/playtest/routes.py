"""Describes the routes that trials show: how far they are from the best plan, and whether there are several.

Trials of one level and player that draw their routes (see `playing.draws`) show what is as good, or nearly as good, as
the best plan of their search. If all of them show the same route, their map has a single line and says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.metrics import grouped, searches
from persona_evo.playtest.records import Playthrough
from persona_evo.words import counted

NOT_LOOKED_FOR = "others are looked for only with a tolerance above 0"


def within(tolerance: float) -> str:
    """Describe how good a route is: "within 1 % of", "as good as"."""
    return f"within {tolerance * 100:.3g} % of" if tolerance else "as good as"


def different(group: Sequence[Playthrough]) -> int:
    """Return the number of different routes that a group shows."""
    return len({tuple(r.actions) for r in group})


def alike(group: Sequence[Playthrough], tolerance: float) -> str:
    """Return the sentence on trials that all show the same route; "" for a single trial, or several routes."""
    if len(group) < 2 or different(group) > 1:
        return ""
    why = f"no other one {within(tolerance)} the best was found" if tolerance else NOT_LOOKED_FOR
    return f"all {len(group)} trials show the same route: {why}"


def shown(group: Sequence[Playthrough], tolerance: float) -> str:
    """Describe the routes of a group's trials: "9 different routes within 1 % of the best plan"."""
    of = "the best plan" if len(searches(group)) == 1 else "the best plan of each search"
    number = different(group)
    return f"{counted(number, 'route' if number == 1 else 'different route')} {within(tolerance)} {of}"


def by_level(analysis: Analysis) -> dict[str, list[str]]:
    """Return the sentences on each level's groups that show one route, with the player's name."""
    found: dict[str, list[str]] = {}
    for (level, player), group in grouped(analysis.records).items():
        text = alike(group, analysis.tolerances[player]) if player in analysis.tolerances else ""
        if text:
            found.setdefault(level, []).append(f"{player}: {text}")
    return found
