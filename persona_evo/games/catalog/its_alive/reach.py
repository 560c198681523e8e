"""Bounds what each metric can still become within a number of decisions, and describes what makes a state new.

The bounds count pieces. Decisions that are not collections are left for landings, which need room: the empty cells, and
those that the collections empty. Every monster takes a head and a heart, and the collected pieces are worth most in
monsters as large as the field. Two joined pieces use a connector of each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from persona_evo.compiling import compiled
from persona_evo.games.catalog.its_alive.layout import (
    DESIGN,
    FACTORED,
    HEAD,
    HEART,
    HEIGHT,
    LANDING_POINTS,
    MONSTER_POINTS,
    NORTH,
    PAIR_POINTS,
    PIECES,
    TENACIOUS_PIECES,
    WIDTH,
    WIN,
)
from persona_evo.games.catalog.its_alive.rules import (
    COLLECTED_AT,
    FIELD_AT,
    FILLED_AT,
    GROUP_AT,
    HOW,
    LARGEST_AT,
    LIVING_AT,
    NEXT_AT,
    OVER_AT,
    PAIRED_AT,
    PHASE_AT,
    POINTS_AT,
    STEPS_AT,
    TENACIOUS,
    connectors,
    measure,
    points_of,
    shape_of,
)
from persona_evo.games.core import RUNNING, rule
from persona_evo.games.rows import Row, word

METRICS = 16
ST, PT, SC, MC, PR, PL, LM, CP, LV, BV, LG, SP, FI, HI, LOST, WON = range(METRICS)

_measure = measure.plain


@compiled
def pieces_first(t: Row, which: int, count: int) -> int:
    """Return the number of heads (0), hearts (1) or connectors (2) that the first pieces of the sequence have."""
    pieces = word(t, WIDTH) * word(t, HEIGHT) * word(t, WIN)
    return word(t, PIECES + pieces + which * (pieces + 1) + min(count, pieces))


@compiled
def on_field(t: Row, s: Row) -> tuple[int, int, int]:
    """Return the numbers of heads, hearts and connectors of the pieces on the field."""
    heads = 0
    hearts = 0
    ends = 0
    for cell in range(word(t, WIDTH) * word(t, HEIGHT)):
        piece = word(s, FIELD_AT + cell)
        if piece != 0:
            shape = shape_of(piece)
            heads += 1 if shape == HEAD else 0
            hearts += 1 if shape == HEART else 0
            mask = connectors(t, piece)
            ends += (mask & NORTH) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + (mask >> 3)
    return heads, hearts, ends


@compiled
def most_landings(t: Row, s: Row, decisions: int, collections: int) -> int:
    """Return how many pieces can land in this many decisions, of which `collections` collect monsters."""
    cells = word(t, WIDTH) * word(t, HEIGHT)
    left = decisions - collections
    if word(t, FACTORED):
        left = (left + (1 if word(s, PHASE_AT) == HOW else 0)) >> 1
    before = min(collections, word(t, WIN) - word(s, COLLECTED_AT) - 1)
    return min(left, cells - word(s, FILLED_AT) + before * cells)


@compiled
def most_points(cells: int, pieces: int, monsters: int) -> int:
    """Return the points for this many pieces in this many monsters without pairs."""
    full = pieces // cells
    rest = pieces - full * cells
    return MONSTER_POINTS * (full * (cells * (cells + 1) // 2) + rest * (rest + 1) // 2 + monsters)


@rule("measure")
def reach(t: Row, s: Row, moves: int, out: NDArray[np.float64]) -> int:
    """Write the lowest value of each metric within this many decisions from this state, then the highest of each."""
    _measure(t, s, 0, out)
    for i in range(METRICS):
        out[METRICS + i] = out[i]
    if word(s, OVER_AT) != RUNNING or moves <= 0:
        return 0
    width, height = word(t, WIDTH), word(t, HEIGHT)
    cells = width * height
    edges = width * (height - 1) + height * (width - 1)
    heads, hearts, ends = on_field(t, s)
    landed, filled, points = word(s, NEXT_AT), word(s, FILLED_AT), word(s, POINTS_AT)
    needed = TENACIOUS_PIECES if word(t, DESIGN) == TENACIOUS else 2
    wanted = word(t, WIN) - word(s, COLLECTED_AT)
    heads -= pieces_first(t, 0, landed)
    hearts -= pieces_first(t, 1, landed)
    ends -= pieces_first(t, 2, landed)
    most = landings = collecting = paired = gained = 0
    living = joints = 0
    for monsters in range(wanted + 1):
        lands = most_landings(t, s, moves, monsters)
        if monsters > moves or lands < 0:
            break
        alive = min(heads + pieces_first(t, 0, landed + lands), hearts + pieces_first(t, 1, landed + lands))
        if alive < monsters or filled + lands < needed * monsters:
            continue
        pairs = (ends + pieces_first(t, 2, landed + lands)) >> 1
        used = min(filled + lands, monsters * cells)
        pairs_used = min(pairs, monsters * edges)
        most = monsters
        landings = max(landings, lands)
        living = max(living, min(alive, min(cells, filled + lands) // needed))
        joints = max(joints, min(pairs, edges))
        if monsters > 0:
            collecting = max(collecting, min(cells, filled + lands))
            paired = max(paired, pairs_used)
        gained = max(gained, LANDING_POINTS * lands + most_points(cells, used, monsters) + PAIR_POINTS * pairs_used)
    largest = min(cells, filled + landings)
    par = LANDING_POINTS * cells + points_of(cells, 0)
    out[METRICS + ST] = word(s, STEPS_AT) + moves
    out[METRICS + PT] = points + gained
    out[METRICS + SC] = (points + gained) / par
    out[METRICS + MC] = word(s, COLLECTED_AT) + most
    out[METRICS + PR] = (word(s, COLLECTED_AT) + most) / word(t, WIN)
    out[METRICS + PL] = landed + landings
    out[METRICS + LM] = max(word(s, LARGEST_AT), collecting) / cells
    out[METRICS + CP] = word(s, PAIRED_AT) + paired
    out[METRICS + LV] = living
    out[METRICS + BV] = points_of(largest, joints) / par if living > 0 else 0.0
    out[METRICS + LG] = largest / cells
    out[METRICS + SP] = joints
    out[METRICS + FI] = largest / cells
    out[METRICS + HI] = min(1.0, out[HI] + landings / height)
    out[METRICS + LOST] = 1.0 if filled + landings >= cells else 0.0
    out[METRICS + WON] = 1.0 if most == wanted else 0.0
    out[LV] = 0.0
    out[BV] = 0.0
    if most > 0:
        out[LG] = 0.0
        out[SP] = 0.0
        out[FI] = 0.0
        out[HI] = 0.0
    return 0


@rule("novelty")
def novelty(t: Row, s: Row, out: NDArray[np.int64]) -> int:
    """Write the content of each cell, the monsters collected, the living monsters, and the largest group."""
    cells = word(t, WIDTH) * word(t, HEIGHT)
    for cell in range(cells):
        out[cell] = word(s, FIELD_AT + cell)
    out[cells] = word(s, COLLECTED_AT)
    out[cells + 1] = word(s, LIVING_AT)
    out[cells + 2] = word(s, GROUP_AT)
    return cells + 3
