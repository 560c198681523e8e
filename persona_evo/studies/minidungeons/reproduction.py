"""Functions that run and resume the study from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.api.studies import Reproduction
from persona_evo.arguments import checked
from persona_evo.games import registry
from persona_evo.games.core import Level
from persona_evo.jobs.progress import Tell
from persona_evo.studies.minidungeons import published as publications
from persona_evo.studies.minidungeons import settings as reproductions
from persona_evo.studies.minidungeons import study_run
from persona_evo.studies.minidungeons.material import DungeonResults

NAME = "minidungeons"


@dataclass(frozen=True)
class PersonasReproduced(Reproduction):
    """The results of the paper's experiments, run again.

    Attributes:
        page: the report's first file.
        text: a summary.
        material: all evolutions and playthroughs.
    """

    material: DungeonResults


@checked
def reproduce(
    protocol: str = "paper",
    levels: str | Path | None = None,
    *,
    folder: str | Path | None = None,
    jobs: int = -1,
    backend: str = "loky",
    duration: float | None = None,
    progress: Tell | None = None,
    drawing: Callable[[str], None] | None = None,
    **settings: Any,
) -> PersonasReproduced:
    """Run the paper's experiments again and write a report on them; the same call resumes after any interruption.

    Args:
        protocol: "paper" or "modern".
        levels: a folder with the publication's maps; without it, levels of the project stand in.
        folder: the folder for everything; by default `runs/reproduction-minidungeons-<protocol>`, followed by the name
            of the levels if they are given.
        jobs, backend: as in `playtest_levels`; they do not change the result.
        duration: seconds for this call, its report included; evolutions share what the rest leaves.
        progress: called with the progress from time to time.
        drawing: called with the name of each picture that is drawn.
        settings: quick, cross, seed, runs, trials, generations, population, iterations, playtest_iterations,
            bound_seconds (see `studies.minidungeons.settings`).
    """
    chosen = reproductions.DungeonSettings.of(NAME, protocol, **settings)
    published = publications.load(NAME)
    loaded = reproductions.levels_for(published, registry.get(published.game), levels)
    target = reproductions.default_folder(NAME, protocol, levels, loaded, False) if folder is None else Path(folder)
    return _reproduce(target, chosen, loaded, jobs, backend, duration, progress, drawing)


@checked
def resume(
    folder: str | Path,
    *,
    jobs: int = -1,
    backend: str = "loky",
    duration: float | None = None,
    progress: Tell | None = None,
    drawing: Callable[[str], None] | None = None,
) -> PersonasReproduced:
    """Continue a reproduction from its folder alone (arguments as for `reproduce`)."""
    settings, levels = reproductions.reopen(Path(folder))
    return _reproduce(Path(folder), settings, levels, jobs, backend, duration, progress, drawing)


def _reproduce(
    folder: Path,
    settings: reproductions.DungeonSettings,
    levels: Sequence[Level],
    jobs: int,
    backend: str,
    duration: float | None,
    progress: Tell | None,
    drawing: Callable[[str], None] | None,
) -> PersonasReproduced:
    from persona_evo.studies.minidungeons import report

    material = study_run.StudyRun(
        folder, settings, levels, jobs=jobs, backend=backend, seconds=duration, tell=progress
    ).run(halfway=lambda so_far: report.write(so_far, drawing))
    written = report.write(material, drawing)
    return PersonasReproduced(written.page, written.text, material)
