"""The metrics of Puyo-Puyo, in the order in which the rules write them."""

from __future__ import annotations

from persona_evo.games.core import Metric

METRICS = (
    Metric("DR", "drops", "pairs dropped so far", "drops", better="higher", clock=True),
    Metric("SC", "score", "points so far", "points", better="higher", main=True),
    Metric("LC", "longest chain", "links of the longest chain so far", "links", better="higher", main=True),
    Metric("LS", "last score", "points of the last drop", "points", better="higher"),
    Metric("CH", "last chain", "links of the last drop's chain", "links", better="higher"),
    Metric("AC", "all clears", "drops that left the field empty", "times", better="higher"),
    Metric("PU", "puyos", "puyos on the field, garbage too", "puyos", high=78, better="lower"),
    Metric("HC", "highest column", "height of the highest column, ghost row included", "rows", high=13, better="lower"),
    Metric("H3", "third column", "height of the third column; at 12 the game is lost", "rows", high=13, better="lower"),
    Metric("DEAD", "dead", "1 when the third column is full", high=1, better="lower"),
    Metric(
        "CP",
        "chain potential",
        "links that two more puyos of one colour in one column would set off at most",
        "links",
        better="higher",
        costly=True,
    ),
    Metric("P2", "pairs connected", "groups of two of a colour", "groups", high=36, costly=True),
    Metric("P3", "threes connected", "groups of three of a colour", "groups", high=24, better="higher", costly=True),
)
