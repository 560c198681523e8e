"""Checks that a game keeps the contract of `persona_evo.games.core`, for authors of games and for the games' tests."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import FormulaError, GameError
from persona_evo.formula import parse
from persona_evo.games.causes import says_won
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Game, Level, Rules, State
from persona_evo.seeds import below, derive, stream
from persona_evo.words import counted

GAMES, MOVES = 4, 60
"""Random games on each level, and moves of each, unless the caller says otherwise."""
SPANS = (0, 1, 2, 5, 20, 1_000)
"""Numbers of moves for which `Game.reach` is asked in each state."""
TRIED, FEWEST_TRIED, TRIED_IN_ALL = 100, 10, 20_000
"""Most actions that are tried in a state; fewer where there are very many, since each try asks for all of them."""
ENDS = 3
"""Random games that come to an end before it is said that none is ever won."""

Told = Callable[[str], None]
"""Is told something about a check."""


def check_game(
    game: Game,
    levels: Iterable[Level],
    seed: int = 0,
    *,
    games: int = GAMES,
    moves: int = MOVES,
    progress: Told | None = None,
    notice: Told | None = None,
) -> int:
    """Play random games and check every state of them.

    Args:
        game, levels: the game and the levels to play.
        seed: the seed of the random games.
        games: the number of random games on each level.
        moves: the largest number of moves of each game.
        progress: called before each move with the progress of the check.
        notice: called with what deserves attention although it breaks no promise, such as a game that nobody ever wins.

    Returns:
        The number of states that were checked.

    Raises:
        GameError: what is wrong, in which level, after which actions.
    """
    _description(game)
    looked, ends = 0, Counter[int]()
    for level in levels:
        for number in range(games):
            probe = _Probe(game, level, derive(seed, "check", level.name, number), most=TRIED)
            if progress is not None:
                probe.progress = partial(_tell_move, progress, f"checking {level.name}, game {number + 1} of {games}")
            looked += probe.play(moves)
            ends[probe.outcome] += 1
    if looked == 0:
        raise GameError(f"{game.name}: there is no level to check it on")
    if notice is not None and (said := _undecided(game, ends)):
        notice(said)
    return looked


def _tell_move(progress: Told, where: str, made: int) -> None:
    progress(f"{where}, {counted(made, 'move')}")


def _undecided(game: Game, ends: Mapping[int, int]) -> str:
    """Return a notice on a game whose games all end without a winner; "" if there is nothing to say.

    Args:
        ends: how many random games ended in each way.
    """
    if ends[ENDED] < ENDS or ends[WON] or ends[LOST] or (game.players == 1 and says_won(game)):
        return ""
    all_of_them = f'all {ends[ENDED]} random games that came to an end are "ended": none is won or lost'
    if game.players > 1:
        return f'{all_of_them}, so every game of a match is a tie; over() says "won" or "lost" for player 0'
    return f'{all_of_them}; if the game can be won, over() says "won", and "lost" if it cannot be won any more'


GLANCE = 1.0
"""Most seconds that `glance` takes."""
GLANCED = 4
"""Most actions that `glance` tries in a state."""

_GLANCED: set[tuple[str, str, str]] = set()


def glance(game: Game, level: Level) -> None:
    """Check briefly, once per process, whether a level of a game that no compiler has checked is safe to play.

    Raises:
        GameError: what is wrong, after which actions.
    """
    this = (game.name, level.text, repr(sorted(level.options.items(), key=str)))
    if this in _GLANCED:
        return
    with np.errstate(all="ignore"):
        _glance(game, level)
    _GLANCED.add(this)


def _glance(game: Game, level: Level) -> None:
    _description(game)
    again = game.load(level.text, level.name, level.source, **level.options)
    probe = _Probe(game, level, 0, most=GLANCED)
    rules = game.rules(costly=True)
    if probe.picture(rules, level.start.copy()) != probe.picture(rules, again.start.copy()):
        raise probe.fail("reading the level twice gives different starts")
    end = time.perf_counter() + GLANCE
    for number in range(3):
        _Probe(game, level, derive(0, "glance", number), most=GLANCED, end=end).play(40)


def _description(game: Game) -> None:
    """Check what can be seen without playing."""
    symbols = list(game.symbols)
    if len(set(symbols)) != len(symbols) or not symbols:
        raise GameError(f"{game.name}: the metrics' symbols are {symbols}, expected at least one and no duplicates")
    for metric in game.metrics:
        if not metric.symbol.isidentifier() or not metric.symbol.isascii():
            raise GameError(f"{game.name}: {metric.symbol!r} cannot be written in a formula")
        if not metric.name or not metric.meaning:
            raise GameError(f"{game.name}: metric {metric.symbol} has no name or no meaning")
        if not metric.low <= metric.high:
            raise GameError(f"{game.name}: metric {metric.symbol} has the range [{metric.low}, {metric.high}]")
    for name in ("homing", "care", "health"):
        try:
            parse(getattr(game, name) or "0", game.symbols)
        except FormulaError as e:
            raise GameError(f"{game.name}: {name} is not a formula over its metrics: {e}") from e
    if sum(m.clock for m in game.metrics) > 1:
        raise GameError(f"{game.name}: more than one metric is the clock")
    if game.players < 1 or game.horizon < 1 or game.version < 1:
        raise GameError(f"{game.name}: players, horizon and version must be at least 1")


class _Limits(NamedTuple):
    """Holds the result of `reach` in the state after `made` moves for the next `moves`."""

    made: int
    moves: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class _Probe:
    """Plays one random game on one level, twice at the same time.

    Args:
        most: the largest number of actions that are tried in a state.
        end: the time (`time.perf_counter`) after which no move is begun.

    Attributes:
        outcome: the status of the game when it was left.
        progress: called before each move with the number of moves made.
    """

    def __init__(self, game: Game, level: Level, seed: int, *, most: int, end: float = math.inf) -> None:
        self.game, self.level, self.seed, self.most, self.end = game, level, seed, most, end
        self.names: list[str] = []
        self.rng = stream(seed)
        self.out = np.zeros(len(game.metrics))
        self.limits: list[_Limits] = []
        self.facts: tuple[Any, int] | None = None
        self.outcome = RUNNING
        self.progress: Callable[[int], None] | None = None

    def fail(self, what: str) -> GameError:
        """Return the error for something that was just found."""
        moves = " ".join(self.names) or "no move"
        return GameError(f"{self.game.name}, level {self.level.name}, after {moves}: {what}")

    def picture(self, rules: Rules, state: State) -> Any:
        """Return everything that can be seen of a state: its row, or the results of the methods of a Python object."""
        if state.dtype != object:
            return state.tobytes()
        tables, row = self.level.tables, np.zeros(self.level.max_actions + 8, dtype=np.int64)
        status = int(rules.over(tables, state))
        legal = row[: rules.legal(tables, state, row)].tolist() if status == RUNNING else []
        seen = []
        for player in range(self.game.players):
            rules.measure(tables, state, player, self.out)
            seen.append(self.out.tolist())
        return status, legal, seen, rules.mover(tables, state), rules.key(tables, state)

    def play(self, moves: int) -> int:
        """Check the start, and the states after each move."""
        game, level = self.game, self.level
        rules = game.rules(costly=True)
        state = game.start(level, self.seed)
        if self.picture(rules, state) != self.picture(rules, game.start(level, self.seed)):
            raise self.fail("two starts with the same seed differ")
        luck = stream(derive(self.seed, "moves"))
        for made in range(moves + 1):
            self.look(rules, state, made)
            self.reach(rules, state, made)
            self.novelty(rules, state)
            self.outcome = game.over(level, state)
            if self.outcome != RUNNING or made == moves or time.perf_counter() >= self.end:
                break
            if self.progress is not None:
                self.progress(made)
            actions = self.legal(rules, state)
            if not actions:
                raise self.fail("the game is not over, but no action is legal")
            action = actions[int(below(luck, len(actions)))]
            before = state.copy()
            state = self.step(rules, state, actions, action)
            self.locate_and_events(before, state, made + 1)
        return made + 1

    def legal(self, rules: Rules, state: State) -> list[int]:
        """Return the legal actions after checking that they fit, are distinct, and are the same when asked again."""
        row = np.full(self.level.max_actions + 8, -999, dtype=np.int64)
        n = int(rules.legal(self.level.tables, state, row))
        if not 0 <= n <= self.level.max_actions:
            raise self.fail(f"legal gives {n} actions, the level's max_actions is {self.level.max_actions}")
        if (row[n:] != -999).any():
            raise self.fail(f"legal says {n} actions but writes more")
        actions = [int(a) for a in row[:n]]
        if len(set(actions)) != n:
            raise self.fail(f"legal names an action twice: {actions}")
        if actions != self.game.legal(self.level, state):
            raise self.fail("legal returns something else when it is called again")
        for action in actions:
            name = self.game.action_name(self.level, state, action)
            if self.game.parse_action(self.level, state, name) != action:
                raise self.fail(f"action {action} is called {name!r}, which is read as another action")
        return actions

    def step(self, rules: Rules, state: State, actions: Sequence[int], action: int) -> Any:
        """Try legal actions, which are accepted and do the same twice, and return the state after `action`."""
        tables = self.level.tables
        chosen = state
        kept = self.picture(rules, state)
        for one in self.tried(actions, action):
            name = self.game.action_name(self.level, state, one)
            first, second = state.copy(), state.copy()
            before, again = self.rng.copy(), self.rng.copy()
            try:
                rules.step(tables, first, one, before)
                rules.step(tables, second, one, again)
            except GameError:
                raise
            except (ValueError, TypeError, ArithmeticError, LookupError, RuntimeError) as e:
                raise self.fail(f"step does not accept the legal action {name}: {type(e).__name__}: {e}") from e
            if self.picture(rules, first) != self.picture(rules, second) or not (before == again).all():
                raise self.fail(f"{name} does not lead to the same state twice")
            if self.picture(rules, state) != kept:
                raise self.fail(f"a step with {name} in a copy changes the state it was copied from")
            if self.game.deterministic and not (before == self.rng).all():
                raise self.fail(f"{name} draws random numbers, but the game says that it is deterministic")
            if one == action:
                chosen, luck = first, before
        self.names.append(self.game.action_name(self.level, state, action))
        self.rng = luck
        return chosen

    def tried(self, actions: Sequence[int], action: int) -> list[int]:
        """Return the actions to try: all, or some that are spread over the list, others after each move."""
        most = max(min(self.most, FEWEST_TRIED), min(self.most, TRIED_IN_ALL // len(actions)))
        if len(actions) <= most:
            return list(actions)
        stride = len(actions) // most
        some = actions[len(self.names) % stride :: stride][:most]
        return list(dict.fromkeys((*some, action)))

    def look(self, rules: Rules, state: State, made: int) -> None:
        """Check the outcome, the metrics and the key of one state."""
        tables, rng = self.level.tables, self.rng.copy()
        kept = self.picture(rules, state)
        status = int(rules.over(tables, state))
        if not RUNNING <= status <= ENDED or status != int(rules.over(tables, state)):
            raise self.fail(f"over gives {status}, then {int(rules.over(tables, state))}")
        for player in range(self.game.players):
            self.metrics(rules, state, player, made)
        mover = int(rules.mover(tables, state))
        if not 0 <= mover < self.game.players:
            raise self.fail(f"mover gives {mover}, there are {counted(self.game.players, 'player')}")
        key = int(rules.key(tables, state))
        if key != int(rules.key(tables, state.copy())):
            raise self.fail("equal states have different keys")
        if not -(2**63) <= key < 2**63:
            raise self.fail(f"key gives {key}, expected a 64-bit number")
        if self.picture(rules, state) != kept or not (rng == self.rng).all():
            raise self.fail("over, measure, mover or key changes the state")

    def metrics(self, rules: Rules, state: State, player: int, made: int) -> None:
        """Check that all metrics are finite, in range and always written, and that the clock counts the moves."""
        self.out[:] = np.nan
        rules.measure(self.level.tables, state, player, self.out)
        for metric, value in zip(self.game.metrics, self.out, strict=True):
            if not math.isfinite(value):
                raise self.fail(f"{metric.symbol} is {value} (or was not set)")
            if not metric.low - 1e-9 <= value <= metric.high + 1e-9:
                raise self.fail(f"{metric.symbol} is {value:g}, its range is [{metric.low:g}, {metric.high:g}]")
            if metric.clock and value != made:
                raise self.fail(f"{metric.symbol} is the clock and says {value:g}")
        cheap = np.zeros(len(self.out))
        self.game.rules().measure(self.level.tables, state, player, cheap)
        for metric, value, other in zip(self.game.metrics, self.out, cheap, strict=True):
            if not metric.costly and value != other:
                raise self.fail(f"{metric.symbol} is {value:g} with the costly metrics and {other:g} without")

    def reach(self, rules: Rules, state: State, made: int) -> None:
        """Check that the metrics are within the limits that `reach` gives here and gave before."""
        if self.game.reach is None:
            return
        reach, kept, n = self.game.reach(), self.picture(rules, state), len(self.game.metrics)
        for moves in SPANS:
            row = np.full(2 * n, np.nan)
            reach(self.level.tables, state, moves, row)
            if np.isnan(row).any():
                raise self.fail("reach does not set all numbers")
            self.limits.append(_Limits(made, moves, row[:n], row[n:]))
        if self.picture(rules, state) != kept:
            raise self.fail("reach changes the state")
        rules.measure(self.level.tables, state, 0, self.out)
        slack = 1e-9 * np.maximum(1.0, abs(self.out))
        for said in self.limits:
            beyond = (self.out < said.low - slack) | (self.out > said.high + slack)
            if made <= said.made + said.moves and beyond.any():
                raise self._beyond(said, int(beyond.argmax()), made)

    def _beyond(self, said: _Limits, which: int, made: int) -> GameError:
        """Return the error for a metric outside its limits."""
        symbol = self.game.metrics[which].symbol
        when = "for this state" if made == said.made else f"{counted(made - said.made, 'move')} before"
        return self.fail(
            f"a metric is outside what reach said can be reached\n  found: {symbol} {self.out[which]:g}\n"
            f"  expected: {said.low[which]:g} to {said.high[which]:g}, as reach said {when} of the next "
            f"{counted(said.moves, 'move')}\n"
            f"  hint: the limits hold for the state itself and for all that can follow; widen those of {symbol}"
        )

    def novelty(self, rules: Rules, state: State) -> None:
        """Check that the variables fit into their row, and that equal states have equal ones."""
        if self.game.novelty is None:
            return
        self.facts = self.facts or self.game.novelty(self.level)
        function, count = self.facts
        kept, rows = self.picture(rules, state), np.full((2, count + 8), -999, dtype=np.int64)
        for row, of in zip(rows, (state, state.copy()), strict=True):
            written = int(function(self.level.tables, of, row))
            if not 0 <= written <= count or (row[count:] != -999).any():
                raise self.fail(f"novelty writes {written} variables or more, expected at most {count}")
        if (rows[0] != rows[1]).any():
            raise self.fail("equal states have different novelty")
        if self.picture(rules, state) != kept:
            raise self.fail("novelty changes the state")

    def locate_and_events(self, before: State, after: State, step: int) -> None:
        """Check that the functions for drawing and reports work in every state."""
        if self.game.locate is not None:
            place = self.game.locate(self.level, after)
            if place is not None and len(place) != 2:
                raise self.fail(f"locate gives {place!r}, expected (x, y) or None")
        if self.game.events is not None:
            for event in self.game.events(self.level, before, after, step):
                if event.step != step or not event.kind:
                    raise self.fail(f"the event {event} has no kind or another step than {step}")
