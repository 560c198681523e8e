"""Tests the course of the evolution: repeatable, resumable, faithful to its settings, with bounded memory."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest

from persona_evo.errors import GameError, SettingsError
from persona_evo.evolve.islands import Request, check_first, generations
from persona_evo.evolve.records import EvolutionState, Generation
from persona_evo.evolve.settings import EvolutionSettings

from .synthetic import LEVELS, METRICS, Counting, small, synthetic

PRESETS = ["paper", "modern"]


def course(
    settings: EvolutionSettings,
    seed: int = 7,
    evaluate: object = synthetic,
    state: EvolutionState | None = None,
    first: Sequence[str] = (),
) -> list[Generation]:
    """Return all generations; their states are as of the end, since a state is handed on."""
    return list(generations(settings, seed, evaluate, metrics=METRICS, levels=LEVELS, first=first, state=state))  # type: ignore[arg-type]


def frozen(state: EvolutionState) -> str:
    return json.dumps(state.to_json())


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_seed_gives_the_same_run_and_another_seed_another(preset: str) -> None:
    settings = small(preset)
    one, two, other = course(settings), course(settings), course(settings, seed=8)
    assert [g.rows for g in one] == [g.rows for g in two]
    assert frozen(one[-1].state) == frozen(two[-1].state)
    assert [g.rows for g in one] != [g.rows for g in other]
    assert [g.index for g in one] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("preset", PRESETS)
def test_resuming_at_every_generation_gives_the_same_run(preset: str) -> None:
    settings = small(preset)
    whole: list[Generation] = []
    texts: list[str] = []
    for generation in generations(settings, 7, synthetic, metrics=METRICS, levels=LEVELS):
        whole.append(generation)
        texts.append(frozen(generation.state))
    for at in range(len(texts)):
        rest = course(settings, state=EvolutionState.from_json(json.loads(texts[at])))
        assert [g.rows for g in rest] == [g.rows for g in whole[at + 1 :]]
        if rest:
            assert frozen(rest[-1].state) == texts[-1]


def test_a_state_survives_json_exactly() -> None:
    state = course(small("modern"))[-1].state
    assert frozen(EvolutionState.from_json(json.loads(frozen(state)))) == frozen(state)


def test_a_longer_run_begins_like_the_shorter_one() -> None:
    short, long = course(small("modern")), course(small("modern", generations=8))
    assert [g.rows for g in short] == [g.rows for g in long[:5]]


def test_the_paper_evaluates_all_but_the_elites_once() -> None:
    counting = Counting()
    made = course(small("paper"), evaluate=counting)
    assert [len(batch) for batch in counting.batches] == [18, 12, 12, 12, 12]
    assert [[r.evaluations for r in g.rows] for g in made] == [[6, 6, 6]] + [[4, 4, 4]] * 4
    assert made[-1].state.evaluations == 66


def test_the_paper_gives_every_playthrough_its_own_seed() -> None:
    counting = Counting()
    course(small("paper"), evaluate=counting)
    every = [seed for request in counting.requests for level in request.seeds for seed in level]
    assert len(set(every)) == len(every) == 66 * LEVELS


def test_common_seeds_are_common_within_a_generation_only() -> None:
    counting = Counting()
    course(small("paper", common_seeds=True, trials=2), evaluate=counting)
    per_batch = [{request.seeds for request in batch} for batch in counting.batches]
    assert all(len(seeds) == 1 for seeds in per_batch)
    assert len(set.union(*per_batch)) == 5
    assert all(len(level) == 2 for seeds in per_batch for request in seeds for level in request)


def test_the_best_never_gets_worse_in_the_paper() -> None:
    made = course(small("paper", generations=15))
    best = [max(row.best for row in g.rows) for g in made]
    assert best == sorted(best) and best[-1] > best[0]


@pytest.mark.parametrize("preset", PRESETS)
def test_evolution_beats_drawing_at_random(preset: str) -> None:
    settings = small(preset, population=40, islands=2, generations=20)
    evolved = course(settings)[-1].best.fitness
    drawn = course(replace(settings, population=40 * 20, generations=1))[-1].best.fitness
    assert evolved > drawn


def test_duplicates_are_not_evaluated_twice() -> None:
    from persona_evo.evolve.duplicates import Keys
    from persona_evo.evolve.genetics import leaves

    settings = small("modern", rounds=0, unique_tries=0, generations=8)
    counting = Counting()
    made = course(settings, evaluate=counting)
    keys = Keys("behaviour", leaves(settings, METRICS))
    from persona_evo.formula import parse

    asked = [keys.key(parse(r.formula)) for r in counting.requests]
    assert len(asked) == len(set(asked)) == made[-1].state.evaluations
    off = Counting()
    course(replace(settings, duplicates="off"), evaluate=off)
    assert len(off.requests) == 18 + 7 * 12 > len(asked)


def test_unique_tries_keep_an_island_diverse() -> None:
    settings = small("modern", rounds=0, generations=10)
    with_tries = course(settings)[-1].rows
    without = course(replace(settings, unique_tries=0))[-1].rows
    assert sum(r.diversity for r in with_tries) > sum(r.diversity for r in without)


def test_candidates_for_the_elite_are_looked_at_again_on_fresh_seeds() -> None:
    settings = small("modern", reevaluations=4)
    counting = Counting()
    made = course(settings, evaluate=counting)
    again = [batch for batch in counting.batches[1::2]]
    assert all(len({r.seeds for r in batch}) == 1 for batch in again)
    fresh = {s for batch in again for r in batch for level in r.seeds for s in level}
    first = {s for batch in counting.batches[0::2] for r in batch for level in r.seeds for s in level}
    assert not fresh & first
    trials = [i.trials for i in made[-1].state.hall]
    assert max(trials) == 4


def test_each_look_of_a_generation_has_seeds_of_its_own() -> None:
    counting = Counting()
    course(small("modern", rounds=3, reevaluations=4, generations=1), evaluate=counting)
    _, *again = counting.batches
    seeds = [{seed for request in batch for level in request.seeds for seed in level} for batch in again]
    assert len(seeds) == 3 and len(set.union(*seeds)) == sum(map(len, seeds))


def test_luck_does_not_survive() -> None:
    """Formulas are equally good and only lucky: with re-evaluation the best fitness comes near the true mean."""

    def lottery(requests: Sequence[Request]) -> list[list[float]]:
        return [[(seeds[0] % 997) / 997 + hash_of(r.formula, seeds[0]) for seeds in r.seeds] for r in requests]

    def hash_of(text: str, seed: int) -> float:
        import zlib

        return (zlib.crc32(f"{text}{seed}".encode()) % 997) / 997

    trusting = course(small("modern", rounds=0, reevaluations=1, generations=12), evaluate=lottery)[-1]
    careful = course(small("modern", rounds=2, reevaluations=8, generations=12), evaluate=lottery)[-1]
    assert max(r.best for r in careful.rows) < max(r.best for r in trusting.rows) - 0.1


def test_migrants_are_copies_whose_fitness_travels() -> None:
    """With everybody migrating and nobody bred anew, the best of one island arrives on the next unevaluated."""
    settings = small("paper", migrants=6, elites=5, generations=2)
    counting = Counting()
    state = None
    for generation in generations(settings, 3, counting, metrics=METRICS, levels=LEVELS):
        if generation.index == 0:
            state = [[i.copy() for i in island.individuals] for island in generation.state.islands]
    assert state is not None
    for k, island in enumerate(generation.state.islands):
        old = sorted((*state[k], *state[k - 1]), key=lambda i: -i.fitness)[:5]
        assert [(i.formula, i.fitness) for i in island.individuals[:5]] == [(i.formula, i.fitness) for i in old]
    assert len(counting.batches[1]) == 3


def test_islands_without_migration_do_not_influence_each_other() -> None:
    alone = small("paper", migration_every=0)
    first = [g.rows[0].best for g in course(alone)]
    more = [g.rows[0].best for g in course(replace(alone, population=24, islands=4))]
    assert first == more


def test_given_formulas_join_the_first_population() -> None:
    made = course(small("modern", generations=1, variables="extended"), first=["PE + MS", "sqrt(log(P) / N) + R"])
    population = [i for island in made[0].state.islands for i in island.individuals if i.origin == "first"]
    assert [i.formula for i in population] == ["PE + MS", "sqrt(log(P) / N) + R"]
    with pytest.raises(SettingsError, match="'sqrt'"):
        course(small("paper"), first=["sqrt(PE)"])
    assert check_first(small("paper"), METRICS, ["sqrt(PE)", "PE + NM", "PE + R"]) == ["PE + R"]


@pytest.mark.parametrize("answer", [[], [[0.0]], [[0.0, 0.0, float("nan")]] * 18, [[0.0] * 3] * 17])
def test_a_wrong_evaluation_is_told(answer: list[list[float]]) -> None:
    with pytest.raises(GameError, match="evaluation"):
        course(small("paper"), evaluate=lambda requests: answer)


@pytest.mark.parametrize("preset", PRESETS)
def test_memory_stays_flat(preset: str) -> None:
    settings = small(
        preset, population=6, islands=2, elites=1, migrants=1, generations=220, memory=30, hall_of_fame=5, size_limit=15
    )
    sizes = []
    tracemalloc.start()
    try:
        for generation in generations(settings, 1, synthetic, metrics=METRICS, levels=LEVELS):
            if generation.index in (60, 219):
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
            assert len(generation.state.memory) <= 30
    finally:
        tracemalloc.stop()
    assert sizes[1] - sizes[0] < 200_000


def test_a_generation_says_how_long_it_took_and_how_much_of_that_was_evaluation() -> None:
    def slow(requests: Sequence[Request]) -> list[list[float]]:
        time.sleep(0.01)
        return synthetic(requests)

    began = time.perf_counter()
    made = list(generations(small(generations=3), 1, slow, metrics=METRICS, levels=LEVELS))
    took = time.perf_counter() - began
    assert all(0.01 <= g.evaluating <= g.seconds for g in made)
    assert sum(g.seconds for g in made) <= took
