"""Comparisons of combinations, searches or agents: a table, and rows of a CSV file with effect sizes."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.experiments.results import CORRECTION, PAIRED, CellComparison, p_words
from persona_evo.intervals import Interval
from persona_evo.report.tables import Table


def comparison_table(tests: Sequence[CellComparison]) -> Table:
    """Tabulate the tests."""
    rows = [
        [
            c.a,
            c.b,
            c.difference.text(2) if c.difference.known else f"{c.difference.value:.2f}",
            higher_words(c.effect),
            f"{c.test.statistic:g}",
            p_words(c.test.p).removeprefix("p = "),
            p_words(c.corrected).removeprefix("p = "),
        ]
        for c in tests
    ]
    paired = any(c.levels > 1 for c in tests)
    heads = ["first", "second", "difference of means", "first scores more", _statistic(tests), "p", "p corrected"]
    share = "the share of pairs of levels" if paired else "Vargha and Delaney's A, the share of all pairs of searches"
    notes = [PAIRED if paired else CORRECTION, f"first scores more: {share}; both with 95 % intervals"]
    return Table("comparisons", heads, rows, notes, left=frozenset((0, 1)), keys=2)


def comparison_rows(tests: Sequence[CellComparison]) -> list[dict[str, object]]:
    """Return the tests for a CSV file."""
    return [
        {
            "a": c.a,
            "b": c.b,
            **effect_fields(c.effect, c.difference),
            _statistic(tests): c.test.statistic,
            "p": c.test.p,
            "p_holm": c.corrected,
        }
        for c in tests
    ]


def higher_words(effect: Interval) -> str:
    """Format the share of pairs in which the first scores more: 75 % (60–86)."""
    return f"{effect.value * 100:.0f} % ({effect.low * 100:.0f}–{effect.high * 100:.0f})"


def effect_fields(effect: Interval, difference: Interval) -> dict[str, object]:
    """Return the effect sizes of two groups for a CSV file; unknown intervals are empty.

    Args:
        effect: the share of pairs in which the first scores more.
        difference: the difference of their means.
    """
    low, high = difference.ends
    return {
        "difference": difference.value,
        "difference_low": low,
        "difference_high": high,
        "share_a_higher": effect.value,
        "share_low": effect.low,
        "share_high": effect.high,
    }


def _statistic(tests: Sequence[CellComparison]) -> str:
    """Return the name of the statistic: Mann and Whitney's, or Wilcoxon's over pairs of levels."""
    return "W" if any(c.levels > 1 for c in tests) else "U"
