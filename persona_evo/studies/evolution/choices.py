"""The policies that a study compares: those of runs, those chosen on the training levels, and others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.evolve.individuals import first_individuals, settled
from persona_evo.evolve.searchers import UCB1 as UCB1_TEXT
from persona_evo.jobs.runner import Runner
from persona_evo.personas import load as load_persona
from persona_evo.studies.evolution.levels import CHOOSING, HELD_OUT, TRAINING, Levels
from persona_evo.studies.evolution.measuring import Known, Probe, best_of, measure, probe, read
from persona_evo.studies.evolution.settings import (
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
from persona_evo.studies.evolution.training import LINES, RUNS, cell_of, tune_lines, unreadable
from persona_evo.studies.keeping import row_journal

LINE, SEED, SHIPPED, PLAIN, UTILITY = "best line", "best seed", "shipped policy", "UCB1", "no policy"
"""The policies that runs are compared with. The last one stands for a search by the utility alone."""
SEEDS = "single"
"""The setting in which the best seed is chosen."""


@dataclass(frozen=True)
class MethodRun:
    """The result of a run.

    Attributes:
        cell: the cell of the run.
        number: the number of the run.
        policy: the final policy.
        playthroughs: number of playthroughs that the run took.
        seconds: the time that the run took.
        curve: (playthroughs, training, validation, policy) at each change of the best policy.
    """

    cell: MethodCell
    number: int
    policy: str
    playthroughs: int
    seconds: float
    curve: tuple[tuple[int, float, float, str], ...]

    @property
    def validation(self) -> float:
        """The worth of the final policy on the validation levels."""
        return self.curve[-1][2]


@dataclass
class Choices:
    """All results of a study so far.

    Attributes:
        settings, levels: the settings and levels of the study.
        runs: the runs by cell, in the order of their numbers.
        tuned: the lines with tuned constants by setting and persona.
        known: all measurements.
    """

    settings: StudySettings
    levels: Levels
    runs: dict[MethodCell, list[MethodRun]]
    tuned: dict[tuple[str, str], list[str]]
    known: Known
    _references: dict[tuple[str, str, str], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, settings: StudySettings, levels: Levels) -> Choices:
        """Read the results in a study's folder.

        Raises:
            RunError: a file is damaged.
        """
        runs: dict[MethodCell, list[MethodRun]] = {cell: [] for cell in settings.cells()}
        for number, row in enumerate(row_journal(folder / RUNS).read(), 1):
            run = _run(row, folder / RUNS, number)
            others = [] if run.cell.method == LONG else runs.get(run.cell, [])  # only the last long run counts
            runs[run.cell] = [*others, run]
        tuned: dict[tuple[str, str], list[str]] = {}
        for number, row in enumerate(row_journal(folder / LINES).read(), 1):
            run = _run(row, folder / LINES, number)
            tuned.setdefault((run.cell.setting, run.cell.persona), []).append(run.policy)
        ordered = {cell: sorted(found, key=lambda run: run.number) for cell, found in runs.items()}
        return cls(settings, levels, ordered, {k: sorted(v) for k, v in tuned.items()}, read(folder))

    # policies

    def methods(self, setting: str) -> list[str]:
        """Return the methods that have cells in a setting."""
        found = {cell.method for cell in self.runs if cell.setting == setting}
        return [method for method in METHODS if method in found]

    def chosen_run(self, cell: MethodCell) -> MethodRun | None:
        """Return the run of a cell that is best on the validation levels; of several best ones, the first."""
        return max(self.runs.get(cell, []), key=lambda run: run.validation, default=None)

    def reference(self, what: str, setting: str, persona: str) -> str | None:
        """Return the text of a policy that runs are compared with; None if there is none (yet)."""
        key = what, setting, persona
        if key not in self._references:
            self._references[key] = self._reference(*key)
        return self._references[key]

    def _reference(self, what: str, setting: str, persona: str) -> str | None:
        if what == LINE:
            return best_of(self.known, self.line_probes(setting, persona))
        if what == SEED:
            return best_of(self.known, self.seed_probes(setting, persona))
        if what == SHIPPED:
            return self.settings.shipped.get(persona) or None
        return f"{UCB1_TEXT}{math.sqrt(2)!r}" if what == PLAIN else load_persona(persona, study_game()).utility.text

    def references(self, setting: str) -> list[str]:
        """Return the names of the policies that the runs of a setting are compared with."""
        return [
            LINE,
            *([SEED] if setting == SEEDS else []),
            SHIPPED,
            *([UTILITY] if SETTINGS[setting].lists else []),
            PLAIN,
        ]

    # measurements

    def line_probes(self, setting: str, persona: str) -> list[Probe]:
        """Return probes of all lines of a persona on the training levels, both as written and with tuned constants."""
        tuned = self.tuned.get((setting, persona), [])
        texts = dict.fromkeys([*lines()[1][persona], *tuned])
        return [self.probe(setting, persona, text, CHOOSING, 1) for text in texts]

    def seed_probes(self, setting: str, persona: str) -> list[Probe]:
        """Return probes on the training levels of all formulas that an evolution with seeds starts from."""
        who = load_persona(persona, study_game())
        spec = spec_of(self.settings, setting, who, self.levels.pool(persona, TRAINING).levels)
        settings = settled(self.settings.evolving(MethodCell(setting, SEEDED, persona)), spec)
        texts = first_individuals(settings, spec, who.lists)
        return [self.probe(setting, persona, text, CHOOSING, 1) for text in texts]

    def probe(
        self,
        setting: str,
        persona: str,
        policy: str,
        where: str = HELD_OUT,
        trials: int = 0,
        seeds: str = "",
        iterations: int = 0,
    ) -> Probe:
        """Return the probe of a policy in a setting; trials and iterations are those of the study unless given."""
        s = self.settings
        return probe(
            persona,
            SETTINGS[setting].search,
            iterations or s.iterations[setting],
            self.levels.set_of(persona, where),
            trials or s.trials,
            policy,
            seeds,
        )

    def reference_probe(self, setting: str, persona: str, policy: str, where: str = HELD_OUT) -> Probe:
        """Return the probe of a policy that runs are compared with."""
        trials = 0 if SETTINGS[setting].search else self.settings.reference_trials
        return self.probe(setting, persona, policy, where, trials)


def choose(folder: Path, settings: StudySettings, levels: Levels, runner: Runner) -> bool:
    """Tune the lines and measure the candidates on the training levels; return whether all is done."""
    if not tune_lines(folder, settings, levels, runner):
        return False
    c = Choices.of(folder, settings, levels)
    pairs = [(setting, persona) for setting in settings.chosen for persona in settings.personas]
    probes = [p for pair in pairs for p in c.line_probes(*pair)]
    probes += [p for pair in pairs if pair[0] == SEEDS for p in c.seed_probes(*pair)]
    return measure(folder, "lines", probes, settings.seed, levels, runner)


def _run(row: dict[str, Any], path: Path, number: int) -> MethodRun:
    try:
        curve = tuple((int(p), float(t), float(v), str(policy)) for p, t, v, policy in row["curve"])
        found = MethodRun(
            cell_of(row, path, number),
            row["run"],
            str(row["policy"]),
            int(row["playthroughs"]),
            float(row["seconds"]),
            curve,
        )
        found.validation  # noqa: B018 (a run has a curve)
    except (KeyError, TypeError, ValueError, IndexError) as e:
        raise unreadable(path, number) from e
    return found
