"""One search with several open lists (`open_lists`) in a planner's memory: begun, gone on with, asked for its plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from persona_evo.compiling import interpreted
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.formula.encoding import encode_all
from persona_evo.games.core import Game, Level, entry, main_metrics, rule
from persona_evo.personas.lists import DEPTH as MOVES
from persona_evo.personas.lists import (
    CARE, CEILING, DEFAULT_LISTS, FEW_LISTS, FEW_UNGUIDED_LISTS, NEAR, OWN, UNGUIDED_LISTS, UTILITY, OpenList,
)  # fmt: skip
from persona_evo.search import layout
from persona_evo.search.amaf import NO_MARKS
from persona_evo.search.coding import code
from persona_evo.search.pace import Pace
from persona_evo.search.problem import Problem
from persona_evo.search.settings import PROVEN, Budget, SearchSettings
from persona_evo.search.tree import DEPTH, DONE, PARENT, STATUS, VALUES
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive, stream

if TYPE_CHECKING:
    from persona_evo.search.plan import Planner

FIRST_LOOK = 1_000
"""Iterations before the first look at whether the best plan is proven; later ones after as many as were made."""

POLISH = 1
"""Iterations spent on a plan of equal worth that wins or is shorter, for each that it took to prove the best worth."""

MOST_CARES = 4
"""Metrics that CARE stands for in turn, where the game does not say what keeps a player in it."""

SMALL_BUDGET = 1_000
"""Iterations for each action of a level; with fewer the planner's default lists are FEW_LISTS."""

MOST_FACTS = 2**22
"""Entries of the table of what was seen, at most."""

LIMITS = 1_000
"""Depths for which the utility's limit is worked out one by one; deeper states have the limit of the last."""


class Order(NamedTuple):
    """An open list whose score reads nothing but metrics, OWN, UTILITY, CEILING and D."""

    score: Formula
    weight: float
    novel: bool


def cares(game: Game, utility: Formula) -> list[Formula]:
    """What CARE stands for: what the game says, or one formula for each metric that is looked after in turn.

    Those are the metrics that a designer reads as good or bad, without those that the utility reads, clocks, distances
    and flags such as "dead", which outcomes say already.
    """
    if game.care:
        return [parse(game.care, game.symbols)]
    found = [
        m for m in game.metrics
        if m.better != "neutral" and m.symbol not in utility.symbols and not (m.clock or m.costly)
        and not (m.low == 0 and m.high == 1 and not m.ratio)
    ]  # fmt: skip
    signs = {"higher": "", "lower": "-"}
    return [parse(signs[m.better] + m.symbol, game.symbols) for m in found[:MOST_CARES]]


def put_in(formula: Formula, symbol: str, value: Formula) -> Formula:
    """A formula with a symbol replaced by another formula."""
    return Formula(tuple(t for token in formula.tokens for t in (value.tokens if token == symbol else (token,))))


def chosen(
    settings: SearchSettings, policy: TreePolicy, utility: Formula, budget: Budget, level: Level
) -> tuple[OpenList, ...]:
    """The lists to search with: the policy's or the settings' own, or the defaults as they fit level and budget."""
    if policy.lists or settings.lists != DEFAULT_LISTS:
        return policy.lists or settings.lists
    few = budget.iterations is not None and budget.iterations < SMALL_BUDGET * level.max_actions
    if policy.formula == utility:
        return FEW_UNGUIDED_LISTS if few else UNGUIDED_LISTS
    return FEW_LISTS if few else DEFAULT_LISTS


