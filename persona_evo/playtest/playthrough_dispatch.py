"""How the playthroughs of a batch are given to workers, and which of them have to be played again."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.playing import PlaythroughJob, ProvenSource, Spec, play
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget

_GUESS, _ROUTE = 300_000.0, 0.005
"""Iterations per second, and seconds of a route drawn from a search that is there, until some were timed."""

_WORTH_SEARCHING = 4.0
"""How many times longer than a search the routes take that are drawn from it elsewhere."""


class PlaythroughDispatch(Dispatch[Spec, PlaythroughJob, Playthrough]):
    """The playthroughs of a batch that are not there yet.

    A trial of a group (a level and a player) that comes after a proof draws a route. What was searched beside the trial
    that came to the proof, since nobody could know of it, is replaced. Until a group's first trial is done, its trials
    stay together: most likely they will draw from that trial's search, which would have to be made again elsewhere.

    Args:
        there: the playthroughs that were made before, the first of `todo`.
    """

    def __init__(
        self, spec: Spec, todo: Sequence[PlaythroughJob], there: Sequence[Playthrough], workers: Workers, apart: float
    ) -> None:
        jobs = todo[len(there) :]
        super().__init__(workers, play, spec, jobs, [job.group for job in jobs], [apart] * len(jobs))
        self._spec, self._apart = spec, apart
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
        if self.jobs and not self.workers.alone and self.begin():
            quick = replace(self._spec, budget=Budget(iterations=1))
            deque(play(quick, self.jobs[:1]), maxlen=0)  # compiles everything before all workers start to do the same
        return super().__iter__()

    def _may_draw(self, group: tuple[int, int]) -> bool:
        """Whether nothing is known of a group yet and its first trial may come to a proof."""
        return self._spec.drawing[group[1]] and group not in self._proofs and group not in self._searched

    def job(self, number: int) -> PlaythroughJob:
        """With the search to draw from."""
        job = self.jobs[number]
        source = self._proofs.get(job.group)
        if source is None or source.trial >= job.trial:
            return job
        self._given[number] = source
        return job._replace(source=source)

    def size(self, first: int, most: int, seconds: float) -> tuple[int, float]:
        """Groups that may come to a proof are not cut, and routes are worth the search that they need."""
        if self.jobs[first].group in self._proofs:
            return super().size(first, most, max(seconds, _WORTH_SEARCHING * self._apart))
        count, _ = super().size(first, most, seconds)
        groups = [job.group for job in self.jobs[first : first + most]]
        while count < most and groups[count] == groups[count - 1] and self._may_draw(groups[count]):
            count += 1
        return count, max(seconds, float(self._cost[first : first + count].sum()))

    def made(self, first: int, results: Sequence[Playthrough]) -> list[int]:
        """What has to be played again, of the groups of some new playthroughs."""
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
        """Whether a playthrough is there that searched, or drew from a later search, despite an earlier proof."""
        job, record = self.jobs[number], self._results[number]
        source = self._proofs[job.group]
        return (
            record is not None
            and job.trial > source.trial
            and record.search != source.trial
            and self._given.get(number) != source
        )


def thought(budget: Budget) -> float:
    """Seconds that a search takes, about."""
    return budget.seconds or max(1e-4, (budget.iterations or budget.nodes or 0) / _GUESS)
