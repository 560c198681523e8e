"""Search of a connected game whose seed decides what the player cannot know, such as dice and hidden traps.

A search with the level's own seed would know all of this in advance. This one plays each rollout with one of several
other seeds, in turn (see `worlds`), and averages over them (see `search.open_prefixes`). It starts from what the player
has seen so far, and keeps nothing for the next move.
"""

from __future__ import annotations

from typing import cast

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import Lost
from persona_evo.connect.ordering import RolloutResult
from persona_evo.connect.search import ConnectedSearch
from persona_evo.connect.worlds import Observation, WorldRollout, Worlds
from persona_evo.search.layout import Codes, Options
from persona_evo.search.prefix_engine import OpenPrefixEngine, PrefixEngine
from persona_evo.search.tree import DEAD, DEPTH, DONE, NOBODY, UNKNOWN, Columns
from persona_evo.seeds import SplitMix64, derive

FAILURES = 0.2
"""The share of the rollouts for a move that may be spent on seeds that do not agree with what was seen."""

NO_WORLD = "no world"
"""Why a search ended that found no seed with which the moves made so far are possible."""

TRIES = 8
"""The number of such rollouts for each world where only the time for a move is limited."""


class OpenLoopSearch(ConnectedSearch):
    """A search that averages over several game seeds (arguments as for `ConnectedSearch`; `ordering.worlds` of them).

    Attributes:
        misfits: rollouts that could not be used: of seeds that do not agree with what was seen, and of prefixes that
            turned out to be impossible in their world.
    """

    misfits = 0
    engine_type = OpenPrefixEngine

    def _new_engine(self, options: Options, codes: Codes, columns: Columns) -> PrefixEngine:
        self.worlds = Worlds(self.ordering.worlds, SplitMix64(derive(self._seed, "worlds")))
        self._ends: dict[tuple[int, int], float] = {}
        return super()._new_engine(options._replace(cut_off=DONE | DEAD), codes, columns)

    @property
    def open_engine(self) -> OpenPrefixEngine:
        """The tree."""
        return cast(OpenPrefixEngine, self.engine)

    def look(self, seen: Observation, rollouts: int | None) -> None:
        """Go on from what the player sees, and keep nothing of the tree."""
        self.open_engine.plant(seen.choices)
        self._ends.clear()
        self._restart(seen.prefix)
        self._choices = seen.choices
        self.worlds.look(
            seen, max(1, int(FAILURES * rollouts)) if rollouts is not None else TRIES * self.ordering.worlds
        )

    @property
    def spent(self) -> int:
        """The number of rollouts that count towards the budget."""
        return self.iterations + self.lost + self.misfits

    @property
    def has_result(self) -> bool:
        """Whether the game could be played, though perhaps in no world that agrees with what was seen."""
        return self.iterations + self.misfits > 0

    @property
    def proven(self) -> bool:
        """Whether every way to play is known, which it never is."""
        return False

    def _hand_out(self) -> bool:
        world, engine = self.worlds.next(), self.open_engine
        if world is None:
            return False
        node, full = engine.descend_in(world)
        self._full |= full
        seed, depth = self._rollouts.next(), self._before + int(engine.work.search.tree.nodes[node, DEPTH])
        known = self._ends.get((node, world))
        if known is not None:
            self._repeat(WorldRollout(node, seed, depth, known, world=world))
            return True
        prefix = self._start + engine.prefix_in(node, world).astype("<u2").tobytes()
        draw = 0 < self.ordering.wide <= engine.expected(node, world) and depth - self._before < self._horizon
        one = WorldRollout(
            node, seed, depth, draw=draw, world=world, prefix=prefix, probe=self.worlds.begin_probe(world)
        )
        order = p.Rollout(0, self.worlds.seeds[world], seed, p.ALL_METRICS, self.ordering.mode, 0, prefix)
        new = engine.known(node, world) == UNKNOWN
        self._send(order._replace(is_guess=True, level_seed=self._game_seed), one, new=new, world=world)
        return True

    def _take(self) -> None:
        """Enter the result of the oldest rollout under way into the tree."""
        order, engine = self._under_way.popleft(), self.open_engine
        assert isinstance(order, WorldRollout)
        engine.withdraw(order.node)
        if order.again is not None:
            self.iterations += 1
            engine.back_up_open(order.node, order.again)
            return
        result = self.pool.next()
        if isinstance(result, Lost):
            self.lost += 1
            engine.lose_open(order.node)
            if order.probe:
                self.worlds.give_up(order.world)
                self._refill(order.world)
        elif not order.probe or self.worlds.accept(order, result):
            self._enter(order, result)
        else:
            self.misfits += 1
            self._refill(order.world)

    def _refill(self, world: int) -> None:
        """Forget what was known of a world, whose seed has changed, and begin with seeds that agree less if need be."""
        self.open_engine.forget(world)
        for order, result in self.worlds.second_best():
            self.misfits -= 1
            self._enter(order, result)

    def _enter(self, order: WorldRollout, result: RolloutResult) -> None:
        """Enter a result into the tree. If the prefix was impossible, only the numbers of choices are entered."""
        engine, relative = self.open_engine, order.depth - self._before
        counts = [count for _, count in p.unpack(result.trace)[self._before :]]
        if not result.trace.startswith(order.prefix):
            self.misfits += 1
            engine.learn_counts(order.node, order.world, counts)
            return
        utility, over = self._utility_of(result), result.decisions == order.depth
        if over:
            self._ends[order.node, order.world] = utility
        self._describe(order.node, result, order.depth)
        engine.learn_counts(order.node, order.world, [*counts, 0][: relative + 1])
        engine.back_up_open(order.node, utility)
        self.iterations += 1
        if order.draw and not over:
            self._adopt(order, result, counts, utility)

    def _adopt(self, order: WorldRollout, result: RolloutResult, counts: list[int], utility: float) -> None:
        """Add the choice that the game drew at a wide node to the tree."""
        choice, relative = p.unpack(result.trace)[order.depth][0], order.depth - self._before
        child = self.open_engine.adopt(order.node, choice, counts[relative], utility)
        if child != NOBODY:
            self._describe(child, result, order.depth + 1)
            self.open_engine.learn_counts(child, order.world, [*counts, 0][: relative + 2])
            if result.decisions == order.depth + 1:
                self._ends[child, order.world] = utility

    def _stop_empty(self, limit: int) -> None:
        """Set the reason why no rollout is under way any more."""
        if self.stopped == "budget" and self.spent < limit:
            self.stopped = NO_WORLD
