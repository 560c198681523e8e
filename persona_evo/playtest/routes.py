"""What is said of the routes that trials show: how far from the best plan they are, and whether there are several.

Trials of one level and player that draw their routes (see `playing.draws`) show what else is as good as the best plan
of their search, or nearly. Where none of them shows another one, a map of them has one line, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.metrics import grouped, searches
from persona_evo.playtest.records import Playthrough
from persona_evo.words import counted


def within(tolerance: float) -> str:
    """How good a route is, in words: "within 1 % of", "as good as"."""
    return f"within {tolerance * 100:.3g} % of" if tolerance else "as good as"


def different(group: Sequence[Playthrough]) -> int:
    """How many different routes a group shows."""
    return len({tuple(r.actions) for r in group})


def alike(group: Sequence[Playthrough], tolerance: float) -> str:
    """The sentence on a group of trials that show one and the same route; "" for one trial, or several routes."""
    if len(group) < 2 or different(group) > 1:
        return ""
    return f"all {len(group)} trials show the same route: no other one {within(tolerance)} the best was found"


def shown(group: Sequence[Playthrough], tolerance: float) -> str:
    """What the places of a group's trials are: "20 routes within 1 % of the best plan"."""
    of = "the best plan" if len(searches(group)) == 1 else "the best plan of each search"
    number = different(group)
    some = "all the same" if number == 1 else "" if number == len(group) else f"{number} of them different"
    return f"{counted(len(group), 'route')} {within(tolerance)} {of}{f' ({some})' if some and len(group) > 1 else ''}"


def by_level(analysis: Analysis) -> dict[str, list[str]]:
    """The sentences on each level's groups that show one route, with the player's name."""
    found: dict[str, list[str]] = {}
    for (level, player), group in grouped(analysis.records).items():
        text = alike(group, analysis.tolerances[player]) if player in analysis.tolerances else ""
        if text:
            found.setdefault(level, []).append(f"{player}: {text}")
    return found
