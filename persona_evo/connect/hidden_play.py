"""Plays a level of a connected game whose seed decides what the player cannot know, such as dice and hidden traps.

There is no plan for such a level, since a plan that fits the level's own seed knows all of this. The game is therefore
played move by move. The search for each move plays with other seeds (`open_search`), and the playthrough is what the
moves lead to with the level's own seed. Before each move the game plays the choices so far, and no others, to show what
the player sees.

The budget is one for the whole game. A move gets the rollouts that are left, divided by the number of decisions that
rollouts make from there to the end of the game. When nothing is left, the game is played to its end by chance.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import Lost, shown
from persona_evo.connect.open_search import NO_WORLD, OpenLoopSearch
from persona_evo.connect.ordering import FinishedRollout, Ordering, PendingRollout, RolloutResult
from persona_evo.connect.search import ConnectedSearch
from persona_evo.connect.worlds import Observation
from persona_evo.errors import ConnectError
from persona_evo.search.moves import best_option
from persona_evo.search.settings import FAILED, Budget
from persona_evo.search.tree import ROOT

PILOT = 16
"""The number of rollouts from which the length of a game is estimated before the first move."""


def search_for(ordering: Ordering) -> type[ConnectedSearch]:
    """Return the search that plays a whole level: `HiddenPlay` if it averages over several worlds."""
    return HiddenPlay if ordering.worlds else ConnectedSearch


class HiddenPlay(OpenLoopSearch):
    """A playthrough of a level with things that the player cannot know (arguments as for `ConnectedSearch`)."""

    def steps(self, budget: Budget, began: float) -> Iterator[int]:
        """Play the game move by move, and yield the number of rollouts from time to time.

        If the game fails, the playthrough ends where it could still be played, and `stopped` is `FAILED`.
        """
        order, ahead, ended, before = self._order(b""), 0.0, "budget", Observation()
        while True:
            yield self.spent
            self.misfits += 1
            result, decisions = self._result_of(order.stopping()), len(order.prefix) // p.PAIR
            if result is None:
                self.misfits -= 1  # it counts as lost
                self._fail(before)
                return
            seen = before = Observation.of(result, decisions)
            left = budget.less(self.spent + 1, time.perf_counter() - began)  # one is left for another look
            if not seen.choices or left is None:
                break
            yield from self._think(seen, left, ahead)
            ahead, ended = self.decisions_left - 1.0, self.stopped
            choice = best_option(self.options(), "visits").action
            order = self._order(seen.prefix + p.pack([(choice, seen.choices)]))
        result = self._result_of(order)
        if result is None:
            self._fail(seen)
            return
        self.stopped = ended if ended != NO_WORLD else "budget"
        self._keep(PendingRollout(ROOT, 0, decisions), result, self._utility_of(result), not seen.choices)

    def _think(self, seen: Observation, left: Budget, ahead: float) -> Iterator[int]:
        """Search for a move.

        Args:
            seen: what the player sees.
            left: what is left of the budget.
            ahead: the number of decisions that the game will still take; 0 if that is not known yet.
        """
        began = time.perf_counter()
        if ahead:
            share = left.part(1.0 / max(1.0, ahead))
            self.look(seen, share.iterations)
        else:
            self.look(seen, PILOT)
            pilot = PILOT if left.iterations is None else min(PILOT, left.iterations)
            yield from super().steps(replace(left, iterations=pilot), began)
            share = left.part(1.0 / self.decisions_left)
        yield from super().steps(share, began)

    def _order(self, prefix: bytes) -> p.Rollout:
        """Return the order to make these choices with the level's own seed."""
        return p.Rollout(0, self._game_seed, self._rollouts.next(), p.ALL_METRICS, self.ordering.mode, 0, prefix)

    def _result_of(self, order: p.Rollout) -> RolloutResult | None:
        """Return the result of an order; None if the game fails."""
        self.pool.submit(order)
        result = self.pool.next()
        if isinstance(result, Lost):
            self.lost += 1
            self._failure = str(result.finding)
            return None
        return result

    def _fail(self, seen: Observation) -> None:
        """Keep the choices up to the last state that the player has seen as the playthrough.

        Raises:
            ConnectError: the game fails before the first choice.
        """
        if not seen.rows:
            raise ConnectError("the game could not be played to its end", found=shown(self._failure))
        self.stopped, end = FAILED, self._end
        end[:] = 0.0
        end[: len(seen.rows[-1])] = seen.rows[-1]
        metrics = dict(zip(self.game.symbols, map(float, end), strict=True))
        trace = tuple(p.unpack(seen.prefix))
        self.best = FinishedRollout(self.iterations, self._worth(end), 0.0, metrics, trace, 0, 0)
