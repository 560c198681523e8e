"""What a game is: one frozen description plus a few pure functions over a flat state.

A forward model keeps a state in one row of numbers and never anywhere else, so that a search can hold millions of
states, copy them with one loop and compare them by hash. What a level fixes once and for all (walls, paths, lines of
sight) is a second row, the level's tables, which the functions read and do not change (but for filling in values that
are always the same).

| function | compiled signature | returns |
|---|---|---|
| legal | (tables, state, actions int64[max_actions]) | how many legal actions it wrote, in the game's order |
| step | (tables, state, action, rng int64[2]) | 0; changes the state in place; must accept every action |
| over | (tables, state) | 0 while the game goes on, 1 won, 2 lost, 3 ended without either, for player 0 of several |
| mover | (tables, state) | the player to move, 0 in single-player games |
| measure | (tables, state, player, out float64[metrics]) | 0; writes every metric as this player sees it |
| key | (tables, state) | a 64-bit hash of all that decides the future, without the count of steps |
| rollout | (tables, state, actions, played int64[length], length, rng, seen float64[length + 1, metrics], every) | how
many random moves it made in place; see `play_out`, of which it is made |

tables and state are uint16 rows. Randomness comes from `rng` alone (see `persona_evo.seeds`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import Callback, callback
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow, Linked, WordRow
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import parse
from persona_evo.games.findings import Finding

if TYPE_CHECKING:
    from persona_evo.games.constraints import Generator

Better = Literal["higher", "lower", "neutral"]

RUNNING, WON, LOST, ENDED = 0, 1, 2, 3
"""What `over` returns."""


@dataclass(frozen=True)
class Metric:
    """A number that a game reports for each state.

    Attributes:
        symbol: its name in formulas.
        name, meaning: its name in tables, and what it measures.
        unit: such as "moves"; "" if it has none.
        low, high: its range; high may be infinite.
        better: the direction that a designer reads as good.
        clock: whether it counts moves from the start, so that all states of one depth share its value.
        ratio: whether it is shown as a percentage.
        costly: whether it is computed only if a formula reads it (`Game.rules(costly=True)`); it is 0 otherwise.
        main: whether it is one of the few that say how a playthrough went, which charts show (see `main_metrics`).
        added: whether the publication that the game is from lacks it; studies of it evolve formulas without it.
    """

    symbol: str
    name: str
    meaning: str
    unit: str = ""
    low: float = 0.0
    high: float = float("inf")
    better: Better = "neutral"
    clock: bool = False
    ratio: bool = False
    costly: bool = False
    main: bool = False
    added: bool = False


MOST_MAIN = 4
"""Metrics that charts show of a game that does not say which are its main ones."""


def main_metrics(metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics that say how a playthrough went, in their order: those that are marked `main`.

    If the game marks none, these are its percentages, or else the first metrics that a designer reads as good or bad,
    or else the first ones. Clocks, costly metrics, and flags such as "dead", which repeat the outcome, are left out.
    """
    fit = [m for m in metrics if not (m.clock or m.costly or (m.high == 1 and m.low == 0 and not m.ratio))]
    choices = (
        [m for m in metrics if m.main],
        [m for m in fit if m.ratio],
        [m for m in fit if m.better != "neutral"],
        fit,
    )
    marked, *others = choices
    return marked or next((found[:MOST_MAIN] for found in others if found), [])


Legal = Annotated[Callable[[WordRow, WordRow, IntRow], int], Linked()]
Step = Annotated[Callable[[WordRow, WordRow, int, IntRow], int], Linked()]
Asked = Annotated[Callable[[WordRow, WordRow], int], Linked()]
Measure = Annotated[Callable[[WordRow, WordRow, int, FloatRow], int], Linked()]
Rollout = Annotated[Callable[[WordRow, WordRow, IntRow, IntRow, int, IntRow, FloatTable, int], int], Linked()]

