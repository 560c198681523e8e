"""A playtest that starts again with each change of its levels or players, on workers that stay alive.

All players play all levels once, then again up to twice as often as before, and so on, so that a first answer comes
soon. The playthroughs are those of `batch.playtest` with the same seed: the first trials of each level and player.
Whatever a change does not affect is kept, and so are playthroughs of versions that come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from persona_evo.agents.duel import League
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.batch import BatchResults, specified
from persona_evo.playtest.journal import configuration
from persona_evo.playtest.players import Player
from persona_evo.playtest.playing import CONTINUATION, PlaythroughJob, Spec, play
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings

ROUND_SECONDS = 0.8
"""Target duration of a round; changes are noticed between two rounds."""

_MOST_KEPT = 400
"""Maximum number of groups (a level and a player) whose playthroughs are remembered."""


class LivePlaytest:
    """Plays the current version of some levels by some players; each call of `round` adds playthroughs.

    Args:
        game: the game to play.
        trials: number of playthroughs to make of each player in each level.
        seed: determines all results.
        workers: run the playthroughs; they are left alive.
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
        """Switch to a version of levels and players; return False if it is the current one.

        Raises:
            SettingsError: duplicate names, or a player that cannot play.
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
        """Return the stored playthroughs of a job's level and player; new playthroughs are added to this list."""
        key = _unplaced(spec.levels[job.level]), repr(spec.roles[job.player])
        made = self._known.pop(key, [])
        self._known[key] = made
        while len(self._known) > _MOST_KEPT:
            del self._known[next(iter(self._known))]
        return made

    @property
    def done(self) -> int:
        """Number of trials that every player has played in every level."""
        return min(map(len, self._made), default=0)

    @property
    def complete(self) -> bool:
        """Whether all playthroughs are made."""
        return self.done >= self.trials

    def round(self) -> None:
        """Play for about ROUND_SECONDS on all workers, or once if that takes longer."""
        if self._spec is None or self.complete:
            return
        goal = min(self.trials, max(1, 2 * self.done))
        short = [k for k, made in enumerate(self._made) if len(made) < goal][: self._workers.jobs]
        tasks = [(self._spec, self._next(self._spec, k, goal)) for k in short]
        for k, found in zip(short, self._workers.map(_played, tasks), strict=True):
            self._made[k] += found

    def _next(self, spec: Spec, k: int, goal: int) -> list[PlaythroughJob]:
        """Return the jobs of a group in this round."""
        jobs, made = self._jobs[k], self._made[k]
        pace = sum(r.seconds for r in made) / len(made) if made else ROUND_SECONDS
        number = max(1, min(goal - len(made), int(ROUND_SECONDS / max(pace, 1e-3))))
        source = next(iter(spec.proofs(jobs, made).values()), None)
        return [job._replace(source=source) for job in jobs[len(made) : len(made) + number]]

    def results(self, trials: int) -> BatchResults:
        """Return the first `trials` of each group as a batch."""
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
        """Return what `playtest.json` of these results contains."""
        assert self._spec is not None
        return configuration(self._spec, self.game, self._players, trials, self.seed)


def _played(task: tuple[Spec, Sequence[PlaythroughJob]]) -> list[Playthrough]:
    return list(play(*task))


def _unplaced(level: LevelText) -> LevelText:
    return level._replace(source="")


def _plain(spec: Spec) -> object:
    """Return what determines the playthroughs, independent of where the levels were read from."""
    return tuple(map(_unplaced, spec.levels)), spec.roles, spec.settings, spec.budget, spec.league, spec.continuation
