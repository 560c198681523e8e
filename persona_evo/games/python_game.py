"""Games written as ordinary Python classes: slower than compiled ones, with the same search and everything around it.

A class is one state of the game:

| method | what |
|---|---|
| `from_text(text, **options)` | class method: the state before the first move; raises ValueError if it is no level |
| `copy()` | an independent state (left out: `copy.deepcopy`) |
| `legal()` | the legal actions in a fixed order: names out of the class's `actions`, or whole numbers |
| `apply(action)` | makes a move in place; with `apply(action, dice)` where chance plays a part |
| `over()` | None while the game goes on; "won", "lost", or "ended" |
| `measure()` | the metrics by symbol; `measure(player)` in two-player games |
| `mover()` | two-player games: whose turn it is, 0 or 1 |
| `key()` | optional: anything plain (numbers, text, tuples) that is equal for states with the same future |
| `position()` | optional: (x, y) of the avatar, for heatmaps |
| `draw()` or `__str__` | optional: the state as text, for replays in a terminal |
| `reach(moves)` | optional: what metrics can still become, for proofs: `{"COINS": (0.5, 1.0)}` says that COINS is never
lower than 0.5 nor higher than 1 in this state and all that follow within so many moves; metrics left out have their
own range |
| `novelty()` | optional: whole numbers, one a variable of the state, in the same order in each: `(self.at, self.hp)`.
Searches look for states in which one has a value that it never had |
| `generate(rng)` | optional, static method: the text of a level that `rng`, a `random.Random`, draws, None where the
attempt failed; `level generate` and `evolve --levels generate:N` need it |
| `targets()` | with the attribute `ways`: where there is something to go to, `{"NC": [(3, 1), (7, 2)], "NX": []}` |

Class attributes that may be left out: `care` is a formula over the metrics for what keeps the player in the game, which
a search looks after beside the utility (`care = "HP"`). `health` is a formula for the hit points left, from which
playtests tell damage. `idle` names the action that stands still, so that playtests tell players who are stuck.

`ways` names what there is to go to: `{"NC": "coin", "NX": "way out"}`. Each becomes a metric, which the game works out
from `position`, `targets` and its own rules (see `persona_evo.games.ways`): moves to the nearest one, as a share of
those to the farthest place of the level, 0 without any. Searches, evolution and reports then know the way to things.
`homing` is a formula over the metrics that grows on the way to a win: `homing = "-NX"`.

Without `novelty`, the variables are the elements of a tuple `key()`, else the attributes: what they hold one by one,
for each member of a set at the start whether it is there. What is one more or one less after each of a game's first
moves counts moves and is left out.

Without `key`, all attributes of a state make its key: right, but slow, and blind to equal states if they count moves.

The engine keeps such a state as a row of the Python object and the number of moves made. A step copies the object,
changes the copy and puts it in the row, so states are never shared between nodes. Whatever a method raises, and
whatever it gives that is no answer, becomes a GameError with the class's file and line.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import math
import numbers
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import (
    FormulaError,
    GameError,
    LevelError,
    PersonaEvoError,
    Place,
    SettingsError,
    raised,
    unknown,
)
from persona_evo.formula import parse
from persona_evo.games import explored, facts
from persona_evo.games.constraints import Constraints, Generator
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Game, Level, Metric, Rules
from persona_evo.games.ways import MoveGraph
from persona_evo.seeds import below, draw, stream
from persona_evo.words import counted

OUTCOMES: dict[Any, int] = {None: RUNNING, "": RUNNING, "won": WON, "lost": LOST, "ended": ENDED}
"""What `over` may return; whole numbers as in `persona_evo.games.core` are taken too."""


LARGEST = 1e100
"""Largest metric, so that sums and squares of metrics stay numbers."""

MANY_ACTIONS = 100
"""Legal actions of a state from which on the list of them is kept, so that an equal one need not be checked."""

FIRST_MOVES = 4
"""Moves of a game in which an attribute shows that it counts them."""


class Dice:
    """Chance, as `apply` sees it: every draw comes from the search's or the game's own seeded stream."""

    def __init__(self, rng: NDArray[np.int64]) -> None:
        self._rng = rng

    def below(self, n: int) -> int:
        """A whole number in [0, n), all equally likely."""
        return int(below(self._rng, n))

    def random(self) -> float:
        """A number in [0, 1)."""
        return int(draw(self._rng)) / 2**32


@dataclass(frozen=True, eq=False)
class PythonLevel(Level):
    """A level of a Python game; another process gets its text and reads it again."""

    module: tuple[str, str] = ("", "")

    def __reduce__(self) -> tuple[Any, ...]:
        return _reload, (self.module, self.game, self.text, self.name, self.source, dict(self.options))


def from_class(
    cls: type[Any],
    *,
    metrics: Sequence[Metric] | None = None,
    name: str | None = None,
    title: str | None = None,
    version: int = 1,
    players: int = 1,
    deterministic: bool = True,
    horizon: int = 200,
    max_actions: int | None = None,
    levels: str | None = None,
    level_suffixes: tuple[str, ...] = (".txt",),
) -> Game:
    """The game whose states are instances of `cls` (see the module).

    Args:
        metrics: in the order of formulas' variables; the class's attribute `metrics` if left out.
        name, title: the class's name in lower case, and as it is, if left out.
        max_actions: the most legal actions of any state; needed where the class has no `actions`.
        levels: folder of the levels that come with the game.

    Raises:
        GameError: the class lacks something.
    """
    found = tuple(metrics if metrics is not None else getattr(cls, "metrics", ()))
    names = tuple(getattr(cls, "actions", ()))
    if not found or not all(isinstance(m, Metric) for m in found):
        raise GameError(f"{cls.__name__} has no metrics: give from_class or the class `metrics`, a tuple of Metric")
    needed = ["from_text", "legal", "apply", "over", "measure", *(["mover"] if players > 1 else [])]
    missing = [method for method in needed if not callable(getattr(cls, method, None))]
    if missing:
        raise GameError(f"{cls.__name__} lacks the methods {', '.join(missing)}")
    if not all(isinstance(n, str) and n for n in names) or len(set(names)) != len(names):
        raise GameError(f"{cls.__name__} has the actions {names!r}, expected different texts")
    limit = max_actions or len(names)
    if limit < 1:
        raise GameError(f"{cls.__name__} has no `actions`: say max_actions, the most legal actions of any state")
    ways = _ways_of(cls, [m.symbol for m in found], players)
    found += ways
    care, health, homing = (_formula_of(cls, key, [m.symbol for m in found]) for key in ("care", "health", "homing"))
    idle = getattr(cls, "idle", "")
    if idle and idle not in names:
        raise GameError(
            f"{cls.__name__}.idle is none of its actions\n  found: {idle!r}\n"
            f"  expected: one of {', '.join(names) or 'its actions, which it has to name'}"
        )
    plain = _Plain(cls, found, names, players, deterministic, limit, len(ways))
    near = _Plain(cls, found, names, players, deterministic, limit, len(ways), near=True) if ways else plain
    game_name = name or cls.__name__.lower()

    def load(text: str, level_name: str, source: str = "", **options: Any) -> Level:
        start = np.empty(2, dtype=object)
        try:
            start[0], start[1] = cls.from_text(text, **options), 0
        except PersonaEvoError:
            raise
        except (ValueError, TypeError) as e:
            raise LevelError(
                f"{cls.__name__} cannot read the level: {e}",
                place=Place(source or level_name),
                expected="what its from_text takes",
            ) from e
        except (Exception, SystemExit) as e:
            hint = "\n  hint: for a text that is no level from_text raises ValueError"
            raise GameError(f"{plain.raised('from_text', e)}, level {source or level_name}{hint}") from e
        if not isinstance(start[0], cls):
            plain.refuse("from_text", start[0], f"a {cls.__name__}")
        tables = np.empty(1 if ways else 0, dtype=object)
        if ways:
            tables[0] = MoveGraph(plain.rules, start, limit, plain.place_of)
        return PythonLevel(
            game=game_name,
            name=level_name,
            text=text,
            tables=tables,
            start=start,
            max_actions=limit,
            source=source,
            options=options,
            module=_module_of(cls),
        )

    has_place, has_reach = (callable(getattr(cls, method, None)) for method in ("position", "reach"))
    alone = players == 1 and deterministic
    made = Game(
        name=game_name,
        title=title or cls.__name__,
        version=version,
        metrics=found,
        rules=lambda costly=False: near.rules if costly else plain.rules,
        load=load,
        action_name=plain.action_name,
        parse_action=plain.parse_action,
        players=players,
        deterministic=deterministic,
        compiled=False,
        horizon=horizon,
        levels=levels,
        level_suffixes=level_suffixes,
        locate=plain.locate if has_place else None,
        reach=(lambda: plain.reach) if has_reach else None,
        novelty=plain.novelty,
        care=care,
        health=health,
        idle=idle,
        homing=homing,
        analyse=(lambda level: explored.analyse(made, level)) if alone else None,
        generator=(lambda: _generator(plain)) if callable(getattr(cls, "generate", None)) else None,
        hardness=(lambda level: explored.hardness(made, level)) if alone else None,
    )
    return made


def _generator(plain: _Plain) -> Generator:
    """How a class with a method `generate` draws levels."""

    def drawn(rng: Random, kind: str, wanted: Constraints) -> str | None:
        try:
            text = plain.cls.generate(rng)
        except (Exception, SystemExit) as e:
            raise GameError(plain.raised("generate", e)) from e
        if text is not None and not isinstance(text, str):
            plain.refuse("generate", text, "the text of a level, or None")
        return text

    return Generator(drawn, {"level": "as the class draws them"})


def _formula_of(cls: type[Any], name: str, symbols: Sequence[str]) -> str:
    """The formula that a class attribute holds, "" without one."""
    text = getattr(cls, name, "")
    try:
        if text != "":
            parse(text, symbols)
    except (FormulaError, TypeError, AttributeError) as e:
        raise GameError(
            f"{cls.__name__}.{name} is no formula over the class's metrics\n  found: {text!r}\n"
            f"  expected: a formula over {', '.join(symbols)}\n  hint: {e}"
        ) from e
    return str(text)


def _ways_of(cls: type[Any], symbols: Sequence[str], players: int) -> tuple[Metric, ...]:
    """The metrics that a class's attribute `ways` asks for."""
    ways = getattr(cls, "ways", {})
    if not ways:
        return ()
    for method in ("position", "targets"):
        if not callable(getattr(cls, method, None)):
            raise GameError(f"{cls.__name__} has `ways` and lacks the method {method}")
    if players > 1:
        raise GameError(f"{cls.__name__} has `ways`, which are for single-player games")
    for symbol, name in ways.items() if isinstance(ways, Mapping) else [(ways, "")]:
        known = isinstance(symbol, str) and symbol.isascii() and symbol.isidentifier()
        if not (known and isinstance(name, str) and name):
            raise GameError(
                f"{cls.__name__}.ways holds {symbol!r}: {name!r}\n"
                '  expected: symbols and what they lead to, as in {"NC": "coin"}'
            )
        if symbol in symbols:
            raise GameError(f"{cls.__name__}.ways names {symbol!r}, which is one of its metrics already")
    meaning = "moves to the nearest {0} / to the farthest place, 0 without any"
    return tuple(
        Metric(symbol, f"nearest {name}", meaning.format(name), high=1, better="lower", costly=True)
        for symbol, name in ways.items()
    )


