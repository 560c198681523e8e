"""Play of a connected game from move to move: a search at the state that was reached chooses each move.

A state is the row of choices that lead to it. The search starts there, with rollouts to the end of the game, and the
part of its tree below the moves made is kept for the next move. Complete playthroughs may be selected again, since a
move that wins at once must count in its parent's mean.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from persona_evo.connect import protocol as p
from persona_evo.connect.open_search import OpenLoopSearch
from persona_evo.connect.ordering import Ordering
from persona_evo.connect.planner import name_of
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.search import ConnectedSearch
from persona_evo.connect.session import Session
from persona_evo.connect.worlds import Observation
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.games.core import Game, Level, State
from persona_evo.search.moves import CHOICES, ChosenMove, MovesSpec, best_option
from persona_evo.search.plan import capacity_for

_NODES = 2_000_000
"""The largest number of nodes of a tree."""


class ConnectedActor:
    """Plays a level of a connected game move by move (see `search.moves.MoveSearch`).

    Args:
        session, ordering: whose processes play, and how rollouts are ordered.
        game, level: what is played.
        spec: what the search is for and how it chooses.

    Raises:
        SettingsError: the way to choose is a formula, or the settings have a selection rule or a rollout policy.
    """

    def __init__(self, session: Session, ordering: Ordering, game: Game, level: Level, spec: MovesSpec) -> None:
        if isinstance(spec.choose, Formula):
            raise SettingsError(
                "a move in a connected game cannot be chosen by a formula",
                found=spec.choose.text,
                expected=", ".join(CHOICES),
            )
        spec.policy.check_planned("play from move to move", best_first=False)
        spec.settings.refuse_added("play from move to move")
        self._session, self._name, self._choice = session, name_of(level), spec.choose
        self.budget = spec.budget
        self._search = (OpenLoopSearch if ordering.worlds else ConnectedSearch)(
            game,
            session.pool(self._name),
            self._name.seed,
            spec.utility,
            spec.policy,
            replace(spec.settings, stop="budget", terminal="revisit"),
            ordering,
            spec.seed,
            min(2 * capacity_for(spec.budget), _NODES),
        )

    def think(self, state: State) -> ChosenMove:
        """Search in a state, and return the move with what the search found.

        Raises:
            SettingsError: the game is over there.
            ConnectError, GameError: the game cannot be played, or no rollout comes to its end.
        """
        began, search = time.perf_counter(), self._search
        seen = self._seen_at(state[0])
        if not seen.choices:
            raise SettingsError("the game is over here, so there is no move to search for")
        search.look(seen, self.budget.iterations)
        kept, before = search.tree.nodes, search.iterations
        pool = search.pool = self._session.pool(self._name)
        try:
            search.spend(self.budget, began)
        finally:
            assert isinstance(pool, ProcessPool)
            self._session.settle(pool)
        options = search.options()
        action = best_option(options, self._choice).action
        took = time.perf_counter() - began
        return ChosenMove(action, options, search.iterations - before, search.tree.nodes, kept, search.is_full, took)

    def follow(self, action: int) -> None:
        """Do nothing: the next state says which moves were made."""

    def shape(self) -> tuple[int, int]:
        """Return the breadth of the tree (the most nodes of one depth) and its depth, both without the root."""
        layers = np.bincount(self._search.engine.depths())[1:]
        return int(layers.max(initial=0)), len(layers)

    def _seen_at(self, choices: tuple[int, ...]) -> Observation:
        """Return what a player has seen who made these choices, asking the game for what is not known yet.

        Raises:
            GameError: the game does not offer these choices.
        """
        states = [self._session.state_at(self._name, choices[:i]) for i in range(len(choices) + 1)]
        prefix = p.pack((choice, state.choices) for choice, state in zip(choices, states, strict=False))
        return Observation(prefix, tuple(state.metrics for state in states), states[-1].choices)
