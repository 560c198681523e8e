"""A player of limited skill, who searches anew for each move, looks a few moves ahead, and sometimes makes errors.

| game | search for a move | value of a move |
|---|---|---|
| without chance | best-first by the player's tree policy, with one list | the best state seen after it |
| with chance | by the tree policy, each line replayed with new chance | the mean of the states seen after it |
| connected | by the tree policy, with rollouts to the end of the game | its visits; for mistakes, the mean end |

Without chance, a state counts only if the player can survive it, as far as the player sees: a state in which every move
leads to a loss is worth what the loss is worth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.agents.skill import Skill
from persona_evo.compiling import Handle, entry
from persona_evo.compiling.arrays import FloatRow, IntRow, WordRow
from persona_evo.formula import Formula
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level
from persona_evo.search.actor import actor_for
from persona_evo.search.moves import MovesSpec
from persona_evo.search.plan import Plan, Planner, capacity_for
from persona_evo.search.play import Play, worth
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, DEPTH, LEFT, OVER, PARENT, ROOT, SLOT, STATUS, Tree
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.search.tree_search import TreeSearch
from persona_evo.seeds import SplitMix64, derive, stream


class Candidate(NamedTuple):
    """A move that the search has tried.

    Attributes:
        action: the move.
        value: what it seems to be worth.
        rank: its place among the candidates in ascending order; all ranks differ.
    """

    action: int
    value: float
    rank: float


class Judgement(NamedTuple):
    """The tree of a search, and what its states are worth.

    Attributes:
        play: the level.
        tree: the tree; children stand behind their parents.
        values: float64[capacity], what the states of the nodes are worth.
        lost: int64[capacity], 1 for a lost state, and for one behind which every move leads to a lost state.
        ways: int64[capacity], number of tried moves that do not lose; -1 where none was tried.
        best: int64[capacity], the highest rank of a node and all behind it.
    """

    play: Play
    tree: Tree
    values: FloatRow
    lost: IntRow
    ways: IntRow
    best: IntRow

    @classmethod
    def of(cls, play: Play, tree: Tree, capacity: int) -> Judgement:
        """Return a judgement with room for so many nodes."""
        return cls(play, tree, np.zeros(capacity), *(np.zeros(capacity, dtype=np.int64) for _ in range(3)))


@entry
def judge(judgement: Judgement, count: int) -> int:
    """Fill in `values` and `lost` of the first `count` nodes; how many those are."""
    tree, lost, ways = judgement.tree, judgement.lost, judgement.ways
    for node in range(count):
        judgement.values[node] = worth(judgement.play, tree.states[node])
        lost[node] = int((tree.links[tree.nodes[node, SLOT], STATUS] & OVER) == LOST)
        ways[node] = -1
    for node in range(count - 1, -1, -1):
        if ways[node] == 0 and tree.links[tree.nodes[node, SLOT], LEFT] == 0:
            lost[node] = 1
        parent = tree.nodes[node, PARENT]
        if parent >= 0:
            ways[parent] = max(ways[parent], 0) + 1 - lost[node]
    return count


@entry
def spread(judgement: Judgement, count: int) -> int:
    """Give every node but the root the highest rank in its part of the tree, in `best`; `count` as for `judge`."""
    tree, best = judgement.tree, judgement.best
    for node in range(count - 1, 0, -1):
        parent = tree.nodes[node, PARENT]
        if parent != ROOT and best[parent] < best[node]:
            best[parent] = best[node]
    return count


class SharedSlips(SplitMix64):
    """Draws the errors of a player of a connected game as its C# client does, with the names of NumPy's generators."""

    def random(self) -> float:
        """Draw a number in [0, 1)."""
        return self.unit()

    def integers(self, n: int) -> int:
        """Draw a whole number in [0, n)."""
        return self.below(n)

    def choice(self, n: int, p: NDArray[np.float64]) -> int:
        """Draw a whole number in [0, n) with these probabilities."""
        return self.weighted(p.tolist())

    def permutation(self, n: int) -> list[int]:
        """Draw an order of the whole numbers in [0, n)."""
        found = [*range(n)]
        self.shuffle(found)
        return found


