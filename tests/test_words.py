"""Numbers of things in English."""

from __future__ import annotations

import pytest

from persona_evo.words import aligned, counted, figure, plural

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("n", "said"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (12_000, "12,000 games")])
def test_numbers_of_things(n: int, said: str) -> None:
    assert counted(n, "game") == said


def test_plurals_that_are_no_mere_s() -> None:
    assert [counted(n, "search", "searches") for n in (1, 3)] == ["1 search", "3 searches"]
    assert f"1/1 {plural(1, 'game')}, 1/8 {plural(8, 'game')}" == "1/1 game, 1/8 games"


def test_meanings_stand_in_a_column() -> None:
    assert aligned({"HP": "hit points", "ESCAPED": "1 if out"}) == ["  HP       hit points", "  ESCAPED  1 if out"]
    assert aligned({}) == []


@pytest.mark.parametrize(
    ("value", "said"), [(-1.1102230246251565e-16, "0"), (-0.0, "0"), (0.001, "0.001"), (12.5, "12.5")]
)
def test_rounding_errors_are_written_as_0(value: float, said: str) -> None:
    assert figure(value) == said
