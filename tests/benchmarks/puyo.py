"""Puyo-Puyo on one core: random drops, and moves by exhaustive search, compared with the figures of public programs."""

from __future__ import annotations

from persona_evo.formula import parse
from persona_evo.games import mapsets, registry
from persona_evo.search.lookahead import Lookahead
from persona_evo.seeds import stream

from .report import Row, judge
from .timing import best_times
from .turns import playouts

PUBLIC = 7.5e6
"""Random drops/s of the fastest public C++ core that was measured (puyoai, 6.4 to 7.5 M on a core like this one)."""
TREE_SEARCH = 0.212
"""Seconds per move of the C tree search of gym_puyopuyo at depth 3."""
GOAL = 0.010
LEAVES = 22**3


def random_drops(drops: int, seed: int) -> int:
    """Play random games from an empty field with all their steps; return a checksum."""
    game = registry.get("puyo")
    (level,) = mapsets.resolve(game, ["position01"])
    return playouts(game, level, drops, 150, stream(seed))


def exhaustive(moves: int) -> int:
    """Play moves by exhaustive search to depth 3 from an empty field; return the number of leaves of the first."""
    game = registry.get("puyo")
    (level,) = mapsets.resolve(game, ["position01"])
    player = Lookahead(game, level, parse("SC", game.symbols), 3, "dfs", ties="first")
    state, rng, leaves = level.start.copy(), stream(1), 0
    for _ in range(moves):
        look = player.think(state)
        leaves = leaves or look.steps - 22 - 22**2
        game.rules().step(level.tables, state, look.action, rng)
    return leaves


def measure(quick: bool) -> list[Row]:
    """Measure both figures."""
    drops, moves, repeats = (20_000, 3, 2) if quick else (500_000, 20, 8)
    assert exhaustive(1) == LEAVES
    best = best_times({"drops": lambda: random_drops(drops, 1), "moves": lambda: exhaustive(moves)}, repeats)
    rate, each = drops / best["drops"], best["moves"] / moves
    return [
        judge(
            "Puyo-Puyo, random drops/s, one core, 4 colours",
            "at least a third of the fastest public C++ core",
            f"{rate / 1e6:.2f} M/s, public {PUBLIC / 1e6:.1f} M/s",
            rate / PUBLIC,
            1 / 3,
        ),
        judge(
            f"Puyo-Puyo, exhaustive search to depth 3, {LEAVES:,} leaves a move",
            "under 10 ms",
            f"{each * 1e3:.2f} ms, public C tree search {TREE_SEARCH * 1e3:.0f} ms",
            GOAL / each,
        ),
    ]
