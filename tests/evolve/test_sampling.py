"""Tests generations that draw their levels and race: playing, breeding, survival, and whole runs in folders."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import settings as of_hypothesis
from hypothesis import strategies as st

from persona_evo import seeds
from persona_evo.errors import RunError, SettingsError
from persona_evo.evolve import genome, pools, racing, sampled, selection, tuning
from persona_evo.evolve.comparison import START, over_levels
from persona_evo.evolve.driving import DEADLINE, FINISHED, INTERRUPTED
from persona_evo.evolve.fitness import Fitness, OutOfTime
from persona_evo.evolve.fitness_spec import LEAST_BEST, FitnessSpec
from persona_evo.evolve.genetics import Primitives, random_tree
from persona_evo.evolve.islands import generations
from persona_evo.evolve.operators import mutate
from persona_evo.evolve.outcome import Outcome
from persona_evo.evolve.playthroughs import FitnessTrial, PlaythroughScore
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.records import EvolutionState, Individual, Island, Request
from persona_evo.evolve.rivals import RivalComparison, of_policy
from persona_evo.evolve.run import resume
from persona_evo.evolve.schedule import Phase
from persona_evo.evolve.setting_values import SAMPLING
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import json_text
from persona_evo.jobs.workers import Workers
from persona_evo.personas.core import load
from persona_evo.report import evolution as page
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import checkpoints, policies, runs
from tests.conftest import leave_unsimplified
from tests.evolve.evolving import evolve
from tests.shared import unsealed

from .synthetic import METRICS

GAME = registry.get("minidungeons2")
TREASURE = load("treasure_collector", GAME)
LEVELS, VALIDATION = 20, 6


def small(**changes: Any) -> EvolutionSettings:
    """Return settings of a small evolution that draws its levels."""
    values: dict[str, Any] = {
        "population": 24,
        "islands": 2,
        "generations": 4,
        "levels_a_generation": 8,
        "race_from": 2,
        "first": (),
        "elites": 2,
        "migrants": 1,
        "hall_of_fame": 6,
        "final_trials": 2,
    }
    return EvolutionSettings.of("modern", sampled=True, **{**values, **changes})


class Asked:
    """A fitness that costs nothing and remembers what it was asked: the nearer a formula comes to what a case wants."""

    def __init__(self) -> None:
        self.batches: list[list[Request]] = []

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        self.batches.append(list(requests))
        return [[self.value(request.formula, case) for case in request.cases] for request in requests]

    @staticmethod
    def value(formula: str, case: int) -> float:
        point = {symbol: 0.1 * ((case * (k + 3)) % 11) for k, symbol in enumerate(METRICS)}
        return -min(10.0, abs(parse(formula).evaluate(point) - 1.0))


def people(count: int, first: int = 0) -> list[Individual]:
    """Return individuals that all differ, the first the best."""
    return [
        Individual(f"PE * 0 + {1 + 0.1 * (first + i)}", 5, origin="random", key=f"k{first + i}") for i in range(count)
    ]


def state_of(islands: Sequence[list[Individual]]) -> EvolutionState:
    return EvolutionState(0, [Island(one, random.Random(k)) for k, one in enumerate(islands)], [], {})


# the race


def test_the_worse_half_stops_whenever_twice_as_many_levels_are_played() -> None:
    island = people(16)
    random.Random(3).shuffle(island)
    asked = Asked()
    counts = racing.race(
        small(levels_a_generation=8, race_from=2, proof=0), 1, state_of([island]), LEVELS, VALIDATION, asked
    )
    assert counts == [16]
    race = [batch for batch in asked.batches if batch and max(batch[0].cases) < LEVELS]
    assert [(len(batch), len(batch[0].cases)) for batch in race] == [(16, 2), (8, 2), (4, 4)]
    assert len({request.cases for request in race[0]}) == 1, "all play the same levels"
    drawn = [case for batch in race for case in batch[0].cases]
    assert len(set(drawn)) == 8
    played = {i.key: len(i.utilities) for i in island}
    assert {key for key, n in played.items() if n == 8} == {f"k{i}" for i in range(4)}, "the better ones play on"
    assert {n for key, n in played.items() if key in {f"k{i}" for i in range(4, 8)}} == {4}


def test_elites_play_on_however_bad_they_are_and_keep_their_validation() -> None:
    elite = Individual("PE * 0 + 9", 5, key="elite", validation=[-9.0] * VALIDATION, utilities=[1.0], trials=1, born=3)
    island = [elite, *people(15)]
    racing.race(small(), 1, state_of([island]), LEVELS, VALIDATION, Asked())
    assert len(elite.utilities) == 8 and elite.validation == [-9.0] * VALIDATION and elite.born == 3
    assert elite.utilities[0] == pytest.approx(-8.0), "what it had played before does not count"


def test_duplicates_play_once() -> None:
    twins = [Individual("PE * 0 + 1", 5, key="same"), Individual("PE * 0 + 1", 5, key="same")]
    asked = Asked()
    racing.race(small(), 1, state_of([[*twins, *people(6, 1)], people(8, 20)]), LEVELS, VALIDATION, asked)
    assert len(asked.batches[0]) == 15 and twins[0].utilities == twins[1].utilities
    assert twins[0].validation == twins[1].validation and twins[0].utilities is not twins[1].utilities


def test_who_is_behind_the_worst_elite_after_a_third_is_not_validated_further() -> None:
    elites = [Individual(f"PE * 0 + {c}", 5, key=f"e{c}", validation=[-0.05] * VALIDATION) for c in (1.0, 1.05)]
    asked = Asked()
    racing.race(small(elites=2, proof=0), 1, state_of([[*elites, *people(10, 2)]]), LEVELS, VALIDATION, asked)
    validated = [r for batch in asked.batches for r in batch if r.cases and min(r.cases) >= LEVELS]
    assert all(len(r.cases) == 2 for r in validated), "nobody came past the first third"
    newcomer = Individual("PE * 0 + 1.01", 5, key="new")
    state = state_of([[*(replace(e, utilities=[]) for e in elites), newcomer, *people(9, 3)]])
    racing.race(small(elites=2, proof=0), 1, state, LEVELS, VALIDATION, Asked())
    assert newcomer.validation == pytest.approx([-0.01] * VALIDATION)


def test_levels_of_a_generation_follow_from_seed_and_generation() -> None:
    settings = small(budgets=(1.0, 0.5, 0.25))
    one, again = (racing.draw(settings, 5, 3, LEVELS) for _ in range(2))
    assert one == again and len(set(one.cases)) == 8 and max(one.cases) < LEVELS
    assert one.cases != racing.draw(settings, 5, 4, LEVELS).cases != racing.draw(settings, 6, 4, LEVELS).cases
    assert one.shares == (1.0, 0.5, 0.25, 1.0, 0.5, 0.25, 1.0, 0.5)
    few = racing.part(one, "PE", 2, 5)
    assert (few.cases, few.shares, few.seeds) == (one.cases[2:5], one.shares[2:5], one.seeds[2:5])
    assert len(racing.draw(settings, 5, 3, 3).cases) == 3, "no more than there are"
    assert min(racing.validating("PE", 5, LEVELS, VALIDATION, 0, VALIDATION).cases) == LEVELS


# the course of an evolution


def course(
    settings: EvolutionSettings, evaluate: Asked, state: EvolutionState | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the state after each generation, as plain values."""
    for generation in generations(
        settings, 7, evaluate, metrics=METRICS, levels=LEVELS, validation=VALIDATION, state=state
    ):
        yield json.loads(json.dumps(generation.state.to_json()))


