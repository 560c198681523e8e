"""Many playthroughs: every player in every level, as often as asked, on all cores.

Where an agent plays move by move (`search.duel`), a playthrough is what it played with the player's tree policy; a
player may also be an agent of its own, which needs no tree policy. In a game for two each player meets the opponents of
a league in turn, first as one side, then as the other; its metrics are what it sees at the end, and its records name
the opponent, the side and the result.

Once a trial has proven its plan, the trials after it show other routes of the same search (see `playing`).
"""

from __future__ import annotations

import bisect
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from persona_evo.errors import ConnectError, Place, RunError, SettingsError
from persona_evo.evolve.fitness_spec import LevelText
from persona_evo.evolve.parallel import Workers, workers_for
from persona_evo.evolve.reopening import load_levels
from persona_evo.games import registry
from persona_evo.games.commands import command
from persona_evo.games.core import Game, Level, closing_outside
from persona_evo.playtest.journal import MAX_TRIALS, TRACES, Journal, Reopened, config_reader, reading, reopen
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.players import Player, Role, check_skills, movers, player_from
from persona_evo.playtest.playing import CONTINUATION, Job, Source, Spec, draws, play
from persona_evo.playtest.records import Playthrough
from persona_evo.search.agents import agent_from, check
from persona_evo.search.duel import League
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.skill import errs
from persona_evo.words import counted

_ROUND_SECONDS = 2.0
"""How long a round of tasks should take; playthroughs are written down and progress is told after each."""

_MOST = 10_000
"""Playthroughs in a round at most."""

_ALONE_SECONDS = 1.5
"""Work that takes less than this is not worth the start of worker processes."""


class Progress(NamedTuple):
    """Told after each round: playthroughs done and wanted, seconds to go, level and player of the last one."""

    done: int
    total: int
    eta: float
    level: str
    player: str


Tell = Callable[[Progress], None]

