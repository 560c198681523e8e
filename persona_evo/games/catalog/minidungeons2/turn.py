"""Carries out one turn of MiniDungeons 2 in the layout of `packed`; `swift` builds its rules from this module.

The functions do the same as those of the same names in `rules`. They are fast for two reasons. The monsters' tiles are
one vector, so one operation finds all monsters on a tile, or all that see the hero. And a turn only looks at monsters
that do something.

`tiles` is that vector. Until the turn is over, the vector in the state is that from the start of the monsters' turn.
"""

from __future__ import annotations

from typing import Any

from persona_evo.compiling import compiled
from persona_evo.games.catalog.minidungeons2.packed import (
    AFTER,
    DRUNK_AT,
    EATERS,
    FLAGS_AT,
    HERO_AT,
    HP_AT,
    HP_BIAS,
    JAVELIN_AT,
    KINDS,
    KNOCKED_AT,
    MINITAURS,
    NEXT,
    NONE,
    OPENED_AT,
    PLACES,
    PLANES_AT,
    PORTALS_AT,
    PORTAL_A,
    PORTAL_B,
    POTIONS,
    RANGE,
    ROW,
    SIGHT,
    STEP,
    STEPS_AT,
    THING,
    THINGS_AT,
    THROWN_AT,
    TILES_AT,
    TRAPS_AT,
    TREASURES,
    VIEW,
    WIDE,
    X,
    Y,
)
from persona_evo.games.catalog.minidungeons2.rules import (
    HAS_WON,
    IS_DEAD,
    KNOCKED_OUT_TURNS,
    MAX_BLOB,
    THROW,
    strength,
)
from persona_evo.games.catalog.minidungeons2.tables import (
    BLOB,
    DOOR,
    MINITAUR,
    NOTHING,
    OGRE,
    PORTAL,
    POTION,
    TRAP,
    TREASURE,
    WIZARD,
)
from persona_evo.games.rows import Row, put, word
from persona_evo.games.vectors import among, byte, equal, high, lane, lowest, put_byte, store, with_lane


@compiled
def half(row: Row, at: int) -> int:
    """Return the word at a byte offset."""
    return word(row, at >> 1)


@compiled
def count(s: Row, at: int) -> None:
    """Increase a counter by one."""
    put(s, at >> 1, half(s, at) + 1)


@compiled
def alive(s: Row) -> int:
    """Return the set of monsters with hit points; of minitaurs, those that are knocked out."""
    return half(s, PLANES_AT) | half(s, PLANES_AT + 2) | half(s, PLANES_AT + 4)


@compiled
def blockers(t: Row, s: Row) -> int:
    """Return the set of monsters that block their tile: those alive, and minitaurs that are awake."""
    return alive(s) ^ half(t, MINITAURS)


@compiled
def hit_points(s: Row, i: int) -> int:
    """Return the hit points of monster i."""
    low = (half(s, PLANES_AT) >> i) & 1
    middle = (half(s, PLANES_AT + 2) >> i) & 1
    return low | (middle << 1) | (((half(s, PLANES_AT + 4) >> i) & 1) << 2)


@compiled
def set_hit_points(s: Row, i: int, hp: int) -> None:
    """Set the hit points of monster i."""
    others = ~(1 << i)
    for k in range(3):
        put(s, (PLANES_AT >> 1) + k, (word(s, (PLANES_AT >> 1) + k) & others) | (((hp >> k) & 1) << i))


@compiled
def is_dead(s: Row) -> bool:
    """Return whether the hero is dead."""
    return byte(s, FLAGS_AT) & IS_DEAD != 0


@compiled
def hurt_hero(s: Row, damage: int) -> None:
    """Take hit points from the hero, who may fall below zero."""
    hp = byte(s, HP_AT) - damage
    put_byte(s, HP_AT, hp)
    if hp <= HP_BIAS:
        put_byte(s, FLAGS_AT, byte(s, FLAGS_AT) | IS_DEAD)


@compiled
def hurt_monster(t: Row, s: Row, i: int, damage: int) -> None:
    """Deal damage to monster i; any damage knocks a minitaur out."""
    hp = hit_points(s, i)
    if byte(t, KINDS + i) == MINITAUR:
        if hp == 0:
            set_hit_points(s, i, KNOCKED_OUT_TURNS)
            count(s, KNOCKED_AT)
    elif hp > 0:
        set_hit_points(s, i, max(0, hp - damage))


@compiled
def take(s: Row, thing: int) -> int:
    """Remove a potion or treasure; return whether it was there."""
    bit = 1 << (thing >> 3)
    there = half(s, THINGS_AT) & bit
    if there:
        put(s, THINGS_AT >> 1, half(s, THINGS_AT) ^ bit)
    return there


