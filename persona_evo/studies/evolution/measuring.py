"""What policies are worth: each is played on a set of levels, with the same seeds for all of them.

A measurement is named by everything that decides it, so what is known is never played twice, whichever stage asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import Place, RunError
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import FitnessTrial, plans
from persona_evo.evolve.searchers import playable
from persona_evo.games.core import WON
from persona_evo.jobs.runner import Job, Runner
from persona_evo.personas import load as load_persona
from persona_evo.seeds import derive
from persona_evo.studies.evolution.levels import Levels, LevelSet
from persona_evo.studies.evolution.settings import play_spec, study_game
from persona_evo.studies.keeping import row_journal

FILE = "measures.jsonl"


class Probe(NamedTuple):
    """What is measured: a policy, and whose utility it plays for, how and where.

    Attributes:
        persona: name.
        search: a search preset, "" from move to move.
        iterations: of a playthrough, or of a move.
        levels: name of a set of levels.
        digest: of their texts.
        trials: playthroughs of each level.
        seeds: their name; playthroughs with the same name and number have the same seeds.
        policy: its text.
    """

    persona: str
    search: str
    iterations: int
    levels: str
    digest: str
    trials: int
    seeds: str
    policy: str


@dataclass(frozen=True)
class RunMeasurement:
    """What came out.

    Attributes:
        utilities: [level][trial].
        won: [level], how many trials won.
        metrics: mean over levels and trials of each metric of the game.
    """

    utilities: tuple[tuple[float, ...], ...]
    won: tuple[int, ...]
    metrics: Mapping[str, float]

    @property
    def by_level(self) -> list[float]:
        """Mean utility of each level."""
        return [fsum(values) / len(values) for values in self.utilities]

    @property
    def utility(self) -> float:
        """Mean over levels."""
        return fsum(self.by_level) / len(self.utilities)

    @property
    def win_rate(self) -> float:
        """Share of the playthroughs that won."""
        return sum(self.won) / sum(len(values) for values in self.utilities)


Known = Mapping[Probe, RunMeasurement]


class _Task(NamedTuple):
    probe: Probe
    spec: FitnessSpec
    seed: int


def measure(folder: Path, stage: str, probes: Iterable[Probe], seed: int, levels: Levels, runner: Runner) -> bool:
    """Measure what is not known yet; whether all is.

    Args:
        seed: of the study.
    """
    known, wanted = read(folder), list(dict.fromkeys(probes))
    missing = sorted((p for p in wanted if p not in known), key=lambda p: (p.iterations, *p[:7]))
    specs: dict[tuple[Any, ...], FitnessSpec] = {}
    jobs = []
    for probe in missing:
        where = probe[:5]
        if where not in specs:
            texts = levels.set_of(probe.persona, probe.levels).levels
            persona = load_persona(probe.persona, study_game())
            specs[where] = play_spec(probe.search, probe.iterations, persona, texts)
        weight = len(specs[where].levels) * probe.trials * _cost(probe)
        name = f"{probe.levels}, {probe.persona}, {probe.search or 'casual'} {probe.iterations}"
        jobs.append(Job(name, _Task(probe, specs[where], seed), weight))
    journal = row_journal(folder / FILE)
    return runner.run(stage, play, jobs, lambda row: journal.append([row]), len(wanted) - len(jobs))


def play(task: _Task) -> dict[str, Any]:
    """Measure on one core (this is what workers do).

    Returns:
        The line for the file.
    """
    probe, spec = task.probe, task.spec
    game = study_game()
    policy = playable(probe.policy)
    trials = [
        FitnessTrial(policy, case, derive(task.seed, "measure", probe.seeds, level.digest, trial))
        for case, level in enumerate(spec.levels)
        for trial in range(probe.trials)
    ]
    ends = list(plans(spec, trials))
    groups = [ends[i : i + probe.trials] for i in range(0, len(ends), probe.trials)]
    return {
        **probe._asdict(),
        "utilities": [[round(end.utility, 6) for end in group] for group in groups],
        "won": [sum(end.outcome == WON for end in group) for group in groups],
        "metrics": {s: round(fsum(end.metrics[s] for end in ends) / len(ends), 6) for s in game.symbols},
    }


def read(folder: Path) -> dict[Probe, RunMeasurement]:
    """All that was measured.

    Raises:
        RunError: a line cannot be read.
    """
    found: dict[Probe, RunMeasurement] = {}
    for number, row in enumerate(row_journal(folder / FILE).read(), 1):
        try:
            probe = Probe(*(row[name] for name in Probe._fields))
            utilities = tuple(tuple(float(u) for u in group) for group in row["utilities"])
            found[probe] = RunMeasurement(utilities, tuple(int(n) for n in row["won"]), dict(row["metrics"]))
        except (KeyError, TypeError, ValueError) as e:
            raise RunError(
                "a measurement cannot be read",
                place=Place(str(folder / FILE), number),
                hint="delete the line; it is measured again",
            ) from e
    return found


def probe(
    persona: str, search: str, iterations: int, where: LevelSet, trials: int, policy: str, seeds: str = ""
) -> Probe:
    """A probe of a policy on a set of levels."""
    return Probe(persona, search, iterations, where.name, where.digest, trials, seeds, policy)


def best_of(known: Known, probes: Sequence[Probe]) -> str | None:
    """The policy with the highest mean utility among some probes, the first of equals; None if one is not known."""
    if not probes or any(p not in known for p in probes):
        return None
    return max(probes, key=lambda p: known[p].utility).policy


def _cost(probe: Probe) -> float:
    """What a playthrough takes, relative to others."""
    return probe.iterations * (1.0 if probe.search else 30.0) + 300.0
