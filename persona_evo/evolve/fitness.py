"""Measures the fitness of a tree policy: the persona's utility at the end of playthroughs planned by a search with it.

If an agent plays move by move (`agents.duel`), a playthrough is the game it played. In a two-player game, the agent
meets the opponents of a league. Each pair of a level and an opponent is a case of its own, so selection by cases
favours play that does well against all opponents.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

from persona_evo.evolve.duplicates import first_of_equals
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.playthroughs import FitnessTrial, PlaythroughScore, Stop, mean_score, play, workshop
from persona_evo.evolve.records import Request
from persona_evo.jobs.dispatch import Costs, Dispatch
from persona_evo.jobs.workers import Usage, Workers
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy

_GUESS = 300_000.0
"""The assumed iterations per second before the first playthroughs are timed."""
_QUICKEST = 1e-6
"""The lowest number of seconds assumed for a playthrough."""
_FIRST_ITERATIONS, _GROWTH, _TELLING = 16, 8.0, 0.5
"""How a playthrough is timed: the iterations of the first one, the factor from one to the next, and the number of
seconds that is long enough.
"""
_TOGETHER = 4
"""The number of playthroughs of a connected game that are timed side by side."""


class OutOfTime(Exception):
    """Signals that the deadline came before everything was played (see `Fitness.stop`). It never reaches a user."""


class Fitness:
    """Evaluates the requests of an evolution; the evaluation that `islands.generations` takes.

    Attributes:
        spec: what is played.
        workers: the workers that play.
        stop: the moment on `time.monotonic` after which nothing is begun, None for never.
        finished: (utilities, evaluations) of each formula evaluated so far, if there is a `stop`.
        pace: the seconds that a playthrough takes on one core, by recent measurements.
    """

    def __init__(self, spec: FitnessSpec, workers: Workers) -> None:
        self.spec, self.workers = spec, workers
        self.stop: float | None = None
        self.finished: dict[str, tuple[list[float], int]] = {}
        seconds = spec.budget.seconds or (spec.budget.iterations or spec.budget.nodes or 0) / _GUESS
        self.pace = self._thought = max(_QUICKEST, seconds)
        self._costs = Costs()
        self._warm = False
        self._spared = 0

    def __call__(self, requests: Sequence[Request]) -> list[list[float]]:
        """Return for each request the fitness of each of its cases (`FitnessSpec.share`), as the mean over the trials.

        Raises:
            OutOfTime: `stop` came first.
        """
        return [
            [self.spec.share(case, s.utility, s.won) for case, s in zip(_cases(request), scores, strict=True)]
            for request, scores in zip(requests, self.scores(requests), strict=True)
        ]

    def scores(self, requests: Sequence[Request]) -> list[list[PlaythroughScore]]:
        """Return for each request the mean utility and priority in each case.

        In a two-player game, the seed decides the side of the first trial, so all who play with the same seeds have the
        same sides. After that, the sides alternate.

        Raises:
            OutOfTime: `stop` came first.
        """
        most = max((len(trials) for request in requests for trials in request.seeds), default=0)
        played = self.trials(
            [r.formula for r in requests],
            [r.seeds for r in requests],
            0,
            most,
            [_cases(r) for r in requests],
            [r.shares for r in requests],
        )
        means = [None if cases is None else [mean_score(trials) for trials in cases] for cases in played]
        if self.stop is not None:
            for request, cases in zip(requests, means, strict=True):
                if cases:  # a part of a race may be empty
                    self._learn(request, [score.utility for score in cases])
        if any(cases is None for cases in means):
            raise OutOfTime
        return [cases for cases in means if cases is not None]

    def trials(
        self,
        policies: Sequence[str | TreePolicy],
        seeds: Sequence[Sequence[Sequence[int]]],
        first: int,
        end: int,
        numbers: Sequence[Sequence[int]] | None = None,
        shares: Sequence[Sequence[float]] | None = None,
    ) -> list[list[list[PlaythroughScore]] | None]:
        """Return each policy's scores in the trials from number `first` up to, but not including, number `end`.

        Args:
            policies: formulas or tree policies.
            seeds: the seeds of all trials, [policy][case][trial].
            numbers: the numbers of these cases, [policy][case]; None for all cases in order.
            shares: shares of the budget, [policy][case]; empty for the whole budget, None for the whole budget
                everywhere.

        Returns:
            [policy][case][trial]; None for a policy that had not finished when `stop` came.
        """
        sides = 1 if self.spec.league is None else self.spec.league.sides
        places = [
            (who, case, trial)
            for trial in range(first, end)
            for who, cases in enumerate(seeds)
            for case, trials in enumerate(cases)
            if trial < len(trials)
        ]
        results = self._play(
            [
                FitnessTrial(
                    policies[who],
                    numbers[who][case] if numbers else case,
                    seeds[who][case][trial],
                    (seeds[who][case][0] + trial) % sides,
                    shares[who][case] if shares and shares[who] else 1.0,
                )
                for who, case, trial in places
            ]
        )
        found: list[list[list[PlaythroughScore]]] = [[[] for _ in cases] for cases in seeds]
        cut: set[int] = set()
        for (who, case, _), score in zip(places, results, strict=True):
            if score is None:
                cut.add(who)
            else:
                found[who][case].append(score)
        return [None if who in cut else cases for who, cases in enumerate(found)]

    def usage(self) -> Usage:
        """Return how well the cores were used since the last call."""
        return self.workers.usage()

    def spared(self) -> int:
        """Return the number of playthroughs that reused the result of an equal one since the last call."""
        spared, self._spared = self._spared, 0
        return spared

    def check(self) -> None:
        """Raise OutOfTime if `stop` has come."""
        if self.stop is not None and time.monotonic() > self.stop:
            raise OutOfTime

    def seconds(self, playthroughs: float) -> float:
        """Return the time that so many playthroughs take on all cores, in seconds."""
        return playthroughs * self.pace / self.workers.jobs

    def time_one(self, formula: str) -> float:
        """Measure the time of a playthrough.

        It plays with growing shares of the budget, the first one small, until a playthrough is long enough to be
        measured. A large budget in a slow game then does not use up the time that is to be planned.

        Returns:
            The elapsed time as a multiple of this process's own work: about 1 on an idle machine. It is 1 for games
            that run elsewhere, since waiting for them does not show that the machine is busy.
        """
        began, worked = time.perf_counter(), time.process_time()
        self.warm_up()
        shop = workshop(self.spec)
        together = _TOGETHER if shop.side_by_side else 1
        whole = self.spec.budget.iterations or self.spec.budget.nodes or 1
        share = 1.0 if self.spec.budget.seconds else min(1.0, _FIRST_ITERATIONS / whole)
        if together > 1:  # starts the game's processes
            self._play_alike(formula, together, min(1.0, together / whole))
        while True:
            started = time.perf_counter()
            self._play_alike(formula, together, share)
            ended = time.perf_counter()
            if share == 1.0 or ended - started >= _TELLING:
                break
            share = min(1.0, _GROWTH * share)
        self.pace = max(_QUICKEST, (ended - started) / share / together)
        if shop.game.outside is not None:
            return 1.0
        return (ended - began) / max(_QUICKEST, time.process_time() - worked)

    def _play_alike(self, formula: str, count: int, share: float) -> None:
        """Play the first case `count` times with a share of the budget, and discard the results."""
        trials = [FitnessTrial(formula, 0, seed, 0, share) for seed in range(count)]
        for _ in play((self.spec, None), trials):
            pass

    def _learn(self, request: Request, utilities: list[float]) -> None:
        known, n = self.finished.get(request.formula, ([], 0))
        if request.cases:  # other levels each time
            self.finished[request.formula] = known + utilities, 1
            return
        means = [(mean * n + u) / (n + 1) for mean, u in zip(known or utilities, utilities, strict=True)]
        self.finished[request.formula] = means, n + 1

    def _play(self, trials: Sequence[FitnessTrial]) -> list[PlaythroughScore | None]:
        """Return the scores of trials. Equal trials are played once."""
        if not trials:
            return []
        if not self.spec.reproducible:
            return self._play_each(trials)
        first = first_of_equals(trials, by_form=self.spec.by_form)
        played = sorted(set(first))
        self._spared += len(trials) - len(played)
        scores = dict(zip(played, self._play_each([trials[i] for i in played]), strict=True))
        return [scores[i] for i in first]

    def _play_each(self, trials: Sequence[FitnessTrial]) -> list[PlaythroughScore | None]:
        parts = Dispatch(
            self.workers,
            play,
            (self.spec, self._stop()),
            trials,
            [trial.case for trial in trials],
            [self._thought] * len(trials),
            self._costs,
        )
        whole = self.workers.alone and workshop(self.spec).side_by_side
        if not whole:
            parts.begin()
        self.warm_up()
        started = time.perf_counter()
        scores = [score for part in ([play(parts.shared, trials)] if whole else parts) for score in part]
        seconds = (time.perf_counter() - started) * min(self.workers.jobs, len(trials))
        played = sum(score is not None for score in scores)
        if played:
            self.pace = max(_QUICKEST, 0.5 * self.pace + 0.5 * seconds / played)
        return scores

    def _stop(self) -> Stop | None:
        if self.stop is None:
            return None
        return Stop(socket.gethostname(), time.time() + self.stop - time.monotonic(), self.pace)

    def warm_up(self) -> None:
        """Compile everything and store it on disk before the workers start and before time is measured."""
        if not self._warm:
            shop = workshop(self.spec)
            for policy in (TreePolicy.ucb1(), self.spec.utility):
                shop.play(shop.policy(policy), 0, 0, 0, Budget(iterations=1))
            self._warm = True


def _cases(request: Request) -> Sequence[int]:
    """Return the numbers of the cases that a request plays."""
    return request.cases or range(len(request.seeds))
