"""Plays all games of a match: every pair of agents on every level, as often as requested, on all cores.

The start of a game depends only on the given seed, the level and the number of the game, so all pairs meet on the same
boards. With `swap`, two games in a row use the same board with the sides exchanged. The agents' own seeds also depend
on their names. The games therefore do not depend on the number of jobs, unless an agent has a time limit.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.agents.agent import Agent
from persona_evo.agents.agent_seat import AgentSeat, warm_up
from persona_evo.agents.contest import Contest, Seat, contest
from persona_evo.agents.program import MEGABYTES, MOVE_SECONDS, ProgramSeat
from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.games import registry, trust
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import runner
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.files import opened
from persona_evo.jobs.folder import JobFolder
from persona_evo.jobs.journal import Journal
from persona_evo.jobs.progress import Forecast, Progress, Tell
from persona_evo.jobs.windows import program
from persona_evo.jobs.workers import Workers
from persona_evo.matches import cost
from persona_evo.matches.records import AGAIN, CHANGED, KIND, PROGRAMS, GameRecord, even, games, log
from persona_evo.matches.replays import MARGIN, RESULTS, positions
from persona_evo.seeds import derive
from persona_evo.words import counted, interrupted


@dataclass(frozen=True)
class Match:
    """The settings of a match.

    Attributes:
        game: its name in the registry.
        games: number of games of each pair on each level.
        swap: whether each board is played from both sides.
        limit: seconds per move of an agent of this process, None for no limit.
        program_seconds, megabytes: seconds per move and memory that programs may use.
        programs: names of agents that are programs, and the digests of their files (`with_programs`).
    """

    game: str
    levels: tuple[LevelText, ...]
    agents: tuple[Agent, ...]
    games: int
    swap: bool
    seed: int
    limit: float | None = None
    program_seconds: float = MOVE_SECONDS
    megabytes: int = MEGABYTES
    programs: tuple[tuple[str, str], ...] = ()

    def jobs(self) -> list[GameJob]:
        """Return all games, pair by pair, level by level."""
        digests = [level.digest for level in self.levels]
        found = []
        for a, b in itertools.combinations(range(len(self.agents)), 2):
            for i, level in enumerate(self.levels):
                for number in range(self.games):
                    board = number // 2 if self.swap else number
                    turned = self.swap and number % 2 == 1
                    start = derive(self.seed, "start", level.name, digests[i], board) % 2**32
                    found.append(GameJob(b if turned else a, a if turned else b, i, number, start))
        return found

    def key(self, job: GameJob) -> tuple[str, str, str, int]:
        """Return the key that identifies a game's record."""
        return self.agents[job.first].name, self.agents[job.second].name, self.levels[job.level].name, job.number

    def config(self, version: int) -> dict[str, Any]:
        """Return plain values for the folder; `version` is that of the game."""
        return {
            "game": self.game,
            **trust.code_of(self.game),
            "game_version": version,
            "games": self.games,
            "swap": self.swap,
            "seed": self.seed,
            "limit": self.limit,
            "program_seconds": self.program_seconds,
            "megabytes": self.megabytes,
            "levels": [level.to_dict() for level in self.levels],
            "agents": [agent.to_dict() for agent in self.agents],
            **({PROGRAMS: dict(self.programs)} if self.programs else {}),
        }

    def with_programs(self) -> Match:
        """Return the same match with the current digests of the programs' files.

        Raises:
            SettingsError: a file cannot be read.
        """
        return replace(self, programs=tuple((a.name, digest(a.program)) for a in self.agents if a.kind == "program"))

    def costs(self, jobs: Sequence[GameJob]) -> list[float]:
        """Return the estimated seconds of games on one core."""
        return cost.of_match(self.game, self.levels, self.agents, [(j.first, j.second, j.level) for j in jobs])

    @property
    def total(self) -> int:
        """The number of games of all pairs on all levels."""
        return math.comb(len(self.agents), 2) * len(self.levels) * self.games

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same games on every machine."""
        return self.limit is None and all(agent.reproducible for agent in self.agents)


class GameJob(NamedTuple):
    """One game: numbers of first and second mover, level and game, and the seed of its start."""

    first: int
    second: int
    level: int
    number: int
    start: int


@dataclass
class PlayedMatch:
    """The games of a match, in the order of `Match.jobs`; `complete` is False after Ctrl-C."""

    match: Match
    records: list[GameRecord]
    complete: bool = True

    @property
    def interruption(self) -> str:
        """Says how many games there are of how many; "" if all are there."""
        return interrupted(len(self.records), self.match.total, "game")


Begun = Callable[[PlayedMatch], None]
"""Called after all checks and before the first game, with the games that exist."""


def play(
    match: Match,
    *,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    folder: Path | None = None,
    progress: Tell | None = None,
    workers: Workers | None = None,
    begun: Begun | None = None,
) -> PlayedMatch:
    """Play a match, or continue the one in `folder`.

    Args:
        jobs, backend, address: see `jobs.workers.Workers`.
        workers: used instead of new ones; they are left running.
        folder: stores each game. If it holds the beginning of the very same match, that match is continued.

    Raises:
        SettingsError: too few agents, no levels, or a game that is not for two players.
        RunError: the folder belongs to something else, is damaged, or is in use.
    """
    game = registry.get(match.game)
    _check(match, game)
    match = match.with_programs()
    todo, played = match.jobs(), PlayedMatch(match, [])
    with ExitStack() as stack:
        kept = None
        if folder is not None:
            stack.enter_context(JobFolder(KIND, folder, match.config(game.version)))
            kept = games(folder)
            played.records = kept.read([match.key(job) for job in todo])
            _replay(match, game, todo, played.records, kept)
        if begun is not None:
            begun(played)
        workers = workers or stack.enter_context(Workers(jobs, backend, address))
        try:
            played.complete = _play(match, todo[len(played.records) :], played.records, workers, kept, progress)
        except KeyboardInterrupt:
            played.complete = False
    return played


def _play(
    match: Match,
    todo: Sequence[GameJob],
    there: list[GameRecord],
    workers: Workers,
    kept: Journal[GameRecord] | None,
    progress: Tell | None,
) -> bool:
    """Play the missing games and add them to `there`; return whether all were played."""
    if not todo:
        return True
    before, total = len(there), len(there) + len(todo)
    game = registry.get(match.game)
    warm_up(match.agents, game, match.levels[todo[0].level].load(game))
    costs = match.costs(todo)
    parts = Dispatch(workers, play_games, match, todo, [job[:3] for job in todo], costs)
    parts.begin()
    forecast, cores = Forecast(costs, workers.jobs), 1 if not workers.begun else workers.jobs
    clock = time.perf_counter()

    def report(made: Sequence[GameRecord]) -> None:
        nonlocal clock
        now, end = time.perf_counter(), len(there) - before
        forecast.made(costs[end - len(made) : end], now - clock, cores)
        clock = now
        if progress is not None:
            progress(Progress(len(there), total, forecast.left))

    if progress is not None:
        progress(Progress(before, total, forecast.left))
    return runner.collect(_logged(match, parts, before, kept), there, kept, report)


def _logged(
    match: Match,
    parts: Iterable[list[tuple[GameRecord, dict[str, str]]]],
    before: int,
    kept: Journal[GameRecord] | None,
) -> Iterator[list[GameRecord]]:
    """Yield games as they arrive, after adding what programs printed in them to their logs.

    Args:
        before: number of games that existed already.
        kept: the journal of the games.
    """
    number = before
    for made in parts:
        _unchanged(match, kept)
        for record, said in made:
            number += 1
            if kept is not None:
                log(kept.path.parent, number, record, said)
        yield [record for record, _ in made]


def _replay(
    match: Match, game: Game, todo: Sequence[GameJob], records: Sequence[GameRecord], kept: Journal[GameRecord]
) -> None:
    """Check that existing games have the right start, and that their moves lead to their results.

    This takes some milliseconds per game.

    Raises:
        RunError: a game has another start, or its moves lead to another result.
    """
    levels = {level.name: level.load(game) for level in match.levels} if records else {}
    for number, (record, job) in enumerate(zip(records, todo, strict=False), 1):
        if record.start != job.start:
            raise RunError(
                "a game did not begin where the match's seed says",
                place=kept.place(number),
                found=f"start {record.start}",
                expected=f"start {job.start}",
                hint=AGAIN,
            )
        positions(game, levels[record.level], record, kept.place(number))


def _unchanged(match: Match, kept: Journal[GameRecord] | None) -> None:
    """Check that no program's file was changed while it played.

    Raises:
        RunError: a file was changed; games played since the last check are not kept.
    """
    for agent in match.agents:
        if agent.kind != "program":
            continue
        known, now = dict(match.programs)[agent.name], digest(agent.program)
        if now != known:
            raise RunError(
                f"the program of {agent.name} was changed during the match",
                place=Place(agent.program),
                found=f"a file with digest {now}",
                expected=f"the file that the match began with, digest {known}",
                hint=CHANGED + (f"; the games before that are kept in {kept.path.parent}" if kept is not None else ""),
            )


def digest(program: str) -> str:
    """Return a digest of a program's file; modules that it imports are not covered.

    Raises:
        SettingsError: it cannot be read.
    """
    try:
        with opened(Path(program), SettingsError, "a Python file") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()
    except OSError as e:
        raise SettingsError(
            "the program cannot be read",
            place=Place(program),
            found=e.strerror or str(e),
            expected="a Python file",
            hint="leave it where it is",
        ) from e


def _check(match: Match, game: Game) -> None:
    if game.players != 2:
        raise SettingsError(
            "a match needs a two-player game",
            found=f"{game.name}, for {counted(game.players, 'player')}",
            expected="such as colosseum",
            hint="persona-evo playtest is for single-player games",
        )
    if len(match.agents) < 2:
        raise SettingsError(
            "a match needs at least two agents",
            found=", ".join(a.name for a in match.agents) or "none",
            hint=f"{program('match', match.game)} lists those of the game",
        )
    if not match.levels:
        raise SettingsError("a match needs a level", found="none")
    even(match.games, match.swap)


def play_games(match: Match, jobs: Sequence[GameJob]) -> Iterator[tuple[GameRecord, dict[str, str]]]:
    """Yield some games with what programs printed in them, by name; workers run this function."""
    return (play_one(match, job) for job in jobs)


def play_one(match: Match, job: GameJob) -> tuple[GameRecord, dict[str, str]]:
    """Play one game; return it with what programs printed in it, by name."""
    game = registry.get(match.game)
    text = match.levels[job.level]
    level = text.load(game)
    pair = (match.agents[job.first], match.agents[job.second])
    seed = derive(match.seed, "game", *match.key(job))
    warm_up(pair, game, level)
    seats = [seat(match, game, level, agent, derive(seed, "agent", who)) for who, agent in enumerate(pair)]
    limits = [None if agent.kind == "program" else match.limit for agent in pair]
    found = _record(match, job, game, level, contest(game, level, seats, job.start, seed, limits))
    return found, {agent.name: s.said for agent, s in zip(pair, seats, strict=True) if isinstance(s, ProgramSeat)}


def seat(match: Match, game: Game, level: Level, agent: Agent, seed: int) -> Seat:
    """Seat an agent at the board."""
    if agent.kind == "program":
        return ProgramSeat(game, level, agent.program, match.program_seconds, match.megabytes)
    return AgentSeat(agent, game, level, seed)


def _record(match: Match, job: GameJob, game: Game, level: Level, found: Contest) -> GameRecord:
    names, state = [], game.start(level, job.start)
    for action in found.actions:
        names.append(game.action_name(level, state, action))
    return GameRecord(
        *match.key(job),
        start=job.start,
        result=RESULTS.get(found.outcome, 0.5),
        margin=float(found.metrics[0].get(MARGIN, 0.0)),
        plies=len(names),
        actions=" ".join(names),
        faults=[list(fault) for fault in found.faults],
        seconds=[round(s, 4) for s in found.seconds],
        slowest=[round(s, 4) for s in found.slowest],
        searches=[_searches(t) for t in found.thoughts],
    )


def _searches(thoughts: Sequence[tuple[int, int, int, int]]) -> list[float]:
    if not thoughts:
        return []
    columns = list(zip(*thoughts, strict=True))
    means = [round(math.fsum(c) / len(c), 3) for c in columns]
    return [len(thoughts), *means, max(columns[2]), max(columns[3])]
