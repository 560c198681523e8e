"""Defines what a game is: a frozen description, and a few pure functions over a flat state.

A forward model keeps the whole state in one row of numbers, so that a search can hold millions of states, copy them
with one loop and compare them by hash. A second row, the level's tables, holds what the level fixes once and for all
(walls, paths, lines of sight). The functions read the tables and only ever fill in values that are always the same.

| function | compiled signature | returns |
|---|---|---|
| legal | (tables, state, actions int64[max_actions]) | the number of legal actions it wrote, in the game's order |
| step | (tables, state, action, rng int64[2]) | 0; changes the state in place; must accept every action |
| over | (tables, state) | 0 while the game goes on, 1 won, 2 lost, 3 ended without either, for player 0 of several |
| mover | (tables, state) | the player to move, 0 in single-player games |
| measure | (tables, state, player, out float64[metrics]) | 0; writes every metric as this player sees it |
| key | (tables, state) | a 64-bit hash of everything that decides the future, without the count of steps |
| rollout | as `play_out`, from which it is made, with seen float64[length + 1, metrics] | the number of moves it made |

`tables` and `state` are uint16 rows. Randomness comes only from `rng` (see `persona_evo.seeds`).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from persona_evo import limits
from persona_evo.arguments import checked_fields
from persona_evo.compiling import Callback, callback
from persona_evo.compiling.arrays import FloatRow, FloatTable, IntRow, Linked, WordRow
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import parse
from persona_evo.games.findings import Finding
from persona_evo.games.outside import Outside

if TYPE_CHECKING:
    from persona_evo.games.constraints import Generator

Better = Literal["higher", "lower", "neutral"]

State: TypeAlias = NDArray[Any]
"""A state of a game, or the tables of a level: a row of uint16, or of objects if the game is a Python class."""

RUNNING, WON, LOST, ENDED = 0, 1, 2, 3
"""The values that `over` returns."""


@checked_fields()
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
        place: whether it only says where the avatar stands; evolved formulas and comparisons leave it out.
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
    place: bool = False

    def __post_init__(self) -> None:
        for text in (self.symbol, self.name, self.unit):
            limits.label(text, "a metric")
        for end in (self.low, self.high):
            if not limits.is_finite(end) and end not in (-math.inf, math.inf):
                raise SettingsError(
                    f"the metric {self.symbol} has no range", found=limits.shown(end), expected="two numbers"
                )


Legal = Annotated[Callable[[WordRow, WordRow, IntRow], int], Linked()]
Step = Annotated[Callable[[WordRow, WordRow, int, IntRow], int], Linked()]
Asked = Annotated[Callable[[WordRow, WordRow], int], Linked()]
Measure = Annotated[Callable[[WordRow, WordRow, int, FloatRow], int], Linked()]
Rollout = Annotated[Callable[[WordRow, WordRow, IntRow, IntRow, int, IntRow, FloatTable, int], int], Linked()]

KINDS: Mapping[str, object] = {
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
    """Holds the functions of a game, marked by `rule` or plain (see the module's table)."""

    legal: Legal
    step: Step
    over: Asked
    mover: Asked
    measure: Measure
    key: Asked
    rollout: Rollout


@checked_fields()
@dataclass(frozen=True, eq=False)
class Level:
    """A loaded level: immutable, and cheap to send to another process.

    Attributes:
        tables: the row that the rules read, uint16.
        start: the state before the first move, uint16; that of seed 0 if the start is random.
        max_actions: the largest number of legal actions in any state.
        facts: what the game knows about the level beyond the rules (grid, objects), for drawing and structure
            metrics; each game has its own keys.
        horizon: the number of moves after which this level is over in any case; 0 if unknown (see `Game.horizon_of`).
        named: whether the text is the name of a level that a connected game holds itself.
    """

    game: str
    name: str
    text: str = field(repr=False)
    tables: State = field(repr=False)
    start: State = field(repr=False)
    max_actions: int
    source: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    horizon: int = 0
    named: bool = False

    def __post_init__(self) -> None:
        limits.label(self.name, "a level")

    @property
    def rows(self) -> list[str]:
        """The lines of the text; none if it is a name, which shows nothing of the level."""
        return [] if self.named else self.text.splitlines()


@dataclass(frozen=True)
class Event:
    """An event in one step: `kind` is the game's name for it, and (x, y) counts from the top left."""

    step: int
    kind: str
    x: int
    y: int


class Swift(NamedTuple):
    """A game and a level in the layout that a search plays.

    Attributes:
        game: the game with functions for this layout; its moves and metrics are those of the original game.
        level: the level in this layout.
        pack: (state) -> the same state in this layout.
    """

    game: Game
    level: Level
    pack: Callable[[State], State]


@checked_fields()
@dataclass(frozen=True, eq=False)
class Game:
    """The frozen description of a game.

    Attributes:
        rules: (costly=False) -> Rules, the game's functions; with costly=True `measure` computes every metric.
        load: (text, name, source, **options) -> Level; raises a LevelError with a place.
        action_name: (level, state, action) -> the action's name in this state, for people and trace files.
        parse_action: (level, state, text) -> the action with this name: the inverse of `action_name`.
        restart: (level, seed) -> the state before the first move, for games with a random start.
        locate: (level, state) -> (x, y) of the avatar, for heatmaps; None where it has no place.
        events: (level, before, after, step) -> the events between two states.
        structure: (level) -> numbers on the structure of the level (walls, dead ends, ...), by name.
        draw: "module:function" that draws a state, loaded on demand. The module may also draw what happens in a step
            (see `persona_evo.report.replay.frames`). To show matches, the module of a two-player game may have PLAYERS,
            (name, #rrggbb) of each player's pieces, and standing(level, state), the score in words or "".
        reach: () -> a function with the signature of `measure`, (tables, state, moves, out float64[2 metrics]). It
            writes the lowest value of each metric in this state and all states that can follow within so many moves,
            then the highest of each. Proofs that a plan is optimal are as tight as these bounds.
        homing: a formula over the metrics that grows on the way to a win; "" if only the utility leads there.
        novelty: (level) -> (function, count). The compiled function (tables, state, out int64[count]) writes the values
            of at most `count` variables of the state, whole numbers, and returns how many it wrote. A search looks for
            states in which a variable has a value for the first time, so variables describe what makes a state new: the
            tile somebody stands on, what somebody still has, each object that is there or not. Counts of moves do not
            belong here. None: the words of the state are the variables.
        care: a formula over the metrics for what keeps the player in the game (such as health), which a search watches
            beside the utility; "" for each metric in turn that has a good direction and is not read by a utility.
        outside: for a game that runs in its own processes (`persona_evo.connect`).
        variants: name -> as `rules`: the same game for another way of searching, with moves left out or reordered, or
            other random games. Rollouts of "random" are the moves of the game's own random player, if it has one.
        whole_games: variants whose random games are one piece: played move by move they would differ, and `mover` does
            not say whose moves they are. Their searches do not keep AN and AR (see `persona_evo.search.amaf`).
        agents: a TOML file of players that come with the game (see `persona_evo.agents.agent_files`); "" for none.
        programs: a module that shows states to external programs and reads their answers (`agents.program`).
        score: (level) -> a formula over the metrics for the game's own final score, in the game's own units.
        kin: the name of a game with the same metrics, whose personas also work for this one; "" for none.
        health: a formula over the metrics for the hit points left; "" where nobody has any.
        idle: the name of the action that stands still; "" for none.
        analyse: (level) -> findings on the level without playing it (see `persona_evo.games.findings`); None if the
            game has no such analysis.
        hardness: (level) -> numbers that are larger for a harder level, by what they count in the plural ("traps on
            every way"); a "-" before the name means smaller is harder. Empty for a level that cannot be won.
        swift: (level) -> the level in another layout with faster rules, or None if they do not cover it. Of the
            functions that read states, the result has only `rules`, `reach` and `novelty` (see `for_search`).
        sound: (level) -> whether `analyse` finds no problem, but faster; None if that depends on whether it can be won.
        generator: () -> how levels are drawn from a seed (see `persona_evo.games.generating`); None if they are not.
    """

    name: str
    title: str
    version: int
    metrics: tuple[Metric, ...]
    rules: Callable[..., Rules]
    load: Callable[..., Level]
    action_name: Callable[[Level, State, int], str]
    parse_action: Callable[[Level, State, str], int]
    players: int = 1
    deterministic: bool = True
    compiled: bool = True
    horizon: int = 200
    restart: Callable[[Level, int], State] | None = None
    locate: Callable[[Level, State], tuple[int, int] | None] | None = None
    events: Callable[[Level, State, State, int], list[Event]] | None = None
    structure: Callable[[Level], dict[str, float]] | None = None
    draw: str | None = None
    levels: str | None = None
    level_suffixes: tuple[str, ...] = (".txt",)
    cause: Callable[[Level, State, State], str] | None = None
    reach: Callable[[], Measure] | None = None
    homing: str = ""
    novelty: Callable[[Level], tuple[Legal, int]] | None = None
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
        """The symbols of the metrics, in the order in which `measure` writes them."""
        return tuple(m.symbol for m in self.metrics)

    def rules_for(self, symbols: Iterable[str], variant: str = "") -> Rules:
        """Return the rules, or a variant of them, with a `measure` that computes at least the metrics `symbols`.

        Raises:
            SettingsError: the game has no such variant.
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
        """Return the game and a level as a search plays them, perhaps in another layout with faster rules.

        A search takes its functions, tables and start from these. The results are the same: the same actions, metrics
        and random numbers. The search's states mean nothing elsewhere; what is shown or kept comes from its actions.

        Args:
            level: the level as loaded.
            variant: the variant of the rules; variants are played in the game's own layout.
        """
        found = self.swift(level) if self.swift is not None and not variant else None
        return Swift(self, level, np.copy) if found is None else found

    def __post_init__(self) -> None:
        for text in (self.name, self.title, *self.variants):
            limits.label(text, "a game or of a variant")

    def __repr__(self) -> str:
        return f"Game({self.name!r}, version {self.version}, metrics {', '.join(self.symbols)})"

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The metrics that measure the way to a target: costly, lower is better, and 0 where no target is left."""
        home = parse(self.homing).symbols if self.homing else frozenset()
        return tuple(m.symbol for m in self.metrics if m.costly and m.better == "lower" and m.symbol not in home)

    @property
    def clock(self) -> int:
        """The index of the metric that counts moves; -1 if there is none."""
        return next((i for i, m in enumerate(self.metrics) if m.clock), -1)

    @property
    def planned(self) -> bool:
        """Whether levels are planned as a whole, with open lists: a deterministic one-player game in this process."""
        return self.players == 1 and self.deterministic and self.outside is None

    def horizon_of(self, level: Level) -> int:
        """Return the largest number of moves in a plan of this level: the level's own limit, or else the game's."""
        return level.horizon or self.horizon

    def start(self, level: Level, seed: int = 0) -> State:
        """Return a new state before the first move; `seed` matters only if the start is random."""
        return self.restart(level, seed) if self.restart else level.start.copy()

    def measure(self, level: Level, state: State, player: int = 0) -> dict[str, float]:
        """Return every metric of a state by symbol."""
        out = np.zeros(len(self.metrics))
        self.rules(costly=True).measure(level.tables, state, player, out)
        return dict(zip(self.symbols, out.tolist(), strict=True))

    def legal(self, level: Level, state: State) -> list[int]:
        """Return the legal actions of a state, in the game's order."""
        actions = np.zeros(level.max_actions, dtype=np.int64)
        n = self.rules().legal(level.tables, state, actions)
        found: list[int] = actions[:n].tolist()
        return found

    def over(self, level: Level, state: State) -> int:
        """Return RUNNING, WON, LOST or ENDED."""
        return int(self.rules().over(level.tables, state))

    def replay(
        self, level: Level, actions: Sequence[int], rng: NDArray[np.int64] | None = None, seed: int = 0
    ) -> list[State]:
        """Return the states along a sequence of actions, beginning with the start: one more than there are actions."""
        state = self.start(level, seed)
        states = [state.copy()]
        step = self.rules().step
        rng = np.ones(2, dtype=np.int64) if rng is None else rng
        for action in actions:
            step(level.tables, state, int(action), rng)
            states.append(state.copy())
        return states


def rule(kind: str) -> Callable[[Callable[..., Any]], Callback]:
    """Mark a module-level function as the rule `kind` of a game (see the module's table).

    When called from Python, it runs as machine code. Its attribute `plain` is the original function, for use inside
    other rules, where a call costs nothing.
    """
    return callback(KINDS[kind])


def rules_in(module: str) -> Callable[..., Rules]:
    """Return a game's `rules`: RULES of a module, or ALL_METRICS, which is imported at the first call."""
    return partial(_rules, module)


@cache
def _rules(module: str, costly: bool = False) -> Rules:
    found = importlib.import_module(module)
    rules: Rules = getattr(found, "ALL_METRICS", found.RULES) if costly else found.RULES
    return rules


def found_in(module: str, name: str) -> Callable[[], Any]:
    """Return a function that returns an object of a module, which is imported at the first call."""
    return partial(_found, module, name)


def _found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)