Proofs = Mapping[tuple[int, int], Source]
"""The first proven search by numbers of level and player, where later trials draw from it."""


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
    def tolerances(self) -> dict[str, float]:
        """Label of a player whose trials draw their routes -> the share of |best utility| within which they do."""
        return {
            p.label: self.settings.tolerance
            for p in self.players
            if p.agent is None and not errs(p.skill) and draws(self.game, self.settings, p.policy, self.league)
        }

    @property
    def priorities(self) -> dict[str, str]:
        """Label of a player -> symbol of the metric that its persona is about."""
        return {p.label: p.persona.priority for p in self.players}


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
    continuation: float = CONTINUATION,
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
        continuation: share of the budget, beside it, for playing on from a plan's end to the game's; 0 not to.

    Returns:
        Results, not complete if Ctrl-C ended them.

    Raises:
        SettingsError: nothing to play, names that are not different, or a player that cannot play.
        RunError: the folder belongs to something else, is damaged, or in use.
    """
    spec = specified(game, levels, players, trials, budget=budget, settings=settings, league=league,
                     continuation=continuation, game_name=game_name)  # fmt: skip
    results = Results(
        game, levels, players, trials, seed, spec.budget, spec.settings, [], folder=folder, league=spec.league
    )
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
            for made in _rounds(spec, todo, tuple(results.records), workers, progress):
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


def specified(
    game: Game,
    levels: Sequence[Level],
    players: Sequence[Player],
    trials: int,
    *,
    budget: Budget | None = None,
    settings: SearchSettings | None = None,
    league: League | None = None,
    continuation: float = CONTINUATION,
    game_name: str | None = None,
) -> Spec:
    """What decides each playthrough of a batch, all of it checked (arguments as for `playtest`)."""
    _check(levels, players, trials)
    if not 0 <= continuation <= 1:
        raise SettingsError("the share for playing on is out of range", found=f"{continuation:g}", expected="0 to 1")
    _check_agents(players, game, league)
    check_skills(players, game, league)
    if league is not None:
        league.check(game)
        budget, settings = budget or league.agent.budget, SearchSettings.from_dict(league.agent.search)
        league = league.with_budget(budget)
    elif game.players > 1:
        raise SettingsError("a playtest of a game for two needs opponents", found=game.name, expected="a league",
                            hint="or let agents play each other: persona-evo match")  # fmt: skip
    return Spec(
        game_name or game.name, tuple(LevelText.of(level) for level in levels), tuple(Role.of(p) for p in players),
        settings or SearchSettings.anytime(), budget or Budget(), league, continuation,
    )  # fmt: skip


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
    known, name, before = _reopened(folder, game_name)
    return playtest(
        before.game, before.levels, before.players, known.trials, seed=known.seed, budget=before.budget,
        settings=before.settings, jobs=jobs, backend=backend, address=address, folder=folder, progress=progress,
        game_name=name, recorded=known.game, league=before.league, continuation=known.continuation,
    )  # fmt: skip


def kept(folder: Path, *, game_name: str | None = None) -> Results:
    """What a batch's folder holds by now, also while another process is at work in it (arguments as for `resume`).

    Raises:
        RunError: no playtest's folder, damaged, or made with other rules of the game.
    """
    known, _, results = _reopened(folder, game_name)
    results.records = reading(folder / TRACES)
    wanted = known.trials * len(results.levels) * len(results.players)
    results.complete = len(results.records) >= wanted
    return results


def _reopened(folder: Path, game_name: str | None) -> tuple[Reopened, str, Results]:
    """A batch as its folder has it: as written, how the registry finds its game now, and without its playthroughs."""
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
    return known, name, Results(
        game, levels, [player_from(row, game) for row in known.players], known.trials, known.seed,
        Budget.from_dict(known.budget), SearchSettings.from_dict(known.search), [], folder=folder, league=league,
    )  # fmt: skip


def configuration(spec: Spec, game: Game, players: Sequence[Player], trials: int, seed: int) -> dict[str, object]:
    """All that a batch's result depends on, as plain values; `journal.reopen` reads it back."""
    return {
        "game": spec.game,
        "game_version": game.version,
        "seed": seed,
        "trials": trials,
        "budget": spec.budget.to_dict(),
        "search": spec.settings.to_dict(),
        **({"continuation": spec.continuation} if spec.continuation else {}),
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


class _Cost(NamedTuple):
    """Seconds that a job is thought to take on one core, and those of the search that would have to be made again where
    it is played apart from the trial before it."""

    seconds: float
    apart: float


class _Pace:
    """How long searches and routes take, to tell how much fits into a round and how long the rest will take.

    A trial of a group (a level and a player) that has a proof draws a route. Of a group that was not played yet the
    first trial searches, and how many of the others will is guessed from the searches of other groups.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._searches, self._routes = [0.0, 0], [0.0, 0]
        self._proofs = [0, 0]
        self._besides: float | None = None
        self._seen: set[tuple[int, int]] = set()

    def learn(self, jobs: Sequence[Job], records: Sequence[Playthrough], busy: float | None = None) -> None:
        """Take account of what was played. busy: what it took altogether, None where that is not known."""
        for job, record in zip(jobs, records, strict=True):
            kind = self._searches if record.search is None else self._routes
            kind[0] += record.seconds
            kind[1] += 1
            if record.search is None and self._spec.drawing[job.player]:
                self._proofs[0] += record.proven
                self._proofs[1] += 1
            self._seen.add(job.group)
        if busy is not None:
            self._besides = max(0.0, busy - sum(r.seconds for r in records)) / len(records)

    @property
    def known(self) -> bool:
        """Whether anything can be said."""
        return self._besides is not None

    def costs(self, jobs: Sequence[Job], proofs: Proofs) -> list[_Cost]:
        """What each job is thought to cost; proofs: those that are known."""
        search, route = (s / n if n else 0.0 for s, n in (self._searches, self._routes))
        likely = self._proofs[0] / self._proofs[1] if self._proofs[1] else 1.0
        begun, found = set(self._seen), []
        for job in jobs:
            chance = 1.0 if job.group in proofs else 0.0
            if not chance and self._spec.drawing[job.player] and job.group in begun and job.group not in self._seen:
                chance = likely
            begun.add(job.group)
            seconds = (self._besides or 0.0) + chance * route + (1.0 - chance) * search
            found.append(_Cost(max(1e-6, seconds), search if chance >= 0.5 else 0.0))
        return found


def _rounds(
    spec: Spec, todo: Sequence[Job], there: Sequence[Playthrough], crew: _Crew, progress: Tell | None
) -> Iterator[list[Playthrough]]:
    """Playthroughs in their order, a round at a time: two to know how long one takes, then a few seconds' worth.

    there: those that were made before. A round is complete when no trial in it searched after an earlier one's proof.
    """
    pace, first = _Pace(spec), len(there)
    pace.learn(todo[:first], there)
    proofs, done, count = spec.proofs(todo, there), first, 1
    workers = crew.alone
    while done < len(todo):
        chosen = [job._replace(source=proofs.get(job.group)) for job in todo[done : done + count]]
        started = time.perf_counter()
        parts = _parts(chosen, pace.costs(chosen, proofs), 1 if workers is crew.alone else 4 * workers.jobs)
        made = [record for part in workers.map(play, [(spec, part) for part in parts]) for record in part]
        proofs = {**spec.proofs(chosen, made), **proofs}
        made = _settled(spec, chosen, made, proofs, workers)
        seconds = time.perf_counter() - started
        done += len(made)
        if done - first > 1:  # the first one compiles
            pace.learn(chosen, made, seconds * (1 if workers is crew.alone else workers.jobs))
        else:
            pace.learn(chosen, made)
        ahead = [cost.seconds for cost in pace.costs(todo[done : done + _MOST], proofs)] if pace.known else []
        left = sum(ahead) / max(1, len(ahead)) * (len(todo) - done)
        if ahead:
            workers = workers if workers is crew.workers else crew.for_work(left)
            until = list(itertools.accumulate(ahead))
            count = max(1, bisect.bisect_right(until, _ROUND_SECONDS * workers.jobs))
        yield made
        if progress is not None and pace.known:
            progress(Progress(done, len(todo), left / workers.jobs, made[-1].level, made[-1].player))


def _parts(jobs: Sequence[Job], costs: Sequence[_Cost], count: int) -> list[list[Job]]:
    """The jobs in about `count` parts of like cost. Trials that draw from a search, or will, stay with the trial before
    them until they cost as much as making that search again elsewhere."""
    share = sum(cost.seconds for cost in costs) / count * (1 - 1e-9)
    parts: list[list[Job]] = [[jobs[0]]]
    spent, following = costs[0].seconds, 0.0
    for before, job, cost in zip(jobs, jobs[1:], costs[1:], strict=False):
        same = before.group == job.group
        if spent >= share and (not same or following >= cost.apart):
            parts.append([])
            spent, same = 0.0, False
        parts[-1].append(job)
        spent += cost.seconds
        following = following + cost.seconds if same else 0.0
    return parts


def _settled(
    spec: Spec, jobs: Sequence[Job], made: list[Playthrough], proofs: Proofs, workers: Workers
) -> list[Playthrough]:
    """The playthroughs of a round, those replaced by routes that searched, or drew from a later search, although an
    earlier trial of their group has a proof: side by side nobody could know of it."""
    late = []
    for i, (job, record) in enumerate(zip(jobs, made, strict=True)):
        source = proofs.get(job.group)
        if source is not None and job.source is None and job.trial > source.trial and record.search != source.trial:
            late.append((i, job._replace(source=source)))
    if not late:
        return made
    parts = [[job for _, job in group] for _, group in itertools.groupby(late, key=lambda one: one[1].group)]
    again = [record for part in workers.map(play, [(spec, part) for part in parts]) for record in part]
    settled = list(made)
    for (i, _), record in zip(late, again, strict=True):
        settled[i] = record
    return settled
