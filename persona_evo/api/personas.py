"""States that show what a persona's utility is worth: of random games, and the ends of short searches."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.api.playtests import plan
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level
from persona_evo.personas import Persona
from persona_evo.personas.template import SampleState
from persona_evo.search.samples import Sampled
from persona_evo.search.samples import random_states as random_states
from persona_evo.seeds import below, stream
from persona_evo.words import counted

ITERATIONS, GAMES = 3_000, 3
"""The iterations of the search in a level, and the number of random games."""


def telling(states: Sequence[Sampled], persona: Persona, players: int) -> list[SampleState]:
    """Return the states that show most of a utility: a start, the worst, median and best, a lost and a won end."""
    ranked = sorted(states, key=lambda s: persona.utility.evaluate(s.metrics))
    chosen = [
        ("start", states[0]),
        ("worst case", ranked[0]),
        ("median", ranked[len(ranked) // 2]),
        ("best case", ranked[-1]),
    ]
    for name, outcome in (("lost", LOST), ("won", WON)) if players == 1 else ():
        chosen += [(name, s) for s in states if s.outcome == outcome][:1]
    return [SampleState(f"{name}: {s.level}, move {s.move}", s.metrics) for name, s in chosen]


def endings(game: Game, level: Level, persona: Persona) -> list[SampleState]:
    """Return the start of a level, the end of a short search for a persona, and ends of random games."""
    found = [SampleState("at the start", game.measure(level, game.start(level)))]
    best = plan(level, persona, "utility" if game.planned else "ucb1", iterations=ITERATIONS)
    found.append(SampleState(f"best of a short search, {counted(len(best.actions), 'move')}", best.metrics))
    for trial in range(GAMES):
        state, rng, moves = game.start(level), stream(trial), 0
        while game.over(level, state) == RUNNING and moves < game.horizon and (legal := game.legal(level, state)):
            game.rules().step(level.tables, state, legal[int(below(rng, len(legal)))], rng)
            moves += 1
        ending = ("still running", "won", "lost", "ended")[game.over(level, state)]
        found.append(SampleState(f"random game, {ending} after {moves}", game.measure(level, state)))
    return found
