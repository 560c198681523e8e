"""The matches of the Colosseum reproduction: agents of two students' reports play against each other.

| in the folder | what |
|---|---|
| reproduction.json | everything that the games depend on, written first |
| runs/NAME/ | each match, a folder in the format of `match.records` |

Table 1 of the first report was made with a limit of seconds. It is made again in two ways: with few games under such a
limit, and with as many iterations as the published program has nodes, which does not depend on the machine. All other
matches have a limit of iterations. On 12 x 12 this is a tenth of the limit on 6 x 6, as in the reports (about 600 and
60 nodes). A finished game is never played again; after an interruption, the same call continues.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.agents.agent import Agent
from persona_evo.errors import SettingsError
from persona_evo.games import registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.progress import Forecast, Progress, Tell
from persona_evo.jobs.workers import Workers
from persona_evo.matches import names
from persona_evo.matches.job import Match, PlayedMatch, play
from persona_evo.matches.records import GameRecord
from persona_evo.studies import keeping

STUDY = "colosseum"
RUNS = "runs"
ALL = (
    "random",
    "two_ply",
    "uct",
    "uct_walls",
    "uct_walls_published",
    "uct_rave",
    "killer_moves",
    "killer_depth",
    "potential_field",
)
"""The agents of the round robin."""

FREE = "no_prior=uct_walls:LOST=0"
HEURISTICS = {
    "prior": ("uct_walls", "20 lost games for three walls", FREE),
    "tree-killers": ("killer_moves", "killer moves in the tree", "blind=killer_moves:variant=blind"),
    "game-killers": ("killer_moves", "killer moves in random games", "calm_games=killer_moves:variant=narrow"),
    "top20": ("killer_moves", "the 20 best moves", "wide=killer_moves:variant=wide"),
    "whole-tree": ("killer_moves", "both in the tree", "whole_tree=killer_moves:variant=killer_games"),
    "anything": ("killer_moves", "all of them", "plain=killer_moves:variant="),
}
"""Agents without one of their parts: the agent, the part, and the agent without it."""

CONSTANTS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.4, 2.0)
OPPONENTS = ("uct_walls", "killer_moves")
"""The opponents of the agents with each value of c (CONSTANTS)."""

EQUIVALENCE = (20, 100, 500, 2000, 10000)
"""The values of K (the equivalence parameter) of uct_rave."""

DEPTHS = (5, 10, 20, 40, 2000)
"""Number of moves after which a random game is judged; 2000 means that it is played to its end."""

LARGE, MIDDLE, SMALL = 12, 8, 6
"""Sizes of boards. RAVE is tried on 8 x 8, since 60 iterations do not even try all moves of 12 x 12 once."""

TENTH = 10


class Trees(NamedTuple):
    """A row of table 1.

    Attributes:
        size: the size of the board.
        breadth, depth: breadth and depth of the trees in the report.
        nodes: number of nodes of the published program's trees on another machine; 0 if unknown.
        measured: breadth and depth of these trees; 0 if unknown.
    """

    size: int
    breadth: float
    depth: float
    nodes: int = 0
    measured: tuple[float, float] = (0.0, 0.0)


class ColosseumClaim(NamedTuple):
    """A claim of a report.

    Attributes:
        key: the name of the claim.
        report: the number of the report.
        says: the claim in words.
        why: an explanation in case the result here is different.
    """

    key: str
    report: int
    says: str
    why: str


class ColosseumReports(NamedTuple):
    """The numbers and claims of both reports."""

    title: str
    source: str
    trees: tuple[Trees, ...]
    prior: tuple[Trees, ...]
    claims: tuple[ColosseumClaim, ...]


@functools.cache
def study() -> ColosseumReports:
    """Return the contents of `colosseum.toml`."""
    data = tomllib.loads(Path(__file__).with_name("colosseum.toml").read_text(encoding="utf-8"))
    return ColosseumReports(
        data["title"],
        data["source"],
        tuple(_row(t) for t in data["trees"]),
        tuple(_row(t) for t in data["prior"]),
        tuple(ColosseumClaim(**c) for c in data["claims"]),
    )


def _row(data: dict[str, Any]) -> Trees:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
    return Trees(**values)


@dataclass(frozen=True)
class ColosseumSettings:
    """The settings of a reproduction.

    Attributes:
        seed: everything random follows from it.
        games: games of each pair in the round robin and against the random agent; single pairs play twice as many.
        iterations: iterations of a move on 6 x 6.
        seconds: seconds of a move in table 1.
        timed: games with a limit of seconds for each size of board.
        short: seconds of a move in the matches in which random games are cut short.
        quick: whether these are the settings of a first look.
    """

    seed: int = 1
    games: int = 50
    iterations: int = 600
    seconds: float = 1.8
    timed: int = 2
    short: float = 0.02
    quick: bool = False

    def __post_init__(self) -> None:
        for name, low, high in (("games", 2, 10_000), ("iterations", TENTH, 10_000_000), ("timed", 1, 1_000)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise SettingsError(f"{name} are out of range", found=str(value), expected=f"from {low} to {high}")
        if self.games % 2:
            raise SettingsError(
                "each board is played from both sides, so the number of games is even",
                found=str(self.games),
                expected=str(self.games + 1),
            )
        for name in ("seconds", "short"):
            if not 0 < getattr(self, name) <= 3600:
                raise SettingsError(f"{name} are out of range", found=str(getattr(self, name)), expected="up to 3600")

    @classmethod
    def of(cls, *, quick: bool = False, **given: int | float | None) -> ColosseumSettings:
        """Return the usual settings or those of a first look; given values replace single ones."""
        usual = cls(games=4, iterations=100, seconds=0.1, timed=1, short=0.005, quick=True) if quick else cls()
        values: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        return dataclasses.replace(usual, **values)

    @property
    def tenth(self) -> int:
        """Iterations of a move on 12 x 12."""
        return self.iterations // TENTH


@dataclass
class ColosseumGames:
    """The games of a reproduction.

    Attributes:
        folder: the folder of the reproduction.
        settings: its settings.
        played: the games by the match's name.
        complete: False after Ctrl-C.
    """

    folder: Path
    settings: ColosseumSettings
    played: dict[str, list[GameRecord]] = field(default_factory=dict)
    complete: bool = True


def matches(s: ColosseumSettings) -> dict[str, Match]:
    """Return all matches by name in the order of playing; those that do not depend on the machine come first."""
    return dict(itertools.chain(_trees(s), _pairs(s), _heuristics(s), _constants(s), _ideas(s), _timed(s)))


def _trees(s: ColosseumSettings) -> Iterator[tuple[str, Match]]:
    """Yield the matches of table 1 with as many iterations as the published program has nodes."""
    for row in study().trees:
        yield f"trees-{row.size}", _match(s, ("uct_walls", "random"), (row.size,), s.games, row.nodes)
    nodes = {row.size: row.nodes for row in study().trees}
    for row in study().prior:
        yield f"trees-free-{row.size}", _match(s, (FREE, "random"), (row.size,), s.games, nodes[row.size])


def _pairs(s: ColosseumSettings) -> Iterator[tuple[str, Match]]:
    yield "all", _match(s, ALL, (SMALL,), s.games, s.iterations)
    field = ("potential_field", "killer_moves")
    yield "field-6", _match(s, field, (SMALL,), 2 * s.games, s.iterations)
    yield "field-12", _match(s, field, (LARGE,), 2 * s.games, s.tenth)


def _heuristics(s: ColosseumSettings) -> Iterator[tuple[str, Match]]:
    for name, (whole, _, word) in HEURISTICS.items():
        yield f"without-{name}-6", _match(s, (whole, word), (SMALL,), 2 * s.games, s.iterations)
        yield f"without-{name}-12", _match(s, (whole, word), (LARGE,), s.games, s.tenth)


def _constants(s: ColosseumSettings) -> Iterator[tuple[str, Match]]:
    for other in OPPONENTS:
        for c in CONSTANTS:
            pair = (f"c=uct_walls:C={c}", other)
            yield f"c-{other}-{c}", _match(s, pair, (SMALL,), 2 * s.games, s.iterations)


def _ideas(s: ColosseumSettings) -> Iterator[tuple[str, Match]]:
    """Yield the matches of the reports' suggestions: RAVE, and random games that end early."""
    for k in EQUIVALENCE:
        pair = (f"rave=uct_rave:K={k}", "uct_walls")
        yield f"rave-{k}-6", _match(s, pair, (SMALL,), 2 * s.games, s.iterations)
        yield f"rave-{k}-8", _match(s, pair, (MIDDLE,), s.games, s.iterations)
    for depth in DEPTHS:
        pair = (f"early=killer_depth:rollout={depth}", "killer_moves")
        yield f"depth-{depth}-6", _match(s, pair, (SMALL,), 2 * s.games, s.iterations)
        yield f"depth-{depth}-12", _match(s, pair, (LARGE,), s.games, s.tenth)


