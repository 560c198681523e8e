"""Many playthroughs: every player in every level, as often as asked, on all cores.

A playthrough's seed is made of the seed given, the level's name and text, the player's label and the number of the
trial, so a result depends neither on the number of jobs nor on what else is played in the same batch.

Where an agent plays move by move (`search.duel`), a playthrough is what it played with the player's tree policy; a
player may also be an agent of its own, which needs no tree policy. In a game for two each player meets the opponents of
a league in turn, first as one side, then as the other; its metrics are what it sees at the end, and its records name
the opponent, the side and the result.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import ConnectError, Place, RunError, SettingsError
from persona_evo.evolve.fitness import LevelText
from persona_evo.evolve.parallel import Workers, workers_for
from persona_evo.evolve.reopening import load_levels
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.commands import command
from persona_evo.games.core import LOST, RUNNING, Event, Game, Level, closing_outside
from persona_evo.personas import Persona
from persona_evo.playtest.journal import MAX_TRIALS, Journal, config_reader, reopen
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.records import OUTCOMES, SIDES, Playthrough
from persona_evo.search.agents import Agent, agent_from, check, policy_of
from persona_evo.search.duel import League, plain
from persona_evo.search.plan import MAX_NODES, Plan, capacity_for, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive, stream
from persona_evo.words import counted

_ROUND_SECONDS = 2.0
"""How long a round of tasks should take; playthroughs are written down and progress is told after each."""

_ALONE_SECONDS = 1.5
"""Work that takes less than this is not worth the start of worker processes."""

_NODES_A_SECOND = 1_000_000
"""Room for nodes that a budget of time alone is given."""


@dataclass(frozen=True)
class Player:
    """A persona with the tree policy it plays by.

    label: what tables and requirements call it; the persona's name if not given. baseline: label of the player it is
    compared with, "" for none. agent: who plays for the persona in place of a league's template; its tree policy, if
    it has one, is its own.
    """

    persona: Persona
    policy: TreePolicy
    label: str = ""
    baseline: str = ""
    agent: Agent | None = None

    @classmethod
    def of_agent(cls, persona: Persona, agent: Agent, game: Game, label: str = "", baseline: str = "") -> Player:
        """A persona that an agent plays for."""
        return cls(persona, replace(_own_policy(agent, game), name=agent.name), label, baseline, agent)

    @property
    def text(self) -> str:
        """How it plays, for people."""
        return self.policy.text if self.agent is None else f"agent {self.agent.name}: {self.agent.about}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.persona.name)


def _own_policy(agent: Agent, game: Game) -> TreePolicy:
    """An agent's tree policy; UCB1 stands for that of one that has none."""
    return policy_of(agent, game) if agent.kind == "search" else TreePolicy.ucb1()


class Progress(NamedTuple):
    """Told after each round: playthroughs done and wanted, seconds to go, level and player of the last one."""

    done: int
    total: int
    eta: float
    level: str
    player: str


Tell = Callable[[Progress], None]


@dataclass
class Results:
    """A batch of playthroughs, in the order of levels, players and trials, and what it was made with.

    bounds: the best utilities known, by (level, persona's name). complete: False after Ctrl-C. folder: where the
    playthroughs are kept, None if nowhere. league: who plays in a game for two.
    """

    game: Game
    levels: Sequence[Level]
    players: Sequence[Player]
    trials: int
    seed: int
    budget: Budget
    settings: SearchSettings
    records: list[Playthrough]
    complete: bool = True
    folder: Path | None = None
    league: League | None = None
    bounds: dict[tuple[str, str], Bound] = field(default_factory=dict)

    @property
    def baselines(self) -> dict[str, str]:
        """Label of a player -> label of the one it is compared with."""
        return {p.label: p.baseline for p in self.players if p.baseline}

    @property
    def movers(self) -> list[str]:
        """Names of the agents that play move by move: players' own, and the league's for those who have none."""
        return [] if self.league is None else movers(self.players, self.league)

    @property
    def priorities(self) -> dict[str, str]:
        """Label of a player -> symbol of the metric that its persona is about."""
        return {p.label: p.persona.priority for p in self.players}


def movers(players: Sequence[Player], league: League) -> list[str]:
    """Names of the agents that play for players move by move, each once."""
    return list(dict.fromkeys((p.agent or league.agent).name for p in players))