def orders(
    lists: Sequence[OpenList], game: Game, utility: Formula, own: Formula | None, bounded: bool
) -> tuple[list[Order], list[str]]:
    """The lists that a search can use, and why each of the others is left out.

    A list that reads CARE or NEAR stands for as many as there are formulas that these stand for, which share its
    weight.

    Raises:
        SettingsError: none is left.
    """
    metrics, found, left_out = set(game.symbols), [], []
    turns = {CARE: cares(game, utility), NEAR: [parse(symbol, game.symbols) for symbol in game.targets]}
    reasons = {
        OWN: "" if own is not None else "the policy has no own score",
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
        for symbol in read & turns.keys():
            scores = [put_in(score, symbol, value) for score in scores for value in turns[symbol]]
        found += [Order(score, one.weight / len(scores), one.novel) for score in scores]
    if not found:
        raise SettingsError("no open list is left to search with", found="; ".join(left_out) or "none",
                            expected="a list whose score can be worked out")  # fmt: skip
    return found, left_out


class Coded(NamedTuple):
    """Lists as the engine takes them: postfix code of OWN and the scores, and the column of each list's score."""

    ops: Any
    constants: Any
    ends: Any
    columns: Any
    scores: int


@lru_cache(maxsize=256)
def coded(own: Formula, found: tuple[Order, ...], symbols: tuple[str, ...]) -> Coded:
    """Scores over the metrics, OWN, UTILITY, CEILING and D; a metric with one of these names goes before them."""
    order = [*symbols, *(name if name not in symbols else f" {name}" for name in (OWN, UTILITY, CEILING, MOVES))]
    distinct = list(dict.fromkeys(one.score for one in found))
    words, constants = encode_all([own, *distinct], order)
    return Coded(
        np.array([w for part in words for w in part], dtype=np.int64), np.array(constants or [0.0]),
        np.cumsum([len(part) for part in words]).astype(np.int64),
        np.array([1 + distinct.index(one.score) for one in found], dtype=np.int64), len(distinct),
    )  # fmt: skip


@rule("novelty")
def words_of(t: Any, s: Any, out: Any) -> int:
    """The words of a state, for games that do not say what makes one new."""
    for k in range(len(s)):
        out[k] = s[k]
    return len(s)


class ListSearch:
    """One search with several open lists, which can be gone on with until the planner's next.

    Args:
        planner: whose memory is used.
        utility, policy, budget, seed, progress, polish: see `Planner.plan`; the policy's score never changes.
    """

    def __init__(
        self, planner: Planner, utility: Formula, policy: TreePolicy, budget: Budget, seed: int,
        progress: Callable[[int], None] | None, polish: int,
    ) -> None:  # fmt: skip
        from persona_evo.search import open_lists

        self._planner, self._progress, self._polish = planner, progress, polish
        game, level, tree, opts = planner.game, planner.level, planner._tree, planner._opts
        self._problem = problem = Problem.of(game, level, utility, planner.horizon)
        reaching = game.reach is not None and problem.rises is not None
        bounded = reaching or not problem.constant
        lists = chosen(planner.settings, policy, utility, budget, level)
        found, self.left_out = orders(lists, game, utility, policy.formula, bounded)
        read = utility.symbols.union(*(one.score.symbols for one in found), *(f.symbols for f in [policy.formula] if f))
        self._rules = rules = game.rules_for(read, planner.settings.variant)
        planner._rules = rules
        this = coded(policy.formula or utility, tuple(found), game.symbols)
        n = len(game.metrics)
        tree.lay_out(max(0, 1 + this.scores - VALUES))
        opts[layout.USED], opts[layout.HASHED] = problem.used(), 0 if problem.clocked else planner._hashed
        opts[layout.SALT], opts[layout.HORIZON] = derive(seed, "expansion") & 0xFFFFFFFF, planner.horizon
        opts[[layout.REACHING, layout.CLOCK, layout.FALLS]] = reaching, game.clock, not problem.constant
        opts[[layout.NOVEL_LISTS, layout.SHORTER, layout.FIRST_WIN]] = any(one.novel for one in found), 0, 0
        novelty, count = planner._novelty()
        reach = game.reach() if game.reach is not None else rules.measure
        self._functions = open_lists.Functions(*rules.entries, entry(reach), entry(novelty))
        heaps = planner._heaps(len(found))
        self._lists = open_lists.Lists(
            heaps, np.zeros(len(found), dtype=np.int64), np.zeros(len(found)), np.array([o.weight for o in found]),
            this.columns, np.array([o.novel for o in found], dtype=np.int64),
        )  # fmt: skip
        self._scores = open_lists.Scores(this.ops, this.constants, this.ends, np.zeros(this.scores))
        rises = np.array(problem.rises or [0] * n, dtype=np.int64)
        self._bounds = open_lists.Bounds(rises, np.zeros(n), np.zeros(n), np.zeros(2 * n), planner._limits(problem))
        mains = main_metrics([m for m in game.metrics if not m.costly])
        main = np.array([game.symbols.index(m.symbol) for m in mains], dtype=np.int64)
        self._facts = open_lists.Facts(np.zeros(max(1, count), dtype=np.int64), main, planner._seen_facts())
        self._counts, self._best = np.zeros(layout.COUNTS, dtype=np.int64), np.zeros(1)
        self._vars = np.zeros(n + 4)
        self._work = open_lists.Work(
            planner._scratch, planner._actions, planner._played, planner._seen, self._vars, planner._stack,
            np.zeros(1), NO_MARKS, stream(seed),
        )  # fmt: skip
        self._codes = code(utility, game.symbols)
        plain = not game.compiled
        self._search = interpreted(open_lists._search, open_lists.NUMBERS) if plain else open_lists.search
        self._reopen = interpreted(open_lists._reopen, open_lists.NUMBERS) if plain else open_lists.reopen
        self._exhausted, self._why, self._last = False, "budget", 2**62
        self._look, self._steps = FIRST_LOOK, 0
        tree.states[0] = level.start
        with np.errstate(all="ignore"):
            calls = rules.entries
            planner._plant(
                calls.over, calls.measure, calls.key, level.tables, tree.links, tree.values, tree.states, tree.slots,
                tree.keys, opts, self._counts, self._best, planner._best_moves, *self._codes, self._vars,
                planner._stack,
            )  # fmt: skip
        self._counts[layout.OPENED] = 0

    def spend(self, budget: Budget, began: float) -> None:
        """Go on until the whole search has used up `budget`, of which the seconds count from `began`.

        Once no plan can be worth more, `polish` times as many iterations as that took are spent on one of equal worth
        that wins or is shorter.
        """
        planner, counts = self._planner, self._counts
        nodes = self._nodes(min(planner.capacity, budget.nodes or planner.capacity))
        most = 2**62 if budget.iterations is None else budget.iterations
        pace = Pace(budget.seconds, 2**62, began)
        self._why = "budget"
        counts[layout.FULL] = 0
        with np.errstate(all="ignore"):
            while not self._exhausted and self.iterations < min(most, self._last):
                chunk = min(pace.chunk, min(most, self._last, self._look) - self.iterations)
                ended = self._search(
                    self._functions, planner.level.tables, nodes, self._lists, self._scores, self._bounds,
                    self._facts, self._work, planner._opts, counts, self._best, planner._best_moves, *self._codes, chunk,
                )  # fmt: skip
                if self._progress:
                    self._progress(self.iterations)
                if ended == layout.EXHAUSTED or self.iterations >= self._look:
                    self._look_around(ended == layout.EXHAUSTED, nodes)
                if counts[layout.FULL]:
                    self._why = "memory" if budget.nodes is None else "nodes"
                    break
                if pace.is_late():
                    self._why = "time"
                    break

    def _look_around(self, exhausted: bool, nodes: Any) -> None:
        """See whether the best plan is proven, and what is left to look for then: a win, or a shorter plan."""
        shorter = self._planner._opts[layout.SHORTER] != 0
        self._look = self.iterations + max(FIRST_LOOK, self.iterations)
        if self._last == 2**62 and (exhausted or self.proven):
            self._last = self.iterations + self._polish * max(FIRST_LOOK, self.iterations)
        if shorter:
            self._look = self.iterations + FIRST_LOOK
        if exhausted and shorter:
            self._exhausted = True
        elif exhausted or (shorter and self._counts[layout.BEST_STEPS] < self._steps):
            self._planner._opts[layout.SHORTER] = 1
            self._steps = int(self._counts[layout.BEST_STEPS])
            self._set_pace()
            self._exhausted = not self._reopen(nodes, self._lists, self._planner._opts, self._counts, self._best)

    def _set_pace(self) -> None:
        """Have each score lose with each move what the best plan gains a move, so that leaves ahead of it come first."""
        from persona_evo.search.open_lists import FIRST_SCORE

        tree, pace = self._planner._tree, self._scores.pace
        node, depths = int(self._counts[layout.BEST_NODE]), tree.links[: self.nodes, DEPTH]
        while node > 0 and tree.links[node, STATUS] & DONE:
            node = int(tree.links[node, PARENT])
        if node > 0:
            for k in range(len(pace)):
                column = tree.values[: self.nodes, FIRST_SCORE + k]
                column += pace[k] * depths
                gained = float(column[node] - column[0]) / int(depths[node])
                pace[k] = max(gained, 1e-6)
                column -= pace[k] * depths

    def _nodes(self, room: int) -> Any:
        from persona_evo.search.open_lists import Nodes

        tree = self._planner._tree
        return Nodes(tree.links[:room], tree.values[:room], tree.states[:room], tree.slots, tree.keys)

    @property
    def iterations(self) -> int:
        """Iterations made."""
        return int(self._counts[layout.ITERATIONS])

    @property
    def nodes(self) -> int:
        """Nodes in the tree."""
        return int(self._counts[layout.NODES])

    @property
    def won(self) -> bool:
        """Whether the best plan wins."""
        return bool(self._counts[layout.BEST_WON])

    @property
    def settled(self) -> bool:
        """Whether nothing is left to look for."""
        return self._exhausted or (self.proven and self.won)

    @property
    def upper(self) -> float:
        """No plan within the horizon is worth more."""
        from persona_evo.search import open_lists

        best = float(self._best[0])
        if not self._planner.tries_all:
            return self._problem.ceiling()
        if self._exhausted or self._planner._opts[layout.SHORTER]:
            return best
        links, values = self._planner._tree.links[: self.nodes], self._planner._tree.values[: self.nodes]
        waiting = links[:, STATUS] & (open_lists.TAKEN | DONE) == 0
        if self._counts[layout.OPENED] >= 0:
            waiting[self._counts[layout.OPENED]] = True
        return float(max(best, values[waiting, open_lists.CEILING].max(initial=-np.inf)))

    @property
    def proven(self) -> bool:
        """Whether no plan within the horizon is worth more than the best one."""
        return self.upper <= float(self._best[0])

    @property
    def stopped(self) -> str:
        """Why the search ended (see `Plan`)."""
        return PROVEN if self.proven else self._why

    @property
    def actions(self) -> tuple[int, ...]:
        """The best plan from the level's start."""
        counts = self._counts
        made = (int(a) for a in self._planner._best_moves[: int(counts[layout.BEST_LENGTH])])
        return (*self._planner._tree.path(int(counts[layout.BEST_NODE])), *made)
