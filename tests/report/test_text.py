"""Tests the text of a playtest: one level in full, many levels in a table, and a limited number of notices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from persona_evo.games import registry
from persona_evo.playtest.analysis import analyse
from persona_evo.playtest.metrics import Bound
from persona_evo.report.text import NOTICES, level_table, summary_text
from tests.playtest.makers import group

pytestmark = pytest.mark.quick

GAME = registry.get("minidungeons2")


def test_one_level_is_shown_in_full_and_several_in_a_table() -> None:
    one = analyse(GAME, [], group("one", "runner", 3, 5))
    assert "one · 5 trials" in summary_text(one, 100) and "level by level" not in summary_text(one, 100)
    two = analyse(GAME, [], group("one", "runner", 3, 5) + group("two", "runner", 5, 5))
    text = summary_text(two, 100)
    assert "all levels" in text and "level by level" in text and "100 %" in text


def test_deaths_without_a_cause_are_counted() -> None:
    records = [replace(r, cause="") for r in group("one", "runner", 3, 5)]
    (row,) = [line for line in summary_text(analyse(GAME, [], records), 100).splitlines() if line.startswith("deaths ")]
    assert row.split() == ["deaths", "2"]


def test_limits_say_whether_they_are_proven() -> None:
    records = group("one", "runner", 3, 5) + group("two", "runner", 5, 5)
    bounds = {("one", "runner"): Bound(0.9, True), ("two", "runner"): Bound(0.8, False)}
    table = level_table(analyse(GAME, [], records, bounds=bounds))
    assert table.rows[0][1].endswith("of 0.900") and table.rows[1][1].endswith("of 0.800?")
    assert "not proven" in table.notes[0]


def test_notices_beyond_the_first_are_counted() -> None:
    names = [f"level{i}" for i in range(NOTICES + 9)]
    records = [r for name in names for r in group(name, "runner", 5, 5) + group(name, "x", 0, 5)]
    analysis = analyse(GAME, [], records)
    notices = sum(f.severity == "notice" for f in analysis.findings)
    assert notices > NOTICES
    assert f"and {notices - NOTICES} more notices" in summary_text(analysis, 100)
