"""The planner of a connected game: its searches order rollouts instead of making states."""

from __future__ import annotations

import time
from collections.abc import Callable

from persona_evo.connect.description import LevelName
from persona_evo.connect.ordering import FinishedRollout, Ordering
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.search import INSIDE, ConnectedSearch
from persona_evo.connect.session import Session
from persona_evo.formula import Formula
from persona_evo.games.core import WON, Game, Level
from persona_evo.search.plan import Plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

Outcome = Callable[[dict[str, float]], int]
"""From the metrics of an end to WON, LOST or ENDED."""


def name_of(level: Level) -> LevelName:
    """The name that a loaded level was made of."""
    found = level.tables[0]
    assert isinstance(found, LevelName)
    return found


class ConnectedPlanner:
    """Plans levels of a connected game: what `search.plan.Planner` is for others.

    Args:
        session, outcome: whose processes play, and what counts as won and lost.
        game, level, settings, capacity: as `Planner`. Of the settings `terminal`, `expansion`, `value`, `stop` and
            `horizon` count; rollouts go to the game's end, and only ends are compared.
    """

    def __init__(
        self, session: Session, outcome: Outcome, game: Game, level: Level, settings: SearchSettings, capacity: int
    ) -> None:
        self.game, self.level, self.settings, self.capacity = game, level, settings, capacity
        self._session, self._outcome = session, outcome
        self._name = name_of(level)

    @property
    def ordering(self) -> Ordering:
        """How its searches order rollouts."""
        about = self._session.about
        snapshots = "snapshot" in self._session.hello().capabilities
        inside, wide = about.constant == INSIDE, about.widening
        return Ordering(about.slots, self._session.mode, inside, snapshots=snapshots, wide=wide)

    def search(
        self, utility: Formula, policy: TreePolicy, seed: int, tell: Callable[[FinishedRollout], None] | None = None
    ) -> ConnectedSearch:
        """A search that has not begun."""
        return ConnectedSearch(
            self.game,
            self._session.pool(self._name),
            self._name.seed,
            utility,
            policy,
            self.settings,
            self.ordering,
            seed,
            self.capacity,
            won=lambda metrics: self._outcome(metrics) == WON,
            tell=tell,
        )

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
        tell: Callable[[FinishedRollout], None] | None = None,
    ) -> Plan:
        """Search from the game's start; the best way to play that a rollout showed, whole."""
        began = time.perf_counter()
        search = self.search(utility, policy, seed, tell)
        try:
            search.spend(budget, began, progress)
        finally:
            assert isinstance(search.pool, ProcessPool)
            self.settle(search.pool)
        return self.plan_of(search, seed, time.perf_counter() - began)

    @property
    def place(self) -> tuple[str, str]:
        """Map and variant of the level: levels where both are the same are played by the same processes."""
        return self._name.map, self._name.variant

    def settle(self, pool: ProcessPool) -> None:
        """After a search: write down what it found wrong."""
        self._session.settle(pool)

    def confirm(self, search: ConnectedSearch) -> list[str]:
        """Play the best rollout of a search again; in what it came to another end.

        Raises:
            ConnectError, GameError: the game fails, or offers other choices.
        """
        assert search.best is not None
        return self._session.confirm(self._name, search.best)[1]

    def plan_of(self, search: ConnectedSearch, seed: int, seconds: float) -> Plan:
        """The plan that a search came to, and the states on its way for whoever replays it."""
        best = search.best
        assert best is not None
        again, _ = self._session.confirm(self._name, best)
        self._session.learn(self._name, again)
        return Plan(
            actions=tuple(choice for choice, _ in best.trace),
            utility=best.utility,
            metrics=best.metrics,
            outcome=self._outcome(best.metrics),
            iterations=search.iterations,
            nodes=search.tree.nodes,
            seconds=seconds,
            stopped=search.stopped,
            proven=search.proven,
            seed=seed,
        )
