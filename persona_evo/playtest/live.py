"""A playtest that is begun again with each change of its levels or players, over workers that stay alive.

All players play all levels once, then again up to twice as often as before, and so on, so that there is a first answer
soon. What is played is what `batch.playtest` plays with the same seed: the first trials of each level and player. What
a change does not touch is kept, and so is what was played of versions that come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from persona_evo.agents.duel import League
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.batch import BatchResults, configuration, specified
from persona_evo.playtest.players import Player
from persona_evo.playtest.playing import CONTINUATION, PlaythroughJob, Spec, play
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings

ROUND_SECONDS = 0.8
"""How long a round should take: between two rounds a change is seen."""

_MOST_KEPT = 400
"""Groups (a level and a player) whose playthroughs are remembered."""


class LivePlaytest:
    """Playthroughs of the present version of some levels by some players; `round` makes more of them.

    Args:
        game: what is played.
        trials: playthroughs of each player in each level that are wanted.
        seed: everything follows from it.
        workers: who plays; they are left alive.
        budget, settings, league, continuation, game_name: as for `batch.playtest`.
    """

    def __init__(
        self,
        game: Game,
        trials: int,
        *,
        seed: int,
        workers: Workers,
        budget: Budget | None = None,
        settings: SearchSettings | None = None,
        league: League | None = None,
        continuation: float = CONTINUATION,
        game_name: str | None = None,
    ) -> None:
        self.game, self.trials, self.seed = game, trials, seed
        self._workers = workers
        self._rest = {
            "budget": budget,
            "settings": settings,
            "league": league,
            "continuation": continuation,
            "game_name": game_name,
        }
        self._known: dict[object, list[Playthrough]] = {}
        self._spec: Spec | None = None
        self._levels: Sequence[Level] = ()
        self._players: Sequence[Player] = ()
        self._jobs: list[list[PlaythroughJob]] = []
        self._made: list[list[Playthrough]] = []

    def begin(self, levels: Sequence[Level], players: Sequence[Player]) -> bool:
        """Take a version of levels and players; False where it is the present one.

        Raises:
            SettingsError: names that are not different, or a player that cannot play.
        """
        spec = specified(self.game, levels, players, self.trials, **self._rest)  # type: ignore[arg-type]
        if self._spec is not None and _plain(spec) == _plain(self._spec):
            return False
        self._spec, self._levels, self._players = spec, levels, players
        jobs = spec.jobs(self.trials, self.seed)
        self._jobs = [jobs[k : k + self.trials] for k in range(0, len(jobs), self.trials)]
        self._made = [self._group(spec, own[0]) for own in self._jobs]
        return True

    def _group(self, spec: Spec, job: PlaythroughJob) -> list[Playthrough]:
        """What is known of the level and the player of a job; new playthroughs are added to it."""
        key = _unplaced(spec.levels[job.level]), repr(spec.roles[job.player])
        made = self._known.pop(key, [])
        self._known[key] = made
        while len(self._known) > _MOST_KEPT:
            del self._known[next(iter(self._known))]
        return made

    @property
    def done(self) -> int:
        """Trials that every player has played in every level."""
        return min(map(len, self._made), default=0)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to be played."""
        return self.done >= self.trials

    def round(self) -> None:
        """Play for about ROUND_SECONDS on all workers, or once where that takes longer."""
        if self._spec is None or self.complete:
            return
        goal = min(self.trials, max(1, 2 * self.done))
        short = [k for k, made in enumerate(self._made) if len(made) < goal][: self._workers.jobs]
        tasks = [(self._spec, self._next(self._spec, k, goal)) for k in short]
        for k, found in zip(short, self._workers.map(_played, tasks), strict=True):
            self._made[k] += found

    def _next(self, spec: Spec, k: int, goal: int) -> list[PlaythroughJob]:
        """The jobs that a group has in this round."""
        jobs, made = self._jobs[k], self._made[k]
        pace = sum(r.seconds for r in made) / len(made) if made else ROUND_SECONDS
        number = max(1, min(goal - len(made), int(ROUND_SECONDS / max(pace, 1e-3))))
        source = next(iter(spec.proofs(jobs, made).values()), None)
        return [job._replace(source=source) for job in jobs[len(made) : len(made) + number]]

    def results(self, trials: int) -> BatchResults:
        """The first trials of each group, as a batch of so many trials has them."""
        assert self._spec is not None
        spec, records = self._spec, list(chain.from_iterable(made[:trials] for made in self._made))
        return BatchResults(
            self.game,
            self._levels,
            self._players,
            trials,
            self.seed,
            spec.budget,
            spec.settings,
            records,
            league=spec.league,
        )

    def configuration(self, trials: int) -> dict[str, object]:
        """What `playtest.json` of these results says."""
        assert self._spec is not None
        return configuration(self._spec, self.game, self._players, trials, self.seed)


def _played(task: tuple[Spec, Sequence[PlaythroughJob]]) -> list[Playthrough]:
    return list(play(*task))


def _unplaced(level: LevelText) -> LevelText:
    return level._replace(source="")


def _plain(spec: Spec) -> object:
    """What decides the playthroughs, wherever the levels were read from."""
    return tuple(map(_unplaced, spec.levels)), spec.roles, spec.settings, spec.budget, spec.league, spec.continuation
