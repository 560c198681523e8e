"""The rules of MiniDungeons 2 as pure functions over a state row (see `tables` for both rows' layout).

Actions: 0 north, 1 east, 2 south, 3 west, THROW + tile a javelin throw at that tile, LOST a turn without effect.
Every action is accepted; what cannot be done is a lost turn.
"""

from __future__ import annotations


import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.minidungeons2.tables import (
    BLOB,
    BOARD_AT,
    DOOR,
    DRUNK_AT,
    EXIT,
    FARTHEST,
    FLAGS_AT,
    GOBLINS_AVOID,
    HEADER,
    HEIGHT,
    HERO_AT,
    HP_AT,
    HP_BIAS,
    HP_CAP,
    HURT_AT,
    JAVELIN_AT,
    KNOCKED_AT,
    MINITAUR,
    MONSTERS,
    MORTALS,
    MOVES_AT,
    NOTHING,
    NOWHERE,
    NO_STEP,
    NPC_AFTER_END,
    OBJECT_WINS_TIE,
    OGRE,
    OPENED_AT,
    PAIRED,
    PORTAL,
    PORTALS_AT,
    PORTAL_A,
    PORTAL_B,
    POTION,
    POTIONS,
    SEEN,
    SEES,
    SLAIN_AT,
    STEPS_AT,
    THINGS_AT,
    THROWN_AT,
    TILES,
    TRAP,
    TRAPS_AT,
    TREASURE,
    TREASURES,
    WIDTH,
    WIZARD,
    WIZARD_RANGE,
    WORDS,
    offset,
    pair,
    pair_in,
    pair_row,
)
from persona_evo.games.core import LOST, RUNNING, WON, Rules, rule
from persona_evo.games.rollouts import rollout_of
from persona_evo.games.rows import Row, put, word

THROW = 4
LOST_TURN = -1
HAS_WON, IS_DEAD = 1, 2
KNOCKED_OUT_TURNS = 3
MAX_BLOB = 3


@compiled
def hurt_hero(s: Row, damage: int) -> None:
    """Take hit points from the hero, who may fall below zero; hit points that he did not have do not count as lost."""
    put(s, HURT_AT, word(s, HURT_AT) + min(damage, max(0, word(s, HP_AT) - HP_BIAS)))
    put(s, HP_AT, word(s, HP_AT) - damage)
    if word(s, HP_AT) <= HP_BIAS:
        put(s, FLAGS_AT, word(s, FLAGS_AT) | IS_DEAD)


@compiled
def hurt_monster(t: Row, s: Row, m: int, hp: int, damage: int) -> None:
    """Deal damage to monster m, whose hit points are at word(s, hp); any damage knocks a minitaur out."""
    if word(t, HEADER + 10 * word(t, TILES) + m) == MINITAUR:
        if word(s, hp) == 0:
            put(s, hp, KNOCKED_OUT_TURNS)
            put(s, KNOCKED_AT, word(s, KNOCKED_AT) + 1)
    elif word(s, hp) > 0:
        if word(s, hp) <= damage:
            put(s, hp, 0)
            put(s, SLAIN_AT, word(s, SLAIN_AT) + 1)
        else:
            put(s, hp, word(s, hp) - damage)


@compiled
def strength(kind: int, hp: int) -> int:
    """Return the hit points that a monster's touch costs."""
    if kind == BLOB:
        return hp
    if kind == OGRE:
        return 2
    if kind == WIZARD:
        return 0
    return 1


@compiled
def blocks(kind: int, hp: int) -> int:
    """Return whether a monster blocks its tile: it is alive, or a minitaur that is awake."""
    if kind == MINITAUR:
        return 1 if hp == 0 else 0
    return 1 if hp > 0 else 0


@compiled
def is_there(s: Row, k: int) -> int:
    """Return whether potion or treasure k is still there."""
    return (word(s, THINGS_AT + (k >> 4)) >> (k & 15)) & 1


@compiled
def take(s: Row, k: int) -> None:
    """Remove potion or treasure k."""
    put(s, THINGS_AT + (k >> 4), word(s, THINGS_AT + (k >> 4)) & ~(1 << (k & 15)))


