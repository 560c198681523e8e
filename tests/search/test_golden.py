"""Tests that all searches find what they found when the golden files were made (see `tests.search.golden`)."""

from __future__ import annotations

import itertools

import pytest

from tests.search import golden

FIRST = 40
"""How many cases of each group every run of the tests plays; the slow tests play all of them."""


def found(name: str, cases: int | None) -> set[str]:
    """Play the first cases of a group, None for all, and return their names."""
    kept, seen = golden.read(name), set()
    for case, record in itertools.islice(golden.groups()[name](), cases):
        assert record == kept[case], case
        seen.add(case)
    return seen


@pytest.mark.parametrize("name", golden.groups())
def test_first_searches_find_what_they_found_before(name: str) -> None:
    assert len(found(name, FIRST)) == min(FIRST, len(golden.read(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.groups())
def test_all_searches_find_what_they_found_before(name: str) -> None:
    assert found(name, None) == golden.read(name).keys()
