"""Monte Carlo tree search: select, expand, roll out, back up.

What makes a search sound is here and never in a tree policy: untried actions come first, finished subtrees are closed,
the horizon and the memory cap hold, ties are broken at random by the search's own stream.

All functions work on the arrays of `persona_evo.search.tree`; `search` runs a number of iterations and can be called
again to go on. The rules of the game, the utility and the tree policy are arguments, so one engine serves all games.

Names of arguments as in `layout`.
"""

from __future__ import annotations

import math
from typing import Any

from persona_evo.compiling import INTERPRET, compiled, jit
from persona_evo.formula.machine import run
from persona_evo.games.core import RUNNING, WON, Rules, entry_type
from persona_evo.search.amaf import credit, mark, roll
from persona_evo.search.expansion import close, expand, set_node, slot_of
from persona_evo.search.layout import (
    AMAF, BEST_LENGTH, BEST_NODE, BEST_STEPS, BEST_WON, COUNTS, CUT_OFF, EXHAUSTED, FIRST_WIN, FULL, GOING_ON, HASHED,
    HOLDS, HORIZON, ITERATIONS, LENGTH, NODES, PLAYERS, STUCK, WATCH, WATCH_ALL, WIN, WINNER,
)
from persona_evo.search.selection import keep, score, select
from persona_evo.search.tree import (
    ACTION, BEST, DEPTH, DONE, EMPTY, FIRST, LEFT, NOBODY, OVER, PARENT, ROOT, ROOTLESS, SCORE, SQUARES, STATUS, TOTAL,
    TWIN, UNKNOWN, VISITS,
)
from persona_evo.search.tree_policy import ALONG_PATH, STATIC

NUMBERS = frozenset(("run", "draw", "below", "consider", "close", "push", "pop", "mark", "credit", "place_of"))
"""Functions that see numbers alone, which stay compiled where the game is not."""


@compiled
def consider(counts: Any, best: Any, best_moves: Any, played: Any, made: int, node: int, depth: int, over: int,
             utility: float) -> None:
    """Keep the plan to `node` and `made` moves on if it is the best: utility first, then winning, then brevity."""
    won = 1 if over == WON else 0
    steps = depth + made
    if utility < best[0]:
        return
    if utility == best[0]:
        if won < counts[BEST_WON] or (won == counts[BEST_WON] and steps >= counts[BEST_STEPS]):
            return
    best[0] = utility
    counts[BEST_NODE] = node
    counts[BEST_LENGTH] = made
    counts[BEST_WON] = won
    counts[BEST_STEPS] = steps
    for k in range(made):
        best_moves[k] = played[k]


@compiled
def simulate(over: Any, mover: Any, measure: Any, rollout: Any, tables: Any, links: Any, states: Any, opts: Any,
             counts: Any, best: Any, best_moves: Any, scratch: Any, actions: Any, played: Any, seen: Any, vars: Any,
             stack: Any, uops: Any, uconst: Any, utils: Any, marks: Any, rng: Any, node: int, fresh: bool) -> None:
    """Roll out from a node; the utility of the state reached goes to `utils`, one entry a player."""
    depth = links[node, DEPTH]
    for k in range(len(scratch)):
        scratch[k] = states[node, k]
    ended = links[node, STATUS] & OVER
    if fresh:
        measure(tables, scratch, 0, vars)
        utils[0] = run(uops, uconst, vars, stack)
        consider(counts, best, best_moves, played, 0, node, depth, ended, utils[0])
    made = 0
    length = min(opts[LENGTH], opts[HORIZON] - depth)
    if opts[AMAF]:
        roll(over, mover, rollout, tables, opts, scratch, actions, played, seen, marks, rng, length)
        ended = over(tables, scratch)
    elif length > 0 and ended == RUNNING:
        every = 1 if opts[WATCH] == WATCH_ALL else 0
        made = rollout(tables, scratch, actions, played, length, rng, seen, every)
        if every:
            for k in range(made):
                utils[0] = run(uops, uconst, seen[k], stack)
                consider(counts, best, best_moves, played, k + 1, node, depth, 0, utils[0])
        ended = over(tables, scratch)
    for p in range(opts[PLAYERS]):
        measure(tables, scratch, p, vars)
        utils[p] = run(uops, uconst, vars, stack)
    if opts[WATCH] and made:
        consider(counts, best, best_moves, played, made, node, depth, ended, utils[0])


