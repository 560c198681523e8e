"""The seeded-fault benchmark: its proofs hold, and its scores are counted correctly. The product does not run."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from persona_evo.games import registry
from persona_evo.games.core import RUNNING, WON
from persona_evo.games.findings import KINDS
from tests.benchmarks.faults.boards import HIT_POINTS, Board
from tests.benchmarks.faults.by_hand import by_hand
from tests.benchmarks.faults.cases import ALIKE, FAULT, SOUND, Case, kept
from tests.benchmarks.faults.claims import names_something, untrue
from tests.benchmarks.faults.class_cases import STATES
from tests.benchmarks.faults.dungeons import dungeon, fetches, sound, untouched_way, win, world_of
from tests.benchmarks.faults.exploring import World, dies_within, everything
from tests.benchmarks.faults.planted import (
    PLANTERS,
    closed_exit,
    deadly_corridor,
    harder_copy,
    lethal_start,
    portal_shortcut,
    sealed_portal,
    thief,
    walled_in,
)
from tests.benchmarks.faults.scores import judge, markdown, precision, recall, wilson, write

YARD = Board.of("""\
XXXXXXXXXXXXX
XH    X    TX
X     X     X
X           X
X     X     X
X P   X    eX
XXXXXXXXXXXXX
""")
"""A sound level for planters that do not depend on chance."""


def found(kind: str, *places: str, severity: str = "problem", level: str = "a", text: str = "") -> dict[str, object]:
    return {
        "kind": kind,
        "severity": severity,
        "level": level,
        "places": list(places),
        "players": [],
        "evidence": {},
        "text": text,
    }


WALLED = Case(
    "a",
    "minidungeons2",
    FAULT,
    "walled-in objective",
    (YARD.text,),
    ("unreachable_object",),
    frozenset({(11, 1), (10, 1)}),
)


@pytest.mark.parametrize("number", range(2))
def test_a_generated_level_is_sound_and_the_same_for_ever(number: int) -> None:
    board = dungeon(1, number)
    assert board == dungeon(1, number) != dungeon(2, number)
    world = sound(board)
    assert world is not None and win(world, board, untouched=False) is not None
    assert all(fetches(world, board, spot) for spot in board.find("TP"))


def test_a_walled_in_treasure_cannot_be_had() -> None:
    made = walled_in(YARD, Random(2))
    assert made is not None
    spot = next(s for s in made.board.find("TP") if s in made.places)
    world = world_of(made.board)
    assert world is not None and not fetches(world, made.board, spot) and win(world, made.board) is not None
    assert spot not in made.board.ways() and not sound(made.board)


def test_a_closed_exit_is_refused_without_the_option() -> None:
    made = closed_exit(YARD, Random(1))
    assert made is not None and made.options == ("--allow-unreachable",)
    assert world_of(made.board) is None and world_of(made.board, allow_unreachable=True) is not None


def test_a_lethal_start_kills_every_play() -> None:
    made = next(m for n in range(8) if (m := lethal_start(dungeon(1, n), Random(n))))
    world = world_of(made.board)
    assert world is not None and dies_within(world, 6) is not None and dies_within(world, 1) is None
    assert win(world, made.board) is None


def test_a_deadly_corridor_is_deadly_and_shorter_ones_are_not() -> None:
    made = deadly_corridor(YARD, Random(1))
    assert made is not None and made.board.most_health() == 0
    traps = made.board.find("t")
    survivable = made.board.changed(dict.fromkeys(traps[HIT_POINTS:], " "))
    world = world_of(survivable)
    assert world is not None and survivable.most_health() == 1


def test_potions_count_once_and_traps_each_time() -> None:
    assert YARD.most_health() == HIT_POINTS + 1
    assert YARD.changed({(6, 3): "t"}).most_health() == HIT_POINTS
    assert YARD.changed({(6, 3): "t", (5, 5): "P"}).most_health() == HIT_POINTS + 1


def test_a_portal_shortcut_is_one_in_the_game() -> None:
    made = portal_shortcut(YARD, Random(3))
    assert made is not None
    world = world_of(made.board)
    assert world is not None
    done = win(world, made.board)
    assert done is not None and 2 * world.value(done, "ST") <= YARD.ways()[YARD.exit]


def test_a_thief_is_first_in_every_play() -> None:
    made = thief(YARD, Random(1))
    assert made is not None
    spot = next(s for s in made.places if made.board.cells[s] in "TP")
    world = world_of(made.board)
    assert world is not None and not fetches(world, made.board, spot)


def test_nobody_leaves_a_sealed_portal() -> None:
    made = sealed_portal(YARD, Random(1))
    assert made is not None
    world = world_of(made.board)
    states = everything(world) if world else None
    assert world and states and any(world.over(s) == RUNNING and not world.legal(s) for s in states)


def test_a_harder_copy_costs_what_the_original_does_not() -> None:
    made = harder_copy(YARD, Random(1))
    assert made is not None and made.before is not None
    assert untouched_way(made.before) and not untouched_way(made.board)


def test_every_fault_drawn_by_hand_is_there() -> None:
    cases = {case.name: case for case in by_hand()}
    assert len(cases) >= 15 and all(set(c.kinds) <= set(KINDS) and c.places for c in cases.values())
    lost = {"hand-wizard-gallery", "hand-portal-for-a-door"}
    unhurt = {"hand-wizards-in-corridor", "hand-ogres-in-corridor", "hand-traps-around-start", *lost}
    for case in (c for c in cases.values() if c.game == "minidungeons2"):
        board = Board.of(case.texts[0])
        world = world_of(board, allow_unreachable=bool(case.options))
        assert world is not None
        assert (win(world, board) is None) == (case.name in lost)
        assert untouched_way(board) == (case.name not in unhurt)
        if case.kinds[0] == "unreachable_object":
            assert not all(fetches(world, board, s) for s in board.find("TP")) or board.find("M")[0] not in board.ways()
    most = {
        "key-behind-its-door": None,
        "food-too-late": None,
        "ledge-against-the-way": None,
        "gold-for-a-life": 0.0,
        "valley": 0.5,
        "key-without-door": 1.0,
        "one-key-two-doors": 1.0,
    }
    for name, share in most.items():
        case = cases[f"hand-{name}"]
        game = registry.get(case.game)
        world = World(game, game.load(case.texts[0], name))
        states = everything(world, STATES) or []
        prize = "GOLD" if "GOLD" in game.symbols else "GEMS"
        assert states and max((world.value(s, prize) for s in states if world.over(s) == WON), default=None) == share


def test_a_fault_is_found_by_kind_and_place_among_the_first_three() -> None:
    right, other = found("unreachable_object", "2:12"), found("forced_hazard", "2:12")
    assert judge(WALLED, [right]).rank == 1 and judge(WALLED, [right]).found
    assert judge(WALLED, [found("unreachable_object", "2:11")]).found, "the wall beside it is a right place"
    assert judge(WALLED, [found("unreachable_object", text="nothing leads to 2:12")]).found
    late = judge(WALLED, [other, other, other, right])
    assert late.rank == 4 and not late.found and late.hint == "it is finding 4"
    assert judge(WALLED, [other]).hint == "the place with another kind"
    assert judge(WALLED, [found("unreachable_object", "3:3")]).hint == "the kind without the place"
    assert not judge(WALLED, [found("unreachable_object", "2:12", level="b")]).found
    everywhere = found("unreachable_object", *(f"{r}:{c}" for r in range(1, 6) for c in range(1, 13)))
    assert not judge(WALLED, [everywhere]).found, "naming half the map is no answer"


def test_a_word_stands_for_the_place_where_a_case_says_so() -> None:
    case = replace(WALLED, words=("gold",))
    assert judge(case, [found("unreachable_object", text="No Gold can be had")]).found
    assert not judge(case, [found("unreachable_object", text="nothing can be had")]).found
    assert judge(replace(WALLED, places=frozenset()), [found("unreachable_object")]).found


def test_notices_are_false_where_they_are_untrue_or_name_nothing() -> None:
    case = replace(WALLED, role=SOUND, fault="generated")

    def of(*args: str, **more: str) -> str:
        return untrue(found(*args, severity="notice", **more), case)

    assert of("unreachable_object", "2:12") == "2:12 can be walked to"
    assert of("no_choice", text="All do the same.") == "it names no place and no object"
    assert not of("no_choice", text="All take the same way to the exit.")
    assert of("exposed_start", "2:2") and of("empty_dead_end", "4:4")
    assert of("forced_hazard", "2:2").startswith("a playthrough reaches the exit")
    assert names_something(found("useless_object", "6:3")) and not of("useless_object", "6:3")


def test_tables_count_faults_false_problems_and_notices() -> None:
    right = found("unreachable_object", "2:12")
    quiet, loud = replace(WALLED, name="b", role=SOUND), replace(WALLED, name="c", role=ALIKE)
    verdicts = [
        judge(WALLED, [right]),
        judge(replace(WALLED, fault="another"), []),
        judge(quiet, []),
        judge(loud, [found("deadly_way", "6:12", level="c"), found("no_choice", severity="notice", level="c")]),
    ]
    assert [(x.what, x.cases, x.found, x.enough) for x in recall(verdicts)] == [
        ("walled-in objective", 1, 1, True),
        ("another", 1, 0, False),
        ("all kinds", 2, 1, False),
    ]
    assert precision(verdicts) == [(SOUND, 1, 0, 0, 0), (ALIKE, 1, 1, 1, 1), ("both", 2, 0.5, 0.5, 0.5)]
    assert "| all kinds " in markdown(verdicts, "check")
    low, high = wilson(9, 10)
    assert (low, high) == (pytest.approx(0.596, abs=1e-3), pytest.approx(0.982, abs=1e-3)) and wilson(0, 0) == (0, 1)


def test_every_case_is_written_down(tmp_path: Path) -> None:
    write(tmp_path, "check-1", [judge(WALLED, []), judge(replace(WALLED, role=SOUND), [])], "check, seed 1")
    rows = list(csv.DictReader((tmp_path / "check-1.csv").open(encoding="utf-8")))
    assert [r["found"] for r in rows] == ["no", ""] and rows[0]["level"] == YARD.text
    assert "### missed: walled-in objective" in (tmp_path / "check-1.md").read_text(encoding="utf-8")


def test_cases_are_kept_as_they_were_made(tmp_path: Path) -> None:
    cases = [WALLED, replace(WALLED, name="b", texts=("1", "2"), words=("gold",), options=("--allow-unreachable",))]
    assert kept(tmp_path, "1", lambda: cases) == cases
    assert kept(tmp_path, "1", lambda: pytest.fail("made twice")) == cases
    assert kept(tmp_path, "2", lambda: cases[:1]) == cases[:1]


def test_planters_name_kinds_that_there_are() -> None:
    assert len(PLANTERS) >= 10
    for planters in PLANTERS.values():
        made = next((m for p in planters for n in range(3) if (m := p(dungeon(1, n), Random(n)))), None)
        assert made is None or (set(made.kinds) <= set(KINDS) and made.proof)