def members(state: dict[str, Any], island: int = 0) -> list[Individual]:
    return [Individual.from_json(values) for values in state["islands"][island]["individuals"]]


def test_levels_that_are_drawn_differ_between_generations_and_none_is_of_the_validation() -> None:
    asked = Asked()
    states = list(course(small(), asked))
    own = [b for b in asked.batches if b and min(b[0].cases) < LEVELS]
    starts = [b[0].cases for b in own if len(b[0].cases) == 2]
    assert len(states) == 4 and len(set(starts)) == len(starts)
    assert all(max(r.cases) < LEVELS for b in own for r in b)
    assert states[-1]["playthroughs"] == sum(r.playthroughs for batch in asked.batches for r in batch)


def test_nobody_who_dropped_out_breeds() -> None:
    settings = small(mutation=0.0, crossover=0.0, unique_tries=0, islands=1, migrants=0, population=16)
    before: set[str] | None = None
    dropped = 0
    for state in course(settings, Asked()):
        own = members(state)
        if before is not None:
            assert {i.formula for i in own} <= before
        most = max(len(i.utilities) for i in own)
        before = {i.formula for i in own if len(i.utilities) == most}
        dropped += len({i.formula for i in own} - before)
    assert dropped > 4


def test_elites_are_those_that_are_best_on_the_validation_set() -> None:
    settings = small(islands=1, population=16)
    better = selection.better(settings)
    before: list[Individual] = []
    for state in course(settings, Asked()):
        own = members(state)
        if before:
            known = {i.key: i for i in before if i.validation}
            best = sorted(known.values(), key=lambda i: better(i.validated()))[: settings.elites]
            assert [i.key for i in own[: settings.elites]] == [i.key for i in best]
            assert all(
                i.validation[: len(b.validation)] == b.validation
                for i, b in zip(own[: settings.elites], best, strict=True)
            )
        before = own
        hall = [Individual.from_json(values) for values in state["hall"]]
        assert all(i.utilities == [i.standing] and len(i.validation) >= VALIDATION for i in hall)


