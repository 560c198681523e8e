"""The stages of the study in their order. Each stage can be interrupted at any moment and resumed."""

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
"""The stages before the report in their order. Each does what is missing and returns whether everything is done."""


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
        folder: the folder of the study.
        wanted: names of stages in STAGES, which run in the order of STAGES.
        sets: named sets of levels, in addition to generated levels.
        end: deadline on the clock `time.monotonic`.
        long: folder with policies of long runs (see `training.add_long`).

    Returns:
        The stage at which the time ran out, "" if it did not.

    Raises:
        RunError: the folder belongs to something else, is damaged, or is in use.
        KeyboardInterrupt: Ctrl-C was pressed; finished work is kept.
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
    """Return the settings of a study whose folder may exist; values that no option sets are those of the folder.

    Args:
        given: see `StudySettings.of`.

    Raises:
        RunError: the folder belongs to another study, or is damaged.
    """
    ours = StudySettings.of(quick=quick, **given)
    if not (folder / keeping.CONFIG).is_file():
        return ours
    known = reopen(folder)
    return dataclasses.replace(ours, shipped=known.shipped, evolution=known.evolution)


def reopen(folder: Path) -> StudySettings:
    """Return the settings in a study's folder.

    Raises:
        RunError: this is no folder of this study, or a file is damaged.
    """
    return keeping.settings(folder, STUDY, from_values)