@compiled
def back_up(mover: Any, measure: Any, tables: Any, links: Any, values: Any, states: Any, opts: Any, pops: Any,
            pconst: Any, vars: Any, stack: Any, utils: Any, marks: Any, node: int) -> None:
    """Add a result to every node from `node` to the root, each as the player who moved into it sees it."""
    while node != ROOTLESS:
        parent = links[node, PARENT]
        player = 0
        if opts[PLAYERS] > 1 and parent != ROOTLESS:
            player = mover(tables, states[parent])
        u = utils[player]
        twin = links[node, TWIN]
        links[twin, VISITS] += 1
        values[twin, TOTAL] += u
        values[twin, SQUARES] += u * u
        values[twin, BEST] = max(values[twin, BEST], u)
        if parent == ROOTLESS:
            break
        if opts[AMAF]:
            mark(marks, links[node, ACTION], player)
            credit(links, values, opts, marks, parent, player, u)
        if opts[HOLDS] == ALONG_PATH or (opts[HOLDS] == STATIC and links[twin, VISITS] == 1):
            values[node, SCORE] = score(measure, tables, links, values, states, node, 0, player, pops, pconst, vars,
                                        stack, opts)
        elif opts[HOLDS] == STATIC and twin != node:
            values[node, SCORE] = values[twin, SCORE]
        node = parent


@compiled
def iterate(legal: Any, step: Any, over: Any, mover: Any, measure: Any, key: Any, rollout: Any, tables: Any, links: Any,
            values: Any, states: Any, slots: Any, keys: Any, opts: Any, weights: Any, counts: Any, best: Any,
            best_moves: Any, uops: Any, uconst: Any, pops: Any, pconst: Any, fops: Any, scratch: Any, actions: Any,
            played: Any, seen: Any, vars: Any, stack: Any, utils: Any, marks: Any, rng: Any) -> int:
    """One iteration; GOING_ON, or why the search is over."""
    node = ROOT
    fresh = False
    tied = 0
    while links[node, STATUS] & OVER == 0 and links[node, DEPTH] < opts[HORIZON]:
        if links[node, LEFT] == UNKNOWN:
            links[node, LEFT] = legal(tables, states[node], actions)
        player = 0
        if opts[PLAYERS] > 1:
            player = mover(tables, states[node])
        if links[node, LEFT] > 0:
            if counts[NODES] < links.shape[0]:
                child = expand(legal, step, over, measure, key, tables, links, values, states, slots, keys, opts,
                               counts, actions, vars, rng, node)
                if child == NOBODY:
                    continue
                keep(measure, tables, values, states, opts, fops, pconst, vars, stack, child, player)
                node = child
                fresh = True
                break
            counts[FULL] = 1
        if links[node, FIRST] == NOBODY:
            break
        found = select(measure, tables, links, values, states, opts, weights, pops, pconst, fops, vars, stack, rng,
                       node, player)
        if found < 0:
            break
        tied |= found & 1
        node = found >> 1
    status = links[node, STATUS]
    if opts[CUT_OFF]:
        close(links, links[node, PARENT] if fresh else node)
        if links[ROOT, STATUS] & DONE and not fresh:
            return EXHAUSTED
        if not fresh and links[node, STATUS] & DONE:
            return GOING_ON
    elif not fresh:
        if opts[FIRST_WIN] and status & OVER == WON:
            counts[WINNER] = node
            return WIN
        if opts[HOLDS] == STATIC and tied == 0 and status & DONE:
            return STUCK
    if fresh and opts[FIRST_WIN] and opts[CUT_OFF] and status & OVER == WON:
        counts[WINNER] = node
    simulate(over, mover, measure, rollout, tables, links, states, opts, counts, best, best_moves, scratch, actions,
             played, seen, vars, stack, uops, uconst, utils, marks, rng, node, fresh)
    back_up(mover, measure, tables, links, values, states, opts, pops, pconst, vars, stack, utils, marks, node)
    if counts[WINNER] >= 0:
        return WIN
    if opts[CUT_OFF] and links[ROOT, STATUS] & DONE:
        return EXHAUSTED
    return GOING_ON


