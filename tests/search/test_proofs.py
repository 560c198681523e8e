"""Tests the planner's proofs on small levels against an exhaustive search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from random import Random

import pytest

from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.personas import Persona, load
from persona_evo.search.plan import Budget, Plan, SearchSettings, TreePolicy, plan
from persona_evo.store import policy_library
from tests.benchmarks import small_levels
from tests.examples import corridor, jugs
from tests.search.exhaustive import Everything, explore
from tests.search.graphs import BOUNDED, WALK

GAME = registry.get("minidungeons2")
PAPER = ("runner", "monster_killer", "treasure_collector", "completionist")
EXACT = 1e-9
WEIGHTS = (-1.0, -0.7, -0.3, -0.1, 0.1, 0.3, 0.7, 1.0)
CROOKED = (
    "HL * (1 - PE) - 0.02*ST",
    "if(TO - 0.4, PE - 0.01*ST, 0.1*TO) - DEAD",
    "TS / (1 + JT)",
    "min(TO, MS) + max(NT, NE) - 0.1*abs(ST - 5)",
    "sqrt(ST) * PE - 0.2*JT",
)
"""Utilities that are no sums."""


@dataclass(frozen=True)
class Checked:
    """How often something was proven, of how many searches."""

    searches: int = 0
    proven: int = 0

    def __add__(self, other: Checked) -> Checked:
        return Checked(self.searches + other.searches, self.proven + other.proven)


def sum_of(rng: Random, game: Game) -> Formula:
    """Return a random sum of weighted metrics, often with a term for the clock, which costs or pays."""
    clock = game.metrics[game.clock].symbol
    others = [s for s in game.symbols if s not in (clock, "DEAD")]
    terms = [f"{rng.choice(WEIGHTS)} * {s}" for s in rng.sample(others, rng.randint(1, min(4, len(others))))]
    terms += rng.choice(([], [f"-0.01 * {clock}"], [f"0.01 * {clock}"], [f"{rng.choice(WEIGHTS)} * {clock}"]))
    if "DEAD" in game.symbols:
        terms += rng.choice(([], ["-5 * DEAD"], ["0.5 * DEAD"]))
    return parse(" + ".join(terms), game.symbols)


@cache
def of_the_paper(name: str) -> tuple[Persona, TreePolicy]:
    """Return one of the paper's personas with the policy that ships for it."""
    return load(name, GAME), policy_library.find(name, GAME.name).tree_policy(GAME)


def searches(rng: Random) -> list[tuple[Formula, TreePolicy]]:
    """Return utilities of MiniDungeons 2 and what plays for them: three of its own making, one of the paper's."""
    own = [sum_of(rng, GAME), sum_of(rng, GAME), parse(rng.choice(CROOKED), GAME.symbols)]
    persona, policy = of_the_paper(rng.choice(PAPER))
    others = [(u, rng.choice((TreePolicy.utility(u), TreePolicy.utility(u), policy))) for u in own]
    return [*others, (persona.utility, rng.choice((policy, TreePolicy.utility(persona.utility))))]


def settings_of(rng: Random, horizon: int) -> SearchSettings:
    """Return the planner, its lists or some of them, now and then with a hedge, with a tolerance, without rollouts."""
    whole = SearchSettings.anytime()
    kept = rng.sample(whole.lists, rng.randint(1, len(whole.lists)))
    return replace(
        whole,
        horizon=horizon,
        lists=rng.choice((whole.lists, whole.lists, tuple(kept))),
        hedge=rng.choice((0.0, 0.0, 0.25)),
        tolerance=rng.choice((0.0, 0.0, 0.05)),
        rollout=rng.choice((0, 3, 10, 10)),
        finish=rng.choice((0.0, 0.1)),
    )


def check(
    game: Game, level: Level, everything: Everything, utility: Formula, policy: TreePolicy, rng: Random, largest: int
) -> Checked:
    """One search: its plan can be played, is worth what it says and no more than the best; a proof is of the best."""
    settings = settings_of(rng, everything.horizon)
    budget, seed = Budget(rng.choice((20, 300, largest, largest, largest))), rng.randrange(10**6)
    found = plan(game, level, utility, policy, budget, settings, seed)
    best = everything.best(utility)
    told = (
        f"{level.name}, {utility}, {policy.name}, {settings}, {budget}, seed {seed}: {found.best_utility}, "
        f"best {best}\n{level.text}"
    )
    assert found.best_utility <= best + EXACT, told
    assert not found.proven or found.best_utility >= best - EXACT, told
    assert playable(game, level, found, utility, everything.horizon), told
    return Checked(1, int(found.proven))


