"""One game of a match as a line of a file, and the folder of a match.

| file | what | written |
|---|---|---|
| match.json | all that the games depend on | once, before anything else |
| games.jsonl | a line for each game, in the order of `play.jobs` | appended |
| lock | who is at work here | while it is |
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from persona_evo.errors import Place, RunError
from persona_evo.store import schema
from persona_evo.store.lines import claim, whole_lines
from persona_evo.store.lock import Lock

SCHEMA = 1
CONFIG, GAMES = "match.json", "games.jsonl"

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
        data = json.loads(line)
        names = {f.name for f in fields(Record)}
        if not isinstance(data, dict) or set(data) != names or not 0 <= data["result"] <= 1:
            raise ValueError("fields are missing, or out of range")
        return Record(**data)
    except (ValueError, TypeError, RecursionError) as e:
        raise RunError("a game cannot be read", place=place, found=str(e)[:200],
                       hint="restore the file from a copy") from e  # fmt: skip


class Folder:
    """A match's folder, made or continued, locked until the end of `with`.

    Raises:
        RunError: it holds another match, is in use, or cannot be made.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.folder, self.path = folder, folder / GAMES
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise RunError("the match's folder cannot be made", place=Place(str(folder)), found=e.strerror) from e
        self._lock = Lock(folder)
        self._lock.acquire()
        try:
            claim(folder / CONFIG, self.path, {"schema": SCHEMA, **config}, "match")
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
            place = Place(str(self.path), number)
            record = from_json(line.decode("utf-8", errors="replace"), place)
            if number > len(wanted) or record.key != wanted[number - 1]:
                raise RunError("a game does not belong here", place=place, found=", ".join(map(str, record.key)),
                               hint="restore the file, or play into another folder")  # fmt: skip
            found.append(record)
        return found

    def append(self, records: Sequence[Record]) -> None:
        """Write games down, safe from a crash when this returns."""
        schema.append_lines(self.path, [record.to_json() for record in records])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def seed_in(folder: Path) -> int | None:
    """The seed of the match that a folder holds, None where there is none."""
    path = folder / CONFIG
    if not path.is_file():
        return None
    data, _ = schema.read(path, RunError)
    seed = data.get("seed")
    return seed if isinstance(seed, int) else None
