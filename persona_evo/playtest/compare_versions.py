"""Compares two versions of a level for each player, and puts the differences in words.

`level_pairs` compares two versions of many levels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from persona_evo.games.core import Metric
from persona_evo.intervals import Interval
from persona_evo.playtest.compare import (
    DISAGREE,
    ComparisonRow,
    corrected,
    group_of,
    p_shown,
    row_of,
    shown,
    span,
    spoken,
)
from persona_evo.playtest.metrics import UTILITY, Measure, UtilityRanges, measures, players_of
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import PAIRED, TrialGroup
from persona_evo.statistics import ALPHA, fewest_pairs, fisher, too_few_pairs
from persona_evo.words import counted

LEVELS = "A | B"
"""The level of rows that compare two versions."""


def compare_levels(
    records_a: Sequence[Playthrough],
    records_b: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    worth: UtilityRanges | None = None,
    weighed: Mapping[str, Collection[str]] | None = None,
) -> list[ComparisonRow]:
    """Compare two versions of a level for each player that played both, with verdicts in words.

    Wall-clock time is left out, since it depends more on the machine than on the level. The win rates of all players
    are corrected together, so are their utilities, and so are all other rows: the comparison is mainly about win rates
    and utilities, and the many metrics must not hide a change in them.

    Args:
        worth: range of each player's utility.
        weighed: label of a player -> keys of the measures that its utility contains.
    """
    parts_of = weighed or {}
    chosen = measures([*records_a, *records_b], infos, clock=False)
    players = [p for p in players_of(records_a) if p in set(players_of(records_b))]
    groups = {p: (_of(records_a, p, worth), _of(records_b, p, worth)) for p in players}

    def row(player: str, measure: Measure) -> ComparisonRow:
        return row_of(LEVELS, *groups[player], measure, measure.key in parts_of.get(player, ()))

    return versions_compared(players, chosen, row)


def versions_compared(
    players: Sequence[str],
    chosen: Sequence[Measure],
    row: Callable[[str, Measure], ComparisonRow],
) -> list[ComparisonRow]:
    """Return the rows of two versions, player by player, corrected and with verdicts in words.

    Args:
        chosen: the measures; the first is the win rate. It and the utility are corrected apart from the others.
        row: compares a measure of a player.
    """
    utility = [m for m in chosen if m.key == UTILITY.key]
    rest = [m for m in chosen[1:] if m not in utility]
    found = []
    for part in (chosen[:1], utility, rest):
        family = corrected(row(player, measure) for player in players for measure in part)
        found += [replace(r, verdict=_verdict(r, len(family))) for r in family]
    places = {measure.key: i for i, measure in enumerate(chosen)}
    return sorted(found, key=lambda r: (list(players).index(r.player_a), places[r.measure.key]))


def _of(records: Iterable[Playthrough], player: str, worth: UtilityRanges | None) -> TrialGroup:
    return group_of([r for r in records if r.player == player], worth)


def headlines(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return the sentences of `compare_levels` to read first: what differs, then the win rates that do not.

    Losses of main metrics come before the other differences.
    """
    differing = [r for r in rows if r.differs() or r.routes_apart]
    rest = [r for r in rows if r not in differing]
    silent = sum(r.measure.key != "win_rate" for r in rest)
    sentences = [r.verdict for r in differing if r.measure.key == "win_rate"]
    differing.sort(key=lambda r: (not r.loss, not r.measure.main))
    for player in dict.fromkeys(r.player_a for r in differing):
        other = [r.verdict for r in differing if r.player_a == player and r.measure.key != "win_rate"]
        sentences += ["; ".join([other[0], *(v.partition(": ")[2] for v in other[1:])])] if other else []
    sentences += [r.verdict for r in rest if r.measure.key == "win_rate"]
    few = [r for r in rest if r.constant and r.measure.key != "win_rate"]
    for player in dict.fromkeys(r.player_a for r in few):
        own = [r for r in few if r.player_a == player]
        names = ", ".join(_change(r) for r in own)
        sentences.append(
            f"too few trials to say for the {spoken(player)}, though all playthroughs of a version are "
            f"alike and differ from the other's ({_trials(own[0])}): {names}"
        )
    open_rows = [r for r in rest if r.ranges and r.higher]
    for player in dict.fromkeys(r.player_a for r in open_rows):
        own = [r for r in open_rows if r.player_a == player]
        sentences.append(
            f"not proven for the {spoken(player)}, since equally good plans differ in it or can do so "
            f"({found_routes(own[0])}): {', '.join(_change(r) for r in own)}"
        )
    silent -= len(few) + len(open_rows)
    if silent:
        how = "" if all(r.exact for r in rest) else " (p values corrected by Holm's method)"
        sentences.append(f"no difference shown in {silent} other measures{how}")
    return sentences


