"""The problem of finding the best plan for a level, a utility and a horizon: bounds, and what tells states apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from persona_evo.errors import SettingsError
from persona_evo.formula import Formula
from persona_evo.formula.intervals import CONSTANT, RISING, UNKNOWN, Span, span
from persona_evo.games.core import Game, Level
from persona_evo.search.settings import MOVE_BY_MOVE
from persona_evo.words import counted


def _ranges(game: Game, horizon: int, depth: int) -> dict[str, tuple[float, float]]:
    """Return the range of each metric after `depth` moves or more."""
    return {m.symbol: (float(depth), float(horizon)) if m.clock else (m.low, m.high) for m in game.metrics}


@lru_cache(maxsize=4_096)
def _known_span(game: Game, utility: Formula, horizon: int, depth: int) -> Span:
    """Return how a utility depends on the clock; cached, since an evolution asks for it in each of its searches."""
    symbol = game.metrics[game.clock].symbol if game.clock >= 0 else ""
    return span(utility, _ranges(game, horizon, depth), symbol)


@lru_cache(maxsize=256)
def _known_ways(game: Game, utility: Formula, horizon: int) -> tuple[int, ...]:
    """Return the direction in which a utility changes with each metric; cached for the same reason."""
    ranges = _ranges(game, horizon, 0)
    return tuple(span(utility, ranges, symbol).way for symbol in ranges)


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem of finding a plan of at most `horizon` moves whose last state has the highest utility.

    Raises:
        SettingsError: the game is not a deterministic single-player game with a forward model, or the horizon is out of
            range.
    """

    game: Game
    level: Level
    utility: Formula
    horizon: int

    def __post_init__(self) -> None:
        if self.game.players != 1 or not self.game.deterministic:
            raise SettingsError(
                f"{self.game.title} has no best plan",
                found=f"{counted(self.game.players, 'player')}, "
                f"{'deterministic' if self.game.deterministic else 'random'}",
                expected="a deterministic single-player game",
                hint=MOVE_BY_MOVE,
            )
        if self.game.outside is not None:
            raise SettingsError(
                f"{self.game.title} runs outside this program, and its states cannot be searched one by one",
                expected="a game with a forward model",
                hint="play it: the best of its playthroughs is the best known",
            )
        if not 1 <= self.horizon <= 1_000_000:
            raise SettingsError("the horizon is out of range", found=str(self.horizon), expected="from 1 to 1,000,000")

    @classmethod
    def of(cls, game: Game, level: Level, utility: Formula, horizon: int = 0) -> Problem:
        """Return the problem, with the level's or the game's own horizon if `horizon` is 0."""
        return cls(game, level, utility, horizon or game.horizon_of(level))

    def ceiling(self, depth: int = 0) -> float:
        """Return an upper bound on the utility of all states after `depth` moves or more."""
        return self._span(depth).high

    def _span(self, depth: int) -> Span:
        return _known_span(self.game, self.utility, self.horizon, depth)

    @cached_property
    def clocked(self) -> bool:
        """Whether a state met again later can be worth more than before, so that the depth belongs to its identity."""
        return self._span(0).way in (RISING, UNKNOWN)

    @cached_property
    def rises(self) -> tuple[int, ...] | None:
        """For each metric, 1 if the utility rises with it, else 0; None if the utility is not monotonic in one."""
        ways = _known_ways(self.game, self.utility, self.horizon)
        return None if UNKNOWN in ways else tuple(int(way == RISING) for way in ways)

    @cached_property
    def constant(self) -> bool:
        """Whether the bound does not fall with the depth."""
        return self._span(0).way in (CONSTANT, RISING, UNKNOWN)

    @property
    def reaching(self) -> bool:
        """Whether each state has a ceiling of its own, from what the game reports as still reachable."""
        return self.game.reach is not None and self.rises is not None

    @property
    def bounded(self) -> bool:
        """Whether ceilings differ between states at all, by the state itself or by its depth."""
        return self.reaching or not self.constant

    def used(self, *others: Formula) -> int:
        """Return a bit mask of the metrics that tell states apart.

        These are the metrics that a formula reads and that the game's `key` need not cover. The clock is not among them
        (see `clocked`), nor are costly metrics, which follow from the state.
        """
        symbols = self.utility.symbols.union(*(f.symbols for f in others))
        return sum(
            1 << i for i, m in enumerate(self.game.metrics) if m.symbol in symbols and not m.clock and not m.costly
        )
