"""Makes one playthrough of a batch from what determines it, and records it; workers run this module.

A playthrough's seed is derived from the given seed, the level's name and text, the player's label and the number of the
trial. A result therefore depends neither on the number of jobs nor on what else is played in the same batch.

Each trial is a search with its own seed until one proves its plan. A second proof would say nothing new. If the planner
keeps open lists (see `draws`), all later trials of the same level and player therefore show routes of that search, each
drawn from the tree with its own seed. The tree itself is not stored: a worker that does not hold it repeats the search
with the same seed, which builds the same tree. (With a time budget it may not; then the trial searches itself.)
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from persona_evo.agents.continuation import Continuation, play_on
from persona_evo.agents.duel import League
from persona_evo.agents.skill import FULL_SIGHT, MOVE_BY_MOVE, errs
from persona_evo.agents.skilled_player import SkilledPlayer
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.cluster_games import Home, playing
from persona_evo.games.core import LOST, RUNNING, Event, Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.cache import WorkerCache
from persona_evo.playtest.players import Role
from persona_evo.playtest.records import OUTCOMES, SIDES, End, Playthrough, ended
from persona_evo.search.plan import MAX_NODES, Plan, capacity_for, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import STATIC, TreePolicy
from persona_evo.seeds import derive, stream

CONTINUATION = 0.1
"""Additional share of a playthrough's budget for playing on from the plan's end to the game's."""

_NODES_A_SECOND = 1_000_000
"""Number of nodes to make room for, per second, if time is the only budget."""


class ProvenSource(NamedTuple):
    """A search whose plan is proven: the number of its trial, and its seed."""

    trial: int
    seed: int


class PlaythroughJob(NamedTuple):
    """A playthrough to make: numbers of the level, the player and the trial, and its seed.

    `source` is the proven search to draw a route from; None to search.
    """

    level: int
    player: int
    trial: int
    seed: int
    source: ProvenSource | None = None

    @property
    def group(self) -> tuple[int, int]:
        """Numbers of the level and the player."""
        return self.level, self.player


def draws(game: Game, settings: SearchSettings, policy: TreePolicy, league: League | None = None) -> bool:
    """Return whether trials after a proof draw their routes from the proven search instead of searching again.

    They do if the planner keeps open lists: the settings have lists, the game is a deterministic single-player game
    that runs in this process, nobody plays move by move, and the policy's score is static. If the score changes during
    the search (UCB1 and formulas that read the search's variables), each trial searches. The tolerance does not matter:
    without one, all routes are worth as much as the best plan.
    """
    alone = game.players == 1 and game.deterministic and game.outside is None and league is None
    return alone and bool(settings.lists) and policy.holds == STATIC


@dataclass(frozen=True)
class Spec:
    """Everything that determines a playthrough besides its job.

    `continuation` is the share of the budget for playing on after the plan; 0 stops at the plan's end. `home` gives the
    playthroughs of a connected game to the workers of a cluster; None if this process plays them.
    """

    game: str
    levels: tuple[LevelText, ...]
    roles: tuple[Role, ...]
    settings: SearchSettings
    budget: Budget
    league: League | None = None
    continuation: float = CONTINUATION
    home: Home | None = None

    @cached_property
    def digest(self) -> str:
        """Key of this specification in a worker's cache."""
        return hashlib.blake2b(repr(self).encode(), digest_size=16).hexdigest()

    @cached_property
    def drawing(self) -> tuple[bool, ...]:
        """Whether trials of each role draw routes after a proof (see `draws`)."""
        game = registry.get(self.game)
        return tuple(
            role.agent is None
            and not errs(role.skill)
            and draws(game, self.settings, role.tree_policy(game), self.league)
            for role in self.roles
        )

    def proofs(
        self, jobs: Sequence[PlaythroughJob], records: Sequence[Playthrough]
    ) -> dict[tuple[int, int], ProvenSource]:
        """Return the first search of each level and player that proved its plan, if other trials draw from it.

        `records` belong to the jobs, in the same order, with each group's trials from the first on.
        """
        found: dict[tuple[int, int], ProvenSource] = {}
        for job, record in zip(jobs, records, strict=False):
            if record.proven and record.search is None and self.drawing[job.player]:
                found.setdefault(job.group, ProvenSource(job.trial, job.seed))
        return found

    def jobs(self, trials: int, seed: int) -> list[PlaythroughJob]:
        """Return all playthroughs to make, level by level, player by player."""
        digests = [level.digest for level in self.levels]
        return [
            PlaythroughJob(i, k, trial, derive(seed, level.name, digests[i], role.label, trial))
            for i, level in enumerate(self.levels)
            for k, role in enumerate(self.roles)
            for trial in range(trials)
        ]


