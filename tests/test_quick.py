"""The quick subset (`pytest -m quick`) has tests of every room, and none of them is slow."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.shared import ROOT

ROOMS = (
    "jobs",
    "formula",
    "games",
    "personas",
    "search",
    "store",
    "evolve",
    "playtest",
    "agents",
    "connect",
    "matches",
    "experiments",
    "report",
    "cli",
    "api",
)
pytestmark = pytest.mark.quick


def room(item: pytest.Item) -> str:
    """Return the room that a test is about: its folder, or the name of its module in `tests/` itself."""
    first, *rest = item.path.relative_to(ROOT / "tests").parts
    return first if rest else first.removeprefix("test_").removesuffix(".py")


def test_every_room_has_quick_tests(request: pytest.FixtureRequest) -> None:
    if not {"tests", str(ROOT / "tests")} & set(request.config.args):
        pytest.skip("only some of the tests were collected")
    quick = [item for item in request.session.items if item.get_closest_marker("quick")]
    assert not [item.nodeid for item in quick if item.get_closest_marker("slow")]
    number = Counter(map(room, quick))
    assert {name: number[name] for name in ROOMS if number[name] < 3} == {}, "rooms with fewer than 3 quick tests"
