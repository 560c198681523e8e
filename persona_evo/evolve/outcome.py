"""The result of a run: how it ended, its best individual and its policy."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

from persona_evo.arguments import checked_fields
from persona_evo.evolve import genome, reopening
from persona_evo.evolve.driving import DEADLINE, FINISHED, INTERRUPTED
from persona_evo.evolve.records import Individual
from persona_evo.games.core import Game
from persona_evo.store import checkpoints, policies, runs
from persona_evo.words import counted


@checked_fields()
@dataclass(frozen=True, repr=False)
class Outcome:
    """The result of a run.

    Attributes:
        folder: the folder of the run.
        status: FINISHED, DEADLINE or INTERRUPTED.
        generations: the number of finished generations.
        best: the fittest of the hall of fame, or of the formulas evaluated if the time ran out in the first generation;
            None if nothing was evaluated.
        policy: the policy file; None after an interruption, or if nothing was evaluated.
        priority: the mean of the persona's core priority in the final comparison.
        utility: the mean utility in that comparison.
        found_in_start: whether the policy, at least in its canonical form, is one of the formulas that the first
            population was given.
        recovered: the damaged checkpoint without which the run was resumed, in words; "" for none.
        first_generation: the expected seconds of the first generation if the deadline came before its end; else None.
    """

    folder: Path
    status: str
    generations: int
    best: Individual | None
    policy: Path | None = None
    priority: float | None = None
    utility: float | None = None
    found_in_start: bool = False
    recovered: str = ""
    first_generation: float | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the run."""
        return self.status == INTERRUPTED

    def __repr__(self) -> str:
        return f"<Outcome of {self}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook."""
        return f"<p>Evolution {html.escape(str(self))}</p>"

    def __str__(self) -> str:
        best = "" if self.best is None else f", best {self.best.fitness:.4f} with {counted(self.best.size, 'node')}"
        after = counted(self.generations, "generation")
        return f"{self.folder}: {self.status}, {after}{best}; policy: {self.policy or 'none'}"


def best_run(outcomes: Sequence[Outcome], game: Game, priority: str) -> Outcome:
    """Return the outcome with the best core priority; of equal ones that with the best utility, then the first.

    Outcomes without a policy count as the worst.
    """
    sign = -1.0 if any(m.symbol == priority and m.better == "lower" for m in game.metrics) else 1.0
    worst = float("-inf")

    def rank(o: Outcome) -> tuple[float, float]:
        return worst if o.priority is None else sign * o.priority, worst if o.utility is None else o.utility

    return max(outcomes, key=rank)


def ended(folder: Path) -> Outcome | None:
    """Return the outcome of a run that has a policy, at its target or at a deadline; None before that.

    Raises:
        RunError, PolicyError: a file is damaged.
    """
    config = runs.read_config(folder)
    checkpoint, _ = checkpoints.usable_checkpoint(folder, checkpoints.digest(config))
    if checkpoint is None:
        return None
    before = policy_after(folder, checkpoint.generation + 1)
    if before is None:
        return None
    state = reopening.state_of(folder, config, checkpoint)
    status = FINISHED if state.generation + 1 >= checkpoint.target else DEADLINE
    return Outcome(folder, status, state.generation + 1, state.hall[0], *before)


def in_start(config: Mapping[str, Any], path: Path) -> bool:
    """Return whether a policy is one of those that joined the first population of a run with this configuration."""
    policy = policies.read(path)
    found = genome.canonical_form(policy.formula or policy.run["as_evolved"]["lists"])
    return any(found == genome.canonical_form(text) for text in config.get("first", ()))


def policy_after(folder: Path, generations: int) -> tuple[Path, float, float | None] | None:
    """Return the policy of a run that ended after so many generations, with its core priority and its utility.

    The result is None if there is no such policy, or if the run has continued since.
    """
    path = runs.policy_of(folder)
    if path is None:
        return None
    policy = policies.read(path)
    if policy.run.get("generations") != generations:
        return None
    values = policy.run.get("priority", {}).values()
    return path, fsum(values) / max(1, len(values)), policy.mean
