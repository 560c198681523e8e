"""The time of a training playthrough of an evolution, and how much of it is spent in compiled code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from unittest.mock import patch

from persona_evo.agents.skill import FULL_SIGHT
from persona_evo.compiling import Entry, Handle
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import FitnessTrial, play
from persona_evo.personas import catalog
from persona_evo.search.settings import Budget, SearchSettings

from .levels import game, training_maps
from .report import Row, compared
from .timing import cpu_seconds

SEARCHES = {"single": 1_000, "paper": 1_000, "anytime": 300, "move by move": 200}
"""The searches of an evolution, with iterations of a training playthrough; move by move, of a move."""

FORMULAS = ("TO + 0.{} * PE - DEAD", "NE * 0.{} - NT - max(DEAD, TS / 9)", "TO * 2.{} - NT - ST / 200 + HL")
"""Formulas that are played, with a number that differs from one to the next, so that each has to be compiled."""


def measure(quick: bool) -> list[Row]:
    """Measure playthroughs of new formulas with each search on the training maps, in turn."""
    rounds, number = (2, 1) if quick else (9, 6)
    rows = []
    for name, iterations in SEARCHES.items():
        spec = _spec(name, iterations)
        whole, shares = [], []
        for k in range(rounds + 1):
            texts = [FORMULAS[n % len(FORMULAS)].format(100 * k + n + 10) for n in range(number)]
            trials = [FitnessTrial(text, case, k) for text in texts for case in range(len(spec.levels))]
            with _compiled_time() as inside:
                seconds = cpu_seconds(partial(_play, spec, trials))
            if k:  # the first round loads and compiles
                whole.append(1_000 * seconds / len(trials))
                shares.append(inside[0] / seconds)
        what = f"a training playthrough of the search {name} with {iterations} iterations"
        text = f"{min(whole):.2f} ms of a core; the ratio is the share in compiled code"
        rows.append(compared(what, "", text, shares))
    return rows


def _play(spec: FitnessSpec, trials: list[FitnessTrial]) -> None:
    for _ in play((spec, None), trials):
        pass


def _spec(name: str, iterations: int) -> FitnessSpec:
    persona = next(p for p in catalog(game()) if p.name == "treasure_collector")
    whole = name in ("single", "paper", "anytime")
    search = SearchSettings.preset(name if whole else "single")
    spec = FitnessSpec.of(
        "minidungeons2", training_maps(), persona.utility, search, Budget(iterations), lists=persona.lists
    )
    return spec if whole else replace(spec, skill=FULL_SIGHT)


@contextmanager
def _compiled_time() -> Iterator[list[float]]:
    """Measure the processor time of this thread in entries of compiled code, in seconds."""
    spent = [0.0]

    def timed(entry: Entry, handle: Handle[object], *numbers: int) -> int:
        function, began = handle.function(entry), time.thread_time()
        result = function(*numbers)
        spent[0] += time.thread_time() - began
        return result

    with patch.object(Entry, "__call__", timed):
        yield spent
