"""Which runs may be deleted: those that are finished, not in use, and hold nothing that this program did not write."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from persona_evo.errors import Place, RunError
from persona_evo.store.folders import RunEntry, files, find, read
from persona_evo.store.lock import Lock, holder
from persona_evo.words import counted

RECENT = 600.0
"""Seconds after its last change in which a run is kept unless it is named: its report may still be being written."""

_REPORT = ("index.html", "findings.json", "summary.md", "junit.xml", "pictures/*.png", "pictures/*.gif",
           "pictures/*.svg", "playthroughs.csv", "duels.csv", "summary.csv", "summary_wide.csv", "comparison.csv",
           "players.csv", "correlations.csv", "structure.csv", "findings.csv", "difficulty.csv", "calibration.csv",
           "health.csv")  # fmt: skip
_LOGS = ("logs*/*", "findings.jsonl")
_EVOLUTION = ("config.json", "journal.jsonl", "checkpoint.json", "hall_of_fame.json", "policy.json",
              "index.html", "pictures/*.svg")  # fmt: skip
_PLAYTEST = ("playtest.json", "traces.jsonl", "bounds.json", *_REPORT)

OWN: Mapping[str, tuple[str, ...]] = {
    "evolution": (*_EVOLUTION, *_LOGS),
    "playtest": (*_PLAYTEST, *_LOGS),
    "watch": ("watch.json", "stamp.js", *_PLAYTEST),
    "match": ("match.json", "games.jsonl", "games.csv", "pairs.csv", "index.html", "pictures/*.gif", "programs/*.log"),
    "experiment": ("experiment.json", "results.jsonl", "index.html", "figures/*", "tables/*.csv", "best/*.json",
                   "best/*.gif", "replay.gif", *_LOGS),
    "reproduction": ("reproduction.json", "*.jsonl", "*.json", "*.csv", "*.png", "*.gif", "*.svg", "index.html",
                     "runs/*"),
    "search": ("samples.csv", "best.json", "tree.npz", "replay.gif", *_LOGS),
}  # fmt: skip
"""What each kind of run writes, as patterns of paths below its folder, beside the lock and parts of torn writes."""

_ALWAYS = (r"lock", r"[^/]*\.part", r"policy-\d+\.json", r"\.new/.*")


def foreign(entry: RunEntry) -> list[Path]:
    """Files in a run's folder that no run of its kind writes, and links."""
    patterns = [re.escape(p).replace(r"\*", ".*" if entry.kind == "reproduction" else "[^/]*") if "*" in p
                else re.escape(p) for p in OWN.get(entry.kind, ())]  # fmt: skip
    known = re.compile("|".join(f"(?:{p})" for p in (*patterns, *_ALWAYS)))
    inside = (Path(where) / name for where, names, _ in os.walk(entry.folder) for name in names)
    linked = [path for path in inside if path.is_symlink()]
    return linked + [
        path for path in files(entry.folder)
        if path.is_symlink() or not known.fullmatch(path.relative_to(entry.folder).as_posix())
    ]  # fmt: skip


def why_kept(entry: RunEntry, *, is_named: bool = False, now: float | None = None) -> str:
    """Why cleaning leaves a run alone, "" where it may go. is_named: the user named this very run."""
    if entry.state == "unreadable":
        return f"cannot be read: {entry.problem}"
    if entry.state == "running" or holder(entry.folder):
        return f"in use by process {entry.pid} on {entry.host}" if entry.pid else "in use"
    inside = [e for e in find([entry.folder / "runs"]) if e.state == "running"]
    if inside:
        return f"in use: {inside[0].folder}"
    if entry.state == "interrupted" and not is_named:
        return "unfinished (name it to delete it)"
    if not is_named and (now or time.time()) - entry.changed.timestamp() < RECENT:
        return f"changed in the last {RECENT / 60:.0f} minutes (name it to delete it)"
    others = foreign(entry)
    if others:
        more = f" and {counted(len(others) - 1, 'more file')}" if len(others) > 1 else ""
        return f"holds what persona-evo did not write: {others[0].relative_to(entry.folder)}{more}"
    return ""


def choose(
    entries: Sequence[RunEntry], *, named: bool = False, keep: int = 0, older: float = 0.0
) -> tuple[list[RunEntry], list[tuple[RunEntry, str]]]:
    """The runs that may be deleted, and those that are kept, with the reason.

    Args:
        entries: the runs, the newest first.
        named: the user named each of them.
        keep: how many of each kind are kept, the newest ones.
        older: seconds since the last change below which a run is kept.
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
            why = "changed too lately"
        if why:
            kept.append((entry, why))
        else:
            gone.append(entry)
    return gone, kept


def delete(entry: RunEntry, *, is_named: bool = False) -> None:
    """Delete a run's folder, after a last look whether it may go.

    The folder is renamed first, so that nobody begins to work in what is being deleted.

    Raises:
        RunError: it may not, by now.
    """
    now = read(entry.folder)
    why = "it is not a run any more" if now is None else why_kept(now, is_named=is_named)
    if why:
        raise RunError("the run is kept", place=Place(str(entry.folder)), found=why)
    gone = entry.folder.with_name(f".{entry.folder.name}.deleted")
    if gone.is_dir():  # left by a process that was killed in between
        shutil.rmtree(gone)
    lock = Lock(entry.folder).acquire()
    if os.name == "nt":  # a folder with an open file cannot be renamed there
        lock.release()
    os.replace(entry.folder, gone)
    lock.release()
    shutil.rmtree(gone)
