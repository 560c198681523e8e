"""The planner: one tree, one table of states, several open lists that take turns.

A single best-first search commits itself to what its one score thinks best. Here every open leaf waits in several heaps
with scores of their own, and the heaps take turns (Röger, Helmert 2010), some of them with novel leaves first
(Lipovetzky, Geffner 2017): leaves in whose state a variable (`Game.novelty`) has a value for the first time among
states with equal counts of the game's main metrics. Where the game says what can still be reached (`Game.reach`), a
leaf that cannot beat the best plan is closed; when all leaves are, the best plan is proven.

| name | what |
|---|---|
| rules | `Functions`: the game's functions as addresses |
| tree | `Nodes`: the arrays of `persona_evo.search.tree`, of which `values` holds what can follow a node at most \
(CEILING) and what the node itself is worth (WORTH), and `ranks` float32[capacity, k], the same memory seen otherwise, \
its scores from column FIRST_SCORE on |
| lists | `Lists`: heaps int32[lists, capacity], how many each holds, iterations spent by each, weights, the column of \
the score, whether novel leaves come first |
| scores | `Scores`: postfix code over the metrics, OWN, UTILITY, CEILING and D; program k ends before ends[k], the \
first one is OWN; pace float64[scores], what score k loses with each move |
| bounds | `Bounds`: see `ceilings`; limits float64[depths], what no state at this depth or deeper exceeds |
| facts | `Facts`: values int64[count] of the variables; main int64[k], indices of the main metrics; seen int64[2**k], \
hashes of (variable, value, main metrics), 0 where free |
| work | `Work`: scratch rows, as in `layout` |
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from persona_evo.compiling import INTERPRET, compiled, jit
from persona_evo.formula.machine import run
from persona_evo.games.core import entry_type, rule
from persona_evo.search.ceilings import ceiling_of
from persona_evo.search.expansion import expand, slot_of
from persona_evo.search.layout import (
    BEST_STEPS, BEST_WON, CEILING, CLOCK, EXHAUSTED, FACTS, FALLS, FIRST_SCORE, FULL, GOING_ON, HASHED, HEAPED,
    HORIZON, ITERATIONS, LENGTH, METRICS, NODES, NOVEL_LISTS, OPENED, REACHING, SALT, SEEKING, SHORTER, THOROUGH, TURN,
    USED, VARIETY, WORTH,
)
from persona_evo.search.mcts import consider, simulate
from persona_evo.search.tree import (
    DEPTH, DONE, EMPTY, LEFT, NOBODY, NOVEL, OVER, PARENT, ROOT, STATUS, TAKEN, UNKNOWN, VISITS,
)


class Functions(NamedTuple):
    """The game's functions, by address."""

    legal: Any
    step: Any
    over: Any
    mover: Any
    measure: Any
    key: Any
    rollout: Any
    reach: Any
    novelty: Any


class Nodes(NamedTuple):
    """The arrays of the tree."""

    links: Any
    values: Any
    ranks: Any
    states: Any
    slots: Any
    keys: Any


class Lists(NamedTuple):
    """The open lists."""

    heaps: Any
    sizes: Any
    spent: Any
    weights: Any
    columns: Any
    novel: Any


class Scores(NamedTuple):
    """What the lists order leaves by."""

    ops: Any
    constants: Any
    ends: Any
    pace: Any


class Bounds(NamedTuple):
    """What `ceilings` needs."""

    rises: Any
    corner: Any
    last: Any
    spans: Any
    limits: Any


class Facts(NamedTuple):
    """What was seen."""

    values: Any
    main: Any
    seen: Any


class Work(NamedTuple):
    """Scratch rows."""

    scratch: Any
    actions: Any
    played: Any
    seen: Any
    vars: Any
    stack: Any
    utils: Any
    marks: Any
    rng: Any


