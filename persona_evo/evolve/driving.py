"""Makes and records the generations of an open run, one after another, until the target, a deadline or Ctrl-C."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from persona_evo.evolve import reopening
from persona_evo.evolve.fitness import OutOfTime
from persona_evo.evolve.genome import is_lists
from persona_evo.evolve.islands import Evaluate, generations
from persona_evo.evolve.records import EvolutionState, Generation, Individual, IslandRow
from persona_evo.games.core import Game
from persona_evo.jobs.workers import Usage
from persona_evo.store import runs

FINISHED, DEADLINE, INTERRUPTED = "finished", "deadline", "interrupted"
"""How a call ended: all generations are finished, the time was up, or the user pressed Ctrl-C. The last two can be
resumed.
"""

_PACE = 10
"""The number of recent generations that time estimates use."""


@dataclass(frozen=True)
class GenerationProgress:
    """The progress of a run after a generation.

    Attributes:
        generation: the number of the generation, from 0.
        target: the total number of generations.
        rows: the best and mean fitness of each island.
        best: the best individual of the hall of fame.
        evaluations: the number of formulas evaluated in this generation.
        remembered: the number of formulas that reuse the result of a duplicate.
        spared: the number of playthroughs that reuse the result of an equal one.
        rate: evaluations per second.
        eta: seconds to go, or until the deadline if that is earlier.
        usage: the usage of the cores, if the evaluation measures it.
    """

    generation: int
    target: int
    rows: tuple[IslandRow, ...]
    best: Individual
    evaluations: int
    remembered: int
    spared: int
    rate: float
    eta: float
    usage: Usage | None

    @property
    def bred(self) -> str:
        """What is evolved: a "formula", or a "set" of open lists."""
        return "set" if is_lists(self.best.formula) else "formula"


Tell = Callable[[GenerationProgress], None]


def drive(
    run: runs.RunFolder,
    evaluate: Evaluate,
    metrics: Sequence[str],
    levels: int,
    *,
    validation: int = 0,
    game: Game | None = None,
    deadline: float | None = None,
    progress: Tell | None = None,
) -> str:
    """Make and record the generations that an open run still lacks.

    A generation that would not end before the deadline is not begun, and one whose evaluation runs out of time is
    abandoned. Ctrl-C ends the run at once: the last complete generation is on disk, and resuming repeats the
    interrupted one.

    Returns:
        FINISHED, DEADLINE or INTERRUPTED.
    """
    settings = reopening.settings_of(run.folder)
    target = run.checkpoint.target if run.checkpoint else int(run.config["target"])
    state = state_of(run)
    pace: deque[float] = deque(maxlen=_PACE)
    usage: Callable[[], Usage] | None = getattr(evaluate, "usage", None)
    spared: Callable[[], int] | None = getattr(evaluate, "spared", None)
    made = generations(
        replace(settings, generations=target),
        int(run.config["seed"]),
        evaluate,
        metrics=metrics,
        levels=levels,
        validation=validation,
        game=game,
        first=run.config.get("first", ()),
        state=state,
        check=getattr(evaluate, "check", lambda: None),
    )
    try:
        getattr(evaluate, "warm_up", lambda: None)()
        while state is None or state.generation + 1 < target:
            if deadline is not None and pace and time.monotonic() + sum(pace) / len(pace) > deadline:
                return DEADLINE
            generation = next(made)
            state = generation.state
            used, saved = usage() if usage else None, spared() if spared else 0
            _record(run, generation, target, used, saved)
            pace.append(generation.seconds)
            if progress:
                progress(_progress(generation, target, pace, deadline, used, saved))
    except KeyboardInterrupt:
        return INTERRUPTED
    except OutOfTime:
        return DEADLINE
    return FINISHED


def _record(run: runs.RunFolder, generation: Generation, target: int, usage: Usage | None, spared: int) -> None:
    timing: dict[str, Any] = {
        "seconds": round(generation.seconds, 4),
        "evaluating": round(generation.evaluating, 4),
    }
    if usage:
        timing.update(jobs=usage.jobs, workers=usage.workers, busy=round(usage.share, 4), spared=spared)
    run.record(
        generation.index,
        [row.to_json() for row in generation.rows],
        timing,
        generation.state.to_json(),
        [hall_entry(i) for i in generation.state.hall],
        target,
    )


def hall_entry(individual: Individual) -> dict[str, Any]:
    """Return a member of the hall of fame as it is written to the file."""
    return {
        "fitness": individual.fitness,
        "size": individual.size,
        "formula": individual.formula,
        "utilities": individual.utilities,
        "trials": individual.trials,
        "born": individual.born,
        "origin": individual.origin,
    }


def _progress(
    generation: Generation, target: int, pace: Sequence[float], deadline: float | None, usage: Usage | None, spared: int
) -> GenerationProgress:
    evaluations = sum(row.evaluations for row in generation.rows)
    remembered = sum(row.remembered for row in generation.rows)
    eta = (target - generation.index - 1) * sum(pace) / len(pace)
    if deadline is not None:
        eta = max(0.0, min(eta, deadline - time.monotonic()))
    rate = evaluations / generation.seconds if generation.seconds > 0 else 0.0
    return GenerationProgress(
        generation.index, target, generation.rows, generation.best, evaluations, remembered, spared, rate, eta, usage
    )


def state_of(run: runs.RunFolder) -> EvolutionState | None:
    """Return the state from which a run continues, or None before its first generation is finished."""
    return None if run.checkpoint is None else reopening.state_of(run.folder, run.config, run.checkpoint)
