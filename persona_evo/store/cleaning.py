"""Decides which runs may be deleted: finished ones, not in use, without files that this program did not write."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from persona_evo.errors import Place, RunError
from persona_evo.jobs.lock import Lock, holder
from persona_evo.store.folders import KINDS, SEARCH, RunEntry, find, read
from persona_evo.words import counted

RECENT = 600.0
"""The seconds after its last change for which a run is kept unless it is named.

Its report may still be being written.
"""

RUNS = "runs"
"""The folder for the parts of a reproduction."""

NEW = ".new"
"""The folder, within its own, in which a watch makes the next version."""

_REPORT = (
    "index.html",
    "levels/*.html",
    "findings.json",
    "summary.md",
    "junit.xml",
    "pictures/*.png",
    "pictures/*.gif",
    "pictures/*.svg",
    "pictures/drawn.json",
    "playthroughs.csv",
    "duels.csv",
    "summary.csv",
    "summary_wide.csv",
    "comparison.csv",
    "players.csv",
    "correlations.csv",
    "structure.csv",
    "findings.csv",
    "difficulty.csv",
    "calibration.csv",
    "health.csv",
)
_LOGS = ("logs/*", "logs-[0-9]*/*", "findings.jsonl")
_EVOLUTION = (
    "config.json",
    "journal.jsonl",
    "checkpoint.json",
    "checkpoint-previous.json",
    "hall_of_fame.json",
    "policy.json",
    "policy-[0-9]*.json",
    "index.html",
    "pictures/*.svg",
)
_PLAYTEST = ("playtest.json", "traces.jsonl", "bounds.json", "appraisals.json", *_REPORT)

OWN: Mapping[str, tuple[str, ...]] = {
    "evolution": (*_EVOLUTION, *_LOGS),
    "playtest": (*_PLAYTEST, *_LOGS),
    "watch": ("watch.json", "stamp.js", *_PLAYTEST, *(f"{NEW}/{name}" for name in _PLAYTEST)),
    "match": ("match.json", "games.jsonl", "games.csv", "pairs.csv", "index.html", "pictures/*.gif", "programs/*.log"),
    "experiment": (
        "experiment.json",
        "results.jsonl",
        "index.html",
        "figures/*",
        "tables/*.csv",
        "best/*.json",
        "best/*.gif",
        "replay.gif",
        *_LOGS,
    ),
    "reproduction": (
        "reproduction.json",
        "games.jsonl",
        "policy.json",
        "replay.gif",
        "best_chain.png",
        "index.html",
        "tables/*.csv",
        "figures/*.png",
        "figures/*.svg",
        "figures/*.gif",
        "policies/*.json",
    ),
    "search": ("search.json", "rollouts.jsonl", "samples.csv", "best.json", "tree.npz", "replay.gif", *_LOGS),
}
"""The files that each kind of run writes, as patterns of paths below its folder, beside the lock and parts of
interrupted writes. The parts of a reproduction below runs/ are runs themselves.
"""


def written(kind: str) -> re.Pattern[str]:
    """Return a pattern for what a kind of run writes: paths below its folder, with / between their parts."""
    patterns = (re.escape(p).replace(r"\[0\-9\]\*", "[0-9]+").replace(r"\*", "[^/]*") for p in OWN.get(kind, ()))
    return re.compile(f"lock|(?:{'|'.join(patterns)})(?:\\.part)?")


def foreign(entry: RunEntry) -> list[Path]:
    """Return the files in a run's folder that no run of its kind writes, and links."""
    known = written(entry.kind)
    parts = find([entry.folder / RUNS]) if entry.kind == "reproduction" else []
    found = [path for part in parts for path in foreign(part)]
    own = {part.folder for part in parts}
    for where, folders, names in os.walk(entry.folder):
        found += [path for name in folders if (path := Path(where) / name).is_symlink()]
        folders[:] = [name for name in folders if Path(where) / name not in own]
        for path in (Path(where) / name for name in names):
            if path.is_symlink() or not known.fullmatch(path.relative_to(entry.folder).as_posix()):
                found.append(path)
    return found


