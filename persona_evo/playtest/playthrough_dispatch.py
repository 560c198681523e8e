"""Distributes the playthroughs of a batch to workers, and finds those that have to be played again."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from persona_evo.jobs.dispatch import PART_SECONDS, Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.playing import PlaythroughJob, ProvenSource, Spec, play
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget

_GUESS, _ROUTE = 300_000.0, 0.005
"""Estimates of iterations per second, and of seconds per route drawn from an existing search, until some were timed."""

_WORTH_SEARCHING = 4.0
"""Duration of the routes drawn elsewhere from a search, as a multiple of the search's duration."""


class PlaythroughDispatch(Dispatch[Spec, PlaythroughJob, Playthrough]):
    """Dispatches the missing playthroughs of a batch.

    A trial of a group (a level and a player) that comes after a proof draws a route. Searches that ran in parallel with
    the trial that found the proof are replaced by routes, since they could not know of it. Until a group's first trial
    is done, its trials stay together: they will most likely draw from that trial's search, which another worker would
    have to repeat.

    Args:
        there: the playthroughs that were made before, the first of `todo`.
    """

    def __init__(
        self, spec: Spec, todo: Sequence[PlaythroughJob], there: Sequence[Playthrough], workers: Workers, apart: float
    ) -> None:
        jobs = todo[len(there) :]
        super().__init__(workers, play, spec, jobs, [job.group for job in jobs], [apart] * len(jobs))
        self._spec, self._apart = spec, apart
        self.here = spec.home is None
        self._proofs = spec.proofs(todo, there)
        self._searched = {job.group for job, _ in zip(todo, there, strict=False)}
        self._given: dict[int, ProvenSource] = {}
        self._groups: dict[tuple[int, int], range] = {}
        for group, numbers in itertools.groupby(range(len(jobs)), key=lambda n: jobs[n].group):
            own = list(numbers)
            self._groups[group] = range(own[0], own[-1] + 1)
            if group in self._proofs or self._may_draw(group):
                self._thought[own[group not in self._proofs :]] = _ROUTE

    def __iter__(self) -> Iterator[list[Playthrough]]:
        if self.jobs and self.here and not self.workers.alone and self.begin():
            quick = replace(self._spec, budget=Budget(iterations=1))
            deque(play(quick, self.jobs[:1]), maxlen=0)  # compile everything once, before all workers do
        return super().__iter__()

    def _may_draw(self, group: tuple[int, int]) -> bool:
        """Return whether nothing is known about a group yet and its first trial may find a proof."""
        return self._spec.drawing[group[1]] and group not in self._proofs and group not in self._searched

    def job(self, number: int) -> PlaythroughJob:
        """Return a job, with the search to draw from."""
        job = self.jobs[number]
        source = self._proofs.get(job.group)
        if source is None or source.trial >= job.trial:
            return job
        self._given[number] = source
        return job._replace(source=source)

    def size(self, first: int, most: int, seconds: float) -> tuple[int, float]:
        """Keep groups that may find a proof together, and make batches of routes worth the search that they need."""
        if self.jobs[first].group in self._proofs:
            return super().size(first, most, max(seconds, _WORTH_SEARCHING * self._apart))
        count, _ = super().size(first, most, seconds)
        groups = [job.group for job in self.jobs[first : first + most]]
        while count < most and groups[count] == groups[count - 1] and self._may_draw(groups[count]):
            count += 1
        longest = max(PART_SECONDS[1], _WORTH_SEARCHING * self._apart)
        return count, max(seconds, min(longest, float(self._cost[first : first + count].sum())))

    def made(self, first: int, results: Sequence[Playthrough]) -> list[int]:
        """Return the playthroughs that have to be played again, of the groups of some new playthroughs."""
        jobs = self.jobs[first : first + len(results)]
        for group, source in self._spec.proofs(jobs, results).items():
            known = self._proofs.get(group)
            if known is None or source.trial < known.trial:
                self._proofs[group] = source
        touched = {job.group for job in jobs}
        for group in touched:
            self._thought[self._groups[group]] = _ROUTE if group in self._proofs else self._apart
        self._searched |= touched
        return [n for group in touched & self._proofs.keys() for n in self._groups[group] if self._is_late(n)]

    def _is_late(self, number: int) -> bool:
        """Return whether a playthrough searched, or drew from a later search, despite an earlier proof."""
        job, record = self.jobs[number], self._results[number]
        source = self._proofs[job.group]
        return (
            record is not None
            and job.trial > source.trial
            and record.search != source.trial
            and self._given.get(number) != source
        )


def thought(budget: Budget) -> float:
    """Estimate the seconds that a search takes."""
    return budget.seconds or max(1e-4, (budget.iterations or budget.nodes or 0) / _GUESS)
