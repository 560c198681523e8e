"""Tests the comparison of two versions of a level: changed tiles, conclusions from the maps, the short answer."""

from __future__ import annotations

import dataclasses

import pytest

from persona_evo.games import registry
from persona_evo.playtest import compare, compare_versions, versions
from persona_evo.playtest.answer import LINES, Answer, answer
from persona_evo.playtest.records import End, Playthrough
from tests.playtest.makers import INFOS, drawn, group, played

MD2 = registry.get("minidungeons2")
PLAIN = "XXXXXXXXXXXX\nXH         X\nXXXXXX XXXXX\nX  T       X\nXXXX XXXXXXX\nX         eX\nXXXXXXXXXXXX\n"
TRAPS = PLAIN.replace("X         eX", "X    tttt eX")

GATES = {thing: PLAIN.replace("XXXXXX XXXXX", f"XXXXXX{thing}XXXXX") for thing in "tR"}
"""A trap or a wizard on the only way: there are as many of them, and the wizard does more damage."""


def changed(a: str, b: str) -> versions.Changes:
    return versions.changes(MD2, MD2.load(a, "a"), MD2.load(b, "b", allow_unreachable=True))


def told(a: str, b: str) -> versions.AnalysisDifference:
    return versions.difference(MD2, MD2.load(a, "a", allow_unreachable=True), MD2.load(b, "b", allow_unreachable=True))


def test_changed_tiles_are_named_with_their_places() -> None:
    changes = changed(PLAIN, TRAPS.replace("T", " "))
    assert changes.words == "5 tiles changed: treasure -> floor at 4:4; floor -> trap at 6:6 to 6:9"
    assert [(t.place, t.after) for t in changes.tiles][:2] == [((3, 3), "floor"), ((5, 5), "trap")]
    assert changed(PLAIN, PLAIN).words == "A and B are the same level, so results differ by chance only"


def test_a_map_that_was_extended_is_laid_over_the_other_where_it_fits() -> None:
    taller = "XXXXXXXXXXXX\nX          X\n" + PLAIN.partition("\n")[2].replace("XXXXXX XXXXX", "XXXXXX XXXXX", 1)
    changes = changed(PLAIN, taller)
    assert changes.offset == (0, 1) and "12 x 7 -> 12 x 8 tiles" in changes.words
    assert all(t.place[1] < 2 for t in changes.tiles)


def test_other_levels_are_not_told_tile_by_tile() -> None:
    other = "\n".join(["X" * 20, "XH" + " " * 16 + "eX", *["X" + " T" * 9 + "X"] * 9, "X" * 20]) + "\n"
    words = changed(PLAIN, other).words
    assert words.startswith("A and B are different levels: most of their tiles differ; 12 x 7 -> 20 x 12 tiles")


def test_levels_that_are_settings_are_compared_by_lines() -> None:
    puyo = registry.get("puyo")
    a, b = (puyo.load(f"# {seed}\nseed = {seed}\ndrops = 20\n", "x") for seed in (1, 2))
    assert versions.changes(puyo, a, b).words == "1 line changed: seed = 1 -> seed = 2"
    assert versions.difference(puyo, a, b) == versions.AnalysisDifference()
    long = [dataclasses.replace(level, text=level.text + "drops = 20\n" * 300) for level in (a, b)]
    assert versions.changes(puyo, *long).words == "1 line changed: seed = 1 -> seed = 2"


@pytest.mark.parametrize(
    ("a", "b", "said", "harder"),
    [
        (PLAIN, TRAPS, "4 more traps, all forced", 1),
        (TRAPS, PLAIN, "4 fewer traps, all forced", -1),
        (PLAIN, PLAIN.replace("X  T       X", "X  T    tt X"), "2 more traps", 0),
        (PLAIN, PLAIN.replace("T", " "), "one treasure fewer", 0),
        (GATES["t"], GATES["R"], "one more forced goblin wizard", 1),
        (GATES["R"], GATES["t"], "one forced goblin wizard fewer", -1),
    ],
)
def test_what_the_maps_say(a: str, b: str, said: str, harder: int) -> None:
    found = told(a, b)
    assert (
        (found.reasons if harder else found.things)[:1] == (said,)
        and found.harder == harder
        and found.problem == ("", "")
    )


def test_a_thing_that_proves_nothing_is_no_reason() -> None:
    found = told(YARD.replace("XH   ", "XH  t"), YARD.replace("X         eX", "Xo       beX"))
    assert not found.reasons and found.things == ("one trap fewer", "one more ogre", "one more blob")
    lost = answer(
        compare_versions.compare_levels(group("a", "runner", 50, 50), group("b", "runner", 20, 50), INFOS),
        changed(PLAIN, TRAPS),
        found,
    )
    assert lost.lines[0] == ("B is harder than A for the runner; B has one trap fewer, one more ogre and one more blob")


