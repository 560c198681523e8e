"""Evolve a tree policy for a persona, and go on with that."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from persona_evo import limits
from persona_evo.agents.duel import League
from persona_evo.api.naming import (
    LevelsLike,
    PersonaLike,
    first_policies,
    game_of,
    league_of,
    levels_of,
    listed,
    persona_of,
)
from persona_evo.api.options import EvolutionChanges
from persona_evo.api.search_rules import SearchLike, budget_of, rules_of_search
from persona_evo.evolve import comparison, genome, pools
from persona_evo.evolve import run as runs_of_evolution
from persona_evo.evolve.driving import GenerationProgress
from persona_evo.evolve.explanation import meanings
from persona_evo.evolve.run import Outcome
from persona_evo.evolve.schedule import TellPhase
from persona_evo.evolve.setting import SkilledPlay, with_usual
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.start import chosen as chosen_settings
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.generating import asked
from persona_evo.jobs import files
from persona_evo.jobs.workers import lent
from persona_evo.personas import Persona
from persona_evo.search.settings import Budget
from persona_evo.seeds import fresh
from persona_evo.store import runs
from persona_evo.store.policies import Policy


def evolve_policy(
    persona: PersonaLike,
    levels: LevelsLike = "train",
    *,
    preset: str | EvolutionSettings = "modern",
    seed: int | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    jobs: int = -1,
    out: str | Path = "runs",
    duration: float | None = None,
    progress: Callable[[GenerationProgress], None] | None = None,
    tell: TellPhase | None = None,
    league: Sequence[str] = (),
    agent: str = "",
    search: SearchLike | None = None,
    seed_policies: str | Sequence[str] | None = None,
    held_out: int = pools.HELD_OUT,
    skill: str = "",
    **settings: Unpack[EvolutionChanges],
) -> Outcome:
    """Evolve a tree policy for a persona and keep the run in a folder below `out`.

    Args:
        levels: to train on; "generate:200" draws 200 from the seed and solves them, where the game has a generator.
        persona: who the policy is for.
        preset: "modern", "paper", or settings of the evolution.
        seed: of everything random, a new one if None.
        settings: single values that differ from the preset's, such as generations or population; `EvolutionSettings`
            explains them.
        iterations, seconds: of the search in each playthrough; 10,000 iterations if neither is given, or what the agent
            or the skill has for a move.
        budget: in their place.
        jobs: cores, -1 for all; without influence on the result. A game that was made in a notebook or in the main
            program, which other processes do not find, has one.
        out: the folder below which the run has its own.
        duration: seconds after which all is done; generations and the last steps share them.
        progress, tell: called after each generation, and in the last steps.
        league: in two-player games, the opponents of the policies (see `matches.names`), by default
            the game's own.
        agent: who plays with the policies, move by move; iterations and seconds are those of a move then. Without one
            single-player games are planned whole, and two-player games have the game's template.
        search: rules of the search; "paper" for the preset "paper" and "single" otherwise if not given. "anytime"
            evolves for the planner with several open lists. An agent says how it searches.
        seed_policies: formulas to start from, named as for `--seed-policies`: "none" for random ones alone, "ucb1",
            which sets `variables` to "extended" unless they are given, "utility", "library", a policy's name or file,
            "formula:TEXT". None for the preset's, of which what does not fit is left out.
        held_out: how many levels are held out beside generated ones.
        skill: evolve for a player who searches anew for each move: "novice", "casual" or "expert", who see a few moves
            ahead and make errors, or "full-sight", who sees the whole game and makes none. Takes the place of search,
            agent and league; iterations are those of a move, or for each legal move as the skill has them if not given.

    Returns:
        The outcome; `load_policy(outcome.policy)` is what was found. After Ctrl-C the policy is the best so far, which
        has not been compared on fresh seeds, and `resume_evolution(outcome.folder)` goes on.

    Raises:
        PersonaError, FormulaError, LevelError: there is no such persona or level, or its file is damaged.
        SettingsError: a setting is out of range, a policy that was named does not fit into the first population, or a
            skill does not go with the game or other arguments.
        PolicyError: there is no such policy to start from.
        RunError: the folder cannot be made.
        ConnectError: a connected game fails.
    """
    who = persona_of(persona)
    game = registry.get(who.game)
    seed, jobs = fresh() if seed is None else limits.seed(seed), limits.jobs(jobs)
    iterations = None if iterations is None else limits.whole(iterations, "iterations", 1, limits.MOST_ITERATIONS)
    others = {"search": search, "agent": agent, "league": league, "seconds": seconds, "budget": budget}
    skilled = SkilledPlay.of(skill, game, iterations, others=others)
    meeting = league_of(game, who, league, agent)
    first = None if seed_policies is None else first_policies(seed_policies, game.name)
    chosen = _settings(preset, game, meeting, settings, first, skilled, bool(_generated(levels)))
    made = _pools(game, who, levels, seed, jobs, held_out)
    trained = made["train"].load(game) if made else levels_of(game, levels)
    unseen = None if made or game.outside is not None else comparison.held_out(game, trained)
    best, _ = runs_of_evolution.evolve_runs(
        game,
        who,
        trained,
        chosen,
        seed,
        root=Path(out),
        search=None if search is None else rules_of_search(search, game),
        budget=budget_of(budget, iterations, seconds, meeting),
        jobs=jobs,
        progress=progress,
        tell=tell,
        deadline=_deadline(duration),
        game_name=registry.address(game),
        league=meeting,
        held_out=unseen,
        pools=made,
        skilled=skilled,
    )
    return _usable(best)


def _usable(outcome: Outcome) -> Outcome:
    """An outcome with a policy, after an interruption the best individual so far, as it was bred."""
    if outcome.policy is not None or outcome.best is None:
        return outcome
    config, text, folder = runs.read_config(outcome.folder), outcome.best.formula, outcome.folder
    game = registry.get(str(config["game"]))
    plays: dict[str, Any] = {"formula": text}
    if genome.is_lists(text):
        plays = {"kind": "lists", "lists": genome.lists_of(text)}
    policy = Policy(
        name=config["persona"]["name"],
        game=game.name,
        game_version=game.version,
        persona=config["persona"]["name"],
        utility=config["utility"],
        priority=config["persona"]["priority"],
        unfinished=("comparison", "tuning", "simplification"),
        metrics=meanings(genome.scores(text), game),
        levels=tuple(level["name"] for level in config["levels"]),
        seed=config["seed"],
        budget=config["budget"],
        search=config["search"],
        connected={} if game.outside is None else game.outside.ordering,
        evolution=config["evolution"],
        run={"name": folder.name, "generations": outcome.generations, "fitness_in_run": outcome.best.fitness},
        versions=config["versions"],
        notes="The best of an evolution that was interrupted. It has not been compared on fresh seeds.",
        **plays,
    )
    path = folder / f"interrupted-{outcome.generations}.json"
    files.write_atomically(path, policy.to_text())
    return replace(outcome, policy=path)


def _settings(
    preset: str | EvolutionSettings,
    game: Game,
    meeting: League | None,
    changes: EvolutionChanges,
    first: tuple[str, ...] | None,
    skilled: SkilledPlay | None,
    generated: bool,
) -> EvolutionSettings:
    """The settings of an evolution; the arguments as of `evolve_policy`, the policies to start from by their names."""
    if not isinstance(preset, EvolutionSettings):
        with_skill = with_usual(changes, skilled, game, preset, generated)
        return chosen_settings(preset, game, meeting, with_skill, first, generated=generated)
    values: dict[str, Any] = {**preset.to_dict(), **changes, **({} if first is None else {"first": first})}
    return EvolutionSettings.from_dict(values)


def _pools(
    game: Game, persona: Persona, levels: LevelsLike, seed: int, jobs: int, held_out: int
) -> dict[str, pools.LevelPool]:
    """The pools of generated levels, none where levels are named."""
    count = _generated(levels)
    if not count:
        return {}
    with lent(None, jobs, alone=registry.alone(game)) as workers:
        counts = pools.counts(count, held_out)
        return pools.prepared(game, persona.utility, counts, seed, workers, lists=persona.lists)


def _generated(levels: LevelsLike) -> int:
    """How many levels are to be generated, 0 where they are named."""
    return asked([name for name in listed(levels, "a level", (str, Path, Level)) if isinstance(name, str)])


def resume_evolution(
    folder: str | Path,
    *,
    game: str | Game | None = None,
    generations: int | None = None,
    jobs: int = -1,
    duration: float | None = None,
    progress: Callable[[GenerationProgress], None] | None = None,
    tell: TellPhase | None = None,
) -> Outcome:
    """Continue an evolution where it stopped, or add generations to a finished one.

    Args:
        folder: of the run.
        game: the game, where the run does not find it: its file has moved, or it was made in a notebook.
        generations: how many the run is to have in all; None for what it was going to have.
        jobs, duration, progress, tell: as for `evolve_policy`.

    Raises:
        RunError: this is no folder of a run, it is damaged, in use, or made with other rules of the game.
        SettingsError: fewer generations than the run has, or the game is not found.
        ConnectError: a connected game fails.
    """
    outcome = runs_of_evolution.resume(
        Path(folder),
        generations=None if generations is None else limits.whole(generations, "generations", 1, 1_000_000),
        jobs=limits.jobs(jobs),
        deadline=_deadline(duration),
        progress=progress,
        tell=tell,
        game_name=None if game is None else registry.address(game_of(game)),
    )
    return _usable(outcome)


def _deadline(duration: float | None) -> float | None:
    if duration is None:
        return None
    return time.monotonic() + limits.number(duration, "duration", 0, limits.MOST_DURATION, above=True)
