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
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.agents.skill import Skill
from persona_evo.compiling import Handle, compiled, entry
from persona_evo.compiling.arrays import FloatRow, IntRow, WordRow
from persona_evo.formula import Formula
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level
from persona_evo.search.actor import actor_for
from persona_evo.search.moves import MovesSpec
from persona_evo.search.plan import Plan, Planner, capacity_for
from persona_evo.search.play import Play, worth
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, DEPTH, LEFT, NOBODY, NODE, OVER, PARENT, ROOT, SLOT, STATUS, Tree
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.search.tree_search import TreeSearch
from persona_evo.seeds import SplitMix64, derive, stream


class Candidates(NamedTuple):
    """The moves that a search has tried.

    Attributes:
        actions: the moves.
        values: what each seems to be worth.
        best: the best move, which differs from another of the highest value if the two lead to unlike states.
    """

    actions: list[int]
    values: list[float]
    best: int


class Judgement(NamedTuple):
    """The tree of a search, and what its states are worth.

    Attributes:
        play: the level.
        tree: the tree; children stand behind their parents.
        ties: int64[capacity], of which the higher one decides between equals.
        values: float64[capacity], what the states of the nodes are worth.
        lost: int64[capacity], 1 for a lost state, and for one behind which every move leads to a lost state.
        ways: int64[capacity], number of tried moves that do not lose; -1 where none was tried.
        best: int64[capacity], the node with the best state among a node and all behind it; without the root itself.
    """

    play: Play
    tree: Tree
    ties: IntRow
    values: FloatRow
    lost: IntRow
    ways: IntRow
    best: IntRow

    @classmethod
    def of(cls, play: Play, tree: Tree, capacity: int) -> Judgement:
        """Return a judgement with room for so many nodes."""
        ties, lost, ways, best = (np.zeros(capacity, dtype=np.int64) for _ in range(4))
        return cls(play, tree, ties, np.zeros(capacity), lost, ways, best)


@compiled
def outcome_at(tree: Tree, node: int) -> int:
    """Return the result of the game's `over` in the state of a node."""
    return int(tree.links[tree.nodes[node, SLOT], STATUS] & OVER)


@compiled
def is_preferred(judgement: Judgement, a: int, b: int) -> bool:
    """Return whether the state of node `a` is better than that of node `b`.

    States that the player can survive come before others; then states with a higher utility, wins, and states that are
    reached sooner (lost states: later). Among equals, `ties` decides.
    """
    tree, lost, values = judgement.tree, judgement.lost, judgement.values
    if lost[a] != lost[b]:
        return bool(lost[a] < lost[b])
    if values[a] != values[b]:
        return bool(values[a] > values[b])
    wins = int(outcome_at(tree, a) == WON) - int(outcome_at(tree, b) == WON)
    if wins != 0:
        return wins > 0
    later = tree.nodes[a, DEPTH] - tree.nodes[b, DEPTH]
    if later != 0:
        return bool((later > 0) == (lost[a] == 1))
    return bool(judgement.ties[a] > judgement.ties[b])


@entry
def spread(judgement: Judgement, count: int) -> int:
    """Fill in `best` of the first `count` nodes; how many of the root's children have states as good as the best."""
    tree, best, equals = judgement.tree, judgement.best, 0
    for node in range(count):
        best[node] = node
    for node in range(count - 1, ROOT, -1):
        parent = tree.nodes[node, PARENT]
        if best[parent] == ROOT or is_preferred(judgement, best[node], best[parent]):
            best[parent] = best[node]
    for node in range(1, count):
        if tree.nodes[node, PARENT] == ROOT and not is_preferred(judgement, best[ROOT], best[node]):
            equals += 1
    return equals


