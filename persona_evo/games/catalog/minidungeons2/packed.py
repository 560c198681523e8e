"""Another layout of levels that are not too large, for the fast rules of `swift`: a state is 40 bytes.

Offsets count bytes. A state's row:

| from | length | what |
|---|---|---|
| TILES_AT | 16 | tile of each monster, NONE beyond the last |
| PLANES_AT | 3 x 2 | hit points: bit i of each is monster i's (a minitaur's: turns that it stays knocked out) |
| THINGS_AT | 2 | potions, then treasures still there |
| HERO_AT ... OPENED_AT | 6 x 1 | hero and javelin (NONE: in the hand), hit points (HP_BIAS added), its end, counts |
| STEPS_AT ... TRAPS_AT | 5 x 2 | counts |

Monsters slain and damage taken follow from these. A level's tables, of which a search reads some 20 KB:

| from | length | what |
|---|---|---|
| 0 | 64 | words named below: sets of monsters and things as bits, the portals, the length of a row of STEP |
| KINDS | 16 | kind of each monster |
| PLACES | 16 | tile of each potion, then of each treasure |
| SHARES | 4 x 264 | float64: PD, TO, MS, IC of so many things |
| HEALTH | 256 x 8 | float64: HL of so many hit points |
| EXITS | 256 x 8 | float64: PE of a hero on each tile |
| SIGHT | 256 x 64 | bits of the tiles from where a monster sees this one, then of those in the javelin's sight |
| NEXT | 256 x 4 | the tile to the north, east, south and west, NONE for walls |
| CHOICES | 256 x 4 | the directions that lead somewhere |
| WAYS | 256 | how many these are |
| THING, AFTER | 2 x 256 | as in `tables` |
| VIEW | 256 x 2 | things that a monster on this tile sees |
| X, Y | 2 x 256 | where each tile is |
| STEP | n x row | next tile on the way to a target, by the target, then by the tile; NONE without a way |
| FAR | n x row | the hero's moves from tile to tile, NONE without a way |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.catalog.minidungeons2 import tables as general
from persona_evo.games.catalog.minidungeons2.core import RULE_SETS
from persona_evo.games.core import Level
from persona_evo.games.rows import Row

NONE = 255
MOST_MONSTERS, MOST_THINGS, MOST_TILES, MOST_BLOBS = 16, 16, 254, 5
"""The limits of this layout. An ogre gains a hit point with each blob that it kills, and has room for 7."""

TILES_AT, PLANES_AT, THINGS_AT = 0, 16, 22
HERO_AT, JAVELIN_AT, HP_AT, FLAGS_AT, DRUNK_AT, OPENED_AT = range(24, 30)
STEPS_AT, KNOCKED_AT, THROWN_AT, PORTALS_AT, TRAPS_AT = range(30, 40, 2)
STATE_WORDS = 20
HP_BIAS = 128

COUNTED = {
    HERO_AT: general.HERO_AT,
    JAVELIN_AT: general.JAVELIN_AT,
    FLAGS_AT: general.FLAGS_AT,
    DRUNK_AT: general.DRUNK_AT,
    OPENED_AT: general.OPENED_AT,
    STEPS_AT: general.STEPS_AT,
    KNOCKED_AT: general.KNOCKED_AT,
    THROWN_AT: general.THROWN_AT,
    PORTALS_AT: general.PORTALS_AT,
    TRAPS_AT: general.TRAPS_AT,
}
"""The offsets, in each layout, of what both layouts keep."""

(MINITAURS, MORTALS, EATERS, POTIONS, TREASURES, PORTAL_A, PORTAL_B) = range(0, 14, 2)
(ROW, WIDE, RANGE, FARTHEST, EXIT, FAR) = range(14, 26, 2)
KINDS, PLACES, SHARES = 64, 80, 96
PD_SHARES, TO_SHARES, MS_SHARES, IC_SHARES = range(SHARES, SHARES + 4 * 264, 264)
HEALTH = SHARES + 4 * 264
EXITS = HEALTH + 256 * 8
SIGHT = EXITS + 256 * 8
NEXT = SIGHT + 256 * 64
CHOICES, WAYS = NEXT + 1024, NEXT + 2048
THING, AFTER, VIEW, X, Y, STEP = (WAYS + k * 256 for k in (1, 2, 3, 5, 6, 7))


def fits(level: Level) -> bool:
    """Return whether a level of the rule set "game" fits this layout."""
    t = level.tables
    kinds = monsters(t)
    return bool(
        len(kinds) <= MOST_MONSTERS
        and t[general.THINGS] <= MOST_THINGS
        and t[general.TILES] <= MOST_TILES
        and max(t[general.WIDTH], t[general.HEIGHT]) <= 256
        and (general.OGRE not in kinds or np.count_nonzero(kinds == general.BLOB) <= MOST_BLOBS)
        and all(t[at] == RULE_SETS["game"][name] for name, at in general.SWITCHES.items() if name != "wizard_range")
    )


def monsters(t: Row) -> NDArray[Any]:
    """Return the kinds of the monsters, from the general tables."""
    first = general.HEADER + 10 * int(t[general.TILES])
    return t[first : first + int(t[general.MONSTERS])]


def build(t: Row) -> Row:
    """Build the tables in this layout from the general ones of a level that `fits`."""
    n, m, kinds = int(t[general.TILES]), int(t[general.MONSTERS]), monsters(t)
    potions, treasures = int(t[general.POTIONS]), int(t[general.TREASURES])
    row = (n + 15) // 16 * 16
    bytes_ = np.zeros(STEP + 2 * n * row, dtype=np.uint8)
    words = bytes_.view(np.uint16)

    def column(k: int, width: int = 1) -> NDArray[Any]:
        at = general.HEADER + k * n
        return t[at : at + width * n]

    def square(at: int) -> NDArray[Any]:
        start = int(general.offset(t, at))
        return t[start : start + n * n].reshape(n, n)

    places = t[_targets(t) : _targets(t) + potions + treasures]
    pairs, steps = square(general.PAIR_AT), column(2, 4).reshape(n, 4)
    words[:13] = (
        _bits(kinds == general.MINITAUR),
        _bits(kinds != general.MINITAUR),
        _bits((kinds == general.OGRE) | (kinds == general.BLOB)),
        (1 << potions) - 1,
        ((1 << treasures) - 1) << potions,
        *np.minimum(t[[general.PORTAL_A, general.PORTAL_B]], NONE),
        row,
        n > 127,
        t[general.WIZARD_RANGE],
        t[general.FARTHEST],
        t[general.EXIT],
        n * row,
    )
    bytes_[KINDS : KINDS + m] = kinds
    bytes_[PLACES : PLACES + len(places)] = places
    for at, whole in (
        (PD_SHARES, potions),
        (TO_SHARES, treasures),
        (MS_SHARES, int(t[general.MORTALS])),
        (IC_SHARES, potions + treasures + int(t[general.MORTALS])),
    ):
        _floats(bytes_, at, np.arange(33) / whole if whole else np.zeros(33))
    _floats(bytes_, HEALTH, np.maximum(0, np.arange(256) - HP_BIAS) / 10.0)
    ways = column(6)
    with np.errstate(all="ignore"):
        exits = np.where(ways == 0, 1.0, 1.0 - ways / float(t[general.FARTHEST]))
    _floats(bytes_, EXITS, np.where(ways == general.NOWHERE, 0.0, exits))
    for k, flag in enumerate((general.SEES, general.SEEN)):
        sets = np.packbits(pairs & flag != 0, axis=1, bitorder="little")
        bytes_[SIGHT : SIGHT + 64 * n].reshape(n, 64)[:, 32 * k : 32 * k + sets.shape[1]] = sets
    leads = steps != general.NOWHERE
    _put(bytes_, NEXT, np.minimum(steps, NONE))
    _put(bytes_, CHOICES, np.argsort(~leads, axis=1, kind="stable"))
    _put(bytes_, WAYS, leads.sum(axis=1))
    for at, values in ((THING, column(7)), (AFTER, column(8)), (X, column(0)), (Y, column(1))):
        _put(bytes_, at, values)
    views = pairs[places] & general.SEES != 0
    words[VIEW // 2 : VIEW // 2 + n] = (views * (1 << np.arange(len(places)))[:, None]).sum(axis=0)
    way = pairs & 7
    nexts = np.where(way == general.NO_STEP, NONE, steps[np.arange(n), np.minimum(way, 3)])
    far = np.minimum(_through_portals(square(general.MOVES_AT), t), NONE)
    bytes_[STEP:].reshape(2, n, row)[:, :, :n] = nexts, far
    return words


def pack(t: Row, s: Row) -> Row:
    """Convert a state from the general layout to this one, using the level's general tables.

    Returns:
        uint16[STATE_WORDS].
    """
    m, at = int(t[general.MONSTERS]), general.THINGS_AT + int(t[general.WORDS])
    words = np.zeros(STATE_WORDS, dtype=np.uint16)
    bytes_ = words.view(np.uint8)
    bytes_[:16] = NONE
    bytes_[:m] = s[at : at + m]
    hp = s[at + m : at + 2 * m]
    for k in range(3):
        words[PLANES_AT // 2 + k] = _bits(hp >> k & 1)
    words[THINGS_AT // 2] = s[general.THINGS_AT] if at > general.THINGS_AT else 0
    bytes_[HP_AT] = int(s[general.HP_AT]) - general.HP_BIAS + HP_BIAS
    for here, there in COUNTED.items():
        if here < STEPS_AT:
            bytes_[here] = min(int(s[there]), NONE)
        else:
            words[here // 2] = s[there]
    return words


def unpack(t: Row, packed: Row) -> Row:
    """Return the state in the general layout: the inverse of `pack`."""
    m, at = int(t[general.MONSTERS]), general.THINGS_AT + int(t[general.WORDS])
    bytes_ = packed.view(np.uint8)
    s = np.zeros(at + 2 * m, dtype=np.uint16)
    for here, there in COUNTED.items():
        s[there] = bytes_[here] if here < STEPS_AT else packed[here // 2]
    if bytes_[JAVELIN_AT] == NONE:
        s[general.JAVELIN_AT] = general.NOWHERE
    hp = int(bytes_[HP_AT]) - HP_BIAS
    s[general.HP_AT] = hp + general.HP_BIAS
    s[general.HURT_AT] = general.START_HP + int(bytes_[DRUNK_AT]) - max(0, hp)
    if at > general.THINGS_AT:
        s[general.THINGS_AT] = packed[THINGS_AT // 2]
    s[at : at + m] = bytes_[:m]
    s[at + m :] = sum((packed[PLANES_AT // 2 + k] >> np.arange(m) & 1) << k for k in range(3))
    s[general.SLAIN_AT] = np.count_nonzero((monsters(t) != general.MINITAUR) & (s[at + m :] == 0))
    return s


def variables(packed: Row) -> int:
    """Return the number of variables that `swift_reach.novelty` writes, from the tables in this layout."""
    return 3 + sum(int(packed[at // 2]).bit_count() for at in (MINITAURS, MORTALS, POTIONS, TREASURES))


def _targets(t: Row) -> int:
    """Return where the tiles of potions and treasures are in the general tables."""
    return int(general.offset(t, general.BOARD_AT)) + int(t[general.WIDTH]) * int(t[general.HEIGHT])


def _bits(flags: NDArray[Any]) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _put(row: NDArray[np.uint8], at: int, values: NDArray[Any]) -> None:
    row[at : at + values.size] = values.ravel()


def _floats(row: NDArray[np.uint8], at: int, values: NDArray[Any]) -> None:
    _put(row, at, np.ascontiguousarray(values, dtype=np.float64).view(np.uint8))


def _through_portals(moves: NDArray[Any], t: Row) -> NDArray[Any]:
    """Return the hero's least number of moves between tiles, given those on foot."""
    on_foot = moves.astype(np.int64)
    one, other = (int(t[at]) for at in (general.PORTAL_A, general.PORTAL_B))
    if one == general.NOWHERE:
        return on_foot
    both = [on_foot[:, a, None] + on_foot[None, b, :] for a, b in ((one, other), (other, one))]
    found: NDArray[Any] = np.minimum(on_foot, np.minimum(*both))
    return found
