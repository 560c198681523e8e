"""The engine compared with the yardstick in C++: random turns, UCB1, formulas, levels of all sizes, bytes per node.

Results are compared before times: the same random games, as many nodes, the same best plan. Then both run in turn. The
table shows the median and the quartiles of the ratios of their rates in each round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from persona_evo.formula import Formula, parse
from persona_evo.games.core import Level
from persona_evo.search.plan import Budget, Plan, Planner, SearchSettings, TreePolicy
from persona_evo.search.tree import SLOT
from persona_evo.search.tree_search import TreeSearch
from persona_evo.seeds import below, stream
from tests import shared

from . import turns, yardstick
from .caverns import cavern
from .levels import game, maps, which
from .report import SHORT, Row, compared, judge, skipped
from .timing import interleaved
from .yardstick import Found, Map, Searcher, Unavailable

LONGEST = 200
"""Largest number of turns of a playout and of moves from the root of a tree: the game's horizon."""

ROLLOUT = 10
SEED = 7

UTILITY = "0.7 * MS + 0.3 * PE - 5 * DEAD"
"""The monster killer's utility, which is built into the yardstick."""

FORMULAS = {
    "R and metrics": (yardstick.METRICS, "R + 0.5 * MS + 0.3 * PE - WON - DEAD - 0.02 * ST"),
    "R, metrics and N": (yardstick.VISITS, "R + MS + 0.3 * PE - WON - DEAD - 0.01 * N"),
    "R, metrics, N and P": (yardstick.PARENTS, "R + MS + PE - WON - DEAD + 2 * sqrt(2 * log(P) / N)"),
}
"""Tree policies that are also built into the yardstick; at least SEARCHING of their iterations add a node."""

SEARCHING = 0.9
"""Nodes per iteration below which a search does little except select finished nodes again."""

UCB1_SHARE, FORMULA_SHARE, TURNS_SHARE, BYTES = 0.8, 0.65, 0.9, 100


class Effort(NamedTuple):
    """The amount of measurements.

    Attributes:
        turns: turns of a piece of random games.
        compared: turns whose metrics are compared.
        counts: (levels, rounds) by iterations of searches under UCB1.
        formula: iterations of searches by formulas.
        sizes: sides of the generated levels.
        rounds: number of all other measurements.
    """

    turns: int
    compared: int
    counts: dict[int, tuple[int, int]]
    formula: int
    sizes: tuple[int, ...]
    rounds: int


QUICK = Effort(20_000, 500, {1_000: (11, 5), 10_000: (11, 3)}, 5_000, (8, 16, 32, 64), 3)
USUAL = Effort(
    100_000,
    5_000,
    {1_000: (11, 21), 10_000: (11, 11), 100_000: (11, 5), 1_000_000: (3, 3)},
    20_000,
    (8, 12, 16, 24, 32, 48, 64),
    11,
)
FULL = USUAL._replace(counts=USUAL.counts | {1_000_000: (11, 5), 10_000_000: (1, 3)})


def to_the_end() -> SearchSettings:
    """Return the paper's rules of the search without the end at a win, so that every search does all its iterations."""
    return replace(SearchSettings.paper(), stop="budget")


@cache
def utility() -> Formula:
    """Return the utility of all searches."""
    return parse(UTILITY, game().symbols)


@dataclass(frozen=True)
class Field:
    """A level for both sides.

    Attributes:
        name: the name in tables.
        level: the level.
        text: the text of its file.
    """

    name: str
    level: Level
    text: str


@cache
def fields() -> tuple[Field, ...]:
    """Return the maps that the figures are means of."""
    return tuple(Field(m.name, m, Path(m.source).read_text(encoding="utf-8")) for m in maps())


@cache
def caverns(sizes: tuple[int, ...]) -> tuple[Field, ...]:
    """Return levels of these sizes, generated from one seed."""
    made = ((f"{n}x{n}", cavern(n, seed=n)) for n in sizes)
    return tuple(Field(name, game().load(text, name), text) for name, text in made)


# results


