"""Whether a level can be won at all: a plan that wins it, or a proof that none does.

Small levels are explored, state by state, which proves it for plans of any length. Of larger ones the planner looks for
the utility WON, whose proof is for plans within the horizon. All limits are numbers of states and iterations, so the
answer is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from persona_evo.formula import parse
from persona_evo.games.core import ENDED, WON, Game, Level
from persona_evo.games.exploration import Exploration, explore
from persona_evo.seeds import stream

STATES = 10_000
"""States that are explored at most."""

ITERATIONS = 20_000
"""Iterations of the planner at most."""

GOAL = "WON"
"""Symbol of the metric that is 1 where a game is won."""


@dataclass(frozen=True)
class Outlook:
    """What is known of whether a level can be won.

    Attributes:
        possible: True with a plan, False with a proof, None where neither was found.
        actions: names of the moves of a plan that wins.
        iterations: that it took to find it: of the planner, or states explored.
        horizon: moves within which the proof holds; 0 for any number of moves.
        states: how many different states there are from the start on, where they were all explored; 0 otherwise.
        longest: moves after which every line of play is over; 0 where that is not known, or where one never ends.
        deadly: no line of play ends but lost.
        ended: a line of play ends neither won nor lost.
        metrics: at the end of the plan, by symbol.
    """

    possible: bool | None = None
    actions: tuple[str, ...] = ()
    iterations: int = 0
    horizon: int = 0
    states: int = 0
    longest: int = 0
    deadly: bool = False
    ended: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)


def outlook(game: Game, level: Level, *, iterations: int = ITERATIONS, states: int = STATES) -> Outlook:
    """Look for a plan that wins, or for a proof that none does.

    Args:
        game: a deterministic single-player game that runs here.
        iterations: of the planner at most; only a game with the metric WON is planned.
        states: that are explored at most.
    """
    found = explore(game, level, states)
    if found.has(WON):
        goal = found.status.index(WON)
        return _won(game, level, _way_to(game, level, found, goal), goal + 1)
    if found.exhausted:
        return Outlook(
            False, states=len(found.states), longest=found.longest, deadly=found.all_die, ended=found.has(ENDED)
        )
    if GOAL not in game.symbols:
        return Outlook()
    from persona_evo.search.bounds import solve

    solution = solve(game, level, parse(GOAL, game.symbols), iterations=iterations)
    if solution.outcome == WON:
        return _won(game, level, solution.actions, solution.states)
    proven = solution.proven and solution.utility <= 0
    return Outlook(False if proven else None, iterations=solution.states, horizon=game.horizon_of(level))


def _won(game: Game, level: Level, actions: tuple[int, ...], iterations: int) -> Outlook:
    states = game.replay(level, actions)
    names = tuple(game.action_name(level, s, a) for s, a in zip(states, actions, strict=False))
    return Outlook(True, names, iterations, metrics=game.measure(level, states[-1]))


def _way_to(game: Game, level: Level, found: Exploration, goal: int) -> tuple[int, ...]:
    """The moves of a shortest way from the start to a state."""
    before: dict[int, int] = {}
    for i, following in enumerate(found.after):
        for to in following:
            before.setdefault(to, i)
    way = [goal]
    while way[-1]:
        way.append(before[way[-1]])
    return tuple(_move(game, level, found, i, to) for i, to in pairwise(reversed(way)))


def _move(game: Game, level: Level, found: Exploration, before: int, after: int) -> int:
    """The move that leads from one explored state to another."""
    rules, rng = game.rules(), stream(0)
    wanted = rules.key(level.tables, found.states[after])
    for action in game.legal(level, found.states[before]):
        state = found.states[before].copy()
        rules.step(level.tables, state, action, rng)
        if rules.key(level.tables, state) == wanted:
            return action
    raise AssertionError("one move must lead from each explored state to the next")