def test_elites_play_more_levels_in_each_generation() -> None:
    settings = small(islands=1, population=16, elites=2, proof=20)
    lengths = []
    for state in course(settings, Asked()):
        known = {i.key: i for i in members(state) if i.validation}
        lengths.append(max(len(i.validation) for i in selection.elites(list(known.values()), settings)))
        assert {len(i.validation) for i in known.values()} <= {VALIDATION, 2 * VALIDATION, 3 * VALIDATION, 20}
    assert lengths[0] == 2 * VALIDATION and lengths[-1] == 20


def test_the_levels_of_comparisons_do_not_depend_on_where_one_begins_and_repeat_with_new_seeds() -> None:
    whole = racing.validating("PE", 7, LEVELS, VALIDATION, 0, VALIDATION + 2 * LEVELS)
    first = racing.validating("PE", 7, LEVELS, VALIDATION, 0, 10)
    rest = racing.validating("PE", 7, LEVELS, VALIDATION, 10, VALIDATION + 2 * LEVELS)
    assert (*first.cases, *rest.cases) == whole.cases and (*first.seeds, *rest.seeds) == whole.seeds
    own, once, again = whole.cases[:VALIDATION], whole.cases[VALIDATION:-LEVELS], whole.cases[-LEVELS:]
    assert own == tuple(range(LEVELS, LEVELS + VALIDATION))
    assert once == again and sorted(once) == list(range(LEVELS)), "then levels to train on"
    assert len(set(whole.seeds)) == len(whole.seeds)


def test_a_course_goes_on_after_any_generation_as_if_it_had_not_stopped() -> None:
    whole = list(course(small(), Asked()))
    for at in range(3):
        rest = list(course(small(), Asked(), EvolutionState.from_json(whole[at])))
        assert rest == whole[at + 1 :]


# what is counted


numbers = st.floats(-100, 100, allow_nan=False)


@given(best=numbers, utility=numbers, won=st.floats(0, 1), wins=st.floats(0, 1))
def test_the_share_of_the_best_known(best: float, utility: float, won: float, wins: float) -> None:
    spec = replace(SPEC, best=(best,))
    assert spec.share(0, best, won) == pytest.approx(1.0)
    scale = max(abs(best), LEAST_BEST)
    assert spec.share(0, utility, won) == pytest.approx(1.0 + (utility - best) / scale)
    assert utility > best or spec.share(0, utility, won) <= 1.0
    mixed = replace(spec, wins=wins).share(0, utility, won)
    assert mixed == pytest.approx((1 - wins) * spec.share(0, utility, 0.0) + wins * won)
    assert SPEC.share(0, utility, won) == utility, "where the best is not known the utility counts"