def playable(game: Game, level: Level, found: Plan, utility: Formula, horizon: int) -> bool:
    """Return whether both plans consist of legal moves, not too many, and are worth what is said."""
    for actions, value in ((found.best_actions, found.best_utility), (found.actions, found.utility)):
        states = game.replay(level, actions)
        for state, action in zip(states, actions, strict=False):
            if game.over(level, state) != RUNNING or action not in game.legal(level, state):
                return False
        if len(actions) > horizon or abs(utility.evaluate(game.measure(level, states[-1])) - value) > EXACT:
            return False
    return True


def check_small_levels(seed: int, count: int, most: int, longest: int, largest: int) -> Checked:
    """So many small levels of MiniDungeons 2, four searches each."""
    total = Checked()
    for number in range(count):
        level, rng = small_levels.small(seed, number), Random(f"proofs {seed} {number}")
        everything = explore(GAME, level, rng.randint(8, longest), most)
        for utility, policy in searches(rng):
            total += check(GAME, level, everything, utility, policy, rng, largest)
    return total


def check_class(game: Game, texts: list[str], moves: int, count: int, largest: int = 400) -> Checked:
    """Levels of a game in Python, with so many random sums each, each in a horizon of its own."""
    total = Checked()
    for text in texts:
        level, rng = game.load(text, text), Random(f"proofs {text}")
        for _ in range(count):
            utility = sum_of(rng, game)
            everything = explore(game, level, rng.randint(2, moves), 3_000)
            total += check(game, level, everything, utility, TreePolicy.utility(utility), rng, largest)
    return total


def test_proofs_hold_in_small_levels() -> None:
    total = check_small_levels(1, 24, 1_500, 10, 5_000)
    assert total.searches == 96 and total.proven >= 0.3 * total.searches, total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(11, 19))
def test_proofs_hold_in_thousands_of_small_levels(seed: int) -> None:
    total = check_small_levels(seed, 300, 8_000, 14, 20_000)
    assert total.searches == 1_200 and total.proven >= 0.3 * total.searches, total


@pytest.mark.parametrize(
    ("game", "texts", "moves"),
    [(corridor.GAME, ["$.@.D", "$..@$...D", "@$$D", "D.$.@.$.D"], 9), (jugs.GAME, ["2 4 3", "1 3 5", "4 5 3 2"], 6)],
    ids=["corridor", "jugs"],
)
def test_proofs_hold_in_classes_without_limits(game: Game, texts: list[str], moves: int) -> None:
    total = check_class(game, texts, moves, 6)
    assert total.proven, total


@pytest.mark.parametrize("game", [WALK, BOUNDED], ids=["without limits", "with limits"])
@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_proofs_hold_in_random_trees_and_graphs(game: Game, kind: str) -> None:
    sizes = (2, 5, 9, 14, 20, 30, 45)
    total = check_class(game, [f"{k} {size} {kind}" for k, size in enumerate(sizes)], 9, 4)
    assert total.proven >= 0.3 * total.searches, total


@pytest.mark.slow
@pytest.mark.parametrize("game", [WALK, BOUNDED], ids=["without limits", "with limits"])
@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_proofs_hold_in_hundreds_of_random_trees_and_graphs(game: Game, kind: str) -> None:
    rng = Random(7)
    total = check_class(game, [f"{100 + k} {rng.randint(2, 60)} {kind}" for k in range(150)], 12, 4, 1_000)
    assert total.proven >= 0.3 * total.searches, total


def test_the_exhaustive_search_counts_what_it_should() -> None:
    level = corridor.GAME.load("@.D", "short")
    everything = explore(corridor.GAME, level, 3, 100)
    assert (everything.horizon, len(everything.measured)) == (3, 1 + 1 + 2 + 1)
    assert everything.best(parse("OUT - 0.1*ST", corridor.GAME.symbols)) == pytest.approx(0.8)
    assert explore(corridor.GAME, level, 3, 2).horizon == 1