def _timed(s: ColosseumSettings) -> Iterator[tuple[str, Match]]:
    """Yield the matches with a limit of seconds, whose results depend on the machine."""
    for depth in DEPTHS:
        pair = (f"early=killer_depth:rollout={depth}", "killer_moves")
        yield f"depth-{depth}-short", _match(s, pair, (LARGE,), s.games, None, s.short)
    sizes = tuple(row.size for row in study().trees)
    yield "trees-seconds", _match(s, ("uct_walls", "random"), sizes, s.timed, None, s.seconds, swap=s.timed % 2 == 0)


def _match(
    s: ColosseumSettings,
    words: Sequence[str],
    sizes: Sequence[int],
    games: int,
    iterations: int | None,
    seconds: float | None = None,
    swap: bool = True,
) -> Match:
    load: Any = registry.get(STUDY).load
    levels = tuple(LevelText.of(load(f"random {n}", f"size{n}", size=n)) for n in sizes)
    agents = tuple(_agent(word).with_budget(iterations, seconds) for word in words)
    return Match(STUDY, levels, agents, games, swap, s.seed)


@functools.cache
def _agent(word: str) -> Agent:
    return names.agent(registry.get(STUDY), word)


def run(
    folder: Path, settings: ColosseumSettings, *, jobs: int = 1, backend: str = "loky", tell: Tell | None = None
) -> ColosseumGames:
    """Play the missing games; after Ctrl-C, return those that are finished.

    Raises:
        RunError: the folder belongs to something else, is damaged, or is in use.
    """
    found, material = matches(settings), ColosseumGames(folder, settings)
    values = {"game_version": registry.get(STUDY).version, **dataclasses.asdict(settings)}
    with keeping.opened(folder, STUDY, values), Workers(jobs, backend) as workers:
        ahead = _Ahead(found, workers.jobs, tell) if tell is not None else None
        for name, match in found.items():
            done = play(
                match,
                folder=folder / RUNS / name,
                workers=workers,
                progress=None if ahead is None else ahead.progress,
                begun=None if ahead is None else functools.partial(ahead.begun, name),
            )
            material.played[name] = done.records
            if not done.complete:
                material.complete = False
                break
    return material


