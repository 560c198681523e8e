"""The players and levels of the planner's benchmark, and the playthroughs of one pair of level and persona."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from persona_evo.formula import Formula
from persona_evo.games.core import WON, Level
from persona_evo.games.generating import generate
from persona_evo.games.mapsets import resolve
from persona_evo.personas import Persona, catalog
from persona_evo.search.plan import Budget, Plan, Planner, SearchSettings, TreePolicy, capacity_for
from persona_evo.store import policy_library

from . import small_levels
from .levels import game, shared

PERSONAS = {"runner": "R", "monster_killer": "MK", "treasure_collector": "TC", "completionist": "C"}
"""The four personas of the paper and their names in tables."""

OWN_METRIC = {"runner": "ST", "monster_killer": "MS", "treasure_collector": "TO", "completionist": "IC"}
"""The metric that each persona seeks: no other persona should have more of it (of ST: less)."""

GENERATED_SEED, HELD_OUT_SEED = 1, 9_001
"""Seeds of the levels for development, and of the levels that are not used for tuning."""

GROUPS = {
    "shipped": "the levels that ship with the game",
    "generated": "generated caves, rooms and halls",
    "paper": "the paper's maps",
    "real": "levels of other designers",
    "held_out": "levels never tuned on (generated)",
}
"""Sets of levels and their descriptions."""

PLANNER, UTILITY, UCB1, SINGLE = "planner", "planner, no policy", "UCB1", "single"
REFERENCE = "reference"
"""A player with a larger budget that only contributes to the best known utility, if nothing is proven."""


@dataclass(frozen=True)
class Contender:
    """A player.

    Attributes:
        name: the name in tables.
        settings: settings of the search.
        policy: `shipped`, `utility`, or `ucb1`.
    """

    name: str
    settings: SearchSettings
    policy: str = "shipped"

    def tree_policy(self, persona: Persona) -> TreePolicy:
        """Return the policy with which it plays a persona."""
        if self.policy == "ucb1":
            return TreePolicy.ucb1()
        return TreePolicy.utility(persona.utility) if self.policy == "utility" else shipped(persona.name)


class Result(NamedTuple):
    """One playthrough.

    Attributes:
        group, level, persona, player, iterations, seed: what was played.
        utility: the utility at its end.
        won: whether it was won.
        proven: whether its plan is proven to be the best.
        cpu: seconds of processor time.
        steps, slain, opened, consumed: ST, MS, TO and IC at its end.
    """

    group: str
    level: str
    persona: str
    player: str
    iterations: int
    seed: int
    utility: float
    won: bool
    proven: bool
    cpu: float
    steps: float
    slain: float
    opened: float
    consumed: float

    def metric(self, symbol: str) -> float:
        """Return one of the personas' own metrics."""
        return {"ST": self.steps, "MS": self.slain, "TO": self.opened, "IC": self.consumed}[symbol]


@dataclass(frozen=True)
class Pair:
    """A level and a persona. The level is given as text, which is sent to workers."""

    group: str
    level: str
    text: str
    persona: str


@dataclass(frozen=True)
class Match:
    """The playthroughs: each player with each budget.

    Attributes:
        contenders: the players.
        budgets: iterations.
        seeds: number of seeds by player.
        reference: iterations of the reference, 0 for none.
    """

    contenders: tuple[Contender, ...]
    budgets: tuple[int, ...]
    seeds: dict[str, int]
    reference: int


def contenders(ablation: bool = True) -> list[Contender]:
    """Return all players; with the ablation, also the planner without each of its lists."""
    whole = SearchSettings.anytime()
    found = [
        Contender(PLANNER, whole),
        Contender(UTILITY, whole, "utility"),
        Contender(UCB1, SearchSettings.single(), "ucb1"),
        Contender(SINGLE, SearchSettings.single()),
    ]
    for k, left_out in enumerate(whole.lists if ablation else ()):
        name = f"without {'novel ' if left_out.novel else ''}{left_out.score.text}"
        found.append(Contender(name, replace(whole, lists=whole.lists[:k] + whole.lists[k + 1 :])))
    return found