class Role(NamedTuple):
    """A player as it can be sent anywhere. formula: None for UCB1 with the constant c. agent: see `Player`."""

    label: str
    persona: str
    utility: str
    policy: str
    formula: str | None
    c: float
    agent: Agent | None = None

    @classmethod
    def of(cls, player: Player) -> Role:
        """The role of a player."""
        policy = player.policy
        formula = None if policy.formula is None else policy.formula.text
        who = player.persona
        return cls(player.label, who.name, who.utility.text, policy.name, formula, policy.c, player.agent)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        agent = {} if self.agent is None else {"agent": plain(self.agent)}
        return {**{k: v for k, v in self._asdict().items() if k != "agent"}, **agent}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], game: Game) -> Role:
        """The inverse of `to_dict`; more keys do not matter."""
        agent = agent_from(row["agent"], game) if "agent" in row else None
        return cls(**{name: row[name] for name in cls._fields if name != "agent"}, agent=agent)

    def tree_policy(self, game: Game) -> TreePolicy:
        """What a search takes."""
        if self.agent is not None:
            return _own_policy(self.agent, game)
        return TreePolicy.ucb1(self.c) if self.formula is None else TreePolicy.of(self.formula, game, self.policy)


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


def playtest(
    game: Game,
    levels: Sequence[Level],
    players: Sequence[Player],
    trials: int,
    *,
    seed: int,
    budget: Budget | None = None,
    settings: SearchSettings | None = None,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    folder: Path | None = None,
    progress: Tell | None = None,
    game_name: str | None = None,
    recorded: str = "",
    league: League | None = None,
) -> Results:
    """Let every player play every level.

    Args:
        game: what is played.
        levels: as loaded by `game.load`; names must differ.
        players: labels must differ.
        trials: playthroughs of each player in each level, 1 to MAX_TRIALS.
        seed: everything follows from it, unless the budget is one of time.
        budget, settings: of each search; 10,000 iterations and the preset `anytime` if not given.
        jobs, backend, address: see `evolve.parallel.Workers`; without influence on the result.
        folder: where each playthrough is written down as soon as it is made. A folder with the beginning of the very
            same batch is continued.
        progress: called now and then.
        game_name: how the registry finds the game, where that is not its name ("module:object").
        recorded: what the folder calls the game, where that is something else.
        league: who plays move by move; needed in a game for two, and where a player is an agent. The budget is one of a
            move then, and the template says how it searches.

    Returns:
        Results, not complete if Ctrl-C ended them.

    Raises:
        SettingsError: nothing to play, names that are not different, or a player that cannot play.
        RunError: the folder belongs to something else, is damaged, or in use.
    """
    _check(levels, players, trials)
    _check_agents(players, game, league)
    if league is not None:
        league.check(game)
        budget, settings = budget or league.agent.budget, SearchSettings.from_dict(league.agent.search)
        league = league.with_budget(budget)
    elif game.players > 1:
        raise SettingsError("a playtest of a game for two needs opponents", found=game.name, expected="a league",
                            hint="or let agents play each other: persona-evo match")  # fmt: skip
    budget, settings = budget or Budget(), settings or SearchSettings.anytime()
    spec = Spec(
        game_name or game.name, tuple(LevelText.of(level) for level in levels), tuple(Role.of(p) for p in players),
        settings, budget, league,
    )  # fmt: skip
    results = Results(game, levels, players, trials, seed, budget, settings, [], folder=folder, league=league)
    todo = spec.jobs(trials, seed)
    with ExitStack() as stack:
        journal = None
        if folder is not None:
            about = {**configuration(spec, game, players, trials, seed), "game": recorded or spec.game}
            journal = stack.enter_context(Journal(folder, about))
            results.records = journal.records([_key(spec, job) for job in todo])
            if game.outside is not None:
                game.outside.keep_in(folder)
        stack.enter_context(closing_outside(game))
        workers = stack.enter_context(_Crew(game, jobs, backend, address))
        try:
            for made in _rounds(spec, todo, len(results.records), workers, progress):
                if journal is not None:
                    journal.append(made)
                results.records += made
        except KeyboardInterrupt:
            results.complete = False
        except ConnectError as e:
            if folder is None:
                raise
            made_so_far = counted(len(results.records), "playthrough")
            again = command(game, "playtest", "--resume", folder)
            raise e.hinting(f"kept in {folder}: {made_so_far}; go on with: {again}") from e
    return results


def resume(
    folder: Path,
    *,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    progress: Tell | None = None,
    game_name: str | None = None,
) -> Results:
    """Continue a batch where it stopped, with nothing but its folder (arguments as for `playtest`).

    game_name: how the registry finds the game now, where the folder does not know (its file has moved).

    Raises:
        RunError: no playtest's folder, damaged, in use, or made with other rules of the game.
    """
    known = reopen(folder)
    name = registry.again(known.game, game_name, str(folder))
    game = registry.get(name)
    if game.version != known.game_version:
        raise RunError(
            "the rules of the game have changed since this playtest began", place=Place(str(folder)),
            found=f"version {known.game_version}", expected=f"version {game.version}", hint="play into another folder",
        )  # fmt: skip
    reader = config_reader(folder)
    levels = load_levels(reader, game)
    for row in reader.items("players"):
        if "agent" in row.data:
            row.made("agent", lambda values: agent_from(values, game))
    league = reader.made("league", lambda values: League.from_dict(values, game)) if "league" in reader.data else None
    return playtest(
        game, levels, [_player(row, game) for row in known.players], known.trials, seed=known.seed,
        budget=Budget.from_dict(known.budget), settings=SearchSettings.from_dict(known.search), jobs=jobs,
        backend=backend, address=address, folder=folder, progress=progress, game_name=name, recorded=known.game,
        league=league,
    )  # fmt: skip


