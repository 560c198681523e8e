"""Monte Carlo tree search: select, expand, roll out, back up.

What makes a search sound is here and never in a tree policy: untried actions come first, finished subtrees are closed,
the horizon and the memory cap hold, ties are broken at random by the search's own stream.

All functions work on the arrays of `persona_evo.search.tree`; `search` runs a number of iterations and can be called
again to go on. The rules of the game, the utility and the tree policy are arguments, so one engine serves all games.

Names of the arguments used throughout:

| name | what |
|---|---|
| legal ... rollout | the functions of the game (`persona_evo.games.core.Rules`) |
| tables | the level |
| links, values, states, slots, keys | the tree |
| opts int64[OPTIONS], weights float64[1] | the settings as numbers; weights[0] is UCB1's C |
| counts int64[COUNTS], best float64[1] | what the search knows of itself, and the best utility seen |
| best_moves int64[rollout] | the moves that lead from the best node on to the best state |
| uops, uconst / pops, pconst | postfix code of the utility / of the tree policy |
| scratch | a state; actions, played int64 rows; vars, stack float64 rows; utils float64[players] |
| seen float64[rollout + 1, metrics] | the metrics after each move of a rollout |
| rng int64[2] | the search's stream |
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from persona_evo.compiling import compiled, jit
from persona_evo.formula.machine import run
from persona_evo.games.core import RUNNING, WON, Rules, entry_type
from persona_evo.search.tree import (
    ACTION, BEST, DEPTH, DONE, EMPTY, FIRST, LEFT, NEXT, NOBODY, OPEN, OVER, PARENT, ROOT, ROOTLESS, SCORE, SQUARES,
    STATUS, TOTAL, TWIN, UNKNOWN, VISITS,
)
from persona_evo.search.tree_policy import ALONG_PATH, EVERY_TIME, STATIC
from persona_evo.seeds import draw

(HOLDS, FIRST_WIN, CUT_OFF, SHUFFLE, LENGTH, HORIZON, HASHED, MEAN, WATCH, PLAYERS, METRICS, USED, SALT) = range(13)
OPTIONS = 13
IS_UCB1 = 3
"""opts[HOLDS] is STATIC, ALONG_PATH or EVERY_TIME (see `tree_policy`), or IS_UCB1."""
PRUNE, MERGE = 1, 2
WATCH_ALL = 2

NODES, ITERATIONS, BEST_NODE, BEST_LENGTH, BEST_WON, BEST_STEPS, PRUNED, WINNER, FULL, DEEPEST = range(10)
COUNTS = 10

NUMBERS = frozenset(("run", "draw", "below", "consider", "close"))
"""Functions that see numbers alone, which stay compiled where the game is not."""

GOING_ON, WIN, EXHAUSTED, STUCK = range(4)
"""Why `search` returned: the iterations are used up; a selected node wins; nothing new is left; a policy that never
changes its mind selects a node that cannot be expanded."""


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
def score(measure: Any, tables: Any, links: Any, values: Any, states: Any, node: int, visits: int, player: int,
          pops: Any, pconst: Any, vars: Any, stack: Any, opts: Any) -> float:
    """The formula's score of a node whose parent has `visits` visits."""
    measure(tables, states[node], player, vars)
    k = opts[METRICS]
    twin = links[node, TWIN]
    n = links[twin, VISITS]
    mean = 0.0
    top = 0.0
    spread = 0.0
    if n > 0:
        mean = values[twin, TOTAL] / n
        top = values[twin, BEST]
        spread = math.sqrt(max(0.0, values[twin, SQUARES] / n - mean * mean))
    vars[k] = mean if opts[MEAN] else 0.75 * mean + 0.25 * top
    vars[k + 1] = n
    vars[k + 2] = visits
    vars[k + 3] = links[node, DEPTH]
    vars[k + 4] = top
    vars[k + 5] = spread
    return run(pops, pconst, vars, stack)


