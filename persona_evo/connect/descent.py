"""The inner loop of a search over prefixes: which rollout is ordered next, and what its result does to the tree.

A node is a prefix of choices. Its row in `links` is made when a rollout through it is ordered, and what the game says
of it (how many choices there are, the metrics) is filled in when the first result comes back; until then it is only
waited for. All rollouts that are under way count as visits that brought the lowest utility seen so far (virtual loss),
so that the next one is drawn elsewhere.

Arguments used throughout: links int64[nodes, LINKS], values float64[nodes, VALUES], metrics float64[nodes, game's],
opts int64[OPTIONS], numbers float64[2] (UCB1's constant, the lowest utility seen), pops and pconst (the tree policy's
code), vars and stack (scratch of the formula), order int64[choices of any node] (scratch), rng int64[2].
"""

from __future__ import annotations

import math
from typing import Any

from persona_evo.compiling import compiled, jit
from persona_evo.formula.machine import run
from persona_evo.seeds import draw

(PARENT, FIRST, NEXT, CHOICE, COUNT, TRIED, VISITS, PENDING, DEPTH, STATUS, OPEN, LOSSES) = range(12)
LINKS = 12
"""Columns of links. PARENT, FIRST child, NEXT sibling; CHOICE: number of the parent's choice that leads here; COUNT:
choices here, UNKNOWN until the first result, 0 where the game is over; TRIED: choices with a child; VISITS, and PENDING
ones; DEPTH; STATUS: see below; OPEN: children that are not DONE; LOSSES: rollouts in which the game failed."""
(TOTAL, BEST, SQUARES) = range(3)
VALUES = 3
"""Columns of values: sum, largest and sum of squares of the utilities backed up."""
(UCB1, INSIDE, CUT_OFF, SHUFFLE, MEAN, HORIZON, METRICS, SPREAD, SALT, GRAFTS) = range(10)
OPTIONS = 10
"""opts[UCB1]: no formula; opts[INSIDE]: the constant stands under the root; opts[HORIZON]: deepest node; opts[GRAFTS]:
whole traces are put into the tree (`graft`)."""
C, LOWEST = 0, 1
NOBODY, UNKNOWN = -1, -1
GOING, DONE, DEAD = 0, 1, 2
"""STATUS: DONE where all below is known, DEAD where the game fails whatever is tried."""
FULL = 1 << 62
PATIENCE = 2
"""Failures of the game at a prefix that was never played to an end, after which it is given up."""


@jit
def plant(links: Any, values: Any) -> int:
    """Make the root, of which nothing is known yet."""
    _fill(links, values, 0, NOBODY, 0, 0)
    return 1


@compiled
def _fill(links: Any, values: Any, node: int, parent: int, choice: int, depth: int) -> None:
    for i in range(LINKS):
        links[node, i] = 0
    links[node, PARENT] = parent
    links[node, FIRST] = NOBODY
    links[node, NEXT] = NOBODY
    links[node, CHOICE] = choice
    links[node, COUNT] = UNKNOWN
    links[node, DEPTH] = depth
    values[node, TOTAL] = 0.0
    values[node, BEST] = -math.inf
    values[node, SQUARES] = 0.0


@compiled
def _untried(links: Any, order: Any, opts: Any, node: int) -> int:
    """The choice to try next: in the game's order, or in one shuffled by the node."""
    tried = links[node, TRIED]
    if opts[SHUFFLE] == 0:
        return tried + 0  # type: ignore[no-any-return]
    count = links[node, COUNT]
    for k in range(count):
        order[k] = k
    x = opts[SALT] ^ (node * 0x9E3779B1)
    for k in range(tried + 1):
        x = (x * 25214903917 + 11) & 0xFFFFFFFFFFFF
        other = k + (x >> 16) % (count - k)
        order[k], order[other] = order[other], order[k]
    return order[tried] + 0  # type: ignore[no-any-return]