def _player(row: Mapping[str, Any], game: Game) -> Player:
    role = Role.from_dict(row, game)
    persona = Persona(
        role.persona, game.name, parse(role.utility, game.symbols), row.get("priority", ""), row.get("title", "")
    )
    if role.agent is not None:
        return Player.of_agent(persona, role.agent, game, role.label, row.get("baseline", ""))
    return Player(persona, role.tree_policy(game), role.label, row.get("baseline", ""))


def configuration(spec: Spec, game: Game, players: Sequence[Player], trials: int, seed: int) -> dict[str, object]:
    """All that a batch's result depends on, as plain values; `journal.reopen` reads it back."""
    return {
        "game": spec.game,
        "game_version": game.version,
        "seed": seed,
        "trials": trials,
        "budget": spec.budget.to_dict(),
        "search": spec.settings.to_dict(),
        "levels": [level.to_dict() for level in spec.levels],
        "players": [
            {**role.to_dict(), "priority": p.persona.priority, "title": p.persona.title, "baseline": p.baseline}
            for role, p in zip(spec.roles, players, strict=True)
        ],
        **({} if spec.league is None else {"league": spec.league.to_dict()}),
    }


def _check(levels: Sequence[Level], players: Sequence[Player], trials: int) -> None:
    if not levels:
        raise SettingsError("a playtest needs levels", found="none", expected="at least one")
    if not players:
        raise SettingsError("a playtest needs players", found="none", expected="at least one persona")
    if isinstance(trials, bool) or not 1 <= trials <= MAX_TRIALS:
        raise SettingsError("the number of trials is out of range", found=str(trials), expected=f"1 to {MAX_TRIALS}")
    for what, names in (("level", [v.name for v in levels]), ("player", [p.label for p in players])):
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise SettingsError(f"two {what}s have the same name", found=twice, expected="different names")
    for player in players:
        if player.baseline and player.baseline not in [p.label for p in players]:
            raise SettingsError("a baseline does not play", found=player.baseline, expected="the label of a player")


def _check_agents(players: Sequence[Player], game: Game, league: League | None) -> None:
    for player in players:
        if player.agent is None:
            continue
        if league is None:
            raise SettingsError("an agent plays move by move, the others here do not", found=player.agent.name,
                                hint="name the agent that plays with the other players' tree policies: --agent NAME")
        if player.agent.kind == "program":
            raise SettingsError("a program cannot be in a playtest", found=player.agent.name,
                                expected="an agent of this program", hint="persona-evo match plays against programs")
        check(player.agent, game)


def _key(spec: Spec, job: Job) -> tuple[str, str, int, int]:
    return spec.levels[job.level].name, spec.roles[job.player].label, job.trial, job.seed


class _Crew:
    """Workers that are started only where there is enough work for them."""

    def __init__(self, game: Game, jobs: int, backend: str, address: str | None) -> None:
        self.workers, self.alone = workers_for(game, jobs, backend, address), Workers(1)

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.close()

    def for_work(self, seconds: float) -> Workers:
        """Who should do work that takes one core this long."""
        here = self.workers.backend in ("loky", "threading") and seconds < _ALONE_SECONDS
        return self.alone if here else self.workers


def _rounds(
    spec: Spec, todo: Sequence[Job], done: int, crew: _Crew, progress: Tell | None
) -> Iterator[list[Playthrough]]:
    """Playthroughs in their order, a round at a time: two to know how long one takes, then a few seconds' worth."""
    pace, count, first = 0.0, 1, done
    workers = crew.alone
    while done < len(todo):
        chosen = todo[done : done + count]
        started = time.perf_counter()
        size = max(1, math.ceil(len(chosen) / (4 * workers.jobs))) if workers is not crew.alone else len(chosen)
        tasks = [(spec, chosen[i : i + size]) for i in range(0, len(chosen), size)]
        made = [record for part in workers.map(play, tasks) for record in part]
        seconds = time.perf_counter() - started
        done += len(made)
        if done - first > 1:  # the first one compiles
            pace = max(1e-6, seconds * (workers.jobs if workers is not crew.alone else 1) / len(made))
            workers = workers if workers is crew.workers else crew.for_work(pace * (len(todo) - done))
            count = max(1, min(10_000, round(_ROUND_SECONDS * workers.jobs / pace)))
        yield made
        if progress is not None and pace:
            eta = pace * (len(todo) - done) / workers.jobs
            progress(Progress(done, len(todo), eta, made[-1].level, made[-1].player))


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