def why_kept(entry: RunEntry, *, is_named: bool = False, now: float | None = None) -> str:
    """Return why cleaning keeps a run, "" if it may be deleted. `is_named`: the user named this very run."""
    if entry.folder.is_symlink():
        return "a link to a folder elsewhere"
    if Path.cwd().is_relative_to(entry.folder.resolve()):
        return "the current folder, or one that it is in"
    if entry.state == "unreadable":
        return f"cannot be read: {entry.problem}"
    if entry.state == "running" or holder(entry.folder):
        return f"in use by process {entry.pid} on {entry.host}" if entry.pid else "in use"
    inside = [e for e in find([entry.folder / RUNS]) if e.state == "running"]
    if inside:
        return f"in use: {inside[0].folder}"
    if entry.state == "interrupted" and not is_named:
        return "unfinished (name it to delete it)"
    if not is_named and (now or time.time()) - entry.changed.timestamp() < RECENT:
        return f"changed in the last {RECENT / 60:.0f} minutes (name it to delete it)"
    others = foreign(entry)
    if others:
        more = f" and {counted(len(others) - 1, 'more file')}" if len(others) > 1 else ""
        return f"holds files that persona-evo did not write: {others[0].relative_to(entry.folder)}{more}"
    return ""


def choose(
    entries: Sequence[RunEntry], *, named: bool = False, keep: int = 0, older: float = 0.0
) -> tuple[list[RunEntry], list[tuple[RunEntry, str]]]:
    """Return the runs that may be deleted, and those that are kept, with the reason.

    Args:
        entries: the runs, the newest first.
        named: whether the user named each of them.
        keep: the number of newest runs kept of each kind.
        older: the seconds since its last change below which a run is kept.
    """
    gone: list[RunEntry] = []
    kept: list[tuple[RunEntry, str]] = []
    seen: Counter[str] = Counter()
    for entry in entries:
        why = why_kept(entry, is_named=named)
        seen[entry.kind] += 1
        if not why and seen[entry.kind] <= keep:
            why = f"one of the newest {keep} of its kind"
        if not why and time.time() - entry.changed.timestamp() < older:
            why = "changed too recently"
        if why:
            kept.append((entry, why))
        else:
            gone.append(entry)
    return gone, kept


def delete(entry: RunEntry, *, is_named: bool = False) -> None:
    """Delete a run's folder after a final check that it may be deleted.

    The folder is renamed first, so that no process begins to work in it meanwhile.

    Raises:
        RunError: the run may no longer be deleted.
    """
    now = read(entry.folder)
    why = "it is no longer a run" if now is None else why_kept(now, is_named=is_named)
    if why:
        raise RunError("the run is kept", place=Place(str(entry.folder)), found=why)
    folder = entry.folder.resolve()
    gone = _aside(folder)
    lock = Lock(folder).acquire()
    if os.name == "nt":  # a folder with an open file cannot be renamed there
        lock.release()
    os.replace(folder, gone)
    lock.release()
    _remove(gone, entry.kind)


def _aside(folder: Path) -> Path:
    """Return an unused name beside a folder. Remains of an interrupted deletion with that name are deleted."""
    for number in itertools.count(1):
        path = folder.with_name(f".{folder.name}.deleted" + (f"-{number}" if number > 1 else ""))
        left = None if path.is_symlink() else read(path)
        if left is not None and not foreign(left) and holder(path) is None:
            _remove(path, left.kind)
        if not os.path.lexists(path):
            return path
    raise AssertionError("unreachable")


def _remove(folder: Path, kind: str) -> None:
    """Delete a run's folder. The file that identifies it goes last."""
    config = next(k.config for k in (*KINDS, SEARCH) if k.name == kind)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != config:
            path.unlink()
    shutil.rmtree(folder)
