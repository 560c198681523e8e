"""Plans levels of a connected game with searches that order rollouts instead of computing states."""

from __future__ import annotations

import time
from collections.abc import Callable

from persona_evo.connect.hidden_play import search_for
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.ordering import FinishedRollout, Ordering
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.search import INSIDE, ConnectedSearch
from persona_evo.connect.session import Session
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.games.core import RUNNING, WON, Game, Level
from persona_evo.search.plan import Plan
from persona_evo.search.settings import FAILED, Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

Outcome = Callable[[dict[str, float]], int]
"""Maps final metrics to WON, LOST or ENDED."""


def name_of(level: Level) -> LevelName:
    """Return the name from which a level was loaded."""
    found = level.tables[0]
    assert isinstance(found, LevelName)
    return found


class ConnectedPlanner:
    """Plans levels of a connected game; the counterpart of `search.plan.Planner`.

    Args:
        session: the running game.
        outcome: tells from its final metrics whether a game was won or lost.
        game, level, settings, capacity: as for `Planner`. Only the settings `terminal`, `expansion`, `value`, `stop`
            and `horizon` have an effect; rollouts always run to the end of the game, and only ends are compared.
    """

    def __init__(
        self, session: Session, outcome: Outcome, game: Game, level: Level, settings: SearchSettings, capacity: int
    ) -> None:
        self.game, self.level, self.settings, self.capacity = game, level, settings, capacity
        self._session, self._outcome = session, outcome
        self._name = name_of(level)

    @property
    def ordering(self) -> Ordering:
        """How the searches order rollouts."""
        about = self._session.about
        capabilities = self._session.hello().capabilities
        inside = about.constant == INSIDE
        worlds = about.worlds if self.settings.seeds is None else self.settings.seeds
        if worlds and "seed" not in capabilities:
            raise SettingsError(
                "the game does not take seeds, so searches cannot average over them",
                found=f"seeds = {worlds}",
                expected="a game that announces the capability `seed`",
            )
        return Ordering(
            about.slots,
            self._session.mode,
            inside,
            scores=about.scores,
            snapshots="snapshot" in capabilities,
            wide=about.widening,
            priors=not worlds and about.uses_priors(capabilities),
            worlds=worlds,
        )

    def search(
        self, utility: Formula, policy: TreePolicy, seed: int, tell: Callable[[FinishedRollout], None] | None = None
    ) -> ConnectedSearch:
        """Return a new search."""
        ordering = self.ordering
        search = search_for(ordering)(
            self.game,
            self._session.pool(self._name),
            self._name.seed,
            utility,
            policy,
            self.settings,
            ordering,
            seed,
            self.capacity,
            won=lambda metrics: self._outcome(metrics) == WON,
            tell=tell,
        )
        search.show = self._show
        return search

    def _show(self, best: FinishedRollout) -> None:
        if self._session.show_best is not None:
            self._session.show_best(self._name, [choice for choice, _ in best.trace])

    def plan(
        self,
        utility: Formula,
        policy: TreePolicy,
        budget: Budget,
        seed: int,
        progress: Callable[[int], None] | None = None,
        tell: Callable[[FinishedRollout], None] | None = None,
    ) -> Plan:
        """Search from the start of the game and return the best complete playthrough of any rollout."""
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
        """The map and the variant of the level; the same processes play all levels that agree in both."""
        return self._name.map, self._name.variant

    def settle(self, pool: ProcessPool) -> None:
        """Write down the failures that a search has found."""
        self._session.settle(pool)

    def confirm(self, search: ConnectedSearch) -> list[str]:
        """Replay the best rollout of a search and describe how it differs; return an empty list if it does not.

        A playthrough in which the game failed is not replayed.

        Raises:
            ConnectError, GameError: the game fails, or offers other choices.
        """
        assert search.best is not None
        return [] if search.stopped == FAILED else self._session.confirm(self._name, search.best)[1]

    def advise(self, search: ConnectedSearch) -> None:
        """Let the session note once that UCB1's constant does not fit the utilities or the length of a search."""
        advice = search.utilities.advice(search.policy, self._session.about.scores)
        if advice:
            self._session.note(f"{search.policy.c:g}", f"utilities were {advice}")
        elif search.best is not None and not search.ordering.worlds:
            depth, decisions = int(search.engine.depths().max()), len(search.best.trace)
            if shallow := search.utilities.depth_advice(search.policy, depth, decisions):
                self._session.note("depth", shallow)

    def plan_of(self, search: ConnectedSearch, seed: int, seconds: float) -> Plan:
        """Return the plan that a search found, and remember the states on its way for a replay."""
        best = search.best
        assert best is not None
        self.advise(search)
        failed = search.stopped == FAILED
        if not failed:
            again, _ = self._session.confirm(self._name, best)
            self._session.learn(self._name, again)
        return Plan(
            actions=tuple(choice for choice, _ in best.trace),
            utility=best.utility,
            metrics=best.metrics,
            outcome=RUNNING if failed else self._outcome(best.metrics),
            iterations=search.iterations,
            nodes=search.tree.nodes,
            seconds=seconds,
            stopped=search.stopped,
            proven=search.proven,
            seed=seed,
        )
