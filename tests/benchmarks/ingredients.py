"""The value of each ingredient of the preset `modern`: one at a time is removed or changed, the others stay.

Ingredients of the search are tested with the shipped policies (which read the state alone) and with UCB1 (which reads
the search). Those of the evolution are tested by new evolutions with several seeds, whose policies play all maps.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from persona_evo.evolve import run as evolution
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.formula import parse
from persona_evo.games.mapsets import resolve
from persona_evo.jobs.workers import cores
from persona_evo.personas import Persona
from persona_evo.playtest.players import Player
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policies, policy_library

from .levels import game, maps
from .study import Row, Table, Tell, personas, played

ITERATIONS = 60_000
LONGER = 40
"""Iterations of a playthrough with an evolved policy, as a multiple of those in the evolution."""

BUDGETS = (2_000, 6_000, 20_000, 120_000, 240_000, 480_000)
"""Iterations of a playthrough; the last three are 2, 4 and 8 times the usual, to see what UCB1 needs to come near."""

SEARCH: Mapping[str, tuple[str, dict[str, Any]]] = {
    "cut-off": ("finished subtrees are selected again", {"terminal": "revisit", "selection": "child"}),
    "anytime": ("ends at the first selected win", {"stop": "first_win"}),
    "anytime, ends of rollouts": ("plans end in the tree", {"watch": "tree"}),
    "transpositions": ("off", {"transpositions": "off"}),
    "transpositions, merged": ("merge", {"transpositions": "merge", "selection": "child"}),
    "best leaf anywhere": ("by child", {"selection": "child"}),
    "playing on to a win": ("off", {"finish": 0.0}),
    "rollout": ("none", {"rollout": 0}),
    "longer rollout": ("30 moves", {"rollout": 30}),
    "informed rollout": ("10 moves toward things", {"variant": "informed"}),
    "longer informed rollout": ("30 moves toward things", {"variant": "informed", "rollout": 30}),
    "expansion": ("random", {"expansion": "random"}),
    "R": ("the mean alone", {"value": "mean"}),
    "all of the above": ("preset paper", dict(SearchSettings.paper().to_dict())),
}
"""Ingredient -> (its replacement in words, the settings)."""

EVOLUTION: Mapping[str, tuple[str, dict[str, Any]]] = {
    "distances to targets": ("without", {"costly": False}),
    "seeded first population": ("random alone", {"first": ()}),
    "library in the first population": ("the policies that ship, too", {"first": ("ucb1", "utility", "library")}),
    "re-evaluation": ("the first evaluation counts", {"reevaluations": 1, "rounds": 0}),
    "selection over levels": ("tournament on the mean", {"pool": "tournament"}),
    "more functions": ("+ - * / alone", {"functions": "basic"}),
    "no duplicates": ("duplicates are evaluated", {"duplicates": "off", "unique_tries": 0}),
    "twice the generations": ("30", {"generations": 30}),
    "score from the state alone": ("R too", {"variables": "paper"}),
    "extended variables": ("R N P D RMAX RSD too", {"variables": "extended"}),
}

SMALL: dict[str, Any] = {"population": 30, "generations": 15, "final_candidates": 5, "final_trials": 5}
"""Settings of the compared evolutions."""

NEAREST = "min(if(NM, NM, 1), min(if(NT, NT, 1), if(NP, NP, 1)))"
INFORMED = {
    "runner": "-NE - 0.03*ST",
    "monster_killer": "MS - 0.2*NM - 0.003*ST",
    "treasure_collector": "TO + 0.1*HL - 0.1*NT - 0.02*NE - 0.003*ST",
    "completionist": f"IC*MS + 1.19*IC - 0.1*{NEAREST} - 0.002*ST",
}
"""Handwritten formulas that lead to each persona's goal."""


def _shipped(persona: Persona) -> TreePolicy:
    return policy_library.find(persona.name, "minidungeons2").tree_policy(game())


def _by_hand(name: str, formula: str) -> TreePolicy:
    return TreePolicy(name, parse(formula, game().symbols))