@compiled
def hero_meets_thing(t: Row, s: Row, tile: int) -> int:
    """Let a living hero take, spring or enter what lies on a tile; return 1 if it sends him to the other portal."""
    if word(s, FLAGS_AT) & IS_DEAD:
        return 0
    thing = word(t, HEADER + 7 * word(t, TILES) + tile)
    kind = thing & 7
    if kind == POTION:
        if is_there(s, thing >> 3):
            take(s, thing >> 3)
            put(s, DRUNK_AT, word(s, DRUNK_AT) + 1)
            if word(t, HP_CAP) == 0 or word(s, HP_AT) - HP_BIAS < word(t, HP_CAP):
                put(s, HP_AT, word(s, HP_AT) + 1)
    elif kind == TREASURE:
        if is_there(s, thing >> 3):
            take(s, thing >> 3)
            put(s, OPENED_AT, word(s, OPENED_AT) + 1)
    elif kind == TRAP:
        put(s, TRAPS_AT, word(s, TRAPS_AT) + 1)
        hurt_hero(s, 1)
    elif kind == DOOR:
        put(s, FLAGS_AT, word(s, FLAGS_AT) | HAS_WON)
    elif kind == PORTAL:
        put(s, PORTALS_AT, word(s, PORTALS_AT) + 1)
        return 1
    return 0


@compiled
def move_hero(t: Row, s: Row, direction: int) -> None:
    """Move the hero one tile: he meets everything on it in the list's order, then enters unless someone stands there.

    Once he is dead, he meets nothing more but still enters.
    """
    n = word(t, TILES)
    m = word(t, MONSTERS)
    hero = word(s, HERO_AT)
    to = word(t, HEADER + 2 * n + 4 * hero + direction)
    if to != NOWHERE:
        places = THINGS_AT + word(t, WORDS)
        kinds = HEADER + 10 * n
        meets = word(t, HEADER + 7 * n + to) != NOTHING
        after = word(t, HEADER + 8 * n + to)
        ported = 0
        stopped = 0
        for i in range(m):
            if word(s, places + i) != to:
                continue
            if meets and i >= after:
                meets = False
                ported = hero_meets_thing(t, s, to)
            hp = places + m + i
            kind = word(t, kinds + i)
            if blocks(kind, word(s, hp)):
                if word(s, FLAGS_AT) & IS_DEAD == 0:
                    hurt_monster(t, s, i, hp, 1)
                    hurt_hero(s, strength(kind, word(s, hp) if kind == BLOB else 1))
                stopped |= blocks(kind, word(s, hp))
        if meets:
            ported = hero_meets_thing(t, s, to)
        if ported:
            hero = word(t, PORTAL_A) if word(t, PORTAL_B) == to else word(t, PORTAL_B)
        elif stopped == 0:
            hero = to
        put(s, HERO_AT, hero)
    if word(s, JAVELIN_AT) == hero:
        put(s, JAVELIN_AT, NOWHERE)


@compiled
def throw(t: Row, s: Row, tile: int) -> None:
    """Throw the javelin at a tile with a monster in sight; anything else is a lost turn."""
    n = word(t, TILES)
    m = word(t, MONSTERS)
    if word(s, JAVELIN_AT) != NOWHERE or tile >= n or pair(t, word(s, HERO_AT), tile) & SEEN == 0:
        return
    places = THINGS_AT + word(t, WORDS)
    somebody = False
    for i in range(m):
        if word(s, places + i) == tile:
            somebody = True
            hp = places + m + i
            kind = word(t, HEADER + 10 * n + i)
            if kind == WIZARD or strength(kind, word(s, hp)) > 0:
                hurt_monster(t, s, i, hp, 1)
                break
    if somebody:
        put(s, JAVELIN_AT, tile)
        put(s, THROWN_AT, word(s, THROWN_AT) + 1)


