"""One game of a match as a line of a file, and the folder of a match.

| file | what | written |
|---|---|---|
| match.json | all that the games depend on, the digests of programs' files among it | once, before anything else |
| games.jsonl | a line for each game, in the order of `play.jobs`; its line is a game's number for people | appended |
| programs/NAME.log | what a program printed in each game, and its tracebacks, cut at MOST_LOG | appended |
| lock | who is at work here | while it is |
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from persona_evo.errors import Place, RunError, printable
from persona_evo.jobs import schema
from persona_evo.jobs.lock import Lock
from persona_evo.store.lines import claim, made, whole_lines

SCHEMA = 1
CONFIG, GAMES, LOGS = "match.json", "games.jsonl", "programs"

MOST_LOG = 1_000_000
"""Bytes of a program's log from which on nothing is added to it."""

AGAIN = "delete this line and all after it: the same command plays these games again; or restore the file from a copy"

PROGRAMS = "programs"
"""What match.json calls the digests of the programs' files, by the agents' names."""

CHANGED = "the program's file is another one than these games were played with: put it back, or name another folder"

Key = tuple[str, str, str, int]
"""Names of first and second mover, level, number of the game."""


@dataclass(frozen=True)
class Record:
    """A game.

    first, second: names of the agents, the first one is player 0. number: of the game of this pair on this level;
    start: seed of the start. result: 1 where the first one won, 0 where the second did, 0.5 for a tie. margin: of the
    first one, by the game's metric where it has one. faults: [player, move, kind, what] each. seconds: of both, all
    moves together; slowest: of one move. searches: for both the number of searches, then means of iterations, nodes,
    breadth and depth, then largest breadth and depth.
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
        """What tells it from the others."""
        return self.first, self.second, self.level, self.number

    def result_of(self, name: str) -> float:
        """The result as one of the two agents sees it."""
        return self.result if name == self.first else 1 - self.result

    def to_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self), ensure_ascii=False)


def from_json(line: str, place: Place) -> Record:
    """The inverse of `Record.to_json`.

    Raises:
        RunError: the line is no record.
    """
    try:
        data = schema.parse_line(line, place, RunError)
    except RunError as e:
        raise RunError(
            f"a game of the match cannot be read: {e.what}",
            place=e.place,
            found=e.found,
            expected=e.expected,
            hint=AGAIN,
        ) from e
    names = [f.name for f in fields(Record)]
    missing = ", ".join(n for n in names if n not in data)
    unknown = ", ".join(k for k in data if k not in names)
    if missing or unknown:
        found = "; ".join(filter(None, (missing and f"no {missing}", unknown and f"unknown {unknown}")))
        raise RunError(
            "a game of the match lacks something, or has too much",
            place=place,
            found=found[:200],
            expected="the fields " + ", ".join(names),
            hint=AGAIN,
        )
    for name, (fits, expected) in _FIELDS.items():
        if not fits(data[name]):
            raise RunError(
                f"{name} of a game of the match is wrong",
                place=place,
                found=json.dumps(data[name])[:80],
                expected=expected,
                hint=AGAIN,
            )
    return Record(**data)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _two(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_number, value))


def _faults(value: Any) -> bool:
    kinds: tuple[Callable[[Any], bool], ...] = (lambda v: v in (0, 1), _whole, _text, _text)
    return isinstance(value, list) and all(
        isinstance(f, list) and len(f) == 4 and all(fits(v) for fits, v in zip(kinds, f, strict=True)) for f in value
    )


def _searches(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(s, list) and len(s) in (0, 7) and all(map(_number, s)) for s in value)
    )


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("first", "second", "level", "actions"), (_text, "a text")),
    **dict.fromkeys(("number", "start", "plies"), (_whole, "a whole number")),
    "result": (lambda v: v in (0, 0.5, 1), "0, 0.5 or 1"),
    "margin": (_number, "a number"),
    "faults": (_faults, "a list of [player, move, kind, what]"),
    **dict.fromkeys(("seconds", "slowest"), (_two, "two numbers")),
    "searches": (_searches, "two lists of no or 7 numbers"),
}
"""What each field of a record has to be."""


class Folder:
    """A match's folder, made or continued, locked until the end of `with`.

    Raises:
        RunError: it holds another match, is in use, or cannot be made.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.folder, self.path = folder, folder / GAMES
        made(folder, "match's folder")
        self._lock = Lock(folder)
        self._lock.acquire()
        try:
            claim(folder / CONFIG, self.path, {"schema": SCHEMA, **config}, "match", {PROGRAMS: CHANGED})
        except BaseException:
            self._lock.release()
            raise

    def records(self, wanted: Sequence[Key]) -> list[Record]:
        """The games that are there already, which must be the first ones of those wanted; a torn last line is cut off.

        Raises:
            RunError: they are not, or a line is damaged.
        """
        found = []
        for number, line in enumerate(whole_lines(self.path), 1):
            place = self.place(number)
            record = from_json(line.decode("utf-8", errors="replace"), place)
            due = wanted[number - 1] if number <= len(wanted) else None
            if record.key != due:
                expected = f"{_said(due)}, as the match has it" if due else f"{len(wanted)} lines, a game each"
                raise RunError(
                    "a game does not belong here", place=place, found=_said(record.key), expected=expected, hint=AGAIN
                )
            found.append(record)
        return found

    def place(self, number: int) -> Place:
        """Where a game stands, by its number for people."""
        return Place(str(self.path), number)

    def append(self, records: Sequence[Record]) -> None:
        """Write games down, safe from a crash when this returns."""
        schema.append_lines(self.path, [record.to_json() for record in records])

    def log(self, number: int, record: Record, said: Mapping[str, str]) -> None:
        """Add what programs said in a game to their logs. number: of its line; said: texts by name of the agent."""
        for name, text in said.items():
            path = log_of(self.folder, name)
            if not text or (path.exists() and path.stat().st_size > MOST_LOG):
                continue
            path.parent.mkdir(exist_ok=True)
            other = record.second if name == record.first else record.first
            schema.append_lines(path, [f"--- game {number}, {record.level}, against {other}", printable(text).rstrip()])
            if path.stat().st_size > MOST_LOG:
                schema.append_lines(path, ["--- the log is full: nothing is added from here on"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _said(key: Key) -> str:
    return f"{key[0]} against {key[1]} in {key[2]}, number {key[3]}"


def log_of(folder: Path, name: str) -> Path:
    """Where what a program prints is kept."""
    return folder / LOGS / (re.sub(r"[^\w.+-]+", "_", name).strip(".") + ".log")


def seed_in(folder: Path) -> int | None:
    """The seed of the match that a folder holds, None where there is none."""
    path = folder / CONFIG
    if not path.is_file():
        return None
    data, _ = schema.read(path, RunError)
    seed = data.get("seed")
    return seed if type(seed) is int else None
