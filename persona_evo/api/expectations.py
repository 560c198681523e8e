"""What the results of a playtest are measured against: requirements, pass rates of people, and accepted findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from persona_evo import limits
from persona_evo.api.options import ExpectationOptions, Notice
from persona_evo.errors import SettingsError
from persona_evo.games import acceptance
from persona_evo.games.acceptance import Accepted
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Finding
from persona_evo.playtest import calibration, ranges, require
from persona_evo.playtest.bounds import limited
from persona_evo.playtest.requirement import Requirement


@dataclass(frozen=True)
class Expectations:
    """What the results of a playtest are measured against. All of it is checked before anything is played.

    Attributes:
        requirements: conditions such as "runner.win_rate >= 95%".
        rates: pass rates by level that were measured elsewhere.
        source: the file that the rates were read from, "" for none.
        accepted: accepted findings, which are no problems.
        bound_seconds: seconds to search for the best possible utility of each persona in each level; 0 for none.
    """

    requirements: Sequence[Requirement]
    rates: Mapping[str, float]
    source: str
    accepted: Sequence[Accepted]
    bound_seconds: float

    @classmethod
    def read(cls, options: ExpectationOptions) -> Expectations:
        """Read requirements, and the files of pass rates and of accepted findings.

        Raises:
            SettingsError: a requirement or a file cannot be read, or no limits are searched for a requirement on them.
        """
        texts, calibrate, accept = options.get("require", ()), options.get("calibrate"), options.get("accept")
        bound_seconds = limits.number(options.get("bound_seconds", 0.0), "bound_seconds", 0, limits.MOST_BOUND_SECONDS)
        requirements = require.parse_all(texts)
        accepted = [] if accept is None else acceptance.read(Path(accept))
        if bound_seconds == 0 and any(r.measure == "bound_ratio" for r in requirements):
            raise SettingsError(
                "bound_ratio needs the limits, and no time is given to search for them",
                found="bound_seconds 0",
                expected="bound_seconds above 0, or no requirement on bound_ratio",
            )
        rates = {} if calibrate is None else calibration.read_rates(Path(calibrate))
        return cls(requirements, rates, "" if calibrate is None else str(calibrate), accepted, bound_seconds)

    @property
    def texts(self) -> tuple[str, ...]:
        """The requirements as text."""
        return tuple(r.text for r in self.requirements)

    def check(
        self, game: Game, levels: Sequence[Level], players: Sequence[str], trials: int, by_agent: bool, notice: Notice
    ) -> None:
        """Check that results of a playtest can be measured against this.

        Args:
            game, levels, trials: what is played.
            players: the labels of the players.
            by_agent: whether an agent plays move by move, so that the number of moves has no known limit.
            notice: called with remarks, such as one on a requirement that every result meets.

        Raises:
            SettingsError: a requirement names what does not exist or can never be met, or the rates are of other
                levels.
        """
        self.check_rates(levels, notice)
        if not limited(game) and any(r.measure == "bound_ratio" for r in self.requirements):
            raise SettingsError(
                "bound_ratio needs limits, which two-player games and games of chance do not have",
                found=game.name,
                expected="a requirement on win_rate, utility or a metric",
            )
        for requirement in self.requirements:
            requirement.check_names(players, [level.name for level in levels], game.symbols)
        longest = max((game.horizon_of(level) for level in levels), default=0) if game.planned and not by_agent else 0
        known = ranges.Known(game.metrics, trials, len(levels), longest)
        for remark in filter(None, (ranges.check(r, known) for r in self.requirements)):
            notice(remark)

    def check_rates(self, levels: Sequence[Level], notice: Notice) -> None:
        """Check that a calibration has enough levels, and name the levels of the file that are not played.

        Raises:
            SettingsError: too few levels have a pass rate.
        """
        if not self.source:
            return
        both = calibration.check_rates(self.rates, [level.name for level in levels], self.source)
        left = [name for name in self.rates if name not in both]
        if left:
            notice(f"{self.source}: no playthroughs of {', '.join(left)}")

    def regressions(self, game: Game, notice: Notice) -> list[Finding]:
        """Play the known failures of a connected game again if a requirement counts crashes; return those that remain.

        Args:
            notice: called with what was played, and with each failure.
        """
        if game.outside is None or not any(r.measure == "crashes" for r in self.requirements):
            return []
        failing, told = game.outside.regressions()
        for text in (*told, *(finding.text for finding in failing)):
            notice(text)
        return failing
