"""Random damages to the folders of all kinds of jobs: each is noticed, recovered from, or without effect."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from persona_evo.errors import InputError
from tests.harness.jobs import ALL_KINDS, whole
from tests.harness.mutations import MUTATIONS
from tests.harness.trials import Finding, Part, Trial

TRIALS = 1_000
WRITTEN_ANEW = (".html", ".png", ".svg")
"""Files of a report, which nothing reads."""


def damaged(folder: Path, dice: random.Random) -> str:
    """Damage a file of a folder; which one, and how."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.suffix not in WRITTEN_ANEW and p.stat().st_size)
    path = dice.choice(sorted(files))
    if dice.random() < 0.1:
        path.unlink()
        return f"{path.name} deleted"
    mutation: Callable[[bytearray, random.Random], None] = dice.choice(MUTATIONS)
    data = bytearray(path.read_bytes())
    mutation(data, dice)
    path.write_bytes(bytes(data))
    return f"{path.name} {mutation.__name__}"


def run(trial: Trial) -> str:
    """Damage a finished job's folder and resume it."""
    kind = ALL_KINDS[trial.number % len(ALL_KINDS)]
    made, folder = whole(kind), trial.folder / "job"
    shutil.copytree(made.folder, folder)
    trial.what = f"{kind}: {damaged(folder, trial.dice)}"
    try:
        kind.run(folder, 1, 1)
    except InputError as e:
        if e.place is None:
            raise Finding(f"refused without a place: {e}") from e
        return "refused"
    except OSError as e:
        if not e.filename:
            raise Finding(f"refused without a file: {e}") from e
        return "refused"
    if not kind.same(folder, made.folder):
        raise Finding("other results, unnoticed")
    return "recovered"


def prepare() -> None:
    """Run each kind of job without damages."""
    for kind in ALL_KINDS:
        whole(kind)


PART = Part("damages", TRIALS, "damages", 1, run, prepare)
