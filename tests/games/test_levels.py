"""Tests level files of MiniDungeons 2 and 1: what is read, and the messages about mistakes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from persona_evo.errors import LevelError
from persona_evo.games.catalog.minidungeons2 import levels, md1
from persona_evo.games.catalog.minidungeons2.levels import DungeonLevel, parse
from tests.shared import shared

pytestmark = pytest.mark.quick

SHIPPED = Path(levels.__file__).parent / "levels"
SMALL = "XXXXXX\nXHT  X\nXpM pX\nX b eX\nXXXXXX\n"


def grid(text: str, **options: bool) -> DungeonLevel:
    return parse(text, "level", "level.txt", **options)


def wrong(text: str, **options: bool) -> LevelError:
    with pytest.raises(LevelError) as e:
        grid(text, **options)
    return e.value


def place(error: LevelError) -> tuple[int, int]:
    assert error.place is not None and error.place.source == "level.txt"
    return error.place.line, error.place.column


def test_everything_has_its_place() -> None:
    g = grid(SMALL)
    assert (g.width, g.height, g.hero, g.exit, g.portals) == (6, 5, (1, 1), (4, 3), ((1, 2), (4, 2)))
    assert g.objects == (("T", 2, 1), ("p", 1, 2), ("M", 2, 2), ("p", 4, 2), ("b", 2, 3), ("e", 4, 3))
    assert g.warnings == ()
    assert g.text == SMALL


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", "\r"),
        SMALL.rstrip("\n"),
        "\ufeff" + SMALL,
        SMALL + "\n\n\n",
        "\ufeff" + SMALL.rstrip("\n").replace("\n", "\r\n") + "\r\n\r\n",
    ],
    ids=["crlf", "cr", "no last newline", "bom", "empty lines after", "all"],
)
def test_ways_of_writing_a_file_that_do_not_matter(text: str) -> None:
    assert grid(text) == grid(SMALL)


def test_the_ring_of_walls_is_not_needed() -> None:
    assert grid("H  \n X \n  e").rows == ("H  ", " X ", "  e")


def test_an_entrance_is_floor_with_a_warning() -> None:
    g = grid("XXXXX\nXHEeX\nXXXXX")
    assert g.rows[1] == "XH eX"
    assert len(g.warnings) == 1 and g.warnings[0].startswith("level.txt:2:3: 'E'")


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", (1, 1), ["empty"]),
        ("\ufeff\r\n  \r\n", (1, 1), ["empty"]),
        ("X", (1, 1), ["no hero start", "exactly one 'H'"]),
        ("H", (1, 1), ["no exit", "exactly one 'e'"]),
        ("XXXX\nX eX\nXXXX", (1, 1), ["no hero start"]),
        ("XXXX\nXE X\nXXXX", (1, 1), ["no hero start", "'E' is not the hero's start"]),
        ("XXXXX\nXHHeX\nXXXXX", (2, 3), ["2 hero starts", "2:2, 2:3"]),
        ("XXXXXX\nXHeHeX\nXXXXXX", (2, 4), ["2 hero starts"]),
        ("XXXXX\nXHeeX\nXXXXX", (2, 4), ["2 exits"]),
        ("XXXXX\nXHpeX\nXXXXX", (2, 3), ["1 portal\n", "none or two", "partner"]),
        ("XXXXXX\nXHppeX\nXp   X\nXXXXXX", (3, 2), ["3 portals", "2:3, 2:4, 3:2"]),
        ("XXXXX\nXH eX\nX#  X\nXXXXX", (3, 2), ["'#'", "did you mean 'X' (wall)?", "'m' minitaur"]),
        ("XXXXX\nXH.eX\nXXXXX", (2, 3), ["did you mean a space (floor)?"]),
        ("XXXXX\nXH\u00a0eX\nXXXXX", (2, 3), ["U+00A0", "a space"]),
        ("XXXXX\nXHéeX\nXXXXX", (2, 3), ["'é'", "use a character of the legend"]),
        ("XXXXX\nXH\teX\nXXXXX", (2, 3), ["tab"]),
        ("XXXXXX\nXH  eX\nX   X\nXXXXXX", (3, 6), ["1 character is missing", "6 characters", "strip trailing spaces"]),
        ("XXXXXX\nXH  eX\n\nXXXXXX", (3, 1), ["6 characters are missing"]),
        ("XXXXX\nXH eXX\nXXXXX", (2, 6), ["1 character too many", "5 characters"]),
        ("XXXXX\nXHXeX\nXX XX\nXXXXX", (2, 2), ["walled in"]),
        ("HXe", (1, 1), ["walled in", "board's edge"]),
        ("XXXXXX\nXH XeX\nXXXXXX", (2, 5), ["cannot be reached", "2:2", "allow_unreachable"]),
    ],
)
def test_mistakes_are_told_with_place_and_remedy(text: str, where: tuple[int, int], words: list[str]) -> None:
    error = wrong(text)
    assert place(error) == where
    for word in words:
        assert word in str(error)


def test_a_portal_makes_an_exit_reachable_and_an_enclosed_partner_does_not() -> None:
    assert grid("XXXXXXX\nXHpXpeX\nXXXXXXX").portals == ((2, 1), (4, 1))
    assert "cannot be reached" in wrong("XXXXXXXX\nXHpXpX X\nXXXXXXeX\nXXXXXXXX").what


def test_an_unreachable_exit_can_be_allowed() -> None:
    g = grid("XXXXXX\nXH XeX\nXXXXXX", allow_unreachable=True)
    assert len(g.warnings) == 1 and g.warnings[0].startswith("level.txt:2:5: the exit cannot be reached")
    assert "walled in" in wrong("XXXXX\nXHXeX\nXXXXX", allow_unreachable=True).what


def test_a_minidungeons_1_file_points_at_the_importer() -> None:
    error = wrong("##m\nE..\nr.X\n")
    assert place(error) == (1, 1)
    assert "did you mean 'X' (wall)?" in str(error) and "MiniDungeons 1" in str(error)


def open_field(width: int, height: int, content: str) -> str:
    """Return a field without walls: the content's characters row by row after the hero, the exit in the last corner."""
    cells = list(("H" + content).ljust(width * height - 1) + "e")
    return "\n".join("".join(cells[y * width : (y + 1) * width]) for y in range(height))


