"""The policies that join the first population beside random formulas."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from persona_evo.agents.duel import League
from persona_evo.errors import SettingsError, unknown
from persona_evo.evolve import genome
from persona_evo.evolve.genetics import BASIC, EXTENDED_VARIABLES, OUTCOMES, leaves, metrics_of
from persona_evo.evolve.islands import check_first
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import PRIMITIVES, Formula, parse
from persona_evo.formula.rewrite import canonical
from persona_evo.games.core import Game
from persona_evo.personas.lists import CEILING
from persona_evo.search.tree_policy import PARENT, UCB1_FORMULA, plan_variables
from persona_evo.words import counted, enumerated

NONE = "none"
"""The name, for users, of a first population of random formulas only."""

CARES = (0.1,)
"""The weights of what keeps the player in the game (`Game.care`) in formulas for whole plans."""
MORE_CARES = (0.1, 1.0)
"""These weights for play from move to move, where one careless move ends the game."""


class Goal(NamedTuple):
    """What formulas of the first population are made of.

    Attributes:
        utility: the persona's utility; None makes no formulas.
        priority: its core priority.
        cares: the weights of what keeps the player in the game.
    """

    utility: Formula | None = None
    priority: str = ""
    cares: Sequence[float] = CARES


_NO_GOAL = Goal()

LITTLE = (0.1, 0.01)
"""Constants of UCB1 that explore less than its own."""


def usual(game: Game, league: League | None = None) -> dict[str, Any]:
    """Return settings that suit a kind of game, or play move by move, better than those of the presets.

    If what comes next is unknown (an opponent, chance, what lies beyond the horizon of one move's search), a score that
    never changes follows a single line of play. In such settings, formulas can therefore read the search's own
    variables.
    """
    return {"variables": "extended"} if game.players > 1 or league is not None else {}


def of_persona(goal: Goal, metrics: Sequence[str], game: Game) -> list[str]:
    """Return formulas made from the persona's goals: its utility and its core priority, as they are and minus a way.

    A way is the distance to the nearest of each of the game's targets, with and without the way to a win if no target
    is left, and the shortest of these distances; or the way to a win. Metrics that report how the game ended count as
    0, since a tree policy never chooses among ended states. The core priority alone, without the other terms of the
    utility, often guides a search best. Its ways are added again with what keeps the player in the game (`Game.care`),
    which matters if a search looks only a little ahead, and all ways to targets with CEILING if formulas may read it.

    Args:
        goal: what the formulas are made of.
        metrics: the symbols that formulas may use.
        game: the game.
    """
    if goal.utility is None:
        return []
    priority = goal.priority
    text = canonical(Formula(tuple(0.0 if t in OUTCOMES else t for t in goal.utility.tokens))).text
    clock = "".join(f" - 0.001 * {m.symbol}" for m in game.metrics if m.clock and m.symbol in metrics)
    home, care = (_readable(formula, metrics) for formula in (game.homing, game.care))
    near = [symbol for symbol in game.targets if symbol in metrics]
    heads = [text]
    after = [m for m in game.metrics if m.symbol == priority and m.symbol in metrics]
    if after and text != priority:
        heads.append(f"-{priority}" if after[0].better == "lower" else priority)
    ways = [_ways(head, near, home, clock) for head in heads]
    found = [text for head, own in zip(heads, ways, strict=True) for text in (head, head + clock, *own)]
    if home:
        found.append(f"{home}{clock}")
    if care:
        last = found[-1:]
        found += [f"{way} + {weight:g} * ({care})" for weight in goal.cares for way in (*ways[-1], *last)]
    if CEILING in metrics and CEILING not in game.symbols:
        found += [f"{way} + 0.5 * {CEILING}" for own in ways for way in own if parse(way).symbols & {*near}]
    return found


def of_rollouts(metrics: Sequence[str], game: Game) -> list[str]:
    """Return formulas that begin with R, the mean utility of the rollouts through a child.

    They are UCB1 with less exploration than usual, and R with each metric that the game calls good or bad, or with each
    metric in both directions if the game calls none so. In a search whose rollouts reach the end of the game, R already
    measures the persona's goal; a metric such as health tells good rollouts from lucky ones. Clocks and metrics that
    report how the game ended are left out.
    """
    usable = [m for m in game.metrics if m.symbol in metrics and m.symbol not in OUTCOMES and not m.clock]
    judged = [m for m in usable if m.better != "neutral"]
    signs = {"higher": "+", "lower": "-", "neutral": "+-"}
    beside = [f"R {sign} 0.1 * {m.symbol}" for m in judged or usable for sign in signs[m.better]]
    return [*(f"R + {c} * sqrt(log(P) / N)" for c in LITTLE), *beside]


def _readable(formula: str, metrics: Sequence[str]) -> str:
    """Return a formula of the game in its usual form, or "" if there is none or it reads other metrics than these."""
    return parse(formula).text if formula and parse(formula).symbols <= set(metrics) else ""


def _ways(head: str, near: Sequence[str], home: str, clock: str) -> list[str]:
    """Return a formula minus the ways to targets, the shortest of these, and the way to a win; each with the clock."""
    found = [f"{head} - 0.1 * {m}{clock}" for m in near]
    if home:
        found += [f"{head} + 0.1 * if({m}, -{m}, {home}){clock}" for m in near]
        found.append(f"{head} + 0.1 * ({home}){clock}")
    if len(near) > 1:
        shortest = functools.reduce(lambda a, b: f"min({a}, {b})", [f"if({m}, {m}, 1)" for m in near])
        found.append(f"{head} - 0.1 * {shortest}{clock}")
        if home:
            found.append(f"{head} - 0.1 * {shortest} + 0.02 * ({home}){clock}")
    return found


def chosen(
    preset: str,
    game: Game,
    league: League | None,
    changes: Mapping[str, Any],
    first: Sequence[str] | None = None,
    *,
    generated: bool = False,
) -> EvolutionSettings:
    """Return the settings of an evolution, with the policies that were named for its first population.

    "ucb1" among these sets `variables` to "extended" unless `changes` sets it.

    Args:
        preset: "modern" or "paper".
        changes: single settings, as they were given.
        first: names as in `EvolutionSettings.first`, or "none" alone; None if none were named, which keeps the value of
            `changes` or the preset.
        generated: whether many levels are generated, of which the preset "modern" draws some for each generation.

    Raises:
        SettingsError: there is no such setting, a value is out of range, or "none" stands beside other names.
    """
    if first is not None and "first" in changes:
        raise SettingsError(
            "the policies of the first population are given twice",
            found="setting first",
            expected="either the setting or --seed-policies",
        )
    values = {**usual(game, league), **changes}
    if first is not None or "first" in changes:
        names = changes["first"] if first is None else first
        values["first"] = names if isinstance(names, str) else named(names)
        if "ucb1" in values["first"] and "variables" not in changes:
            values["variables"] = "extended"
    sampled = changes.get("levels_a_generation", generated) not in (0, False)
    return EvolutionSettings.of(preset, sampled=sampled, **values)


def named(first: Sequence[str]) -> tuple[str, ...]:
    """Return the named policies of the first population, empty for "none".

    Raises:
        SettingsError: "none" stands beside other names.
    """
    if NONE in first and len(first) > 1:
        raise SettingsError(
            "none cannot be combined with other policies",
            found=" ".join(first),
            expected="none alone, or policies without it",
        )
    return () if NONE in first else tuple(first)


def start_in_words(settings: EvolutionSettings, game: Game, goal: Goal) -> str:
    """Return what the first population is made of: UCB1, formulas from the utility, policies, texts, random ones.

    If there are more formulas than individuals, the first ones join, and the text says which have no room.
    """
    parts: dict[str, list[int]] = {}
    known: set[str] = set()
    for name, texts in _by_name(settings, game, goal).items():
        new = set(texts) - known
        row = parts.setdefault(_SOURCES.get(name, "given"), [0, 0])
        row[0] += min(len(new), settings.population - min(len(known), settings.population))
        row[1] += len(new)
        known |= new
    said = [_share(what, *row) for what, row in parts.items()]
    left = settings.population - len(known)
    rest = f"{counted(left, 'random formula')}" if left > 0 else ""
    text = ", ".join(filter(None, [*said, rest]))
    if left < 0:
        text += f"; a population of {settings.population} has no room for {counted(-left, 'more formula')} that could "
        text += "join it, nor for random ones"
    return text


def left_out(settings: EvolutionSettings, game: Game, goal: Goal) -> str:
    """Return which policies that nobody named one by one do not join the first population; "" if all join."""
    said = []
    metrics = metrics_of(settings, game)
    for name, texts in _by_name(settings, game, goal).items():
        if not texts:
            way = f"; --seed-policies {name} changes that" if name == "ucb1" else ""
            said.append(f"{_LABELS[name]} does not join the first population ({_why(name, settings, game)[0]}){way}")
        elif name == "library":
            others = len(_candidates(name, metrics, game, goal)) - len(texts)
            if others:
                which = counted(others, "policy", "policies")
                said.append(f"{which} of the library left out: the settings lack what they need")
    return "; ".join(said)


_SOURCES = {
    "ucb1": "UCB1",
    "utility": "made of what the persona wants",
    "library": "of the policies that ship or are installed",
}
"""Names of `EvolutionSettings.first` -> where these formulas are from; all others are formulas themselves."""

_LABELS = {"ucb1": "UCB1", "utility": "the persona's utility", "library": "the library"}


def _share(what: str, joined: int, all_there_are: int) -> str:
    """Return a phrase with the number of formulas of one source, or how many of them joined."""
    if not joined:
        return ""
    if what == "UCB1":
        return what
    some = f"{joined} of {all_there_are}" if joined < all_there_are else str(joined)
    return f"{counted(joined, 'formula')} given" if what == "given" else f"{some} {what}"


def first_formulas(settings: EvolutionSettings, game: Game, goal: Goal = _NO_GOAL) -> list[str]:
    """Return the formulas that join the first population, as `settings.first` names them.

    "library" and "utility" give what the settings' symbols can express. Names in the preset itself may give nothing.

    Raises:
        SettingsError: a name that was given yields no formula that fits.
        FormulaError: a text is not a formula.
    """
    texts = _by_name(settings, game, goal).values()
    return list(dict.fromkeys(text for some in texts for text in some))


def _by_name(settings: EvolutionSettings, game: Game, goal: Goal) -> dict[str, list[str]]:
    """Return names of `settings.first` -> their formulas that fit (see `first_formulas`)."""
    by_default = settings.first == EvolutionSettings.of(settings.preset).first
    metrics = metrics_of(settings, game)
    found: dict[str, list[str]] = {}
    for name in settings.first:
        found[name] = check_first(settings, metrics, _candidates(name, metrics, game, goal))
        if not found[name] and not by_default:
            why, hint = _why(name, settings, game)
            label = _LABELS.get(name, "a formula")
            raise SettingsError(
                f"{label} does not fit into the first population",
                found=f"{name}: {why}",
                expected="one within the evolution's settings",
                hint=hint,
            )
    return found


def _candidates(name: str, metrics: Sequence[str], game: Game, goal: Goal) -> list[str]:
    """Return the formulas that a name stands for, whether they fit or not."""
    from persona_evo.store import policy_library

    if name == "ucb1":
        return [UCB1_FORMULA]
    if name == "library":
        return [p.formula for p in policy_library.available(game.name) if p.kind == "formula"]
    if name == "utility":
        made = of_persona(goal, metrics, game)
        return [*made, *of_rollouts(metrics, game)] if made else []
    return [name]


def _why(name: str, settings: EvolutionSettings, game: Game) -> tuple[str, str]:
    """Return what keeps a policy out of the first population, and what would let it in."""
    if name in ("library", "utility"):
        return (
            "the settings cannot express any of it" if name == "utility" else "it has no policy that fits",
            "--seed-policies none starts from random formulas alone",
        )
    if genome.is_lists(name):
        return "these are open lists, and a formula is evolved", "--search anytime evolves lists"
    formula = parse(UCB1_FORMULA if name == "ucb1" else name)
    known = set(leaves(settings, metrics_of(settings, game)))
    lacking = sorted(formula.symbols - known)
    functions = sorted({t for t in formula.tokens if isinstance(t, str) and t in PRIMITIVES} - set(BASIC))
    metrics = [symbol for symbol in lacking if symbol in game.symbols]
    of_search = [symbol for symbol in lacking if symbol in EXTENDED_VARIABLES and symbol not in metrics]
    of_plan = [symbol for symbol in lacking if symbol in plan_variables(game)]
    others = [symbol for symbol in lacking if symbol not in {*metrics, *of_search, *of_plan}]
    enough = "planner" if not any(symbol.endswith(PARENT) for symbol in of_plan) else "parent"
    found = [
        (metrics, f"it has {enumerated(metrics)}, which the settings leave out", _of_metrics(metrics, settings, game)),
        (
            of_search,
            f"it has {enumerated(of_search)}, which variables={settings.variables} does not have",
            "--set variables=extended",
        ),
        (
            of_plan,
            f"it has {enumerated(of_plan)}, which variables={settings.variables} does not have",
            f"--set variables={enough}",
        ),
        (others, f"the game has no {enumerated(others)}", _meant(others[0], game) if others else ""),
        (functions and settings.functions == "basic", f"it has {enumerated(functions)}", "--set functions=extended"),
        (formula.depth > settings.depth_limit, f"its depth is {formula.depth}", f"--set depth_limit={formula.depth}"),
        (formula.size > settings.size_limit, f"it has {formula.size} nodes", f"--set size_limit={formula.size}"),
    ]
    return ", ".join(why for holds, why, _ in found if holds), " ".join(way for holds, _, way in found if holds)


def _meant(symbol: str, game: Game) -> str:
    """Return what an unknown symbol may stand for."""
    expected, hint = unknown(symbol, game.symbols)
    return hint if hint.startswith("did you mean") else f"use {expected}"


def _of_metrics(symbols: Sequence[str], settings: EvolutionSettings, game: Game) -> str:
    """Return the change of settings that makes these metrics available to formulas."""
    costly = replace(settings, metrics=(), costly=True)
    if set(symbols) <= set(metrics_of(costly, game)) and not settings.metrics:
        return "--set costly=true"
    return f"--set metrics={','.join((*metrics_of(settings, game), *symbols))}"
