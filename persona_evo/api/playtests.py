"""Functions that play levels once or many times, compare two levels, and search for the best plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from persona_evo import limits
from persona_evo.api.comparison import Comparison, compared
from persona_evo.api.naming import (
    LevelLike,
    LevelsLike,
    PersonaLike,
    PlayersLike,
    PolicyLike,
    league_of,
    levels_of,
    load_game,
    paired_levels,
    persona_of,
    players_of,
    tree_policy,
    usual_policy,
)
from persona_evo.api.results import Results, add_bounds, as_results
from persona_evo.api.search_rules import TOLERANCE, SearchLike, budget_of, by_utility, rules_of_search
from persona_evo.games import acceptance, registry
from persona_evo.games.outside import closing_outside
from persona_evo.jobs.progress import Tell
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import batch, bounds
from persona_evo.playtest.cluster_games import hired
from persona_evo.playtest.players import check_lists, with_skills
from persona_evo.playtest.playing import CONTINUATION, room
from persona_evo.search.bounds import Solution
from persona_evo.search.bounds import solve as solve_level
from persona_evo.search.plan import Plan, planner_for
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import with_lists
from persona_evo.seeds import fresh


def plan(
    level: LevelLike,
    persona: PersonaLike,
    policy: PolicyLike | None = None,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    search: SearchLike = "anytime",
    seed: int = 0,
    hedge: float | None = None,
    tolerance: float | None = None,
) -> Plan:
    """Play a level once: search for the best plan.

    Args:
        level: the level.
        persona: the persona.
        policy: as for `player`; if it has no open lists, those of the persona are used.
        iterations, seconds: budget of the search; 10,000 iterations if neither is given.
        budget: replaces iterations and seconds.
        search: rules of the search: "anytime", "single", "paper", settings, or a mapping of some of them.
        seed: the seed of all random choices.
        hedge, tolerance: as for `playtest_levels`, but both are 0 if not given.

    Raises:
        PersonaError, PolicyError, FormulaError, LevelError: there is no such thing, or its file is damaged.
        SettingsError: a number or a setting is out of range.
        ConnectError: a connected game fails.
    """
    who = persona_of(persona)
    game = registry.get(who.game)
    rules = rules_of_search(search, game, hedge=hedge, tolerance=tolerance)
    chosen = usual_policy(who, game, by_utility(game, rules)) if policy is None else tree_policy(policy, who, game)
    check_lists([chosen], rules)
    budget, seed = budget_of(budget, iterations, seconds), limits.seed(seed)
    planner = planner_for(game, levels_of(game, level)[0], rules, room(budget))
    with closing_outside(game):
        found: Plan = planner.plan(who.utility, with_lists(chosen, who.lists), budget, seed)
    return found


def playtest_levels(
    levels: LevelsLike,
    players: PlayersLike = "all",
    *,
    trials: int = 50,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    search: SearchLike = "anytime",
    seed: int | None = None,
    jobs: int = -1,
    folder: str | Path | None = None,
    bound_seconds: float = 0.0,
    progress: Tell | None = None,
    league: Sequence[str] = (),
    agent: str = "",
    hedge: float | None = None,
    tolerance: float | None = None,
    continuation: float = CONTINUATION,
    accept: str | Path | None = None,
    skills: Sequence[str] = (),
    workers: Workers | None = None,
) -> Results:
    """Let players play levels many times.

    Args:
        levels: names, files or loaded levels.
        players: players made by `player`, or personas, from which `player` makes players; "all" for the four of the
            paper. The search "paper" and agents need evolved policies.
        iterations, seconds: budget of the search in each playthrough; if neither is given, 10,000 iterations, or the
            agent's budget for a move.
        budget: replaces iterations and seconds.
        trials: playthroughs of each player in each level, 1 to 100,000.
        search: rules of the search: "anytime", "single", "paper", settings, or a mapping of some of them.
        seed: everything random follows from it; a new one if None.
        jobs: cores, -1 for all; it does not change the result.
        progress: called with the progress from time to time.
        folder: folder in which each playthrough is kept; the same call continues a batch that was interrupted.
        bound_seconds: seconds to search for the best possible utility of each persona in each level; 0 for none.
        league, agent: as for `evolve_policy`.
        hedge: share of the iterations for UCB1 in addition to the planner's open lists, 0 if not given.
        tolerance: share of the best utility within which each trial shows a route of its own; by default 0.01, or 0
            if no planner with open lists plays.
        continuation: an additional share of the budget, for play from the end of a plan to the end of the game.
        accept: a file of accepted findings (see `persona_evo.games.acceptance`).
        skills: levels of skill at which each player plays (see `persona_evo.agents.skill`); none for `perfect` alone
            without its name in the label.
        workers: processes that several calls share, in place of `jobs`.

    Raises:
        PersonaError, PolicyError, FormulaError, LevelError: there is no such thing, or its file is damaged.
        SettingsError: a number or a setting is out of range, or names are not different.
        RunError: the folder belongs to something else, is damaged, or is in use.
        ConnectError: a connected game fails.
    """
    accepted = [] if accept is None else acceptance.read(Path(accept))
    results = _playtest(
        levels,
        players,
        trials=trials,
        iterations=iterations,
        seconds=seconds,
        budget=budget,
        search=search,
        seed=seed,
        jobs=jobs,
        folder=folder,
        bound_seconds=bound_seconds,
        progress=progress,
        league=league,
        agent=agent,
        hedge=hedge,
        tolerance=tolerance,
        usual=TOLERANCE,
        continuation=continuation,
        skills=skills,
        workers=workers,
    )
    results.accepted = accepted
    return results


def _playtest(
    levels: LevelsLike,
    players: PlayersLike,
    *,
    trials: int,
    usual: float,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    search: SearchLike = "anytime",
    seed: int | None = None,
    jobs: int = -1,
    folder: str | Path | None = None,
    bound_seconds: float = 0.0,
    progress: Tell | None = None,
    league: Sequence[str] = (),
    agent: str = "",
    hedge: float | None = None,
    tolerance: float | None = None,
    continuation: float = CONTINUATION,
    skills: Sequence[str] = (),
    workers: Workers | None = None,
) -> Results:
    """Play levels as `playtest_levels` does; `usual` is the default tolerance."""
    trials, jobs = limits.whole(trials, "the number of trials", 1, limits.MOST_TRIALS), limits.jobs(jobs)
    seed = fresh() if seed is None else limits.seed(seed)
    bound_seconds = limits.number(bound_seconds, "bound_seconds", 0, 86400)
    continuation = limits.number(continuation, "continuation", 0, 1)
    chosen = players_of(players, search, agent)
    game = registry.get(chosen[0].persona.game) if chosen else load_game()
    chosen = with_skills(chosen, skills, game)
    loaded = levels_of(game, levels)
    target = Path(folder) if folder is not None else None
    meeting = league_of(game, chosen[0].persona, league, agent) if chosen else None
    mover = meeting.agent.name if meeting is not None else ""
    rules = rules_of_search(search, game, hedge=hedge, tolerance=tolerance, agent=mover, usual=usual)
    check_lists([p.policy for p in chosen if p.agent is None], rules, mover)
    with hired(game, workers, jobs) as lent_workers:
        played = batch.playtest(
            game,
            loaded,
            chosen,
            trials,
            seed=seed,
            budget=budget_of(budget, iterations, seconds, meeting),
            settings=rules,
            workers=lent_workers,
            folder=target,
            progress=progress,
            game_name=registry.address(game),
            league=meeting,
            continuation=continuation,
        )
        results = as_results(played)
        if bound_seconds > 0 and results.complete:
            add_bounds(results, bound_seconds, workers=lent_workers)
    return results


def compare(
    a: LevelsLike,
    b: LevelsLike,
    players: PlayersLike = "all",
    *,
    trials: int = 50,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    search: SearchLike = "anytime",
    seed: int | None = None,
    jobs: int = -1,
    folder: str | Path | None = None,
    bound_seconds: float = 0.0,
    progress: Tell | None = None,
    league: Sequence[str] = (),
    agent: str = "",
    hedge: float | None = None,
    tolerance: float | None = None,
    continuation: float = CONTINUATION,
    skills: Sequence[str] = (),
    workers: Workers | None = None,
) -> Comparison:
    """Play two versions of a level, or of several, and describe the differences.

    Several levels are compared in pairs of the same seed, name or place, and what is said holds for other levels of the
    kind.

    Args:
        a, b: the versions: one level each, or equally many.
        players, trials: as for `playtest_levels`, like all further arguments; but the tolerance is 0 if not given.

    Raises:
        SettingsError: there are not two levels or as many of A as of B, or as for `playtest_levels`.
        PersonaError, PolicyError, FormulaError, LevelError, RunError, ConnectError: as for `playtest_levels`.
    """
    chosen = players_of(players, search, agent)
    game = registry.get(chosen[0].persona.game) if chosen else load_game()
    pairs = paired_levels(game, a, b)
    results = _playtest(
        [level for pair in pairs for level in pair],
        chosen,
        trials=trials,
        usual=0.0,
        iterations=iterations,
        seconds=seconds,
        budget=budget,
        search=search,
        seed=seed,
        jobs=jobs,
        folder=folder,
        bound_seconds=bound_seconds,
        progress=progress,
        league=league,
        agent=agent,
        hedge=hedge,
        tolerance=tolerance,
        continuation=continuation,
        skills=skills,
        workers=workers,
    )
    return compared(results)


def solve(
    level: LevelLike,
    persona: PersonaLike,
    *,
    method: str = "auto",
    iterations: int = 2_000_000,
    seconds: float | None = None,
    horizon: int = 0,
    seed: int = 0,
    states: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """Search for the best plan of a persona in a level, and for a proof that no plan is better.

    Args:
        level: the level.
        persona: the persona.
        method: "auto" is the planner, with the persona's open lists if it has some; the others are for comparison.
        iterations: most iterations of the planner.
        states: most states of the other methods.
        seconds: limit of wall-clock time, None for no limit; with a limit the result depends on the machine.
        horizon: most moves, 0 for the game's own horizon.
        seed: the seed of all random choices.
        progress: called with the progress in words.

    Raises:
        PersonaError, FormulaError, LevelError: there is no such thing, or its file is damaged.
        SettingsError: there is no such method, it does not fit the game, or a number is out of range.
        ConnectError: a connected game fails.
    """
    who = persona_of(persona)
    game = registry.get(who.game)
    (chosen,) = levels_of(game, level)[:1]
    bounds.warm_up(game, chosen)
    return solve_level(
        game,
        chosen,
        who.utility,
        method=method,
        iterations=limits.whole(iterations, "the number of iterations", 1, limits.MOST_ITERATIONS),
        seconds=None if seconds is None else limits.number(seconds, "seconds", 0, limits.MOST_SECONDS, above=True),
        horizon=limits.whole(horizon, "the horizon", 0, 1_000_000),
        seed=limits.seed(seed),
        states=None if states is None else limits.whole(states, "the number of states", 1, limits.MOST_ITERATIONS),
        lists=who.lists,
        progress=progress,
    )