@compiled
def monster_meets_monster(t: Row, s: Row, kind: int, me: int, i: int, hp: int) -> None:
    """Let monster `me` (hit points at word(s, me)) walk into monster i (hit points at word(s, hp)).

    A blob strikes back with the level that the blow has left it, which is -1 for one of level 1 that an ogre hit: the
    ogre gains a hit point.
    """
    n = word(t, TILES)
    m = word(t, MONSTERS)
    other = word(t, HEADER + 10 * n + i)
    if kind == WIZARD or not blocks(other, word(s, hp)) or (kind == MINITAUR and word(s, me) != 0):
        return
    if kind == BLOB and other == BLOB:
        if word(s, me) == 0:
            return
        put(s, me, min(MAX_BLOB, word(s, me) + word(s, hp)))
        put(s, hp, 0)
        put(s, SLAIN_AT, word(s, SLAIN_AT) + 1)
        return
    first = me - (THINGS_AT + word(t, WORDS) + m)
    blow = strength(kind, word(s, me))
    back = word(s, hp) - blow if other == BLOB else strength(other, 1)
    hurt_monster(t, s, i, hp, blow)
    if other != WIZARD:
        hurt_monster(t, s, first, me, back)


@compiled
def monster_meets_thing(t: Row, s: Row, kind: int, i: int, me: int, tile: int) -> None:
    """Let a monster take or spring what lies on a tile."""
    thing = word(t, HEADER + 7 * word(t, TILES) + tile)
    what = thing & 7
    if what == TRAP:
        if kind != WIZARD:
            hurt_monster(t, s, i, me, 1)
    elif what == POTION:
        if kind == BLOB and word(s, me) > 0 and is_there(s, thing >> 3):
            take(s, thing >> 3)
            put(s, me, min(MAX_BLOB, word(s, me) + 1))
    elif what == TREASURE:
        if kind == OGRE and is_there(s, thing >> 3):
            take(s, thing >> 3)


@compiled
def move_monster(t: Row, s: Row, kind: int, mover: int, to: int) -> None:
    """Move a monster one tile: it meets the hero, then all else in the list's order, then enters unless stopped."""
    n = word(t, TILES)
    m = word(t, MONSTERS)
    places = THINGS_AT + word(t, WORDS)
    me = places + m + mover
    stopped = 0
    if word(s, HERO_AT) == to and word(s, FLAGS_AT) & IS_DEAD == 0:
        if kind != WIZARD:
            hurt_hero(s, strength(kind, word(s, me)))
            hurt_monster(t, s, mover, me, 1)
        if word(s, FLAGS_AT) & IS_DEAD == 0:
            stopped = 1
    meets = word(t, HEADER + 7 * n + to) != NOTHING
    after = word(t, HEADER + 8 * n + to)
    for i in range(m):
        if word(s, places + i) != to or i == mover:
            continue
        if meets and i >= after:
            meets = False
            monster_meets_thing(t, s, kind, mover, me, to)
        hp = places + m + i
        monster_meets_monster(t, s, kind, me, i, hp)
        stopped |= blocks(word(t, HEADER + 10 * n + i), word(s, hp))
    if meets:
        monster_meets_thing(t, s, kind, mover, me, to)
    if stopped == 0:
        put(s, places + mover, to)


@compiled
def nearest_thing(t: Row, s: Row, here: int, first: int, count: int, limit: int) -> int:
    """Return the tile of the nearest remaining potion or treasure in sight that is nearer than `limit`, or NOWHERE."""
    targets = offset(t, BOARD_AT) + word(t, WIDTH) * word(t, HEIGHT)
    best = NOWHERE
    for k in range(first, first + count):
        if is_there(s, k):
            tile = word(t, targets + k)
            p = pair(t, tile, here)
            if p & SEES and p >> 6 < limit:
                limit = p >> 6
                best = tile
    return best


@compiled
def act(t: Row, s: Row, kind: int, i: int, p: int, here: int) -> None:
    """Carry out the turn of a monster that is known to be able to act; p is its pair with the hero."""
    n = word(t, TILES)
    target_step = p & 7
    if kind == WIZARD:
        if p >> 6 <= word(t, WIZARD_RANGE):
            hurt_hero(s, 1)
            return
    elif kind == BLOB or kind == OGRE:
        limit = 1 << 30
        if p & SEES:
            limit = (p >> 6) + word(t, OBJECT_WINS_TIE)
        first = 0
        count = word(t, POTIONS)
        if kind == OGRE:
            first = count
            count = word(t, TREASURES)
        tile = nearest_thing(t, s, here, first, count, limit)
        if tile != NOWHERE:
            target_step = pair(t, tile, here) & 7
        elif p & SEES == 0:
            return
    if target_step == NO_STEP:
        return
    to = word(t, HEADER + 2 * n + 4 * here + target_step)
    if word(t, GOBLINS_AVOID) and kind <= WIZARD:
        m = word(t, MONSTERS)
        places = THINGS_AT + word(t, WORDS)
        for j in range(m):
            alive = word(s, places + m + j) > 0
            if word(s, places + j) == to and j != i and word(t, HEADER + 10 * n + j) <= WIZARD and alive:
                return
    move_monster(t, s, kind, i, to)


