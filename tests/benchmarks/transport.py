"""Rollouts a second over the wire: the driver against a game that costs next to nothing, or one that is named.

`python -m tests.benchmarks.transport GAME [ARGUMENT ...]` measures a game of any language; without one a game in C is
compiled. The usual case is 40 decisions with 8 metrics each, sent back before every decision.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from persona_evo.connect import protocol as p
from persona_evo.connect.pool import Pool
from persona_evo.connect.worker import Start
from tests.benchmarks.report import Row, judge, skipped

HERE = Path(__file__).parent
GOAL = 10_000
"""Rollouts a second with one worker."""

QUEUES = (1, 8, 32)
"""Orders that the game may hold."""


def build(folder: Path) -> Path | None:
    """The game in C, None where there is no compiler."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    out = folder / "transport"
    subprocess.run([compiler, "-O2", "-o", str(out), str(HERE / "transport.c")], check=True)
    return out


def rate(game: Path, arguments: Sequence[str], logs: Path, *, rollouts: int, queue: int, workers: int = 1) -> float:
    """Rollouts a second; the first tenth is not counted."""
    start = Start(game, logs, tuple(arguments))
    with Pool(start, workers, queue=queue) as pool:
        for count in (rollouts // 10 + 1, rollouts):
            began = time.perf_counter()
            done = sum(isinstance(r, p.Result) for r in pool.play(p.Rollout(0, 1, seed) for seed in range(count)))
            spent = time.perf_counter() - began
            assert done == count
    return rollouts / spent


def measure(quick: bool, game: Path | None = None, arguments: Sequence[str] = ("40", "8")) -> list[Row]:
    """A row for each queue."""
    with tempfile.TemporaryDirectory() as folder:
        played = game or build(Path(folder))
        if played is None:
            return [skipped("transport", f"{GOAL:,}/s", "no gcc on this machine")]
        rows = []
        for queue in QUEUES:
            found = rate(played, arguments, Path(folder), rollouts=1_000 if quick else 20_000, queue=queue)
            what = f"rollouts of {played.name} {' '.join(arguments)}, one worker, {queue} ordered at once"
            rows.append(judge(what, f"{GOAL:,}/s", f"{found:,.0f}/s", found / GOAL))
        return rows


def main() -> int:
    """Measure the game that is named."""
    from tests.benchmarks.report import markdown

    words = sys.argv[1:]
    print(markdown(measure(False, Path(words[0]), words[1:]) if words else measure(False)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