def test_sizes_up_to_the_limit_load_and_no_more() -> None:
    g = grid(open_field(levels.MAX_SIDE, levels.MAX_SIDE, "MRobm" * (levels.MAX_MONSTERS // 5)))
    assert (g.width, g.height) == (200, 200)
    assert sum(c in levels.MONSTERS for c, _, _ in g.objects) == 300
    wide, high = wrong(open_field(201, 3, "")), wrong(open_field(3, 201, ""))
    assert place(wide) == (1, 201) and place(high) == (201, 1)
    assert "at most 200 (MAX_SIDE)" in str(wide) and "201 tiles high" in str(high)


def test_objects_up_to_the_limit_load_and_no_more() -> None:
    assert len(grid(open_field(100, 100, "T" * (levels.MAX_OBJECTS - 1))).objects) == levels.MAX_OBJECTS
    assert "at most 2000 (MAX_OBJECTS)" in str(wrong(open_field(100, 100, "T" * levels.MAX_OBJECTS)))
    error = wrong(open_field(50, 50, "m" * (levels.MAX_MONSTERS + 1)))
    assert place(error) == (7, 2) and "at most 300 (MAX_MONSTERS)" in str(error)


def test_any_text_gives_a_grid_or_a_level_error() -> None:
    rng = random.Random(7)
    alphabet = "XXXX     HeTPptMRobmE#.\n\n\t\r\ufeffé\x00"
    outcomes = {"grid": 0, "error": 0}
    for _ in range(3000):
        text = "".join(rng.choices(alphabet, k=rng.randrange(60)))
        damaged = SMALL if rng.random() < 0.5 else text
        cut = rng.randrange(len(damaged) + 1)
        damaged = damaged[:cut] + rng.choice(alphabet) + damaged[cut + rng.randrange(2) :]
        try:
            g = grid(damaged)
        except LevelError as e:
            outcomes["error"] += 1
            assert e.place is not None and e.place.line >= 1 and e.place.column >= 1 and e.hint
        else:
            outcomes["grid"] += 1
            assert {len(row) for row in g.rows} == {g.width} and grid(g.text).rows == g.rows
    assert min(outcomes.values()) > 30


def test_read_tells_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    def told(path: Path) -> str:
        with pytest.raises(LevelError) as e:
            levels.read(path)
        assert str(path) in str(e.value)
        return str(e.value)

    assert "no such file" in told(tmp_path / "none.txt")
    assert "folder" in told(tmp_path)
    path = tmp_path / "Höhle 1.txt"
    path.write_text(SMALL, encoding="utf-8-sig")
    assert levels.read(path).name == "Höhle 1"
    path.write_bytes(b"XXXX\nXH\xe9X\n")
    assert ":2:3: the file is not UTF-8" in told(path) and "0xE9" in told(path)
    path.write_bytes(SMALL.encode("utf-16"))
    assert "UTF-16" in told(path)
    path.write_bytes(b"XX\0XX")
    assert "binary" in told(path)
    path.write_text("XXXXXX\nXH XeX\nXXXXXX")
    assert "cannot be reached" in told(path)
    assert levels.read(path, allow_unreachable=True).warnings


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.txt")), ids=lambda p: p.stem)
def test_shipped_levels_are_clean_and_varied(path: Path) -> None:
    g = levels.read(path)
    chars = [c for c, _, _ in g.objects]
    assert g.warnings == () and g.text == path.read_text()
    assert len(levels.distances(g, g.hero, portals=True)) >= 0.97 * sum(row.count(" ") for row in g.rows)
    assert chars.count("m") >= 1 and 2 <= chars.count("T") <= 8 and 2 <= chars.count("P") <= 8
    assert 56 <= sum(row.count("X") for row in g.rows) <= 130


def test_the_readme_names_every_character_metric_and_switch() -> None:
    from persona_evo.games.catalog.minidungeons2.core import RULE_SETS
    from persona_evo.games.registry import get

    text = (SHIPPED.parent / "README.md").read_text(encoding="utf-8")
    words = [*get("minidungeons2").symbols, *RULE_SETS["paper"], *(levels.LEGEND.keys() - {levels.FLOOR})]
    assert [word for word in words if f"`{word}`" not in text] == []


def test_shipped_levels_are_none_of_the_original_ones() -> None:
    originals = {path.read_text() for path in shared("levels/md2").rglob("*.txt")}
    walls = {text.translate({ord(c): " " for c in levels.OBJECTS + "H"}) for text in originals}
    paths = list(SHIPPED.glob("*.txt"))
    assert len(paths) >= 17
    for path in paths:
        mine = path.read_text().translate({ord(c): " " for c in levels.OBJECTS + "H"})
        assert mine not in walls


MD1_FACTS = {
    "map00": (8, 59, (11, 0), (5, 10), 20),
    "map01": (8, 58, (2, 5), (11, 6), 14),
    "map02": (8, 60, (1, 10), (11, 1), 21),
    "map03": (8, 70, (9, 11), (6, 8), 34),
    "map04": (8, 76, (2, 2), (9, 7), 22),
    "map05": (8, 61, (2, 0), (8, 10), 24),
    "map06": (8, 68, (1, 0), (11, 2), 20),
    "map07": (8, 54, (6, 0), (7, 11), 22),
    "map08": (8, 67, (2, 11), (10, 7), 22),
    "map09": (7, 63, (9, 9), (0, 11), 15),
    "map10": (8, 57, (0, 3), (10, 10), 29),
}


@pytest.mark.parametrize("name", MD1_FACTS)
def test_minidungeons_1_levels_import(name: str) -> None:
    monsters, walls, (ex, ey), (gx, gy), path = MD1_FACTS[name]
    text = shared(f"levels/md1/{name}.txt").read_text()
    assert md1.detect(text) == "md1"
    converted, mapped = md1.import_md1(text, name, f"{name}.txt")
    assert md1.detect(converted) == "md2"
    g = parse(converted, name, f"{name}.txt")
    assert (g.width, g.height) == (14, 14)
    assert g.hero == (ex + 1, ey + 1) and g.exit == (gx + 1, gy + 1)
    assert [len(g.positions(c)) for c in "MTP"] == [monsters, 7, 4]
    assert sum(row.count("X") for row in g.rows) == walls + 52
    assert levels.distances(g, g.hero, portals=False)[g.exit] == path
    told = "\n".join(mapped)
    assert f"'m' -> 'M' (monster -> goblin), {monsters} tiles" in told
    assert f"'#' -> 'X' (wall), {walls} tiles" in told and "12x12 -> 14x14" in told and "stand still" in told


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("E..\n..\nX..\n", (2, 3), ["too short", "'.'"]),
        ("E.T\n...\nX..\n", (1, 3), ["did you mean 'r'?"]),
        ("E..\n...\n...\n", (1, 1), ["no exit", "exactly one 'X'"]),
        ("E..\n.E.\nX..\n", (2, 2), ["2 entrances"]),
        ("\n\n", (1, 1), ["empty"]),
    ],
)
def test_mistakes_in_minidungeons_1_files(text: str, where: tuple[int, int], words: list[str]) -> None:
    with pytest.raises(LevelError) as e:
        md1.import_md1(text, "level", "level.txt")
    assert place(e.value) == where
    for word in words:
        assert word in str(e.value)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SMALL, "md2"),
        (SMALL.replace("X", "#"), "md2"),
        (SMALL.replace(" ", "."), "md2"),
        ("E.X\r\n", "md1"),
        ("\ufeffE#X", "md1"),
        ("", None),
        ("  \n", None),
        ("12345", None),
    ],
)
def test_formats_are_told_apart(text: str, kind: str | None) -> None:
    assert md1.detect(text) == kind


def test_detection_agrees_with_the_folders() -> None:
    for path in shared("levels/md2").rglob("*.txt"):
        assert md1.detect(path.read_text()) == "md2", path.name
