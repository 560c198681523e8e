"""Describes a tree policy in words: what its formula, or each of its open lists, seeks, avoids and saves."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from math import fsum

from persona_evo.formula import Formula, parse
from persona_evo.formula.effects import Effect, effects
from persona_evo.games import mapsets
from persona_evo.games.core import RUNNING, Game, Level, Metric
from persona_evo.games.level_ranges import LevelEntry
from persona_evo.personas.lists import (
    CARE,
    CEILING,
    LIST_VARIABLES,
    NEAR,
    OWN,
    UTILITY,
    OpenList,
)
from persona_evo.personas.template import high_end, low_end
from persona_evo.search.samples import MOST_LEVELS, Sampled, random_states
from persona_evo.search.tree_policy import PARENT, SEARCH_VARIABLES, plan_variables
from persona_evo.store.policies import Policy
from persona_evo.words import percent

CLEAR = 0.85
"""The share of a symbol's changes in one direction from which this counts as its direction."""
SLIGHT = 0.005
"""The share of the score's movement below which a symbol gets no percentage."""
NOTHING = 1e-12
"""A movement of the score that is only due to rounding."""
MADE_UP = 60
"""The number of made-up states for games whose states cannot be observed."""

_SEARCH_WORDS = {
    "R": ("moves that have turned out well", "moves that have turned out badly"),
    "N": ("moves that were tried often", "moves that were tried rarely"),
    "P": ("the other goals more, the longer it searches", "the other goals less, the longer it searches"),
    "D": ("long plans", "short plans"),
    "RMAX": ("moves with a high best result", "moves with a low best result"),
    "RSD": ("moves with uncertain results", "moves with certain results"),
    OWN: ("states with a high score of their own", "states with a low score of their own"),
    UTILITY: ("a high utility", "a low utility"),
    CARE: ("what keeps the player in the game", "what endangers the player"),
    NEAR: ("distance from what can be reached", "the way to what can be reached"),
    CEILING: ("states from which much can still be reached", "states from which little can still be reached"),
}
"""Variable of the search or of open lists -> what a formula seeks that rises, or falls, with it."""

_VARIABLES = {**LIST_VARIABLES, **SEARCH_VARIABLES}


def in_words(
    formula: Formula, game: Game, levels: Sequence[Level], utility: Formula | None = None, until: float | None = None
) -> tuple[str, ...]:
    """Return what a formula seeks, avoids and saves, one line each.

    Each metric is varied in states of random games, which are the same every time. The direction in which the score
    moves decides. Percentages are shares of the score's movement.

    Args:
        formula: a formula over the game's metrics and the search's variables.
        game: the game whose metrics they are.
        levels: the levels for the random games. Without levels, and for connected games, states are made up.
        utility: the persona's utility; made-up results of a search are close to it.
        until: the moment on `time.monotonic` after which no random game is begun.
    """
    if not formula.symbols:
        return ("every state has the same score: the formula has no symbols",)
    sampled = random_states(game, levels, until)
    ranges = {m.symbol: (low_end(m), high_end(m, game)) for m in game.metrics}
    states = [s.metrics for s in sampled if s.outcome == RUNNING] or _made_up(game)
    rows = with_estimates(states, game, utility)
    ranges.update(
        {
            "R": (0.0, 1.0),
            "RMAX": (0.0, 1.0),
            "RSD": (0.0, 0.5),
            "D": (0.0, 50.0),
            "N": (1.0, 100.0),
            "P": (100.0, 10_000.0),
        }
    )
    found = effects(formula, rows, ranges, {m.symbol for m in game.metrics if _is_way(m, game)})
    kept = _stocks(sampled)
    total = fsum(e.strength for e in found) or 1.0
    groups: dict[str, list[str]] = {}
    for effect in found:
        group, text = _said(effect, game, kept)
        share = effect.strength / total
        part = f", {percent(share)}" if share >= SLIGHT else ""
        symbol = effect.symbol + (" low" if group != "ignores" and effect.up <= 1 - CLEAR else "")
        groups.setdefault(group, []).append(f"{text} ({symbol}{part if group != 'ignores' else ''})")
    order = ("seeks", "avoids", "saves", "seeks or avoids, depending on the state", "ignores")
    return tuple(f"{group}: {', '.join(groups[group])}" for group in order if group in groups)


def lists_in_words(
    lists: Sequence[OpenList],
    game: Game,
    levels: Sequence[Level],
    utility: Formula | None = None,
    until: float | None = None,
) -> tuple[str, ...]:
    """Return the purpose of each open list, one line each. The arguments are those of `in_words`."""
    total = fsum(one.weight for one in lists)
    found = []
    for number, one in enumerate(lists, 1):
        words = "; ".join(in_words(one.score, game, levels, utility, until))
        first = ", novel states first" if one.novel else ""
        found.append(f"list {number} ({percent(one.weight / total)} of the turns{first}): {words}")
    return tuple(found)


def _said(effect: Effect, game: Game, kept: frozenset[str]) -> tuple[str, str]:
    """Return (what the formula does, with what)."""
    metric = next((m for m in game.metrics if m.symbol == effect.symbol), None)
    rises = effect.up >= CLEAR
    if effect.strength <= NOTHING:
        group = "ignores"
    elif not rises and effect.up > 1 - CLEAR:
        group = "seeks or avoids, depending on the state"
    elif metric is None:
        return "seeks", _words_of(effect.symbol, game)[0 if rises else 1]
    elif _is_way(metric, game):
        group = "avoids" if rises else "seeks"
    elif rises:
        group = "saves" if metric.symbol in kept else "seeks"
    else:
        group = "saves" if metric.clock else "avoids"
    if metric is None:
        known = _VARIABLES.get(effect.symbol) or plan_variables(game)[effect.symbol]
        return group, known.split(",")[0].split(":")[0]
    return group, f"the {metric.name}" if _is_way(metric, game) else metric.name