@compiled
def _score(links: Any, values: Any, metrics: Any, opts: Any, numbers: Any, pops: Any, pconst: Any, vars: Any,
           stack: Any, child: int, visits: int, log_visits: float) -> float:
    """The tree policy's score of a child; rollouts under way count as the lowest utility."""
    pending = links[child, PENDING]
    n = links[child, VISITS] + pending
    mean = (values[child, TOTAL] + pending * numbers[LOWEST]) / n
    if opts[UCB1]:
        if opts[INSIDE]:
            return mean + math.sqrt(numbers[C] * log_visits / n)  # type: ignore[no-any-return]
        return mean + numbers[C] * math.sqrt(log_visits / n)  # type: ignore[no-any-return]
    k = opts[METRICS]
    for i in range(k):
        vars[i] = metrics[child, i]
    best = values[child, BEST]
    vars[k] = mean if opts[MEAN] else 0.75 * mean + 0.25 * best
    vars[k + 1] = n
    vars[k + 2] = visits
    vars[k + 3] = links[child, DEPTH]
    vars[k + 4] = best
    if opts[SPREAD]:
        known = links[child, VISITS]
        middle = values[child, TOTAL] / known
        vars[k + 5] = math.sqrt(max(0.0, values[child, SQUARES] / known - middle * middle))
    return run(pops, pconst, vars, stack)


@compiled
def _select(links: Any, values: Any, metrics: Any, opts: Any, numbers: Any, pops: Any, pconst: Any, vars: Any,
            stack: Any, rng: Any, node: int) -> int:
    """The child to go on to, NOBODY if all are closed: the best of those that are known, by lot among equals; where
    none is known, the one that the fewest rollouts are under way to."""
    visits = links[node, VISITS] + links[node, PENDING]
    log_visits = math.log(max(1, visits))
    chosen = NOBODY
    unknown = NOBODY
    top = -math.inf
    ties = 0
    child = links[node, FIRST]
    while child != NOBODY:
        status = links[child, STATUS]
        if status == GOING or (status == DONE and opts[CUT_OFF] == 0):
            if links[child, VISITS] == 0:
                if unknown == NOBODY or links[child, PENDING] <= links[unknown, PENDING]:
                    unknown = child
            else:
                s = _score(links, values, metrics, opts, numbers, pops, pconst, vars, stack, child, visits, log_visits)
                if ties == 0 or s > top:
                    top = s
                    chosen = child
                    ties = 1
                elif s == top:
                    ties += 1
                    if (draw(rng) * ties) >> 32 == 0:
                        chosen = child
        child = links[child, NEXT]
    return chosen if chosen != NOBODY else unknown


@jit
def descend(links: Any, values: Any, metrics: Any, opts: Any, numbers: Any, pops: Any, pconst: Any, vars: Any,
            stack: Any, order: Any, rng: Any, nodes: int) -> int:
    """Choose the node to roll out from, new or known, and count the rollout as under way.

    Returns:
        The node, NOBODY where nothing is left to be tried; FULL is added where a node would have been made but for the
        room. A new node is number `nodes`.
    """
    node = 0
    full = 0
    while True:
        count = links[node, COUNT]
        if links[node, STATUS] == DEAD or (links[node, STATUS] == DONE and opts[CUT_OFF]):
            return NOBODY
        if count <= 0 or links[node, DEPTH] >= opts[HORIZON]:
            break
        if links[node, TRIED] < count:
            if nodes >= len(links):
                full = FULL
                break
            choice = _untried(links, order, opts, node)
            _fill(links, values, nodes, node, choice, links[node, DEPTH] + 1)
            links[nodes, NEXT] = links[node, FIRST]
            links[node, FIRST] = nodes
            links[node, TRIED] += 1
            links[node, OPEN] += 1
            if opts[GRAFTS]:
                _pass_known(links, order, opts, node)
            node = nodes
            break
        below = _select(links, values, metrics, opts, numbers, pops, pconst, vars, stack, rng, node)
        if below == NOBODY:
            return NOBODY
        node = below
    at = node
    while at != NOBODY:
        links[at, PENDING] += 1
        at = links[at, PARENT]
    return node + full


@jit
def prefix(links: Any, node: int, out: Any) -> int:
    """Write the pairs of choice and count that lead to a node; how many numbers that were. out: uint16[2 depth]."""
    at = node
    k = 2 * links[node, DEPTH]
    while links[at, PARENT] != NOBODY:
        parent = links[at, PARENT]
        k -= 2
        out[k] = links[at, CHOICE]
        out[k + 1] = links[parent, COUNT]
        at = parent
    return 2 * links[node, DEPTH]  # type: ignore[no-any-return]


