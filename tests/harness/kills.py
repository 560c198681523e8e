"""Kills at random moments: a job that is resumed comes to the same results, and no process is left."""

from __future__ import annotations

import time

from tests.connect.driving import none_left
from tests.harness.jobs import ALL_KINDS, finish, start, whole
from tests.harness.trials import Finding, Part, Trial

KILLS = 4
"""Kills of one job before it may end."""


def run(trial: Trial) -> str:
    """Kill a job some times, each time at a random moment of what it takes, and resume it."""
    kind = ALL_KINDS[trial.number % len(ALL_KINDS)]
    made, folder = whole(kind), trial.folder / "job"
    moments = [trial.dice.uniform(0.0, made.seconds / 2) for _ in range(KILLS)]
    trial.what = f"{kind}: killed after {', '.join(f'{moment:.3f}' for moment in moments)} s"
    for moment in moments:
        process = start(kind, folder)
        time.sleep(moment)
        process.kill()
        process.join()
    finish(kind, folder)
    if not kind.same(folder, made.folder):
        raise Finding("other results than without kills")
    if not none_left(trial.folder):
        raise Finding("processes are left")
    return f"{kind}: the same"


def prepare() -> None:
    """Run each kind of job without kills."""
    for kind in ALL_KINDS:
        whole(kind)


PART = Part("kills", 250, "kills", KILLS, run, prepare)
