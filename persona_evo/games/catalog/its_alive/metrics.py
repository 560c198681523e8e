"""The metrics of It's Alive!, in the order in which the rules write them."""

from __future__ import annotations

from persona_evo.games.catalog.its_alive.layout import FIELDS
from persona_evo.games.core import Metric

MOST = max(win for _, _, win in FIELDS.values())
"""The largest number of monsters that any field needs for a win."""


METRICS = (
    Metric("ST", "decisions", "decisions so far; up to three a turn for a factored player", "decisions", clock=True),
    Metric("PT", "points", "points for landings and monsters", "points", better="higher"),
    Metric(
        "SC",
        "score",
        "points, divided by those for a piece in each cell and all of them collected as one monster",
        better="higher",
        main=True,
    ),
    Metric(
        "MC",
        "monsters collected",
        "living monsters taken off the field",
        "monsters",
        high=MOST,
        better="higher",
        main=True,
    ),
    Metric("PR", "progress", "share of the monsters that win", high=1, better="higher", ratio=True, main=True),
    Metric("PL", "pieces landed", "pieces that have landed", "pieces"),
    Metric(
        "LM", "largest monster", "pieces of the largest monster collected / cells of the field", high=1, better="higher"
    ),
    Metric(
        "CP", "pairs collected", "joints between pieces of one colour in collected monsters", "pairs", better="higher"
    ),
    Metric("LV", "living monsters", "monsters on the field that live", "monsters", better="higher"),
    Metric(
        "BV", "best monster", "score of the most valuable living monster on the field, 0 without any", better="higher"
    ),
    Metric("LG", "largest group", "pieces of the largest joined group on the field / cells", high=1, better="higher"),
    Metric("SP", "same-colour pairs", "joints between pieces of one colour on the field", "pairs", better="higher"),
    Metric("FI", "fill", "share of the cells that hold a piece", high=1, better="lower", ratio=True, main=True),
    Metric("HI", "height", "height of the highest column / rows", high=1, better="lower"),
    Metric("LOST", "lost", "1 when the field is full and nothing lives", high=1, better="lower"),
    Metric("WON", "won", "1 when enough monsters are collected", high=1, better="higher"),
)
