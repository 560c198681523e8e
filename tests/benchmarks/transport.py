"""Rollouts per second over the wire: the driver with games that cost next to nothing, and with 2D Roguelike in C#.

`python -m tests.benchmarks.transport GAME [ARGUMENT ...]` measures a game in any language. Without one, a game in C is
compiled, and those in C# if Mono is installed. The usual case is 40 decisions with 8 metrics each, which are sent back
before every decision. 2D Roguelike has 16 metrics and a place, and its random games are 40 to 120 decisions long.

On a machine with other work, a second figure counts: rollouts per second of the busier side's own time, since driver
and game run side by side on a core each. The table shows both if they differ.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.connect import guard
from persona_evo.connect import protocol as p
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.process_start import Start
from tests.benchmarks.report import Row, judge, skipped

HERE = Path(__file__).parent
GOAL = 10_000
"""Rollouts per second with one worker."""

QUEUES = (1, 8, 32)
"""Number of orders that the game may hold."""

ROGUELIKE_GOAL = 1_000
"""Rollouts of 2D Roguelike per second and worker: 50 times the thesis' 20."""

MANY = 8
"""Number of workers that have to run without loss on any number of cores."""


def build(folder: Path) -> Path | None:
    """Build the game in C; return None without a compiler."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    out = folder / "transport"
    subprocess.run([compiler, "-O2", "-o", str(out), str(HERE / "transport.c")], check=True)
    return out


def build_csharp(folder: Path, game: str) -> Path | None:
    """Build a game in C#; return None without Mono or the source."""
    script = HERE.parents[1] / "unity_support" / "build.py"
    if shutil.which("mcs") is None or shutil.which("mono") is None or not script.is_file():
        return None
    subprocess.run([sys.executable, str(script), game, "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder / f"{game}.exe"


class Rate(NamedTuple):
    """Rollouts per second.

    Attributes:
        seen: rollouts per second of elapsed time.
        own: rollouts per second of the busier side's own time; 0 if unknown.
        lost: number of lost rollouts.
    """

    seen: float
    own: float
    lost: int

    def __str__(self) -> str:
        own = f" ({self.own:,.0f}/s of own time)" if self.own > 1.2 * self.seen else ""
        return f"{self.seen:,.0f}/s{own}"


def rate(
    game: Path,
    arguments: Sequence[str],
    logs: Path,
    *,
    rollouts: int,
    queue: int,
    workers: int = 1,
    settings: Mapping[str, Any] | None = None,
    mode: int = p.UNIFORM,
) -> Rate:
    """Measure rollouts per second with all metrics; the first tenth is not counted."""
    start = Start(game, logs, tuple(arguments), dict(settings or {}))
    lost = 0
    with ProcessPool(start, workers, queue=queue) as pool:
        for count in (rollouts // 10 + 1, rollouts):
            before = [time.process_time(), *map(_own_time, pool.pids)]
            began = time.perf_counter()
            orders = (p.Rollout(0, 1, seed, mode=mode) for seed in range(count))
            done = sum(isinstance(r, p.Result) for r in pool.play(orders))
            spent = time.perf_counter() - began
            after = [time.process_time(), *map(_own_time, pool.pids)]
            lost += count - done + pool.dropped
        busiest = max(b - a for a, b in zip(before, after, strict=True))
    return Rate(rollouts / spent, rollouts / busiest if busiest > 0.1 else 0.0, lost)


def _own_time(pid: int) -> float:
    """Return the CPU seconds of a process and its descendants; 0 if the system does not tell."""
    try:
        below = [pid, *guard.descendants(pid)]
        words = [Path(f"/proc/{n}/stat").read_text(encoding="ascii").rpartition(")")[2].split() for n in below]
    except OSError:
        return 0.0
    return sum(int(w[11]) + int(w[12]) for w in words) / os.sysconf("SC_CLK_TCK")


def measure(quick: bool, game: Path | None = None, arguments: Sequence[str] = ("40", "8")) -> list[Row]:
    """Return a row for each game and queue, then rows for 2D Roguelike and many workers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if game is not None:
            return _queues(game, arguments, folder, quick)
        in_c, in_csharp = build(folder), build_csharp(folder, "benchmark")
        rows = (
            _queues(in_c, arguments, folder, quick)
            if in_c
            else [skipped("transport, a game in C", f"{GOAL:,}/s", "no gcc on this machine")]
        )
        if in_csharp is None:
            return [*rows, skipped("transport, games in C#", f"{GOAL:,}/s", "no Mono on this machine")]
        rows += _queues(in_csharp, (), folder, quick)
        roguelike = build_csharp(folder, "roguelike2d")
        assert roguelike is not None
        return [*rows, *_roguelike(roguelike, folder, quick), _many(in_csharp, folder, quick)]


def _queues(game: Path, arguments: Sequence[str], logs: Path, quick: bool) -> list[Row]:
    rows = []
    for queue in QUEUES:
        found = rate(game, arguments, logs, rollouts=1_000 if quick else 20_000, queue=queue)
        what = " ".join(("rollouts of", game.name, *arguments)) + f", one worker, {queue} ordered at once"
        rows.append(judge(what, f"{GOAL:,}/s", str(found), found.seen / GOAL))
    return rows


def _roguelike(game: Path, logs: Path, quick: bool) -> list[Row]:
    rows = []
    for player in ("unrestricted", "factored", "forward_only"):
        found = rate(
            game,
            (),
            logs,
            rollouts=200 if quick else 4_000,
            queue=8,
            mode=p.WEIGHTS,
            settings={"days": 6, "player": player},
        )
        what = f"rollouts of 2D Roguelike in C#, {player}, one worker, 8 ordered at once"
        rows.append(judge(what, f"{ROGUELIKE_GOAL:,}/s", str(found), found.seen / ROGUELIKE_GOAL))
    return rows


def _many(game: Path, logs: Path, quick: bool) -> Row:
    found = rate(game, (), logs, rollouts=2_000 if quick else 40_000, queue=4, workers=MANY)
    what = f"rollouts of {game.name}, {MANY} workers on {os.cpu_count()} cores, 4 ordered at once of each"
    return judge(what, "none lost", f"{found.lost} lost, {found}", 1.0 if found.lost == 0 else 0.0)


def main() -> int:
    """Measure the game on the command line."""
    from tests.benchmarks.report import markdown

    words = sys.argv[1:]
    print(markdown(measure(False, Path(words[0]), words[1:]) if words else measure(False)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
