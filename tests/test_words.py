"""Numbers of things in English."""

from __future__ import annotations

import pytest

from persona_evo.words import counted, plural

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(("n", "said"), [(0, "0 games"), (1, "1 game"), (2, "2 games"), (12_000, "12,000 games")])
def test_numbers_of_things(n: int, said: str) -> None:
    assert counted(n, "game") == said


def test_plurals_that_are_no_mere_s() -> None:
    assert [counted(n, "search", "searches") for n in (1, 3)] == ["1 search", "3 searches"]
    assert f"1/1 {plural(1, 'game')}, 1/8 {plural(8, 'game')}" == "1/1 game, 1/8 games"