class SkilledPlayer:
    """Plays whole games on one level, at a level of skill.

    Args:
        game: a single-player game.
        level: the level to play.
        utility: what the player wants, over the game's metrics.
        policy: the tree policy of the search; the utility takes its place if the policy has only lists.
        skill: the level of skill.
        budget: the budget of the search for a move; by default the skill's iterations for each legal move.
        seeds: as in `SearchSettings`.
    """

    def __init__(
        self,
        game: Game,
        level: Level,
        utility: Formula,
        policy: TreePolicy,
        skill: Skill,
        budget: Budget | None = None,
        seeds: int | None = None,
    ) -> None:
        self.game, self.level, self.utility, self.skill = game, level, utility, skill
        self._budget = budget
        policy.check_planned("a player with a skill, who looks ahead at each move,", best_first=False)
        self._policy = TreePolicy.utility(utility) if policy.kind == "lists" else replace(policy, lists=())
        self._horizon = game.horizon_of(level)
        self._settings = replace(SearchSettings.single(), rollout=0, finish=0.0, seeds=seeds)
        self._planner: Planner | None = None
        self._handle: Handle[Judgement] | None = None
        if game.deterministic and game.outside is None:
            most = skill.iterations * max(1, level.max_actions) if budget is None else capacity_for(budget)
            self._planner = Planner(game, level, self._settings, most + 2)
            self._play = Play.of(self._planner.game, self._planner.level, utility)
        self._spent = self._nodes = 0

    def play(self, seed: int) -> Plan:
        """Play a game to its end or to the horizon.

        Args:
            seed: the start, chance in the game, the searches and the errors follow from it.

        Returns:
            All moves of the game; iterations and nodes are the sums over all searches.
        """
        began = time.perf_counter()
        game, level, tables = self.game, self.level, self.level.tables
        luck, slips = stream(seed), self._slips(derive(seed, "errors"))
        state, rules, made = game.start(level, seed), game.rules(), list[int]()
        self._spent = self._nodes = 0
        while game.over(level, state) == RUNNING and len(made) < self._horizon:
            legal = game.legal(level, state)
            if not legal:
                break
            candidates = self._candidates(state, len(made), len(legal), derive(seed, "move", len(made)))
            action = self._chosen(candidates, slips) if candidates else legal[int(slips.integers(len(legal)))]
            rules.step(tables, state, action, luck)
            made.append(action)
        metrics, outcome = game.measure(level, state), game.over(level, state)
        return Plan(
            tuple(made),
            self.utility.evaluate(metrics),
            metrics,
            outcome,
            self._spent,
            self._nodes,
            time.perf_counter() - began,
            "win" if outcome == WON else "budget",
            proven=False,
            seed=seed,
        )

    def _slips(self, seed: int) -> np.random.Generator | SharedSlips:
        return np.random.default_rng(seed) if self.game.outside is None else SharedSlips(seed)

    def _chosen(self, candidates: Sequence[Candidate], slips: np.random.Generator | SharedSlips) -> int:
        """Return the best move, or, with the probability of an error, a move that is drawn at random."""
        if slips.random() >= self.skill.errors:
            return max(candidates, key=lambda c: c.rank).action
        chances = softmax([c.value for c in candidates], self.skill.temperature)
        return candidates[int(slips.choice(len(candidates), p=chances))].action

    def _candidates(self, state: WordRow, made: int, legal: int, seed: int) -> list[Candidate]:
        """Return the moves that a search tries in a state; `made` is the number of moves before it."""
        budget = self._budget or Budget(self.skill.iterations * legal)
        if self._planner is None:
            return self._of_chance(state, min(self.skill.sight, self._horizon - made), budget, seed)
        self._planner.horizon = min(self._horizon, made + self.skill.sight)
        search = TreeSearch(self._planner, self._planner.pack(state), made, self.utility, self._policy, seed, None)
        search.spend(budget, time.perf_counter())
        self._spent, self._nodes = self._spent + search.iterations, self._nodes + search.nodes
        return self._judge(search.tree, search.nodes, np.random.default_rng(derive(seed, "ties")))

    def _judge(self, tree: Tree, count: int, ties: np.random.Generator) -> list[Candidate]:
        """Return the root's children by the best state in each one's part of the tree.

        States that the player can survive come before others; then states with a higher utility, wins, and states that
        are reached sooner (lost states: later). Among equals a random draw decides.
        """
        if self._handle is None:
            assert self._planner is not None
            self._handle = Handle(Judgement.of(self._play, tree, self._planner.capacity))
        if self._handle.work.tree is not tree:
            self._handle.work = self._handle.work._replace(tree=tree)
        judgement = self._handle.work
        judge(self._handle, count)
        nodes, values, lost, best = tree.nodes[:count], judgement.values, judgement.lost[:count], judgement.best
        depth, won = nodes[:, DEPTH] * (1 - 2 * lost), (tree.links[nodes[:, SLOT], STATUS] & OVER) == WON
        order = np.lexsort((ties.permutation(count), -depth, won, values[:count], -lost))
        best[order] = np.arange(count)
        spread(self._handle, count)
        return [
            Candidate(int(nodes[node, ACTION]), float(values[order[best[node]]]), float(best[node]))
            for node in (1 + np.flatnonzero(nodes[1:, PARENT] == ROOT)).tolist()
        ]

    def _of_chance(self, state: WordRow, sight: int, budget: Budget, seed: int) -> list[Candidate]:
        """Return the moves that a search tries in a game of chance, or in a connected game."""
        settings = replace(self._settings, horizon=sight)
        spec = MovesSpec(self.utility, self._policy, budget, settings, seed=seed)
        move = actor_for(self.game, self.level, spec).think(state)
        self._spent, self._nodes = self._spent + move.iterations, self._nodes + move.nodes
        ties = self._slips(derive(seed, "ties")).permutation(len(move.options))
        by_visits = self.game.outside is not None
        order = sorted(
            zip(move.options, ties, strict=True),
            key=lambda o: (o[0].visits, o[0].mean, o[1]) if by_visits else (o[0].mean, o[0].visits, o[1]),
        )
        return [Candidate(option.action, option.mean, rank) for rank, (option, _) in enumerate(order)]


