"""A small evolution with a run folder and the synthetic fitness, to be killed: `python -m ... FOLDER`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from persona_evo.evolve.driving import drive
from persona_evo.evolve.islands import Evaluate, Request, generations
from persona_evo.store import runs

from .synthetic import LEVELS, METRICS, small, synthetic

GENERATIONS = 30


def config(preset: str, generations: int = GENERATIONS) -> dict[str, Any]:
    """Return the configuration of the run."""
    settings = small(preset, generations=generations)
    return {
        "game": "synthetic",
        "persona": {"name": preset, "priority": ""},
        "seed": 11,
        "target": generations,
        "evolution": settings.to_dict(),
        "first": [],
    }


def work(run: runs.RunFolder, evaluate: Evaluate = synthetic, **options: Any) -> str:
    """Return all generations that are missing."""
    with run:
        return drive(run, evaluate, METRICS, LEVELS, **options)


def lazy(requests: Sequence[Request]) -> list[list[float]]:
    """Return the synthetic fitness, slow enough to be killed in the middle."""
    time.sleep(0.01)
    return synthetic(requests)


def main(folder: Path) -> None:
    """Resume the one run below `folder`, or begin it."""
    found = runs.find_runs(folder)
    run = runs.RunFolder.resume(found[0]) if found else runs.RunFolder.create(folder, config("modern"))
    next(generations(small("modern"), 1, synthetic, metrics=METRICS, levels=LEVELS))
    print("begun", flush=True)
    work(run, lazy, progress=lambda p: print(p.generation, flush=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
