"""Tests numbers of a level's layout against counts made by others and by hand."""

from __future__ import annotations

import math

import pytest

from persona_evo.games.catalog.minidungeons2 import levels
from persona_evo.games.catalog.minidungeons2.structure import MEANINGS, structure
from tests.shared import shared

COLUMNS = [
    *("treasures", "potions", "goblins", "wizards", "ogres", "blobs", "minitaurs", "objects", "portals", "traps"),
    *("walls", "floor", "hero", "exit", "path", "path_portals", "far"),
]


def facts() -> dict[str, dict[str, str]]:
    """Return the fact sheet of the shared levels: map -> column -> value as printed."""
    rows = {}
    for line in shared("levels/md2/README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == len(COLUMNS) + 2 and cells[1][:1].isdigit():
            rows[cells[0]] = dict(zip(["size", *COLUMNS], cells[1:], strict=True))
    return rows


def test_the_fact_sheet_of_all_shared_levels_holds() -> None:
    sheet = facts()
    assert len(sheet) == 40
    for name, row in sheet.items():
        folder = "levels/md2" if name.startswith("map") else "levels/md2/extra"
        grid = levels.read(shared(f"{folder}/{name}.txt"))
        found = structure(grid)
        assert row["size"] == f"{grid.width}x{grid.height}", name
        assert [row["hero"], row["exit"]] == ["{},{}".format(*p) for p in (grid.hero, grid.exit)], name
        for column in set(COLUMNS) - {"hero", "exit"}:
            assert found[column] == float(row[column]), (name, column)


def measured(*rows: str, **options: bool) -> dict[str, float]:
    return structure(levels.parse("\n".join(rows), "level", "level.txt", **options))


def test_every_number_is_explained() -> None:
    assert list(measured("He")) == list(MEANINGS)


def test_a_corridor_with_a_turn() -> None:
    found = measured("H  ", "XX ", "XXe")
    assert (found["dead_ends"], found["choke_points"], found["corridor_turns"]) == (2, 3, 1)
    assert (found["path"], found["far"], found["walls"], found["branching"]) == (4, 4, 4, 8 / 5)


def test_an_open_square_has_one_open_area() -> None:
    found = measured("H  ", "   ", "  e")
    assert (found["open_areas"], found["crossings"], found["junctions"]) == (1, 1, 4)
    assert (found["choke_points"], found["corridor_turns"], found["dead_ends"]) == (4, 4, 0)


def test_a_plus_is_a_crossing_and_no_open_area() -> None:
    found = measured("XHX", "   ", "XeX")
    assert (found["open_areas"], found["crossings"], found["dead_ends"]) == (0, 1, 4)


def test_portals_shorten_the_way_and_open_rooms() -> None:
    found = measured("Hp      ", "XXXXXX X", "Xpe     ")
    assert (found["path"], found["path_portals"], found["reachable"]) == (12, 2, 1)
    apart = measured("HpXpe")
    assert math.isnan(apart["path"]) and apart["path_portals"] == 2 and apart["reachable"] == 1


@pytest.mark.filterwarnings("error")
def test_no_way_is_not_a_number() -> None:
    found = measured("H Xe", allow_unreachable=True)
    assert math.isnan(found["path"]) and math.isnan(found["path_portals"])
    assert (found["reachable"], found["far"]) == (2 / 3, 0)
