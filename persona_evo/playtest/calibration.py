"""Compares simulated players with people: their win rates against pass rates that were measured elsewhere."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from statistics import NormalDist

from persona_evo.agents.skill import SKILLS
from persona_evo.errors import Place, SettingsError, nearest
from persona_evo.games import textfile
from persona_evo.intervals import Interval
from persona_evo.playtest.records import Playthrough
from persona_evo.statistics import spearman

MOST_BYTES = 2**22
FEWEST = 4
"""Minimum number of levels for a correlation; with fewer there is no interval."""

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(%?)")


@dataclass(frozen=True)
class Agreement:
    """Spearman's correlation between win rates and pass rates over levels.

    Attributes:
        players: whose win rates they are: a skill level, or "all players" if there are none.
        correlation: with its 95 % interval; n is the number of levels. The interval is that of Fisher's z with the
            variance (1 + r^2 / 2) / (n - 3) of Bonett and Wright (2000, Psychometrika 65:23).
        note: why there is no interval, "" if there is one.
    """

    players: str
    correlation: Interval
    note: str = ""


def read_rates(path: Path) -> dict[str, float]:
    """Read pass rates by level from a CSV file with the columns `level` and `pass_rate`.

    A rate is a share from 0 to 1 or a percentage with %. Columns are separated by commas, semicolons or tabs.

    Raises:
        SettingsError: the file has another format; the message gives line and column.
    """
    lines = textfile.read_text(path, MOST_BYTES, SettingsError).splitlines()
    source = str(path)
    head = next((i for i, line in enumerate(lines) if line.strip()), None)
    if head is None:
        raise SettingsError("the file is empty", place=Place(source, 1, 1), expected="a line  level,pass_rate")
    mark = next((m for m in ";\t" if m in lines[head]), ",")
    names = [name.lower().replace(" ", "_") for name, _ in _cells(lines[head], mark)]
    level_at, rate_at = (_column(names, name, source, head) for name in ("level", "pass_rate"))
    rates: dict[str, float] = {}
    for number, line in enumerate(lines[head + 1 :], head + 2):
        if not line.strip():
            continue
        cells = _cells(line, mark)
        if len(cells) <= max(level_at, rate_at):
            raise SettingsError(
                "a line has too few columns",
                place=Place(source, number, len(line.rstrip()) + 1),
                found=line.strip(),
                expected=f"{len(names)} columns, as in the first line",
            )
        name, column = cells[level_at]
        if not name or name in rates:
            what = "a level is named twice" if name else "a line names no level"
            raise SettingsError(
                what, place=Place(source, number, column), found=name or line.strip(), expected="each level once"
            )
        rates[name] = _rate(*cells[rate_at], source, number)
    return rates


def _cells(line: str, mark: str) -> list[tuple[str, int]]:
    """Split a line into its values, each with its column; a value in quotes may contain the separator `mark`."""
    cells, start, quoted = [], 0, False
    for at, sign in enumerate(line + mark):
        quoted ^= sign == '"'
        if at == len(line) or (sign == mark and not quoted):
            text = line[start:at]
            value = text.strip()
            if len(value) > 1 and value[0] == value[-1] == '"':
                value = value[1:-1].replace('""', '"')
            cells.append((value, start + 1 + len(text) - len(text.lstrip())))
            start = at + 1
    return cells


def _column(names: Sequence[str], wanted: str, source: str, line: int) -> int:
    if wanted not in names:
        raise SettingsError(
            f"the column {wanted!r} is missing",
            place=Place(source, line + 1, 1),
            found=", ".join(names)[:120],
            expected="level and pass_rate in the first line",
        )
    return names.index(wanted)


def _rate(text: str, column: int, source: str, line: int) -> float:
    place, expected = Place(source, line, column), "a share from 0 to 1, or a percentage such as 75%"
    number = _NUMBER.fullmatch(text)
    if number is None:
        raise SettingsError("this is not a pass rate", place=place, found=text or "nothing", expected=expected)
    value = float(number[1]) / (100 if number[2] else 1)
    if value > 1:
        hint = f"write {text}%" if not number[2] and value <= 100 else None
        raise SettingsError("a pass rate is out of range", place=place, found=text, expected=expected, hint=hint)
    return value


def check_rates(rates: Mapping[str, float], levels: Sequence[str], source: str) -> list[str]:
    """Return the levels of a playtest that have a pass rate.

    Raises:
        SettingsError: there are fewer of them than a correlation needs.
    """
    both = [name for name in levels if name in rates]
    if len(both) < FEWEST:
        near = ((name, nearest(name, levels)) for name in rates if name not in levels)
        hint = next((f"{name} is not played; did you mean {level!r}?" for name, level in near if level), None)
        raise SettingsError(
            f"a calibration needs pass rates of at least {FEWEST} levels that are played",
            place=Place(source),
            found=", ".join(both) or "none",
            expected=f"{FEWEST} levels or more",
            hint=hint,
        )
    return both


def calibrate(records: Sequence[Playthrough], rates: Mapping[str, float]) -> list[Agreement]:
    """Return the correlation for each skill level over all its players, or for all players without skill levels.

    Args:
        records: playthroughs of at least FEWEST levels that have a pass rate.
        rates: pass rates by level, from 0 to 1.
    """
    known = {r.skill for r in records}
    groups = [("all players", "")] if known == {""} else [(s, s) for s in SKILLS if s in known]
    return [_agreement(name, [r for r in records if r.skill == skill], rates) for name, skill in groups]


def _agreement(name: str, records: Sequence[Playthrough], rates: Mapping[str, float]) -> Agreement:
    levels = [level for level in dict.fromkeys(r.level for r in records) if level in rates]
    own = {level: [r.won for r in records if r.level == level] for level in levels}
    won = [fsum(own[level]) / len(own[level]) for level in levels]
    passed = [rates[level] for level in levels]
    n = len(levels)
    for values, whose in ((won, "win rates"), (passed, "pass rates")):
        if min(values) == max(values):
            note = f"all {whose} are {values[0] * 100:.0f} %"
            return Agreement(name, Interval(math.nan, math.nan, math.nan, n), note)
    r = spearman(won, passed).r
    return Agreement(name, correlation_interval(r, n))


def correlation_interval(r: float, n: int, level: float = 0.95) -> Interval:
    """Return a rank correlation over n > 3 pairs with its interval (see `Agreement`).

    Fisher's z of a perfect correlation is infinite. It is replaced by z of the midpoint between the perfect correlation
    and the next value that n ranks without ties can have.
    """
    most = 1 - 6 / (n * (n * n - 1))
    near = max(-most, min(most, r))
    half = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt((1 + near * near / 2) / (n - 3))
    low, high = math.tanh(math.atanh(near) - half), math.tanh(math.atanh(near) + half)
    return Interval(r, -1.0 if r < -most else low, 1.0 if r > most else high, n)
