"""The gain of a second core: commands with one and two jobs, compared with a second copy of the yardstick.

The copies of the yardstick show the speed of the machine at that moment; they run before each pair of commands.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from persona_evo.seeds import stream

from .engine import LONGEST, fields
from .levels import ROOT
from .report import SHORT, Row, compared, skipped
from .yardstick import Map, Unavailable

JOBS = 2
SHARE = 0.94
"""The required gain of two jobs, as a share of the gain of a second copy of the yardstick."""


class Command(NamedTuple):
    """A command that is timed.

    Attributes:
        name: the name in the table.
        words: the command line, without jobs and folder.
        results: returns the results in the command's folder that must be the same for any number of jobs.
    """

    name: str
    words: tuple[str, ...]
    results: Callable[[Path], object]


def _playthroughs(folder: Path) -> object:
    with (folder / "playthroughs.csv").open(encoding="utf-8", newline="") as file:
        return [[v for k, v in row.items() if k not in ("seconds", "time")] for row in csv.DictReader(file)]


def _policy(folder: Path) -> object:
    found = sorted(folder.glob("*/policy.json"))
    return [json.loads(path.read_text(encoding="utf-8"))["formula"] for path in found]


def commands(quick: bool) -> Sequence[Command]:
    """Return commands that take a minute or more with one job; with `quick` seconds, in which starting up matters."""
    levels = [field.level.source for field in fields()]
    if quick:
        words = (
            "playtest",
            *levels[:4],
            "--personas",
            "monster_killer",
            "--policy",
            "ucb1",
            "--trials",
            "4",
            "--iterations",
            "20000",
        )
        return [Command("playtest with UCB1, small", words, _playthroughs)]
    return [
        Command(
            "playtest with UCB1",
            ("playtest", *levels, "--personas", "all", "--policy", "ucb1", "--trials", "10", "--iterations", "60000"),
            _playthroughs,
        ),
        Command(
            "playtest with evolved policies",
            ("playtest", *levels, "--personas", "all", "--trials", "40", "--iterations", "20000"),
            _playthroughs,
        ),
        Command(
            "evolve by the paper's protocol, 8 generations",
            ("evolve", "--persona", "monster_killer", "--preset", "paper", "--runs", "1", "--generations", "8"),
            _policy,
        ),
    ]


def timed(command: Command, jobs: int) -> tuple[float, object]:
    """Run a command; return its seconds from start to end, and its results.

    Raises:
        RuntimeError: the command fails.
    """
    with tempfile.TemporaryDirectory() as out:
        words = [*command.words, "--jobs", str(jobs), "--seed", "1", "--out", str(Path(out) / "out")]
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "persona_evo", *words], capture_output=True, text=True, cwd=ROOT)
        seconds = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(f"persona-evo {words[0]} failed: {done.stderr.strip()[-400:]}")
        return seconds, command.results(Path(out) / "out")


def gain_of_yardstick(turns: int) -> float:
    """Return how much faster two copies of the yardstick, side by side, play random games than one.

    Raises:
        Unavailable: there is no yardstick here.
    """
    copies = [Map(fields()[0].text, LONGEST) for _ in range(JOBS)]
    seconds = []
    with ThreadPoolExecutor(JOBS) as pool:
        for count in (1, JOBS):
            began = time.perf_counter()
            list(pool.map(lambda on: on.playouts(turns, stream(1)), copies[:count]))
            seconds.append(time.perf_counter() - began)
    return JOBS * seconds[0] / seconds[1]


def measure(quick: bool) -> list[Row]:
    """Return a row for each command."""
    rows = []
    for command in commands(quick):
        what = f"{command.name}: gain of {JOBS} jobs beside that of a second copy of the yardstick"
        reach, gains, copies, alone, equal = f"at least {SHARE}", [], [], 0.0, True
        for _ in range(1 if quick else 3):
            try:
                copies.append(gain_of_yardstick(10_000_000 if quick else 40_000_000))
            except Unavailable as e:
                return [skipped(what, reach, str(e))]
            (alone, one), (both, two) = timed(command, 1), timed(command, JOBS)
            gains.append(alone / both)
            equal = equal and one == two
        if not equal:
            rows.append(Row(what, reach, "the results depend on the number of jobs", None, SHORT))
            continue
        measured = f"{gains[-1]:.2f} on {alone:.0f} s of work, yardstick {copies[-1]:.2f}; results equal"
        ratios = [ours / theirs for ours, theirs in zip(gains, copies, strict=True)]
        rows.append(compared(what, "" if quick else reach, measured, ratios, 0.0 if quick else SHARE))
    return rows