@rule("step")
def step(t: Row, s: Row, action: int, rng: NDArray[np.int64]) -> int:
    """Carry out one turn: the hero acts, then every monster once in the order of its starting tile."""
    put(s, STEPS_AT, word(s, STEPS_AT) + 1)
    if action >= THROW:
        throw(t, s, action - THROW)
    elif action >= 0:
        move_hero(t, s, action)
    n = word(t, TILES)
    m = word(t, MONSTERS)
    places = THINGS_AT + word(t, WORDS)
    kinds = HEADER + 10 * n
    hero = word(s, HERO_AT)
    to_the_end = word(t, NPC_AFTER_END) != 0
    row = pair_row(t, hero)
    sight = HEADER + 9 * n
    for i in range(m):
        if word(s, FLAGS_AT) != 0 and not to_the_end:
            return 0
        kind = word(t, kinds + i)
        hp = places + m + i
        if kind == MINITAUR:
            if word(s, hp) != 0:
                put(s, hp, word(s, hp) - 1)
                continue
        elif word(s, hp) == 0:
            continue
        here = word(s, places + i)
        p = pair_in(t, row, hero, here)
        if p & SEES or kind == MINITAUR or (kind >= OGRE and word(t, sight + here) & (5 - kind)):
            act(t, s, kind, i, p, here)
    return 0


@rule("legal")
def legal(t: Row, s: Row, actions: NDArray[np.int64]) -> int:
    """Write throws at the tiles with monsters in sight, in the monsters' order, then the moves that lead somewhere."""
    n = word(t, TILES)
    hero = word(s, HERO_AT)
    count = 0
    if word(s, JAVELIN_AT) == NOWHERE:
        places = THINGS_AT + word(t, WORDS)
        row = pair_row(t, hero)
        for i in range(word(t, MONSTERS)):
            tile = word(s, places + i)
            if pair_in(t, row, hero, tile) & SEEN:
                new = True
                for k in range(count):
                    if actions[k] == THROW + tile:
                        new = False
                if new:
                    actions[count] = THROW + tile
                    count += 1
    for d in range(4):
        if word(t, HEADER + 2 * n + 4 * hero + d) != NOWHERE:
            actions[count] = d
            count += 1
    return count


@rule("over")
def over(t: Row, s: Row) -> int:
    """Return WON at the exit; a hero killed in the same turn has lost."""
    flags = word(s, FLAGS_AT)
    if flags & IS_DEAD:
        return LOST
    return WON if flags & HAS_WON else RUNNING


@rule("mover")
def mover(t: Row, s: Row) -> int:
    """Return 0, since there is only one player."""
    return 0


@compiled
def ratio(part: int, whole: int) -> float:
    """Return part / whole; 0 if there is nothing."""
    return part / whole if whole > 0 else 0.0


@compiled
def measure_cheap(t: Row, s: Row, out: NDArray[np.float64]) -> None:
    """Write the metrics up to WON, in the order of METRICS, and DT, the last one."""
    potions = word(t, POTIONS)
    treasures = word(t, TREASURES)
    mortals = word(t, MORTALS)
    drunk = word(s, DRUNK_AT)
    opened = word(s, OPENED_AT)
    slain = word(s, SLAIN_AT)
    way = word(t, HEADER + 6 * word(t, TILES) + word(s, HERO_AT))
    flags = word(s, FLAGS_AT)
    out[0] = word(s, STEPS_AT)
    if way == 0:
        out[1] = 1.0
    elif way == NOWHERE:
        out[1] = 0.0
    else:
        out[1] = 1.0 - way / word(t, FARTHEST)
    out[2] = ratio(drunk, potions)
    out[3] = ratio(opened, treasures)
    out[4] = ratio(slain, mortals)
    out[5] = max(0, word(s, HP_AT) - HP_BIAS) / 10.0
    out[6] = word(s, KNOCKED_AT)
    out[7] = word(s, THROWN_AT)
    out[8] = word(s, PORTALS_AT)
    out[9] = word(s, TRAPS_AT)
    out[10] = ratio(drunk + opened + slain, potions + treasures + mortals)
    out[11] = 1.0 if flags & IS_DEAD else 0.0
    out[12] = 1.0 if flags & IS_DEAD == 0 and flags & HAS_WON else 0.0
    out[17] = word(s, HURT_AT)


