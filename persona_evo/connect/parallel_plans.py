"""Runs several searches of a connected game in parallel on the same processes.

A search with one slot waits for the game after each rollout, and the game waits for the search. Here searches take
turns, so that many orders and results are under way at once. A search depends only on its seed and its slots, so each
one has the same result as if it ran alone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from persona_evo.connect.planner import ConnectedPlanner
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.pool_share import Share
from persona_evo.formula import Formula
from persona_evo.search.plan import Plan
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy

AT_ONCE = 64
"""The largest number of searches that run in parallel."""

NODES = 2_000_000
"""The largest total capacity of several parallel searches, in nodes."""


class PlanningJob(NamedTuple):
    """Holds the arguments of one call of `ConnectedPlanner.plan`; the budget must not limit seconds."""

    planner: ConnectedPlanner
    utility: Formula
    policy: TreePolicy
    budget: Budget
    seed: int


def plan_in_parallel(jobs: Iterable[PlanningJob], until: float | None = None) -> Iterator[Plan]:
    """Yield the plans in the order of the jobs; a job is read only when there is room for it.

    Args:
        jobs: what is to be planned.
        until: the moment on `time.monotonic` at which searches that still run are abandoned, None for never.

    Raises:
        ConnectError, GameError: see `ConnectedPlanner.plan`.
    """
    group: list[PlanningJob] = []
    for job in jobs:
        room = min(AT_ONCE, NODES // job.planner.capacity)
        if group and (len(group) >= room or job.planner.place != group[0].planner.place):
            yield from _plan(group, until)
            if _is_over(until):
                return
            group = []
        group.append(job)
    if group:
        yield from _plan(group, until)


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until


def _plan(group: list[PlanningJob], until: float | None) -> Iterator[Plan]:
    """Yield the plans of jobs for levels with the same map and variant; nothing if the time is up before they end."""
    began = time.perf_counter()
    searches = [job.planner.search(job.utility, job.policy, job.seed) for job in group]
    pool = searches[0].pool
    assert isinstance(pool, ProcessPool)
    owners: deque[Share] = deque()
    for search in searches:
        search.pool = Share(pool, owners)
    queue, pool.queue = pool.queue, pool.queue * len(group)
    running = [search.steps(job.budget, began) for search, job in zip(searches, group, strict=True)]
    try:
        while running:
            if _is_over(until):
                pool.settle()
                return
            running = [search for search in running if next(search, None) is not None]
        pool.settle()
    finally:
        pool.queue = queue
        group[0].planner.settle(pool)
    seconds = (time.perf_counter() - began) / len(group)
    for job, search in zip(group, searches, strict=True):
        yield job.planner.plan_of(search, job.seed, seconds)