def detectable(successes: int, trials: int, trials_b: int, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference of rates, in either direction, that Fisher's test would call significant.

    The result is None if no result of the second group would be significant, as with very few trials.
    """
    rate = successes / trials
    for k in sorted(range(trials_b + 1), key=lambda k: abs(k / trials_b - rate)):
        if fisher(successes, trials, k, trials_b).p < alpha:
            return abs(k / trials_b - rate)
    return None


def _verdict(row: ComparisonRow, family: int) -> str:
    """Put the row in words; p values in the text are corrected."""
    player, name = spoken(row.player_a), row.measure.name
    alike = ", no variation in either" if row.constant and not row.measure.rate else ""
    alike += f", {DISAGREE}" if DISAGREE in row.note else ""
    why = found_routes(row) if row.ranges else row.note if row.exact else p_shown(row.p_holm)
    change = f"{_change(row)} ({why}{alike})"
    if row.differs() or row.routes_apart:
        if row.measure.key == "win_rate":
            harder = "harder" if row.higher == "a" else "easier"
            return f"B is {harder} for the {player}: {change}"
        return f"B changes what the {player} does: {change}"
    if row.higher:
        text = f"no difference shown for the {player}: {change}{in_doubt(row)}"
    else:
        text = f"no difference for the {player}: {name} {shown(row.measure, row.a.value)} in both"
    rate = row.test == "Fisher" or (row.test == PAIRED and row.measure.key == "win_rate")
    if not rate:
        return text
    unseen = blind(row, family)
    if unseen.hopeless and row.higher:
        text = f"cannot be compared for the {player}: {change}"
    return f"{text}; {unseen.text}"


def in_doubt(row: ComparisonRow) -> str:
    """State the interval of a difference that is not significant, and how many values would show it; "" if unknown."""
    if row.needed is None or not row.difference.low <= 0.0 <= row.difference.high:
        return ""
    unit, times = ("points", 100.0) if row.measure.ratio else ("", 1.0)
    ends = " to ".join(f"{times * end:+.3g}" for end in (row.difference.low, row.difference.high))
    what = "pairs of levels" if row.test == PAIRED else "playthroughs each"
    interval = f"95 % interval of the difference {ends} {unit}".rstrip()
    return f"; {interval}; if it is as measured, about {row.needed:,} {what} would show it"


def found_routes(row: ComparisonRow) -> str:
    """State from how many routes of each version the ranges of a row come."""
    assert row.ranges is not None
    a, b = (found.routes for found in row.ranges)
    return f"routes found: {a} in A, {b} in B"


def values(row: ComparisonRow, unit: bool = True) -> str:
    """Return the means of a and b, or their ranges over routes: "4 to 8 -> 9 hit points"."""
    plain = replace(row.measure, unit="")
    last = row.measure if unit else plain
    a, b = row.ranges or (row.a, row.b)
    return f"{span(plain, a)} -> {span(last, b)}"


def _change(row: ComparisonRow) -> str:
    if row.ranges:
        return f"{row.measure.name} {values(row)}"
    return f"{row.measure.name} {_said(row.measure, row.a)} -> {_said(row.measure, row.b)}"


def _said(measure: Measure, value: Interval) -> str:
    """Put a mean in words; "none left" if all playthroughs have the value that stands for none."""
    return "none left" if measure.none is not None and _constant(value, measure.none) else shown(measure, value.value)


def _constant(value: Interval, at: float) -> bool:
    return value.low == value.value == value.high == at


def _trials(row: ComparisonRow) -> str:
    return f"{counted(row.a.n, 'trial')} each" if row.a.n == row.b.n else f"{row.a.n} and {counted(row.b.n, 'trial')}"


class Unseen(NamedTuple):
    """What a comparison of rates cannot detect, in words; `hopeless` if it cannot detect any difference."""

    text: str
    hopeless: bool


def blind(row: ComparisonRow, family: int) -> Unseen:
    """State what a comparison of rates with this many trials, or pairs of levels, cannot detect."""
    if row.test == PAIRED:
        pairs = row.difference.n
        if few := too_few_pairs(pairs, family):
            return Unseen(few, True)
        needed = fewest_pairs(family)
        return Unseen(
            f"a difference that fewer than {needed} of the {pairs} pairs of levels show cannot be seen", False
        )
    trials = _trials(row)
    gap = detectable(round(row.a.value * row.a.n), row.a.n, row.b.n, ALPHA / max(1, family))
    if gap is None:
        return Unseen(f"{trials} are too few to see any difference", True)
    return Unseen(f"with {trials} a difference below about {gap * 100:.0f} points cannot be seen", False)