class _Table:
    """Caches the game, the players and the planner of the last level, in one thread of one worker."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.game = spec, registry.get(spec.game)
        self.roles = [(parse(r.utility, self.game.symbols), r.tree_policy(self.game)) for r in spec.roles]
        self._number = -1
        self._level: Level | None = None
        self._planners: dict[int | None, Any] = {}
        self._skilled: dict[int, SkilledPlayer] = {}
        self._warm: set[int] = set()
        self._held: tuple[int, Plan] | None = None

    def level(self, number: int) -> Level:
        if self._level is None or self._number != number:
            self._level = self.spec.levels[number].load(self.game)
            self._number, self._planners, self._held, self._skilled = number, {}, None, {}
        return self._level

    def settings(self, player: int) -> SearchSettings:
        return self.spec.settings.for_persona(self.spec.roles[player].seeds)

    def play(self, job: PlaythroughJob) -> Playthrough:
        level, role = self.level(job.level), self.spec.roles[job.player]
        opponent, side, search = "", None, None
        if errs(role.skill):
            plan = self._skilled_game(job)
        elif self.spec.league is None:
            route = self._route(job)
            plan = route or self._search(job.player, job.seed)
            search = job.source.trial if route and job.source else None
        else:
            plan, opponent, side = self._meet(self.spec.league, job)
        found = record(
            self.game,
            level,
            plan,
            trial=job.trial,
            side=side if opponent else None,
            after=self._after(level, plan, job),
        )
        cause = opponent if plan.outcome == LOST else ""
        return replace(
            found,
            player=role.label,
            persona=role.persona,
            policy=role.policy,
            cause=cause or found.cause,
            opponent=opponent,
            search=search,
            skill=role.skill,
        )

    def _after(self, level: Level, plan: Plan, job: PlaythroughJob) -> Continuation | None:
        """Play on after a plan; None for games that are not played to their end, or have two sides."""
        spec = self.spec
        if not spec.continuation or self.game.players > 1 or self.game.outside is not None:
            return None
        if spec.league is not None or plan.outcome != RUNNING or errs(spec.roles[job.player].skill):
            return Continuation()
        budget = spec.budget.part(spec.continuation)
        return play_on(self.game, level, plan.actions, self.roles[job.player][0], budget, spec.settings, job.seed)

    def _search(self, player: int, seed: int) -> Plan:
        """Search, and remember whose tree the planner holds."""
        utility, policy = self.roles[player]
        planner = self._planner(player)
        if self.game.outside is None and player not in self._warm:  # keep loading time out of the measurement
            planner.plan(utility, policy, Budget(1), seed)
            self._warm.add(player)
        plan: Plan = planner.plan(utility, policy, self.spec.budget, seed)
        self._held = player, plan
        return plan

    def _planner(self, player: int) -> Any:
        """Return what plans the present level for a player; players share it unless their seeds differ."""
        settings = self.settings(player)
        if settings.seeds not in self._planners:
            level = self.level(self._number)
            self._planners[settings.seeds] = planner_for(self.game, level, settings, room(self.spec.budget))
        return self._planners[settings.seeds]

    def _skilled_game(self, job: PlaythroughJob) -> Plan:
        """Play a whole game with a player who makes mistakes."""
        if job.player not in self._skilled:
            skill = MOVE_BY_MOVE[self.spec.roles[job.player].skill]
            budget = Budget(skill.iterations) if skill == FULL_SIGHT else None
            level, seeds = self.level(job.level), self.settings(job.player).seeds
            self._skilled[job.player] = SkilledPlayer(self.game, level, *self.roles[job.player], skill, budget, seeds)
        return self._skilled[job.player].play(job.seed)

    def _route(self, job: PlaythroughJob) -> Plan | None:
        """Draw a route from the tree of the job's source; None without one, or if its plan is not proven again."""
        if job.source is None:
            return None
        if self._held is None or (self._held[0], self._held[1].seed) != (job.player, job.source.seed):
            self._search(job.player, job.source.seed)
        assert self._held is not None
        found = self._held[1]
        if not found.proven:
            return None
        began = time.perf_counter()
        route: Plan = self._planner(job.player).another(found, job.seed)
        return replace(route, iterations=0, nodes=0, seconds=time.perf_counter() - began)

    def _meet(self, league: League, job: PlaythroughJob) -> tuple[Plan, str, int]:
        """Play the opponent whose turn it is; return the plan, the opponent's name ("" for none) and the side."""
        utility, policy = self.roles[job.player]
        games = league.games(self.game, self.level(job.level), self.spec.roles[job.player].agent)
        side, turn = job.trial % league.sides, job.trial // league.sides % len(games)
        for game in games:
            game.warm_up(utility, policy)
        plan = games[turn].plan(utility, policy, self.spec.budget, job.seed, side)
        return plan, games[turn].others[0].name if games[turn].others else "", side


_tables: WorkerCache[_Table] = WorkerCache(1)
"""Tables by digest of the specification."""


