"""Determines whether a level can be won at all, with a winning plan or a proof that there is none.

Small levels are explored state by state, which proves the answer for plans of any length. In larger levels the planner
maximises the utility WON, whose proof covers plans within the horizon. All limits are numbers of states and iterations,
so the answer is the same on every machine.
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
"""The largest number of states that are explored."""

ITERATIONS = 20_000
"""The largest number of iterations of the planner."""

GOAL = "WON"
"""The symbol of the metric that is 1 if the game is won."""


@dataclass(frozen=True)
class Outlook:
    """Holds what is known about whether a level can be won.

    Attributes:
        possible: True with a plan, False with a proof, None if neither was found.
        actions: the names of the moves of a winning plan.
        iterations: the number of iterations of the planner, or of states explored, until the plan was found.
        horizon: the number of moves within which the proof holds; 0 for any number.
        states: the number of different states that can be reached, if all were explored; otherwise 0.
        longest: the number of moves after which every line of play is over; 0 if that is unknown or some line never
            ends.
        deadly: whether every line of play that ends is lost.
        ended: whether some line of play ends neither won nor lost.
        metrics: the metrics at the end of the plan, by symbol.
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
    """Look for a winning plan, or for a proof that there is none.

    Args:
        game: a deterministic single-player game that runs in this process.
        level: the level.
        iterations: the largest number of iterations of the planner, which is used only if the game has the metric WON.
        states: the largest number of states that are explored.
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
    """Return the moves of a shortest path from the start to a state."""
    before: dict[int, int] = {}
    for i, following in enumerate(found.after):
        for to in following:
            before.setdefault(to, i)
    way = [goal]
    while way[-1]:
        way.append(before[way[-1]])
    return tuple(_move(game, level, found, i, to) for i, to in pairwise(reversed(way)))


def _move(game: Game, level: Level, found: Exploration, before: int, after: int) -> int:
    """Return the move that leads from one explored state to another."""
    rules, rng = game.rules(), stream(0)
    wanted = rules.key(level.tables, found.states[after])
    for action in game.legal(level, found.states[before]):
        state = found.states[before].copy()
        rules.step(level.tables, state, action, rng)
        if rules.key(level.tables, state) == wanted:
            return action
    raise AssertionError("one move must lead from each explored state to the next")
