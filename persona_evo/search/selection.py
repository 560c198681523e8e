"""Selects the child to descend to: the one with the highest score of the tree policy; ties are broken at random."""

from __future__ import annotations

import math

from persona_evo.compiling import compiled
from persona_evo.search.layout import IS_UCB1, MERGE, Options, SearchSpace
from persona_evo.search.tree import FIRST, KIDS, NODE, SLOT, STATUS, TOTAL, VISITS, Tree
from persona_evo.search.tree_policy import EVERY_TIME
from persona_evo.seeds import draw


@compiled
def select(work: SearchSpace, slot: int, depth: int) -> int:
    """Select the child of a slot to descend to.

    Returns:
        (child's slot << 1) | (1 if there was a tie); -1 if all children are closed.
    """
    tree, options, scores = work.tree, work.options, work.buffers.scores
    first, kids, visits = tree.links[slot, FIRST], tree.links[slot, KIDS], tree.links[slot, VISITS]
    if options.hashed == MERGE:
        for child in range(first, first + kids):
            share(tree, child)
    if options.holds == IS_UCB1:
        log_visits = math.log(max(1, visits))
        for k in range(kids):
            scores[k] = ucb1(options, tree.values[first + k, TOTAL], tree.links[first + k, VISITS], log_visits)
    elif options.holds == EVERY_TIME:
        work.codes.score(tree.values[first : first + kids], kids, visits, depth + 1, scores)
    return pick(work, first, kids)


@compiled
def ucb1(options: Options, total: float, visits: int, log_visits: float) -> float:
    """Return UCB1 of a child whose utilities sum to `total`, given the logarithm of its parent's visits."""
    n = max(1, visits)
    if options.inside:
        return total / n + math.sqrt(options.c * log_visits / n)
    return total / n + options.c * math.sqrt(log_visits / n)


@compiled
def score_of(work: SearchSpace, child: int, k: int) -> float:
    """Return the score of a child, the k-th of its block, from its slot or from `scores`."""
    if work.options.holds == EVERY_TIME or work.options.holds == IS_UCB1:
        return work.buffers.scores[k]
    return work.tree.values[child, work.tree.columns.score]


@compiled
def pick(work: SearchSpace, first: int, kids: int) -> int:
    """Return the child with the best score among those that are not closed, as `select` does."""
    links, closed = work.tree.links, work.options.cut_off
    chosen = -1
    ties = 1
    top = -math.inf
    for back in range(1, kids + 1):
        k = kids - back
        if links[first + k, STATUS] & closed == 0:
            score = score_of(work, first + k, k)
            if score > top:
                top = score
                chosen = k
                ties = 1
            elif score == top and chosen >= 0:
                ties += 1
                if work.options.early and (draw(work.buffers.rng) * ties) >> 32 == 0:
                    chosen = k
    if chosen < 0:
        return -1
    if ties == 1 or work.options.early:
        return (first + chosen) * 2 + (ties > 1)
    wanted = (draw(work.buffers.rng) * ties) >> 32
    k = kids
    while wanted >= 0:
        k -= 1
        if links[first + k, STATUS] & closed == 0 and score_of(work, first + k, k) == top:
            wanted -= 1
    return (first + k) * 2 + 1


@compiled
def share(tree: Tree, slot: int) -> None:
    """Copy the statistics from the node that represents all nodes with an equal state."""
    twin = tree.nodes[tree.twins[tree.links[slot, NODE]], SLOT]
    if twin == slot:
        return
    tree.links[slot, VISITS] = tree.links[twin, VISITS]
    tree.values[slot, TOTAL] = tree.values[twin, TOTAL]
    if tree.columns.best >= 0:
        tree.values[slot, tree.columns.best] = tree.values[twin, tree.columns.best]
    if tree.columns.squares >= 0:
        tree.values[slot, tree.columns.squares] = tree.values[twin, tree.columns.squares]
