"""Tests that texts fit a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.report import layout
from persona_evo.report.tables import Table

pytestmark = pytest.mark.quick

CELLS = st.text(alphabet="ab /迷é", max_size=30)


@given(
    st.lists(st.lists(CELLS, min_size=4, max_size=4), min_size=1, max_size=4),
    st.integers(40, 90),
    st.frozensets(st.integers(1, 3)),
    st.integers(1, 2),
)
def test_no_line_of_a_table_is_wider_than_the_terminal_and_no_cell_is_lost(
    rows: list[list[str]], width: int, left: frozenset[int], keys: int
) -> None:
    text = Table("t", ["w", "x", "y", "z"], rows, ["a note of words " * 9], left, keys).render(width)
    assert max(layout.columns(line) for line in text.splitlines()) <= width
    letters = sum(c not in " ─\n" for c in text)
    assert letters >= sum(c != " " for row in rows for cell in row for c in cell)


def test_a_column_of_words_is_broken_into_lines_before_columns_go_elsewhere() -> None:
    table = Table(
        "", ["", "n", "meaning"], [["walls", "12", "how many tiles of the board are walls"]], left=frozenset({2})
    )
    assert table.render(32).splitlines() == [
        "        n  meaning",
        "─" * 32,
        "walls  12  how many tiles of the",
        "           board are walls",
    ]
    assert len(table.render(80).splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("N E E S", 4, ["N E", "E S"]),
        ("short", 80, ["short"]),
        ("policies/minidungeons2/runner.json", 24, ["policies/minidungeons2/", "runner.json"]),
        ("迷宮迷宮", 5, ["迷宮", "迷宮"]),
        ("", 5, [""]),
    ],
)
def test_words_stay_whole_where_they_fit(text: str, width: int, lines: list[str]) -> None:
    assert layout.wrapped(text, width) == lines


def test_further_lines_are_indented() -> None:
    assert layout.wrapped("  N E S W N E S W", 10, "  ") == ["  N E S W", "  N E S W"]


def test_the_width_is_that_of_the_environment_or_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert layout.terminal_width() == 72
    monkeypatch.setenv("COLUMNS", "nonsense")
    assert layout.terminal_width() > 0