def test_a_problem_that_only_one_version_has_is_named() -> None:
    shut = PLAIN.replace("XXXX XXXXXXX", "XXXXXXXXXXXX")
    assert told(PLAIN, shut).problem[0] == "B" and told(PLAIN, shut).harder == 1
    letter, text = told(shut, PLAIN).problem
    assert letter == "A" and "exit" in text and told(shut, PLAIN).harder == -1


def hurt(records: list[Playthrough], *points: float) -> list[Playthrough]:
    """Return the playthroughs with hit points lost on the way, taken in turn from `points`."""
    return [
        dataclasses.replace(r, hit_points=[10.0, 10.0 - points[i % len(points)]], end=End(r.outcome, 0.0, 5))
        for i, r in enumerate(records)
    ]


def answered(
    a: list[Playthrough], b: list[Playthrough], difference: versions.AnalysisDifference | None = None
) -> Answer:
    rows = compare_versions.compare_levels(a, b, INFOS)
    return answer(rows, changed(PLAIN, TRAPS), difference or versions.AnalysisDifference())


def test_a_version_is_harder_where_players_win_less() -> None:
    found = answered(
        group("a", "runner", 50, 50) + group("a", "killer", 40, 50, seed=1),
        group("b", "runner", 31, 50) + group("b", "killer", 39, 50, seed=1),
    )
    assert found.lines[0] == "B is harder than A for the runner" and found.harder == 1
    assert found.lines[1].startswith("win rate: runner 100 % -> 62 % (-38 points, 95 % interval -52 to -2")
    assert len(found.lines) <= LINES and found.lines[-1].startswith("4 tiles changed")


def test_a_version_is_harder_where_players_lose_more_hit_points_though_all_win() -> None:
    a, b = hurt(group("a", "runner", 10, 10), 0, 1), hurt(group("b", "runner", 10, 10), 4, 5)
    found = answered(a, b, told(PLAIN, TRAPS))
    assert found.lines[0] == "B is harder than A for the runner: 4 more traps, all forced"
    assert found.lines[1] == (
        "damage: runner 0.5 -> 4.5 hit points (+4, 95 % interval 3.5 to 4.5; Vargha-Delaney A = 1.00: in 100 % of "
        "pairs of playthroughs B loses more hit points)"
    )
    assert found.lines[-1] == (
        "win rates do not differ (100 % in both): with 10 trials each a difference below about 50 points cannot be seen"
    )
    easier = answered(b, a, told(TRAPS, PLAIN))
    assert (
        easier.lines[0].startswith("B is easier than A for the runner: 4 fewer traps")
        and "A = 0.00: in 100 %" in easier.lines[1]
    )
    assert "B loses fewer hit points" in easier.lines[1]


def test_the_maps_decide_where_no_player_shows_anything() -> None:
    a, b = group("a", "runner", 5, 5, treasure=1), group("b", "runner", 5, 5, treasure=1)
    found = answered(a, b, told(PLAIN, TRAPS))
    assert (
        found.lines[0] == "B is harder than A judging by its map: 4 more traps, all forced; the players do not show it"
    )
    assert found.harder == 1
    silent = answered(a, b)
    assert silent.lines[0] == "no difference shown between A and B for the runner" and silent.harder == 0


def routed(level: str, *points: float, best: float = 0.9) -> list[Playthrough]:
    """Return trials of one proven search, each with a route of its own and its loss of hit points."""
    plans = hurt(drawn(level, "runner", len(points), best=best, steps=10), *points)
    return [dataclasses.replace(r, actions=[f"way {k}"]) for k, r in enumerate(plans)]


def test_only_what_all_best_plans_share_is_proven() -> None:
    found = answered(routed("a", 1, 2, best=0.9), routed("b", 1, 2, best=0.5))
    assert "utility: runner 0.9 -> 0.5, in the proven best plan" in found.lines
    assert found.lines[-1] == "win rates do not differ: 100 % in both (proven)"


@pytest.mark.parametrize(
    ("a", "b", "weighed", "line"),
    [
        ((5,), (9,), False, ""),  # one of many equal plans, chosen at random
        ((4, 5, 8), (8, 9), False, ""),  # they overlap
        ((4, 5, 8), (9, 12), False, "damage: runner 4 to 8 -> 9 to 12 hit points (routes found: 3 in A, 2 in B)"),
        ((5,), (9,), True, "damage: runner 5 -> 9 hit points (routes found: 1 in A, 1 in B)"),
    ],
)
def test_what_equal_plans_differ_in_is_told_as_ranges(
    a: tuple[float, ...], b: tuple[float, ...], weighed: bool, line: str
) -> None:
    rows = compare_versions.compare_levels(
        routed("a", *a), routed("b", *b), INFOS, weighed={"runner": ["damage"]} if weighed else None
    )
    found = answer(rows, changed(PLAIN, TRAPS), versions.AnalysisDifference())
    assert [text for text in found.lines if "damage" in text] == ([line] if line else [])
    assert found.harder == 0, "damage alone proves no difficulty"
    if not line:
        assert any("not proven for the runner" in s and "damage" in s for s in compare_versions.headlines(rows))
    by_map = answer(rows, changed(PLAIN, TRAPS), told(PLAIN, TRAPS))
    disjoint = max(a) < min(b)  # then the players bear out what the maps prove
    assert by_map.lines[0].startswith("B is harder than A for" if disjoint else "B is harder than A judging by its map")


