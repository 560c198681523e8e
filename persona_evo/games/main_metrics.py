"""The few metrics of a game that say how a playthrough went."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.games.core import Metric

MOST_MAIN = 4
"""The largest number of metrics that charts show for a game that does not mark its main ones."""


def main_metrics(metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics that say how a playthrough went, in their order: those that are marked `main`.

    If the game marks none, these are its percentages, or else the first metrics that a designer reads as good or bad,
    or else the first ones. Clocks, costly metrics, and flags such as "dead", which repeat the outcome, are left out.
    """
    fit = [m for m in metrics if not (m.clock or m.costly or (m.high == 1 and m.low == 0 and not m.ratio))]
    choices = (
        [m for m in metrics if m.main],
        [m for m in fit if m.ratio],
        [m for m in fit if m.better != "neutral"],
        fit,
    )
    marked, *others = choices
    return marked or next((found[:MOST_MAIN] for found in others if found), [])