class _Ahead:
    """An estimate of how much of all matches is still to be played, with a weight for each game's expected duration."""

    def __init__(self, found: Mapping[str, Match], jobs: int, tell: Tell) -> None:
        self._costs = {name: match.costs(match.jobs()) for name, match in found.items()}
        self._forecast = Forecast(list(itertools.chain.from_iterable(self._costs.values())), jobs)
        self._total, self._tell = sum(map(len, self._costs.values())), tell
        self._name, self._done, self._before, self._at = "", 0, 0, time.perf_counter()

    def begun(self, name: str, played: PlayedMatch) -> None:
        """Note that the match called `name` begins, of which some games are played already."""
        there = len(played.records)
        self._before += len(self._costs.get(self._name, ()))
        self._forecast.skip(self._costs[name][:there])
        self._name, self._done, self._at = name, there, time.perf_counter()

    def progress(self, p: Progress) -> None:
        """Take account of games that were played."""
        now = time.perf_counter()
        if p.done > self._done:
            self._forecast.made(self._costs[self._name][self._done : p.done], now - self._at)
        self._done, self._at = p.done, now
        self._tell(Progress(self._before + p.done, self._total, self._forecast.left, self._name))


def reopen(folder: Path) -> ColosseumSettings:
    """Return the settings in a reproduction's folder.

    Raises:
        RunError: this is no folder of this reproduction, or a file is damaged.
    """
    return keeping.settings(folder, STUDY, ColosseumSettings)
