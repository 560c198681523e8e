"""The time for one call of the study: evolutions share what playtests, limits and the report leave."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from persona_evo.errors import Place, RunError
from persona_evo.games.core import Game, Level
from persona_evo.jobs.windows import program
from persona_evo.jobs.workers import cores
from persona_evo.personas import Persona
from persona_evo.search.plan import plan
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.studies.minidungeons.settings import DungeonSettings
from persona_evo.studies.minidungeons.workload import Ledger
from persona_evo.studies.time_limit import deadline

EVOLUTION = "evolution"
"""Prefix of the names of the parts that share the given time."""

REPORT = 1.5
"""Seconds of a report on an idle processor: 0.9 were measured for eleven maps, without cross tables."""

SLOWER = 1.25
"""How much longer a playthrough takes if all cores are at work."""

QUESTION = 0.2
"""Seconds that a question for a limit takes besides its search."""

LEAST = 0.1
"""Share of the time left that the evolutions get even if the rest needs all of it."""


class TimeIsUp(RunError):
    """The time for a call is up."""


@dataclass
class StudyTime:
    """The time for one call.

    Attributes:
        folder: the folder of the reproduction.
        settings, game, levels, personas: what is played.
        jobs: the number of cores, or -1 for all.
        searched: whether the solver looks for limits.
        ledger: the work that is left.
        end: when everything but the report has to be done, on the clock `time.monotonic`; None without a limit.
    """

    folder: Path
    settings: DungeonSettings
    game: Game
    levels: Sequence[Level]
    personas: Sequence[Persona]
    jobs: int
    searched: bool
    ledger: Ledger
    end: float | None = field(default=None, init=False)

    def limit(self, seconds: float | None) -> None:
        """Give the call so many seconds, its report included."""
        self.end = deadline(seconds, REPORT)

    def of_evolution(self) -> float | None:
        """Return the deadline of the next evolution."""
        if self.end is None:
            return None
        evolutions = [n for n in self.ledger.left if n.startswith(EVOLUTION)]
        others = sum(w for n, w in self.ledger.left.items() if n not in evolutions)
        reserve = others / self._pace + self._limit_seconds
        left = max(0.0, self.end - time.monotonic())
        return time.monotonic() + max(left - reserve, LEAST * left) / max(1, len(evolutions))

    def check(self, name: str) -> None:
        """Check that the time is not up.

        Raises:
            TimeIsUp: it is.
        """
        if self.end is not None and time.monotonic() > self.end:
            raise TimeIsUp(
                f"the time is up: {name}",
                place=Place(str(self.folder)),
                found="everything up to here is kept",
                hint=f"continue: {program('reproduce', self.settings.study, '--resume', self.folder)}",
            )

    @cached_property
    def _pace(self) -> float:
        """Iterations of playtests per second, measured with playthroughs of UCB1 in some levels."""

        def play(level: Level) -> None:
            budget, how = self.settings.playtest_budget, self.settings.playtest_search
            plan(self.game, level, self.personas[0].utility, TreePolicy.ucb1(), budget, how)

        chosen = self.levels[:: max(1, len(self.levels) // 3)]
        play(chosen[0])  # loads what is compiled
        began = time.monotonic()
        for level in chosen:
            play(level)
        seconds = SLOWER * (time.monotonic() - began) / len(chosen)
        return self.settings.playtest_iterations * self._cores / seconds

    @property
    def _limit_seconds(self) -> float:
        """Seconds that the solver may take for limits."""
        if "limits" not in self.ledger.left or not self.searched:
            return 0.0
        return (self.settings.bound_seconds + QUESTION) * len(self.levels) * len(self.personas) / self._cores

    @property
    def _cores(self) -> int:
        return cores() if self.jobs == -1 else self.jobs
