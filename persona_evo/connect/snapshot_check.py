"""Checks for the doctor whether kept states change the results of a game, and measures how much time they save."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from persona_evo.connect import protocol as p
from persona_evo.connect.pool import ProcessPool
from persona_evo.words import percent

_SHARE = 0.75
"""How far into a playthrough a state is kept, as a share of its decisions."""

_EACH = 10
"""The number of rollouts from each state."""

_FIRST = 1 << 62
"""The number of the first state, which is larger than any that a search uses."""


def check_snapshots(
    pool: ProcessPool, orders: Sequence[p.Rollout], differences: Callable[[p.Result, p.Result, str], list[str]]
) -> tuple[list[str], str]:
    """Play the ends of some playthroughs both from the start and from kept states, and compare the results.

    Args:
        pool: plays the rollouts; its game has the capability `snapshot`.
        orders: complete playthroughs, as prefixes.
        differences: differences(a, b, what) describes how two results differ that should be equal.

    Returns:
        Sentences about what is wrong, and a sentence about the rates.
    """
    parts = []
    for i, order in enumerate(orders):
        depth = int(_SHARE * (len(order.prefix) // p.PAIR))
        part = order._replace(prefix=order.prefix[: depth * p.PAIR])
        parts.append((part, (depth, _FIRST + i)))
    for _ in pool.play([part._replace(snapshot=number) for part, (_, number) in parts for _ in range(pool.size)]):
        pass
    plain, plain_rate = _timed(pool, [part._replace(rollout_seed=k) for part, _ in parts for k in range(_EACH)])
    kept, rate = _timed(
        pool, [part._replace(rollout_seed=k, states=(state,)) for part, state in parts for k in range(_EACH)]
    )
    faults = []
    for a, b in zip(plain, kept, strict=True):
        if isinstance(a, p.Result) and isinstance(b, p.Result):
            faults += differences(a, b, "a playthrough from its start, then from a kept state")
    return faults[:1], (
        f"save-states: {rate:,.0f} rollouts/s from {percent(_SHARE)} of the way, {rate / plain_rate:.1f} times as many "
        f"as from the start ({plain_rate:,.0f})"
    )


def _timed(pool: ProcessPool, orders: Sequence[p.Rollout]) -> tuple[list[object], float]:
    """Play rollouts; return the results and the number of rollouts a second."""
    began = time.perf_counter()
    results: list[object] = list(pool.play(orders))
    return results, len(results) / max(1e-9, time.perf_counter() - began)
