"""Reads a run folder and checks it value by value before anything depends on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from persona_evo.agents.duel import League
from persona_evo.agents.skill import skill_from_dict
from persona_evo.errors import InputError
from persona_evo.evolve import genome
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_from_dict
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.records import EvolutionState, Individual
from persona_evo.evolve.setting import in_words
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Training
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.level_text import check_levels, load_levels
from persona_evo.jobs import json_text, schema
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import checkpoints, runs
from persona_evo.store.policies import lists_at
from persona_evo.words import counted

VALIDATION = "validation"
"""A key of a run's configuration: the validation pool, if each generation draws its levels."""
HELD_OUT = "held_out"
"""A key of a run's configuration: the levels on which the winner is compared with others."""
HELD_OUT_BEST = "held_out_best"
"""A key of a run's configuration: the best known utility of each held-out level, if these were generated."""

MOST_UTILITY = 1e100
"""Largest utility of a checkpoint, in absolute value, that is no damage: sums and squares of such values are finite."""
MOST_COUNTED = 10**15
"""Largest number of evaluations or playthroughs of a checkpoint that is no damage."""


def settings_of(folder: Path) -> EvolutionSettings:
    """Return the settings of the evolution.

    Raises:
        RunError: the configuration is damaged.
    """
    return runs.config_reader(folder).made("evolution", EvolutionSettings.from_dict)


def spec_of(folder: Path, game_name: str) -> FitnessSpec:
    """Return the specification of what is played, for the game that the registry finds under `game_name`.

    Raises:
        RunError: the configuration is damaged, or was made with other rules of the game.
    """
    r = runs.config_reader(folder)
    game = registry.get(game_name)
    if game.version != r.whole("game_version"):
        raise r.fail(
            "the rules of the game have changed since this run began",
            "game_version",
            found=r.whole("game_version"),
            expected=f"version {game.version}",
            hint="start a new run",
        )
    r.words("versions")
    priority = r.object("persona").text_of("priority")
    if priority and priority not in game.symbols:
        raise r.object("persona").fail(
            "the game has no such metric", "priority", found=priority, expected="one of " + ", ".join(game.symbols)
        )
    settings = r.made("evolution", EvolutionSettings.from_dict)
    r.made("evolution", lambda _: metrics_of(settings, game))
    formula_at(r, "utility", game.symbols)
    budget_at(r)
    r.made("search", SearchSettings.from_dict)
    lists_at(r, game)
    if "league" in r.data:
        r.made("league", lambda values: League.from_dict(values, game))
    if "skill" in r.data:
        r.made("skill", skill_from_dict)
    check_levels(r)
    load_levels(r, game)
    _check_best(r, "best")
    if HELD_OUT_BEST in r.data:
        _check_best(r, HELD_OUT_BEST, HELD_OUT)
    if not 0.0 <= r.number("wins", 0.0) <= 1.0:
        raise r.fail("is out of range", "wins", found=r.data["wins"], expected="a weight from 0 to 1")
    return spec_from_dict(game_name, priority, r.data)


def training_of(folder: Path, game_name: str) -> Training:
    """Return what a run trains on and compares on (raises as `spec_of`)."""
    r = runs.config_reader(folder)
    spec = spec_of(folder, game_name)
    settings = settings_of(folder)
    if not settings.levels_a_generation:
        return Training(spec, LevelPool((), ()), spec.lists)
    validation = r.object(VALIDATION)
    check_levels(validation)
    load_levels(validation, registry.get(game_name))
    _check_best(validation, "best")
    pool = r.made(VALIDATION, LevelPool.of_dict)
    if bool(pool.best) != bool(spec.best):
        raise r.fail(
            "the best known utilities are given for only some of the levels",
            VALIDATION,
            "best",
            said=counted(len(pool.best), "number"),
            expected="all or none of them",
            hint=json_text.RESTORE,
        )
    return Training(spec, pool, spec.lists)


def _check_best(reader: schema.Reader, key: str, levels: str = "levels") -> None:
    """Check that there are no best known utilities, or one finite number for each level."""
    values = reader.get(key, list, "a list of numbers", [])
    count = len(reader.items(levels))
    if values and len(values) != count:
        raise reader.fail(
            "does not fit the levels",
            key,
            said=counted(len(values), "number"),
            expected=f"{count}, one for each level",
            hint=json_text.RESTORE,
        )
    for i, value in enumerate(values):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < math.inf:
            raise reader.fail("has the wrong type", key, i, found=value, expected="a finite number")


def formula_at(reader: schema.Reader, key: str, symbols: Any = None) -> None:
    """Check that a value is a formula over the symbols."""
    text = reader.text_of(key)
    try:
        parse(text, symbols)
    except InputError as e:
        raise reader.fail(
            f"not a formula: {e.what}", key, found=text, expected=e.expected or "", hint=json_text.RESTORE
        ) from e


def budget_at(reader: schema.Reader) -> Budget:
    """Return the budget of a configuration."""
    inner = reader.object("budget")
    for name in ("iterations", "nodes"):
        if inner.data.get(name) is not None:
            inner.whole(name)
    if inner.data.get("seconds") is not None:
        inner.number("seconds")
    return reader.made("budget", Budget.from_dict)