class _Plain:
    """The rules of a class as functions over rows of one object.

    ways: how many of the metrics, the last ones, are ways; near: these are worked out, else they are 0.
    """

    def __init__(
        self,
        cls: type[Any],
        metrics: tuple[Metric, ...],
        names: tuple[str, ...],
        players: int,
        deterministic: bool,
        limit: int,
        ways: int = 0,
        near: bool = False,
    ) -> None:
        self.cls, self.names, self.players, self.chance = cls, names, players, not deterministic
        self.limit = limit
        self.symbols = tuple(m.symbol for m in metrics)
        self.own, self.ways = self.symbols[: len(metrics) - ways], self.symbols[len(metrics) - ways :]
        self.near, self._none = near, (0.0,) * ways
        self.values_of = self._values_of()
        self.ranges = tuple((m.low, m.high) for m in metrics)
        self.number = {action: i for i, action in enumerate(names)}
        self.copy: Callable[[Any], Any] = getattr(cls, "copy", None) or copy.deepcopy
        self.has_key = callable(getattr(cls, "key", None))
        self.file = _module_of(cls)[1]
        self._checked: tuple[list[Any], NDArray[np.int64]] = ([], np.zeros(0, dtype=np.int64))
        self.rules = Rules(self.legal, self.step, self.over, self.mover, self.measure, self.key, self.rollout)

    def _values_of(self) -> Callable[[Any], tuple[Any, ...]]:
        """What takes the values of the metrics out of a dictionary."""
        if len(self.own) > 1:
            return operator.itemgetter(*self.own)
        (symbol,) = self.own
        return lambda found: (found[symbol],)

    def raised(self, method: str, error: BaseException, state: Any = None) -> str:
        """What a method raised, with the line of the class's file that it was raised at."""
        where = raised(error, self.file)
        text = f"{type(error).__name__}: {str(error)[:500]}"
        return f"{where}: {self.cls.__name__}.{method} raises {text}{_moves(state)}"

    def refuse(self, method: str, found: Any, expected: str, state: Any = None) -> NoReturn:
        """Refuse what a method gave."""
        try:
            shown = repr(found)
        except (Exception, SystemExit):
            shown = f"a {type(found).__name__}"
        shown = shown if len(shown) <= 200 else shown[:200] + "..."
        raise GameError(
            f"{self.place(method)}: {self.cls.__name__}.{method} gives {shown}{_moves(state)}, expected {expected}"
        )

    def place(self, method: str) -> str:
        """Where a method stands."""
        code = getattr(inspect.unwrap(getattr(self.cls, method)), "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else self.file or self.cls.__module__

    def legal(self, tables: Any, state: Any, actions: Any) -> int:
        try:
            found = state[0].legal()
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("legal", e, state)) from e
        if not isinstance(found, (list, tuple)):
            if not isinstance(found, (Sequence, np.ndarray)) or isinstance(found, (str, bytes)):
                self.refuse("legal", found, "a list of actions in a fixed order", state)
            found = list(found)
        known, numbers = self._checked
        if found == known and len(found) <= len(actions):
            actions[: len(found)] = numbers
            return len(found)
        if len(found) > len(actions):
            raise GameError(
                f"{self.place('legal')}: {self.cls.__name__}.legal gives {len(found)} actions, "
                f"max_actions is {len(actions)}{_moves(state)}"
            )
        for k, action in enumerate(found):
            actions[k] = self._number(action, state)
        if len(set(actions[: len(found)].tolist())) != len(found):
            self.refuse("legal", found, "each action once", state)
        self._keep_checked(found, actions)
        return len(found)

    def _keep_checked(self, found: Sequence[Any], numbers: NDArray[np.int64]) -> None:
        """Keep a long list of legal actions that was checked, with its numbers: most states have the same one."""
        if len(found) >= MANY_ACTIONS:
            self._checked = list(found), numbers[: len(found)].astype(np.int64)

    def step(self, tables: Any, state: Any, action: int, rng: Any) -> int:
        before, method = state[0], "copy"
        try:
            after = self.copy(before)
            if after is before or not isinstance(after, self.cls):
                what = "the state itself" if after is before else repr(type(after).__name__)
                raise GameError(
                    f"{self.place('copy') if hasattr(self.cls, 'copy') else self.file}: {self.cls.__name__}.copy gives "
                    f"{what}, expected an independent {self.cls.__name__}"
                )
            method = "apply"
            move = self.names[action] if self.names else int(action)
            if self.chance:
                after.apply(move, Dice(rng))
            else:
                after.apply(move)
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised(method, e, state)) from e
        state[0] = after
        state[1] += 1
        return 0

    def over(self, tables: Any, state: Any) -> int:
        try:
            said = state[0].over()
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("over", e, state)) from e
        if said is None or isinstance(said, str):
            status = OUTCOMES.get(said)
        elif isinstance(said, (int, np.integer)) and not isinstance(said, bool) and RUNNING <= said <= ENDED:
            status = int(said)
        else:
            status = None
        if status is None:
            self.refuse("over", said, 'None, "won", "lost" or "ended"', state)
        return status

    def mover(self, tables: Any, state: Any) -> int:
        if self.players == 1:
            return 0
        try:
            who = state[0].mover()
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("mover", e, state)) from e
        if not isinstance(who, (int, np.integer)) or not 0 <= who < self.players:
            self.refuse("mover", who, f"a player, 0 to {self.players - 1}", state)
        return int(who)

    def measure(self, tables: Any, state: Any, player: int, out: Any) -> int:
        try:
            found = state[0].measure(player) if self.players > 1 else state[0].measure()
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("measure", e, state)) from e
        if not isinstance(found, Mapping):
            self.refuse("measure", found, "a number for each metric: {" + ", ".join(self.own) + "}", state)
        for i, symbol in enumerate(self.own):
            if symbol not in found:
                expected, hint = unknown(symbol, map(str, found))
                raise GameError(
                    f"{self.place('measure')}: {self.cls.__name__}.measure lacks {symbol!r} (it has {expected[7:]}; "
                    f"{hint})"
                )
            value = found[symbol]
            if type(value) is not float and type(value) is not int and not isinstance(value, (numbers.Real, np.bool_)):
                self.refuse("measure", value, f"a number as {symbol}", state)
            try:
                number = float(value)
            except (OverflowError, ValueError):
                number = math.inf
            if not -LARGEST <= number <= LARGEST:
                shown = value if math.isnan(number) or isinstance(value, float) else math.inf
                self.refuse("measure", shown, f"a number within +-{LARGEST:g} as {symbol}", state)
            out[i] = number
        for i, way in enumerate(self.ways_to(tables, state), len(self.own)):
            out[i] = way
        return 0

    def ways_to(self, tables: Any, state: Any) -> Sequence[float]:
        """The metrics that are ways, where they are worked out."""
        if not self.near or tables is None:
            return self._none
        try:
            targets = state[0].targets()
            places = {symbol: [(int(x), int(y)) for x, y in targets.get(symbol, ())] for symbol in self.ways}
            strange = set(targets) - set(self.ways)
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("targets", e, state)) from e
        if strange:
            self.refuse("targets", targets, "places, (x, y), of " + ", ".join(self.ways), state)
        return [tables[0].nearest(state, places[symbol]) for symbol in self.ways]

    def key(self, tables: Any, state: Any) -> int:
        try:
            return number_of(state[0].key() if self.has_key else state[0])
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("key", e, state)) from e

    def reach(self, tables: Any, state: Any, moves: int, out: Any) -> int:
        try:
            found = state[0].reach(int(moves))
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("reach", e, state)) from e
        if not isinstance(found, Mapping):
            self.refuse("reach", found, "(lowest, highest) of metrics: {" + ", ".join(self.symbols) + "}", state)
        for symbol in found:
            if symbol not in self.symbols:
                expected, hint = unknown(str(symbol), self.symbols)
                raise GameError(
                    f"{self.place('reach')}: {self.cls.__name__}.reach names {str(symbol)[:200]!r}{_moves(state)}, "
                    f"expected {expected} ({hint})"
                )
        for i, symbol in enumerate(self.symbols):
            limits = self._limits(symbol, found[symbol], state) if symbol in found else self.ranges[i]
            out[i], out[len(self.symbols) + i] = limits
        return 0

    def _limits(self, symbol: str, found: Any, state: Any) -> tuple[float, float]:
        """The lowest and highest that `reach` gives for a metric."""
        pair = found if isinstance(found, (list, tuple)) and len(found) == 2 else ()
        if not pair or not all(isinstance(v, (numbers.Real, np.bool_)) for v in pair):
            self.refuse("reach", found, f"two numbers, (lowest, highest), for {symbol}", state)
        try:
            low, high = (float(v) for v in pair)
        except (OverflowError, ValueError):
            self.refuse("reach", found, f"numbers that fit a float for {symbol}", state)
        if not low <= high:
            self.refuse("reach", found, f"the lowest first and the highest then for {symbol}", state)
        return low, high

    def novelty(self, level: Level) -> tuple[Any, int]:
        """What says which values the variables of a state of a level have, and how many variables there can be."""
        if not callable(getattr(self.cls, "novelty", None)):
            found = facts.Novelty(self._named, self._first_moves(level), number_of)
            return found, found.count
        count = facts.room(len(self._own_novelty(level.start)))

        def own(tables: Any, state: Any, out: Any) -> int:
            return facts.write(self._own_novelty(state), out, count)

        return own, count

    def _own_novelty(self, state: Any) -> list[int]:
        """What the class's method says."""
        try:
            found = state[0].novelty()
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("novelty", e, state)) from e
        if not isinstance(found, (list, tuple)) or not all(isinstance(v, (int, np.integer, np.bool_)) for v in found):
            self.refuse("novelty", found, "a tuple of whole numbers", state)
        return [int(v) if -(2**63) <= v < 2**63 else number_of(v) for v in found]

    def _named(self, state: Any) -> Mapping[Any, Any]:
        """The elements of a tuple `key()` by place, else the attributes by name."""
        try:
            key = state[0].key() if self.has_key else None
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("key", e, state)) from e
        return dict(enumerate(key)) if isinstance(key, tuple) else facts.attributes(state[0])

    def _first_moves(self, level: Level) -> list[list[Mapping[Any, Any]]]:
        """Values of the states of a level's first moves: always the first action, always the last, and in turn."""
        lines, actions = [], np.zeros(level.max_actions, dtype=np.int64)
        for picks in ((0,), (-1,), (0, -1)):
            state, rng = level.start.copy(), stream(1)
            line = [self._named(state)]
            for made in range(FIRST_MOVES):
                count = self.legal(level.tables, state, actions) if self.over(level.tables, state) == RUNNING else 0
                if count <= 0:
                    break
                self.step(level.tables, state, int(actions[:count][picks[made % len(picks)]]), rng)
                line.append(self._named(state))
            lines.append(line)
        return lines

    def locate(self, level: Level, state: Any) -> tuple[int, int] | None:
        """The avatar's place."""
        return self.place_of(state)

    def place_of(self, state: Any) -> tuple[int, int] | None:
        """The avatar's place, by the class's `position`."""
        try:
            found = state[0].position()
            place = None if found is None else (int(found[0]), int(found[1]))
        except PersonaEvoError:
            raise
        except (Exception, SystemExit) as e:
            raise GameError(self.raised("position", e, state)) from e
        if place is not None and len(found) != 2:
            self.refuse("position", found, "(x, y) or None", state)
        return place

    def rollout(
        self, tables: Any, state: Any, actions: Any, played: Any, length: int, rng: Any, seen: Any, every: int
    ) -> int:
        made = 0
        while made < length and self.over(tables, state) == RUNNING:
            count = self.legal(tables, state, actions)
            if count <= 0:
                break
            action = int(actions[below(rng, count)])
            self.step(tables, state, action, rng)
            played[made] = action
            if every:
                self.measure(tables, state, 0, seen[made])
            made += 1
        return made

    def tell(self, tables: Any, state: Any, player: int, out: Any) -> None:
        """Write the metrics to a row of ctypes, as `measure` does."""
        try:
            own = state[0]
            found = own.measure(player) if self.players > 1 else own.measure()
            values = self.values_of(found)
            out[:] = (*values, *self.ways_to(tables, state)) if self.ways else values
            if min(values) >= -LARGEST and max(values) <= LARGEST:
                return
        except (Exception, SystemExit):  # told below, or nothing but another kind of number
            pass
        row = np.zeros(len(self.symbols))
        self.measure(tables, state, player, row)
        out[:] = row.tolist()

    def choices(self, state: Any) -> list[Any]:
        """The legal actions of a state as the class gives them, looked at."""
        try:
            found = state[0].legal()
            if type(found) is list and len(found) <= self.limit:
                if self.names and len(found) >= MANY_ACTIONS and found == self._checked[0]:
                    return found
                numbers = [self.number[a] for a in found]
                if len(set(numbers)) == len(found):
                    if len(found) >= MANY_ACTIONS:
                        self._keep_checked(found, np.array(numbers))
                    return found
        except (Exception, SystemExit):  # told below, or nothing but actions without names
            pass
        actions = np.zeros(self.limit, dtype=np.int64)
        numbers = actions[: self.legal(None, state, actions)].tolist()
        return [self.names[k] for k in numbers] if self.names else numbers

    def after(self, state: Any, move: Any) -> Any:
        """The instance after a legal move of a game without chance from a state, which stays as it is."""
        own = state[0]
        try:
            after = self.copy(own)
            if type(after) is self.cls and after is not own:
                after.apply(move)
                return after
        except (Exception, SystemExit):  # told below
            pass
        row = np.empty(2, dtype=object)
        row[0], row[1] = state
        self.step(None, row, self.number[move] if self.names else move, None)
        return row[0]

    def wander(
        self, tables: Any, state: Any, choices: list[Any], draws: list[int], seen: Any
    ) -> tuple[Any, list[Any], int]:
        """Random moves of a game without chance, as `rollout`, with one copy for all of them.

        Args:
            state: an instance of the class, which stays as it is, and the number of moves made.
            choices: its legal actions.
            draws: a random number of 32 bits for each move.
            seen: where the metrics after each move are written; None if nobody asks.

        Returns:
            The instance after the moves, the moves, and how the game stands there.
        """
        made: list[Any] = []
        outcome, known, number = RUNNING, bool(self.names), self.number
        try:
            end, before = self.copy(state[0]), state[1]
            apply, legal, over = end.apply, end.legal, end.over
            found: list[Any] | None = choices
            for drawn in draws:
                if found is None:
                    found = legal()
                count = len(found)
                if count == 0:
                    break
                move = found[(drawn * count) >> 32]
                if known and move not in number:
                    raise GameError(f"{self.place('legal')}: {self.cls.__name__}.legal gives {move!r}")
                apply(move)
                made.append(move)
                if seen is not None:
                    self.measure(tables, (end, before + len(made)), 0, seen[len(made) - 1])
                if over() is not None:
                    outcome = self.over(None, (end, before + len(made)))
                    if outcome != RUNNING:
                        break
                found = None
        except (Exception, SystemExit) as e:
            self._check_walk(state, draws)
            if isinstance(e, PersonaEvoError):
                raise
            raise GameError(self.raised("apply", e)) from e
        return end, made, outcome

    def _check_walk(self, before: Any, draws: list[int]) -> None:
        """Make the same random moves step by step, so that what is wrong is found where it is."""
        state, actions = np.empty(2, dtype=object), np.zeros(self.limit, dtype=np.int64)
        state[:] = before[0], before[1]
        for drawn in draws:
            count = self.legal(None, state, actions) if self.over(None, state) == RUNNING else 0
            if count == 0:
                return
            self.step(None, state, int(actions[(drawn * count) >> 32]), None)
            self.measure(None, state, 0, np.zeros(len(self.symbols)))

    def action_name(self, level: Level, state: Any, action: int) -> str:
        return self.names[action] if self.names else str(action)

    def parse_action(self, level: Level, state: Any, text: str) -> int:
        if self.names and text in self.number:
            return self.number[text]
        if not self.names and text.lstrip("-").isdigit():
            return int(text)
        raise SettingsError(
            "no such action", found=text, expected=", ".join(self.names) or "a whole number", hint="see the game"
        )

    def _number(self, action: Any, state: Any) -> int:
        if not self.names:
            if not isinstance(action, (int, np.integer)) or not -(2**63) <= action < 2**63:
                self.refuse("legal", action, "whole numbers of 64 bits, or the class's `actions`", state)
            return int(action)
        if not isinstance(action, str) or action not in self.number:
            raise GameError(
                f"{self.place('legal')}: {self.cls.__name__}.legal gives {str(action)[:200]!r}, its "
                f"`actions` are {', '.join(self.names)}{_moves(state)}"
            )
        return self.number[action]