KINDS: Mapping[str, Any] = {
    "legal": Legal,
    "step": Step,
    "over": Asked,
    "mover": Asked,
    "measure": Measure,
    "key": Asked,
    "novelty": Legal,
    "rollout": Rollout,
    "reach": Measure,
}
"""The signatures of a game's functions by their kinds."""


class Rules(NamedTuple):
    """The functions of a game, marked by `rule` or plain (see the module's table)."""

    legal: Legal
    step: Step
    over: Asked
    mover: Asked
    measure: Measure
    key: Asked
    rollout: Rollout


@dataclass(frozen=True, eq=False)
class Level:
    """A level as loaded: immutable, and cheap to send to another process.

    Attributes:
        tables: the row that the rules read, uint16.
        start: the state before the first move, uint16; for seed 0 if the start is random.
        max_actions: the most legal actions of any state.
        facts: what the game knows about the level beyond the rules (grid, objects), for drawing and structure
            metrics; the keys are the game's own.
        horizon: moves after which this level is over whatever is played; 0 if that is not known (see
            `Game.horizon_of`).
    """

    game: str
    name: str
    text: str = field(repr=False)
    tables: NDArray[Any] = field(repr=False)
    start: NDArray[Any] = field(repr=False)
    max_actions: int
    source: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    horizon: int = 0


@dataclass(frozen=True)
class Event:
    """Something that happened in one step: `kind` is the game's name for it, (x, y) counts from the top left."""

    step: int
    kind: str
    x: int
    y: int


@dataclass(frozen=True)
class Outside:
    """What takes the place of rules where a game runs outside this process and keeps its own state.

    levels(names) -> the texts of the levels that names stand for, which `load` reads; no files are looked for.
    sets: names of levels by set. personas: files of its own. close() ends its processes, which start again when needed.
    findings() -> what made the game fail since the last call, one text each.
    keep_in(folder) says where what shows a failure is kept, if the description says nothing of that.
    wins: whether it is said which ends of the game count as won.
    ordering: how searches order rollouts of the game; policy files keep it, so that others can play by the same search.
    """

    levels: Callable[[Sequence[str]], list[str]]
    close: Callable[[], None]
    findings: Callable[[], list[str]]
    keep_in: Callable[[Path], None]
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    personas: tuple[str, ...] = ()
    wins: bool = True
    ordering: Mapping[str, object] = field(default_factory=dict)