@compiled
def moves_between(t: Row, a: int, b: int) -> int:
    """Return the moves from tile a to tile b around walls; their Manhattan distance on levels without pairs."""
    if word(t, PAIRED):
        return word(t, offset(t, MOVES_AT) + a * word(t, TILES) + b)
    return pair(t, a, b) >> 6


@compiled
def way_between(t: Row, a: int, b: int) -> int:
    """Return the fewest moves of the hero from tile a to tile b, around walls or through the portals."""
    moves = moves_between(t, a, b)
    one = word(t, PORTAL_A)
    if one != NOWHERE:
        other = word(t, PORTAL_B)
        moves = min(moves, moves_between(t, a, one) + moves_between(t, other, b))
        moves = min(moves, moves_between(t, a, other) + moves_between(t, one, b))
    return moves


@compiled
def way_out(t: Row, hero: int) -> int:
    """Return the fewest moves of the hero to the exit; only an estimate on levels without a table of pairs."""
    way = way_between(t, hero, word(t, EXIT))
    if word(t, PAIRED) == 0 and word(t, PORTAL_A) == NOWHERE:
        return word(t, HEADER + 6 * word(t, TILES) + hero)
    return way


@compiled
def share_of_way(t: Row, moves: int) -> float:
    """Return moves in units of the longest way to the exit; 0 for "nothing there"."""
    return moves / max(1, word(t, FARTHEST)) if moves < NOWHERE else 0.0


@compiled
def nearest_of(t: Row, s: Row, first: int, count: int) -> int:
    """Return the moves from the hero to the nearest potion or treasure still there; NOWHERE without any."""
    hero = word(s, HERO_AT)
    targets = offset(t, BOARD_AT) + word(t, WIDTH) * word(t, HEIGHT)
    best = NOWHERE
    for k in range(first, first + count):
        if is_there(s, k):
            best = min(best, way_between(t, hero, word(t, targets + k)))
    return best


@rule("measure")
def measure(t: Row, s: Row, player: int, out: NDArray[np.float64]) -> int:
    """Write the metrics of a state; the distances, which cost as much as all others, are left at 0."""
    measure_cheap(t, s, out)
    out[13] = 0.0
    out[14] = 0.0
    out[15] = 0.0
    out[16] = 0.0
    return 0


@rule("measure")
def measure_all(t: Row, s: Row, player: int, out: NDArray[np.float64]) -> int:
    """Write every metric of a state."""
    measure_cheap(t, s, out)
    hero = word(s, HERO_AT)
    m = word(t, MONSTERS)
    places = THINGS_AT + word(t, WORDS)
    kinds = HEADER + 10 * word(t, TILES)
    best = NOWHERE
    for i in range(m):
        if word(t, kinds + i) != MINITAUR and word(s, places + m + i) > 0:
            best = min(best, way_between(t, hero, word(s, places + i)))
    potions = word(t, POTIONS)
    out[13] = share_of_way(t, best)
    out[14] = share_of_way(t, nearest_of(t, s, potions, word(t, TREASURES)))
    out[15] = share_of_way(t, nearest_of(t, s, 0, potions))
    out[16] = share_of_way(t, way_out(t, hero))
    return 0


@rule("key")
def key(t: Row, s: Row) -> int:
    """Return a word-wise FNV-1a hash of everything except the step count and the counters that no rule reads."""
    h = 0x1B873593
    for i in range(len(s)):
        if i != STEPS_AT and (i < KNOCKED_AT or i >= THINGS_AT):
            h = ((h ^ word(s, i)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
            h ^= h >> 29
    return h


rollout = rollout_of(legal, step, over, measure)
rollout_all = rollout_of(legal, step, over, measure_all)


RULES = Rules(legal, step, over, mover, measure, key, rollout)
ALL_METRICS = RULES._replace(measure=measure_all, rollout=rollout_all)
