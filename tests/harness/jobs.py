"""The jobs that are killed and damaged: run in processes of their own, and once from start to end."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import multiprocessing
import shutil
import tempfile
import time
import traceback
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from persona_evo.cli.main import main
from tests.connect.driving import describe
from tests.harness.trials import Finding
from tests.jobs.kinds import KINDS, Kind

LONGEST, FIRST = 50.0, 600.0
"""Seconds that a job may take, which usually is about one; and the first one, for which much is compiled."""


class ConnectedSearch(Kind):
    """A search in a connected game; its results are two files."""

    def content(self, folder: Path) -> list[str]:
        """The text of both files."""
        return [(folder / name).read_text(encoding="utf-8") for name in (self.config, self.lines)]


def _search(folder: Path, seed: int, jobs: int) -> None:
    file = describe(folder.parent / "game", "ladder", f"workers = {jobs}")
    words = ["connect", "search", file, "--level", "long", "--iterations", 400, "--seed", seed, "--out", folder]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([str(word) for word in words])
    if code:
        raise Finding(f"exit code {code}: {said.getvalue()}")


ALL_KINDS = (*KINDS, ConnectedSearch("connected search", "best.json", "samples.csv", _search, 0, ""))
"""Every kind of job that can be killed and resumed."""


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
    process.join(longest)
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
