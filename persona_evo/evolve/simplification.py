"""Simplifies a policy's formula or open lists later if there was no time when the policy was written."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from persona_evo.evolve import reopening, shortening
from persona_evo.evolve.explanation import in_words, lists_in_words, meanings
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.winner import simplified
from persona_evo.formula import parse
from persona_evo.formula.simplify import SHARED, simplify
from persona_evo.games import mapsets
from persona_evo.games.core import Game, Level
from persona_evo.games.level_ranges import LevelEntry
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import columns_for, plan_variables, variables
from persona_evo.store import runs
from persona_evo.store.policies import Policy


def simplify_policy(policy: Policy, game: Game) -> Policy:
    """Return a policy with its formula simplified as its evolution would have done without a deadline.

    States to check the shorter form on come from the levels of the policy's run, if the file is in a run's folder, or
    else from levels it was trained on that ship with the game. Without any, states are made up.

    Raises:
        RunError: the run's configuration is damaged.
    """
    spec, levels = _trained(policy, game)
    utility = parse(policy.utility, game.symbols) if policy.utility else None
    unfinished = tuple(step for step in policy.unfinished if step != "simplification")
    if policy.kind == "lists" and not policy.formula:
        short = shortening.of_lists(policy.lists, game, levels, utility)
        return dataclasses.replace(
            policy,
            lists=short.lists,
            simplification=short.reason,
            metrics=meanings(short.scores, game),
            words=lists_in_words(short.lists, game, levels, utility),
            unfinished=unfinished,
        )
    formula = parse(policy.formula, (*variables(game), *plan_variables(game)))
    everywhere = not formula.symbols.isdisjoint(plan_variables(game))
    result = (
        simplified(formula, spec)
        if spec is not None
        else simplify(
            formula, columns_for(formula, game), choice_only=not everywhere, shared=() if everywhere else SHARED
        )
    )
    return dataclasses.replace(
        policy,
        simplified=result.text if result.replaced else "",
        simplification=result.reason,
        metrics=meanings([result.formula], game),
        words=in_words(result.formula, game, levels, utility),
        unfinished=unfinished,
    )


def _trained(policy: Policy, game: Game) -> tuple[FitnessSpec | None, list[Level]]:
    """Return the specification a policy was evolved with, if it is known here, and levels it was trained on."""
    folder = Path(policy.file).parent
    if (folder / runs.CONFIG).is_file():
        spec = reopening.spec_of(folder, game.name)
        return spec, [level.load(game) for level in spec.levels]
    known = mapsets.shipped(game).levels
    levels = [mapsets.load(game, LevelEntry(known[name]), name, {}) for name in policy.levels if name in known]
    if not levels or not policy.utility or policy.agent or game.players > 1:
        return None, levels
    search = SearchSettings.from_dict(policy.search) if policy.search else SearchSettings.single()
    budget = Budget.from_dict(policy.budget) if policy.budget else Budget()
    return FitnessSpec.of(game.name, levels, parse(policy.utility, game.symbols), search, budget), levels
