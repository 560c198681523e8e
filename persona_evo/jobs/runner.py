"""Collect the results of a job while workers make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from persona_evo.jobs.journal import Journal

R = TypeVar("R")


def collect(
    parts: Iterable[Sequence[R]],
    results: list[R],
    journal: Journal[R] | None = None,
    report: Callable[[Sequence[R]], object] | None = None,
) -> bool:
    """Write down results as they come, then keep and report them.

    Args:
        parts: the results that are still missing, some at a time, in their order (such as a `Dispatch`).
        results: those that are there; new ones are added.
        journal: where each part is written before anything else happens with it; None for nowhere.
        report: called with each part when it is kept.

    Returns:
        Whether the job is complete; False where Ctrl-C ended it.
    """
    try:
        for made in parts:
            if journal is not None:
                journal.append(made)
            results += made
            if report is not None:
                report(made)
    except KeyboardInterrupt:
        return False
    return True