@cache
def personas() -> dict[str, Persona]:
    """Return the four personas of the paper by name."""
    return {p.name: p for p in catalog(game()) if p.name in PERSONAS}


@cache
def shipped(persona: str) -> TreePolicy:
    """Return the shipped policy that was evolved for a persona."""
    return policy_library.find(persona, game().name).tree_policy(game())


def levels_of(group: str, count: int, held_out_seed: int = HELD_OUT_SEED) -> list[Level]:
    """Return the first levels of a group; none if the shared data is missing."""
    if group in ("generated", "held_out"):
        seed = GENERATED_SEED if group == "generated" else held_out_seed
        return generate(game(), count, seed, "train" if group == "generated" else "held out")
    if group == "shipped":
        return list(resolve(game(), ["train", "test"]))[:count]
    folder = shared("levels/md2")
    names = ("map*.txt", ".") if group == "paper" else ("*.txt", "extra")
    paths = [] if folder is None else sorted((folder / names[1]).glob(names[0]))
    read = (small_levels.loaded(path.read_text(encoding="utf-8"), path.stem) for path in paths)
    return [level for level in read if level is not None][:count]


def play(pair: Pair, match: Match) -> list[Result]:
    """Play all playthroughs of a pair; those of the reference come last."""
    level = game().load(pair.text, pair.level)
    warm(match.contenders)
    fill(level, personas()[pair.persona])
    found: list[Result] = []
    for iterations in match.budgets:
        for contender in match.contenders:
            found += played(pair, level, contender, Budget(iterations), range(match.seeds[contender.name]))
    if match.reference and not any(result.proven for result in found):
        for contender in (
            Contender(REFERENCE, SearchSettings.anytime()),
            Contender(REFERENCE, SearchSettings.anytime(), "utility"),
            Contender(REFERENCE, SearchSettings.single()),
        ):
            found += played(pair, level, contender, Budget(match.reference), range(1_000, 1_001))
    return found


def played(pair: Pair, level: Level, who: Contender, budget: Budget, seeds: Sequence[int]) -> Iterator[Result]:
    """Yield one playthrough for each seed, all in the memory of one planner, as in a playtest."""
    persona = personas()[pair.persona]
    policy = who.tree_policy(persona)
    planner = Planner(game(), level, who.settings, capacity_for(budget))
    for seed in seeds:
        plan, cpu = timed(planner, persona.utility, policy, budget, seed)
        metrics = plan.metrics
        yield Result(
            pair.group,
            pair.level,
            pair.persona,
            who.name,
            budget.iterations or 0,
            seed,
            plan.best_utility,
            plan.outcome == WON,
            plan.proven,
            cpu,
            metrics["ST"],
            metrics["MS"],
            metrics["TO"],
            metrics["IC"],
        )


def timed(planner: Planner, utility: Formula, policy: TreePolicy, budget: Budget, seed: int) -> tuple[Plan, float]:
    """Return a plan, and the processor time that it took."""
    began = time.process_time()
    return planner.plan(utility, policy, budget, seed), time.process_time() - began


@cache
def warm(who: tuple[Contender, ...]) -> None:
    """Compile everything in this process, or load it from disk, before anything is timed."""
    level = small_levels.small(0)
    for contender in who:
        for persona in personas().values():
            policy = contender.tree_policy(persona)
            Planner(game(), level, contender.settings, 64).plan(persona.utility, policy, Budget(50), 0)


def fill(level: Level, persona: Persona) -> None:
    """Fill a level's tables (such as ways of monsters), so that the first player does not pay for them."""
    planner = Planner(game(), level, SearchSettings.single(), 3_000)
    planner.plan(persona.utility, TreePolicy.ucb1(), Budget(2_000), 0)
