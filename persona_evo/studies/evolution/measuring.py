"""Measurements of policies: each is played on a set of levels, with the same seeds for all policies.

The key of a measurement holds everything that decides it, so no stage plays what another stage has measured.
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
    """The key of a measurement: a policy, the persona whose utility it plays for, and how and where it plays.

    Attributes:
        persona: the name of the persona.
        search: a search preset, "" for play from move to move.
        iterations: iterations of a playthrough, or of a move.
        levels: the name of a set of levels.
        digest: the digest of their texts.
        trials: playthroughs of each level.
        seeds: the name of the seeds; playthroughs with the same name and number have the same seeds.
        policy: the text of the policy.
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
    """The result of a measurement.

    Attributes:
        utilities: utility by [level][trial].
        won: number of trials that won by [level].
        metrics: mean over levels and trials of each metric of the game.
    """

    utilities: tuple[tuple[float, ...], ...]
    won: tuple[int, ...]
    metrics: Mapping[str, float]

    @property
    def by_level(self) -> list[float]:
        """The mean utility of each level."""
        return [fsum(values) / len(values) for values in self.utilities]

    @property
    def utility(self) -> float:
        """The mean utility over all levels."""
        return fsum(self.by_level) / len(self.utilities)

    @property
    def win_rate(self) -> float:
        """The share of the playthroughs that won."""
        return sum(self.won) / sum(len(values) for values in self.utilities)


Known = Mapping[Probe, RunMeasurement]


class _Task(NamedTuple):
    probe: Probe
    spec: FitnessSpec
    seed: int


def measure(folder: Path, stage: str, probes: Iterable[Probe], seed: int, levels: Levels, runner: Runner) -> bool:
    """Make the missing measurements and return whether all exist.

    Args:
        folder: the folder of the study.
        stage: the name of the stage, for messages.
        probes: the measurements to make.
        seed: the seed of the study.
        levels: the levels of the study.
        runner: runs the jobs.
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
    """Make a measurement on one core (workers call this).

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
    """Read all measurements in a study's folder.

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
    """Return the probe of a policy on a set of levels."""
    return Probe(persona, search, iterations, where.name, where.digest, trials, seeds, policy)


def best_of(known: Known, probes: Sequence[Probe]) -> str | None:
    """Return the policy with the highest mean utility among some probes; None if one was not measured.

    Of several best ones, the first is returned.
    """
    if not probes or any(p not in known for p in probes):
        return None
    return max(probes, key=lambda p: known[p].utility).policy


def _cost(probe: Probe) -> float:
    """Return the relative cost of a playthrough."""
    return probe.iterations * (1.0 if probe.search else 30.0) + 300.0