def _moves(state: Any) -> str:
    """When that was, for messages."""
    if state is None:
        return ""
    return f" after {counted(state[1], 'move')}" if state[1] else " at the start"


def number_of(value: Any) -> int:
    """A number in [0, 2**63) that is the same for equal plain values in every process.

    Raises:
        GameError: the value holds something that has no contents to compare.
    """
    if type(value) is int:
        if 0 <= value < 2**63:
            return value
        value = hex(value)  # which takes any number of digits
    elif type(value) not in (tuple, str, bytes) or not _is_flat(value):
        value = _contents(value, 0)
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little") >> 1


def _is_flat(value: Any) -> bool:
    return type(value) is not tuple or all(type(v) in (int, float, str, bytes, bool) or v is None for v in value)


def _contents(value: Any, depth: int) -> Any:
    if depth > 50:
        raise GameError(f"a state of type {type(value).__name__} is nested too deep to compare; write a method `key`")
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        return [_contents(v, depth + 1) for v in value]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(repr(_contents(v, depth + 1)) for v in value)]
    if isinstance(value, Mapping):
        return sorted((repr(_contents(k, depth + 1)), repr(_contents(v, depth + 1))) for k, v in value.items())
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.shape, value.tobytes()]
    slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
    if hasattr(value, "__dict__") or slots:
        attributes = {**getattr(value, "__dict__", {}), **{s: getattr(value, s) for s in slots}}
        return [type(value).__name__, _contents(attributes, depth + 1)]
    raise GameError(f"states cannot be compared by a {type(value).__name__}; write a method `key`")


def _module_of(cls: type[Any]) -> tuple[str, str]:
    module = sys.modules.get(cls.__module__)
    return cls.__module__, str(getattr(module, "__file__", "") or "")


def _reload(module: tuple[str, str], game: str, text: str, name: str, source: str, options: Mapping[str, Any]) -> Level:
    """A level in another process (what unpickling calls)."""
    from persona_evo.games import registry

    return registry.in_module(*module, game).load(text, name, source, **options)


def as_text(state: NDArray[Any]) -> str:
    """A state as its class shows it: what its method `draw` returns, or its own `__str__`; "" without either.

    Raises:
        GameError: the method fails.
    """
    if state.dtype != object or len(state) != 2:
        return ""
    own = state[0]
    method = "draw" if callable(getattr(own, "draw", None)) else "__str__"
    if method == "__str__" and not any("__str__" in cls.__dict__ for cls in type(own).__mro__[:-1]):
        return ""
    try:
        text = getattr(own, method)()
    except (Exception, SystemExit) as e:
        place = raised(e, _module_of(type(own))[1])
        raise GameError(f"{place}: {type(own).__name__}.{method} raises {type(e).__name__}: {str(e)[:500]}") from e
    return text if isinstance(text, str) else ""
