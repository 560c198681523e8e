"""Run the stages of the study in order. Each can be stopped at any moment and resumes where it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from persona_evo.jobs.progress import Tell
from persona_evo.jobs.runner import Runner
from persona_evo.jobs.workers import Workers
from persona_evo.studies import keeping
from persona_evo.studies.evolution import choices, levels, stages, training
from persona_evo.studies.evolution.levels import LevelSet
from persona_evo.studies.evolution.settings import StudySettings, from_values, study_game
from persona_evo.studies.evolution.stages import Stage

STUDY = "evolution"
STAGES: dict[str, Stage] = {
    "pools": lambda folder, settings, known, runner: levels.make(folder, settings, runner),
    "lines": choices.choose,
    "train": training.train,
    "measure": stages.measuring("measure", stages.finals, stages.wins, stages.curves),
    "budgets": stages.measuring("budgets", stages.budgets),
    "transfer": stages.measuring("transfer", stages.transfers),
}
"""Stages before the report, in their order: each does what is missing and returns whether everything is done."""


def run(
    folder: Path,
    settings: StudySettings,
    wanted: Sequence[str],
    sets: Mapping[str, LevelSet],
    *,
    jobs: int = 1,
    backend: str = "loky",
    end: float | None = None,
    tell: Tell | None = None,
    long: Path | None = None,
) -> str:
    """Do what is missing in a study.

    Args:
        folder: of the study.
        wanted: stages, of STAGES; they come in their order.
        sets: levels that were named, beside those that are generated.
        end: moment on `time.monotonic` by which to stop.
        long: folder with policies of long runs (see `training.add_long`).

    Returns:
        The stage at which the time was up, "" for none.

    Raises:
        RunError: the folder is for something else, damaged, or in use.
        KeyboardInterrupt: Ctrl-C; what was finished by then is kept.
    """
    with keeping.opened(folder, STUDY, {"game_version": study_game().version, **settings.to_dict()}):
        if long is not None:
            training.add_long(folder, settings, long)
        with Workers(jobs, backend) as workers:
            for name, stage in STAGES.items():
                if name in wanted and not stage(
                    folder, settings, levels.read(folder, sets), Runner(workers, end, tell)
                ):
                    return name
    return ""


def settings_for(folder: Path, *, quick: bool = False, **given: Any) -> StudySettings:
    """The settings of a study in a folder that may have been begun: what nobody can give is as it was then.

    Args:
        given: see `StudySettings.of`.

    Raises:
        RunError: the folder is of another study, or damaged.
    """
    ours = StudySettings.of(quick=quick, **given)
    if not (folder / keeping.CONFIG).is_file():
        return ours
    known = reopen(folder)
    return dataclasses.replace(ours, shipped=known.shipped, evolution=known.evolution)


def reopen(folder: Path) -> StudySettings:
    """What a folder is for.

    Raises:
        RunError: no folder of this study, or a damaged file.
    """
    return keeping.settings(folder, STUDY, from_values)
