"""Which child is descended to: the one that the tree policy scores highest.

Names of arguments as in `layout`.
"""

from __future__ import annotations

import math
from typing import Any

from persona_evo.compiling import compiled, jit
from persona_evo.formula.machine import run
from persona_evo.search.layout import (
    AMAF, CUT_OFF, ENDS, HOLDS, IS_UCB1, KEPT, MEAN, METRICS, READS, SHARED, SPREAD,
)
from persona_evo.search.tree import (
    BEST, DEPTH, DONE, FIRST, KEPT_PART, NEXT, NOBODY, SCORE, SQUARES, STATUS, TOTAL, TWIN, VISITS,
)
from persona_evo.search.tree_policy import EVERY_TIME
from persona_evo.seeds import draw


@jit
def keep(measure: Any, tables: Any, values: Any, states: Any, opts: Any, fops: Any, pconst: Any, vars: Any,
         stack: Any, node: int, player: int) -> None:
    """Work out the parts of the tree policy that a new node keeps."""
    if opts[KEPT]:
        measure(tables, states[node], player, vars)
    begin = 0
    for k in range(opts[KEPT]):
        end = opts[ENDS + k]
        values[node, KEPT_PART + k] = run(fops[begin:end], pconst, vars, stack)
        begin = end


@jit
def share(opts: Any, fops: Any, pconst: Any, vars: Any, stack: Any, visits: int) -> None:
    """Work out the parts of the tree policy that are the same for all children of a node with `visits` visits."""
    vars[opts[METRICS] + 2] = visits
    kept = opts[KEPT]
    for k in range(kept, kept + opts[SHARED]):
        begin = opts[ENDS + k - 1] if k > 0 else 0
        vars[opts[METRICS] + 6 + k] = run(fops[begin : opts[ENDS + k]], pconst, vars, stack)


@compiled
def score(measure: Any, tables: Any, links: Any, values: Any, states: Any, node: int, visits: int, player: int,
          pops: Any, pconst: Any, vars: Any, stack: Any, opts: Any) -> float:
    """The formula's score of a node whose parent has `visits` visits."""
    if opts[READS]:
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
        if opts[SPREAD]:
            spread = math.sqrt(max(0.0, values[twin, SQUARES] / n - mean * mean))
    vars[k] = mean if opts[MEAN] else 0.75 * mean + 0.25 * top
    vars[k + 1] = n
    vars[k + 2] = visits
    vars[k + 3] = links[node, DEPTH]
    vars[k + 4] = top
    vars[k + 5] = spread
    for i in range(opts[KEPT]):
        vars[k + 6 + i] = values[node, KEPT_PART + i]
    if opts[AMAF]:
        at = KEPT_PART + opts[KEPT]
        count = values[node, at]
        k += 6 + opts[KEPT] + opts[SHARED]
        vars[k] = count
        vars[k + 1] = values[node, at + 1] / count if count > 0.0 else 0.0
    return run(pops, pconst, vars, stack)


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
           pconst: Any, fops: Any, vars: Any, stack: Any, rng: Any, node: int, player: int) -> int:
    """The child with the best score, as (row << 1) | (1 if there was a tie); -1 where all are closed."""
    visits = links[links[node, TWIN], VISITS]
    log_visits = math.log(max(1, visits)) if opts[HOLDS] == IS_UCB1 else 0.0
    if opts[SHARED]:
        share(opts, fops, pconst, vars, stack, visits)
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