def _words_of(symbol: str, game: Game) -> tuple[str, str]:
    """Return what a formula seeks that rises, or falls, with a symbol that is not a metric."""
    if symbol in _SEARCH_WORDS:
        return _SEARCH_WORDS[symbol]
    names = {UTILITY: "utility", CEILING: "ceiling", **{m.symbol: m.name for m in game.metrics}}
    name = names[symbol.removesuffix(PARENT)]
    return f"a state after one with a high value of {name}", f"a state after one with a low value of {name}"


def _is_way(metric: Metric, game: Game) -> bool:
    """Return whether a metric is a distance to something the player can reach (see `Game.targets`), or to the end."""
    return game.players == 1 and metric.costly and metric.better == "lower"


def _stocks(sampled: Sequence[Sampled]) -> frozenset[str]:
    """Return the metrics that are used up from the start on: high is good, and none is higher at the end of a game."""
    games: dict[tuple[str, int], list[Sampled]] = {}
    for state in sampled:
        games.setdefault((state.level, state.game), []).append(state)
    ends = [(states[0].metrics, states[-1].metrics) for states in games.values()]
    return frozenset(
        symbol
        for symbol in (sampled[0].metrics if sampled else ())
        if all(start[symbol] > 0 for start, _ in ends)
        and fsum(b[symbol] for _, b in ends) < fsum(a[symbol] for a, _ in ends)
        and sum(b[symbol] <= a[symbol] for a, b in ends) >= 0.9 * len(ends)
    )


def _made_up(game: Game) -> list[dict[str, float]]:
    stream = random.Random(0)
    return [{m.symbol: stream.uniform(low_end(m), high_end(m, game)) for m in game.metrics} for _ in range(MADE_UP)]


def with_estimates(
    states: Sequence[Mapping[str, float]], game: Game, utility: Formula | None
) -> list[dict[str, float]]:
    """Return the states with plausible values of the variables of the search and of open lists."""
    stream, room = random.Random(1), random.Random(2)
    from persona_evo.search.list_orders import cares  # loads the engine

    care = next(iter(cares(game, utility or Formula((0.0,)))), None)
    found, other = [], random.Random(2)
    for number, state in enumerate(states):
        value = utility.evaluate(state) if utility else 0.5
        known = estimates(value, float(stream.randint(2, 3000)), stream.randint(1, 50), stream)
        known |= {OWN: value, UTILITY: value, CEILING: value + room.random(), CARE: 0.0, NEAR: 0.0}
        if care:
            known[CARE] = care.evaluate(state)
        if game.targets:
            known[NEAR] = state[game.targets[0]]
        before = plan_estimates(state, states[max(0, number - 1)], utility or Formula((0.5,)), other)
        found.append({**before, **known, **state})
    return found


def plan_estimates(
    state: Mapping[str, float], parent: Mapping[str, float], utility: Formula, stream: random.Random
) -> dict[str, float]:
    """Return what a plan of a whole level could know of a state beside metrics (see `tree_policy.plan_variables`)."""
    known: dict[str, float] = {}
    for metrics, mark in ((parent, PARENT), (state, "")):
        value = utility.evaluate(metrics)
        known |= {UTILITY + mark: value, CEILING + mark: value + stream.random()}
    return {**known, **{symbol + PARENT: value for symbol, value in parent.items()}}


def estimates(value: float, visits: float, depth: int, stream: random.Random) -> dict[str, float]:
    """Return search variables of a child of utility `value`, `depth` moves from the root, whose parent has `visits`."""
    own = float(stream.randint(1, int(visits)))
    spread = stream.random()
    best = value + spread * stream.random()
    mean = value - spread * stream.random()
    return {"R": 0.75 * mean + 0.25 * best, "N": own, "P": visits, "D": float(depth), "RMAX": best, "RSD": spread}


def meanings(formulas: Sequence[Formula], game: Game) -> dict[str, str]:
    """Return symbol -> meaning for the names in formulas and in the scores of open lists, in the game's order."""
    known = {m.symbol: m.meaning for m in game.metrics}
    for more in (SEARCH_VARIABLES, LIST_VARIABLES, plan_variables(game)):
        known |= {symbol: meaning for symbol, meaning in more.items() if symbol not in known}
    named = frozenset[str]().union(*(formula.symbols for formula in formulas))
    return {symbol: meaning for symbol, meaning in known.items() if symbol in named}


def of_policy(policy: Policy, game: Game) -> tuple[str, ...]:
    """Return a policy in words, one line each: from its file, or else derived from levels that ship with the game."""
    if policy.words:
        return policy.words
    if policy.kind == "ucb1":
        return ("seeks: moves that have turned out well, and moves that were tried rarely",)
    if not policy.best and not policy.lists:
        return ()
    known = mapsets.shipped(game).levels
    names = [name for name in policy.levels if name in known] or list(known)
    levels = [mapsets.load(game, LevelEntry(known[name]), name, {}) for name in names[:MOST_LEVELS]]
    utility = parse(policy.utility, game.symbols) if policy.utility else None
    own = in_words(parse(policy.best), game, levels, utility) if policy.best else ()
    return (*own, *lists_in_words(policy.lists, game, levels, utility))
