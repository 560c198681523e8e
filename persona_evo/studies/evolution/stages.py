"""The stages that measure: final policies, learning curves, budgets, and transfer between personas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from persona_evo.jobs.runner import Runner
from persona_evo.studies.evolution.choices import LINE, PLAIN, SHIPPED, UTILITY, Choices
from persona_evo.studies.evolution.levels import FEW, HELD_OUT, PART, Levels
from persona_evo.studies.evolution.measuring import Probe, measure
from persona_evo.studies.evolution.settings import LONG, SEEDED, SETTINGS, MethodCell, StudySettings

ENOUGH = 60_000
"""Number of iterations at which nothing may be lost in the planner."""


def finals(c: Choices) -> Iterator[Probe]:
    """Yield probes of the policies of all runs, and of those that they are compared with, on all sets of levels."""
    for setting in c.settings.chosen:
        for persona in c.settings.personas:
            texts = [
                run.policy
                for cell, runs in c.runs.items()
                for run in runs
                if (cell.setting, cell.persona) == (setting, persona)
            ]
            references = [c.reference(what, setting, persona) for what in c.references(setting)]
            for levels in c.levels.sets(persona):
                yield from (c.probe(setting, persona, text, levels.name) for text in texts)
                yield from (c.reference_probe(setting, persona, text, levels.name) for text in references if text)


def wins(c: Choices) -> Iterator[Probe]:
    """Yield probes of the planner's wins: the same number of trials for all runs together as for UCB1."""
    for setting, how in c.settings.chosen.items():
        for persona in c.settings.personas if how.lists else ():
            for trials in c.settings.wins:
                yield from (
                    win_probe(c, setting, persona, run.policy, trials, c.settings.runs)
                    for run in c.runs[MethodCell(setting, SEEDED, persona)]
                )
                plain = c.reference(PLAIN, setting, persona)
                assert plain is not None
                yield win_probe(c, setting, persona, plain, trials, 1)


def win_probe(c: Choices, setting: str, persona: str, policy: str, trials: int, among: int) -> Probe:
    """Return the probe of one policy out of `among`, which share the trials."""
    each = math.ceil(trials / among)
    return c.probe(setting, persona, policy, PART, trials=each, seeds=f"wins {trials}")


def curves(c: Choices) -> Iterator[Probe]:
    """Yield probes on held-out levels of the policies that were best in the course of some runs."""
    for cell, runs in c.runs.items():
        for run in runs[: c.settings.curves] if cell.method != LONG else ():
            yield from (curve_probe(c, cell, policy) for *_, policy in run.curve)


def curve_probe(c: Choices, cell: MethodCell, policy: str) -> Probe:
    """Return the probe of a policy in a learning curve."""
    return c.probe(cell.setting, cell.persona, policy, PART, trials=1)


BUDGETED = {"single": ("single",), "anytime": ("planner-300", "planner-1000")}
"""Searches whose budget is varied, and the settings whose policies are chosen for them."""


def budgeted(c: Choices) -> dict[str, tuple[str, ...]]:
    """Return the part of BUDGETED whose settings are part of the study."""
    found = {search: tuple(s for s in settings if s in c.settings.chosen) for search, settings in BUDGETED.items()}
    return {search: settings for search, settings in found.items() if settings}


def budgets(c: Choices) -> Iterator[Probe]:
    """Yield probes of chosen policies with more and less search, and of all runs in the planner at ENOUGH."""
    for persona in c.settings.personas:
        for settings in budgeted(c).values():
            for iterations in c.settings.budgets:
                yield from (
                    budget_probe(c, settings[0], persona, text, iterations)
                    for text in budget_policies(c, settings, persona).values()
                )
        for setting, how in c.settings.chosen.items():
            if how.lists and ENOUGH in c.settings.budgets:
                yield from (
                    budget_probe(c, setting, persona, run.policy, ENOUGH)
                    for run in c.runs[MethodCell(setting, SEEDED, persona)]
                )


def budget_policies(c: Choices, settings: tuple[str, ...], persona: str) -> dict[str, str]:
    """Return the policies that are compared over budgets, by name.

    The chosen run of each setting comes first, then the references of the first setting.
    """
    found = {
        f"evolved, {setting}": run.policy
        for setting in settings
        if (run := c.chosen_run(MethodCell(setting, SEEDED, persona)))
    }
    names = [LINE, SHIPPED, *([UTILITY] if SETTINGS[settings[0]].lists else []), PLAIN]
    texts = {what: c.reference(what, settings[0], persona) for what in names}
    return found | {what: text for what, text in texts.items() if text}


def budget_probe(c: Choices, setting: str, persona: str, policy: str, iterations: int) -> Probe:
    """Return the probe of a policy at a number of iterations on held-out levels, fewer for very many iterations."""
    where = PART if iterations <= ENOUGH else FEW
    return c.probe(setting, persona, policy, where, trials=1, iterations=iterations)


TRANSFERRED = "single"
"""The setting of the transfer matrix."""


def transfers(c: Choices) -> Iterator[Probe]:
    """Yield probes of the chosen policy of each persona under the utility of each."""
    for theirs in c.settings.personas if TRANSFERRED in c.settings.chosen else ():
        run = c.chosen_run(MethodCell(TRANSFERRED, SEEDED, theirs))
        if run is not None:
            yield from (c.probe(TRANSFERRED, persona, run.policy, HELD_OUT) for persona in c.settings.personas)


Stage = Callable[[Path, StudySettings, Levels, Runner], bool]


def measuring(name: str, *wanted: Callable[[Choices], Iterator[Probe]]) -> Stage:
    """Make a stage that measures one kind of probes after the other."""

    def stage(folder: Path, settings: StudySettings, levels: Levels, runner: Runner) -> bool:
        c = Choices.of(folder, settings, levels)
        return all(measure(folder, name, each(c), settings.seed, levels, runner) for each in wanted)

    return stage
