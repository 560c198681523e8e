"""Tests that each finding is made where it should be, and not where it should not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from persona_evo.errors import SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import Event, Metric
from persona_evo.games.findings import KINDS, Finding
from persona_evo.playtest import behaviour
from persona_evo.playtest.evidence import Thing, goals_of
from persona_evo.playtest.findings import find
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.records import End, Playthrough
from persona_evo.search.outlook import Outlook
from tests.examples.vault import GAME as VAULT
from tests.playtest.makers import INFOS, drawn, group, played

RUN, LOOT, LOOK = (parse(text, [m.symbol for m in INFOS]) for text in ("WON - 0.01 * ST", "0.7 * TO + 0.3 * WON", "TU"))
WAY = Outlook(True, ("E",) * 9, 50, metrics={"ST": 9.0, "TO": 0.0, "TU": 0.0, "WON": 1.0})
NO_WAY = Outlook(False, states=812)
THINGS = [
    ("treasure", 2, 2),
    ("treasure", 5, 6),
    ("monster:goblin", 3, 3),
    ("potion", 1, 1),
    ("trap", 7, 7),
    ("exit", 6, 1),
]


def kinds(found: list[Finding]) -> list[str]:
    return [f.kind for f in found]


def static(kind: str, *places: tuple[int, int], severity: Any = "problem") -> list[Finding]:
    return [Finding(kind, severity, "one", f"A {kind}.", places)]


def failed(player: str = "runner", n: int = 4, outcome: str = "running", **changes: Any) -> list[Playthrough]:
    """Return playthroughs that do not finish the level."""
    return [
        played(player=player, outcome=outcome, **{"stopped": "budget", "iterations": 300, "utility": -0.1, **changes})
    ] * n


def ended(outcome: str, place: tuple[int, int] = (4, 2), **changes: Any) -> Playthrough:
    """Return a playthrough whose plan stops before the game does."""
    end = End(outcome, 0.0, 12, "ogre" if outcome == "lost" else "", place, events=changes.pop("after", []))
    return played(outcome="running", end=end, **changes)


def test_a_sound_level_has_no_findings() -> None:
    records = group("one", "runner", 20, 20) + group("one", "collector", 20, 20, treasure=0.9)
    assert find(records, INFOS, priorities={"collector": "TO"}) == []
    assert find([], INFOS) == []


def test_traces_are_counted_from_one_over_all_levels() -> None:
    records = group("zero", "runner", 3, 3) + failed(n=2)
    (found,) = find(records, INFOS, outlooks={"one": NO_WAY})
    assert found.trace == 4


def test_a_proof_makes_a_level_impossible_whoever_played() -> None:
    for records in (failed(), failed("ucb", policy="ucb1"), failed(outcome="lost", cause="ogre")):
        (found,) = find(records, INFOS, outlooks={"one": NO_WAY}, utilities={"runner": LOOK})
        assert (found.kind, found.severity, found.players) == ("impossible", "problem", ())
        assert "proven: all 812 states from the start on were searched" in found.text and found.evidence["proven"]
    assert "4 playthroughs: all lost (ogre)" in found.text and found.evidence["causes"] == {"ogre": 4}
    within = dataclasses.replace(NO_WAY, states=0, horizon=200)
    (found,) = find(failed(), INFOS, outlooks={"one": within})
    assert found.text.startswith("No plan finishes this level within 200 moves (proven: ")


def test_a_lethal_start_names_the_moves_the_place_and_the_cause() -> None:
    records = [ended("lost", positions=[(1, 1), (2, 1)], actions=["E"])] * 3
    (found,) = find(records, INFOS, outlooks={"one": Outlook(False, states=253, longest=6, deadly=True)})
    assert found.kind == "lethal_start" and found.places == ((1, 1),)
    assert found.text == (
        "The start at 2:2 is lethal: every continuation dies within 6 moves (proven: all 253 states "
        "from the start on were searched); cause of death: ogre."
    )
    slow = Outlook(False, states=253, longest=60, deadly=True)
    assert kinds(find(records, INFOS, outlooks={"one": slow})) == ["impossible"], "a long way to die is no lethal start"


def test_what_follows_from_an_impossible_level_is_folded_into_it() -> None:
    path: dict[str, Any] = {"actions": ["E"], "positions": [(0, 0), (1, 0)]}
    records = [ended("lost", player=p, persona=p, **path) for p in ("runner", "looter") for _ in range(12)]
    utilities = {"runner": RUN, "looter": LOOT}
    asked: dict[str, Any] = {"things": {"one": THINGS}, "utilities": utilities, "priorities": {"looter": "TO"}}
    (found,) = find(records, INFOS, outlooks={"one": NO_WAY}, **asked)
    assert found.kind == "impossible" and found.evidence["lost"] == 24
    (deadly,) = find(records, INFOS, static=static("deadly_way", (3, 3)), outlooks={"one": NO_WAY}, **asked)
    assert deadly.text == "A deadly_way. 24 playthroughs: all lost (ogre)." and deadly.trace == 1
    needed = [dataclasses.replace(static("unreachable_object", (3, 3))[0], evidence={"prevents_winning": True})]
    (cause,) = find(records, INFOS, static=needed, outlooks={"one": NO_WAY}, **asked)
    assert cause.text == "A unreachable_object. 24 playthroughs: all lost (ogre)."
    assert deadly.evidence["proven_by_search"] and deadly.places == ((3, 3),)


def test_a_plan_refutes_a_static_finding_that_denies_it() -> None:
    cannot = static("unreachable_exit", (3, 3))
    assert kinds(find(failed(), INFOS, static=cannot)) == ["unreachable_exit"]
    assert find(group("one", "runner", 5, 5), INFOS, static=cannot) == []
    assert "unreachable_exit" not in kinds(find(failed(), INFOS, static=cannot, outlooks={"one": WAY}))


def test_without_a_plan_or_a_proof_the_budget_was_too_small_to_tell() -> None:
    records = failed(positions=[(3, 1)], n=2) + failed(outcome="lost", n=1, positions=[(3, 1)])
    (found,) = find(records, INFOS, outlooks={"one": Outlook(None, iterations=20_000)})
    assert found.kind == "budget_too_small" and found.severity == "notice" and found.players == ("runner",)
    assert found.text == (
        "Nobody finishes this level in 3 playthroughs: 2 unfinished, 1 lost; 20,000 more iterations found neither a "
        "way nor a proof that there is none, so the search budget was too small to tell."
    )
    assert found.places == ((3, 1),)
    assert find(records, INFOS, utilities={"runner": LOOK}) == [], "a player that does not want to finish"
    assert find(failed(policy="ucb1"), INFOS) == [] and find(failed(skill="novice"), INFOS) == []
    assert find(failed(), INFOS, players=[]) == [], "a baseline"
    proven = failed(proven=True)
    assert find(proven, INFOS) == [], "the best plan is known, and it is none that wins"


def test_a_plan_beyond_the_budget_says_that_the_budget_was_too_small() -> None:
    late = dataclasses.replace(WAY, iterations=900)
    (found,) = find(failed(), INFOS, outlooks={"one": late}, utilities={"runner": RUN})
    assert found.kind == "budget_too_small"
    said = "The level is possible (a plan of 9 moves finishes it), but 300 iterations were too few for the runner"
    assert found.text.startswith(said)


def test_a_plan_within_the_budget_says_that_the_policy_fails() -> None:
    (found,) = find(failed(), INFOS, outlooks={"one": WAY}, utilities={"runner": RUN})
    assert (found.kind, found.severity, found.players) == ("policy_fails", "notice", ("runner",))
    assert found.text == (
        "The level is possible (a plan of 9 moves finishes it), but the runner does not finish it in "
        "4 playthroughs: all unfinished; the reason is its policy, not the level."
    )
    others = failed() + group("one", "looter", 5, 5)
    (found,) = find(others, INFOS, utilities={"runner": RUN, "looter": LOOT})
    assert found.players == ("runner",) and "(the looter finishes it in trace 5)" in found.text and found.trace == 1
    solved = {("one", "looter"): Bound(1.0, True, WAY.metrics, won=True)}
    for stopped, kind in (("stuck", "policy_fails"), ("budget", "budget_too_small")):
        (found,) = find(failed(stopped=stopped), INFOS, bounds=solved, utilities={"runner": RUN})
        assert found.kind == kind and "(the solver's plan for the looter finishes it)" in found.text
    both = [*failed(), *failed("looter", treasure=0.0), *group("one", "b", 5, 5, treasure=0.0)]
    (one,) = find(both, INFOS, utilities={"runner": RUN, "looter": LOOT})
    assert one.players == ("runner", "looter") and "the runner and the looter do not finish it in 8" in one.text


def test_a_player_that_has_more_from_something_else_does_not_fail() -> None:
    rich = failed("looter", treasure=1.0, best_utility=0.7, best_actions=[])
    poor = {"one": dataclasses.replace(WAY, metrics={**WAY.metrics, "TO": 0.2})}
    assert find(rich, INFOS, outlooks=poor, utilities={"looter": LOOT}) == [], "0.44 is less than 0.7"
    assert find(failed("looter", proven=True, best_utility=0.9), INFOS, outlooks={"one": WAY}) == []


def test_games_that_only_end_are_not_called_impossible() -> None:
    assert find([played(outcome="ended"), played(outcome="lost")], INFOS) == []
    assert find(failed(), INFOS, outlooks={"one": Outlook(False, states=9, ended=True)}) == []


def test_standing_still_is_told_with_its_place() -> None:
    still = [ended("stuck", (4, 2))] * 3
    records = [*still, *group("one", "runner", 2, 2)]
    (found,) = find(records, INFOS)
    assert found.kind == "stuck" and found.places == ((4, 2),) and found.trace == 1
    assert found.text == "The runner stands still at 3:5 in 3 of 5 playthroughs: no other move is worth as much."
    assert find([*still[:1], *group("one", "runner", 5, 5)], INFOS) == []
    assert find(records, INFOS, utilities={"runner": LOOK}) == []
    (failing,) = find(still, INFOS, outlooks={"one": WAY}, utilities={"runner": RUN})
    assert failing.kind == "policy_fails" and "all stuck, standing at 3:5" in failing.text, "one cause, one finding"


def looted(*spots: tuple[int, int], **changes: Any) -> Playthrough:
    changes = {"player": "looter", **changes}
    return played(events=[Event(3, "treasure", x, y) for x, y in spots], **changes)


def judged(records: list[Playthrough], things: Any = THINGS, **changes: Any) -> list[Finding]:
    utilities: dict[str, Formula] = {"looter": LOOT, "runner": RUN}
    return find(records, INFOS, things={"one": things}, utilities=utilities, **changes)


def test_an_object_that_nobody_touches_is_told_where_somebody_cares_for_it() -> None:
    (found,) = judged([looted((2, 2)), played()])
    assert (found.kind, found.places, found.players) == ("untouched_object", ((5, 6),), ("looter",))
    said = "Nobody touches 1 of the 2 treasures in 2 playthroughs: at 7:6; the looter cares for treasures."
    assert found.text == said
    assert judged([played(), played()]) == [], "the runner cares for no treasure, nobody for traps and potions"
    assert judged([looted((2, 2)), looted((5, 6), player="ucb", policy="ucb1")]) == [], "a weak player's touch counts"
    (proven,) = judged([looted((2, 2), proven=True)])
    assert proven.text.endswith("; the best plan leaves it out (proven).")
    after = [Event(11, "treasure", 2, 2), Event(12, "treasure", 5, 6)]
    assert judged([ended("won", player="looter", after=after)]) == [], "after the plan counts, too"


@pytest.mark.parametrize(
    ("utility", "metric", "wanted"),
    [
        ("WN - 0.05 * XX", "treasures lost", False),
        ("WN + 0.05 * XX", "treasures lost", True),
        ("WN - 0.05 * XX", "treasures left", True),
        ("WN + 0.05 * XX", "treasures left", False),
        ("WN - 0.05 * XX", "coins lost", False),
        ("WN + 0.05 * XX * XX - XX", "treasures lost", True),
    ],
)
def test_a_player_cares_for_what_it_wants_and_not_for_what_it_avoids(utility: str, metric: str, wanted: bool) -> None:
    infos = (*INFOS, Metric("XX", metric, "", high=9.0, better="lower"))
    found = find(
        [played(player="one")], infos, things={"one": [Thing("treasure", 2, 2)]}, utilities={"one": parse(utility)}
    )
    assert [f.players for f in found if f.kind == "untouched_object"] == [("one",)] * wanted


def test_hardly_any_of_what_a_player_cares_for_is_out_of_reach() -> None:
    (found,) = judged([looted()])
    assert found.kind == "out_of_reach" and "any of the 2 treasures" in found.text and len(found.places) == 2
    (only,) = judged([looted()], [("treasure", 2, 2)])
    assert only.kind == "untouched_object" and "the only treasure" in only.text
    many = [Thing("treasure", x, 0) for x in range(20)]
    (found,) = judged([looted((0, 0))], many)
    assert found.kind == "out_of_reach" and "at 1:2 to 1:20;" in found.text and len(found.places) == 19


def test_what_the_analysis_explains_is_not_told_again() -> None:
    for kind in ("unreachable_object", "useless_object"):
        (found,) = judged([looted((2, 2))], static=static(kind, (5, 6)))
        assert found.kind == kind and found.players == ("looter",)
    assert judged([looted((2, 2), (5, 6))], static=static("unreachable_object", (5, 6))) == [], "somebody got it"
    (found,) = judged([looted((2, 2))], static=static("shortcut", (1, 3), severity="notice"))
    assert found.kind == "shortcut" and found.evidence["untouched_object"]["untouched"] == 1 and found.trace == 1


def test_what_others_take_is_stolen_and_not_untouched() -> None:
    events = [Event(3, "treasure:ogre", 5, 6), Event(4, "treasure", 2, 2)]
    thieves = [played(player="looter", events=events)] * 3 + [looted((2, 2))]
    (found,) = judged(thieves)
    assert (found.kind, found.places, found.trace) == ("stolen_object", ((5, 6),), 1)
    assert found.text == "Ogres take the treasure at 7:6 in 3 of 4 playthroughs, and no player gets it."
    assert judged([*thieves, looted((5, 6))]) == [], "a player can be first"
    (merged,) = judged(thieves, static=static("stolen_object", (5, 6)))
    assert merged.text == "A stolen_object.", "told by the analysis"


def test_of_static_findings_only_those_on_objects_name_who_cares_for_them() -> None:
    records = [looted((2, 2)), played()]
    for kind, players in (("unreachable_object", ("looter",)), ("forced_hazard", ())):
        found = judged(records, static=static(kind, (5, 6)))
        assert [f.players for f in found if f.kind == kind] == [players]


def test_where_they_die_of_what_and_how_often() -> None:
    lost = [ended("lost", (3, 4))] * 3 + [played(outcome="lost", cause="trap", positions=[(6, 4)])]
    records = [*lost, *[played()] * 6]
    (found,) = find(records, INFOS)
    assert found.text == "The runner dies in 4 of 10 playthroughs (40 %), 75 % of them at 5:4; causes: ogre 3, trap 1."
    assert (found.kind, found.places, found.evidence["share"]) == ("deaths", ((3, 4),), 0.4)
    assert find([*lost[:2], *[played()] * 6], INFOS) == [], "too few"
    assert find(records, INFOS, utilities={"runner": LOOK}) == [], "it does not care"
    assert find([*[ended("lost", proven=True)] * 4, played()], INFOS) == [], "its best plan, proven, ends so"
    novice = [dataclasses.replace(r, player="runner (novice)", skill="novice") for r in records]
    assert find(novice, INFOS) == [], "novices are meant to die"
    perfect = [dataclasses.replace(r, player="runner (perfect)", skill="perfect") for r in records]
    (found,) = find([*novice, *perfect], INFOS)
    assert found.players == ("runner (perfect)",)
    assert found.evidence["death_rate_by_skill"] == {"novice": 0.4, "perfect": 0.4}


def test_forced_hazards_explain_the_deaths_on_them() -> None:
    records = [ended("lost", (3, 4))] * 3 + [played()]
    (found,) = find(records, INFOS, static=static("forced_hazard", (3, 4), severity="notice"))
    assert found.kind == "forced_hazard" and found.players == ("runner",) and found.trace == 1
    assert found.text == ("A forced_hazard. The runner dies there in 3 of 4 playthroughs.")
    both = find(records, INFOS, static=static("forced_hazard", (9, 9), severity="notice"))
    assert kinds(both) == ["forced_hazard", "deaths"]


def test_narrow_escapes() -> None:
    wins = [played(hit_points=[10, 6, 1])] * 3 + [played(hit_points=[10, 8, 4])]
    (found,) = find(wins, INFOS)
    assert found.kind == "narrow_escape" and found.evidence["share"] == 0.75 and found.trace == 1
    assert found.text == (
        "The runner wins with hardly any hit points left: at most 2 of 10 in 75 % of 4 wins, 1 at worst."
    )
    assert find([*wins, played(player="careful", hit_points=[10, 10, 9])], INFOS) == [], "one can do better"
    assert find([*wins, *[played(player="other", hit_points=[10, 9, 5])] * 3], INFOS) == []


def test_narrow_escapes_of_players_that_make_mistakes() -> None:
    wins = [played(player="runner (casual)", skill="casual", hit_points=[10, 6, 1])] * 3
    told = Finding("narrow_escape", "notice", "one", "narrow", players=("runner (casual)",))
    (found,) = find([*group("one", "runner", 5, 5), *wins], INFOS, escapes=[told])
    assert found.text == "Narrow." and found.trace == 6
    worse = [played(player="runner (novice)", skill="novice", hit_points=[10, 1])]
    two = dataclasses.replace(told, players=("runner (casual)", "runner (novice)"))
    (found,) = find([*worse, *wins], INFOS, escapes=[two])
    assert found.trace == 2, "a playthrough of the player whom the sentence is about"
    assert kinds(find(failed(), INFOS, outlooks={"one": NO_WAY}, escapes=[told])) == ["impossible"]


def test_an_exposed_start() -> None:
    hurt = [played(hit_points=[10, 9, 8, 8, 8], positions=[(1, 1)])] * 9
    (found,) = find(hurt, INFOS)
    assert found.kind == "exposed_start" and found.places == ((1, 1),)
    assert found.text == (
        "The start at 2:2 is exposed: within 2 moves 2 hit points are lost on average in 9 of 9 playthroughs."
    )
    assert find([*hurt, *[played(hit_points=[10] * 5)] * 2], INFOS) == []
    assert find([played(hit_points=[10, 9, 9, 9, 9])] * 9, INFOS) == [], "one hit point is no more than a scratch"
    assert find([played(hit_points=[10, 9, 8, 7, 6])], INFOS) == [], "each move costs one, as food does"


def test_a_priority_that_the_policy_misses() -> None:
    low = group("one", "looter", 20, 20, treasure=0.1)
    bounds = {("one", "looter"): Bound(1.0, True, {"ST": 9.0, "TO": 1.0, "TU": 0.0, "WON": 1.0}, won=True)}
    asked: dict[str, Any] = {"priorities": {"looter": "TO"}, "utilities": {"looter": LOOT, "other": RUN}}
    (found,) = find(low, INFOS, bounds=bounds, **asked)
    assert found.kind == "policy_fails" and found.severity == "notice" and found.players == ("looter",)
    assert "The policy of the looter misses what it cares for: treasures opened" in found.text
    assert "100 % is possible, by the solver's plan" in found.text
    assert find(low, INFOS, **asked) == []
    (by,) = find([*low, played(player="other", treasure=1.0)], INFOS, **asked)
    assert "is possible in trace 21" in by.text and by.trace == 18, "the trace is one of the looter"
    assert find([*low, played(player="looter", treasure=0.9)], INFOS, bounds=bounds, **asked) == []
    assert find(low[:3], INFOS, bounds=bounds, **asked) == [], "0 of 3 may still be a share of 56 %"
    cut = {key: dataclasses.replace(b, note="cut") for key, b in bounds.items()}
    assert find(low, INFOS, bounds=cut, **asked) == [], "a limit that is none"
    far = drawn("one", "looter", 6, treasure=0.1)
    assert find(far, INFOS, bounds=bounds, **asked) == [], "its best plan is proven: it wants nothing else"


def test_a_priority_where_less_is_better() -> None:
    infos = (Metric("ST", "steps taken", "", "steps", better="lower"),)
    slow, fast = [played(steps=50)] * 4, [played(steps=20, player="other")] * 3
    (found,) = find(slow + fast, infos, priorities={"runner": "ST"})
    assert found.kind == "policy_fails" and "50 steps at best" in found.text
    assert find(fast + [played(steps=30)] * 3, infos, priorities={"runner": "ST"}) == []


def test_what_a_player_would_not_want_is_no_priority_that_it_misses() -> None:
    infos = (Metric("SC", "score", "", "points", better="higher"), Metric("DR", "drops", "", clock=True))

    def scored(points: float, drops: float, player: str = "greedy", outcome: str = "ended") -> Any:
        utility = points / (drops + 1)
        return dataclasses.replace(
            played(player=player, outcome=outcome),
            metrics={"SC": points, "DR": drops},
            utility=utility,
            best_utility=utility,
        )

    greedy = {"greedy": parse("SC / (DR + 1)")}
    dense, long = [scored(100, 3)] * 9, [scored(900, 99, "builder")] * 9
    both: dict[str, Any] = {"priorities": {"greedy": "SC"}, "players": ["greedy"]}
    assert find(dense + long, infos, utilities=greedy, **both) == []
    assert kinds(find(dense + long, infos, **both)) == ["policy_fails"], "by its points alone it would be far"
    assert kinds(find([*dense, scored(900, 9, "builder")], infos, utilities=greedy, **both)) == ["policy_fails"]
    cut = [scored(100, 3, outcome="running")] * 9
    assert find([*cut, scored(900, 9, "builder")], infos, utilities=greedy, **both) == [], "more was still to come"


@pytest.mark.parametrize("trials", [9, 40])
def test_levels_that_cannot_be_told_apart(trials: int) -> None:
    records = group("one", "runner", trials, trials) + group("two", "runner", trials, trials)
    found = find(records, INFOS)
    assert kinds(found) == (["indistinguishable"] if trials >= behaviour.FEW_TRIALS else [])
    assert all(f.level == "one, two" and "The levels one and two cannot be told apart" in f.text for f in found)


def test_levels_that_are_all_alike_are_one_finding() -> None:
    names = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
    assert behaviour._together(names) == [["a", "b", "c"], ["c", "d"]]
    records = [r for name in ("one", "two", "three") for r in drawn(name, "runner", 20, best=0.9)]
    (found,) = behaviour.indistinguishable([*records, *drawn("four", "runner", 20, best=0.8)], INFOS)
    assert found.level == "one, two, three"


def test_levels_that_can_be_told_apart() -> None:
    records = group("one", "runner", 40, 40, steps=20) + group("two", "runner", 40, 40, steps=30)
    assert behaviour.indistinguishable(records, INFOS) == []
    constant = [played("a", steps=5)] * 10 + [played("b", steps=6)] * 10
    assert behaviour.indistinguishable(constant, INFOS) == []
    alike = [*failed(n=10), *[dataclasses.replace(r, level="two") for r in failed(n=10)]]
    found = find(alike, INFOS, outlooks={"one": NO_WAY, "two": NO_WAY})
    assert kinds(found) == ["impossible"] * 2, "levels that cannot be finished are not compared"


def test_a_level_without_choice() -> None:
    path: dict[str, Any] = {"actions": ["E", "x", "E"], "positions": [(0, 0), (1, 0), (1, 0), (2, 0)]}
    records = [played(player=p, **path) for p in ("a", "b") for _ in range(10)]
    (found,) = find(records, INFOS)
    assert found.kind == "no_choice"
    assert found.text == "Both players take the same path of 2 moves in all of their playthroughs."
    assert found.places == ((0, 0), (1, 0), (2, 0))
    other: dict[str, Any] = {"actions": ["S"], "positions": [(0, 0), (0, 1)]}
    assert find([*records, *[played(player="a", **other)] * 10], INFOS) == []
    assert find(records[:10], INFOS) == []
    same = [played(player=p, persona="a", **path) for p in ("a", "a (expert)") for _ in range(10)]
    assert find(same, INFOS) == [], "one persona has nothing to choose between"
    (cut,) = find(records, INFOS, static=static("shortcut", (1, 0), severity="notice"))
    assert cut.kind == "shortcut" and cut.evidence["no_choice"]["moves"] == 2


def test_static_findings_are_told_of_levels_that_nobody_played() -> None:
    assert kinds(find([], INFOS, static=static("deadly_way", (3, 3)))) == ["deadly_way"]
    pair = [Finding("harder_copy", "notice", "one, two", "two is harder than one", ((1, 1),))]
    (found,) = find(group("one", "runner", 5, 5) + group("two", "runner", 4, 5), INFOS, static=pair)
    assert found.level == "one, two"


def test_every_kind_is_ranked_and_no_other_can_be_made() -> None:
    with pytest.raises(SettingsError, match="no such kind"):
        Finding("timeouts", "notice", "one", "nothing")
    assert {"impossible", "policy_fails", "budget_too_small", "deaths", "beaten", "sides", "endless"} <= set(KINDS)


def test_the_game_says_what_winning_is() -> None:
    assert {"WON", "PE", "NE"} <= goals_of(registry.get("minidungeons2"))
    assert not {"TO", "MS", "HL", "ST"} & goals_of(registry.get("minidungeons2"))
    assert "PR" in goals_of(registry.get("roguelike2d"))
    assert goals_of(VAULT) == {"WON", "OUT"}