@compiled
def slot_of(key: Any, measure: Any, tables: Any, links: Any, states: Any, slots: Any, keys: Any, node: int, vars: Any,
            opts: Any) -> int:
    """The slot of a node's state in the hash table: that of an equal state, or a free one.

    States are equal when all that decides the future is, and all metrics that utility and tree policy read (but for
    the clock, which depth stands for).
    """
    h = key(tables, states[node])
    used = opts[USED]
    if used:
        measure(tables, states[node], 0, vars)
        for i in range(opts[METRICS]):
            if (used >> i) & 1:
                h = ((h ^ np.int64(vars[i] * 1048576.0)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
                h ^= h >> 31
    keys[node] = h
    mask = len(slots) - 1
    at = (h ^ (h >> 17)) & mask
    while slots[at] != EMPTY and keys[slots[at]] != h:
        at = (at + 1) & mask
    return at


@compiled
def set_node(over: Any, tables: Any, links: Any, values: Any, states: Any, node: int, parent: int, action: int,
             depth: int, opts: Any) -> None:
    """Fill in a new row whose state is in place."""
    links[node, PARENT] = parent
    links[node, FIRST] = NOBODY
    links[node, NEXT] = NOBODY
    links[node, VISITS] = 0
    links[node, ACTION] = action
    links[node, LEFT] = UNKNOWN
    links[node, DEPTH] = depth
    status = over(tables, states[node])
    if status != RUNNING or depth >= opts[HORIZON]:
        status |= DONE
    links[node, STATUS] = status
    links[node, OPEN] = 0
    links[node, TWIN] = node
    values[node, TOTAL] = 0.0
    values[node, BEST] = -math.inf
    values[node, SQUARES] = 0.0
    values[node, SCORE] = 0.0


@compiled
def attach(links: Any, counts: Any, node: int, child: int) -> None:
    """Hang a new row that is filled in below its parent."""
    links[child, NEXT] = links[node, FIRST]
    links[node, FIRST] = child
    if links[child, STATUS] & DONE == 0:
        links[node, OPEN] += 1
    counts[NODES] += 1
    counts[DEEPEST] = max(counts[DEEPEST], links[child, DEPTH])


@compiled
def close(links: Any, node: int) -> None:
    """Mark a node done when nothing new can be found below it, and so on toward the root."""
    while node != ROOTLESS and links[node, LEFT] == 0 and links[node, OPEN] == 0 and links[node, STATUS] & DONE == 0:
        links[node, STATUS] |= DONE
        node = links[node, PARENT]
        if node != ROOTLESS:
            links[node, OPEN] -= 1


@compiled
def untried(actions: Any, count: int, left: int, node: int, opts: Any) -> int:
    """The next untried action: the game's order, or a fixed shuffle of it that depends on the node."""
    tried = count - left
    if opts[SHUFFLE]:
        x = opts[SALT] ^ (np.int64(node) * 0x9E3779B1)
        for k in range(tried + 1):
            x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF
            other = k + (x >> 16) % (count - k)
            actions[k], actions[other] = actions[other], actions[k]
    return actions[tried]  # type: ignore[no-any-return]


@compiled
def expand(legal: Any, step: Any, over: Any, measure: Any, key: Any, tables: Any, links: Any, values: Any, states: Any,
           slots: Any, keys: Any, opts: Any, counts: Any, actions: Any, vars: Any, rng: Any, node: int) -> int:
    """Try the next action of a node; its new child, or NOBODY where the tree holds that state already."""
    count = legal(tables, states[node], actions)
    action = untried(actions, count, links[node, LEFT], node, opts)
    links[node, LEFT] -= 1
    child = counts[NODES]
    for k in range(states.shape[1]):
        states[child, k] = states[node, k]
    step(tables, states[child], action, rng)
    depth = links[node, DEPTH] + 1
    twin = child
    if opts[HASHED]:
        at = slot_of(key, measure, tables, links, states, slots, keys, child, vars, opts)
        held = slots[at]
        if held == EMPTY:
            slots[at] = child
        elif opts[HASHED] == MERGE:
            twin = links[held, TWIN]
        elif links[held, DEPTH] <= depth:
            counts[PRUNED] += 1
            return NOBODY
        else:
            slots[at] = child
    set_node(over, tables, links, values, states, child, node, action, depth, opts)
    links[child, TWIN] = twin
    attach(links, counts, node, child)
    return child  # type: ignore[no-any-return]


@compiled
def rate(measure: Any, tables: Any, links: Any, values: Any, states: Any, opts: Any, weights: Any, pops: Any,
         pconst: Any, vars: Any, stack: Any, child: int, visits: int, log_visits: float, player: int) -> float:
    """The tree policy's score of a child whose parent has `visits` visits."""
    holds = opts[HOLDS]
    if holds == IS_UCB1:
        twin = links[child, TWIN]
        n = max(1, links[twin, VISITS])
        return values[twin, TOTAL] / n + weights[0] * math.sqrt(log_visits / n)  # type: ignore[no-any-return]
    if holds == EVERY_TIME:
        return score(measure, tables, links, values, states, child, visits, player, pops, pconst, vars, stack, opts)
    return values[child, SCORE]  # type: ignore[no-any-return]


@compiled
def select(measure: Any, tables: Any, links: Any, values: Any, states: Any, opts: Any, weights: Any, pops: Any,
           pconst: Any, vars: Any, stack: Any, rng: Any, node: int, player: int) -> int:
    """The child with the best score, as (row << 1) | (1 if there was a tie); -1 where all are closed."""
    visits = links[links[node, TWIN], VISITS]
    log_visits = math.log(max(1, visits)) if opts[HOLDS] == IS_UCB1 else 0.0
    cut_off = opts[CUT_OFF]
    chosen = -1
    ties = 1
    top = -math.inf
    child = links[node, FIRST]
    while child != NOBODY:
        if cut_off == 0 or links[child, STATUS] & DONE == 0:
            s = rate(measure, tables, links, values, states, opts, weights, pops, pconst, vars, stack, child, visits,
                     log_visits, player)
            if s > top:
                top = s
                chosen = child
                ties = 1
            elif s == top:
                ties += 1
        child = links[child, NEXT]
    if ties == 1:
        return chosen * 2 if chosen >= 0 else -1
    wanted = (draw(rng) * ties) >> 32
    child = links[node, FIRST]
    while True:
        if cut_off == 0 or links[child, STATUS] & DONE == 0:
            s = rate(measure, tables, links, values, states, opts, weights, pops, pconst, vars, stack, child, visits,
                     log_visits, player)
            if s == top:
                if wanted == 0:
                    return child * 2 + 1  # type: ignore[no-any-return]
                wanted -= 1
        child = links[child, NEXT]


@compiled
def simulate(over: Any, measure: Any, rollout: Any, tables: Any, links: Any, states: Any, opts: Any,
             counts: Any, best: Any, best_moves: Any, scratch: Any, actions: Any, played: Any, seen: Any, vars: Any,
             stack: Any, uops: Any, uconst: Any, utils: Any, rng: Any, node: int, fresh: bool) -> None:
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
    if length > 0 and ended == RUNNING:
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
            pconst: Any, vars: Any, stack: Any, utils: Any, node: int) -> None:
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
        if opts[HOLDS] == ALONG_PATH or (opts[HOLDS] == STATIC and links[twin, VISITS] == 1):
            values[node, SCORE] = score(measure, tables, links, values, states, node, 0, player, pops, pconst, vars,
                                        stack, opts)
        elif opts[HOLDS] == STATIC and twin != node:
            values[node, SCORE] = values[twin, SCORE]
        node = parent


@compiled
def iterate(legal: Any, step: Any, over: Any, mover: Any, measure: Any, key: Any, rollout: Any, tables: Any, links: Any,
            values: Any, states: Any, slots: Any, keys: Any, opts: Any, weights: Any, counts: Any, best: Any,
            best_moves: Any, uops: Any, uconst: Any, pops: Any, pconst: Any, scratch: Any, actions: Any, played: Any,
            seen: Any, vars: Any, stack: Any, utils: Any, rng: Any) -> int:
    """One iteration; GOING_ON, or why the search is over."""
    node = ROOT
    fresh = False
    tied = 0
    while links[node, STATUS] & OVER == 0 and links[node, DEPTH] < opts[HORIZON]:
        if links[node, LEFT] == UNKNOWN:
            links[node, LEFT] = legal(tables, states[node], actions)
        if links[node, LEFT] > 0:
            if counts[NODES] < links.shape[0]:
                child = expand(legal, step, over, measure, key, tables, links, values, states, slots, keys, opts,
                               counts, actions, vars, rng, node)
                if child == NOBODY:
                    continue
                node = child
                fresh = True
                break
            counts[FULL] = 1
        if links[node, FIRST] == NOBODY:
            break
        player = 0
        if opts[PLAYERS] > 1:
            player = mover(tables, states[node])
        found = select(measure, tables, links, values, states, opts, weights, pops, pconst, vars, stack, rng, node,
                       player)
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
    simulate(over, measure, rollout, tables, links, states, opts, counts, best, best_moves, scratch, actions, played,
             seen, vars, stack, uops, uconst, utils, rng, node, fresh)
    back_up(mover, measure, tables, links, values, states, opts, pops, pconst, vars, stack, utils, node)
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
            best: Any, best_moves: Any,
            uops: Any, uconst: Any, pops: Any, pconst: Any, scratch: Any, actions: Any, played: Any, seen: Any,
            vars: Any, stack: Any, utils: Any, rng: Any, iterations: int) -> int:
    """Up to `iterations` iterations; why it returned."""
    for _ in range(iterations):
        counts[ITERATIONS] += 1
        reason = iterate(legal, step, over, mover, measure, key, rollout, tables, links, values, states, slots, keys,
                         opts, weights, counts, best, best_moves, uops, uconst, pops, pconst, scratch, actions,
                         played, seen, vars, stack, utils, rng)
        if reason != GOING_ON:
            return reason
    return GOING_ON


def _types(with_iterations: bool) -> Any:
    from numba import types

    whole = types.int64
    ints, floats = types.int64[::1], types.float64[::1]
    row, rows = types.uint16[::1], types.uint16[:, ::1]
    links, values = types.int32[:, ::1], types.float64[:, ::1]
    tree = (row, links, values, rows, types.int32[::1], ints)

    if with_iterations:
        games = tuple(entry_type(k) for k in Rules._fields)
        buffers = (row, ints, ints, values, floats, floats, floats, ints)
        return whole(*games, *tree, ints, floats, ints, floats, ints, ints, floats, ints, floats, *buffers, whole)
    games = tuple(entry_type(k) for k in ("over", "measure", "key"))
    return whole(*games, *tree, ints, ints, floats, ints, ints, floats, floats, floats)


def _compile(function: Any, with_iterations: bool) -> Any:
    from persona_evo.compiling import INTERPRET

    return function if INTERPRET else jit(function, _types(with_iterations), final=True)


plant = _compile(_plant, False)
search = _compile(_search, True)