def test_the_utility_decides_and_what_points_the_other_way_is_named() -> None:
    a, b = routed("a", 8, 9, best=0.6), routed("b", 4, 5, best=0.5)
    found = answered(a, b)
    assert found.harder == 1
    assert found.lines[0] == "B is harder than A for the runner, although the runner's damage is lower"
    assert found.lines[1] == "utility: runner 0.6 -> 0.5, in the proven best plan"
    back = answered(b, a)
    assert back.harder == -1
    assert back.lines[0] == "B is easier than A for the runner, although the runner's damage is higher"
    turned = answered(a, b, told(TRAPS, PLAIN))
    assert ", though its map says otherwise: 4 fewer traps, all forced" in turned.lines[0]


def test_a_proven_utility_against_a_sampled_one_outweighs_less_damage() -> None:
    """One version is proven, the other was played ten times."""
    a = routed("a", 10, 9, 7, 8, best=0.6)
    b = hurt([played("b", utility=0.5, best_utility=0.5, steps=10 + t, trial=t) for t in range(10)], 2, 6, 4, 3)
    rows = compare_versions.compare_levels(a, b, INFOS)
    found = answer(rows, changed(PLAIN, TRAPS), versions.AnalysisDifference())
    assert found.harder == 1
    assert found.lines[0].startswith("B is harder than A for the runner, although the runner's damage is lower")
    assert found.lines[-1] == "win rates do not differ: 100 % in both (proven, or the same in 10 trials)"


def test_players_that_do_not_agree_are_told_apart() -> None:
    a, b = (
        [r for p, wins in zip("xy", won, strict=True) for r in group(level, p, wins, 50)]
        for level, won in (("a", (50, 10)), ("b", (10, 50)))
    )
    found = answered(a, b)
    assert found.lines[0] == "B is harder than A for the x and easier for the y" and found.harder == 0


def test_effects_are_those_of_the_searches() -> None:
    a, b = hurt([played("a")] * 9, 1, 2, 3), hurt([played("b")] * 9, 3)
    (damage,) = [r for r in compare.compare_groups(a, b) if r.measure.key == "damage"]
    assert damage.effect.value == pytest.approx((6 + 3 / 2) / 9) and damage.difference.value == pytest.approx(1)
    assert damage.difference.low < 1 < damage.difference.high and 0.5 < damage.effect.low < damage.effect.value


YARD = "XXXXXXXXXXXX\nXH         X\nX  XXXXXX  X\nX T      T X\nX          X\nX         eX\nXXXXXXXXXXXX\n"


def looted(level: str, share: float, best: float, damage: float) -> list[Playthrough]:
    """Return routes of a proven plan that opens this share of the treasures and loses so many hit points."""
    plans = drawn(level, "runner", 5, best=best)
    return hurt([dataclasses.replace(r, metrics={**r.metrics, "TO": share}) for r in plans], damage)


def test_shares_of_fewer_objects_are_not_compared() -> None:
    fewer = told(YARD, YARD.replace("T X", "  X"))
    assert fewer.objects == {"treasures": (2, 1)} and "objects" in fewer.sums
    infos = [m for m in MD2.metrics if m.symbol == "TO"]

    def said(shares: tuple[float, float], damage: float, difference: versions.AnalysisDifference) -> Answer:
        a, b = looted("a", shares[0], 0.5, 1), looted("b", shares[1], 0.9, damage)
        rows = compare_versions.compare_levels(a, b, infos, weighed={"runner": {"damage", "TO"}})
        return answer(rows, changed(PLAIN, TRAPS), difference)

    alike = said((0.5, 1.0), 3, fewer)
    assert alike.lines[0].startswith("B is easier than A for the runner, although the runner's damage is higher")
    assert not any("treasures opened" in line for line in alike.lines)


def test_what_only_b_has_comes_right_after_the_verdict() -> None:
    ambush = YARD.replace("X T      T X", "X T      ToX")
    difference = told(YARD, ambush)
    assert [(f.kind, f.places) for f in difference.new] == [("stolen_object", ((9, 3),))] and not told(YARD, YARD).new
    a, b = looted("a", 1, 0.5, 1), looted("b", 1, 0.4, 9)
    rows = compare_versions.compare_levels(a, b, weighed={"runner": ["damage"]})
    found = answer(rows, changed(YARD, ambush), difference)
    assert found.lines[1].startswith("B has a notice that A does not have: The hero never gets the treasure at 4:10")
    shut = dataclasses.replace(difference, problem=("A", "The exit is shut."))
    found = answer(rows, changed(YARD, ambush), shut)
    assert (
        found.lines[0] == "B is harder than A for the runner, though A has a problem that B does not have: "
        "The exit is shut."
    )
    assert len(found.lines) <= LINES
