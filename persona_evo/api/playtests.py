"""Play levels once or many times, compare two, and look for the best that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from persona_evo.api.naming import (
    LevelLike,
    LevelsLike,
    PersonaLike,
    PlayersLike,
    PolicyLike,
    league_of,
    levels_of,
    load_game,
    players_of,
    search_of,
    tree_policy,
)
from persona_evo.api.results import Comparison, Results, add_bounds, as_results, compared
from persona_evo.errors import SettingsError
from persona_evo.games import registry
from persona_evo.games.core import closing_outside
from persona_evo.personas import Persona, load
from persona_evo.playtest import batch
from persona_evo.playtest import bounds as limits
from persona_evo.playtest.playing import room
from persona_evo.search.bounds import Solution
from persona_evo.search.bounds import solve as solve_level
from persona_evo.search.duel import budget_for
from persona_evo.search.plan import Plan, planner_for
from persona_evo.search.settings import SearchSettings
from persona_evo.seeds import fresh


def plan(
    level: LevelLike,
    persona: PersonaLike,
    policy: PolicyLike = "evolved",
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    search: str | SearchSettings = "anytime",
    seed: int = 0,
) -> Plan:
    """One playthrough of a level: the best plan that a search finds."""
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    budget = budget_for(iterations, seconds)
    planner = planner_for(game, levels_of(game, level)[0], search_of(search), room(budget))
    with closing_outside(game):
        found: Plan = planner.plan(who.utility, tree_policy(policy, who, game), budget, seed)
    return found


def playtest_levels(
    levels: LevelsLike,
    players: PlayersLike = "all",
    *,
    trials: int = 50,
    iterations: int | None = None,
    seconds: float | None = None,
    search: str | SearchSettings = "anytime",
    seed: int | None = None,
    jobs: int = -1,
    folder: str | Path | None = None,
    bound_seconds: float = 0.0,
    progress: batch.Tell | None = None,
    league: Sequence[str] = (),
    agent: str = "",
) -> Results:
    """Let players play levels many times.

    Args:
        players: made by `player`, or personas, which then play by their evolved policies; "all" for the paper's four.
        iterations, seconds: of the search in each playthrough; 10,000 iterations if neither is given, or what the agent
            has for a move.
        folder: where playthroughs are kept as they are made; the same call continues a batch that was stopped.
        bound_seconds: time to look for the best possible utility of each persona in each level; 0 not to.
        league, agent: as for `evolve_policy`.
    """
    chosen = players_of(players)
    game = registry.get(chosen[0].persona.game) if chosen else load_game()
    loaded = levels_of(game, levels)
    target = Path(folder) if folder is not None else None
    meeting = league_of(game, chosen[0].persona, league, agent) if chosen else None
    played = batch.playtest(
        game, loaded, chosen, trials, seed=fresh() if seed is None else seed,
        budget=budget_for(iterations, seconds, meeting),
        settings=search_of(search), jobs=jobs, folder=target, progress=progress,
        game_name=chosen[0].persona.game if chosen else None,
        league=meeting,
    )  # fmt: skip
    results = as_results(played)
    if bound_seconds > 0:
        add_bounds(results, bound_seconds, jobs)
    return results


def compare(
    a: LevelLike, b: LevelLike, players: PlayersLike = "all", *, trials: int = 50, **options: Any
) -> Comparison:
    """Play two versions of a level and say what differs (options as for `playtest_levels`)."""
    chosen = players_of(players)
    game = registry.get(chosen[0].persona.game) if chosen else load_game()
    both = levels_of(game, [a, b])
    if len(both) != 2:
        raise SettingsError("a comparison needs two levels", found=f"{len(both)}", expected="two different files")
    return compared(playtest_levels(both, chosen, trials=trials, **options))


def solve(level: LevelLike, persona: PersonaLike, *, seconds: float = 10.0) -> Solution:
    """The best plan that can be found for a persona in a level, and whether it is proven to be the best."""
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    (chosen,) = levels_of(game, level)[:1]
    limits.warm_up(game, chosen)
    return solve_level(game, chosen, who.utility, seconds=seconds)
