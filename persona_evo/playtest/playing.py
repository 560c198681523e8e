"""One playthrough of a batch: what decides it, how it is made, and what is written down of it (what workers run).

A playthrough's seed is made of the seed given, the level's name and text, the player's label and the number of the
trial, so a result depends neither on the number of jobs nor on what else is played in the same batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from persona_evo.evolve.fitness import LevelText
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import LOST, RUNNING, Event, Game, Level
from persona_evo.playtest.players import Role
from persona_evo.playtest.records import OUTCOMES, SIDES, Playthrough
from persona_evo.search.duel import League
from persona_evo.search.plan import MAX_NODES, Plan, capacity_for, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.seeds import derive, stream

_NODES_A_SECOND = 1_000_000
"""Room for nodes that a budget of time alone is given."""


class Job(NamedTuple):
    """One playthrough to be made: numbers of the level, the player and the trial, and its seed."""

    level: int
    player: int
    trial: int
    seed: int


@dataclass(frozen=True)
class Spec:
    """All that decides a playthrough beside its job."""

    game: str
    levels: tuple[LevelText, ...]
    roles: tuple[Role, ...]
    settings: SearchSettings
    budget: Budget
    league: League | None = None

    @cached_property
    def digest(self) -> str:
        """Names this specification in a worker's memory."""
        return hashlib.blake2b(repr(self).encode(), digest_size=16).hexdigest()

    def jobs(self, trials: int, seed: int) -> list[Job]:
        """All playthroughs, level by level, player by player."""
        digests = [level.digest for level in self.levels]
        return [
            Job(i, k, trial, derive(seed, level.name, digests[i], role.label, trial))
            for i, level in enumerate(self.levels)
            for k, role in enumerate(self.roles)
            for trial in range(trials)
        ]


class _Table:
    """The game, the players and the planners of the level that was played last, in one worker."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.game = spec, registry.get(spec.game)
        self.roles = [(parse(r.utility, self.game.symbols), r.tree_policy(self.game)) for r in spec.roles]
        self._number = -1
        self._level: Level | None = None
        self._planners: list[Any] = []
        self._warm: set[int] = set()

    def level(self, number: int) -> Level:
        if self._level is None or self._number != number:
            self._level = self.spec.levels[number].load(self.game)
            self._number, self._planners = number, []
        return self._level

    def play(self, job: Job) -> Playthrough:
        level, role, league = self.level(job.level), self.spec.roles[job.player], self.spec.league
        utility, policy = self.roles[job.player]
        side, opponent = None, ""
        if league is None:
            if not self._planners:
                self._planners = [planner_for(self.game, level, self.spec.settings, room(self.spec.budget))]
            if self.game.outside is None and job.player not in self._warm:  # loading what searches is nobody's time
                self._planners[0].plan(utility, policy, Budget(1), job.seed)
                self._warm.add(job.player)
            plan = self._planners[0].plan(utility, policy, self.spec.budget, job.seed)
        else:
            games = league.games(self.game, level, role.agent)
            side, turn = job.trial % league.sides, job.trial // league.sides % len(games)
            for game in games:
                game.warm_up(utility, policy)
            plan = games[turn].plan(utility, policy, self.spec.budget, job.seed, side)
            opponent = games[turn].others[0].name if games[turn].others else ""
        found = record(self.game, level, plan, trial=job.trial, side=side if opponent else None)
        cause = opponent if plan.outcome == LOST else ""
        return replace(found, player=role.label, persona=role.persona, policy=role.policy, cause=cause or found.cause,
                       opponent=opponent)  # fmt: skip


_tables: dict[str, _Table] = {}


def play(task: tuple[Spec, Sequence[Job]]) -> list[Playthrough]:
    """The playthroughs of a task, in order (this is what workers run)."""
    spec, jobs = task
    if spec.digest not in _tables:
        _tables.clear()
        _tables[spec.digest] = _Table(spec)
    table = _tables[spec.digest]
    return [table.play(job) for job in jobs]


def room(budget: Budget) -> int:
    """Nodes to make room for; less than the most there may be where time alone is the limit."""
    if budget.seconds is None or budget.iterations is not None or budget.nodes is not None:
        return capacity_for(budget)
    return int(min(MAX_NODES, max(10_000, budget.seconds * _NODES_A_SECOND)))


def record(game: Game, level: Level, plan: Plan, *, trial: int = 0, side: int | None = None) -> Playthrough:
    """A plan as a playthrough: its actions by name, where the avatar was, what happened, and what it died of.

    side: number of the player in a game for two, where no places are told: two avatars are on the board.
    """
    states = game.replay(level, plan.actions, stream(plan.seed), plan.seed)
    places: list[tuple[int, int]] = []
    if game.locate is not None and side is None:
        found = [game.locate(level, state) for state in states]
        places = [p for p in found if p is not None] if None not in found else []
    events: list[Event] = []
    if game.events is not None:
        for step, (before, after) in enumerate(pairwise(states), 1):
            events += game.events(level, before, after, step)
    cause = ""
    if plan.outcome == LOST and game.cause is not None and len(states) > 1 and side is None:
        turn = next((i for i, s in enumerate(states) if game.over(level, s) != RUNNING), len(states) - 1)
        cause = game.cause(level, states[max(1, turn) - 1], states[max(1, turn)])
    return Playthrough(
        level=level.name, player="", outcome=OUTCOMES[plan.outcome], metrics=plan.metrics, utility=plan.utility,
        steps=len(plan.actions), trial=trial, seed=plan.seed, cause=cause, seconds=plan.seconds, stopped=plan.stopped,
        iterations=plan.iterations, nodes=plan.nodes, proven=plan.proven,
        actions=[game.action_name(level, s, a) for s, a in zip(states, plan.actions, strict=False)],
        positions=places, events=events,
        side="" if side is None else SIDES[int(game.rules().mover(level.tables, states[0])) != side],
    )  # fmt: skip
