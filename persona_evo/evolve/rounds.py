"""Lets policies play the same trials, as many as there is time for."""

from __future__ import annotations

import time
from collections.abc import Sequence

from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.playthroughs import PlaythroughScore
from persona_evo.evolve.schedule import WAVE_SECONDS, Phase, TellPhase
from persona_evo.search.tree_policy import TreePolicy

Plan = Sequence[Sequence[int]]
"""The seeds by [case][trial]."""


def play_rounds(
    fitness: Fitness,
    policies: Sequence[str | TreePolicy],
    plan: Plan,
    name: str,
    until: float | None = None,
    tell: TellPhase | None = None,
) -> list[list[list[PlaythroughScore]]]:
    """Return each policy's scores, played trial by trial so that all policies have played the same at any time.

    Args:
        fitness: plays the trials.
        policies: formulas or tree policies.
        plan: the seeds, [case][trial].
        name: the name of the phase, for progress.
        until: the moment on `time.monotonic` after which nothing is begun; None plays the whole plan.
        tell: receives progress from time to time.

    Returns:
        [policy][case][trial]; without trials if there was no time for any.
    """
    found: list[list[list[PlaythroughScore]]] = [[[] for _ in plan] for _ in policies]
    trials = max((len(seeds) for seeds in plan), default=0)
    each, done = len(policies) * len(plan), 0
    if until is not None and time.monotonic() >= until:
        return found
    while done < trials:
        took = fitness.seconds(each)
        if tell:
            tell(Phase(name, done * each, trials * each, _eta(took * (trials - done), until)))
        wave = min(trials - done, max(1, round(WAVE_SECONDS / max(took, 1e-9))))
        if until is not None:
            left = until - time.monotonic()
            if done and left < took:
                break
            wave = max(1, min(wave, int(left / took)))
        fitness.stop = until
        played = fitness.trials(policies, [plan] * len(policies), done, done + wave)
        kept = [cases for cases in played if cases is not None]
        if len(kept) < len(policies):
            break
        for mine, cases in zip(found, kept, strict=True):
            for all_trials, more in zip(mine, cases, strict=True):
                all_trials += more
        done += wave
    if tell:
        tell(Phase(name, done * each, done * each, 0.0))
    return found


def _eta(seconds: float, until: float | None) -> float:
    return seconds if until is None else max(0.0, min(seconds, until - time.monotonic()))
