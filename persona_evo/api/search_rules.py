"""Settings and budgets of searches, as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypedDict, cast

from persona_evo import limits
from persona_evo.agents.duel import League, budget_for
from persona_evo.errors import SettingsError
from persona_evo.games.core import Game
from persona_evo.search.settings import PRESETS, Budget, SearchSettings

SearchLike: TypeAlias = str | SearchSettings | Mapping[str, object]

TOLERANCE = 0.01
"""The default share of the best utility within which the trials of a playtest may take other routes."""


class SearchRules(TypedDict, total=False):
    """The rules by which players search.

    Attributes:
        search: "anytime" (the default), "single", "paper", settings, or a mapping of some of them.
        hedge: share of the iterations for UCB1 in addition to the planner's open lists, 0 if not given.
        tolerance: share of the best utility within which each trial shows a route of its own; by default 0.01 in
            playtests and comparisons, and 0 in `plan` or if no planner with open lists plays.
        selection_rule, rollout_policy: names of a selection rule and a rollout policy that packages add.
        seeds: in a connected game, how many seeds other than the level's searches average over, 0 for the level's own;
            by default what the persona or the game's description says.
    """

    search: SearchLike | None
    hedge: float | None
    tolerance: float | None
    selection_rule: str | None
    rollout_policy: str | None
    seeds: int | None


def search_of(search: object) -> SearchSettings:
    """Convert the name of a preset, or some values, to the settings of a search.

    Args:
        search: settings; the name of a preset; or values by the names of settings, {"preset": "single", "rollout": 5},
            which change the preset; "anytime" if none is named.

    Raises:
        SettingsError: there is no such preset or setting, or a value is out of range.
    """
    if isinstance(search, SearchSettings):
        return search
    if isinstance(search, str):
        return SearchSettings.preset(search)
    if not isinstance(search, Mapping):
        expected = f"one of {', '.join(PRESETS)}, a mapping such as {{'rollout': 5}}, or SearchSettings"
        raise SettingsError("these are not the settings of a search", found=repr(search)[:200], expected=expected)
    preset = SearchSettings.preset(limits.name(search.get("preset", "anytime"), "a preset of the search"))
    return SearchSettings.from_dict({**preset.to_dict(), **search})


def rules_of_search(game: Game, rules: SearchRules, *, agent: str = "", usual: float = 0.0) -> SearchSettings:
    """Return the rules of a search in a game; open lists are left out if no planner uses them.

    Args:
        game: the game.
        rules: what is given; None counts as not given. The other values change those of the settings in `search`.
        agent: the agent that plays move by move, "" for none.
        usual: the tolerance for the name of a preset.

    Raises:
        SettingsError: there is no such preset; hedge or tolerance is out of range, or is given for a search without
            lists; a selection rule is given for a search with lists; or anything is given for an agent.
    """
    search = rules.get("search")
    if agent and search is not None:
        raise SettingsError(
            "agents that play move by move have search settings of their own",
            found=f"search {search if isinstance(search, str) else 'settings'}",
            hint="leave the search out, or name another agent",
        )
    search = "anytime" if search is None else search
    settings = search_of(search)
    given: dict[str, Any] = {name: value for name, value in rules.items() if name != "search" and value is not None}
    shares = {name: value for name, value in given.items() if name in ("hedge", "tolerance")}
    why = _listless(settings, game, agent)
    if why and shares:
        said = ", ".join(f"{name} {value:g}" for name, value in shares.items())
        raise SettingsError(
            "hedge and tolerance are for the planner's open lists",
            found=f"{said}; {why}",
            expected="the search anytime in a single-player game without chance, without an agent",
            hint="leave them out",
        )
    if isinstance(search, str):
        settings = replace(settings, lists=() if why else settings.lists, tolerance=0.0 if why else usual)
    settings = replace(settings, **given)
    if given.get("seeds") is not None and game.outside is None:
        raise SettingsError(
            "seeds are for connected games",
            found=f"seeds {given['seeds']}; {game.name} runs in this program",
            hint="leave them out: searches of games of chance take new dice for each iteration",
        )
    if agent:
        settings.refuse_added(f"agent {agent}, which plays move by move,")
    return settings


def search_rules(options: Mapping[str, Any]) -> SearchRules:
    """Return those of several options that are rules of the search."""
    return cast(SearchRules, {name: options[name] for name in SearchRules.__annotations__ if name in options})


def budget_of(
    budget: Budget | None, iterations: int | None, seconds: float | None, league: League | None = None
) -> Budget:
    """Make the budget of a search from a budget, from iterations and seconds, or from defaults.

    Raises:
        SettingsError: it is given in both ways, or a number is out of range.
    """
    if budget is None:
        return budget_for(iterations, seconds, league)
    if iterations is not None or seconds is not None:
        raise SettingsError(
            "the budget is given twice",
            found=f"{budget}, iterations {iterations}, seconds {seconds}",
            expected="either a budget, or iterations and seconds",
        )
    given: object = budget
    if not isinstance(given, Budget):
        raise SettingsError("this is not a budget", found=repr(given)[:200], expected="Budget(iterations=1000)")
    return budget


def _listless(rules: SearchSettings, game: Game, agent: str) -> str:
    """Say why a search has no open lists; "" if it has some."""
    if agent:
        return f"agent {agent} plays move by move"
    if not game.planned:
        return f"{game.name} is not planned with open lists"
    return "" if rules.lists else f"the search {rules.preset_name} has none"


def by_utility(game: Game, search: SearchSettings | None = None, agent: str = "") -> bool:
    """Return whether personas without a policy play by their utility.

    They do where whole levels are planned, except by the search of the paper.

    Args:
        search: the settings of the search, None for the default ones.
        agent: the agent that plays move by move, "" for none.
    """
    return game.planned and not agent and (search is None or search.preset_name != "paper")
