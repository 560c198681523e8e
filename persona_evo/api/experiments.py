"""Your own experiments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo import limits
from persona_evo.experiments import job as course
from persona_evo.jobs.progress import Tell

if TYPE_CHECKING:
    from persona_evo.report.written import WrittenReport


def experiment(
    file: str | Path,
    folder: str | Path,
    *,
    replicates: int | None = None,
    rollouts: int | None = None,
    jobs: int = 1,
    progress: Tell | None = None,
) -> WrittenReport:
    """Run the searches of an experiment's TOML file and write the page; the same call resumes after any interruption.

    Args:
        file: see `persona_evo.experiments.files`.
        folder: the folder for everything.
        replicates, rollouts: override the values of the file.
        jobs: cores, for games that are played in this program; it does not change the result.
        progress: called with the progress from time to time.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed; finished work is kept.
        SettingsError, LevelError, PersonaError, PolicyError: the file is wrong, or names something that does not exist.
        RunError: the folder belongs to something else, is damaged, or is in use.
        ConnectError: a connected game fails.
    """
    from persona_evo.experiments import files as reading
    from persona_evo.report import experiment as report

    design = reading.read(Path(file)).smaller(
        None if replicates is None else limits.whole(replicates, "replicates", 1, 10_000),
        None if rollouts is None else limits.whole(rollouts, "rollouts", 1, 100_000_000),
    )
    results = course.conduct(design, Path(folder), jobs=limits.jobs(jobs), progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return report.write(results, Path(folder))
