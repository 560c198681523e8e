"""The jobs that are killed and damaged: run in processes of their own, and once from start to end."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import io
import json
import multiprocessing
import shutil
import tempfile
import time
import traceback
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from persona_evo.cli.main import main
from persona_evo.errors import InputError, Place
from persona_evo.store import runs
from tests.connect.driving import describe
from tests.harness.clock import WorkClock
from tests.harness.trials import Finding
from tests.jobs.kinds import KINDS, Kind

LONGEST, FIRST = 50.0, 600.0
"""Seconds that a job may take, which usually is about one; and the first one, for which much is compiled. Time in which
it waits for a processor does not count (see `clock`).
"""


@dataclasses.dataclass(frozen=True)
class Command(Kind):
    """A job that is a command, run as a user types it.

    Attributes:
        texts: other files of results, as patterns. Their texts have to be the same.
    """

    texts: tuple[str, ...] = ()

    def content(self, folder: Path) -> list[str]:
        """Return the lines of results without what is measured with a clock, and the other files of results."""
        found = []
        for path in sorted(folder.glob(self.lines)):
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found += [json.dumps({k: v for k, v in row.items() if k not in (*self.clock, "crc")}) for row in rows]
        return found + [path.read_text(encoding="utf-8") for text in self.texts for path in sorted(folder.glob(text))]


def _ran(*words: object) -> None:
    """Run a command.

    Raises:
        InputError: it refuses its input; the message is what it printed, without a place if it names no path.
        Finding: it ends otherwise than with 0 or 2.
    """
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([str(word) for word in words])
    if code == 2:
        told = said.getvalue().partition("persona-evo: error: ")[2]
        named = next((str(word) for word in words if isinstance(word, Path) and str(word) in told), None)
        raise InputError(told, place=named and Place(named))
    if code:
        raise Finding(f"exit code {code}: {said.getvalue()}")


LOOK = 0.2
"""Seconds between two looks at a job under way."""

ROOM = "XXXXXXXX\nXH T  eX\nX XX XXX\nX   M TX\nXXXXXXXX\n"
"""A level that is played in no time."""


def _rooms(folder: Path) -> list[Path]:
    """Return two versions of a level beside a folder."""
    paths = [folder.parent / name for name in ("room.txt", "other.txt")]
    folder.parent.mkdir(parents=True, exist_ok=True)
    for path, text in zip(paths, (ROOM, ROOM.replace("M", " ")), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def _search(folder: Path, seed: int, jobs: int) -> None:
    file = describe(folder.parent / "game", "ladder", f"workers = {jobs}")
    _ran("connect", "search", file, "--level", "long", "--iterations", 400, "--seed", seed, "--out", folder)


def _compare(folder: Path, seed: int, jobs: int) -> None:
    options = ("--personas", "runner", "--trials", 8, "--iterations", 200)
    _ran("compare", *_rooms(folder), *options, "--seed", seed, "--jobs", jobs, "--out", folder)


def _evolve(folder: Path, seed: int, jobs: int) -> None:
    """Evolve, or resume; a finished run is moved to the folder, as the program chooses the names of runs."""
    if folder.exists():
        return _ran("evolve", "--resume", folder, "--jobs", jobs)
    home = folder.parent / "evolved"
    begun: tuple[object, ...]
    if found := runs.find_runs(home):
        begun = ("--resume", found[0])
    else:
        sizes = ("--population", 8, "--islands", 2, "--generations", 4, "--iterations", 40, "--set", "final_trials=2")
        begun = ("--persona", "runner", "--levels", _rooms(folder)[0], *sizes, "--seed", seed, "--out", home)
    _ran("evolve", *begun, "--jobs", jobs)
    runs.find_runs(home)[0].rename(folder)


def _reproduce(folder: Path, seed: int, jobs: int) -> None:
    begun = (folder / "reproduction.json").exists()
    options = ("--resume", folder) if begun else ("--replicates", 2, "--rollouts", 5, "--seed", seed, "--out", folder)
    _ran("reproduce", "montecarlo", *options, "--jobs", jobs)


ALL_KINDS: tuple[Kind, ...] = (
    *(kind for kind in KINDS if kind.name not in ("evolution", "study")),
    Command("compare", "playtest.json", "traces.jsonl", _compare, 16, "", texts=("comparison.csv",)),
    Command("evolution", "config.json", "journal.jsonl", _evolve, 8, "", ("timing",), ("hall_of_fame.json",)),
    Command(
        "reproduction", "reproduction.json", "runs/*/results.jsonl", _reproduce, 0, "", texts=("tables/*-growth.csv",)
    ),
    Command("connected search", "best.json", "*.jsonl", _search, 0, "", texts=("best.json", "samples.csv")),
)
"""Every kind of job that can be killed and resumed. Evolution and reproduction are real ones here, and small."""


class Whole(NamedTuple):
    """A job that was never stopped: its folder, and the seconds that it took."""

    folder: Path
    seconds: float


@functools.cache
def whole(kind: Kind) -> Whole:
    """Run a job from start to end, once; the folder is deleted when this process ends."""
    home = Path(tempfile.mkdtemp(prefix="whole-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    finish(kind, home / "warm", FIRST)
    began = time.monotonic()
    finish(kind, home / "job")
    return Whole(home / "job", time.monotonic() - began)


def start(kind: Kind, folder: Path) -> BaseProcess:
    """Run a job in a fork of this process, in which all is loaded and compiled."""
    process = multiprocessing.get_context("fork").Process(target=_work, args=(kind, folder))
    process.start()
    return process


def finish(kind: Kind, folder: Path, longest: float = LONGEST) -> None:
    """Run a job to its end, in a fork of this process, within some seconds."""
    process = start(kind, folder)
    clock = WorkClock(process.pid)
    while process.is_alive() and clock.seconds < longest:
        process.join(LOOK)
    if process.is_alive():
        process.kill()
        process.join()
        raise Finding("the job hangs")
    failed = _failed(folder)
    if failed.exists():
        raise Finding(f"the job failed:\n{failed.read_text(encoding='utf-8')}")
    if process.exitcode:
        raise Finding(f"the job's process ended with {process.exitcode}")


def _work(kind: Kind, folder: Path) -> None:
    try:
        kind.run(folder, 1, 1)
    except BaseException:
        _failed(folder).write_text(traceback.format_exc(), encoding="utf-8")


def _failed(folder: Path) -> Path:
    return folder.parent / "failed.txt"
