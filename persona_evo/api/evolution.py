"""Evolve a tree policy for a persona, and resume such a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
from persona_evo.arguments import checked
from persona_evo.errors import SettingsError
from persona_evo.evolve import comparison, genome, pools, time_plan
from persona_evo.evolve.driving import GenerationProgress
from persona_evo.evolve.explanation import meanings
from persona_evo.evolve.outcome import Outcome
from persona_evo.evolve.pool_clock import POOL_SHARE, Tell
from persona_evo.evolve.reopening import summary_of as summary_of
from persona_evo.evolve.run import evolve_runs as evolve_runs
from persona_evo.evolve.run import resume as resume
from persona_evo.evolve.schedule import TellPhase
from persona_evo.evolve.setting import SkilledPlay, with_usual
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.start import chosen as chosen_settings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.generating import asked
from persona_evo.games.outside import closing_outside
from persona_evo.jobs import files
from persona_evo.jobs.workers import Workers, lent
from persona_evo.personas import Persona
from persona_evo.search.settings import Budget
from persona_evo.seeds import fresh
from persona_evo.store import runs
from persona_evo.store.policies import Policy


@checked
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
    held_out: int | None = None,
    skill: str = "",
    **settings: Unpack[EvolutionChanges],
) -> Outcome:
    """Evolve a tree policy for a persona and keep the run in a folder below `out`.

    Args:
        persona: the persona that the policy is for.
        levels: levels to train on; "generate:200" draws 200 from the seed and solves them, in games with a generator.
        preset: "modern", "paper", or settings of the evolution.
        seed: everything random follows from it; a new one if None.
        iterations, seconds: budget of the search in each playthrough, or for each move if an agent or a skill plays;
            if neither is given, that of the agent or skill, or 10,000 iterations.
        budget: replaces iterations and seconds.
        jobs: cores, -1 for all; it does not change the result. A game of a notebook or of the main program, which
            other processes do not find, uses one.
        out: folder of run folders.
        duration: seconds for everything, the last steps included. Population and iterations that were not given are
            then chosen to fit (`evolve.time_plan`).
        progress, tell: called after each generation, and in the last steps.
        league: in two-player games, the opponents (see `matches.names`); the game's own if not given.
        agent: the agent that plays with the policies, move by move. Without one, single-player games are planned
            whole, and two-player games use the game's template.
        search: rules of the search. By default "paper" with the preset "paper", and otherwise "single". "anytime"
            evolves the planner's open lists. An agent has its own.
        seed_policies: formulas to start from, named as for `--seed-policies`; None for those of the preset that fit.
        held_out: number of held-out levels in addition to generated training levels; 50 if None.
        skill: "novice", "casual", "expert" or "full-sight" evolves for a player who searches anew for each move, in
            place of search, agent and league.
        settings: single values that differ from the preset's; `EvolutionSettings` explains them.

    Returns:
        The outcome; `load_policy(outcome.policy)` loads the policy. After Ctrl-C the policy is the best so far, which
        has not been compared on fresh seeds, and `resume_evolution(outcome.folder)` continues.

    Raises:
        InputError: a persona, formula, level or policy does not exist or is damaged, or a setting is out of range or
            does not fit the others.
        RunError: the folder cannot be made.
        ConnectError: a connected game fails.
    """
    who, deadline = persona_of(persona), _deadline(duration)
    request = EvolutionRequest(
        preset, seed, iterations, seconds, budget, league, agent, search, seed_policies, held_out, skill, settings
    )
    with lent(None, limits.jobs(jobs), alone=registry.alone(registry.get(who.game))) as workers:
        task = request.task(who, levels, workers, deadline=deadline)
        best, _ = evolve_runs(task, root=Path(out), workers=workers, deadline=deadline, progress=progress, tell=tell)
    return _usable(best)


@dataclass(frozen=True)
class EvolutionRequest:
    """The arguments of an evolution, as `evolve_policy` explains them.

    Attributes:
        changes: single settings of the evolution.
        prefix: the prefix of arguments' names in messages, "--" on the command line.
    """

    preset: str | EvolutionSettings = "modern"
    seed: int | None = None
    iterations: int | None = None
    seconds: float | None = None
    budget: Budget | None = None
    league: Sequence[str] = ()
    agent: str = ""
    search: SearchLike | None = None
    seed_policies: str | Sequence[str] | None = None
    held_out: int | None = None
    skill: str = ""
    changes: EvolutionChanges | Mapping[str, Any] | None = None
    prefix: str = ""

    def task(
        self,
        persona: Persona,
        levels: LevelsLike,
        workers: Workers,
        *,
        game: Game | None = None,
        options: Mapping[str, Any] | None = None,
        deadline: float | None = None,
        tell: Tell | None = None,
        tell_plan: Callable[[Sequence[str]], None] | None = None,
    ) -> EvolutionTask:
        """Return the task of an evolution, with generated levels and a size that fits the time.

        Args:
            persona: the persona that the policy is for.
            levels: levels to train on.
            workers: workers that generate levels.
            game: the game, None for the persona's.
            options: options of the game's level loader.
            deadline: time on `time.monotonic` by which the whole evolution is done.
            tell: called with the progress of the generation of levels.
            tell_plan: called with lines on the sizes that were chosen to fit the time.

        Raises:
            InputError: something does not exist, is damaged or out of range, or the parts do not fit together; or the
                time is too short.
        """
        game = registry.get(persona.game) if game is None else game
        iterations = (
            None if self.iterations is None else limits.whole(self.iterations, "iterations", 1, limits.MOST_ITERATIONS)
        )
        others = {
            f"{self.prefix}{name}": getattr(self, name) for name in ("search", "agent", "league", "seconds", "budget")
        }
        skilled = SkilledPlay.of(self.skill, game, iterations, others=others)
        league = league_of(game, persona, self.league, self.agent, f"{self.prefix or 'a '}league")
        search = None if self.search is None else rules_of_search(game, {"search": self.search})
        budget = budget_of(self.budget, iterations, self.seconds, league)
        one_list = (search is None or not search.lists) and league is None and game.outside is None
        settings = self._settings(game, league, skilled, bool(_generated(levels)), budget if one_list else None)
        seed = fresh() if self.seed is None else limits.seed(self.seed)
        with time_plan.compiled_by(deadline):
            made = self._pools(game, persona, levels, settings, seed, workers, options, deadline, tell)
            trained = made["train"].load(game) if made else levels_of(game, levels, **(options or {}))
            task = EvolutionTask(
                game,
                persona,
                trained,
                settings,
                seed,
                search,
                budget,
                registry.address(game),
                league,
                None if made else _held_out(game, trained),
                made,
                skilled,
            )
            task.check()
            if deadline is None:
                return task
            with contextlib.ExitStack() as failure:
                failure.enter_context(closing_outside(game))
                found = time_plan.plan(task, workers, deadline, self._fixed())
                failure.pop_all()  # the timed processes also play the evolution
            if tell_plan:
                tell_plan(found.lines())
            return found.task

    def _settings(
        self,
        game: Game,
        league: League | None,
        skilled: SkilledPlay | None,
        generated: bool,
        planned: Budget | None,
    ) -> EvolutionSettings:
        """Return the settings of the evolution; `planned` as for `with_usual`."""
        changes = dict(self.changes or {})
        first = None if self.seed_policies is None else first_policies(self.seed_policies, game.name)
        if not isinstance(self.preset, EvolutionSettings):
            changes = with_usual(changes, skilled, game, self.preset, generated, planned)
            return chosen_settings(self.preset, game, league, changes, first, generated=generated)
        more = {} if first is None else {"first": first}
        return EvolutionSettings.from_dict({**self.preset.to_dict(), **changes, **more})

    def _fixed(self) -> Collection[str]:
        """Return the names of the sizes that were given, which are not changed to fit the time."""
        found = {name for name in (time_plan.POPULATION, time_plan.ISLANDS) if name in (self.changes or {})}
        if self.preset != "modern":
            found |= {time_plan.POPULATION, time_plan.ISLANDS}
        if (self.iterations, self.seconds, self.budget) != (None, None, None):
            found.add(time_plan.ITERATIONS)
        return found

    def _pools(
        self,
        game: Game,
        persona: Persona,
        levels: LevelsLike,
        settings: EvolutionSettings,
        seed: int,
        workers: Workers,
        options: Mapping[str, Any] | None,
        deadline: float | None,
        tell: Tell | None,
    ) -> dict[str, pools.LevelPool]:
        """Return the pools of generated levels; none if levels are named."""
        count = _generated(levels)
        if not count:
            if self.held_out is not None:
                option = f"{self.prefix}held-out" if self.prefix else "held_out"
                raise SettingsError(
                    f"{option} is a number of generated levels",
                    found=f"{option} {self.held_out} with levels that are named",
                    expected=f"{self.prefix}levels generate:N",
                    hint=f"leave {option} out, or have the levels generated",
                )
            return {}
        counts = pools.counts(count, pools.HELD_OUT if self.held_out is None else self.held_out)
        if not settings.levels_a_generation:
            del counts["validation"]
        until = None if deadline is None else time.monotonic() + POOL_SHARE * (deadline - time.monotonic())
        with lent(workers, alone=registry.alone(game)) as chosen:
            return pools.prepared(
                game,
                persona.utility,
                counts,
                seed,
                chosen,
                lists=persona.lists,
                options=options,
                tell=tell,
                until=until,
            )


def _held_out(game: Game, trained: Sequence[Level]) -> Sequence[Level]:
    """Return the levels to compare on; those of a connected game have later seeds than the levels trained on."""
    if game.outside is None:
        return comparison.held_out(game, trained)
    names = comparison.later_seeds([level.name for level in trained])
    return levels_of(game, names) if names else []


def _usable(outcome: Outcome) -> Outcome:
    """Return an outcome with a policy: after an interruption, the best individual so far, without simplification."""
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


def _generated(levels: LevelsLike) -> int:
    """Return the number of levels to generate; 0 if levels are named."""
    return asked([name for name in listed(levels, "a level", (str, Path, Level)) if isinstance(name, str)])


@checked
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
        folder: the folder of the run.
        game: the game, if the run does not find it because its file has moved or it was made in a notebook.
        generations: total number of generations; None for the planned number.
        jobs, duration, progress, tell: see `evolve_policy`; the sizes of the run do not change.

    Raises:
        RunError: this is no folder of a run, it is damaged, in use, or made with other rules of the game.
        SettingsError: fewer generations than the run has, or the game is not found.
        ConnectError: a connected game fails.
    """
    outcome = resume(
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
