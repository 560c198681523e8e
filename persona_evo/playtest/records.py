"""One playthrough as a record, and files of them: JSON lines, one playthrough a line, with a schema version."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from persona_evo.errors import GameError, Place, RunError
from persona_evo.games.core import Event
from persona_evo.search.settings import PROVEN
from persona_evo.store import schema

SCHEMA = 1
"""Version of the lines that `to_json` writes. It changes when a field changes its meaning."""

OUTCOMES = ("running", "won", "lost", "ended")
"""Names of RUNNING, WON, LOST and ENDED of `persona_evo.games.core`, in that order."""

SIDES = ("first", "second")
"""Sides of a game for two, by who makes the first move."""

ENDS = ("won", "lost", "unfinished", "stuck", "ended")
"""How a game ends when play goes on after the plan: unfinished is alive at the horizon, or where the budget for playing
on was spent; stuck is better off standing still than going on; ended is an end that is neither won nor lost."""

_RESULTS = {"won": "win", "lost": "loss"}

EXHAUSTED, STUCK = "exhausted", "stuck"
"""Why a search ended: what older versions said of a proof, too, and that nothing was left to try."""

_NUMBERS = ("utility", "seconds", "best_utility")
_WHOLE = ("trial", "seed", "steps", "iterations", "nodes")
_TEXTS = ("level", "player", "persona", "policy", "outcome", "cause", "stopped", "opponent", "side", "skill")
_REQUIRED = ("level", "player", "outcome", "metrics", "utility", "steps")


@dataclass(frozen=True)
class End:
    """How the game ended when play went on after the plan (see `persona_evo.search.continuation`).

    Attributes:
        outcome: one of ENDS.
        utility: of the last state.
        turn: moves from the start of the game to its end.
        cause: what the game was lost to, "" where it was not.
        place: where the avatar was, (x, y), None where the game has no place.
        actions: names of the moves after the plan; none where the plan ends the game.
        positions: where the avatar was after each of these.
        events: what happened in these moves, the steps counted from the start of the game.
    """

    outcome: str
    utility: float
    turn: int
    cause: str = ""
    place: tuple[int, int] | None = None
    actions: list[str] = field(default_factory=list)
    positions: list[tuple[int, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        return {
            "outcome": self.outcome, "utility": self.utility, "turn": self.turn, "cause": self.cause,
            "place": None if self.place is None else list(self.place), "actions": list(self.actions),
            "positions": [list(p) for p in self.positions], "events": _plain_events(self.events),
        }  # fmt: skip


@dataclass(frozen=True)
class Playthrough:
    """What one player did in one level in one trial.

    level: the level's name. player: label of the persona with its tree policy, as tables show it.
    outcome: one of OUTCOMES ("running": the plan ended before the game did). cause: what the game was lost to, "" where
    it was not. metrics: value at the end by symbol. utility: of the end, finite. seconds: wall-clock time of search.
    stopped: why the search ended ("proven best", "budget", "time", "nodes", "memory", "win" or "stuck").
    actions: names, one a step. positions: the avatar's (x, y) before the first action and after each, so one more than
    actions; empty where the game has no place. events: what happened on the way, in order. opponent, side: in a game
    for two, whom the player met and which of SIDES it had; "" in games for one.

    All this is of the route that is shown. best_utility, best_actions: of the best plan that the search found, which
    the route may differ from within the search's tolerance; those of the route if not given. proven: no plan is worth
    more than best_utility. search: the trial of the same level and player from whose search the route was drawn, None
    where the trial searched itself.
    """

    level: str
    player: str
    outcome: str
    metrics: dict[str, float]
    utility: float
    steps: int
    persona: str = ""
    policy: str = ""
    trial: int = 0
    seed: int = 0
    cause: str = ""
    seconds: float = 0.0
    stopped: str = ""
    iterations: int = 0
    nodes: int = 0
    proven: bool = False
    actions: list[str] = field(default_factory=list)
    positions: list[tuple[int, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    opponent: str = ""
    side: str = ""
    best_utility: float = math.nan
    best_actions: list[str] = field(default_factory=list)
    search: int | None = None
    end: End | None = None
    hit_points: list[float] = field(default_factory=list)
    skill: str = ""

    def __post_init__(self) -> None:
        if math.isnan(self.best_utility):
            object.__setattr__(self, "best_utility", self.utility)
            object.__setattr__(self, "best_actions", list(self.actions))

    @property
    def result(self) -> str:
        """Of a game for two: win, loss, or draw, which it also is where no end is come to; "" in games for one."""
        return _RESULTS.get(self.outcome, "draw") if self.opponent else ""

    @property
    def against(self) -> dict[str, str]:
        """What there is to say of a game for two beside the rest, by name; nothing in games for one."""
        return {"opponent": self.opponent, "side": self.side, "result": self.result} if self.opponent else {}

    @property
    def best(self) -> dict[str, Any]:
        """What there is to say of the search's best plan beside the route, by name; nothing in games for two."""
        names = () if self.opponent else ("best_utility", "best_actions", "search")
        return {name: getattr(self, name) for name in names}

    @property
    def final(self) -> str:
        """How the game ended, one of ENDS; that of the plan where play did not go on after it."""
        if self.end is not None:
            return self.end.outcome
        return "unfinished" if self.open else self.outcome

    @property
    def open(self) -> bool:
        """The plan ended before the game did."""
        return self.outcome == "running"

    @property
    def won(self) -> bool:
        """The level was finished."""
        return self.final == "won"

    @property
    def lost(self) -> bool:
        """The avatar died, the opponent won, or the game was lost otherwise."""
        return self.final == "lost"

    @property
    def unfinished(self) -> bool:
        """The player was alive at the horizon, or where the budget ended."""
        return self.final == "unfinished"

    @property
    def stuck(self) -> bool:
        """The player was better off standing still."""
        return self.final == "stuck"

    @property
    def lost_to(self) -> str:
        """What the game was lost to, "" where it was not or that is not known."""
        return self.cause if self.end is None else self.end.cause

    @property
    def death_place(self) -> tuple[int, int] | None:
        """Where the avatar was when the game was lost, (x, y); None where it was not or that is not known."""
        if not self.lost:
            return None
        place = self.positions[-1] if self.positions else None
        return self.end.place if self.end is not None else place

    @property
    def damage(self) -> float | None:
        """Hit points lost on the way, turn by turn; None where the game has none."""
        return sum(max(0.0, a - b) for a, b in pairwise(self.hit_points)) if self.hit_points else None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts, with the schema's version first."""
        return {
            "schema": SCHEMA,
            "level": self.level,
            "player": self.player,
            "persona": self.persona,
            "policy": self.policy,
            "trial": self.trial,
            "seed": self.seed,
            **self.against,
            "outcome": self.outcome,
            "cause": self.cause,
            "metrics": dict(self.metrics),
            "utility": self.utility,
            "steps": self.steps,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "iterations": self.iterations,
            "nodes": self.nodes,
            "proven": self.proven,
            **self.best,
            "actions": list(self.actions),
            "positions": [list(p) for p in self.positions],
            "events": _plain_events(self.events),
            **({} if self.end is None else {"end": self.end.to_dict()}),
            **({"hit_points": [int(h) if h == int(h) else h for h in self.hit_points]} if self.hit_points else {}),
            **({"skill": self.skill} if self.skill else {}),
        }

    def to_json(self) -> str:
        """One line without its end.

        Raises:
            GameError: a number is not finite, which no game may report.
        """
        numbers = {**self.metrics, **{name: getattr(self, name) for name in _NUMBERS}}
        numbers |= {f"the number of hit points after move {i}": h for i, h in enumerate(self.hit_points)}
        numbers |= {} if self.end is None else {"the utility at the end": self.end.utility}
        for name, value in numbers.items():
            if not math.isfinite(value):
                raise GameError(f"{self.player} in level {self.level!r}: {name} is {value}, expected a finite number")
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def from_json(text: str, place: Place | None = None) -> Playthrough:
    """The playthrough that a line holds.

    Raises:
        RunError: the line is no JSON object, is of another schema, or a field is missing or of the wrong kind.
    """
    try:
        row = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as e:
        at = place or Place("a playthrough")
        try:
            schema.parse_line(text, at, RunError)  # says better what is wrong, and where
            found = RunError(str(e), place=place)
        except RunError as told:
            found = told
        raise RunError(
            f"a playthrough is not valid JSON: {found.what.removeprefix('not valid JSON: ')}",
            place=found.place if place else None, found=found.found, expected="one JSON object a line",
            hint="the file was cut or edited; delete the line or play again",
        ) from e
    return from_dict(row, place)


