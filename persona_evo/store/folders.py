"""All run folders of every kind: one reader for lists, progress and cleaning.

| kind | first file | a line for each |
|---|---|---|
| evolution | config.json | generation and island, in journal.jsonl |
| playtest | playtest.json | playthrough, in traces.jsonl |
| watch | watch.json | playthrough of the present version, in traces.jsonl |
| match | match.json | game, in games.jsonl |
| experiment | experiment.json | search, in results.jsonl |
| reproduction | reproduction.json | (its parts are run folders below runs/) |
| search | samples.csv | rollout, in samples.csv |

Nothing here plays, needs the rules of a game or changes a file. A list is therefore available at once, and a damaged
folder is one line in it. A comparison of two levels is a playtest of both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from persona_evo.errors import InputError, Place, RunError, json_fault, nearest
from persona_evo.jobs import schema
from persona_evo.jobs.lock import holder
from persona_evo.store import progress
from persona_evo.words import counted

State = Literal["running", "complete", "interrupted", "unreadable"]

LATEST = "latest"
"""The word for the run that changed last."""

ROOT = Path("runs")
"""The default folder in which runs are stored and searched for."""

DEPTH = 4
"""The number of levels below a root in which runs are searched for."""


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder.

    Attributes:
        name: the name shown in lists.
        config: the file that is written first and identifies the folder.
        lines: the file that gets a line for each piece of work, "" if there is none.
        unit: the name of a piece of work.
        proof: keys that a JSON file of this name has if this program wrote it.
        read: returns the details from the configuration and the folder.
    """

    name: str
    config: str
    lines: str
    unit: str
    proof: tuple[str, ...]
    read: Callable[[schema.Reader, Path], progress.Details]


def _of_reproduction(r: schema.Reader, folder: Path) -> progress.Details:
    """Return the details of a reproduction: its number of parts so far. The study decides how many there will be."""
    parts = find([folder / "runs"])
    done = sum(part.state == "complete" for part in parts)
    open_parts = [part for part in parts if part.state != "complete"]
    complete = (folder / "index.html").is_file() and not open_parts
    return progress.Details(
        r.text_of("game", ""),
        f"study {r.text_of('study', 'minidungeons')}",
        done,
        done if complete else None,
        complete,
        r.whole("seed") if "seed" in r.data else None,
        "" if not open_parts else open_parts[0].folder.name,
        "" if not open_parts else open_parts[0].last,
    )


KINDS = (
    FolderKind("watch", "watch.json", "traces.jsonl", "playthrough", ("schema", "levels", "trials"), progress.of_watch),
    FolderKind("reproduction", "reproduction.json", "", "part", ("schema",), _of_reproduction),
    FolderKind("match", "match.json", "games.jsonl", "game", ("schema", "game", "agents"), progress.of_match),
    FolderKind("experiment", "experiment.json", "results.jsonl", "search", ("schema", "cells"), progress.of_experiment),
    FolderKind("playtest", "playtest.json", "traces.jsonl", "playthrough", ("schema", "players"), progress.of_playtest),
    FolderKind(
        "evolution", "config.json", "journal.jsonl", "generation", ("schema", "evolution"), progress.of_evolution
    ),
)
"""All kinds with a configuration in JSON, in the order in which a folder is compared with them."""

SEARCH = FolderKind("search", "samples.csv", "samples.csv", "rollout", (), progress.of_search)
"""The result of `connect search --out`. It has no configuration, but a table with a header of its own."""


@dataclass(frozen=True)
class RunEntry:
    """A run in a list.

    Attributes:
        kind: the name of one of KINDS, or of SEARCH.
        folder: its folder.
        game: the game's name in the registry, "" if it is not known.
        title: the subject of the run in a few words.
        started, changed: when it began, and when one of its files was last written.
        state: running if a process holds its lock; unreadable if a file is damaged.
        done, total: finished pieces of work and all; total is None if it is not known.
        unit: the name of such a piece.
        eta: seconds to go, None unless it is running and they can be estimated.
        seed: its seed, None if it has none.
        size: the bytes of all its files.
        phase: what it is doing, or was doing when it ended.
        last: the last piece of work, in words.
        problem: why it cannot be read, "" if it can.
        pid, host: the process that is at work, 0 and "" if there is none.
    """

    kind: str
    folder: Path
    game: str
    title: str
    started: datetime
    changed: datetime
    state: State
    done: int = 0
    total: int | None = None
    unit: str = ""
    eta: float | None = None
    seed: int | None = None
    size: int = 0
    phase: str = ""
    last: str = ""
    problem: str = ""
    pid: int = 0
    host: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with times in UTC as ISO 8601."""
        plain = {"folder": self.folder.as_posix(), "started": _iso(self.started), "changed": _iso(self.changed)}
        return {**self.__dict__, **plain}


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def kind_of(folder: Path) -> FolderKind | None:
    """Return the kind of a folder, None if this program has not made it.

    A file with a configuration's name that is not a JSON object counts if the work's lines or a lock are beside it: it
    is then a damaged file of this program and not another program's.
    """
    for kind in KINDS:
        path = folder / kind.config
        if not path.is_file():
            continue
        try:
            if set(kind.proof) <= schema.read(path, RunError)[0].keys():
                return kind
        except InputError:
            if (kind.lines and (folder / kind.lines).exists()) or (folder / "lock").exists():
                return kind
    table = folder / SEARCH.config
    if table.is_file() and progress.head(table).startswith("sample,utility"):
        return SEARCH
    return None


def read(folder: Path) -> RunEntry | None:
    """Return what is known of a folder, None if it is not a run's. Damage is reported in the result."""
    try:
        kind = kind_of(folder)
    except OSError as e:
        return _unreadable("?", folder, e.strerror or str(e))
    if kind is None:
        return None
    try:
        return _read(kind, folder)
    except InputError as e:
        return _unreadable(kind.name, folder, str(e).partition("\n")[0])
    except OSError as e:
        return _unreadable(kind.name, folder, f"{e.filename or folder}: {e.strerror or e}")
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        return _unreadable(kind.name, folder, f"{kind.config} is damaged: {type(e).__name__}: {e}"[:200])
    except RecursionError as e:
        return _unreadable(kind.name, folder, f"{kind.config} is damaged: {json_fault(e)}")


