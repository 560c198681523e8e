"""Functions that play levels once or many times, compare two levels, and search for the best plan."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

from persona_evo import limits
from persona_evo.agents.duel import League
from persona_evo.api.comparison import Comparison, compared
from persona_evo.api.expectations import Expectations
from persona_evo.api.naming import (
    LevelLike,
    LevelsLike,
    PersonaLike,
    PlayersLike,
    PolicyLike,
    game_of,
    league_of,
    levels_of,
    load_game,
    one_level,
    paired_levels,
    persona_of,
    players_of,
    tree_policy,
    usual_policy,
)
from persona_evo.api.options import ComparisonOptions, ExpectationOptions, Notice, PlaytestOptions, SearchOptions
from persona_evo.api.results import Results, as_results
from persona_evo.api.search_rules import TOLERANCE, SearchRules, budget_of, by_utility, rules_of_search, search_rules
from persona_evo.arguments import checked
from persona_evo.games import registry
from persona_evo.games.cluster_games import hired
from persona_evo.games.core import Game, Level
from persona_evo.games.outside import closing_outside
from persona_evo.jobs.progress import Tell
from persona_evo.jobs.workers import Workers, lent
from persona_evo.playtest import batch, bounds, journal
from persona_evo.playtest.appraisals import Appraisals, begin_appraisals
from persona_evo.playtest.players import Player, check_budget, check_lists, with_skills
from persona_evo.playtest.playing import CONTINUATION, room
from persona_evo.search.bounds import Solution
from persona_evo.search.bounds import solve as solve_level
from persona_evo.search.plan import LevelPlanner, Plan, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy, with_lists
from persona_evo.seeds import fresh


@checked
def plan(
    level: LevelLike,
    persona: PersonaLike,
    policy: PolicyLike | None = None,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    **rules: Unpack[SearchRules],
) -> Plan:
    """Play a level once: search for the best plan.

    Args:
        level: the level.
        persona: the persona.
        policy: as for `player`; if it has no open lists, those of the persona are used.
        iterations, seconds: budget of the search; 10,000 iterations if neither is given.
        budget: replaces iterations and seconds.
        seed: the seed of all random choices.
        rules: search, hedge, tolerance, selection_rule and rollout_policy, as for `playtest_levels`, but the tolerance
            is 0 if not given.

    Raises:
        PersonaError, PolicyError, FormulaError, LevelError: there is no such thing, or its file is damaged.
        SettingsError: a number or a setting is out of range.
        ConnectError: a connected game fails.
    """
    who = persona_of(persona)
    game = registry.get(who.game)
    settings = rules_of_search(game, rules).for_persona(who.seeds)
    chosen = usual_policy(who, game, by_utility(game, settings)) if policy is None else tree_policy(policy, who, game)
    budget, seed = budget_of(budget, iterations, seconds), limits.seed(seed)
    planner = planner_of(game, one_level(game, level), chosen, settings, budget)
    with closing_outside(game):
        found: Plan = planner.plan(who.utility, with_lists(chosen, who.lists), budget, seed)
    return found


def planner_of(game: Game, level: Level, policy: TreePolicy, rules: SearchSettings, budget: Budget) -> LevelPlanner:
    """Return what plans a level by a tree policy, with room for a budget.

    Raises:
        SettingsError: the policy has only open lists, and the search has none.
    """
    check_lists([policy], rules)
    return planner_for(game, level, rules, room(budget))


class PlayingRules(NamedTuple):
    """How players play: move by move in a league, or by a search of whole levels (None), and by which budget."""

    league: League | None
    budget: Budget
    search: SearchSettings

    @property
    def agent(self) -> str:
        """The name of the agent that plays move by move, "" for none."""
        return "" if self.league is None else self.league.agent.name


def playing_rules(
    game: Game,
    players: Sequence[Player],
    options: SearchOptions,
    budget: Budget | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
) -> PlayingRules:
    """Return how players play; the arguments are those of `playtest_levels`.

    Raises:
        SettingsError: a setting is out of range, or there is a budget that no player uses.
    """
    check_budget(players, {"iterations": iterations, "seconds": seconds, "budget": budget})
    words, agent = options.get("league", ()), options.get("agent", "")
    league = league_of(game, players[0].persona, words, agent) if players else None
    rules = search_rules(options)
    search = rules_of_search(game, rules, agent="" if league is None else league.agent.name, usual=TOLERANCE)
    return PlayingRules(league, budget_of(budget, iterations, seconds, league), search)


@checked
def playtest_levels(
    levels: LevelsLike,
    players: PlayersLike = "all",
    *,
    trials: int = 50,
    iterations: int | None = None,
    seconds: float | None = None,
    budget: Budget | None = None,
    seed: int | None = None,
    skills: Sequence[str] = (),
    continuation: float = CONTINUATION,
    game: str | Game | None = None,
    folder: str | Path | None = None,
    jobs: int = -1,
    workers: Workers | None = None,
    progress: Tell | None = None,
    begun: Callable[[Results], None] | None = None,
    notice: Notice = warnings.warn,
    **options: Unpack[PlaytestOptions],
) -> Results:
    """Let players play levels many times.

    Args:
        levels: names, files or loaded levels.
        players: players made by `make_players` or `player`, or personas, from which `player` makes players; "all" for
            the four of the paper. The search "paper" and agents need evolved policies.
        trials: playthroughs of each player in each level, 1 to 100,000.
        iterations, seconds: budget of the search in each playthrough; if neither is given, 10,000 iterations, or the
            agent's budget for a move. Players who search anew for each move have the iterations of their skill.
        budget: replaces iterations and seconds.
        seed: everything random follows from it. If None, that of the playtest in the folder, or else a new one.
        skills: levels of skill at which each player plays (see `persona_evo.agents.skill`); none for `perfect` alone
            without its name in the label.
        continuation: an additional share of the budget, for play from the end of a plan to the end of the game.
        game: the game; by default that of the first player. A connected game with the name of another has to be given.
        folder: folder in which each playthrough is kept; the same call continues a batch that was interrupted.
        jobs: cores, -1 for all; it does not change the result.
        workers: processes that several calls share, in place of `jobs`.
        progress: called with the progress from time to time.
        begun: called before the first playthrough, with the results that are about to be filled.
        notice: called with remarks on the arguments; they are warnings by default.
        options: how players search and what results are measured against: `SearchOptions`, `ExpectationOptions`.

    Raises:
        PersonaError, PolicyError, FormulaError, LevelError: there is no such thing, or its file is damaged.
        SettingsError: a number or a setting is out of range, names are not different, or a requirement cannot be met.
        RunError: the folder belongs to something else, is damaged, or is in use.
        ConnectError: a connected game fails.
    """
    trials, jobs = limits.whole(trials, "the number of trials", 1, limits.MOST_TRIALS), limits.jobs(jobs)
    target = Path(folder) if folder is not None else None
    seed = _seed_for(target) if seed is None else limits.seed(seed)
    expected = Expectations.read(options)
    of, chosen = _players_in(players, options, game)
    chosen = with_skills(chosen, skills, of)
    loaded = levels_of(of, levels)
    expected.check(of, loaded, [p.label for p in chosen], trials, bool(options.get("agent")), notice)
    rules = playing_rules(of, chosen, options, budget, iterations, seconds)
    check_lists([p.policy for p in chosen if p.agent is None], rules.search, rules.agent)
    todo = Results(of, loaded, chosen, trials, seed, rules.budget, rules.search, [], folder=target, league=rules.league)
    failing = expected.regressions(of, notice)
    if begun is not None and loaded:
        begun(todo)
    with hired(of, workers, jobs) as lent_workers:
        appraised = None if workers is None else begin_appraisals(of, loaded, workers, target)
        played = _played(todo, limits.number(continuation, "continuation", 0, 1), lent_workers, progress, appraised)
        played.failures = [*failing, *played.failures]
        return _measured(played, expected, appraised, lent_workers, options.get("bound_progress"))


def _played(
    todo: Results, continuation: float, workers: Workers, progress: Tell | None, appraised: Appraisals | None
) -> batch.BatchResults:
    """Play what results without playthroughs describe; then the workers begin the analysis of the levels."""
    return batch.playtest(
        todo.game,
        todo.levels,
        todo.players,
        todo.trials,
        seed=todo.seed,
        budget=todo.budget,
        settings=todo.settings,
        workers=workers,
        folder=todo.folder,
        progress=progress,
        game_name=registry.address(todo.game),
        league=todo.league,
        continuation=continuation,
        then=appraised,
    )


@checked
def resume_playtest(
    folder: str | Path,
    *,
    game: str | Game | None = None,
    jobs: int = -1,
    workers: Workers | None = None,
    progress: Tell | None = None,
    notice: Notice = warnings.warn,
    **options: Unpack[ExpectationOptions],
) -> Results:
    """Continue a playtest that was interrupted, from its folder alone.

    Args:
        folder: the folder of the playtest.
        game: the game, if the folder does not lead to it because its file has moved or it was made in a notebook.
        jobs, workers, progress, notice: as for `playtest_levels`.
        options: what the results are measured against (see `ExpectationOptions`).

    Raises:
        RunError: this is no folder of a playtest, it is damaged, in use, or made with other rules of the game.
        SettingsError: as for `playtest_levels`.
        ConnectError: a connected game fails.
    """
    expected = Expectations.read(options)
    with lent(workers, limits.jobs(jobs)) as lent_workers:
        name = None if game is None else registry.address(game_of(game))
        played = batch.resume(Path(folder), workers=lent_workers, progress=progress, game_name=name)
        expected.check_rates(played.levels, notice)
        if played.complete:
            played.failures = [*expected.regressions(played.game, notice), *played.failures]
        return _measured(played, expected, None, lent_workers, options.get("bound_progress"))


def _players_in(players: PlayersLike, options: SearchOptions, game: str | Game | None) -> tuple[Game, list[Player]]:
    """Return the game, which is that of the first player if none is given, and the players that names stand for."""
    search = options.get("search")
    chosen = players_of(players, "anytime" if search is None else search, options.get("agent", ""))
    if game is None:
        return registry.get(chosen[0].persona.game) if chosen else load_game(), chosen
    return game_of(game), chosen


def _seed_for(folder: Path | None) -> int:
    """Return the seed of the playtest in a folder, so that the same call continues it; a new one if there is none."""
    if folder is not None and (folder / journal.CONFIG).is_file():
        return journal.reopen(folder).seed
    return fresh()


def _measured(
    played: batch.BatchResults,
    expected: Expectations,
    appraised: Appraisals | None,
    workers: Workers,
    progress: bounds.Tell | None,
) -> Results:
    """Return the results of a batch with the limits of its levels, and with what they are measured against."""
    results = as_results(played)
    results.begun = appraised
    results.requirements, results.rates, results.accepted = expected.texts, expected.rates, expected.accepted
    if expected.bound_seconds > 0 and results.complete:
        results.search_bounds(expected.bound_seconds, workers=workers, progress=progress, then=appraised)
    return results


@checked
def compare(
    a: LevelsLike, b: LevelsLike, players: PlayersLike = "all", **options: Unpack[ComparisonOptions]
) -> Comparison:
    """Play two versions of a level, or of several, and describe the differences.

    Several levels are compared in pairs of the same seed, name or place, and what is said holds for other levels of the
    kind.

    Args:
        a, b: the versions: one level each, or equally many.
        players, options: as for `playtest_levels`.

    Returns:
        The comparison. After Ctrl-C its results are incomplete, and nothing is compared.

    Raises:
        SettingsError: there are not two levels or as many of A as of B, or as for `playtest_levels`.
        PersonaError, PolicyError, FormulaError, LevelError, RunError, ConnectError: as for `playtest_levels`.
    """
    game, chosen = _players_in(players, options, options.get("game"))
    options["game"] = game
    return compare_paired(paired_levels(game, a, b), chosen, **options)


def compare_paired(
    pairs: Sequence[tuple[Level, Level]], players: Sequence[Player], **options: Unpack[ComparisonOptions]
) -> Comparison:
    """Compare levels that are paired already (see `compare`)."""
    return compared(playtest_levels([level for pair in pairs for level in pair], players, **options))


@checked
def solve(
    level: LevelLike,
    persona: PersonaLike,
    *,
    game: str | Game | None = None,
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
        game: the game; by default the one that the persona is for.
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
    of = registry.get(who.game) if game is None else game_of(game)
    chosen = one_level(of, level)
    bounds.warm_up(of, chosen)
    return solve_level(
        of,
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
