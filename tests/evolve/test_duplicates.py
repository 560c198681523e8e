"""Formulas that play alike share a key, others do not, and the memory stays small."""

from __future__ import annotations

import numpy as np
import pytest

from persona_evo.evolve.duplicates import Keys, Memory, sample
from persona_evo.formula import parse

SYMBOLS = ("ST", "PE", "MS", "HL", "R", "N", "P")
ALIKE = [
    ("PE + MS", "MS + PE"),
    ("PE + MS", "2 * (MS + PE) + 7"),
    ("PE - PE", "0"),
    ("PE * 3 - 1", "PE"),
    ("exp(R)", "R"),
    ("(PE + MS) + HL", "PE + (MS + HL)"),
]
DIFFERENT = [("PE + MS", "PE - MS"), ("PE", "-PE"), ("PE / MS", "PE * MS"), ("R", "R + 0.01 * ST"), ("PE", "0")]


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_formulas_that_rank_states_alike_share_a_key(one: str, two: str) -> None:
    keys = Keys("behaviour", SYMBOLS)
    assert keys.key(parse(one)) == keys.key(parse(two))


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_others_do_not(one: str, two: str) -> None:
    for kind in ("behaviour", "canonical", "off"):
        keys = Keys(kind, SYMBOLS)
        assert keys.key(parse(one)) != keys.key(parse(two))


def test_canonical_is_finer_than_behaviour_and_coarser_than_the_text() -> None:
    one, two, three = parse("PE + MS"), parse("MS + PE"), parse("2 * (PE + MS)")
    canonical, text = Keys("canonical", SYMBOLS), Keys("off", SYMBOLS)
    assert canonical.key(one) == canonical.key(two) != canonical.key(three)
    assert text.key(one) != text.key(two)


def test_the_sample_is_fixed_and_its_visits_are_possible() -> None:
    rows = sample(SYMBOLS)
    assert np.array_equal(rows, sample(SYMBOLS))
    assert (rows[:, SYMBOLS.index("N")] >= 1).all()
    assert (rows[:, SYMBOLS.index("P")] > rows[:, SYMBOLS.index("N")]).all()


def test_memory_forgets_what_was_unused_longest() -> None:
    known: dict[str, tuple[list[float], int]] = {}
    memory = Memory(known, 3)
    for name in "abc":
        memory.keep(name, [1.0], 1)
    assert memory.recall("a") == ([1.0], 1)
    memory.keep("d", [2.0], 1)
    assert list(known) == ["c", "a", "d"] and memory.recall("b") is None and len(memory) == 3


def test_a_memory_without_room_keeps_nothing() -> None:
    memory = Memory({}, 0)
    memory.keep("a", [1.0], 1)
    assert memory.recall("a") is None
