"""Tests the analysis of MiniDungeons 2 levels: what it must find, what it must not claim, and that it is true."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.errors import LevelError
from persona_evo.games import mapsets, registry
from persona_evo.games.analysis import at, on_every_way, pockets
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.catalog.minidungeons2.board import DungeonBoard
from persona_evo.games.core import WON, Level
from persona_evo.games.diagnosis import changes, diagnose
from persona_evo.games.exploration import explore, layer
from persona_evo.games.findings import Finding, where
from tests.shared import ROOT, shared

GAME = registry.get("minidungeons2")


def load(*rows: str, **options: Any) -> Level:
    return GAME.load("\n".join(rows) + "\n", "made", allow_unreachable=True, **options)


def found(*rows: str, **options: Any) -> dict[str, Finding]:
    """Return the findings on a level by kind; no kind comes twice in these levels."""
    findings = diagnose(GAME, [load(*rows, **options)])
    assert len({f.kind for f in findings}) == len(findings)
    return {f.kind: f for f in findings}


def places(finding: Finding) -> list[str]:
    return [where(p) for p in finding.places]


@pytest.mark.parametrize(
    ("fault", "kind", "place", "words"),
    [
        ("ambush", "lethal_start", "2:4", "goblin wizards"),
        ("gauntlet", "deadly_way", "8:5", "at least 11 traps"),
        ("shortcut", "shortcut", "2:4", "3 steps long instead of 24, and skip all but 1 goblin wizard"),
        ("shortcut", "unreachable_object", "7:10", "walls are on all sides"),
    ],
)
def test_the_four_planted_faults_are_named(fault: str, kind: str, place: str, words: str) -> None:
    level = mapsets.resolve(GAME, [str(shared(f"cases/faults/{fault}.txt"))])
    (finding,) = [f for f in diagnose(GAME, level)[:3] if f.kind == kind]
    assert finding.severity == "problem" and place in places(finding) and words in finding.text


def test_shipped_levels_have_no_problems() -> None:
    levels = mapsets.resolve(GAME, ["train08", "train11", "test03", "test05", "test06"])  # see tests/cli/test_findings
    findings = diagnose(GAME, levels)
    assert [f for f in findings if f.severity == "problem"] == []
    assert len(findings) <= 2 * len(levels)
    assert all(f.places for f in findings)


def test_a_treasure_that_only_a_portal_leads_to_is_not_cut_off() -> None:
    shut = ("XXXXXXXX", "XH   XTX", "X  M X X", "X   eX X", "XXXXXXXX")
    assert places(found(*shut)["unreachable_object"]) == ["2:7"]
    portal = ("XXXXXXXX", "XHp  XTX", "X  M XpX", "X   eX X", "XXXXXXXX")
    assert "unreachable_object" not in found(*portal)


def test_what_only_the_exit_leads_to_cannot_be_reached() -> None:
    (finding,) = found("XXXXXXX", "XH  eTX", "X  M XX", "XXXXXXX").values()
    assert finding.kind == "unreachable_object" and "only the exit at 2:5 leads there" in finding.text


def test_objects_with_one_cause_are_one_finding_and_follow_from_a_shut_exit() -> None:
    finding = found("XXXXXXXX", "XH eXTPX", "X  MXT X", "XXXXXXXX")["unreachable_object"]
    assert finding.text.startswith("The treasures at 2:6 and 3:6 and the potion at 2:7 cannot be reached")
    assert set(found("XXXXXXXX", "XH  XTeX", "X M XP X", "XXXXXXXX")) == {"unreachable_exit"}


def test_a_walled_in_minitaur_is_a_notice_and_a_goblin_a_problem() -> None:
    for monster, severity in (("m", "notice"), ("M", "problem")):
        assert found("XXXXXXX", f"XH eX{monster}X", "XXXXXXX")["unreachable_object"].severity == severity


def test_a_trap_with_a_way_around_it_is_not_forced() -> None:
    assert "forced_hazard" not in found("XXXXXXXXX", "XH  t  eX", "X       X", "XXXXXXXXX")
    forced = found("XXXXXXXXX", "XH  t  eX", "XX  X XXX", "XXXXXXXXX")["forced_hazard"]
    assert places(forced) == ["2:5"] and forced.evidence["least_damage"] == 1
    two = found("XXXXXXXXX", "XH  t  eX", "XX  t XXX", "XXXXXXXXX")["forced_hazard"]
    assert places(two) == ["2:5", "3:5"] and "such as one of those" in two.text


@pytest.mark.parametrize(("potion", "cap", "deadly"), [("P", 0, False), (" ", 0, True), ("P", 10, True)])
def test_a_potion_makes_a_deadly_corridor_survivable_unless_it_is_capped(potion: str, cap: int, deadly: bool) -> None:
    rows = ("XXXXXXXXXXXXXXX", f"XH{potion}tttttttttteX", "X  XXXXXXXXXXXX", "XXXXXXXXXXXXXXX")
    assert ("deadly_way" in found(*rows, hp_cap=cap)) == deadly


def test_a_potion_behind_the_traps_does_not_help() -> None:
    finding = found("XXXXXXXXXXXXXXXX", "XH ttttttttttPeX", "X  XXXXXXXXXXXXX", "XXXXXXXXXXXXXXXX")["deadly_way"]
    assert finding.evidence == {"least_damage": 10, "hit_points": 10, "potions": 0, "forced_traps": 10}


def test_a_treasure_that_costs_the_life_is_not_reachable_alive() -> None:
    rows = ("XXXXXXXXXXXXXXX", "XH ttttttttttTX", "Xe XXXXXXXXXXXX", "XXXXXXXXXXXXXXX")
    assert "cannot be reached alive" in found(*rows)["unreachable_object"].text
    dear = ("XXXXXXXXXXXXXXX", "XH ttttttt   TX", "Xe XXXXXXXXXXXX", "XXXXXXXXXXXXXXX")
    assert places(found(*dear)["no_return"]) == ["2:14"]
    assert "no_return" not in found("XXXXXXXX", "XH ttttT", "Xe XXXXX", "XXXXXXXX")


def test_a_lethal_start_is_proven_and_a_dangerous_one_is_not_lethal() -> None:
    lethal = found("XXXXXXXXXX", "XH RRR   X", "X  RRR   X", "X       eX", "XXXXXXXXXX")["lethal_start"]
    assert lethal.evidence["proven"] is True and 2 <= lethal.evidence["moves"] <= 8
    assert places(lethal)[0] == "2:2" and len(lethal.places) == 7
    assert "lethal_start" not in found("XXXXXXXXXX", "XHeRRR   X", "X  RRR   X", "X        X", "XXXXXXXXXX")


def test_an_exposed_start_counts_what_is_lost() -> None:
    finding = found("XXXXXXXXXX", "XHo      X", "X        X", "X       eX", "XXXXXXXXXX")["exposed_start"]
    assert finding.severity == "notice" and finding.evidence["damage_standing_still"] == 4
    two = found("XXXXXXXXXX", "XHoo     X", "X        X", "X       eX", "XXXXXXXXXX")["exposed_start"]
    assert places(two) == ["2:2", "2:3", "2:4"] and two.text.endswith(
        "loses 2 of 10 hit points in the first 4 turns, and one who plays badly 8."
    )
    cornered = found("XXXXXXXXXX", "XHo      X", "XXX      X", "XXX     eX", "XXXXXXXXXX")["exposed_start"]
    assert cornered.evidence["unavoidable_damage"] >= 2 and "whatever the hero does" in cornered.text
    assert "exposed_start" not in found("XXXXXXXXXX", "XH     o X", "X        X", "X       eX", "XXXXXXXXXX")


def test_a_treasure_that_the_hero_can_save_is_not_stolen() -> None:
    room = ("XXXXXXXXXXXXXXX", "XH     X     TX", "X      X     oX", "X             X", "X  e   X      X", "X" * 15)
    stolen = found(*room)["stolen_object"]
    assert stolen.severity == "problem" and places(stolen) == ["2:14"] and stolen.evidence["turns"] == 1
    assert "stolen_object" not in found("XXXXXXXXX", "XHT    oX", "X      eX", "XXXXXXXXX")


def test_a_portal_that_shortens_little_is_no_shortcut() -> None:
    assert "shortcut" not in found("XXXXXXXXXXXX", "XH p  p   eX", "X   T  M   X", "XXXXXXXXXXXX")
    assert "useless_object" in found("XXXXXXXXXXXX", "XH      p eX", "X   T  M p X", "XXXXXXXXXXXX")


def test_a_gap_that_skips_the_level_is_a_shortcut() -> None:
    rows = ["XXXXXXXXXXXXXXX", "XH   M  T     X", "X XXXXXXXXXXX X", "Xe   P  M  T  X", "XXXXXXXXXXXXXXX"]
    finding = found(*rows)["shortcut"]
    assert finding.severity == "problem" and places(finding) == ["3:2"] and finding.evidence["steps_without"] == 26
    assert "shortcut" not in found(*rows[:2], "XXXXXXXXXXXXX X", *rows[3:])


def test_monsters_that_stand_in_the_only_corridor() -> None:
    finding = found("XXXXXXXXXX", "XH   M   X", "XXXXXXXX X", "XXXXXXXXeX", "XXXXXXXXXX")["forced_hazard"]
    assert places(finding) == ["2:6"]
    assert "forced_hazard" not in found("XXXXXXXXXX", "XH   M   X", "XX XXXXX X", "XXXXXXXXeX", "XXXXXXXXXX")


def test_useless_things() -> None:
    dear = found("XXXXXXXX", "XH   MeX", "XXtXXXXX", "XXPXXXXX", "XXXXXXXX")["useless_object"]
    assert places(dear) == ["4:3"] and dear.evidence["least_cost"] == 2
    assert "useless_object" not in found("XXXXXXXX", "XH   MeX", "XXtXXXXX", "XXPTXXXX", "XXXXXXXX")


def test_room_corners_are_no_dead_ends_and_short_nooks_are_not_told() -> None:
    assert found("XXXXXXXX", "XH    eX", "X      X", "XX XXXXX", "XXXXXXXX") == {}


def test_harder_copies_name_what_differs() -> None:
    easy = load("XXXXXXXXXXXX", "XH   X     X", "X    P     X", "X    X    eX", "XXXXXXXXXXXX")
    hard = GAME.load(easy.text.replace("P", "t"), "hard")
    (finding,) = [f for f in diagnose(GAME, [hard, easy]) if f.kind == "harder_copy"]
    assert finding.level == "made, hard" and places(finding) == ["3:6"]
    assert "harder: 1 fewer potion within reach and 1 more trap that every way springs." in finding.text
    few, many = {"traps": 1, "traps that every way springs": 0}, {"traps": 3, "traps that every way springs": 1}
    assert changes(few, many) == ["1 more trap that every way springs", "2 more traps"]
    assert changes({"traps": 1, "-potions": 1}, {"traps": 2, "-potions": 2}) == [], "harder and easier"


def test_a_way_in_words() -> None:
    assert at([(4, 7), (5, 7), (6, 7)]) == "8:5 to 8:7" and at([(0, 0), (1, 1)]) == "1:1 and 2:2"
    assert at([(i, i) for i in range(8)]) == "1:1, 2:2, 3:3, 4:4, 5:5, 6:6 and 2 more"


def test_what_every_way_passes_agrees_with_removing_each_tile() -> None:
    board = DungeonBoard(mapsets.resolve(GAME, ["train05"])[0])
    hero, goal = board.grid.hero, board.grid.exit
    every = on_every_way(hero, goal, board.moves)
    for tile in board.reached:
        if tile not in (hero, goal):
            without = {t: tuple(n for n in to if n != tile) for t, to in board.moves.items()}
            assert (tile in every) == (not on_every_way_exists(hero, goal, without))


def on_every_way_exists(start: Any, goal: Any, moves: Any) -> bool:
    seen, queue = {start}, [start]
    for tile in queue:
        new = [n for n in moves[tile] if n not in seen]
        seen.update(new)
        queue += new
    return goal in seen


def test_pockets_hang_on_one_tile() -> None:
    board = DungeonBoard(load("XXXXXXXXXX", "XH      eX", "XXX XXXXXX", "XXX    XXX", "XXXXXXXXXX"))
    (pocket,) = pockets(board.grid.hero, board.walk, lambda t: t in (board.grid.hero, board.grid.exit))
    assert (pocket.door, pocket.end, pocket.depth, len(pocket.tiles)) == ((3, 1), (6, 3), 5, 5)


ROWS = st.lists(st.text(alphabet="    XXttTPMRobm", min_size=7, max_size=7), min_size=3, max_size=5)


@st.composite
def levels(draw: st.DrawFn, monsters: bool = True) -> Level:
    """Return a small level with a start and an exit somewhere, and perhaps portals."""
    rows = ["".join(row) for row in draw(ROWS)]
    cells = [list(row if monsters else "".join(" " if c in "MRobm" else c for c in row)) for row in rows]
    spots = draw(
        st.lists(st.tuples(st.integers(0, len(cells) - 1), st.integers(0, 6)), min_size=4, max_size=4, unique=True)
    )
    for (y, x), char in zip(spots, "HeppX" if draw(st.booleans()) else "He", strict=False):
        cells[y][x] = char
    text = "\n".join("".join(row) for row in cells)
    try:
        return GAME.load(text, "random", allow_unreachable=True)
    except LevelError:
        return GAME.load("XXXX\nXHeX\nXXXX\n", "random")


@settings(max_examples=10, deadline=None)
@given(levels())
def test_the_analysis_never_fails_and_names_places_on_the_board(level: Level) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("persona_evo.games.catalog.minidungeons2.opening.MOST_STATES", 1_000)
        findings = diagnose(GAME, [level])
    for finding in findings:
        assert finding.text and finding.places and finding.text[0].isupper()
        grid = level.facts["grid"]
        assert all(0 <= x < grid.width and 0 <= y < grid.height for x, y in finding.places)


@settings(max_examples=15, deadline=None)
@given(levels(monsters=False))
def test_problems_agree_with_all_that_can_happen(level: Level) -> None:
    taken: set[int] = set()
    words, things = int(level.tables[tb.WORDS]), int(level.tables[tb.THINGS])

    def watch(before: Any, actions: Any, after: Any) -> None:
        for k in range(things if words else 0):
            word, bit = tb.THINGS_AT + (k >> 4), 1 << (k & 15)
            if ((before[:, word] & bit != 0) & (after[:, word] & bit == 0)).any():
                taken.add(k)

    everything = explore(GAME, level, 4_000, watch)
    if not everything.exhausted:
        return
    problems = [f for f in diagnose(GAME, [level]) if f.severity == "problem"]
    ends = {"unreachable_exit", "deadly_way", "lethal_start", "impossible"}
    assert everything.has(WON) != bool(ends & {f.kind for f in problems})
    if everything.has(WON):
        t = level.tables
        first = int(tb.offset(t, tb.BOARD_AT)) + int(t[tb.WIDTH]) * int(t[tb.HEIGHT])
        tiles = [int(t[first + k]) for k in range(things)]
        spots = [(int(t[tb.HEADER + i]), int(t[tb.HEADER + int(t[tb.TILES]) + i])) for i in tiles]
        named = {p for f in problems if f.kind == "unreachable_object" for p in f.places}
        assert {p for k, p in enumerate(spots) if k not in taken} == named & set(spots)


def test_layers_of_an_exploration_follow_each_other() -> None:
    everything = explore(GAME, load("XXXXX", "XH eX", "XXXXX"))
    assert everything.exhausted and everything.has(WON) and layer(everything, 0) == [0]
    assert [len(layer(everything, k)) for k in range(3)] == [1, 1, 1], "to the east, and back"


def test_an_exit_beside_the_start_is_told() -> None:
    rows = ["XXXXXXXXXXXX", "XH e X T   X", "X    X   P X", "XXX  X T M X", "X          X", "XXXXXXXXXXXX"]
    finding = found(*rows)["shortcut"]
    assert finding.severity == "notice" and places(finding) == ["2:4", "2:2"] and finding.evidence["skipped"] == 4
    assert "shortcut" not in found("XXXXXXXXXXXX", "XH e X   T X", *rows[2:2], "XXXXXXXXXXXX")


def test_portals_that_save_hardly_a_step_are_useless() -> None:
    rows = ["XXXXXXXXXXXX", "XH   X  M  X", "X        p X", "X  T X   p X", "X  P X   e X", "XXXXXXXXXXXX"]
    finding = found(*rows)["useless_object"]
    assert places(finding) == ["3:10", "4:10"] and finding.evidence["steps_saved"] == 1
    far = [row.replace("p", " ").replace("X  T", "X pT").replace("M  X", "Mp X") for row in rows]
    assert "useless_object" not in found(*far)


def test_monsters_that_hurt_everybody() -> None:
    rows = ["XXXXXXXXXXXXXXXX", "XXXXXXXXXXXXX  X", "XH          R eX", "XXXXXXXXXXXXXRRX", "XXXXXXXXXXXXXXXX"]
    finding = found(*rows)["forced_hazard"]
    assert set(places(finding)) <= {"3:13", "4:14", "4:15"} and finding.evidence["least_damage"] >= 1
    assert "(proven)" in finding.text
    passed = found("XXXXXXXXXX", "XH     MeX", "XXXXXXXXXX")["forced_hazard"]
    assert "unhurt" in passed.text and "Nobody" not in passed.text


def test_a_start_is_exposed_only_to_monsters_that_strike_at_once() -> None:
    assert places(found("XXXXXXXX", "XHm    X", "X  T   X", "X     eX", "XXXXXXXX")["exposed_start"]) == ["2:2", "2:3"]
    far = found("XXXXXXXXXXXXXXX", "XH           RX", "X XXXXXXXXXXX X", "X            eX", "XXXXXXXXXXXXXXX")
    assert "exposed_start" not in far


def test_causes_in_a_game_where_every_move_uses_something_up() -> None:
    game = registry.get(str(ROOT / "tests/benchmarks/faults/trail.py"))

    def said(*rows: str) -> dict[str, Finding]:
        return {f.kind: f for f in diagnose(game, [game.load("\n".join(rows) + "\n", "level")])}

    late = ("##########", "#@......~#", "########~#", "#~.....~~#", "#.########", "#..f...G.#", "##########")
    assert list(said(*late)) == ["scarce_resource"], "more strength would do"
    shut = said("########", "#@..#.G#", "########")
    assert list(shut) == ["unreachable_exit"] and places(shut["unreachable_exit"])[0] == "2:7"
    far = said("##########", "#.@.#....#", "#........#", "########.#", "#.~...f..#", "#~**#G...#", "##########")
    assert "no_return" not in far, "only the strength ends the way out of the corner"


def test_a_short_game_is_not_lethal_at_its_start() -> None:
    game = registry.get("its_alive")
    text = "seed = 8202\nfield = 2x3\ndesign = monochromester\nplayer = unrestricted\nchoices = flat\n"
    assert [f.kind for f in diagnose(game, [game.load(text, "level")])] == ["impossible"]


def test_portals_into_an_empty_room_lead_to_it() -> None:
    rows = ("XXXXXXXXXX", "XH      eX", "X p      X", "XXXXXXXXXX", "XXXX   XXX", "XXXX p XXX", "XXXXXXXXXX")
    finding = found(*rows)["useless_object"]
    assert finding.text.startswith("The portals at 3:3 and 6:6 lead to an empty room: 5 tiles around 5:5")
    trapped = found(*rows[:4], "XXXX t XXX", *rows[5:])["useless_object"]
    assert "lead to a room with nothing but the trap at 5:6" in trapped.text
