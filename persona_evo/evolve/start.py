"""What the first population is given beside random formulas."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from persona_evo.errors import SettingsError
from persona_evo.evolve.genetics import OUTCOMES, metrics_of
from persona_evo.evolve.islands import check_first
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.formula.rewrite import canonical
from persona_evo.games.core import Game
from persona_evo.search.duel import League
from persona_evo.search.tree_policy import UCB1_FORMULA
from persona_evo.words import counted


def usual(game: Game, league: League | None = None) -> dict[str, Any]:
    """Settings that suit a kind of game, or play move by move, better than the presets' do.

    Where what comes next is not known (an opponent, chance, what lies beyond the horizon of one move's search) a score
    that never changes follows a single line of play; so the search's own variables are among a formula's there.
    """
    return {"variables": "extended"} if game.players > 1 or league is not None else {}


def of_persona(utility: Formula, priority: str, metrics: Sequence[str], game: Game) -> list[str]:
    """Formulas made of what a persona wants: its utility and its core priority, each as it is and less a way.

    The way is each of the game's ways to targets, as long as there is anything to go to, and the shortest of them; and
    the way to a win. What tells how a game ended counts as 0 (a tree policy never chooses among the ended). The core
    priority alone, without what else the utility pays for, is what a search is best led by where the rest comes by
    itself, such as being near the exit in the end.
    """
    text = canonical(Formula(tuple(0.0 if t in OUTCOMES else t for t in utility.tokens))).text
    clock = "".join(f" - 0.001 * {m.symbol}" for m in game.metrics if m.clock and m.symbol in metrics)
    home = parse(game.homing).text if game.homing and parse(game.homing).symbols <= set(metrics) else ""
    near = [symbol for symbol in game.targets if symbol in metrics]
    found = [*_with_ways(text, near, home, clock), *([f"{home}{clock}"] if home else [])]
    after = [m for m in game.metrics if m.symbol == priority and m.symbol in metrics]
    if after and text != priority:
        found += _with_ways(f"-{priority}" if after[0].better == "lower" else priority, near, home, clock)
    return found


def _with_ways(text: str, near: Sequence[str], home: str, clock: str) -> list[str]:
    found = [text, text + clock] + [f"{text} - {c} * {m}{clock}" for m in near for c in (0.1, 0.3)]
    if home:
        found.append(f"{text} + 0.1 * ({home}){clock}")
    if len(near) > 1:
        ways = [f"if({m}, {m}, 1)" for m in near]
        shortest = functools.reduce(lambda a, b: f"min({a}, {b})", ways)
        found += [f"{text} - {c} * {shortest}{clock}" for c in (0.05, 0.2)]
        if home:
            found.append(f"{text} - 0.1 * {shortest} + 0.02 * ({home}){clock}")
    return found


def start_in_words(
    first: Sequence[str], game: Game, utility: Formula, priority: str, settings: EvolutionSettings
) -> str:
    """What the first population is made of: UCB1, formulas made of the utility, policies, texts; the rest is random.

    Where there are more formulas than individuals, the first ones join, and it is said what has no room.
    """
    parts: dict[str, list[int]] = {}
    known: set[str] = set()
    for name in first:
        new = set(first_formulas(replace(settings, first=(name,)), game, utility, priority)) - known
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


_SOURCES = {
    "ucb1": "UCB1",
    "utility": "made of what the persona wants",
    "library": "of the policies that ship or are installed",
}
"""Names of `EvolutionSettings.first` -> where these formulas are from; all others are formulas themselves."""


def _share(what: str, joined: int, all_there_are: int) -> str:
    """So many formulas of one source, or what joined of them."""
    if not joined:
        return ""
    if what == "UCB1":
        return what
    some = f"{joined} of {all_there_are}" if joined < all_there_are else str(joined)
    return f"{counted(joined, 'formula')} given" if what == "given" else f"{some} {what}"


def first_formulas(
    settings: EvolutionSettings, game: Game, utility: Formula | None = None, priority: str = ""
) -> list[str]:
    """The formulas that join the first population: what `settings.first` names.

    "ucb1", "library" and "utility" give what the settings' symbols can express, which may be nothing.

    Raises:
        SettingsError: a formula given as such does not fit.
        FormulaError: it is no formula.
    """
    from persona_evo.store import policies

    found: list[str] = []
    metrics = metrics_of(settings, game)
    for name in settings.first:
        if name == "ucb1":
            found += check_first(settings, metrics, [UCB1_FORMULA])
        elif name == "library":
            library = [p.formula for p in policies.available(game.name) if p.kind == "formula"]
            found += check_first(settings, metrics, library)
        elif name == "utility":
            wanted = of_persona(utility, priority, metrics, game) if utility else []
            found += check_first(settings, metrics, wanted)
        elif check_first(settings, metrics, [name]):
            found.append(name)
        else:
            raise SettingsError(
                "a formula does not fit into the first population", found=name,
                expected="one within the settings' functions, variables, depth and size",
                hint="settings `functions` and `variables` have a choice 'extended'",
            )  # fmt: skip
    return list(dict.fromkeys(found))