@compiled
def hero_meets_thing(s: Row, thing: int) -> int:
    """Let a living hero take, spring or enter what lies on a tile; return 1 if it sends him to the other portal."""
    if is_dead(s):
        return 0
    kind = thing & 7
    if kind == POTION:
        if take(s, thing):
            put_byte(s, DRUNK_AT, byte(s, DRUNK_AT) + 1)
            put_byte(s, HP_AT, byte(s, HP_AT) + 1)
    elif kind == TREASURE:
        if take(s, thing):
            put_byte(s, OPENED_AT, byte(s, OPENED_AT) + 1)
    elif kind == TRAP:
        count(s, TRAPS_AT)
        hurt_hero(s, 1)
    elif kind == DOOR:
        put_byte(s, FLAGS_AT, byte(s, FLAGS_AT) | HAS_WON)
    elif kind == PORTAL:
        count(s, PORTALS_AT)
        return 1
    return 0


@compiled
def hero_meets_monster(t: Row, s: Row, i: int) -> None:
    """Let a living hero walk into monster i, which keeps him off its tile."""
    if not is_dead(s):
        kind = byte(t, KINDS + i)
        hurt_monster(t, s, i, 1)
        hurt_hero(s, strength(kind, hit_points(s, i)))


@compiled
def enter(t: Row, s: Row, to: int, others: int, thing: int) -> int:
    """Return where the hero ends who walks onto a tile with monsters, an object, or both (see `rules.move_hero`)."""
    meets = thing != NOTHING
    after = byte(t, AFTER + to)
    ported = 0
    stopped = 0
    while others:
        i = lowest(others)
        others &= others - 1
        if meets and i >= after:
            meets = False
            ported = hero_meets_thing(s, thing)
        if (blockers(t, s) >> i) & 1:
            hero_meets_monster(t, s, i)
            stopped |= blockers(t, s) >> i
    if meets:
        ported = hero_meets_thing(s, thing)
    if ported:
        return half(t, PORTAL_A) if half(t, PORTAL_B) == to else half(t, PORTAL_B)
    return byte(s, HERO_AT) if stopped & 1 else to


@compiled
def move_hero(t: Row, s: Row, tiles: Any, direction: int) -> None:
    """Let the hero walk one tile, and pick up the javelin there."""
    hero = byte(s, HERO_AT)
    to = byte(t, NEXT + 4 * hero + direction)
    if to != NONE:
        others = equal(tiles, to)
        thing = byte(t, THING + to)
        hero = enter(t, s, to, others, thing) if others | thing else to
        put_byte(s, HERO_AT, hero)
    if byte(s, JAVELIN_AT) == hero:
        put_byte(s, JAVELIN_AT, NONE)


@compiled
def throw(t: Row, s: Row, tiles: Any, tile: int) -> None:
    """Throw the javelin at a tile with a monster in sight; anything else is a lost turn."""
    if byte(s, JAVELIN_AT) != NONE or tile >= NONE:
        return
    if (byte(t, SIGHT + 64 * byte(s, HERO_AT) + 32 + (tile >> 3)) >> (tile & 7)) & 1 == 0:
        return
    there = equal(tiles, tile)
    if there:
        put_byte(s, JAVELIN_AT, tile)
        count(s, THROWN_AT)
    while there:
        i = lowest(there)
        there &= there - 1
        kind = byte(t, KINDS + i)
        if kind == WIZARD or strength(kind, hit_points(s, i)) > 0:
            hurt_monster(t, s, i, 1)
            break


@compiled
def monster_meets_monster(t: Row, s: Row, kind: int, me: int, i: int) -> None:
    """Let monster `me` walk into monster i (see `rules.monster_meets_monster`)."""
    if kind == WIZARD or (blockers(t, s) >> i) & 1 == 0:
        return
    other = byte(t, KINDS + i)
    mine, its = hit_points(s, me), hit_points(s, i)
    if kind == MINITAUR and mine != 0:
        return
    if kind == BLOB and other == BLOB:
        if mine:
            set_hit_points(s, me, min(MAX_BLOB, mine + its))
            set_hit_points(s, i, 0)
        return
    blow = strength(kind, mine)
    hurt_monster(t, s, i, blow)
    if other != WIZARD:
        hurt_monster(t, s, me, its - blow if other == BLOB else strength(other, 1))


@compiled
def monster_meets_thing(t: Row, s: Row, kind: int, me: int, thing: int) -> None:
    """Let a monster take or spring what lies on a tile."""
    what = thing & 7
    if what == TRAP:
        if kind != WIZARD:
            hurt_monster(t, s, me, 1)
    elif what == POTION:
        hp = hit_points(s, me)
        if kind == BLOB and hp > 0 and take(s, thing):
            set_hit_points(s, me, min(MAX_BLOB, hp + 1))
    elif what == TREASURE:
        if kind == OGRE:
            take(s, thing)