def play(spec: Spec, jobs: Sequence[PlaythroughJob]) -> Iterator[Playthrough]:
    """Yield the playthroughs of some jobs, in order; workers run this function.

    A search that proves its plan becomes the source of later jobs of the same group that have none.
    """
    proofs: dict[tuple[int, int], ProvenSource] = {}
    with playing(spec.game, spec.home):
        table = _tables.get(spec.digest, lambda: _Table(spec))
        for job in jobs:
            made = table.play(job._replace(source=job.source or proofs.get(job.group)))
            proofs = {**spec.proofs([job], [made]), **proofs}
            yield made


def room(budget: Budget) -> int:
    """Return the number of nodes to make room for; below the maximum if time is the only limit."""
    if budget.seconds is None or budget.iterations is not None or budget.nodes is not None:
        return capacity_for(budget)
    return int(min(MAX_NODES, max(10_000, budget.seconds * _NODES_A_SECOND)))


def record(
    game: Game, level: Level, plan: Plan, *, trial: int = 0, side: int | None = None, after: Continuation | None = None
) -> Playthrough:
    """Record a plan as a playthrough: actions by name, places, events and the cause of death.

    Args:
        game, level: what was played.
        plan: the result of the search.
        trial: its number.
        side: number of the player in a two-player game, where places are left out: two avatars are on the board.
        after: what was played after the plan, None if the game was not played to its end.
    """
    told = _Told(game, level, plan, after.actions if after else (), alone=side is None)
    made = len(plan.actions)
    best = told.names[:made]
    if plan.best_actions != plan.actions:
        passed = game.replay(level, plan.best_actions, stream(plan.seed), plan.seed)
        best = [game.action_name(level, s, a) for s, a in zip(passed, plan.best_actions, strict=False)]
    return Playthrough(
        level=level.name,
        player="",
        outcome=OUTCOMES[plan.outcome],
        metrics=plan.metrics,
        utility=plan.utility,
        steps=made,
        trial=trial,
        seed=plan.seed,
        cause=told.cause(made) if plan.outcome == LOST else "",
        seconds=plan.seconds,
        stopped=ended(plan.stopped, plan.proven),
        iterations=plan.iterations,
        nodes=plan.nodes,
        proven=plan.proven,
        actions=told.names[:made],
        best_utility=plan.best_utility,
        best_actions=best,
        positions=told.places[: made + 1],
        events=[e for e in told.events if e.step <= made],
        side="" if side is None else SIDES[int(game.rules().mover(level.tables, told.states[0])) != side],
        end=told.end(after, made, plan.utility) if after is not None else None,
        hit_points=told.hit_points if after is not None else [],
    )


class _Told:
    """A sequence of moves as a playthrough records it.

    Args:
        game, level: what was played.
        plan: its first moves, and the seed of the start and of chance.
        more: the moves after the plan.
        alone: whether one avatar is on the board, so that places and causes of death are meaningful.
    """

    def __init__(self, game: Game, level: Level, plan: Plan, more: tuple[int, ...], *, alone: bool) -> None:
        self.game, self.level, self.alone = game, level, alone
        actions = (*plan.actions, *more)
        self.states = states = game.replay(level, actions, stream(plan.seed), plan.seed)
        self.names = [game.action_name(level, s, a) for s, a in zip(states, actions, strict=False)]
        self.places: list[tuple[int, int]] = []
        if game.locate is not None and alone:
            found = [game.locate(level, state) for state in states]
            self.places = [p for p in found if p is not None] if None not in found else []
        self.events: list[Event] = []
        if game.events is not None:
            for step, (before, after) in enumerate(pairwise(states), 1):
                self.events += game.events(level, before, after, step)

    @property
    def hit_points(self) -> list[float]:
        """Hit points left in each state."""
        if not self.game.health:
            return []
        left = parse(self.game.health, self.game.symbols)
        return [round(left.evaluate(self.game.measure(self.level, state)), 6) for state in self.states]

    def cause(self, last: int) -> str:
        """Return what the game was lost to in the first `last` moves."""
        if self.game.cause is None or last < 1 or not self.alone:
            return ""
        over = (i for i in range(1, last + 1) if self.game.over(self.level, self.states[i]) != RUNNING)
        turn = next(over, last)
        return self.game.cause(self.level, self.states[turn - 1], self.states[turn])

    def end(self, after: Continuation, made: int, utility: float) -> End:
        """Return how the game ended; `utility` is that of the state after the plan's `made` moves."""
        last = self.states[-1]
        status = self.game.over(self.level, last)
        if after.actions:
            utility = after.utility
        return End(
            outcome="stuck" if after.stuck else "unfinished" if status == RUNNING else OUTCOMES[status],
            utility=utility,
            turn=len(self.names),
            cause=self.cause(len(self.names)) if status == LOST else "",
            place=self.places[-1] if self.places else None,
            actions=self.names[made:],
            positions=self.places[made + 1 :],
            events=[e for e in self.events if e.step > made],
        )