class Swift(NamedTuple):
    """A level as a search plays it.

    Attributes:
        game: the game with functions for the tables and states of `level`; moves and metrics are those of the game.
        level: the level in that layout.
        pack: pack(state) converts a state of the game into one of this layout.
    """

    game: Game
    level: Level
    pack: Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Game:
    """The frozen description of a game.

    rules(costly=False) -> Rules gives the functions; with costly=True `measure` works out every metric.
    load(text, name, source, **options) -> Level reads a level; it raises LevelError with a place.
    actions(level, state, action) -> str names an action of this state for people and trace files.
    parse_action(level, state, text) -> int is its inverse.
    locate(level, state) -> (x, y) of the avatar, for heatmaps; None where the game has no place.
    events(level, before, after, step) -> what happened between two states.
    draw: "module:function" that draws a state (loaded on demand). The module may draw what happens in a
    step, too (see `persona_evo.report.replay.frames`). That of a two-player game may have PLAYERS, (name, #rrggbb) of
    both players' pieces, and standing(level, state), the score in words ("" before there is one), with which games of a
    match are shown.
    structure(level) -> level-structure numbers (walls, dead ends, ...), by name.
    homing: formula over the metrics that grows on the way to a win; "" where nothing but the utility leads there.
    reach() -> a function (tables, state, moves, out float64[2 metrics]) with the signature of `measure` that writes the
    lowest value of each metric in this state and all that can follow within so many moves, then the highest of each;
    proofs of what is best are as good as these bounds.
    novelty(level) -> (function, count): a compiled function (tables, state, out int64[count]) that writes the values of
    `count` variables of the state, whole numbers, and returns how many it wrote. A search looks for states in which a
    variable has a value for the first time, so a variable is what makes a place in the level new: the tile somebody
    stands on, what somebody still has, each thing that is there or not. Counts of moves do not belong here. None: the
    words of the state.
    care: formula over the metrics for what keeps the player in the game (such as its health), which a search looks
    after beside the utility; "" for each metric in turn that a designer reads as good or bad and no utility reads.
    outside: of games that run in processes of their own (`persona_evo.connect`).
    variants: name -> as `rules`: the same game for searching in another way, with moves left out or in another order,
    or other random games. The rollouts of "random" are the moves of the game's own random player, where it has one.
    whole_games: variants whose random games are one piece: asked for move by move they would go another way, and
    `mover` does not say whose moves they are. Searches with them keep no AN and AR (see `persona_evo.search.amaf`).
    agents: a TOML file of players that come with the game (see `persona_evo.agents.agent_files`), "" for none.
    programs: a module that says how programs of others are shown a state and answer (`persona_evo.agents.program`).
    score(level) -> a formula over the metrics: what the game itself counts by at its end, in its own units.
    kin: name of another game with the same metrics, whose personas serve this one, too; "" for none.
    health: formula over the metrics for the hit points left, in hit points; "" where nobody has any.
    idle: name of the action that stands still; "" where there is none.
    analyse(level) -> what can be said of the level without playing it (see `persona_evo.games.findings`); None where
    the game has no such analysis.
    hardness(level) -> numbers that make a level harder the larger they are, by what they count in the plural ("traps on
    every way"); with a "-" before the name, the smaller they are. It is empty for a level that cannot be won.
    swift(level) -> the level in another layout with faster rules, None if it is none of those that these are made for.
    What it gives has `rules`, `reach` and `novelty` and nothing else that reads states (see `for_search`).
    sound(level) -> whether `analyse` finds no problem, told faster; None where it finds none if the level can be won.
    generator() -> how levels are drawn from a seed (see `persona_evo.games.generating`); None where they are not.
    """

    name: str
    title: str
    version: int
    metrics: tuple[Metric, ...]
    rules: Callable[..., Rules]
    load: Callable[..., Level]
    action_name: Callable[[Level, NDArray[Any], int], str]
    parse_action: Callable[[Level, NDArray[Any], str], int]
    players: int = 1
    deterministic: bool = True
    compiled: bool = True
    horizon: int = 200
    restart: Callable[[Level, int], NDArray[Any]] | None = None
    locate: Callable[[Level, NDArray[Any]], tuple[int, int] | None] | None = None
    events: Callable[[Level, NDArray[Any], NDArray[Any], int], list[Event]] | None = None
    structure: Callable[[Level], dict[str, float]] | None = None
    draw: str | None = None
    levels: str | None = None
    level_suffixes: tuple[str, ...] = (".txt",)
    cause: Callable[[Level, NDArray[Any], NDArray[Any]], str] | None = None
    reach: Callable[[], Any] | None = None
    homing: str = ""
    novelty: Callable[[Level], tuple[Any, int]] | None = None
    care: str = ""
    outside: Outside | None = None
    variants: Mapping[str, Callable[..., Rules]] = field(default_factory=dict)
    whole_games: tuple[str, ...] = ()
    agents: str = ""
    programs: str = ""
    score: Callable[[Level], str] | None = None
    kin: str = ""
    health: str = ""
    idle: str = ""
    analyse: Callable[[Level], list[Finding]] | None = None
    hardness: Callable[[Level], dict[str, float]] | None = None
    swift: Callable[[Level], Swift | None] | None = None
    sound: Callable[[Level], bool | None] | None = None
    generator: Callable[[], Generator] | None = None

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The metrics' symbols in the order in which `measure` writes them."""
        return tuple(m.symbol for m in self.metrics)

    def rules_for(self, symbols: Iterable[str], variant: str = "") -> Rules:
        """Return the rules, or a variant of them, with a `measure` that computes at least the metrics `symbols`.

        Raises:
            SettingsError: no such variant.
        """
        wanted = set(symbols)
        if variant and variant not in self.variants:
            expected, hint = unknown(variant, self.variants)
            raise SettingsError(
                f"{self.name} does not have this variant of its rules", found=variant, expected=expected, hint=hint
            )
        rules = self.variants[variant] if variant else self.rules
        return rules(costly=any(m.costly and m.symbol in wanted for m in self.metrics))

    def for_search(self, level: Level, variant: str = "") -> Swift:
        """The game and a level as a search is to play them, which may be another layout with faster rules.

        A search takes its functions, tables and start from these and has the same results: the same actions, metrics
        and random numbers. Its states mean nothing elsewhere; what is shown or kept comes from its actions.

        Args:
            level: as loaded.
            variant: of the rules; variants are played in the game's own layout.
        """
        found = self.swift(level) if self.swift is not None and not variant else None
        return Swift(self, level, np.copy) if found is None else found

    def __repr__(self) -> str:
        return f"Game({self.name!r}, version {self.version}, metrics {', '.join(self.symbols)})"

    @property
    def targets(self) -> tuple[str, ...]:
        """The metrics that are ways to something to be had: costly, better low, 0 where there is nothing left."""
        home = parse(self.homing).symbols if self.homing else frozenset()
        return tuple(m.symbol for m in self.metrics if m.costly and m.better == "lower" and m.symbol not in home)

    @property
    def clock(self) -> int:
        """The index of the metric that counts moves; -1 if there is none."""
        return next((i for i, m in enumerate(self.metrics) if m.clock), -1)

    @property
    def planned(self) -> bool:
        """Whether levels are planned whole, with open lists: for one, without chance, played in this program."""
        return self.players == 1 and self.deterministic and self.outside is None

    def horizon_of(self, level: Level) -> int:
        """Return the most moves of a plan of this level: the level's own number, or the game's."""
        return level.horizon or self.horizon

    def start(self, level: Level, seed: int = 0) -> NDArray[Any]:
        """Return a new state before the first move; `seed` matters only if the start is random."""
        return self.restart(level, seed) if self.restart else level.start.copy()

    def measure(self, level: Level, state: NDArray[Any], player: int = 0) -> dict[str, float]:
        """Return every metric of a state by symbol."""
        out = np.zeros(len(self.metrics))
        self.rules(costly=True).measure(level.tables, state, player, out)
        return {m.symbol: float(v) for m, v in zip(self.metrics, out, strict=True)}

    def legal(self, level: Level, state: NDArray[Any]) -> list[int]:
        """Return the legal actions of a state, in the game's order."""
        actions = np.zeros(level.max_actions, dtype=np.int64)
        n = self.rules().legal(level.tables, state, actions)
        return [int(a) for a in actions[:n]]

    def over(self, level: Level, state: NDArray[Any]) -> int:
        """Return RUNNING, WON, LOST or ENDED."""
        return int(self.rules().over(level.tables, state))

    def replay(
        self, level: Level, actions: Sequence[int], rng: NDArray[np.int64] | None = None, seed: int = 0
    ) -> list[NDArray[Any]]:
        """Return the states along some actions, the start first: one more than there are actions."""
        state = self.start(level, seed)
        states = [state.copy()]
        step = self.rules().step
        rng = np.ones(2, dtype=np.int64) if rng is None else rng
        for action in actions:
            step(level.tables, state, int(action), rng)
            states.append(state.copy())
        return states


@contextlib.contextmanager
def closing_outside(game: Game) -> Iterator[None]:
    """End the processes of a connected game when this context ends, however it ends."""
    try:
        yield
    finally:
        if game.outside is not None:
            game.outside.close()


def rule(kind: str) -> Callable[[Callable[..., Any]], Callback]:
    """Mark a module-level function as the rule `kind` of a game (see the module's table).

    Called from Python it runs as machine code. Its attribute `plain` is the function itself, for use inside other
    rules, where a call costs nothing.
    """
    return callback(KINDS[kind])