@compiled
def move_monster(t: Row, s: Row, tiles: Any, kind: int, me: int, to: int, attacks: bool) -> Any:
    """Move a monster one tile: it meets the hero, then all else in the list's order, then enters unless stopped.

    Args:
        attacks: whether the hero is there.

    Returns:
        The tiles afterwards.
    """
    others = equal(tiles, to) & ~(1 << me)
    thing = byte(t, THING + to)
    if others | thing == 0 and not attacks:
        return with_lane(tiles, me, to)
    stopped = 0
    if attacks and not is_dead(s):
        if kind != WIZARD:
            hurt_hero(s, strength(kind, hit_points(s, me)))
            hurt_monster(t, s, me, 1)
        if not is_dead(s):
            stopped = 1
    meets = thing != NOTHING
    after = byte(t, AFTER + to)
    while others:
        i = lowest(others)
        others &= others - 1
        if meets and i >= after:
            meets = False
            monster_meets_thing(t, s, kind, me, thing)
        monster_meets_monster(t, s, kind, me, i)
        stopped |= blockers(t, s) >> i
    if meets:
        monster_meets_thing(t, s, kind, me, thing)
    return tiles if stopped & 1 else with_lane(tiles, me, to)


@compiled
def on_tiles(t: Row, tiles: Any, at: int) -> int:
    """Return the monsters on the tiles of a set."""
    found = among(tiles, t, at)
    if half(t, WIDE):
        beyond = high(tiles)
        found = (found & ~beyond) | (among(tiles, t, at + 16) & beyond)
    return found


@compiled
def distance(t: Row, a: int, b: int) -> int:
    """Return the Manhattan distance of two tiles."""
    return abs(byte(t, X + a) - byte(t, X + b)) + abs(byte(t, Y + a) - byte(t, Y + b))


@compiled
def nearest(t: Row, here: int, wanted: int, limit: int) -> int:
    """Return the tile of the nearest of these potions or treasures that is nearer than `limit`, or NONE."""
    best = NONE
    while wanted:
        tile = byte(t, PLACES + lowest(wanted))
        wanted &= wanted - 1
        far = distance(t, here, tile)
        if far < limit:
            limit = far
            best = tile
    return best


@compiled
def act(t: Row, s: Row, kind: int, i: int, sees: int, hero: int, ways: int) -> int:
    """Play monster i's turn until it walks; return the tile to walk to, or NONE.

    Args:
        sees: whether it sees the hero.
        hero: his tile.
        ways: the place of the first steps toward the hero, by tile.
    """
    here = byte(s, TILES_AT + i)
    if kind == WIZARD:
        if distance(t, here, hero) <= half(t, RANGE):
            hurt_hero(s, 1)
            return NONE
    elif (half(t, EATERS) >> i) & 1:
        wanted = word(t, (VIEW >> 1) + here) & half(s, THINGS_AT) & half(t, POTIONS if kind == BLOB else TREASURES)
        if wanted:
            tile = nearest(t, here, wanted, distance(t, here, hero) if sees else NONE << 1)
            if tile != NONE:
                return byte(t, STEP + half(t, ROW) * tile + here)
        elif sees == 0:
            return NONE
    return byte(t, ways + here)


@compiled
def monsters_act(t: Row, s: Row, tiles: Any) -> Any:
    """Carry out every monster's turn, in the order of their starting tiles; return the tiles afterwards."""
    store(s, TILES_AT, tiles)
    hero = byte(s, HERO_AT)
    ways = STEP + half(t, ROW) * hero
    sees = on_tiles(t, tiles, SIGHT + 64 * hero)
    left = ((sees | half(t, EATERS)) & alive(s)) | half(t, MINITAURS)
    while left:
        i = lowest(left)
        left &= left - 1
        kind = byte(t, KINDS + i)
        if (blockers(t, s) >> i) & 1 == 0:
            if kind == MINITAUR:
                set_hit_points(s, i, hit_points(s, i) - 1)
            continue
        to = act(t, s, kind, i, (sees >> i) & 1, hero, ways)
        if to != NONE:
            tiles = move_monster(t, s, tiles, kind, i, to, to == hero)
    return tiles


@compiled
def turn(t: Row, s: Row, tiles: Any, action: int) -> Any:
    """Carry out one turn, the hero first, then every monster once; return the tiles afterwards."""
    count(s, STEPS_AT)
    if action >= THROW:
        throw(t, s, tiles, action - THROW)
    elif action >= 0:
        move_hero(t, s, tiles, action)
    return monsters_act(t, s, tiles)


@compiled
def targets(t: Row, s: Row, tiles: Any) -> int:
    """Return the monsters that the javelin can be thrown at, only the first of those on one tile."""
    if byte(s, JAVELIN_AT) != NONE:
        return 0
    found = on_tiles(t, tiles, SIGHT + 64 * byte(s, HERO_AT) + 32)
    sharing = found & (~blockers(t, s) | half(t, MINITAURS))  # nobody else shares a tile
    while sharing:
        same = equal(tiles, lane(tiles, lowest(sharing))) & found
        sharing &= sharing - 1
        found = (found & ~same) | (same & -same)
    return found