def from_dict(row: Any, place: Place | None = None) -> Playthrough:
    """The playthrough that a dictionary of `to_dict` describes (raises RunError as `from_json` does)."""
    if not isinstance(row, dict):
        _wrong("a playthrough is not an object", place, type(row).__name__, "an object with named fields")
    if row.get("schema") != SCHEMA:
        hint = "a newer version wrote it" if _newer(row.get("schema")) else "play again to write the file anew"
        _wrong("a playthrough has another schema", place, repr(row.get("schema")), f"schema {SCHEMA}", hint)
    missing = [name for name in _REQUIRED if name not in row]
    if missing:
        _wrong(f"a playthrough has no {missing[0]!r}", place, ", ".join(map(str, row)), ", ".join(_REQUIRED))
    fields: dict[str, Any] = {}
    for name in (*_TEXTS, *_WHOLE, *_NUMBERS, "proven"):
        if name in row:
            fields[name] = _plain(name, row[name], place)
    if fields["outcome"] not in OUTCOMES:
        _wrong("no such outcome", place, repr(fields["outcome"]), "one of " + ", ".join(OUTCOMES))
    if fields.get("opponent") and fields.get("side") not in SIDES:
        _wrong("no such side", place, repr(fields.get("side", "")), "one of " + ", ".join(SIDES))
    fields["stopped"] = ended(fields.get("stopped", ""), fields.get("proven", False))
    record = Playthrough(
        **fields, metrics=_metrics(row["metrics"], place), actions=_actions("actions", row, place),
        best_actions=_actions("best_actions" if "best_actions" in row else "actions", row, place),
        search=_search(row, place), positions=_positions(row.get("positions", []), place),
        events=_events(row.get("events", []), place), end=_end(row.get("end"), place),
        hit_points=_hit_points(row.get("hit_points", []), place),
    )
    if record.positions and len(record.positions) != len(record.actions) + 1:
        _wrong("positions and actions do not fit", place, f"{len(record.positions)} positions",
               f"{len(record.actions) + 1} for {len(record.actions)} actions")
    return record


