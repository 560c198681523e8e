"""The playthroughs that support each claim about the reproduction.

Everything here is played with the preset `paper` of the search (the first selected node that wins ends it, finished
nodes are selected again) unless the row says otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from persona_evo.formula import parse
from persona_evo.games.core import Level
from persona_evo.personas import Persona
from persona_evo.playtest.players import Player
from persona_evo.search.settings import SearchSettings
from persona_evo.store import policy_library

from .levels import game, maps
from .study import Row, Table, Tell, personas, played

LOOPS = (1_000, 3_000, 10_000, 30_000, 100_000)
"""Iterations of a playthrough."""

USUAL = 10_000


def _players(kinds: Sequence[str], kept: Sequence[Persona]) -> list[Player]:
    """Return the players of each persona with these kinds of policies: ucb1, or a prefix such as paper or printed."""
    found = []
    for persona in kept:
        for kind in kinds:
            name = kind if kind == "ucb1" else f"{kind}_{persona.name}"
            policy = policy_library.find(name, "minidungeons2").tree_policy(game())
            found.append(Player(persona, policy, f"{persona.name} {kind}"))
    return found


def ungraded(persona: Persona) -> Persona:
    """Return the persona with a utility in which the distance to the exit counts only at the exit."""
    text = str(persona.utility).replace("PE", "if(PE >= 1, 1, 0)")
    return replace(persona, utility=parse(text, game().symbols))


def _under_paper_rules(levels: Sequence[Level]) -> list[Level]:
    return [game().load(v.text, v.name, v.source, rules="paper") for v in levels]


def measure(trials: int, loops: Sequence[int] = LOOPS, tell: Tell | None = None, usual: int = USUAL) -> list[Row]:
    """Return all rows.

    Args:
        usual: default number of iterations.
    """
    kept = list(personas().values())
    players = _players(("ucb1", "paper"), kept)
    paper, levels = SearchSettings.paper(), maps()
    table = Table(tell)

    def play(
        what: str,
        value: str,
        players: Sequence[Player],
        n: int = usual,
        rules: SearchSettings = paper,
        levels: Sequence[Level] = levels,
    ) -> list[Row]:
        return played("claims", what, value, players, levels, trials, n, rules)

    base = table.add(play("as published", f"{usual} iterations", players))
    for n in loops:
        if n != usual:
            table.add(play("loop count", str(n), players, n), base)
    table.add(play("stop rule", "end of the budget", players, rules=replace(paper, stop="budget")), base)
    table.add(play("R", "the mean alone, as in the text", players, rules=replace(paper, value="mean")), base)
    table.add(play("formulas", "as printed", _players(("printed",), kept)))
    flat = _players(("ucb1", "paper"), [ungraded(p) for p in kept])
    for n in sorted({usual, max(loops)}):
        against = [row for row in table.rows if row.iterations == n and row.what in ("as published", "loop count")]
        table.add(play("PE", "1 at the exit, else 0", flat, n), against)
    table.add(play("rules", "as the text has them", players, levels=_under_paper_rules(levels)), base)
    return table.rows
