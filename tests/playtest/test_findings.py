"""Each finding is made where it should be, and not where it should not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from persona_evo.formula import parse
from persona_evo.games.core import Event, Metric
from persona_evo.playtest import findings
from persona_evo.playtest.findings import Finding, find
from persona_evo.playtest.metrics import Bound
from tests.playtest.makers import INFOS, group, played


def kinds(found: list[Finding]) -> list[str]:
    return [f.kind for f in found]


def test_a_sound_level_has_no_findings() -> None:
    records = group("one", "runner", 20, 20) + group("one", "collector", 20, 20, treasure=0.9)
    assert find(records, INFOS, priorities={"collector": "TO"}) == []
    assert find([], INFOS) == []


def test_nobody_finishes() -> None:
    records = [played(outcome="lost", player=p) for p in ("a", "b")] + [played(outcome="running", player="a")]
    found = find(records, INFOS)
    assert found[0].severity == "problem" and found[0].kind == "unfinishable"
    assert "2 players, 3 playthroughs, 2 lost, 1 came to no end" in found[0].text
    assert "timeouts" not in kinds(found)
    known = find(records, INFOS, bounds={("one", "a"): Bound(1.0, True, {"WON": 1.0})})
    assert "a plan that finishes it is known" in known[0].text


def test_games_that_only_end_are_not_called_unfinishable() -> None:
    assert find([played(outcome="ended"), played(outcome="lost")], INFOS) == []


def test_one_player_never_finishes() -> None:
    records = group("one", "runner", 5, 5) + [played(player="collector", outcome="running", steps=200)] * 5
    found = find(records, INFOS)
    assert kinds(found) == ["timeouts"] and found[0].severity == "notice"
    assert "come to no end (after 200 steps on average): 5 of 5 of the collector" in found[0].text
    assert "--iterations" in found[0].text
    assert kinds(find(records, INFOS, players=["runner"])) == ["timeouts"], "a baseline's, too"
    lost = group("one", "runner", 5, 5) + [played(player="collector", outcome="lost")] * 2
    assert kinds(find(lost, INFOS)) == ["never finishes"]


def test_dead_content_by_place_and_by_kind() -> None:
    events = [Event(3, "treasure", 2, 2), Event(4, "monster:goblin", 9, 9), Event(5, "portal", 1, 1)]
    records = [played(events=events), played()]
    things = {
        "one": [
            ("treasure", 2, 2), ("treasure", 5, 6), ("monster:goblin", 3, 3), ("monster:ogre", 4, 4),
            ("portal", 1, 1), ("portal", 8, 8), ("trap", 7, 7), ("exit", 6, 1),
        ]
    }  # fmt: skip
    found = find(records, INFOS, things=things)
    assert [f.text for f in found] == [
        "nobody touches 1 of the 2 treasures in 2 playthroughs: at (5, 6)",
        "nobody touches the only ogre in 2 playthroughs: at (4, 4)",
        "nobody touches the only trap in 2 playthroughs: at (7, 7)",
    ]
    assert found[0].places == ((5, 6),) and found[0].numbers["untouched"] == 1


def test_what_monsters_get_is_not_called_untouched() -> None:
    events = [Event(3, "treasure:ogre", 3, 5), Event(9, "slain:wizard", 8, 8), Event(9, "trap:goblin", 7, 7)]
    things = {"one": [("treasure", 3, 5), ("treasure", 2, 2), ("monster:wizard", 4, 4), ("trap", 7, 7)]}
    found = find([played(events=events), played(), played(events=events[:1])], INFOS, things=things)
    assert [f.text for f in found] == [
        "nobody touches 1 of the 2 treasures in 3 playthroughs: at (2, 2)",
        "the hero never touches 1 of the 2 treasures in 3 playthroughs: at (3, 5); ogres get there in 2 of them",
        "the hero never touches the only wizard in 3 playthroughs: at (4, 4); other monsters slay one in 1 of them",
        "the hero never touches the only trap in 3 playthroughs: at (7, 7); goblins get there in 1 of them",
    ]


def test_many_dead_objects_are_cut_short() -> None:
    things = [findings.Thing("potion", x, 0) for x in range(20)]
    (found,) = findings.dead_content("one", [played()], things)
    assert "any of the 20 potions" in found.text and found.text.endswith("(7, 0), ...") and len(found.places) == 20


def test_where_they_die() -> None:
    def died(cause: str, x: int) -> list[Event]:
        return [Event(5, f"death:{cause}", x, 4), Event(5, "knockout", 0, 0)]

    records = [played(outcome="lost", cause="ogre", events=died("ogre", 3)) for _ in range(3)]
    records += [played(outcome="lost", cause="trap", events=died("trap", 6)), *[played()] * 6]
    (found,) = find(records, INFOS)
    assert found.text == (
        "4 of 10 playthroughs are lost, 75 % of them at (3, 4), mostly by ogre; causes: ogre 3, trap 1"
    )
    assert found.places == ((3, 4),) and found.numbers["share"] == 0.4
    assert findings.deaths("one", [records[0], records[1], played()]) == []


def test_deaths_without_events_fall_back_to_the_last_position_or_the_cause() -> None:
    records = [played(outcome="lost", actions=["N"], positions=[(1, 1), (1, 0)])] * 3
    assert findings.deaths("one", records)[0].text.endswith("100 % of them at (1, 0)")
    (found,) = findings.deaths("one", [played(outcome="lost", cause="time")] * 3)
    assert found.places == () and found.text.endswith("causes: time 3")


def test_a_priority_out_of_reach() -> None:
    low = group("one", "collector", 20, 20, treasure=0.1)
    bounds = {("one", "collector"): Bound(1.0, True, {"TO": 1.0})}
    (found,) = find(low, INFOS, priorities={"collector": "TO"}, bounds=bounds)
    assert found.severity == "problem" and "known to be possible: 100 %" in found.text
    lucky = [*low, played(player="collector", treasure=0.9)]
    (seldom,) = find(lucky, INFOS, priorities={"collector": "TO"}, bounds=bounds)
    assert seldom.severity == "notice" and "seldom" in seldom.text
    assert find(low, INFOS, priorities={"collector": "TO"}) == []
    other = low + group("one", "runner", 20, 20, treasure=0.9)
    assert kinds(find(other, INFOS, priorities={"collector": "TO"})) == ["priority"]


def test_a_priority_that_nobody_can_have() -> None:
    records = [played(treasure=0)] * 3 + [played(treasure=0, player="runner/ucb1")] * 2
    both = {"runner": "TO", "runner/ucb1": "TO"}
    (found,) = find(records, INFOS, priorities=both)
    assert found.text == "nobody gets any treasures opened: 0 in 5 playthroughs"
    things = {"one": [("treasure", x, 1) for x in range(5)]}
    solved = {("one", "runner"): Bound(0.0, False, {"TO": 0.0})}
    texts = [f.text for f in find(records, INFOS, priorities=both, things=things, bounds=solved)]
    said = "nobody gets any treasures opened: 0 of 5 treasures in 5 playthroughs, and none in the solver's plan"
    assert texts.count(said) == 1 and len(texts) == 2
    known = {("one", "runner"): Bound(1.0, True, {"TO": 1.0})}
    assert all("nobody gets" not in f.text for f in find(records, INFOS, priorities=both, bounds=known))


def test_a_priority_where_less_is_better() -> None:
    infos = (Metric("ST", "steps taken", "", "steps", better="lower"),)
    slow, fast = [played(steps=50)] * 4, [played(steps=20, player="other")] * 3
    (found,) = find(slow + fast, infos, priorities={"runner": "ST"})
    assert found.severity == "problem" and "50 steps at best" in found.text
    assert find(fast + [played(steps=30)] * 3, infos, priorities={"runner": "ST"}) == []


@pytest.mark.parametrize("trials", [1, 3, 4])
def test_few_playthroughs_do_not_say_that_a_priority_is_not_reached(trials: int) -> None:
    records = [played(treasure=0.1)] * trials + [played(player="other", treasure=1)]
    (found,) = find(records, INFOS, priorities={"runner": "TO"})
    many = "1 playthrough" if trials == 1 else f"{trials} playthroughs"
    if trials < 4:  # 0 of 3 may still be a share of 56 %
        assert found.severity == "notice" and f"10 % at best in {many}, too few to say" in found.text
    else:
        assert found.severity == "problem" and f"10 % at best in {many}, known to be possible: 100 %" in found.text


def test_what_a_player_would_not_want_is_no_priority_that_it_misses() -> None:
    infos = (Metric("SC", "score", "", "points", better="higher"), Metric("DR", "drops", "", clock=True))

    def scored(points: float, drops: float, player: str = "greedy", outcome: str = "ended") -> Any:
        utility = points / (drops + 1)
        return dataclasses.replace(
            played(player=player, outcome=outcome), metrics={"SC": points, "DR": drops}, utility=utility,
            best_utility=utility,
        )  # fmt: skip

    greedy = {"greedy": parse("SC / (DR + 1)")}
    dense, long = [scored(100, 3)] * 9, [scored(900, 99, "builder")] * 9
    both = {"priorities": {"greedy": "SC"}, "players": ["greedy"]}
    assert find(dense + long, infos, utilities=greedy, **both) == []
    assert kinds(find(dense + long, infos, **both)) == ["priority"], "by its points alone it would be far"
    assert kinds(find([*dense, scored(900, 9, "builder")], infos, utilities=greedy, **both)) == ["priority"]
    cut = [scored(100, 3, outcome="running")] * 9
    found = find([*cut, scored(900, 9, "builder")], infos, utilities=greedy, **both)
    assert "priority" not in kinds(found), "points that were still to come are not missed"


def test_a_limit_that_is_none_is_not_known_to_be_possible() -> None:
    low = group("one", "collector", 20, 20, treasure=0.1)
    none = {("one", "collector"): Bound(1.0, False, {"TO": 1.0}, ended=False, note="cut")}
    assert find(low, INFOS, priorities={"collector": "TO"}, bounds=none) == []


@pytest.mark.parametrize("trials", [9, 40])
def test_levels_that_can_not_be_told_apart(trials: int) -> None:
    records = group("one", "runner", trials, trials) + group("two", "runner", trials, trials)
    found = find(records, INFOS)
    assert kinds(found) == (["indistinguishable"] if trials >= findings.FEW_TRIALS else [])


def test_levels_that_can_be_told_apart() -> None:
    records = group("one", "runner", 40, 40, steps=20) + group("two", "runner", 40, 40, steps=30)
    assert findings.indistinguishable(records, INFOS) == []
    constant = [played("a", steps=5)] * 10 + [played("b", steps=6)] * 10
    assert findings.indistinguishable(constant, INFOS) == []


def test_a_level_without_choice() -> None:
    path: dict[str, Any] = {"actions": ["E", "x", "E"], "positions": [(0, 0), (1, 0), (1, 0), (2, 0)]}
    records = [played(player=p, **path) for p in ("a", "b") for _ in range(10)]
    (found,) = find(records, INFOS)
    assert "all 2 players take the same path of 2 moves in at least 100 %" in found.text
    assert found.places == ((0, 0), (1, 0), (2, 0))
    other: dict[str, Any] = {"actions": ["S"], "positions": [(0, 0), (0, 1)]}
    assert find([*records, *[played(player="a", **other)] * 10], INFOS) == []
    assert find(records[:10], INFOS) == []