@compiled
def _close(links: Any, node: int, status: int) -> None:
    """Mark a node, and all above it that have nothing left, as done."""
    links[node, STATUS] = status
    node = links[node, PARENT]
    while node != NOBODY:
        links[node, OPEN] -= 1
        if links[node, OPEN] > 0 or links[node, TRIED] < links[node, COUNT] or links[node, STATUS] != GOING:
            return
        links[node, STATUS] = DONE
        node = links[node, PARENT]


@jit
def enter(links: Any, values: Any, opts: Any, node: int, count: int, utility: float) -> int:
    """Back a result up. count: choices at the node, 0 if the game is over there."""
    at = node
    while at != NOBODY:
        links[at, PENDING] -= 1
        links[at, VISITS] += 1
        values[at, TOTAL] += utility
        values[at, SQUARES] += utility * utility
        if utility > values[at, BEST]:
            values[at, BEST] = utility
        at = links[at, PARENT]
    if links[node, COUNT] == UNKNOWN:
        links[node, COUNT] = count
        if links[node, STATUS] == GOING and (count == 0 or links[node, DEPTH] >= opts[HORIZON]):
            _close(links, node, DONE)
    return 0


@compiled
def _child(links: Any, node: int, choice: int) -> int:
    """The child that a choice leads to, NOBODY where there is none."""
    child = links[node, FIRST]
    while child != NOBODY and links[child, CHOICE] != choice:
        child = links[child, NEXT]
    return child + 0  # type: ignore[no-any-return]


@compiled
def _pass_known(links: Any, order: Any, opts: Any, node: int) -> None:
    """Go on in the order of choices to the next without a child, so that TRIED is below COUNT only if there is one."""
    while links[node, TRIED] < links[node, COUNT]:
        if _child(links, node, _untried(links, order, opts, node)) == NOBODY:
            return
        links[node, TRIED] += 1


@jit
def graft(links: Any, values: Any, metrics: Any, opts: Any, order: Any, nodes: int, node: int, pairs: Any, rows: Any,
          utility: float) -> int:
    """Put the rest of a trace into the tree below the node that it was rolled out from, each node with this result.

    pairs: int64[2 k], choice and count of the k decisions from the node on. rows: float64[k + 1, game's], the metrics
    before each of them and at the end.

    Returns:
        How many nodes the tree has then.
    """
    for i in range(len(pairs) // 2):
        if links[node, DEPTH] >= opts[HORIZON]:
            break
        child = _child(links, node, pairs[2 * i])
        if child == NOBODY:
            if nodes >= len(links):
                break
            child = nodes + 0
            _fill(links, values, child, node, pairs[2 * i], links[node, DEPTH] + 1)
            links[child, NEXT] = links[node, FIRST]
            links[node, FIRST] = child
            links[node, OPEN] += 1
            nodes += 1
            _pass_known(links, order, opts, node)
        links[child, VISITS] += 1
        values[child, TOTAL] += utility
        values[child, SQUARES] += utility * utility
        values[child, BEST] = max(values[child, BEST], utility)
        if links[child, COUNT] == UNKNOWN:
            count = pairs[2 * i + 3] if 2 * i + 3 < len(pairs) else 0
            links[child, COUNT] = count
            for k in range(opts[METRICS]):
                metrics[child, k] = rows[i + 1, k]
            if links[child, STATUS] == GOING and (count == 0 or links[child, DEPTH] >= opts[HORIZON]):
                _close(links, child, DONE)
        node = child
    return nodes


@jit
def lose(links: Any, node: int) -> int:
    """Take back a rollout in which the game failed; a node that was only seen to fail is given up."""
    at = node
    while at != NOBODY:
        links[at, PENDING] -= 1
        at = links[at, PARENT]
    links[node, LOSSES] += 1
    tries = links[node, LOSSES]
    if links[node, VISITS] == 0 and links[node, PENDING] == 0 and tries >= PATIENCE and links[node, STATUS] == GOING:
        _close(links, node, DEAD)
    return 0


@jit
def value(ops: Any, constants: Any, vars: Any, stack: Any) -> float:
    """A formula's value."""
    return run(ops, constants, vars, stack)