def first_difference(field: Field, count: int, seed: int) -> int | None:
    """Return the turn after which the metrics of both sides differ; None if they are always the same.

    Python plays move by move by the game's rules; then both sides play on without a comparison.
    """
    on, rules, rng, made = Map(field.text, LONGEST), game().rules(), stream(seed), 0
    wanted, level = on.trace(count, stream(seed)), field.level
    state, actions = level.start.copy(), np.zeros(level.max_actions, dtype=np.int64)
    for turn in range(count):
        if made == LONGEST or rules.over(level.tables, state):
            state, made = level.start.copy(), 0
        rules.step(level.tables, state, int(actions[below(rng, rules.legal(level.tables, state, actions))]), rng)
        made += 1
        metrics = game().measure(level, state)
        if [metrics[symbol] for symbol in yardstick.TRACED] != wanted[turn].tolist():
            return turn
    ours, theirs = stream(seed), stream(seed)
    same = turns.playouts(game(), level, 20 * count, LONGEST, ours) == on.playouts(20 * count, theirs)
    return None if same and np.array_equal(ours, theirs) else count


def same(plan: Plan, found: Found) -> bool:
    """Return whether a search of ours and one of the yardstick have the same result."""
    ours = (plan.iterations, plan.nodes, plan.utility, len(plan.actions), plan.metrics["WON"] == 1)
    return ours == tuple(found)


class Pair:
    """The same search on both sides.

    Args:
        field: the level.
        iterations: iterations of the search.
        kind: kind of the yardstick's search.
        policy: the same policy for our search.
    """

    def __init__(self, field: Field, iterations: int, kind: int, policy: TreePolicy) -> None:
        self.field, self.iterations, self._kind, self._policy = field, iterations, kind, policy
        self.planner = Planner(game(), field.level, to_the_end(), iterations + 1)
        self.searcher = Searcher(Map(field.text, LONGEST), iterations, ROLLOUT)
        self._budget = Budget(iterations=iterations)

    def ours(self) -> Plan:
        """Run our search."""
        return self.planner.plan(utility(), self._policy, self._budget, SEED)

    def theirs(self) -> Found:
        """Run the yardstick's search."""
        return self.searcher.search(self._kind, self.iterations, stream(SEED))


# times


def _rates(works: dict[str, Callable[[], object]], amount: int, rounds: int) -> dict[str, list[float]]:
    """Return the amount per second of each side, round by round."""
    return {side: [amount / t for t in times] for side, times in interleaved(works, rounds).items()}


def _ratios(rates: Sequence[dict[str, list[float]]]) -> tuple[list[float], float, float]:
    """Return the ratios of our mean rate over all levels to the yardstick's by round, then the medians of both."""
    ours, theirs = ([fmean(r) for r in zip(*(of[side] for of in rates), strict=True)] for side in ("ours", "theirs"))
    return [a / b for a, b in zip(ours, theirs, strict=True)], median(ours), median(theirs)


def measure_turns(effort: Effort) -> list[Row]:
    """Measure random turns of the hero."""
    what, reach = f"random hero turns, {which()}", f"at least {TURNS_SHARE} of the yardstick"
    for field in fields():
        at = first_difference(field, effort.compared, 3)
        if at is not None:
            return [Row(what, reach, f"the rules differ on {field.name} after {at} turns", None, SHORT)]
    rates = []
    for field in fields():
        on, level, count = Map(field.text, LONGEST), field.level, effort.turns
        rates.append(
            _rates(
                {
                    "ours": lambda v=level, n=count: turns.playouts(game(), v, n, LONGEST, stream(1)),  # type: ignore[misc]
                    "theirs": lambda v=on, n=count: v.playouts(n, stream(1)),  # type: ignore[misc]
                },
                count,
                effort.rounds,
            )
        )
    ratios, ours, theirs = _ratios(rates)
    measured = f"{ours / 1e6:.1f} M/s, yardstick {theirs / 1e6:.1f} M/s; {effort.compared * len(rates):,} states equal"
    return [compared(what, reach, measured, ratios, TURNS_SHARE)]


