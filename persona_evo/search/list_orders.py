"""Chooses the open lists of a search and compiles their scores to code over a leaf's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from persona_evo.formula import Formula, parse
from persona_evo.formula.native import Native, NativeSource, Rows, compile_all
from persona_evo.games.core import Game, Level
from persona_evo.personas.lists import (
    CARE,
    CEILING,
    DEFAULT_LISTS,
    DEPTH,
    FEW_LISTS,
    FEW_UNGUIDED_LISTS,
    NEAR,
    OWN,
    UNGUIDED_LISTS,
    UTILITY,
    OpenList,
)
from persona_evo.search.open_lists import FIRST_SCORE
from persona_evo.search.problem import Problem
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import PARENT, STATIC, TreePolicy, own_formula, read_of

MOST_CARES = 4
"""The highest number of metrics that CARE stands for in turn if the game does not name its own."""

SMALL_BUDGET = 1_000
"""Iterations per action of a level. Below this, the planner uses few default lists, and none beside a policy's own."""


ALONE = (OpenList(Formula((OWN,))),)
"""The list of a search with a single one, for a policy that reads what only this search computes (`plan_variables`)."""


class MetricOrder(NamedTuple):
    """An open list whose score reads only metrics, OWN, UTILITY, CEILING and D."""

    score: Formula
    weight: float
    novel: bool


def cares(game: Game, utility: Formula) -> list[Formula]:
    """Return what CARE stands for: the game's own formula, or one formula for each metric to look after.

    These are the metrics that a designer reads as good or bad. Left out are metrics that the utility reads, clocks,
    costly metrics, and flags such as "dead", which outcomes already express.
    """
    if game.care:
        return [own_formula(game, game.care, utility)]
    found = [
        m
        for m in game.metrics
        if m.better != "neutral"
        and m.symbol not in utility.symbols
        and not (m.clock or m.costly)
        and not (m.low == 0 and m.high == 1 and not m.ratio)
    ]
    signs = {"higher": "", "lower": "-"}
    return [parse(signs[m.better] + m.symbol, game.symbols) for m in found[:MOST_CARES]]


def put_in(formula: Formula, symbol: str, value: Formula) -> Formula:
    """Return a formula with a symbol replaced by another formula."""
    return Formula(tuple(t for token in formula.tokens for t in (value.tokens if token == symbol else (token,))))


def chosen(
    settings: SearchSettings, policy: TreePolicy, utility: Formula, budget: Budget, level: Level, game: Game
) -> tuple[OpenList, ...]:
    """Return the lists to search with: those of the policy or the settings, or defaults that fit the level and budget.

    Lists of a policy are made for small budgets. With more iterations, the default lists join them, to find what the
    policy passes over. If the policy has no score of its own, they follow the score of its list with the most turns.
    """
    if settings.lists != DEFAULT_LISTS:
        return policy.lists or settings.lists
    few = budget.iterations is not None and budget.iterations < SMALL_BUDGET * level.max_actions
    if policy.lists and few:
        return policy.lists
    if policy.lists:
        own = max(policy.lists, key=lambda one: one.weight).score
        alone = policy.formula is None and OWN not in game.symbols
        more = [replace(one, score=put_in(one.score, OWN, own)) if alone else one for one in DEFAULT_LISTS]
        return (*policy.lists, *(one for one in more if one not in policy.lists))
    if policy.formula == utility and not game.targets:
        return DEFAULT_LISTS  # of which the first follows the utility alone
    if policy.formula == utility:
        return FEW_UNGUIDED_LISTS if few else UNGUIDED_LISTS
    return FEW_LISTS if few else DEFAULT_LISTS


def stands_for(game: Game, utility: Formula, bounded: bool) -> tuple[str, ...]:
    """Return the names in LIST_VARIABLES that list scores can read in a game, except OWN, which depends on the policy.

    Args:
        bounded: whether the game reports what can still be reached.
    """
    known = {UTILITY: True, CARE: bool(cares(game, utility)), NEAR: bool(game.targets), CEILING: bounded, DEPTH: True}
    return tuple(name for name, usable in known.items() if usable and name not in game.symbols)