def ended(stopped: str, proven: bool) -> str:
    """Why a search ended, in today's words (see `Playthrough.stopped`)."""
    return stopped if stopped != EXHAUSTED else PROVEN if proven else STUCK


def read(path: Path | str) -> Iterator[Playthrough]:
    """The playthroughs of a file of JSON lines, in order; empty lines are passed over.

    Raises:
        RunError: the file cannot be read, or a line is wrong (with its number).
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield from_json(line, Place(str(path), number))
    except (OSError, UnicodeDecodeError) as e:
        raise RunError("playthroughs cannot be read", place=Place(str(path)), found=str(e),
                       expected="a file of JSON lines in UTF-8") from e


def write(path: Path | str, records: Iterable[Playthrough]) -> int:
    """Replace a file of JSON lines at once; the number of lines. Line ends are the same on every system."""
    chosen = list(records)
    schema.write_atomically(Path(path), (record.to_json() + "\n" for record in chosen))
    return len(chosen)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number that JSON has")


def _newer(version: Any) -> bool:
    return isinstance(version, int) and version > SCHEMA


def _wrong(what: str, place: Place | None, found: str, expected: str, hint: str | None = None) -> NoReturn:
    raise RunError(what, place=place, found=found, expected=expected, hint=hint)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**64


def _plain(name: str, value: Any, place: Place | None) -> Any:
    if name in _TEXTS:
        fits, expected = isinstance(value, str), "a text"
    elif name in _WHOLE:
        fits, expected = _is_whole(value), "a whole number"
    elif name in _NUMBERS:
        fits, expected = _is_number(value), "a finite number"
    else:
        fits, expected = isinstance(value, bool), "true or false"
    if not fits:
        _wrong(f"{name!r} of a playthrough is of the wrong kind", place, repr(value), expected)
    return float(value) if name in _NUMBERS else value


def _metrics(value: Any, place: Place | None) -> dict[str, float]:
    if not isinstance(value, dict) or not all(_is_number(v) for v in value.values()):
        _wrong("metrics of a playthrough are of the wrong kind", place, repr(value)[:120], "symbols and finite numbers")
    return {symbol: float(v) for symbol, v in value.items()}


def _actions(name: str, row: dict[str, Any], place: Place | None) -> list[str]:
    value = row.get(name, [])
    if not isinstance(value, list) or not all(isinstance(a, str) for a in value):
        _wrong(f"{name!r} of a playthrough are of the wrong kind", place, repr(value)[:120], "a list of texts")
    return list(value)


def _search(row: dict[str, Any], place: Place | None) -> int | None:
    """The trial that a route was drawn from; lines of older versions do not have it."""
    value = row.get("search")
    if value is None:
        return None
    if not _is_whole(value) or not 0 <= value < row.get("trial", 0):
        _wrong("'search' of a playthrough is no earlier trial", place, repr(value), "the number of an earlier trial")
    return int(value)


def _positions(value: Any, place: Place | None) -> list[tuple[int, int]]:
    if not isinstance(value, list) or not all(
        isinstance(p, list) and len(p) == 2 and all(_is_whole(n) for n in p) for p in value
    ):
        _wrong("positions of a playthrough are of the wrong kind", place, repr(value)[:120], "a list of [x, y]")
    return [(p[0], p[1]) for p in value]


def _plain_events(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [{"step": e.step, "kind": e.kind, "x": e.x, "y": e.y} for e in events]


def _hit_points(value: Any, place: Place | None) -> list[float]:
    if not isinstance(value, list) or not all(_is_number(v) for v in value):
        _wrong("hit points of a playthrough are of the wrong kind", place, repr(value)[:120], "a list of numbers")
    return [float(v) for v in value]


def _end(row: Any, place: Place | None) -> End | None:
    """How the game ended; lines of older versions do not have it."""
    if row is None:
        return None
    if not isinstance(row, dict) or row.get("outcome") not in ENDS:
        _wrong("the end of a playthrough is of the wrong kind", place, repr(row)[:120],
               "an object with an outcome, one of " + ", ".join(ENDS))
    if not _is_number(row.get("utility")) or not _is_whole(row.get("turn")) or not isinstance(row.get("cause"), str):
        _wrong("the end of a playthrough is of the wrong kind", place, repr(row)[:120],
               "an object with utility, turn and cause")
    spot = row.get("place")
    return End(
        row["outcome"], float(row["utility"]), row["turn"], row["cause"],
        None if spot is None else _positions([spot], place)[0], _actions("actions", row, place),
        _positions(row.get("positions", []), place), _events(row.get("events", []), place),
    )  # fmt: skip


def _events(value: Any, place: Place | None) -> list[Event]:
    found: list[Event] = []
    for event in value if isinstance(value, list) else [value]:
        fits = isinstance(event, dict) and isinstance(event.get("kind"), str)
        if not fits or not all(_is_whole(event.get(name)) for name in ("step", "x", "y")):
            _wrong("an event of a playthrough is of the wrong kind", place, repr(event)[:120],
                   "an object with step, kind, x and y")
        found.append(Event(event["step"], event["kind"], event["x"], event["y"]))
    return found
