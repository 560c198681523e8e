"""The shipped policies on levels that no policy was evolved on, compared with the best plans that the solver knows."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from persona_evo.jobs.workers import cores
from persona_evo.playtest.bounds import bounds
from persona_evo.playtest.players import Player
from persona_evo.search.settings import SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policy_library

from .levels import game, maps, unseen
from .study import Row, Table, Tell, personas, played

ITERATIONS = 60_000


def measure(trials: int, seconds: float = 10.0, iterations: int = ITERATIONS, tell: Tell | None = None) -> list[Row]:
    """Return a row for all levels and one for each level, for each persona with its shipped policy and with UCB1.

    Args:
        seconds: seconds of the solver for each level and persona.
    """
    table, kept = Table(tell), list(personas().values())
    for where, levels in (("maps of the paper", maps()), ("unseen levels", unseen())):
        limits = bounds(game(), levels, kept, seconds=seconds, jobs=cores())
        players = []
        for p in kept:
            shipped = policy_library.find(p.name, "minidungeons2").tree_policy(game())
            players += [Player(p, tree, f"{p.name} {tree.name}") for tree in (shipped, TreePolicy.ucb1())]
        rules = SearchSettings.anytime()
        rows = played("holding", where, "all", players, levels, trials, iterations, rules, each=True)
        for row in rows:
            names = [v.name for v in levels] if row.value == "all" else [row.value]
            table.add([replace(row, best_known=fmean(limits[name, row.persona].utility for name in names))])
    return table.rows