@entry
def judge(judgement: Judgement, count: int) -> int:
    """Fill in `values` and `lost` of the first `count` nodes, and clear `ties`; how many those are."""
    tree, lost, ways = judgement.tree, judgement.lost, judgement.ways
    for node in range(count):
        judgement.values[node] = worth(judgement.play, tree.states[node])
        lost[node] = int(outcome_at(tree, node) == LOST)
        ways[node] = -1
        judgement.ties[node] = 0
    for node in range(count - 1, -1, -1):
        if ways[node] == 0 and tree.links[tree.nodes[node, SLOT], LEFT] == 0:
            lost[node] = 1
        parent = tree.nodes[node, PARENT]
        if parent >= 0:
            ways[parent] = max(ways[parent], 0) + 1 - lost[node]
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
        policy: the tree policy of the search (see `change`).
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
        self.utility, self.skill, self._budget = utility, skill, budget
        self.change(policy)
        self._settings = replace(SearchSettings.single(), rollout=0, finish=0.0, seeds=seeds)
        self._planner: Planner | None = None
        self._handle: Handle[Judgement] | None = None
        self._begin: Callable[[int], WordRow] = partial(game.start, level)
        self.game, self.level = game, level
        if game.deterministic and game.outside is None:
            most = skill.iterations * max(1, level.max_actions) if budget is None else capacity_for(budget)
            self._planner = Planner(game, level, self._settings, most + 2)
            self.game, self.level = self._planner.game, self._planner.level
            self._play = Play.of(self.game, self.level, utility)
        self._horizon = game.horizon_of(level)
        self._spent = self._nodes = 0

    def change(self, policy: TreePolicy) -> None:
        """Search by another tree policy; the utility takes its place if the policy has only lists."""
        policy.check_planned("a player with a skill, who looks ahead at each move,", best_first=False)
        only_lists = policy.kind == "lists"
        self._policy = TreePolicy.utility(self.utility) if only_lists else replace(policy, lists=())

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
        state, rules, made = self._begin(seed), game.rules(), list[int]()
        if self._planner is not None:
            state = self._planner.pack(state)
        self._spent = self._nodes = 0
        while game.over(level, state) == RUNNING and len(made) < self._horizon:
            legal = game.legal(level, state)
            if not legal:
                break
            candidates = self._candidates(state, len(made), len(legal), derive(seed, "move", len(made)))
            tried = bool(candidates.actions)
            action = self._chosen(candidates, slips) if tried else legal[int(slips.integers(len(legal)))]
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

    def _chosen(self, candidates: Candidates, slips: np.random.Generator | SharedSlips) -> int:
        """Return the best move, or, with the probability of an error, a move that is drawn at random."""
        if slips.random() >= self.skill.errors:
            return candidates.best
        chances = softmax(candidates.values, self.skill.temperature)
        return candidates.actions[int(slips.choice(len(chances), p=chances))]

    def _candidates(self, state: WordRow, made: int, legal: int, seed: int) -> Candidates:
        """Return the moves that a search tries in a state; `made` is the number of moves before it."""
        budget = self._budget or Budget(self.skill.iterations * legal)
        if self._planner is None:
            return self._of_chance(state, min(self.skill.sight, self._horizon - made), budget, seed)
        self._planner.horizon = min(self._horizon, made + self.skill.sight)
        search = TreeSearch(self._planner, state, made, self.utility, self._policy, seed, None)
        search.spend(budget, time.perf_counter())
        self._spent, self._nodes = self._spent + search.iterations, self._nodes + search.nodes
        return self._judge(search.tree, search.nodes, seed)

    def _judge(self, tree: Tree, count: int, seed: int) -> Candidates:
        """Return the root's children by the best states behind them (see `is_preferred`); `seed` decides ties."""
        if self._handle is None:
            assert self._planner is not None
            self._handle = Handle(Judgement.of(self._play, tree, self._planner.capacity))
        if self._handle.work.tree is not tree:
            self._handle.work = self._handle.work._replace(tree=tree)
        judgement, nodes = self._handle.work, tree.nodes.data
        judge(self._handle, count)
        if spread(self._handle, count) > 1:
            judgement.ties[:count] = np.random.default_rng(derive(seed, "ties")).permutation(count)
            spread(self._handle, count)
        tried = sorted(tree.links[slot, NODE] for slot in tree.children(ROOT))
        best = judgement.best
        return Candidates(
            [nodes[node, ACTION] for node in tried],
            [float(judgement.values[best[node]]) for node in tried],
            next((nodes[node, ACTION] for node in tried if best[node] == best[ROOT]), NOBODY),
        )

    def _of_chance(self, state: WordRow, sight: int, budget: Budget, seed: int) -> Candidates:
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
        actions = [option.action for option, _ in order]
        return Candidates(actions, [option.mean for option, _ in order], actions[-1])


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
        self._seeds = seeds
        self._players: dict[tuple[Formula, Budget], SkilledPlayer] = {}

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
    ) -> Plan:
        """Play a game; the budget is that of a move, or for each legal move if it has iterations."""
        player = self._players.get((utility, budget))
        if player is None:
            each = self.per_legal_move and budget.iterations
            skill, own = replace(self.skill, iterations=each) if each else self.skill, None if each else budget
            player = SkilledPlayer(self.game, self.level, utility, policy, skill, own, self._seeds)
            self._players[utility, budget] = player
        player.change(policy)
        return player.play(seed)


def softmax(values: Sequence[float], temperature: float) -> NDArray[np.float64]:
    """Return the probabilities of moves: the softmax of their values, scaled to [0, 1], divided by the temperature."""
    x = np.asarray(values, dtype=np.float64)
    span = x.max() - x.min()
    weights = np.exp((x - x.max()) / span / temperature) if span > 0 else np.ones(len(x))
    chances: NDArray[np.float64] = weights / weights.sum()
    return chances