def _plant(over: Any, measure: Any, key: Any, tables: Any, links: Any, values: Any, states: Any, slots: Any, keys: Any,
           opts: Any, counts: Any, best: Any, best_moves: Any, uops: Any, uconst: Any, vars: Any, stack: Any) -> int:
    """Make the root, whose state is in row 0, and clear the hash table."""
    for k in range(COUNTS):
        counts[k] = 0
    counts[WINNER] = -1
    best[0] = -math.inf
    set_node(over, tables, links, values, states, ROOT, ROOTLESS, -1, 0, opts)
    if opts[HASHED]:
        for k in range(len(slots)):
            slots[k] = EMPTY
        slots[slot_of(key, measure, tables, links, states, slots, keys, ROOT, vars, opts)] = ROOT
    counts[NODES] = 1
    measure(tables, states[ROOT], 0, vars)
    utility = run(uops, uconst, vars, stack)
    consider(counts, best, best_moves, best_moves, 0, ROOT, 0, links[ROOT, STATUS] & OVER, utility)
    return 0


def _search(legal: Any, step: Any, over: Any, mover: Any, measure: Any, key: Any, rollout: Any, tables: Any,
            links: Any, values: Any, states: Any, slots: Any, keys: Any, opts: Any, weights: Any, counts: Any,
            best: Any, best_moves: Any, uops: Any, uconst: Any, pops: Any, pconst: Any, fops: Any, scratch: Any,
            actions: Any, played: Any, seen: Any, vars: Any, stack: Any, utils: Any, marks: Any, rng: Any,
            iterations: int) -> int:
    """Up to `iterations` iterations; why it returned."""
    for _ in range(iterations):
        counts[ITERATIONS] += 1
        reason = iterate(legal, step, over, mover, measure, key, rollout, tables, links, values, states, slots, keys,
                         opts, weights, counts, best, best_moves, uops, uconst, pops, pconst, fops, scratch, actions,
                         played, seen, vars, stack, utils, marks, rng)
        if reason != GOING_ON:
            return reason
    return GOING_ON


def engine_types(kind: str) -> Any:
    """The signature of the engine's functions: "plant", "search", or "heap" for a search that keeps its open leaves."""
    from numba import types

    whole = types.int64
    ints, floats = types.int64[::1], types.float64[::1]
    row, rows = types.uint16[::1], types.uint16[:, ::1]
    links, values = types.int32[:, ::1], types.float64[:, ::1]
    tree = (row, links, values, rows, types.int32[::1], ints)
    if kind == "plant":
        games = tuple(entry_type(k) for k in ("over", "measure", "key"))
        return whole(*games, *tree, ints, ints, floats, ints, ints, floats, floats, floats)
    games = tuple(entry_type(k) for k in Rules._fields)
    codes = (ints, floats, ints, floats, ints)
    buffers = (row, ints, ints, values, floats, floats, floats, types.int64[:, ::1], ints)
    heap = (types.int32[::1],) if kind == "heap" else ()
    return whole(*games, *tree, ints, floats, ints, floats, ints, *codes, *buffers, *heap, whole)


def engine(function: Any, kind: str) -> Any:
    """Compile one of the engine's functions."""
    return function if INTERPRET else jit(function, engine_types(kind), final=True)


plant = engine(_plant, "plant")
search = engine(_search, "search")