@compiled
def precedes(links: Any, ranks: Any, opts: Any, column: int, novel: int, a: int, b: int) -> bool:
    """Whether leaf a comes before leaf b in a list."""
    if novel:
        x = links[a, STATUS] & NOVEL
        y = links[b, STATUS] & NOVEL
        if x != y:
            return x > y  # type: ignore[no-any-return]
    if ranks[a, column] != ranks[b, column]:
        return ranks[a, column] > ranks[b, column]  # type: ignore[no-any-return]
    mix = 0x9E3779B1
    return ((a ^ opts[SALT]) * mix) & 0xFFFFFFFF < ((b ^ opts[SALT]) * mix) & 0xFFFFFFFF  # type: ignore[no-any-return]


@compiled
def enter(links: Any, ranks: Any, lists: Any, opts: Any, number: int, node: int) -> None:
    """Add a leaf to a list."""
    column = lists.columns[number]
    novel = lists.novel[number]
    heap = lists.heaps[number]
    at = lists.sizes[number]
    lists.sizes[number] += 1
    while at > 0:
        above = (at - 1) >> 1
        if not precedes(links, ranks, opts, column, novel, node, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node


@compiled
def leave(links: Any, ranks: Any, lists: Any, opts: Any, number: int) -> int:
    """Take the first leaf out of a list."""
    column = lists.columns[number]
    novel = lists.novel[number]
    heap = lists.heaps[number]
    first = heap[0]
    lists.sizes[number] -= 1
    size = lists.sizes[number]
    last = heap[size]
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and precedes(links, ranks, opts, column, novel, heap[child + 1], heap[child]):
            child += 1
        if not precedes(links, ranks, opts, column, novel, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first  # type: ignore[no-any-return]


@compiled
def is_beaten(links: Any, values: Any, opts: Any, counts: Any, best: Any, node: int) -> bool:
    """Whether nothing that follows a node can be what is looked for (see `layout.SEEKING`)."""
    ceiling = values[node, CEILING]
    if opts[SEEKING] == VARIETY:
        return ceiling < best[1] or links[node, DEPTH] >= best[2]  # type: ignore[no-any-return]
    if ceiling != best[0]:
        return ceiling < best[0]  # type: ignore[no-any-return]
    if opts[SEEKING] == SHORTER:
        return links[node, DEPTH] + 1 >= counts[BEST_STEPS]  # type: ignore[no-any-return]
    return counts[BEST_WON] != 0  # type: ignore[no-any-return]


@compiled
def wait_in_line(links: Any, ranks: Any, lists: Any, opts: Any, counts: Any, node: int) -> None:
    """Add an open leaf to all lists."""
    counts[HEAPED] += 1
    for number in range(len(lists.sizes)):
        enter(links, ranks, lists, opts, number, node)


@compiled
def next_leaf(links: Any, values: Any, ranks: Any, lists: Any, opts: Any, counts: Any, best: Any) -> int:
    """The best leaf of the list whose turn it is, NOBODY where none is open any more; beaten ones are closed."""
    while counts[HEAPED] > 0:
        number = -1
        least = math.inf
        for k in range(len(lists.sizes)):
            if lists.sizes[k] > 0:
                used = lists.spent[k] / lists.weights[k]
                if used < least:
                    least = used
                    number = k
        while lists.sizes[number] > 0:
            node = leave(links, ranks, lists, opts, number)
            if links[node, STATUS] & TAKEN:
                continue
            links[node, STATUS] |= TAKEN
            counts[HEAPED] -= 1
            if not is_beaten(links, values, opts, counts, best, node):
                counts[TURN] = number
                return node
    return NOBODY


@compiled
def is_news(facts: Any, counts: Any, fact: int) -> bool:
    """Whether a fact was not seen before; it is remembered while the table is at most half full."""
    mask = len(facts.seen) - 1
    at = (fact ^ (fact >> 17)) & mask
    while facts.seen[at] != 0:
        if facts.seen[at] == fact:
            return False
        at = (at + 1) & mask
    if 2 * counts[FACTS] >= len(facts.seen):
        return False
    facts.seen[at] = fact
    counts[FACTS] += 1
    return True


@compiled
def is_novel(novelty: Any, tables: Any, state: Any, vars: Any, facts: Any, counts: Any) -> bool:
    """Whether a variable of the state has a value for the first time among states with these main metrics."""
    group = np.int64(0x1B873593)
    for k in range(len(facts.main)):
        scaled = np.int64(min(max(vars[facts.main[k]] * 1048576.0, -9.0e18), 9.0e18))
        group = ((group ^ scaled) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        group ^= group >> 29
    found = False
    for k in range(novelty(tables, state, facts.values)):
        fact = ((group ^ (k + 1)) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        fact ^= fact >> 29
        fact = ((fact ^ facts.values[k]) * 0x100000001B3) & 0x7FFFFFFFFFFFFFFF
        fact ^= fact >> 31
        if is_news(facts, counts, fact if fact != 0 else 1):
            found = True
    return found


@compiled
def estimate(tree: Any, scores: Any, opts: Any, vars: Any, stack: Any, node: int, utility: float) -> None:
    """Work out the scores of a leaf, whose metrics are in `vars`."""
    n = opts[METRICS]
    vars[n + 1] = utility
    vars[n + 2] = tree.values[node, CEILING]
    vars[n + 3] = tree.links[node, DEPTH]
    begin = 0
    for k in range(len(scores.ends)):
        worth = run(scores.ops[begin : scores.ends[k]], scores.constants, vars, stack)
        if k == 0:
            vars[n] = worth
        else:
            tree.ranks[node, FIRST_SCORE + k - 1] = worth - scores.pace[k - 1] * tree.links[node, DEPTH]
        begin = scores.ends[k]


@compiled
def limit_at(bounds: Any, depth: int) -> float:
    """What no state at this depth or deeper exceeds."""
    return bounds.limits[min(depth, len(bounds.limits) - 1)]  # type: ignore[no-any-return]


@compiled
def bound(rules: Any, tables: Any, tree: Any, bounds: Any, work: Any, opts: Any, uops: Any, uconst: Any,
          node: int) -> None:
    """Work out what can follow a node at most within the horizon."""
    depth = tree.links[node, DEPTH]
    ceiling = limit_at(bounds, depth + 1)
    if opts[REACHING]:
        ceiling = ceiling_of(rules.reach, tables, tree.states[node], depth, opts[HORIZON] - depth, opts[CLOCK],
                             opts[FALLS], ceiling, bounds.rises, bounds.corner, bounds.last, bounds.spans, uops, uconst,
                             work.stack)
    tree.values[node, CEILING] = ceiling


@compiled
def assess(rules: Any, tables: Any, tree: Any, lists: Any, scores: Any, bounds: Any, facts: Any, work: Any, opts: Any,
           counts: Any, best: Any, best_moves: Any, uops: Any, uconst: Any, node: int) -> bool:
    """Look at a new node: is it the best, what can follow it, how do the lists score it? Whether it is open."""
    if opts[USED] == 0 or opts[HASHED] == 0 or node == ROOT:  # else the table of states has measured it
        rules.measure(tables, tree.states[node], 0, work.vars)
    utility = run(uops, uconst, work.vars, work.stack)
    depth = tree.links[node, DEPTH]
    consider(counts, best, best_moves, work.played, 0, node, depth, tree.links[node, STATUS] & OVER, utility)
    tree.values[node, WORTH] = utility
    if tree.links[node, STATUS] & DONE:
        return False
    bound(rules, tables, tree, bounds, work, opts, uops, uconst, node)
    if is_beaten(tree.links, tree.values, opts, counts, best, node):
        tree.links[node, STATUS] |= TAKEN
        return False
    if opts[NOVEL_LISTS] and is_novel(rules.novelty, tables, tree.states[node], work.vars, facts, counts):
        tree.links[node, STATUS] |= NOVEL
    estimate(tree, scores, opts, work.vars, work.stack, node, utility)
    wait_in_line(tree.links, tree.ranks, lists, opts, counts, node)
    return True


@compiled
def roll_out(rules: Any, tables: Any, tree: Any, work: Any, opts: Any, counts: Any, best: Any, best_moves: Any,
             uops: Any, uconst: Any, node: int) -> None:
    """Random moves from a leaf, of which every state counts as the end of a plan."""
    if opts[LENGTH] > 0:
        simulate(rules.over, rules.mover, rules.measure, rules.rollout, tables, tree.links, tree.states, opts, counts,
                 best, best_moves, work.scratch, work.actions, work.played, work.seen, work.vars, work.stack, uops,
                 uconst, work.utils, work.marks, work.rng, node, False)


def _search(rules: Any, tables: Any, tree: Any, lists: Any, scores: Any, bounds: Any, facts: Any, work: Any, opts: Any,
            counts: Any, best: Any, best_moves: Any, uops: Any, uconst: Any, iterations: int) -> int:
    """Up to `iterations` states made and rolled out from; why it returned."""
    links = tree.links
    if counts[ITERATIONS] == 0 and counts[OPENED] == ROOT and counts[HEAPED] == 0:
        counts[OPENED] = NOBODY
        links[ROOT, VISITS] = 1
        assess(rules, tables, tree, lists, scores, bounds, facts, work, opts, counts, best, best_moves, uops, uconst,
               ROOT)
    for _ in range(iterations):
        child = NOBODY
        while child == NOBODY:
            node = counts[OPENED]
            if node == NOBODY:
                node = next_leaf(tree.links, tree.values, tree.ranks, lists, opts, counts, best)
                if node == NOBODY:
                    return EXHAUSTED
                counts[OPENED] = node
                links[node, LEFT] = rules.legal(tables, tree.states[node], work.actions)
            if links[node, LEFT] <= 0:
                counts[OPENED] = NOBODY
                continue
            if counts[NODES] >= links.shape[0]:
                counts[FULL] = 1
                return GOING_ON
            child = expand(rules.legal, rules.step, rules.over, rules.measure, rules.key, tables, links, tree.values,
                           tree.states, tree.slots, tree.keys, opts, counts, work.actions, work.vars, work.rng, node)
        counts[ITERATIONS] += 1
        lists.spent[counts[TURN]] += 1.0
        links[child, VISITS] = 1
        if assess(rules, tables, tree, lists, scores, bounds, facts, work, opts, counts, best, best_moves, uops,
                  uconst, child) and (opts[THOROUGH] or links[child, STATUS] & NOVEL):
            roll_out(rules, tables, tree, work, opts, counts, best, best_moves, uops, uconst, child)
    return GOING_ON


def _reopen(rules: Any, tables: Any, tree: Any, lists: Any, scores: Any, bounds: Any, work: Any, opts: Any, counts: Any,
            best: Any, uops: Any, uconst: Any) -> int:
    """Fill the lists anew with leaves that were never expanded and are not beaten; how many there are.

    What can follow them is worked out again, since the horizon may be nearer than before, and so are their scores,
    which leaves that were beaten from the start do not have yet.
    """
    counts[HEAPED] = 0
    for number in range(len(lists.sizes)):
        lists.sizes[number] = 0
        lists.spent[number] = 0.0
    for node in range(counts[NODES]):
        if tree.links[node, STATUS] & DONE or tree.links[node, LEFT] != UNKNOWN:
            continue
        if tree.links[node, DEPTH] >= opts[HORIZON]:
            continue
        bound(rules, tables, tree, bounds, work, opts, uops, uconst, node)
        if is_beaten(tree.links, tree.values, opts, counts, best, node):
            continue
        tree.links[node, STATUS] &= ~TAKEN
        rules.measure(tables, tree.states[node], 0, work.vars)
        estimate(tree, scores, opts, work.vars, work.stack, node, tree.values[node, WORTH])
        wait_in_line(tree.links, tree.ranks, lists, opts, counts, node)
    return counts[HEAPED]  # type: ignore[no-any-return]


def _alternatives(rules: Any, tables: Any, tree: Any, work: Any, opts: Any, nodes: int, heads: Any, rows: Any) -> int:
    """Every other way, just as short, into each of the tree's states; how many there are.

    heads int32[nodes]: the first row of each node, NOBODY without any. rows int32[n, 3]: the parent, the action and
    the next row of the same node; as many as there is room for. The state after the tree's last is scratch.
    """
    links, states, spare, count = tree.links, tree.states, tree.states.shape[0] - 1, 0
    for node in range(nodes):
        heads[node] = NOBODY
    for node in range(nodes):
        if links[node, LEFT] != 0:
            continue
        choices = rules.legal(tables, states[node], work.actions)
        for choice in range(choices):
            for k in range(states.shape[1]):
                states[spare, k] = states[node, k]
            rules.step(tables, states[spare], work.actions[choice], work.rng)
            at = slot_of(rules.key, rules.measure, tables, links, states, tree.slots, tree.keys, spare, work.vars, opts)
            held = tree.slots[at]
            if held == EMPTY or links[held, PARENT] == node or links[held, DEPTH] != links[node, DEPTH] + 1:
                continue
            if count == rows.shape[0]:
                return count
            rows[count, 0] = node
            rows[count, 1] = work.actions[choice]
            rows[count, 2] = heads[held]
            heads[held] = count
            count += 1
    return count


def _types(kind: str) -> Any:
    from numba import types

    whole = types.int64
    ints, floats = types.int64[::1], types.float64[::1]
    row, rows, short = types.uint16[::1], types.uint16[:, ::1], types.int32[::1]
    grid, table = types.int32[:, ::1], types.float64[:, ::1]

    def named(kinds: list[Any], of: Any) -> Any:
        """The type of a named tuple as numba finds it."""
        return types.BaseTuple.from_types(kinds, of)  # type: ignore[no-untyped-call]

    tree = named([grid, table, types.float32[:, ::1], rows, short, ints], Nodes)
    lists = named([grid, ints, floats, floats, ints, ints], Lists)
    calls = ("legal", "step", "over", "mover", "measure", "key", "rollout", "measure", "novelty")
    rules = named([entry_type(k) for k in calls], Functions)
    scores = named([ints, floats, ints, floats], Scores)
    bounds = named([ints, floats, floats, floats, floats], Bounds)
    facts = named([ints, ints, ints], Facts)
    work = named([row, ints, ints, table, floats, floats, floats, types.int64[:, ::1], ints], Work)
    if kind == "reopen":
        return whole(rules, row, tree, lists, scores, bounds, work, ints, ints, floats, ints, floats)
    if kind == "alternatives":
        return whole(rules, row, tree, work, ints, whole, short, grid)
    return whole(rules, row, tree, lists, scores, bounds, facts, work, ints, ints, floats, ints, ints, floats, whole)


@rule("novelty")
def words_of(t: Any, s: Any, out: Any) -> int:
    """The words of a state, for games that do not say what makes one new."""
    for k in range(len(s)):
        out[k] = s[k]
    return len(s)


NUMBERS = frozenset(("run", "draw", "below", "consider", "precedes", "enter", "leave", "wait_in_line", "next_leaf",
                     "is_beaten", "is_news"))
"""Functions that see numbers alone, which stay compiled where the game is not."""

search = _search if INTERPRET else jit(_search, _types("search"), final=True)
reopen = _reopen if INTERPRET else jit(_reopen, _types("reopen"), final=True)
alternatives = _alternatives if INTERPRET else jit(_alternatives, _types("alternatives"), final=True)
