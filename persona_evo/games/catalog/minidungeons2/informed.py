"""Rules whose rollouts walk toward objects instead of at random.

A rollout picks one of the remaining targets (monsters other than minitaurs, potions, treasures, the exit), each with
the same probability, and goes there by the shortest way; then it picks another. On average, every fourth move is a
random legal one. Nothing else differs: the tree tries all moves.
"""

from __future__ import annotations

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import FloatTable, IntRow
from persona_evo.games.catalog.minidungeons2.rules import (
    ALL_METRICS,
    RULES,
    is_there,
    legal,
    measure,
    measure_all,
    over,
    step,
    way_between,
)
from persona_evo.games.catalog.minidungeons2.tables import (
    BOARD_AT,
    EXIT,
    HEADER,
    HEIGHT,
    HERO_AT,
    MINITAUR,
    MONSTERS,
    NOWHERE,
    POTIONS,
    THINGS_AT,
    TILES,
    TREASURES,
    WIDTH,
    WORDS,
    offset,
)
from persona_evo.games.core import RUNNING, Rules
from persona_evo.games.rollouts import rollout_by
from persona_evo.games.rows import Row, word
from persona_evo.seeds import below

ANY = 4
"""On average, one move in this many is any legal move."""

_legal, _step, _over, _measure = (f.plain for f in (legal, step, over, measure))


@compiled
def pick(t: Row, s: Row, rng: IntRow) -> int:
    """Return the tile of a remaining object, each with the same probability."""
    monsters, places = word(t, MONSTERS), THINGS_AT + word(t, WORDS)
    kinds = HEADER + 10 * word(t, TILES)
    things = word(t, POTIONS) + word(t, TREASURES)
    board = offset(t, BOARD_AT) + word(t, WIDTH) * word(t, HEIGHT)
    found, left = word(t, EXIT), 1
    for i in range(monsters):
        if word(t, kinds + i) != MINITAUR and word(s, places + monsters + i) > 0:
            left += 1
            if below(rng, left) == 0:
                found = word(s, places + i)
    for k in range(things):
        if is_there(s, k):
            left += 1
            if below(rng, left) == 0:
                found = word(t, board + k)
    return found


@compiled
def toward(t: Row, s: Row, target: int) -> int:
    """Return the direction of the hero's shortest way to a tile; -1 if no step leads anywhere."""
    best, nearest = -1, NOWHERE + 1
    for d in range(4):
        tile = word(t, HEADER + 2 * word(t, TILES) + 4 * word(s, HERO_AT) + d)
        if tile != NOWHERE and way_between(t, tile, target) < nearest:
            best, nearest = d, way_between(t, tile, target)
    return best


@compiled
def walk(
    t: Row,
    s: Row,
    actions: IntRow,
    played: IntRow,
    length: int,
    rng: IntRow,
    seen: FloatTable,
    every: int,
) -> int:
    """Play moves in place as `play_out` does, but toward one object after another."""
    made, target = 0, NOWHERE
    while made < length and _over(t, s) == RUNNING:
        if target == NOWHERE or word(s, HERO_AT) == target:
            target = pick(t, s, rng)
        action = -1 if below(rng, ANY) == 0 else toward(t, s, target)
        if action < 0:
            count = _legal(t, s, actions)
            if count <= 0:
                break
            action = actions[below(rng, count)]
        _step(t, s, action, rng)
        played[made] = action
        if every:
            _measure(t, s, 0, seen[made])
        made += 1
    return made


rollout = rollout_by(walk, "rollout", measure)
rollout_all = rollout_by(walk, "rollout_all", measure_all)


def informed(costly: bool = False) -> Rules:
    """Return the rules of the variant."""
    return ALL_METRICS._replace(rollout=rollout_all) if costly else RULES._replace(rollout=rollout)
