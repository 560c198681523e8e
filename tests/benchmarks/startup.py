"""Waiting times: for the help, for the first playthrough, and for the first compilation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .levels import ROOT, maps
from .report import Row, judge, skipped
from .timing import best_wall

_FIRST_PLAYTHROUGH = """
import sys
from persona_evo.cli.main import main
from persona_evo.playtest import batch
def told(*_):
    print("first", flush=True)
    raise KeyboardInterrupt
play = batch.play
def first(spec, jobs):
    next(play(spec, jobs))
    told()
batch.play = first
main(sys.argv[1:])
"""


def _run(arguments: list[str], environment: dict[str, str] | None = None) -> tuple[float, str]:
    """Run a Python program; return its seconds and its output."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
    )
    seconds = time.perf_counter() - began
    if done.returncode not in (0, 130):
        raise RuntimeError(f"the command failed: {done.stderr.strip()[-400:]}")
    return seconds, done.stdout + done.stderr


def _playtest(environment: dict[str, str] | None = None) -> tuple[float, str]:
    """Return the seconds from the start of the process to the end of the first playthrough of the default search."""
    level = maps()[0].source
    with tempfile.TemporaryDirectory() as out:
        command = [
            "-c",
            _FIRST_PLAYTHROUGH,
            "playtest",
            level,
            "--personas",
            "runner",
            "--trials",
            "2",
            "--jobs",
            "1",
            "--seed",
            "1",
            "--out",
            str(Path(out) / "playtest"),
        ]
        seconds, said = _run(command, environment)
    if "first" not in said:
        raise RuntimeError(f"no playthrough was begun: {said[-400:]}")
    return seconds, said


def measure(quick: bool) -> list[Row]:
    """Measure help, warm start and first compilation in separate processes."""
    repeats = 2 if quick else 5
    help_seconds = best_wall(lambda: _run(["-m", "persona_evo.cli.main", "--help"])[0], repeats)
    what = f"`persona-evo --help`, best of {repeats}"
    rows = [judge(what, "under 0.3 s", f"{help_seconds:.2f} s", 0.3 / help_seconds)]
    _playtest()
    warm = best_wall(lambda: _playtest()[0], repeats)
    what = f"warm `playtest` of one level: process start to the end of the first playthrough, best of {repeats}"
    rows.append(judge(what, "under 2 s", f"{warm:.2f} s", 2 / warm))
    cold_what = "the same on a fresh machine: compiling everything once"
    cold_reach = "under 60 s, with a line that says so"
    if quick:
        return [*rows, skipped(cold_what, cold_reach, "not with --quick")]
    with tempfile.TemporaryDirectory() as folder:
        began = os.times()
        seconds, said = _playtest({"PERSONA_EVO_CACHE": folder})
        used = os.times()
    cpu = used.children_user + used.children_system - began.children_user - began.children_system
    told = "says so" if "ompil" in said else "says NOTHING of it"
    measured = f"{seconds:.0f} s, of them {cpu:.0f} s of one core's work; {told}"
    return [*rows, judge(cold_what, cold_reach, measured, 60 / seconds)]
