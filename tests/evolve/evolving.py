"""Evolutions of the tests, with all choices as plain arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from persona_evo.evolve import run
from persona_evo.evolve.outcome import Outcome
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.games.core import Game, Level
from persona_evo.personas import Persona

OF_TASK = {field.name for field in dataclasses.fields(EvolutionTask)}


def task_of(
    game: Game, persona: Persona, levels: Sequence[Level], settings: EvolutionSettings, seed: int, **options: Any
) -> EvolutionTask:
    """Return the task that is made of those options that belong to one."""
    own = {name: value for name, value in options.items() if name in OF_TASK}
    return EvolutionTask(game, persona, levels, settings, seed, **own)


def evolve(
    game: Game, persona: Persona, levels: Sequence[Level], settings: EvolutionSettings, seed: int, **options: Any
) -> Outcome:
    """Evolve with options of the task and of `run.evolve`."""
    others = {name: value for name, value in options.items() if name not in OF_TASK}
    return run.evolve(task_of(game, persona, levels, settings, seed, **options), **others)