def state_of(folder: Path, config: Mapping[str, Any], checkpoint: checkpoints.Checkpoint) -> EvolutionState:
    """Return the state in a checkpoint, which must fit the run's configuration.

    Raises:
        RunError: the checkpoint is damaged, or belongs to another run.
    """
    try:
        state = EvolutionState.from_json(checkpoint.state)
        wrong = _wrong(state, checkpoint, EvolutionSettings.from_dict(config["evolution"]), config)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as e:
        wrong = "state", f"{type(e).__name__}: {e}", "what this program wrote"
    if wrong is None:
        return state
    where, found, expected = wrong
    reader = checkpoints.checkpoint_reader(folder)
    raise reader.fail(
        "the checkpoint's state is damaged", *where.split("."), said=found, expected=expected, hint=json_text.RESTORE
    )


def _wrong(
    state: EvolutionState, checkpoint: checkpoints.Checkpoint, settings: EvolutionSettings, config: Mapping[str, Any]
) -> tuple[str, str, str] | None:
    """Return (where, found, expected) for a mismatch, or None."""
    if state.generation != checkpoint.generation:
        return "state.generation", str(state.generation), f"{checkpoint.generation}, as the checkpoint says"
    for name in ("evaluations", "playthroughs"):
        if not 0 <= getattr(state, name) <= MOST_COUNTED:
            return f"state.{name}", str(getattr(state, name))[:40], f"a number from 0 to {MOST_COUNTED}"
    keys = [str(key) for key, _, _ in checkpoint.state["memory"]]
    if len(keys) != len(state.memory):
        twice = next(key for key in keys if keys.count(key) > 1)
        return "state.memory", f"{twice[:100]} twice", "different formulas"
    if not state.hall:
        return "state.hall", "an empty hall of fame", "at least one formula"
    if len(state.islands) != settings.islands:
        return "state.islands", counted(len(state.islands), "island"), f"{settings.islands}, as {runs.CONFIG} says"
    for island in state.islands:
        if len(island.individuals) != settings.island_size:
            found = f"an island of {counted(len(island.individuals), 'individual')}"
            return "state.islands", found, f"{settings.island_size}, as {runs.CONFIG} says"
    each = max(1, len(config["league"]["opponents"])) if "league" in config else 1
    if settings.levels_a_generation:
        return _wrong_sample(state, settings, each * len(config[VALIDATION]["levels"]))
    levels = each * len(config["levels"]) if "levels" in config else len(state.hall[0].utilities)
    groups = [("state.hall", state.hall), *(("state.islands", island.individuals) for island in state.islands)]
    for where, individuals in groups:
        for individual in individuals:
            if not _fits(individual, levels):
                return (
                    where,
                    repr(individual.to_json())[:120],
                    f"a formula with utilities within +-{MOST_UTILITY:g} of {levels} levels",
                )
    for key, (utilities, trials) in state.memory.items():
        if len(utilities) != levels or trials < 1 or not all(map(_plausible, utilities)):
            return (
                "state.memory",
                repr([key, utilities, trials])[:120],
                f"utilities within +-{MOST_UTILITY:g} of {levels} levels",
            )
    return None


def _wrong_sample(state: EvolutionState, settings: EvolutionSettings, validation: int) -> tuple[str, str, str] | None:
    """Check a run that draws levels like `_wrong`: dropouts have fewer utilities, and only the best are validated."""
    most, proved = settings.levels_a_generation, max(validation, settings.proof)
    own = f"utilities within +-{MOST_UTILITY:g} of 1 to {most} levels"
    expected = f"{own}, and of {validation} to {proved} to compare on or none"

    def compared(values: Sequence[float]) -> bool:
        return validation <= len(values) <= proved and all(map(_plausible, values))

    for island in state.islands:
        for i in island.individuals:
            known = 1 <= len(i.utilities) <= most and (not i.validation or compared(i.validation))
            if not (known and _fits(i, len(i.utilities)) and _plausible(i.standing)):
                return "state.islands", repr(i.to_json())[:120], f"a formula with {expected}"
    for i in state.hall:
        if not (_fits(i, len(i.utilities)) and compared(i.validation) and i.fitness == i.standing):
            return "state.hall", repr(i.to_json())[:120], f"a formula with {expected}"
    for key, (utilities, trials) in state.memory.items():
        if trials < 1 or not (not utilities or compared(utilities)):
            return "state.memory", repr([key, utilities, trials])[:120], expected
    return None


def _fits(individual: Individual, levels: int) -> bool:
    try:
        size = genome.size(individual.formula)
    except InputError:
        return False
    known = len(individual.utilities) == levels and all(map(_plausible, individual.utilities))
    return known and individual.size == size and individual.trials >= 1 and individual.born >= 0


def _plausible(utility: float) -> bool:
    return abs(utility) <= MOST_UTILITY


def summary_of(folder: Path) -> str:
    """Return a readable one-line summary of a run.

    Raises:
        RunError: its configuration is damaged.
    """
    r = runs.config_reader(folder)
    settings_of(folder)
    r.object("evolution").text_of("preset")
    budget_at(r)
    check_levels(r)
    if "skill" in r.data:
        r.made("skill", skill_from_dict)
    if "league" in r.data:
        for opponent in r.object("league").items("opponents"):
            opponent.text_of("name")
    return summary(r.data)


def summary(config: Mapping[str, Any]) -> str:
    """Return a readable one-line summary of a run's configuration."""
    others = ", ".join(o["name"] for o in config["league"]["opponents"]) if "league" in config else ""
    return (
        f"{config['persona']['name']} on {counted(len(config['levels']), 'level')} of {config['game']}, "
        f"seed {config['seed']}, preset {config['evolution']['preset']}, {in_words(config)}"
        f"{', against ' if others else ''}{others}"
    )
