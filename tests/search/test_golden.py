"""Tests that all searches find what they found when the golden files were made (see `tests.search.golden`)."""

from __future__ import annotations

import pytest

from tests.search import golden

SLOW = ("policies", "settings", "pairs", "budgets", "shipped", "prefixes")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in golden.groups()]
)
def test_searches_find_what_they_found_before(name: str) -> None:
    kept, seen = golden.read(name), set()
    for case, record in golden.groups()[name]():
        assert record == kept[case], case
        seen.add(case)
    assert seen == kept.keys()