def _searches(
    what: str,
    share: float,
    where: Iterable[Field],
    iterations: int,
    kind: int,
    policy: TreePolicy,
    rounds: int,
    least: float = 0.0,
) -> Row:
    """Measure one kind of search on each level on both sides.

    Args:
        least: smallest number of nodes per iteration.
    """
    reach, rates = f"at least {share} of the yardstick" if share else "", []
    for field in where:
        pair = Pair(field, iterations, kind, policy)
        plan, found = pair.ours(), pair.theirs()
        if not same(plan, found):
            return Row(
                what,
                reach,
                f"the searches differ on {field.name}: {plan.nodes} nodes and {plan.utility:.6f}, "
                f"yardstick {found.nodes} and {found.utility:.6f}",
                None,
                SHORT,
            )
        if plan.nodes < least * iterations:
            return Row(what, reach, f"only {plan.nodes} nodes on {field.name}: no fair measure", None, SHORT)
        again = max(1, 10_000 // iterations)
        rates.append(
            _rates(
                {
                    "ours": lambda p=pair, n=again: [p.ours() for _ in range(n)],  # type: ignore[misc]
                    "theirs": lambda p=pair, n=again: [p.theirs() for _ in range(n)],  # type: ignore[misc]
                },
                again * iterations,
                rounds,
            )
        )
    ratios, ours, theirs = _ratios(rates)
    measured = f"{ours / 1e3:,.0f} k/s, yardstick {theirs / 1e3:,.0f} k/s; results equal"
    return compared(what, reach, measured, ratios, share)


def measure_ucb1(effort: Effort) -> list[Row]:
    """Measure UCB1 with growing numbers of iterations."""
    rows, ucb1 = [], TreePolicy.ucb1()
    for iterations, (count, rounds) in effort.counts.items():
        what = f"UCB1, {iterations:,} iterations, {count} of {which()}"
        rows.append(_searches(what, UCB1_SHARE, fields()[:count], iterations, yardstick.UCB1, ucb1, rounds))
    return rows


def measure_bytes() -> list[Row]:
    """Measure the memory of trees of 100,000 nodes."""
    sizes = []
    for field in fields():
        searcher = Searcher(Map(field.text, LONGEST), 100_000, ROLLOUT)
        searcher.search(yardstick.UCB1, 100_000, stream(SEED))
        sizes.append((bytes_per_node(field.level, 100_000), searcher.bytes_per_node()))
    ours, theirs = (max(side) for side in zip(*sizes, strict=True))
    measured = f"{ours:.0f}, yardstick {theirs:.0f}, the most of all maps"
    return [judge(f"bytes a node under UCB1, {which()}", f"at most {BYTES}", measured, BYTES / ours)]


def bytes_per_node(level: Level, iterations: int) -> float:
    """Return the memory of a tree per node, including free places in blocks of children."""
    planner = Planner(game(), level, to_the_end(), iterations + 1)
    run = TreeSearch(planner, planner.level.start, 0, utility(), TreePolicy.ucb1(), SEED, None)
    run.spend(Budget(iterations=iterations), 0.0)
    return shared.bytes_per_node(planner.memory, run.tree, int(run.tree.nodes[: run.nodes, SLOT].max()) / run.nodes)


def measure_formulas(effort: Effort) -> list[Row]:
    """Measure formulas as tree policies."""
    rows = []
    for name, (kind, text) in FORMULAS.items():
        what = f"formula of {name}, {effort.formula:,} iterations, {which()}"
        policy = TreePolicy.of(text, game(), name)
        rows.append(_searches(what, FORMULA_SHARE, fields(), effort.formula, kind, policy, effort.rounds, SEARCHING))
    return rows


def measure_sizes(effort: Effort) -> list[Row]:
    """Measure UCB1 on levels of growing size.

    It is compared with the yardstick up to the largest level that this takes, and with the smallest level.
    """
    rows, first, iterations, ucb1 = [], 0.0, 10_000, TreePolicy.ucb1()
    for field in caverns(effort.sizes):
        planner = Planner(game(), field.level, to_the_end(), iterations + 1)
        search = partial(planner.plan, utility(), ucb1, Budget(iterations=iterations), SEED)
        search()
        rate = median(_rates({"ours": search}, iterations, effort.rounds)["ours"])
        first = first or rate
        what = f"UCB1, {iterations:,} iterations, a level of {field.name}"
        size = bytes_per_node(field.level, iterations)
        scale = f"{rate / first:.2f} of the rate on the smallest level, {size:.0f} bytes a node"
        try:
            row = _searches(what, 0.0, [field], iterations, yardstick.UCB1, ucb1, effort.rounds)
            rows.append(replace(row, measured=f"{row.measured}; {scale}"))
        except Unavailable:
            rows.append(Row(what, "", f"{rate / 1e3:,.0f} k/s; {scale}; too large for the yardstick"))
    return rows


def measure(effort: Effort) -> list[Row]:
    """Measure everything that is compared with the yardstick."""
    try:
        yardstick.library()
    except Unavailable as e:
        return [skipped("the engine beside the yardstick", "", str(e))]
    return [
        *measure_turns(effort),
        *measure_ucb1(effort),
        *measure_bytes(),
        *measure_formulas(effort),
        *measure_sizes(effort),
    ]
