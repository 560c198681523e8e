"""The stages that search for policies: the constants of handwritten lines are tuned, and methods run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.evolve import genome, searchers, training
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Point, Trained, Training
from persona_evo.jobs.runner import Job, Runner
from persona_evo.jobs.workers import Workers
from persona_evo.personas import load as load_persona
from persona_evo.seeds import derive
from persona_evo.store import policies
from persona_evo.studies.evolution.levels import TRAINING, VALIDATION, Levels
from persona_evo.studies.evolution.settings import (
    EVOLUTION,
    LONG,
    METHODS,
    SEEDED,
    SETTINGS,
    MethodCell,
    StudySettings,
    lines,
    spec_of,
    study_game,
)
from persona_evo.studies.keeping import row_journal

LINES, RUNS = "lines.jsonl", "runs.jsonl"
LINE = "line"
"""The method of the handwritten lines, which have no runs."""

COST = {"single": 2.8, "planner-300": 2.2, "planner-1000": 2.7, "casual": 10.0}
"""Approximate milliseconds of a playthrough, with which estimates of time begin."""


class TrainingTask(NamedTuple):
    """A run of a method.

    Attributes:
        cell: the cell of the run.
        number: the number of the run, from 1; for a line, its place in the file.
        line: the line whose constants are tuned, "" for other methods.
        training: pools and fitness.
        evolution: settings of the evolution.
        seed: everything random follows from it.
        playthroughs: the largest number of playthroughs.
    """

    cell: MethodCell
    number: int
    line: str
    training: Training
    evolution: EvolutionSettings
    seed: int
    playthroughs: int


def run(task: TrainingTask) -> dict[str, Any]:
    """Do a run on one core (workers call this).

    Returns:
        The line for the file of its kind.
    """
    began = time.process_time()
    found = _trained(task)
    return {
        **task.cell._asdict(),
        "run": task.number,
        **({"line": task.line} if task.line else {}),
        "seed": task.seed,
        "playthroughs": found.playthroughs,
        "seconds": round(time.process_time() - began, 2),
        "policy": found.policy,
        "curve": [
            [p.playthroughs, round(p.training, 6), round(p.validation, 6), p.policy] for p in _turns(found.curve)
        ],
    }


def cell_of(row: Mapping[str, Any], path: Path, number: int) -> MethodCell:
    """Return the cell of a line.

    Raises:
        RunError: the line has no known cell, or has no number and line that can be those of a run.
    """
    cell = MethodCell(row.get("setting", ""), row.get("method", ""), row.get("persona", ""))
    whole = all(type(value) is str for value in (*cell, row.get("line", ""))) and type(row.get("run")) is int
    if whole and cell.setting in SETTINGS and cell.method in {*METHODS, LINE}:
        return cell
    raise unreadable(path, number)


def unreadable(path: Path, number: int) -> RunError:
    """Return the error that a line is not that of a run."""
    return RunError(
        "this run cannot be read",
        place=Place(str(path), number),
        expected="a line written by this program",
        hint="delete the line; the run is made again",
    )


def add_long(folder: Path, settings: StudySettings, where: Path) -> None:
    """Add the policies of long runs to the study, from files named SETTING-PERSONA.json.

    Raises:
        SettingsError: the folder has no such file.
        PolicyError: a file cannot be read.
    """
    game = study_game()
    known = {
        tuple(row[key] for key in ("setting", "persona", "policy"))
        for row in row_journal(folder / RUNS).read()
        if row.get("method") == LONG
    }
    found = [
        (setting, persona, where / f"{setting}-{persona}.json")
        for setting in settings.chosen
        for persona in settings.personas
    ]
    if not any(path.is_file() for *_, path in found):
        raise SettingsError(
            "the folder has no policies of long runs",
            place=Place(str(where)),
            expected=f"files such as {found[0][2].name}",
        )
    for setting, persona, path in found:
        policy = policies.read(path) if path.is_file() else None
        text = "" if policy is None else genome.of_policy(policy.tree_policy(game)) or ""
        if policy is not None and text and (setting, persona, text) not in known:
            mean = round(policy.mean or 0.0, 6)
            row_journal(folder / RUNS).append(
                [
                    {
                        **MethodCell(setting, LONG, persona)._asdict(),
                        "run": 1,
                        "seed": policy.seed,
                        "playthroughs": 0,
                        "seconds": 0.0,
                        "policy": text,
                        "curve": [[0, mean, mean, text]],
                    }
                ],
            )


def _turns(curve: Sequence[Point]) -> list[Point]:
    """Return the points of a curve at which another policy became the best, and the last point."""
    points = list(curve)
    return [p for i, p in enumerate(points) if i in (0, len(points) - 1) or p.policy != points[i - 1].policy]


def _trained(task: TrainingTask) -> Trained:
    with Workers(1) as alone:
        if task.cell.method in (SEEDED, EVOLUTION):
            return training.train(task.training, task.evolution, task.seed, task.playthroughs, alone)
        name = "constants" if task.line else task.cell.method
        how = searchers.method(name, task.training, task.evolution, task.line)
        return searchers.search(how, task.training, task.seed, task.playthroughs, alone)


def tune_lines(folder: Path, settings: StudySettings, levels: Levels, runner: Runner) -> bool:
    """Tune the constants of all lines; return whether all are tuned.

    The lines of a persona share the playthroughs of one run.
    """
    tuned = tuned_lines(settings)
    wanted = [
        (MethodCell(setting, LINE, persona), number, line)
        for setting in settings.chosen
        for persona in tuned
        for number, line in enumerate(tuned[persona], 1)
    ]
    return _do("lines", folder / LINES, wanted, settings, levels, runner)


def tuned_lines(settings: StudySettings) -> dict[str, tuple[str, ...]]:
    """Return the lines of each persona whose constants are tuned."""
    return {persona: lines()[1][persona][: settings.lines or None] for persona in settings.personas}


def train(folder: Path, settings: StudySettings, levels: Levels, runner: Runner) -> bool:
    """Do all missing runs of all cells; return whether all are done."""
    wanted = [(cell, number, "") for number in range(1, settings.runs + 1) for cell in settings.cells()]
    return _do("train", folder / RUNS, wanted, settings, levels, runner)


def _do(
    stage: str,
    path: Path,
    wanted: list[tuple[MethodCell, int, str]],
    settings: StudySettings,
    levels: Levels,
    runner: Runner,
) -> bool:
    journal = row_journal(path)
    known = {
        (*cell_of(row, path, place), row.get("run"), row.get("line", "")) for place, row in enumerate(journal.read(), 1)
    }
    made: dict[tuple[str, str], Training] = {}
    jobs = []
    for cell, number, line in wanted:
        if (*cell, number, line) in known:
            continue
        where = cell.setting, cell.persona
        if where not in made:
            made[where] = material(settings, levels, *where)
        shared = len(tuned_lines(settings)[cell.persona]) if line else 1
        playthroughs = settings.playthroughs[cell.setting] // shared
        task = TrainingTask(
            cell, number, line, made[where], settings.evolving(cell), seed_of(settings, cell, number), playthroughs
        )
        name = f"{cell.setting}, {cell.method}, {cell.persona}, {number}"
        jobs.append(Job(name, task, playthroughs * COST[cell.setting]))
    return runner.run(stage, run, jobs, lambda row: journal.append([row]), len(wanted) - len(jobs))


def material(settings: StudySettings, levels: Levels, setting: str, persona: str) -> Training:
    """Return the pools and the fitness of a persona in a setting."""
    pool, validation = (levels.pool(persona, stream) for stream in (TRAINING, VALIDATION))
    who = load_persona(persona, study_game())
    return Training(replace(spec_of(settings, setting, who, pool.levels), best=pool.best), validation, who.lists)


def seed_of(settings: StudySettings, cell: MethodCell, number: int) -> int:
    """Return the seed of a run."""
    return derive(settings.seed, *cell, number) % 2**31