class Skilled:
    """A player of some skill who plays by changing tree policies on one level, as a `plan.LevelPlanner`.

    Args:
        game, level: what is played.
        skill: the level of skill.
        per_legal_move: whether budgets are for each legal move, and not for a move.
        seeds: as in `SearchSettings`.
    """

    def __init__(
        self, game: Game, level: Level, skill: Skill, per_legal_move: bool = False, seeds: int | None = None
    ) -> None:
        self.game, self.level, self.skill, self.per_legal_move = game, level, skill, per_legal_move
        self.seeds = seeds

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
    ) -> Plan:
        """Play a game; the budget is that of a move, or for each legal move if it has iterations."""
        if self.per_legal_move and budget.iterations is not None:
            own = replace(self.skill, iterations=budget.iterations)
            return SkilledPlayer(self.game, self.level, utility, policy, own, seeds=self.seeds).play(seed)
        return SkilledPlayer(self.game, self.level, utility, policy, self.skill, budget, self.seeds).play(seed)


def softmax(values: Sequence[float], temperature: float) -> NDArray[np.float64]:
    """Return the probabilities of moves: the softmax of their values, scaled to [0, 1], divided by the temperature."""
    x = np.asarray(values, dtype=np.float64)
    span = x.max() - x.min()
    weights = np.exp((x - x.max()) / span / temperature) if span > 0 else np.ones(len(x))
    chances: NDArray[np.float64] = weights / weights.sum()
    return chances
