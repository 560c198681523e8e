"""Decides what an evolution breeds for its search, which symbols that may read, and which lists it starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from persona_evo.errors import SettingsError
from persona_evo.evolve import genome, start
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.genetics import metrics_of
from persona_evo.evolve.islands import check_first
from persona_evo.evolve.setting_values import BY_SEARCH, FORMULA, LISTS, PLANNED
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.personas.lists import (
    CEILING,
    DEFAULT_LISTS,
    FEW_LISTS,
    FEW_UNGUIDED_LISTS,
    UNGUIDED_LISTS,
    OpenList,
)
from persona_evo.search.list_orders import chosen, stands_for
from persona_evo.search.problem import Problem
from persona_evo.search.tree_policy import TreePolicy, read_of, with_lists
from persona_evo.store import policy_library
from persona_evo.words import counted


def settled(settings: EvolutionSettings, spec: FitnessSpec) -> EvolutionSettings:
    """Return settings that name the kind of individual, chosen by the search if the settings leave it open.

    Raises:
        SettingsError: the settings name lists, but the search has none, or the formulas read the search's variables.
    """
    planned = bool(spec.search.lists) and spec.whole
    if settings.variables in PLANNED and not (spec.whole and spec.search.best_first):
        raise SettingsError(
            "these variables exist only in plans of whole levels",
            found=f"variables {settings.variables!r}",
            expected="search 'single' or 'anytime', without an agent or a skill, in a game that is planned whole",
            hint="--set variables=metrics",
        )
    still = settings.variables == "metrics"
    if settings.individual == BY_SEARCH:
        return replace(settings, individual=LISTS if planned and still else FORMULA)
    if settings.individual == LISTS and not planned:
        raise SettingsError(
            "open lists can be evolved only for a planner that searches with them",
            found=_who(spec),
            expected="search 'anytime', without an agent or a skill, in a game that is planned whole",
            hint="leave out the setting individual",
        )
    if settings.individual == LISTS and not still:
        raise SettingsError(
            "the scores of open lists cannot use the search's variables, which change",
            found=f"variables {settings.variables!r}",
            expected="variables 'metrics'",
        )
    return settings


def _who(spec: FitnessSpec) -> str:
    """Return the name of what plays, for messages."""
    if spec.skill is not None:
        return f"skill {spec.skill.name!r}"
    return f"search {spec.search.preset_name!r}" if spec.league is None else "an agent"


def symbols_of(settings: EvolutionSettings, spec: FitnessSpec) -> tuple[str, ...]:
    """Return the symbols of individuals beside the search's variables: metrics and, in lists, the planner's values.

    Raises:
        SettingsError: the settings name a metric that the game does not have.
    """
    game = registry.get(spec.game)
    metrics = metrics_of(settings, game)
    if settings.individual != LISTS and settings.variables not in PLANNED:
        return metrics
    utility = parse(spec.utility, game.symbols)
    bounded = any(Problem.of(game, level.load(game), utility).bounded for level in spec.levels)
    if settings.individual != LISTS:
        return tuple(s for s in metrics if bounded or s in game.symbols or CEILING not in read_of([s]))
    return (*metrics, *stands_for(game, utility, bounded))


def first_individuals(settings: EvolutionSettings, spec: FitnessSpec, lists: Sequence[OpenList] = ()) -> list[str]:
    """Return the individuals that join the first population, as `settings.first` names them.

    If lists are bred, a formula stands for the lists that the planner would use if it were the own score. The planner's
    other defaults follow, with the first of the formulas.

    Args:
        lists: the persona's own lists, which take precedence over the defaults.

    Raises:
        SettingsError: a given formula, or given lists, do not fit.
        FormulaError: a text is not a formula.
    """
    game = registry.get(spec.game)
    goal = _goal(spec, game)
    utility = parse(spec.utility, game.symbols)
    if settings.individual != LISTS:
        texts = start.first_formulas(settings, game, goal)
        found = check_first(settings, symbols_of(settings, spec), texts)
        if unbounded := [text for text in texts if text not in found and text in settings.first]:
            raise SettingsError(
                "nothing bounds this utility, so it has no CEILING",
                found=utility.text,
                expected="a utility that only rises, or only falls, with each of its metrics",
                hint=f"leave out {unbounded[0]}",
            )
        return found
    given = [name for name in settings.first if genome.is_lists(name)]
    own = [parse(text) for text in start.first_formulas(_formulas(settings), game, goal)]
    symbols = symbols_of(settings, spec)
    for text in given:
        if not check_first(settings, symbols, [text]):
            raise SettingsError(
                "open lists do not fit into the first population",
                found=text,
                expected="lists within the settings' functions, metrics, depth and size",
            )
    if "library" in settings.first:
        kept = [p for p in policy_library.available(game.name) if p.kind == "lists"]
        given += [text for text in (genome.of_policy(p.tree_policy(game)) for p in kept) if text]
    level = spec.levels[0].load(game)
    found = list(given)
    for formula in own:
        policy = with_lists(TreePolicy("", formula), lists)
        found += _with(chosen(spec.search, policy, utility, spec.budget, level, game), formula, symbols)
    for defaults in (FEW_LISTS, DEFAULT_LISTS, FEW_UNGUIDED_LISTS, UNGUIDED_LISTS) if own else ():
        found += _with(defaults, own[0], symbols)
    return list(dict.fromkeys(check_first(settings, symbols, found)))


def start_in_words(settings: EvolutionSettings, spec: FitnessSpec, lists: Sequence[OpenList] = ()) -> str:
    """Return in words what the first population is made of (see `first_individuals`)."""
    game = registry.get(spec.game)
    if settings.individual != LISTS:
        return start.start_in_words(settings, game, _goal(spec, game))
    found = first_individuals(settings, spec, lists)
    joined, left = min(len(found), settings.population), settings.population - len(found)
    whose = "the persona's" if lists else "the planner's"
    known = f"{counted(joined, 'set')} of open lists, {whose} with other formulas" if joined else ""
    fresh = counted(left, "random set") + ("" if joined else " of open lists") if left > 0 else ""
    said = ", ".join(filter(None, [known, fresh]))
    if left < 0:
        said += f"; a population of {settings.population} has no room for {counted(-left, 'more set')}, nor for random "
        said += "ones"
    return said


def left_out(settings: EvolutionSettings, spec: FitnessSpec) -> str:
    """Return which policies that nobody named one by one do not join the first population; "" if all join."""
    game = registry.get(spec.game)
    return start.left_out(_formulas(settings), game, _goal(spec, game))


def _goal(spec: FitnessSpec, game: Game) -> start.Goal:
    """Return what formulas of the first population are made of."""
    cares = start.CARES if spec.whole else start.MORE_CARES
    return start.Goal(parse(spec.utility, game.symbols), spec.priority, cares)


def _formulas(settings: EvolutionSettings) -> EvolutionSettings:
    """Return the settings with those policies of the first population that are formulas or stand for some."""
    names = tuple(name for name in settings.first if not genome.is_lists(name))
    return replace(settings, individual=FORMULA, first=names)


def _with(lists: Sequence[OpenList], own: Formula, symbols: Sequence[str]) -> list[str]:
    """Return the text of the lists with an own score, without unreadable ones; an empty list if none is left."""
    usable = [one for one in genome.with_own(lists, own) if one.score.symbols <= set(symbols)]
    return [genome.text_of(usable)] if usable else []