SPEC = FitnessSpec.of(
    GAME.name, mapsets.resolve(GAME, ["train"])[:2], TREASURE.utility, SearchSettings.single(), Budget(400), "TO"
)


def test_a_level_with_a_share_of_the_budget_is_played_with_that() -> None:
    with Workers(1) as workers:
        whole, quarter = Fitness(SPEC, workers), Fitness(replace(SPEC, budget=Budget(100)), workers)
        own = ((3,), (4,))
        mixed = whole([Request("TO - 0.1 * NT", own, (0, 1), (1.0, 0.25))])[0]
        plain = [fitness([Request("TO - 0.1 * NT", own)])[0] for fitness in (whole, quarter)]
        assert mixed == [plain[0][0], plain[1][1]] != plain[0]


def test_the_interval_over_levels_is_students() -> None:
    ours, theirs = (
        [[PlaythroughScore(u, 0.0), PlaythroughScore(u + 0.2, 0.0)] for u in values]
        for values in ((0.5, 0.7, 0.6), (0.4, 0.4, 0.5))
    )
    mean, half = over_levels(ours, theirs)
    assert mean == pytest.approx(0.5 / 3)
    assert half == pytest.approx(4.302653 * (((0.1 - mean) ** 2 * 2 + (0.3 - mean) ** 2) / 2 / 3) ** 0.5, rel=1e-4)
    assert over_levels(ours[:1], theirs[:1])[1] is None


@given(seed=st.integers(0, 10_000))
@of_hypothesis(max_examples=60, deadline=None)
def test_added_terms_keep_the_limits(seed: int) -> None:
    settings = small(mutations={"term": 1.0}, depth_max=3, depth_limit=5, size_limit=21)
    primitives = Primitives.of(settings, METRICS)
    stream = random.Random(seed)
    tree = random_tree(settings, primitives, stream)
    for _ in range(8):
        before = list(tree)
        mutant, name = mutate(tree, settings, primitives, stream)
        formula = parse(genome.to_text(mutant))
        assert name == "term" and list(tree) == before, "the parent stays as it is"
        assert formula.depth <= 5 and formula.size <= 21 and formula.symbols <= set(METRICS)
        assert len(mutant) == len(tree) or len(mutant) - len(tree) in (4, 6)
        tree = mutant


# settings


def test_many_levels_have_settings_of_their_own_and_what_is_set_wins() -> None:
    usual = EvolutionSettings.of("modern", sampled=True)
    assert usual == EvolutionSettings.sampling() and usual.levels_a_generation == SAMPLING["levels_a_generation"]
    assert EvolutionSettings.of("modern", sampled=True, population=20, islands=1).population == 20
    tiny = EvolutionSettings.of("modern", sampled=True, population=8, islands=2)
    assert (tiny.elites, tiny.migrants) == (1, 1)
    assert EvolutionSettings.of("modern") == EvolutionSettings.modern()
    assert EvolutionSettings.of("paper", sampled=True) == EvolutionSettings.paper()


# whole runs


@pytest.fixture(scope="module", autouse=True)
def unsimplified_winners() -> Iterator[None]:
    """Leave all winners as they are: what is compared here leaves the simplification out."""
    with pytest.MonkeyPatch.context() as patch:
        leave_unsimplified(patch)
        yield


@pytest.fixture(scope="module")
def made() -> dict[str, LevelPool]:
    """Solved pools, small ones."""
    with Workers(1) as workers:
        counts = {"train": 12, "validation": 4, "held out": 5}
        return pools.prepared(GAME, TREASURE.utility, counts, 6, workers, iterations=500)


def run(made: dict[str, LevelPool], root: Path, **options: Any) -> Outcome:
    """Return a whole small run."""
    values: dict[str, Any] = {
        "population": 12,
        "generations": 3,
        "levels_a_generation": 4,
        "elites": 1,
        "first": ("TO",),
        **options.pop("changes", {}),
    }
    return evolve(
        GAME,
        TREASURE,
        made["train"].load(GAME),
        small(**values),
        6,
        root=root,
        budget=Budget(100),
        pools=made,
        **options,
    )