def orders(
    lists: Sequence[OpenList], game: Game, utility: Formula, own: Formula | None, bounded: bool
) -> tuple[list[MetricOrder], list[str]]:
    """Return the lists that a search can use, and the reasons why the others are left out.

    A list that reads CARE or NEAR is split into one list for each formula that the symbol stands for; these share its
    weight. If no list is left, one list orders leaves by the utility.
    """
    metrics, found, left_out = set(game.symbols), [], []
    turns = {CARE: cares(game, utility), NEAR: [parse(symbol, game.symbols) for symbol in game.targets]}
    reasons = {
        OWN: "" if own is not None else "the policy has no score of its own",
        CEILING: "" if bounded else "the game does not say what can still be reached",
        CARE: "" if turns[CARE] else "the game has no metrics that CARE could stand for",
        NEAR: "" if turns[NEAR] else "the game has no ways to anything among its metrics",
    }
    for one in lists:
        read = one.score.symbols - metrics
        why = next((reasons[symbol] for symbol in sorted(read) if reasons.get(symbol)), "")
        if why:
            left_out.append(f"the list {one.score.text!r} is left out: {why}")
            continue
        scores = [one.score]
        for symbol in sorted(read & turns.keys()):
            scores = [put_in(score, symbol, value) for score in scores for value in turns[symbol]]
        found += [MetricOrder(score, one.weight / len(scores), one.novel) for score in scores]
    if not found:
        left_out.append("no list is left, so the search goes by the utility")
        found = [MetricOrder(utility, 1.0, True)]
    return found, left_out


def left_out(game: Game, level: Level, utility: Formula, policy: TreePolicy, settings: SearchSettings) -> list[str]:
    """Return why given lists are not used. Default lists are not reported."""
    if policy.lists and not settings.lists:
        return [f"its open lists are left out: the search {settings.preset_name!r} has a single one"]
    if not settings.lists or policy.holds != STATIC or (settings.lists == DEFAULT_LISTS and not policy.lists):
        return []
    problem = Problem.of(game, level, utility)
    return orders(policy.lists or settings.lists, game, utility, policy.formula, problem.bounded)[1]


@dataclass(frozen=True)
class ListScores:
    """The distinct scores of open lists (see `open_lists.Scores`).

    Attributes:
        own: the formula that OWN stands for.
        orders: the lists.
        symbols: the symbols of the game's metrics. They take precedence over OWN and similar names.
        planned: whether `own` may read values of the parent (see `TreePolicy.planned`).
    """

    own: Formula
    orders: tuple[MetricOrder, ...]
    symbols: tuple[str, ...]
    planned: bool = False

    @cached_property
    def scores(self) -> list[Formula]:
        """Each distinct score once."""
        return list(dict.fromkeys(one.score for one in self.orders))

    @cached_property
    def symbols_read(self) -> frozenset[str]:
        """The metrics, and the search's own variables, that the scores read."""
        return read_of(self.own.symbols.union(*(one.score.symbols for one in self.orders)))

    @property
    def columns(self) -> list[int]:
        """The column of `ranks` that holds the score of each list."""
        return [FIRST_SCORE + self.scores.index(one.score) for one in self.orders]

    @cached_property
    def row(self) -> tuple[str, ...]:
        """The names in a leaf's row: metrics, UTILITY, CEILING, D and, if they are read, the parent's values."""
        known = (*self.symbols, UTILITY, CEILING)
        parents = [symbol + PARENT for symbol in known]
        read = self.planned and not self.own.symbols.isdisjoint(parents)
        names = (UTILITY, CEILING, DEPTH, *(parents if read else ()))
        return (*self.symbols, *(name if name not in self.symbols else f" {name}" for name in names))

    @property
    def source(self) -> NativeSource:
        """The function `void write(const double *leaf, double *found)`, where `leaf` follows `row`."""
        own = {} if OWN in self.symbols else {OWN: self.own}
        scores = [put_in(score, name, value) for score in self.scores for name, value in own.items()] or self.scores
        return Rows(tuple(scores), self.row)

    @cached_property
    def code(self) -> Native:
        """This function, compiled."""
        return compile_all([self.source])[0]


@lru_cache(maxsize=256)
def list_scores(
    lists: tuple[OpenList, ...], game: Game, utility: Formula, policy: TreePolicy, bounded: bool
) -> ListScores:
    """Return the scores of the lists that a search uses; cached, since policies are searched with on many levels.

    Args:
        lists, game, utility, bounded: see `orders`.
        policy: the policy, whose score OWN stands for.
    """
    found, _ = orders(lists, game, utility, policy.formula, bounded)
    return ListScores(policy.formula or utility, tuple(found), game.symbols, policy.planned)


def scores_for(settings: SearchSettings, policy: TreePolicy, problem: Problem, budget: Budget) -> ListScores:
    """Return the scores of the lists with which a problem is searched."""
    game, utility = problem.game, problem.utility
    lists: tuple[OpenList, ...] = ALONE
    if settings.lists:
        lists = chosen(settings, policy, utility, budget, problem.level, game)
    return list_scores(lists, game, utility, policy, problem.bounded)
