"""Evolve a tree policy for a persona, and go on with that."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from persona_evo.api.naming import LevelsLike, PersonaLike, first_policies, league_of, levels_of, rules_of_search
from persona_evo.evolve import comparison, pools
from persona_evo.evolve import run as runs_of_evolution
from persona_evo.evolve.driving import GenerationProgress
from persona_evo.evolve.run import Outcome
from persona_evo.evolve.schedule import TellPhase
from persona_evo.evolve.setting import SkilledPlay, with_usual
from persona_evo.evolve.start import chosen as chosen_settings
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.generating import asked
from persona_evo.jobs.workers import Workers
from persona_evo.personas import Persona, load
from persona_evo.search.duel import budget_for
from persona_evo.search.settings import SearchSettings
from persona_evo.seeds import fresh


def evolve_policy(
    persona: PersonaLike,
    levels: LevelsLike = "train",
    *,
    preset: str = "modern",
    seed: int | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    jobs: int = -1,
    out: str | Path = "runs",
    duration: float | None = None,
    progress: Callable[[GenerationProgress], None] | None = None,
    tell: TellPhase | None = None,
    league: Sequence[str] = (),
    agent: str = "",
    search: str | SearchSettings | None = None,
    seed_policies: str | Sequence[str] | None = None,
    held_out: int = pools.HELD_OUT,
    skill: str = "",
    **settings: Any,
) -> Outcome:
    """Evolve a tree policy for a persona and keep the run in a folder below `out`.

    Args:
        levels: to train on; "generate:200" draws 200 from the seed and solves them, where the game has a generator.
        preset: "modern" or "paper"; `settings` change single values, such as generations or population.
        iterations, seconds: of the search in each playthrough; 10,000 iterations if neither is given, or what the agent
            or the skill has for a move.
        jobs: cores, -1 for all; without influence on the result.
        duration: seconds after which all is done; generations and the last steps share them.
        progress, tell: called after each generation, and in the last steps.
        league: in two-player games, the opponents of the policies (see `playtest.match.names`), by default
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
        The outcome; `load_policy(outcome.policy)` is what was found.

    Raises:
        SettingsError: a setting is out of range, a policy that was named does not fit into the first population, or a
            skill does not go with the game or other arguments.
    """
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    others = {"search": search, "agent": agent, "league": league, "seconds": seconds}
    skilled = SkilledPlay.of(skill, game, iterations, others=others)
    meeting = league_of(game, who, league, agent)
    first = None if seed_policies is None else first_policies(seed_policies, game.name)
    generated = bool(_generated(levels))
    changes = with_usual(settings, skilled, game, preset, generated)
    chosen = chosen_settings(preset, game, meeting, changes, first, generated=generated)
    seed = fresh() if seed is None else seed
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
        budget=budget_for(iterations, seconds, meeting),
        jobs=jobs,
        progress=progress,
        tell=tell,
        deadline=_deadline(duration),
        game_name=who.game,
        league=meeting,
        held_out=unseen,
        pools=made,
        skilled=skilled,
    )
    return best


def _pools(
    game: Game, persona: Persona, levels: LevelsLike, seed: int, jobs: int, held_out: int
) -> dict[str, pools.Pool]:
    """The pools of generated levels, none where levels are named."""
    count = _generated(levels)
    if not count:
        return {}
    with Workers(jobs) as workers:
        counts = pools.counts(count, held_out)
        return pools.prepared(game, persona.utility, counts, seed, workers, lists=persona.lists)


def _generated(levels: LevelsLike) -> int:
    """How many levels are to be generated, 0 where they are named."""
    named = [levels] if isinstance(levels, (str, Path, Level)) else levels
    return asked([str(name) for name in named if isinstance(name, str)])


def resume_evolution(
    folder: str | Path,
    *,
    generations: int | None = None,
    jobs: int = -1,
    duration: float | None = None,
    progress: Callable[[GenerationProgress], None] | None = None,
    tell: TellPhase | None = None,
) -> Outcome:
    """Continue an evolution where it stopped, or add generations to a finished one."""
    return runs_of_evolution.resume(
        Path(folder), generations=generations, jobs=jobs, deadline=_deadline(duration), progress=progress, tell=tell
    )


def _deadline(duration: float | None) -> float | None:
    return None if duration is None else time.monotonic() + duration
