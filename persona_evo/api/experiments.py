"""Your own experiments: read from a file, searched, and reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from persona_evo import limits
from persona_evo.arguments import checked
from persona_evo.experiments import files, job
from persona_evo.experiments.design import Experiment
from persona_evo.experiments.job import ExperimentResults
from persona_evo.jobs.files import writing_in
from persona_evo.jobs.progress import Tell
from persona_evo.report import experiment as report
from persona_evo.report.written import WrittenReport


@checked
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
        KeyboardInterrupt: Ctrl-C was pressed; finished work is kept, and the message says how much it is.
        SettingsError, LevelError, PersonaError, PolicyError: the file is wrong, or names something that does not exist.
        RunError: the folder belongs to something else, is damaged, or is in use.
        ConnectError: a connected game fails.
    """
    results = search_all(read_experiment(file, replicates, rollouts), folder, jobs=jobs, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt(f"{results.interruption}; they are kept in {folder}, and the same call continues")
    return write_experiment(results, folder)


def experiment_template(name: str) -> str:
    """Return the text of a commented file to start an experiment from."""
    return files.TEMPLATE.format(name=name)


def read_experiment(file: str | Path, replicates: int | None = None, rollouts: int | None = None) -> Experiment:
    """Read an experiment's TOML file (arguments and errors as for `experiment`)."""
    return files.read(Path(file)).smaller(
        None if replicates is None else limits.whole(replicates, "replicates", 1, 10_000),
        None if rollouts is None else limits.whole(rollouts, "rollouts", 1, 100_000_000),
    )


def search_all(
    design: Experiment,
    folder: str | Path,
    *,
    jobs: int = 1,
    progress: Tell | None = None,
    loading: Callable[[int, int], None] | None = None,
) -> ExperimentResults:
    """Run the searches that the folder does not have (arguments and errors as for `experiment`).

    Args:
        loading: called before each level is loaded, with its number from 1 and the number of levels to load.

    Returns:
        All searches; after Ctrl-C, those that were finished.
    """
    with writing_in(Path(folder)):
        return job.conduct(design, Path(folder), jobs=limits.jobs(jobs), progress=progress, loading=loading)


def write_experiment(
    results: ExperimentResults, folder: str | Path, progress: Callable[[str], None] | None = None
) -> WrittenReport:
    """Write the page of an experiment and its files; `progress` is called with what is being drawn."""
    with writing_in(Path(folder)):
        return report.write(results, Path(folder), progress)


def kept_experiment(folder: str | Path) -> ExperimentResults:
    """Read an experiment and its finished searches from a folder; nothing is searched.

    Raises:
        RunError: this is no folder of an experiment, or it is damaged.
    """
    design = job.reopen(Path(folder))
    records = job.kept(Path(folder), design) if (Path(folder) / job.RESULTS).is_file() else []
    return ExperimentResults(design, records, Path(folder), complete=len(records) == len(design.tasks()))
