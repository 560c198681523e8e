"""Experiments of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.jobs.progress import Tell
from persona_evo.playtest.experiment import course

if TYPE_CHECKING:
    from persona_evo.report.written import Report


def experiment(
    file: str | Path,
    folder: str | Path,
    *,
    replicates: int | None = None,
    rollouts: int | None = None,
    jobs: int = 1,
    progress: Tell | None = None,
) -> Report:
    """Make the searches of an experiment's TOML file and write the page; the same call resumes after any stop.

    Args:
        file: see `persona_evo.playtest.experiment.reading`.
        folder: for everything.
        replicates, rollouts: override the values of the file.
        jobs: cores, for games that are played in this program; without influence on the result.
        progress: called now and then.

    Raises:
        KeyboardInterrupt: Ctrl-C; what was finished by then is kept.
    """
    from persona_evo.playtest.experiment import reading
    from persona_evo.report import experiment as report

    design = reading.read(Path(file)).smaller(replicates, rollouts)
    results = course.conduct(design, Path(folder), jobs=jobs, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return report.write(results, Path(folder))
