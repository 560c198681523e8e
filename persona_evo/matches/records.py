"""One game of a match as a line of a file, and the folder of a match.

| file | content | written |
|---|---|---|
| match.json | everything that the games depend on, with the digests of programs' files | once, before anything else |
| games.jsonl | a line for each game, in the order of `Match.jobs`; users know a game by its line number | appended |
| programs/NAME.log | what a program printed in each game, and its tracebacks, cut at MOST_LOG | appended |
| lock | the process that is working here | while it is |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, RunError, SettingsError, printable
from persona_evo.jobs import files, schema
from persona_evo.jobs.folder import JobKind
from persona_evo.jobs.journal import Journal, LineFormat
from persona_evo.limits import is_finite
from persona_evo.search.configuration import comparable

SCHEMA = 1
CONFIG, GAMES, LOGS = "match.json", "games.jsonl", "programs"

MOST_LOG = 1_000_000
"""Size in bytes from which nothing is added to a program's log."""

AGAIN = (
    "delete this line and all after it: the same command then plays these games again; or restore the file from a copy"
)

PROGRAMS = "programs"
"""Key in match.json of the digests of the programs' files, by agent name."""

CHANGED = "the program's file has changed since these games were played: put the old one back, or name another folder"

Key = tuple[str, str, str, int]
"""Names of first and second mover, level, number of the game."""


@dataclass(frozen=True)
class GameRecord:
    """A game.

    Attributes:
        first, second: names of the agents; the first one is player 0.
        number: number of the game of this pair on this level.
        start: seed of the start.
        result: 1 if the first agent won, 0 if the second did, 0.5 for a tie.
        margin: margin of the first agent, by the game's metric if it has one.
        faults: [player, move, kind, text] each.
        seconds: the thinking times of both agents, for all moves together.
        slowest: seconds of the slowest move, of both agents.
        searches: for both agents the number of searches, then means of iterations, nodes, breadth and depth, then the
            largest breadth and depth.
    """

    first: str
    second: str
    level: str
    number: int
    start: int
    result: float
    margin: float
    plies: int
    actions: str
    faults: list[list[Any]]
    seconds: list[float]
    slowest: list[float]
    searches: list[list[float]]

    @property
    def key(self) -> Key:
        """Key that identifies the game."""
        return self.first, self.second, self.level, self.number

    def result_of(self, name: str) -> float:
        """Return the result from the point of view of one of the two agents."""
        return self.result if name == self.first else 1 - self.result

    def to_json(self) -> str:
        """Return one line."""
        return json.dumps(asdict(self), ensure_ascii=False)


def from_row(data: dict[str, Any], place: Place) -> GameRecord:
    """Create the game that a line holds.

    Raises:
        RunError: the line does not hold a game.
    """
    names = [f.name for f in fields(GameRecord)]
    missing = ", ".join(n for n in names if n not in data)
    unknown = ", ".join(k for k in data if k not in names)
    if missing or unknown:
        found = "; ".join(filter(None, (missing and f"no {missing}", unknown and f"unknown {unknown}")))
        raise RunError(
            "a game of the match lacks a field, or has unknown ones",
            place=place,
            found=found[:200],
            expected="the fields " + ", ".join(names),
            hint=AGAIN,
        )
    for name, (fits, expected) in _FIELDS.items():
        if not fits(data[name]):
            raise RunError(
                f"{name} of a game of the match is not valid",
                place=place,
                found=json.dumps(data[name])[:80],
                expected=expected,
                hint=AGAIN,
            )
    return GameRecord(**data)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _two(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_finite, value))


def _faults(value: Any) -> bool:
    kinds: tuple[Callable[[Any], bool], ...] = (lambda v: v in (0, 1), _whole, _text, _text)
    return isinstance(value, list) and all(
        isinstance(f, list) and len(f) == 4 and all(fits(v) for fits, v in zip(kinds, f, strict=True)) for f in value
    )


def _searches(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(s, list) and len(s) in (0, 7) and all(map(is_finite, s)) for s in value)
    )


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("first", "second", "level", "actions"), (_text, "a text")),
    **dict.fromkeys(("number", "start", "plies"), (_whole, "a whole number")),
    "result": (lambda v: v in (0, 0.5, 1), "0, 0.5 or 1"),
    "margin": (is_finite, "a number"),
    "faults": (_faults, "a list of [player, move, kind, what]"),
    **dict.fromkeys(("seconds", "slowest"), (_two, "two numbers")),
    "searches": (_searches, "two lists of no or 7 numbers"),
}
"""Check and description of each field of a record."""


def _label(key: Key) -> str:
    return f"{key[0]} against {key[1]} in {key[2]}, number {key[3]}"


KIND = JobKind("match", CONFIG, GAMES, SCHEMA, hints={PROGRAMS: CHANGED}, comparable=comparable)
LINES = LineFormat("game of the match", GameRecord.to_json, from_row, lambda record: record.key, _label, AGAIN)


def games(folder: Path) -> Journal[GameRecord]:
    """Return the journal of the games in a match's folder; a game's line number is the number that users see."""
    return Journal(folder / GAMES, LINES)


def log(folder: Path, number: int, record: GameRecord, said: Mapping[str, str]) -> None:
    """Add what programs printed in a game to their logs.

    Args:
        folder: the match's folder.
        number: line number of the game.
        record: the game.
        said: printed text by name of the agent.
    """
    for name, text in said.items():
        path = log_of(folder, name)
        if not text or (path.exists() and path.stat().st_size > MOST_LOG):
            continue
        path.parent.mkdir(exist_ok=True)
        other = record.second if name == record.first else record.first
        files.append_lines(path, [f"--- game {number}, {record.level}, against {other}", printable(text).rstrip()])
        if path.stat().st_size > MOST_LOG:
            files.append_lines(path, ["--- the log is full: nothing is added from here on"])


def log_of(folder: Path, name: str) -> Path:
    """Return the path of a program's log."""
    return folder / LOGS / (re.sub(r"[^\w.+-]+", "_", name).strip(".") + ".log")


def seed_in(folder: Path) -> int | None:
    """Return the seed of the match in a folder, None if there is none."""
    path = folder / CONFIG
    if not path.is_file():
        return None
    data, _ = schema.read(path, RunError)
    seed = data.get("seed")
    return seed if type(seed) is int else None


def even(games: int, swap: bool) -> None:
    """Check that the number of games of a pair is even if each board is played from both sides.

    Raises:
        SettingsError: it is odd.
    """
    if swap and games % 2:
        raise SettingsError(
            "the number of games must be even if each board is played from both sides",
            found=str(games),
            expected=str(games + 1),
            hint="use an even number with --games, or leave --swap out",
        )
