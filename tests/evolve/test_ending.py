"""Tests the last steps of an evolution: their time limit, the comparison with other policies, and the words."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from persona_evo.errors import PolicyError
from persona_evo.evolve import rivals as comparisons
from persona_evo.evolve import shortening, simplification
from persona_evo.evolve.comparison import Comparing, held_out, later_seeds, mean_utility, paired
from persona_evo.evolve.driving import DEADLINE, FINISHED
from persona_evo.evolve.explanation import in_words, lists_in_words, meanings, of_policy
from persona_evo.evolve.fitness import Fitness, OutOfTime
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import PlaythroughScore
from persona_evo.evolve.records import Request
from persona_evo.evolve.rivals import Rival, RivalComparison
from persona_evo.evolve.rounds import play_rounds
from persona_evo.evolve.run import resume
from persona_evo.evolve.schedule import DESCRIBE_SECONDS, END_SHARE, Phase, Schedule
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse
from persona_evo.formula.effects import effects
from persona_evo.formula.simplify import NO_TIME, simplify
from persona_evo.games import mapsets, registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.workers import Workers
from persona_evo.personas.core import load
from persona_evo.personas.lists import OpenList
from persona_evo.search.samples import random_states
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policies, policy_library, runs
from tests.evolve.evolving import evolve

GAME = registry.get("minidungeons2")
TRAIN = mapsets.resolve(GAME, ["train"])
KILLER = load("monster_killer", GAME)


def spec(levels: int = 2, iterations: int = 100) -> FitnessSpec:
    return FitnessSpec.of(GAME.name, TRAIN[:levels], KILLER.utility, SearchSettings.single(), Budget(iterations), "MS")


def tiny(**changes: object) -> EvolutionSettings:
    values: dict[str, object] = {
        "population": 8,
        "islands": 2,
        "generations": 2,
        "elites": 1,
        "migrants": 1,
        "final_trials": 2,
        "final_candidates": 3,
        "first": ("utility",),
    }
    return EvolutionSettings.of("modern", **{**values, **changes})


# the time


def test_the_end_gets_what_it_needs_but_at_most_its_share_of_the_time() -> None:
    now = time.monotonic()
    rich, poor = Schedule(now + 1000, 20.0, 10.0), Schedule(now + 100, 200.0, 100.0)
    assert rich.generations_until() == pytest.approx(now + 1000 - 30 - DESCRIBE_SECONDS, abs=0.5)
    assert poor.generations_until() == pytest.approx(now + 100 * (1 - END_SHARE), abs=0.5)
    for schedule in (rich, poor):
        moments = [schedule.choosing_until(), schedule.comparing_until(), schedule.describing_until()]
        known = [m for m in moments if m is not None]
        assert len(known) == 3 and now < known[0] < known[1] < known[2] < now + 1000
    assert Schedule(None, 20.0, 10.0).generations_until() is None


def test_an_evaluation_stops_in_time_and_keeps_what_is_whole() -> None:
    seeds = ((1,), (2,))
    with Workers(1) as workers:
        fitness = Fitness(spec(iterations=2000), workers)
        fitness([Request("MS", seeds)])  # whatever has to be compiled is
        requests = [Request(f"MS - 0.{i:04d}", seeds) for i in range(1000)]
        began = time.monotonic()
        fitness.stop = began + 1.0
        with pytest.raises(OutOfTime):
            fitness(requests)
        took = time.monotonic() - began
    assert 0 < len(fitness.finished) < len(requests)
    assert list(fitness.finished) == [r.formula for r in requests[: len(fitness.finished)]]
    assert took < 5
    utilities, evaluations = fitness.finished["MS - 0.0000"]
    assert len(utilities) == 2 and evaluations == 1


def test_a_part_without_levels_is_played_and_remembered_as_nothing() -> None:
    """A race of few levels has such parts. With a deadline, what was played is remembered."""
    with Workers(1) as workers:
        fitness = Fitness(spec(iterations=20), workers)
        fitness.stop = time.monotonic() + 60.0
        (known,) = fitness([Request("MS", ((1,), (2,)), (0, 1))])
        assert fitness([Request("MS", ()), Request("-MS", ())]) == [[], []]
    assert fitness.finished == {"MS": (known, 1)}


def test_until_the_first_generation_ends_the_evaluations_of_a_formula_are_averaged_level_by_level() -> None:
    with Workers(1) as workers:
        fitness = Fitness(spec(iterations=20), workers)
        fitness.stop = time.monotonic() + 600
        played = [[s.utility for s in fitness.scores([Request("MS", ((seed,), (seed,)))])[0]] for seed in (1, 2, 3)]
    assert len({tuple(utilities) for utilities in played}) == 3
    utilities, evaluations = fitness.finished["MS"]
    assert utilities == pytest.approx(np.mean(played, axis=0)) and evaluations == 3


def test_rounds_are_the_same_played_at_once_or_in_waves_and_none_is_half() -> None:
    plan = tuple(tuple(range(10 * case, 10 * case + 4)) for case in range(2))
    told: list[Phase] = []
    with Workers(1) as workers:
        fitness = Fitness(spec(), workers)
        whole = play_rounds(fitness, ["MS", "PE"], plan, "comparing", None, told.append)
        apart = [fitness.trials(["MS", "PE"], [plan, plan], k, k + 1) for k in range(4)]
        late = play_rounds(fitness, ["MS", "PE"], plan, "comparing", time.monotonic() - 1)
    assert [len(trials) for policy in whole for trials in policy] == [4, 4, 4, 4]
    for who, cases in enumerate(whole):
        for case, trials in enumerate(cases):
            assert trials == [part[who][case][0] for part in apart]  # type: ignore[index]
    assert late == [[[], []], [[], []]]
    assert told[0].done == 0 and (told[-1].done, told[-1].total, told[-1].eta) == (16, 16, 0.0)


def test_without_time_nothing_is_compared() -> None:
    phases: list[Phase] = []
    with Workers(1) as workers:
        fitness = Fitness(spec(), workers)
        assert play_rounds(fitness, ["R"], [[1], [2]], "comparing", time.monotonic() - 1, phases.append) == [[[], []]]
    assert phases == []


def test_a_first_generation_without_time_still_gives_a_policy_and_can_go_on(tmp_path: Path) -> None:
    settings = tiny(population=100, islands=1)
    began = time.monotonic()
    phases: list[Phase] = []
    outcome = evolve(
        GAME,
        KILLER,
        TRAIN[2:5],
        settings,
        5,
        root=tmp_path,
        budget=Budget(40_000),
        deadline=began + 7,
        held_out=[],
        tell=phases.append,
    )
    assert phases[0].name == "the first generation" and phases[0].eta > (phases[0].left or 0), "it is told early"
    took = time.monotonic() - began
    assert outcome.status == DEADLINE and outcome.generations == 0 and took < 10
    assert outcome.policy == outcome.folder / runs.BEFORE_FIRST == runs.policy_of(outcome.folder)
    policy = policies.read(outcome.policy)
    assert 0 < policy.run["evaluations"] < 100 and policy.run["generations"] == 0
    assert policy.words and set(policy.metrics) == set(parse(policy.best).symbols)
    again = resume(outcome.folder, deadline=time.monotonic() + 2)  # the run has no checkpoint, and that is right
    assert again.status == DEADLINE


def test_without_time_the_raw_formula_ships_and_is_simplified_later(tmp_path: Path) -> None:
    formula = parse("MS * 1 + (R - 0) + (PE - PE) + 3")
    cut = simplify(formula, ("MS", "R", "PE"), until=time.monotonic() + 0.1)
    assert cut.cut and not cut.replaced and cut.formula == formula and cut.reason == NO_TIME
    policy = policies.Policy(
        "hasty",
        GAME.name,
        persona="monster_killer",
        utility=KILLER.utility.text,
        formula=formula.text,
        simplification=cut.reason,
        unfinished=("simplification",),
        levels=("train01",),
    )
    file = policies.write(policy, tmp_path / "hasty.json")
    assert json.loads(file.read_text())["unfinished"] == ["simplification"]
    done = simplification.simplify_policy(policies.read(file), GAME)
    assert done.simplified in ("MS + R", "R + MS") and done.unfinished == ()
    assert set(done.metrics) == {"MS", "R"}
    assert done.words[0].startswith("seeks: ") and "monsters slain (MS" in done.words[0]


def test_meanings_are_those_of_the_formulas() -> None:
    assert list(meanings([parse("R * MS / N")], GAME)) == ["MS", "R", "N"]
    found = meanings([parse("CARE + TO"), parse("UTILITY - 0.1 * D")], GAME)
    assert list(found) == ["TO", "D", "UTILITY", "CARE"] and "treasures" in found["TO"]


def test_open_lists_are_told_one_by_one_with_their_shares_of_the_turns() -> None:
    lists = [OpenList(parse("MS - 0.1 * NEAR"), 3.0, True), OpenList(parse("UTILITY - 0.001 * D"))]
    first, second = lists_in_words(lists, GAME, TRAIN[:2], KILLER.utility)
    assert first.startswith("list 1 (75 % of the turns, novel states first): seeks: monsters slain (MS")
    assert "the way to what can be reached (NEAR low" in first
    assert second.startswith("list 2 (25 % of the turns): seeks: a high utility (UTILITY")
    assert "short plans (D low" in second


def test_scores_of_open_lists_are_simplified_to_the_same_order_or_kept() -> None:
    lists = [OpenList(parse("MS * 1 + (CARE - 0) + (PE - PE) + 3"), 2.0, True), OpenList(parse("TO - 0.1 * NT"))]
    short = shortening.of_lists(lists, GAME, TRAIN[:2], KILLER.utility)
    assert short.lists[1] == lists[1] and short.lists[0].weight == 2.0 and short.lists[0].novel
    assert short.replaced and short.lists[0].score.size == 3 and short.lists[0].score.symbols == {"MS", "CARE"}
    assert "1 score simplified, from 18 to 8 nodes" in short.reason and not short.cut
    late = shortening.of_lists(lists, GAME, TRAIN[:2], KILLER.utility, time.monotonic() - 1)
    assert late.cut and late.lists[1] == lists[1] and "2 lists not finished" in late.reason
    policy = policies.Policy(
        "hasty",
        GAME.name,
        "lists",
        persona="monster_killer",
        utility=KILLER.utility.text,
        lists=late.lists,
        unfinished=("simplification",),
    )
    done = simplification.simplify_policy(policy, GAME)
    assert [one.score.size for one in done.lists] == [3, 5] and done.unfinished == () and len(done.words) == 2


# beside others


def test_levels_to_compare_on_are_shipped_ones_that_were_not_trained_on() -> None:
    test = mapsets.resolve(GAME, ["test"])
    assert [level.name for level in held_out(GAME, TRAIN)] == [level.name for level in test]
    assert [level.name for level in held_out(GAME, [*TRAIN, *test[:2]])] == [level.name for level in test[2:]]
    own = GAME.load(TRAIN[0].text, "own", "own.txt")
    assert held_out(GAME, [own]) == []
    paper = held_out(GAME, mapsets.resolve(GAME, ["train01"], rules="paper"))
    assert [dict(level.options).get("rules") for level in paper] == ["paper"] * len(test)


def test_a_stratified_interval_over_pairs_of_trials() -> None:
    def scores(*cases: list[float]) -> list[list[PlaythroughScore]]:
        return [[PlaythroughScore(u, 0.0) for u in case] for case in cases]

    difference, half = paired(scores([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]), scores([0.0, 2.0, 1.0], [4.0, 4.0, 4.0]))
    assert difference == pytest.approx(1.0)
    # variance of the differences 1, 0, 2 is 1: their mean's is 1/3, and that of half of it 1/12, with 2 degrees
    assert half == pytest.approx(4.30265 * (1 / 12) ** 0.5, abs=1e-4)
    assert paired(scores([1.0], [2.0]), scores([0.0], [2.0])) == (0.5, None)
    assert paired(scores([1.0, 1.0]), scores([1.0, 1.0])) == (0.0, 0.0)


def test_means_that_choose_do_not_depend_on_how_python_adds() -> None:
    tenth = [0.1] * 10  # one after the other they give 0.9999999999999999
    trials = [[PlaythroughScore(u, 0.0) for u in tenth]]
    assert mean_utility(trials) == 0.1 and mean_utility([trials[0][::-1], trials[0]]) == 0.1
    mixed = [1e16, 1.0, -1e16]
    assert paired([[PlaythroughScore(u, 0.0) for u in mixed]], [[PlaythroughScore(0.0, 0.0)] * 3])[0] == 1.0 / 3


def test_a_comparison_says_plainly_who_is_better() -> None:
    rivals = (Rival("UCB1", 0.5, 0.0, -0.1, 0.1), Rival("the shipped policy x", 0.75, -0.25, -0.3, -0.2))
    found = RivalComparison(("a", "b"), True, 3, 0.5, rivals)
    first, second, third = found.lines()
    assert first == (
        "no better than UCB1 on a, b (not trained on): 0.5000 against 0.5000, difference +0.0000 [-0.1000, +0.1000]"
    )
    assert second.startswith("worse than the shipped policy x on a, b")
    assert "3 trials per level" in third
    assert RivalComparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert Rival("UCB1", 0.5, 0.3, 0.2, 0.4).verdict == "better"
    assert Rival("UCB1", 0.5, 0.3).verdict == "perhaps better"
    with pytest.raises(PolicyError, match="comparison is damaged"):
        comparisons.of_policy(policies.Policy("x", GAME.name, comparison={"levels": 3}))


def test_a_winner_is_compared_with_ucb1_and_with_the_shipped_policy() -> None:
    texts = [LevelText.of(level) for level in mapsets.resolve(GAME, ["test01", "test02"])]
    with Workers(1) as workers:
        fitness = Fitness(spec(iterations=300), workers)
        found = Comparing(fitness, texts, "monster_killer", 3, 2).compare("MS - 0.1 * NM - 0.001 * ST")
        shipped = policy_library.find("monster_killer", GAME.name)
        same = Comparing(fitness, texts, "monster_killer", 3, 1).compare(shipped.best)
        nobody = Comparing(fitness, (), "of my own", 3, 2).compare("-ST")
        late = Comparing(fitness, texts, "monster_killer", 3, 2).compare("MS", time.monotonic() - 1)
        scores = Fitness(replace(fitness.spec, levels=tuple(texts)), workers)
        plan = [[7], [8]]
        assert scores.trials([TreePolicy.ucb1()], [plan], 0, 1) != scores.trials(["-ST"], [plan], 0, 1)
    assert [rival.name for rival in found.rivals] == ["UCB1", "the shipped policy monster_killer"]
    assert found.levels == ("test01", "test02") and found.unseen and found.trials == 2
    assert all(r.difference == pytest.approx(found.utility - r.utility) for r in found.rivals)
    assert [rival.name for rival in same.rivals] == ["UCB1"] and "same formula" in same.lines()[-1]
    assert [rival.name for rival in nobody.rivals] == ["UCB1"] and not nobody.unseen
    assert nobody.rivals[0].verdict != "better" and "new seeds of train01, train02" in nobody.lines()[0]
    assert late.rivals == () and late.lines() == ["not compared with UCB1: there was no time left for it"]


@pytest.mark.usefixtures("unsimplified")
def test_the_file_of_a_policy_keeps_the_comparison_also_when_the_run_is_resumed(tmp_path: Path) -> None:
    given = {"budget": Budget(100), "held_out": mapsets.resolve(GAME, ["test01"])}
    whole = evolve(GAME, KILLER, TRAIN[:1], tiny(), 5, root=tmp_path / "one", name="run", **given)  # type: ignore[arg-type]
    part = evolve(GAME, KILLER, TRAIN[:1], tiny(generations=1), 5, root=tmp_path / "two", name="run", **given)  # type: ignore[arg-type]
    more = resume(part.folder, generations=2)
    assert whole.policy is not None and more.policy is not None and more.status == FINISHED
    one, two = policies.read(whole.policy), policies.read(more.policy)
    assert one.comparison == two.comparison and one.comparison["levels"] == ["test01"]
    assert one.words == two.words != () and one.unfinished == ()


# in words


def test_effects_are_found_by_trying() -> None:
    states = [{"A": a / 10, "B": b / 10, "C": 0.0} for a in range(5) for b in range(5)]
    (a, b) = sorted(effects(parse("A - 2 * B"), states), key=lambda e: e.symbol)
    assert (a.up, b.up) == (1.0, 0.0) and b.strength == pytest.approx(2 * a.strength) == pytest.approx(0.8)
    (hidden,) = effects(parse("0 - (0 - A) * 3"), states)
    assert hidden.up == 1.0
    (bent,) = effects(parse("A * (0.4 - A)"), states)
    assert 0.1 < bent.up < 0.9
    (idle, _) = sorted(effects(parse("B + C * 0"), states), key=lambda e: -ord(e.symbol))
    assert idle.symbol == "C" and idle.strength == 0.0
    (only,) = effects(parse("-C"), states, {"C": (0.0, 2.0)})
    assert only.up == 0.0 and only.strength == pytest.approx(2.0)
    (near,) = effects(parse("0 - if(A, A, 1)"), states, present={"A"})
    assert near.up == 0.0


@pytest.mark.parametrize(
    ("formula", "lines"),
    [
        ("MS - 0.1 * NM - 0.001 * ST", ["seeks: monsters slain (MS", "the nearest monster (NM low", "saves: steps"]),
        ("0 - TS", ["avoids: traps sprung (TS low, 100 %)"]),
        ("HL", ["saves: health left (HL, 100 %)"]),
        ("NM", ["avoids: the nearest monster (NM, 100 %)"]),
        ("-MS", ["avoids: monsters slain (MS low, 100 %)"]),
        ("PD * (0.5 - PD)", ["seeks or avoids, depending on the state: potions drunk (PD"]),
        ("PE + MS - MS", ["seeks: proximity to exit", "ignores: monsters slain (MS)"]),
        ("R + sqrt(log(P) / N)", ["seeks: ", "moves that were tried rarely (N low", "turned out well (R"]),
        ("3", ["every state has the same score"]),
    ],
)
def test_formulas_whose_meaning_is_known(formula: str, lines: list[str]) -> None:
    found = in_words(parse(formula), GAME, TRAIN[:3])
    assert found == in_words(parse(formula), GAME, TRAIN[:3])
    said = "\n".join(found)
    assert all(line in said for line in lines), said


def test_shipped_policies_are_put_in_words_from_shipped_levels() -> None:
    killer = of_policy(policy_library.find("monster_killer", GAME.name), GAME)
    assert "the nearest monster (NM low" in killer[0] and "health left (HL" in killer[2]
    assert "moves that were tried rarely" in of_policy(policy_library.find("ucb1", GAME.name), GAME)[0]


def test_random_states_really_occur() -> None:
    states = random_states(GAME, TRAIN[:2])
    assert states == random_states(GAME, TRAIN[:2]) and {s.level for s in states} == {"train01", "train02"}
    assert all(s.metrics["ST"] == s.move for s in states)
    assert sum(s.last for s in states) == 6 and all(s.outcome == 0 or s.last for s in states)
    assert random_states(GAME, TRAIN[:2], time.monotonic() - 1) == []


@pytest.mark.parametrize("game", ["minidungeons2", "roguelike2d"])
def test_shipped_policies_say_what_their_formulas_do_and_name_exactly_their_symbols(game: str) -> None:
    found = registry.get(game)
    for policy in policy_library.available(game):
        if policy.kind == "formula":
            assert policy.words == of_policy(replace(policy, words=()), found), policy.name
            assert set(policy.metrics) == set(parse(policy.best).symbols), policy.name


def test_connected_games_are_compared_on_later_seeds() -> None:
    names = [f"default@{n}" for n in (3, 1, 2)] + ["cave:hard@7", "cave:hard@9", "tower@5", "plain"]
    assert later_seeds(names) == ["default@4", "default@5", "default@6", "cave:hard@10", "cave:hard@11"]
    assert len(later_seeds([f"default@{n}" for n in range(1001, 1041)])) == 8
    assert later_seeds(["tower@5"]) == []