def _read(kind: FolderKind, folder: Path) -> RunEntry:
    config = folder / kind.config
    if kind is SEARCH:
        reader = schema.Reader({}, "", str(config), RunError)
    else:
        data, text = schema.read(config, RunError)
        reader = schema.Reader(data, text, str(config), RunError)
        if reader.whole("schema") != 1:
            raise reader.fail("this version of the file format is not known", "schema", found=data["schema"])
    details = kind.read(reader, folder)
    if details.total is not None and details.done > details.total:
        raise RunError(
            f"there are more lines than the run should have: {counted(details.done, kind.unit)} of {details.total:,}",
            place=Place(str(folder / kind.lines)),
        )
    began = details.started or _moment(config.stat().st_mtime)
    at_work = holder(folder)
    size, changed = _extent(folder)
    state: State = "running" if at_work else "complete" if details.complete else "interrupted"
    eta = progress.seconds_left(folder, config, folder / kind.lines, details) if at_work and kind.lines else None
    return RunEntry(
        kind.name,
        folder,
        details.game,
        details.title,
        began,
        _moment(changed),
        state,
        details.done,
        details.total,
        kind.unit,
        eta,
        details.seed,
        size,
        details.phase,
        details.last,
        pid=at_work[0] if at_work else 0,
        host=at_work[1] if at_work else "",
    )


def _unreadable(kind: str, folder: Path, why: str) -> RunEntry:
    try:
        size, changed = _extent(folder)
    except OSError:
        size, changed = 0, 0.0
    return RunEntry(
        kind, folder, "", folder.name, _moment(changed), _moment(changed), "unreadable", size=size, problem=why
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def files(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder; links are not followed."""
    for where, _, names in os.walk(folder):
        yield from (Path(where) / name for name in names)


def _extent(folder: Path) -> tuple[int, float]:
    """Return the bytes of all files, and when the last one was written."""
    size, changed = 0, folder.stat().st_mtime
    for path in files(folder):
        try:
            found = path.lstat()
        except FileNotFoundError:  # replaced at this moment
            continue
        size, changed = size + found.st_size, max(changed, found.st_mtime)
    return size, changed


def find(roots: Iterable[Path] = (ROOT,)) -> list[RunEntry]:
    """Return all runs at or below some folders, the newest first. Parts of a run are not listed beside it."""
    found = {entry.folder.resolve(): entry for root in roots for entry in _below(root, DEPTH)}
    return sorted(found.values(), key=newest, reverse=True)


def newest(entry: RunEntry) -> tuple[datetime, Path]:
    """Return the sort key of runs, the newest last."""
    return entry.started, entry.folder


def _below(folder: Path, depth: int) -> Iterator[RunEntry]:
    entry = read(folder)
    if entry is not None:
        yield entry
        return
    try:
        inside = sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink() and p.name[0] != ".")
    except OSError:
        return
    for sub in inside if depth > 0 else ():
        yield from _below(sub, depth - 1)


def named(text: str, roots: Sequence[Path] = (ROOT,)) -> RunEntry:
    """Return the run that a text names: a folder, `latest`, or a part of a folder's name that only one run has.

    Raises:
        RunError: there is none, or several.
    """
    given = Path(text)
    if given.is_dir():
        entry = read(given)
        if entry is not None:
            return entry
        if len(given.parts) > 1 or given.is_absolute():
            raise RunError(
                "this is not the folder of a run",
                place=Place(text),
                expected="a folder with " + ", ".join(k.config for k in KINDS[:-1]) + " or config.json",
                hint="persona-evo runs list shows all runs",
            )
    entries, where = find(roots), ", ".join(map(str, roots))
    if not entries:
        raise RunError("there are no runs", place=Place(where), found=text, hint="name a run's folder")
    if text == LATEST:
        return max(entries, key=lambda e: (e.changed, e.folder))
    fitting = [e for e in entries if e.folder.name == text] or [e for e in entries if text in _below_root(e, roots)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        several = ", ".join(str(e.folder) for e in fitting[:5]) + (", ..." if len(fitting) > 5 else "")
        raise RunError(
            "this is part of several runs' names",
            place=Place(where),
            found=f"{text}: {several}",
            expected="a folder, part of one run's name, or latest",
        )
    near = nearest(text, [e.folder.name for e in entries])
    raise RunError(
        "there is no such run",
        place=Place(where),
        found=text,
        expected="a folder, part of a run's name, or latest",
        hint=f"did you mean {near}?" if near else "persona-evo runs list shows all runs",
    )


def _below_root(entry: RunEntry, roots: Sequence[Path]) -> str:
    """Return a run's folder relative to its root; its name if the root is itself a run."""
    inside = next((entry.folder.relative_to(r).as_posix() for r in roots if entry.folder.is_relative_to(r)), ".")
    return entry.folder.name if inside == "." else inside


def deep(entry: RunEntry) -> RunEntry:
    """Return the part of a run that is at work if it has parts (those of a reproduction), else the run itself."""
    inside = find([entry.folder / "runs"]) if entry.kind == "reproduction" else []
    running = next((part for part in inside if part.state == "running"), None)
    return entry if running is None else running
