"""The possible range of a measure, so that requirements that no playtest can decide are refused before one is played.

A requirement that can never hold is an error; one that always holds is a warning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from persona_evo.errors import Place, SettingsError
from persona_evo.games.core import Metric
from persona_evo.playtest.requirement import Requirement
from persona_evo.words import counted, plural

OUTCOMES = ("deaths", "losses", "unfinished", "stuck")
"""Measures that count playthroughs. Those that end with _rate are shares."""


class Range(NamedTuple):
    """The values that a measure can have.

    Attributes:
        low, high: the smallest and the largest value.
        least, most: the reason for each, "" if it is obvious.
        share: whether it is written as a percentage.
        whole: whether it is a whole number.
    """

    low: float = -math.inf
    high: float = math.inf
    least: str = ""
    most: str = ""
    share: bool = False
    whole: bool = False


RATE = Range(0.0, 1.0, "a rate is at least 0 %", "a rate is at most 100 %", share=True)
COUNT = Range(0.0, math.inf, "a number of things is at least 0", whole=True)


class Known(NamedTuple):
    """What is known before the first playthrough.

    Attributes:
        infos: the game's metrics.
        trials: playthroughs of each player in each level, 0 if unknown.
        levels: number of levels.
        horizon: maximum number of moves of a playthrough, 0 if unknown.
    """

    infos: Sequence[Metric] = ()
    trials: int = 0
    levels: int = 0
    horizon: int = 0


def range_of(requirement: Requirement, known: Known | None = None) -> Range:
    """Return the possible range of a requirement's measure."""
    known, measure = known or Known(), requirement.measure
    trials = known.trials * (known.levels if requirement.level is None else 1)
    if measure.endswith("_rate"):
        return RATE
    if measure == "trials" and trials:
        played = f"{counted(trials, 'trial')} {plural(trials, 'is', 'are')} played"
        return Range(trials, trials, played, played, whole=True)
    if measure in OUTCOMES and trials:
        most = f"{measure} are counted over {counted(trials, 'playthrough')}"
        return COUNT._replace(high=float(trials), most=most)
    if measure in OUTCOMES or requirement.counts:
        return COUNT
    if measure == "bound_ratio":
        return Range(-math.inf, 1.0, "", "no plan is worth more than 100 % of the limit", share=True)
    if measure == "steps" and known.horizon:
        return Range(0.0, known.horizon, "steps are at least 0", f"a playthrough ends after {known.horizon} steps")
    if measure in ("steps", "seconds", "damage"):
        return Range(0.0, math.inf, f"{measure} cannot be negative")
    info = _declared(known.infos).get(measure)
    if info is None:
        return Range()
    low, high = (f"{v * 100:g} %" if info.ratio else f"{v:g}" for v in (info.low, info.high))
    return Range(
        info.low,
        info.high,
        f"{measure} ({info.name}) is at least {low}",
        f"{measure} ({info.name}) is at most {high}",
        share=info.ratio,
    )


def check(requirement: Requirement, known: Known | None = None) -> str:
    """Return a warning if a requirement always holds, "" otherwise.

    Raises:
        SettingsError: it can never hold.
    """
    span = range_of(requirement, known)
    always, never = _decided(requirement, span)
    if never:
        raise SettingsError(
            f"this requirement can never hold: {_bound(requirement, span)}",
            place=Place(requirement.source, 1, requirement.number_at),
            found=f"{requirement.operator} {_written(requirement.number, span)}",
            hint=_hint(requirement, span),
        )
    if always:
        return f"warning: the requirement '{requirement.text}' always holds: {_bound(requirement, span)}"
    return ""


def _decided(requirement: Requirement, span: Range) -> tuple[bool, bool]:
    """Return whether a requirement always holds, and whether it always fails, whatever is played."""
    n, low, high = requirement.number, span.low, span.high
    outside = n < low or n > high or (span.whole and n != int(n))
    only = low == high == n
    return {
        ">=": (n <= low, n > high),
        ">": (n < low, n >= high),
        "<=": (n >= high, n < low),
        "<": (n > high, n <= low),
        "==": (only, outside),
        "!=": (outside, only),
    }[requirement.operator]


def _hint(requirement: Requirement, span: Range) -> str | None:
    """Suggest what may have been meant by a requirement that never holds."""
    n, sign = requirement.number, requirement.operator
    if span.share and 1 < n <= 100:
        return f"did you mean {n:g}%?"
    return f"did you mean {sign}= {_written(n, span)}?" if sign in ("<", ">") and n in (span.low, span.high) else None


def _bound(requirement: Requirement, span: Range) -> str:
    """State the reason: the end of the range that the number lies at, or that only whole numbers are possible."""
    n = requirement.number
    if span.low < n < span.high:
        return f"{requirement.measure} is a whole number"
    return span.most if n >= span.high else span.least


def _written(number: float, span: Range) -> str:
    return f"{number * 100:g}%" if span.share and abs(number) <= 1 else f"{number:g}"


def _declared(infos: Sequence[Metric]) -> Mapping[str, Metric]:
    """Return the metrics whose range the game declares: an infinite upper end may be the default one."""
    return {m.symbol: m for m in infos if math.isfinite(m.high)}