def what_is_kept(outcome: Outcome) -> tuple[Any, ...]:
    """Journal, hall and policy, without what may differ between equal runs."""
    assert outcome.policy is not None
    policy = json.loads(outcome.policy.read_text())
    policy["run"].pop("name")
    for key in ("simplified", "simplification", "unfinished", "words", "metrics"):
        policy.pop(key, None)  # the simplification has a limit of time, which a busy machine may come to
    rows = [runs.comparable(row) for row in runs.read_journal(outcome.folder)]
    return rows, runs.read_hall(outcome.folder), policy


@pytest.fixture(scope="module")
def measured() -> list[Any]:
    """Return the seeds of each level in which the policy of `whole` was measured at the end."""
    return []


@pytest.fixture(scope="module")
def whole(made: dict[str, LevelPool], measured: list[Any], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Return a run in one go."""
    real = sampled.play_rounds

    def noted(fitness: Fitness, formulas: Any, plan: Any, *rest: Any) -> Any:
        measured.append(plan)
        return real(fitness, formulas, plan, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampled, "play_rounds", noted)
        return run(made, tmp_path_factory.mktemp("whole"))


def test_the_policy_is_measured_on_a_seed_of_its_own_for_each_playthrough(whole: Outcome, measured: list[Any]) -> None:
    (plan,) = measured
    assert whole.status == FINISHED and {len(level) for level in plan} == {2}
    assert len({seed for level in plan for seed in level}) == 2 * len(plan)


def test_the_folder_keeps_all_levels_and_what_is_best_known(made: dict[str, LevelPool], whole: Outcome) -> None:
    config = runs.read_config(whole.folder)
    assert whole.status == FINISHED and whole.generations == 3
    assert LevelPool.of_dict(config) == made["train"] and LevelPool.of_dict(config["validation"]) == made["validation"]
    assert [LevelText.of_dict(level) for level in config["held_out"]] == list(made["held out"].levels)
    assert config["held_out_best"] == list(made["held out"].best)
    texts = [{level.text for level in pool.levels} for pool in made.values()]
    assert len(set.union(*texts)) == 12 + 4 + 5, "no level is in two pools"
    rows = runs.read_journal(whole.folder)
    assert all("validation" in row for row in rows)


def test_the_result_is_that_of_any_number_of_jobs(made: dict[str, LevelPool], whole: Outcome, tmp_path: Path) -> None:
    assert what_is_kept(run(made, tmp_path, jobs=2)) == what_is_kept(whole)


def stopping(when: Callable[[Any], bool]) -> Callable[[Any], None]:
    def tell(told: Any) -> None:
        if when(told):
            raise KeyboardInterrupt

    return tell


def test_a_run_that_was_stopped_comes_to_the_same_policy(
    made: dict[str, LevelPool], whole: Outcome, tmp_path: Path
) -> None:
    first = run(made, tmp_path, progress=stopping(lambda p: p.generation == 1))
    assert first.status == INTERRUPTED and first.generations == 2 and first.policy is None
    again = resume(first.folder, tell=stopping(lambda p: isinstance(p, Phase) and p.name == "measuring the policy"))
    assert again.status == INTERRUPTED and again.generations == 3 and again.policy is None
    assert what_is_kept(resume(first.folder)) == what_is_kept(whole)


@pytest.mark.parametrize("calls", [1, 9, 14, 15])
def test_a_run_that_dies_at_any_moment_comes_to_the_same_policy(
    made: dict[str, LevelPool], whole: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    class Killed(BaseException):
        pass

    left = [calls]
    real = Fitness._play

    def dying(self: Fitness, trials: Sequence[FitnessTrial]) -> list[PlaythroughScore | None]:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        return real(self, trials)

    monkeypatch.setattr(Fitness, "_play", dying)
    with pytest.raises(Killed):
        run(made, tmp_path)
    monkeypatch.undo()
    (folder,) = runs.find_runs(tmp_path)
    assert runs.policy_of(folder) is None
    assert what_is_kept(resume(folder)) == what_is_kept(whole)


def test_held_out_levels_are_played_in_the_end_alone(
    made: dict[str, LevelPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[str, str]] = []
    real = Fitness._play

    def watched(self: Fitness, trials: Sequence[FitnessTrial]) -> list[PlaythroughScore | None]:
        played.extend((self.spec.levels[t.case].text, str(t.formula)) for t in trials)
        return real(self, trials)

    monkeypatch.setattr(Fitness, "_play", watched)
    outcome = run(made, tmp_path)
    assert outcome.policy is not None
    streams = {level.text: stream for stream, pool in made.items() for level in pool.levels}
    order = [streams[text] for text, _ in played]
    first = order.index("held out")
    assert {"train", "validation"} == set(order[:first]) and set(order[first:]) == {"held out"}
    formula = policies.read(outcome.policy).formula
    assert formula in {text for _, text in played[first:]} and len({text for _, text in played[first:]}) <= 4


def test_the_policy_tells_what_it_is_worth_where_it_was_not_chosen(made: dict[str, LevelPool], whole: Outcome) -> None:
    assert whole.policy is not None
    policy = policies.read(whole.policy)
    assert set(policy.fitness) == {level.name for level in made["validation"].levels}
    assert policy.levels == tuple(level.name for level in made["train"].levels)
    found = of_policy(policy)
    assert found is not None and found.drawn and found.unseen and found.trials == 2
    assert {r.name for r in found.rivals} == {"UCB1", "the shipped policy treasure_collector", START}
    with Workers(1) as workers:
        spec = FitnessSpec.of(
            GAME.name, made["held out"].load(GAME), TREASURE.utility, SearchSettings.single(), Budget(100), "TO"
        )
        plan = tuple(tuple(seeds.derive(6, "held out", case, trial) for trial in range(2)) for case in range(5))
        scores = Fitness(spec, workers).scores([Request(policy.formula, plan)])[0]
    assert found.utility == pytest.approx(sum(s.utility for s in scores) / 5)
    shares = [
        1 - (best - s.utility) / max(abs(best), LEAST_BEST)
        for s, best in zip(scores, made["held out"].best, strict=True)
    ]
    assert found.share == pytest.approx(sum(shares) / 5)
    said = found.lines()
    assert said[0].startswith(
        f"training fitness {found.training:.4f}, validation {found.validation:.4f}, held-out "
        f"utility {found.utility:.4f} ({found.share:.4f} of the best known)"
    )
    assert "5 generated levels (not trained on)" in said[1] and "over the levels" in said[-1]
    assert RivalComparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    told = page.read(whole.folder)
    assert said[0] in page.text(told, 200) and "validation set" in page.text(told, 200)
    assert said[0].partition(",")[0] in page.write(told).read_text()


def test_a_deadline_leaves_time_for_the_end(made: dict[str, LevelPool], tmp_path: Path) -> None:
    began = time.monotonic()
    told: list[Phase] = []
    outcome = run(made, tmp_path, deadline=began + 12, tell=told.append, changes={"generations": 100_000})
    assert outcome.status == DEADLINE and time.monotonic() - began < 16
    assert outcome.policy is not None and policies.read(outcome.policy).run["trials"] == 2
    names = list(dict.fromkeys(p.name for p in told))
    assert names[:4] == [
        "comparing the finalists",
        "tuning the constants",
        "measuring the policy",
        "comparing with others",
    ]


def test_without_time_for_the_training_fitness_there_is_a_policy_without_it(
    made: dict[str, LevelPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: Any) -> NoReturn:
        raise OutOfTime

    monkeypatch.setattr(sampled, "draw", late)
    outcome = run(made, tmp_path, changes={"generations": 1, "tuning": 0.0})
    assert outcome.policy is not None and "training" not in policies.read(outcome.policy).run
    assert page.text(page.read(outcome.folder), 200)


def test_a_tuning_with_a_deadline_and_fewer_levels_than_it_could_play_ends_with_a_policy(
    made: dict[str, LevelPool], tmp_path: Path
) -> None:
    """Terms that it adds follow what the game says of its metrics."""
    drawn: list[Primitives] = []
    real = tuning.EvolutionEnd.steps

    def noted(ending: tuning.EvolutionEnd, *rest: Any) -> Any:
        drawn.append(ending.primitives)
        return real(ending, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning.EvolutionEnd, "steps", noted)
        outcome = run(made, tmp_path, deadline=time.monotonic() + 100, changes={"generations": 10, "tuning": 1.0})
    assert outcome.policy is not None and policies.read(outcome.policy).unfinished == ()
    assert [one.better["TO"] for one in drawn] == ["higher"]


def test_named_levels_are_set_apart_to_compare_on(tmp_path: Path) -> None:
    levels = mapsets.resolve(GAME, ["train"])[:8]
    settings = small(population=8, generations=1, levels_a_generation=3, elites=1)
    outcome = evolve(GAME, TREASURE, levels, settings, 3, root=tmp_path, budget=Budget(50))
    config = runs.read_config(outcome.folder)
    trained = {level["name"] for level in config["levels"]}
    apart = {level["name"] for level in config["validation"]["levels"]}
    assert len(apart) == 2 and len(trained) == 6 and trained | apart == {level.name for level in levels}
    assert len(config["best"]) == 6 and len(config["validation"]["best"]) == 2 and max(config["best"]) > 0
    with pytest.raises(SettingsError, match="too few levels"):
        evolve(GAME, TREASURE, levels[:3], settings, 3, root=tmp_path / "few", budget=Budget(50))
    assert not (tmp_path / "few").exists()


def test_what_a_player_cannot_reach_is_not_known_where_games_are_not_planned_whole() -> None:
    game = registry.get("colosseum")
    spec = FitnessSpec.of(
        game.name,
        mapsets.resolve(game, ["train"]) * 4,
        load("duelist", game).utility,
        SearchSettings.single(),
        Budget(20),
    )
    with Workers(1) as workers:
        training = sampled.training_of(spec, small(), 3, workers)
    assert training.spec.best == training.validation.best == () and training.validation.levels


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("islands", 0, "individuals", 0, 2), []),
        (("islands", 0, "individuals", 0, 2), [0.1] * 5),
        (("islands", 0, "individuals", 0, 7), [0.1]),
        (("hall", 0, 7), [0.1] * 3),
        (("hall", 0, 8), 0.123),
        (("hall", 0, 7), [1.7e308] * VALIDATION),
        (("hall", 0, 8), True),
        (("hall", 0, 9), 1),
        (("memory", 0, 1), [0.1]),
    ],
)
def test_a_state_has_to_be_one_of_a_run_that_draws_levels(
    made: dict[str, LevelPool], tmp_path: Path, path: tuple[Any, ...], value: Any
) -> None:
    folder = run(made, tmp_path, progress=stopping(lambda p: p.generation == 0)).folder
    file = folder / checkpoints.CHECKPOINT
    data = json.loads(unsealed(file))
    inner = data["state"]
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1] : path[-1] + 1] = [value]
    file.write_text(json.dumps(data))
    with pytest.raises(RunError, match="state is damaged"):
        resume(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"best": [1.0]}, "does not fit the levels"),
        ({"best": ["x"] * 12}, "wrong type"),
        ({"validation": {"levels": [], "best": []}}, "is empty"),
        ({"validation": 3}, "wrong type"),
        ({"held_out_best": [0.5]}, "does not fit the levels"),
        ({"wins": 7}, "out of range"),
        ({"best": []}, "for only some of the levels"),
    ],
)
def test_a_damaged_configuration_is_told(
    made: dict[str, LevelPool], tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    folder = run(made, tmp_path, progress=stopping(lambda p: True)).folder
    file = folder / runs.CONFIG
    config = {**json.loads(unsealed(file)), **change}
    file.write_text(json_text.dump(config))
    (folder / checkpoints.CHECKPOINT).unlink()
    (folder / runs.HALL).unlink()
    (folder / runs.JOURNAL).unlink()
    with pytest.raises(RunError, match=said):
        resume(folder)
