"""A playtest on disk, from its first playthrough on.

| file | what | written |
|---|---|---|
| playtest.json | all that the result depends on | once, before anything else |
| traces.jsonl | a line for each playthrough, in the order of levels, players and trials | appended |
| lock | who is at work here | while it is |

Whatever kills the process, the folder holds a beginning of the batch (see `store.lines`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from persona_evo.errors import Place, RunError
from persona_evo.evolve.reopening import budget_at, check_levels, formula_at
from persona_evo.limits import MOST_TRIALS
from persona_evo.playtest.record_reading import from_json
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import SearchSettings
from persona_evo.search.skill import SKILLS
from persona_evo.store import schema
from persona_evo.store.lines import claim, made, whole_lines
from persona_evo.store.lock import Lock

SCHEMA = 1
"""Version of playtest.json."""

CONFIG, TRACES = "playtest.json", "traces.jsonl"

Key = tuple[str, str, int, int]
"""Level, player, trial and seed of a playthrough."""


class Journal:
    """A playtest's folder, made or continued, locked until `close` (or the end of `with`).

    Args:
        folder: of the playtest.
        config: plain values, all that the result depends on.

    Raises:
        RunError: the folder holds another playtest, is in use, or cannot be made.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.folder, self.path = folder, folder / TRACES
        made(folder, "playtest's folder")
        self._lock = Lock(folder)
        self._lock.acquire()
        try:
            claim(folder / CONFIG, self.path, {"schema": SCHEMA, **config}, "playtest")
        except BaseException:
            self._lock.release()
            raise

    def records(self, wanted: Sequence[Key]) -> list[Playthrough]:
        """The playthroughs that are there already, which must be the first ones of those wanted.

        Raises:
            RunError: they are not, or a line is damaged.
        """
        found: list[Playthrough] = []
        proofs: dict[tuple[str, str, int], float] = {}
        for number, line in enumerate(whole_lines(self.path), 1):
            place = Place(str(self.path), number)
            try:
                record = from_json(line.decode("utf-8"), place)
            except UnicodeDecodeError as e:
                raise RunError("a playthrough is not UTF-8", place=place, hint=schema.RESTORE) from e
            key = record.level, record.player, record.trial, record.seed
            if number > len(wanted) or key != wanted[number - 1]:
                raise RunError(
                    "a playthrough does not belong here",
                    place=place,
                    found=_shown(key),
                    expected=_shown(wanted[number - 1]) if number <= len(wanted) else "no more lines",
                    hint="restore the file, or play into another folder",
                )
            _check_route(record, proofs, place)
            if record.proven and record.search is None:
                proofs[record.level, record.player, record.trial] = record.best_utility
            found.append(record)
        return found

    def append(self, records: Sequence[Playthrough]) -> None:
        """Write playthroughs down, safe from a crash when this returns."""
        schema.append_lines(self.path, [record.to_json() for record in records])

    def close(self) -> None:
        """Give the folder free."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def reading(path: Path) -> list[Playthrough]:
    """The playthroughs of a file that somebody may be writing to: a torn last line does not count.

    Raises:
        RunError: a line is damaged.
    """
    lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    return [
        from_json(line.decode("utf-8", "replace"), Place(str(path), number))
        for number, line in enumerate(lines, 1)
        if line.endswith(b"\n")
    ]


def _shown(key: Key) -> str:
    level, player, trial, seed = key
    return f"{level}, {player}, trial {trial}, seed {seed}"


@dataclass(frozen=True)
class Reopened:
    """What a playtest's folder says it was made with, as it stands in its file."""

    game: str
    game_version: int
    seed: int
    trials: int
    budget: Mapping[str, Any]
    search: Mapping[str, Any]
    levels: Sequence[Mapping[str, Any]]
    players: Sequence[Mapping[str, Any]]
    continuation: float = 0.0


def config_reader(folder: Path) -> schema.Reader:
    """The configuration of a playtest that has one, to take values out."""
    path = folder / CONFIG
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    return schema.Reader(data, text, str(path), RunError)


def reopen(folder: Path) -> Reopened:
    """Read back the configuration of a playtest.

    Raises:
        RunError: no playtest's folder, or a damaged file (with line and column).
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(
            "this is not the folder of a playtest", place=Place(str(folder)), expected=f"a folder with {CONFIG}"
        )
    r = config_reader(folder)
    data = r.data
    check_levels(r)
    r.made("budget", lambda _: budget_at(r))
    r.made("search", SearchSettings.from_dict)
    players = r.items("players")
    if not players:
        raise r.fail("is empty", "players", expected="at least one player", hint=schema.RESTORE)
    for player in players:
        for key in ("label", "persona", "policy"):
            player.text_of(key)
        for key in ("priority", "title", "baseline"):
            player.text_of(key, "")
        formula_at(player, "utility")
        for one in player.items("lists") if "lists" in player.data else ():
            formula_at(one, "score")
        if player.data.get("formula", "") is not None:
            formula_at(player, "formula")
        if player.text_of("skill", "") not in ("", *SKILLS):
            raise player.fail("is no level of skill", "skill", found=player.data["skill"], expected=", ".join(SKILLS))
        if not 0 <= player.number("c") < math.inf:
            raise player.fail("is out of range", "c", found=player.data["c"], expected="a number of at least 0")
    if not 1 <= r.whole("trials") <= MOST_TRIALS:
        raise r.fail("is out of range", "trials", found=r.whole("trials"), expected=f"1 to {MOST_TRIALS}")
    continuation = r.number("continuation") if "continuation" in data else 0.0
    if not 0 <= continuation <= 1:
        raise r.fail("is out of range", "continuation", found=data["continuation"], expected="a share from 0 to 1")
    return Reopened(
        r.text_of("game"),
        r.whole("game_version"),
        r.whole("seed"),
        r.whole("trials"),
        r.object("budget").data,
        r.object("search").data,
        data["levels"],
        data["players"],
        continuation,
    )


def _check_route(record: Playthrough, proofs: Mapping[tuple[str, str, int], float], place: Place) -> None:
    """See that a route agrees with the search that it was drawn from.

    Args:
        proofs: best utility of each trial that searched itself and proved it, by (level, player, trial).

    Raises:
        RunError: that search proved nothing, or another utility.
    """
    if record.search is None:
        return
    proven = proofs.get((record.level, record.player, record.search))
    if proven is None or abs(record.best_utility - proven) > 1e-9:
        raise RunError(
            "a route does not agree with the search it was drawn from",
            place=place,
            found=f"best_utility {record.best_utility:.6g} of search {record.search}",
            expected="an earlier trial with a proof" if proven is None else f"{proven:.6g}, as proven there",
            hint=schema.RESTORE,
        )