def of_search(
    trials: int, iterations: int = ITERATIONS, names: Sequence[str] = (), tell: Tell | None = None
) -> list[Row]:
    """Return rows about the search.

    Args:
        names: names of ingredients, "budget" and "policy"; all if none.
    """
    kept, table, whole = list(personas().values()), Table(tell), SearchSettings.anytime()
    ucb1 = TreePolicy.ucb1()
    players = [Player(p, policy, f"{p.name} {policy.name}") for p in kept for policy in (_shipped(p), ucb1)]

    def play(
        what: str, value: str, players: Sequence[Player], n: int = iterations, changes: Mapping[str, Any] | None = None
    ) -> list[Row]:
        return played("search", what, value, players, maps(), trials, n, replace(whole, **(changes or {})))

    base = table.add(play("everything", "preset anytime", players))
    for name, (value, changes) in SEARCH.items():
        if not names or name in names:
            table.add(play(name, value, players, changes=changes), base)
    if not names or "budget" in names:
        for budget in BUDGETS:
            table.add(play("budget", str(budget), players, budget), base)
    if not names or "policy" in names:
        plain = [Player(p, _by_hand("utility", str(p.utility)), p.name) for p in kept]
        table.add(play("policy", "the utility itself", plain))
        near = [Player(p, _by_hand("by hand", INFORMED[p.name]), p.name) for p in kept]
        table.add(play("policy", "by hand, the way to the nearest target", near))
    return table.rows


def of_evolution(
    persona: str,
    seeds: Sequence[int],
    trials: int,
    names: Sequence[str] = (),
    tell: Tell | None = None,
    iterations: int = 1_500,
    small: Mapping[str, Any] = SMALL,
) -> list[Row]:
    """Return rows about the evolution of one persona, trained on the shipped levels and played on all maps.

    A row's interval is that of the mean over the evolutions (Student's t), which is wide for few.
    """
    who, table = personas()[persona], Table(tell)
    variants: dict[str, tuple[str, dict[str, Any]]] = {"everything": ("preset modern", {}), **EVOLUTION}
    base: Row | None = None
    for name, (value, changes) in variants.items():
        if names and name not in names and name != "everything":
            continue
        results = [_evolved(who, seed, {**small, **changes}, trials, iterations, name, value) for seed in seeds]
        row = _together(results)
        if base is None:
            base = row
        else:
            half = math.hypot(row.half_width, base.half_width)
            row = replace(row, difference=row.utility - base.utility, difference_half_width=half)
        table.add([row])
    return table.rows


def _evolved(
    who: Persona, seed: int, changes: Mapping[str, Any], trials: int, iterations: int, name: str, value: str
) -> Row:
    settings = EvolutionSettings.of("modern", **changes)
    with tempfile.TemporaryDirectory() as folder:
        outcome = evolution.evolve(
            EvolutionTask(game(), who, resolve(game(), ["train"]), settings, seed, budget=Budget(iterations)),
            root=Path(folder),
            name="run",
            jobs=cores(),
        )
        if outcome.policy is None:
            raise KeyboardInterrupt
        policy = policies.read(outcome.policy).tree_policy(game())
    player = Player(who, policy, who.name)
    return played("evolution", name, value, [player], maps(), trials, LONGER * iterations, SearchSettings.anytime())[0]


def _together(rows: Sequence[Row]) -> Row:
    """Combine rows of the same setting with several seeds to one row."""
    from scipy.stats import t

    values = [r.utility for r in rows]
    n = len(values)
    half = float(t.ppf(0.975, n - 1)) * stdev(values) / math.sqrt(n) if n > 1 else math.inf
    return replace(
        rows[0],
        of=f"{n} evolutions",
        playthroughs=sum(r.playthroughs for r in rows),
        utility=fmean(values),
        half_width=half,
        win_rate=fmean(r.win_rate for r in rows),
        seconds=fmean(r.seconds for r in rows),
    )
