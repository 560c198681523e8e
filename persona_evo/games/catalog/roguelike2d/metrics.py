"""The metrics of 2D Roguelike, in the order in which the rules write them."""

from __future__ import annotations

from persona_evo.games.catalog.roguelike2d.layout import MAX_DAYS
from persona_evo.games.core import Metric

METRICS = (
    Metric(
        "ST", "decisions", "decisions so far; two a move for a factored player", "decisions", better="lower", clock=True
    ),
    Metric("MV", "moves", "attempted moves so far, each of which costs 1 food", "moves"),
    Metric("FD", "food left", "food points left", "points", better="higher", main=True),
    Metric("DS", "days survived", "days ended at the exit", "days", high=MAX_DAYS, better="higher"),
    Metric(
        "PR",
        "progress",
        "share of the level's days survived, the way to the exit walked today included",
        high=1,
        better="higher",
        ratio=True,
        main=True,
    ),
    Metric("EA", "items eaten", "Food and Soda picked up", "items", better="higher", main=True),
    Metric("FG", "food gained", "food points of what was picked up", "points", better="higher"),
    Metric("HT", "hits taken", "attacks by enemies", "times", better="lower", main=True),
    Metric("DT", "damage taken", "food points that attacks cost", "points", better="lower"),
    Metric("WD", "walls destroyed", "inner walls that gave way", "walls"),
    Metric(
        "RW",
        "reward",
        "food left at the end of each day, summed, and x + y at death on the day of death, divided "
        "by 100 for each day of the level",
        better="higher",
    ),
    Metric("DEAD", "dead", "1 when the food has run out", high=1, better="lower"),
    Metric("WON", "won", "1 when every day of the level is survived", high=1, better="higher"),
    Metric(
        "NX", "way to the exit", "moves to the exit / moves from start to exit, walls ignored", high=1, better="lower"
    ),
    Metric(
        "NF",
        "nearest item",
        "moves to the nearest item / moves from start to exit, 0 without any",
        high=1,
        better="lower",
        costly=True,
    ),
    Metric(
        "NM",
        "nearest enemy",
        "moves to the nearest enemy / moves from start to exit, 1 without any",
        high=1,
        better="higher",
    ),
)
