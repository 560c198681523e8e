"""Experiments of one's own, and published ones again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.games import registry
from persona_evo.games.core import Level
from persona_evo.playtest.experiment import course as course_of_experiment
from persona_evo.studies.minidungeons import course
from persona_evo.studies.minidungeons import published as publications
from persona_evo.studies.minidungeons import settings as reproductions
from persona_evo.studies.minidungeons.course import Material

if TYPE_CHECKING:
    from persona_evo.report.written import Report


def experiment(
    file: str | Path,
    folder: str | Path,
    *,
    replicates: int | None = None,
    rollouts: int | None = None,
    jobs: int = 1,
    progress: Callable[[course_of_experiment.Progress], None] | None = None,
) -> Report:
    """Make the searches of an experiment's TOML file and write the page; the same call goes on after any stop.

    Args:
        file: see `persona_evo.playtest.experiment.reading`. folder: for everything.
        replicates, rollouts: override the values of the file.
        jobs: cores, for games that are played in this program; without influence on the result.
        progress: told now and then.

    Raises:
        KeyboardInterrupt: Ctrl-C; what was made up to then is kept.
    """
    from persona_evo.playtest.experiment import reading
    from persona_evo.report import experiment as report

    design = reading.read(Path(file)).smaller(replicates, rollouts)
    results = course_of_experiment.conduct(design, Path(folder), jobs=jobs, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return report.write(results, Path(folder))


@dataclass(frozen=True)
class Reproduction:
    """A published experiment, run again: everything that was evolved and played, the page, and a summary."""

    material: Material
    page: Path
    text: str

    def __str__(self) -> str:
        return self.text


def reproduce(
    study: str = "minidungeons",
    protocol: str = "paper",
    levels: str | Path | None = None,
    *,
    folder: str | Path | None = None,
    jobs: int = -1,
    backend: str = "loky",
    duration: float | None = None,
    progress: Callable[[course.Progress], None] | None = None,
    drawing: Callable[[str], None] | None = None,
    **settings: Any,
) -> Reproduction:
    """Run a published experiment again and write a report on it; the same call goes on after any stop.

    Args:
        study: "minidungeons".
        protocol: "paper" or "modern".
        levels: a folder with the publication's maps; without it levels of the project stand in.
        folder: for everything; `runs/reproduction-<study>-<protocol>` if not given, with the levels' name behind it
            where they are given.
        jobs, backend: of `playtest_levels`; without influence on the result.
        duration: seconds; evolutions share what the playtests leave of it.
        progress: told how far everything is. drawing: told what is being drawn.
        settings: quick, cross, seed, runs, trials, generations, population, iterations, playtest_iterations,
            bound_seconds (see `studies.minidungeons.settings`).
    """
    chosen = reproductions.Settings.of(study, protocol, **settings)
    published = publications.load(study)
    loaded = reproductions.levels_for(published, registry.get(published.game), levels)
    target = reproductions.default_folder(study, protocol, levels, loaded, False) if folder is None else Path(folder)
    return _reproduce(target, chosen, loaded, jobs, backend, duration, progress, drawing)


def resume_reproduction(
    folder: str | Path,
    *,
    jobs: int = -1,
    backend: str = "loky",
    duration: float | None = None,
    progress: Callable[[course.Progress], None] | None = None,
    drawing: Callable[[str], None] | None = None,
) -> Reproduction:
    """Continue a reproduction with nothing but its folder (arguments as for `reproduce`)."""
    settings, levels = reproductions.reopen(Path(folder))
    return _reproduce(Path(folder), settings, levels, jobs, backend, duration, progress, drawing)


def _reproduce(
    folder: Path,
    settings: reproductions.Settings,
    levels: Sequence[Level],
    jobs: int,
    backend: str,
    duration: float | None,
    progress: course.Tell | None,
    drawing: Callable[[str], None] | None,
) -> Reproduction:
    from persona_evo.studies.minidungeons import report

    material = course.Course(folder, settings, levels, jobs=jobs, backend=backend, seconds=duration, tell=progress).run(
        halfway=lambda so_far: report.write(so_far, drawing)
    )
    written = report.write(material, drawing)
    return Reproduction(material, written.page, written.text)
