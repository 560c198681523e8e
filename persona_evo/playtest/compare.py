"""Compares groups of playthroughs: a player with its baseline, players with each other, two versions of a level.

`level_pairs` compares two versions of many levels.

Means are compared by Welch's t test (as in the paper) and by Mann-Whitney's rank test, rates by Fisher's exact test.
All p values of one comparison are corrected together by Holm's method (`corrected`). The p values of Welch's and
Fisher's tests decide; a row notes if the rank test disagrees. If neither group varies, Welch's test does not apply: the
row then has the p value of the exact test and says so. Rows in which both groups are the same constant can never be
significant (their only possible p is 1), so the correction does not count them (Tarone 1990, Biometrics 46:515).

`samples` describes what is tested, and how groups from one proven search are treated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from persona_evo.games.core import Metric
from persona_evo.intervals import Interval
from persona_evo.playtest.metrics import (
    CLOCK,
    UNBOUNDED,
    Measure,
    UtilityRanges,
    grouped,
    levels_of,
    measures,
    players_of,
)
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import EXACT, PAIRED, TrialGroup, effects, tested
from persona_evo.statistics import ALPHA, NO_VARIATION, fewest_pairs, fisher, holm, too_few_pairs
from persona_evo.words import counted

DISAGREE = "the rank test disagrees"
"""Note of a row whose two tests disagree."""

NO_EFFECT, NO_DIFFERENCE = Interval(0.5, 0.0, 1.0, 0), Interval(0.0, -math.inf, math.inf, 0)
"""Effect and difference about which nothing is known."""


@dataclass(frozen=True)
class ComparisonRow:
    """One measure compared between two groups, a and b.

    Attributes:
        test: "Welch", "Fisher", "exact" if neither group varies, "Student" or "binomial" if one is known, EXACT if both
            are (see the module); PAIRED for pairs of levels.
        p: of that test; for EXACT it is no p value, but 0 if the groups differ and 1 if not.
        p_rank: of the rank test; equal to p for rates and if a group is known.
        p_holm, p_rank_holm: both corrected over all rows of the comparison; measures of time are corrected separately.
        verdict: the row in words.
        effect: Vargha and Delaney's A, how likely a value of b is larger than one of a; exact if both groups are known.
            For pairs of levels, the share of pairs in which b is larger; ties count half.
        difference: b - a with its interval; exact if both groups are known.
    """

    level: str
    player_a: str
    player_b: str
    measure: Measure
    a: Interval
    b: Interval
    test: str
    statistic: float
    p: float
    p_rank: float
    p_holm: float = 1.0
    p_rank_holm: float = 1.0
    note: str = ""
    verdict: str = ""
    effect: Interval = NO_EFFECT
    difference: Interval = NO_DIFFERENCE

    @property
    def higher(self) -> str:
        """Which group has the larger value: "a", "b" or "", by the values alone."""
        return "a" if self.a.value > self.b.value else "b" if self.b.value > self.a.value else ""

    @property
    def exact(self) -> bool:
        """Whether both groups are known, so that there is no p value."""
        return self.test == EXACT

    @property
    def loss(self) -> bool:
        """Whether a main metric of the game is worse in b than in a."""
        worse = {"higher": "a", "lower": "b"}.get(self.measure.better, "")
        return self.measure.main and self.higher == worse != ""

    @property
    def constant(self) -> bool:
        """Whether the groups are two different constants, so that there is no variation to test the difference by."""
        return bool(self.higher) and self.note.startswith(NO_VARIATION)

    def differs(self, alpha: float = ALPHA, *, corrected: bool = True) -> bool:
        """Return whether the difference is significant, after Holm's correction or (as in the paper) without it."""
        return bool(self.higher) and (self.p_holm if corrected else self.p) < alpha


def compare_groups(
    a: Sequence[Playthrough],
    b: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    *,
    clock: bool = True,
    what: Sequence[Measure] | None = None,
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare two groups of at least one playthrough each, one row per measure, corrected over these rows.

    `worth` is the range of each player's utility, as in all functions of this module.
    """
    if not a or not b:
        raise ValueError("a group has no playthroughs")
    chosen = what if what is not None else measures([*a, *b], infos, clock=clock)
    level = a[0].level if a[0].level == b[0].level else f"{a[0].level} | {b[0].level}"
    groups = _group(a, worth), _group(b, worth)
    return corrected([_row(level, *groups, measure) for measure in chosen])


def corrected(rows: Iterable[ComparisonRow]) -> list[ComparisonRow]:
    """Correct the p values by Holm's method over all rows that vary and have one; the order is kept."""
    rows = list(rows)
    varying = [i for i, r in enumerate(rows) if not r.exact and not (r.note.startswith(NO_VARIATION) and r.p == 1.0)]
    keys = [rows[i].measure.key for i in varying]
    main = dict(zip(varying, holm_apart(keys, [rows[i].p for i in varying]), strict=True))
    rank = dict(zip(varying, holm_apart(keys, [rows[i].p_rank for i in varying]), strict=True))
    done = []
    for i, row in enumerate(rows):
        p, q = main.get(i, row.p), rank.get(i, row.p)
        disagree = row.test == "Welch" and (p < ALPHA) != (q < ALPHA)
        note = "; ".join(filter(None, (row.note, DISAGREE if disagree else "")))
        done.append(replace(row, p_holm=p, p_rank_holm=q, note=note))
    return done


def holm_apart(keys: Sequence[str], p_values: Sequence[float]) -> list[float]:
    """Correct p values by Holm's method, with measures of time apart from all others.

    The speed of the machine then affects no other p value, and the same seed gives the same verdicts. `keys` are those
    of the measures.
    """
    found = list(p_values)
    for clock in (False, True):
        family = [i for i, key in enumerate(keys) if (key == CLOCK) is clock]
        for i, p in zip(family, holm([p_values[i] for i in family]), strict=True):
            found[i] = p
    return found


def versus_baseline(
    records: Sequence[Playthrough],
    pairs: Sequence[tuple[str, str]],
    infos: Sequence[Metric] = (),
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare each player with its baseline per level, a = player; corrected over all levels, pairs and measures."""
    groups = {key: _group(own, worth) for key, own in grouped(records).items()}
    chosen = measures(records, infos)
    return corrected(
        _row(level, groups[level, player], groups[level, base], measure)
        for player, base in pairs
        for level in levels_of(records)
        if (level, player) in groups and (level, base) in groups
        for measure in chosen
    )


def between_players(
    records: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    players: Sequence[str] | None = None,
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare every two players per level, corrected over all levels, pairs and measures."""
    names = list(players) if players is not None else players_of(records)
    return versus_baseline(records, [(p, q) for i, p in enumerate(names) for q in names[i + 1 :]], infos, worth)


def counts(rows: Iterable[ComparisonRow], *, corrected: bool = False) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return (measure, player a) -> levels in which a is significantly higher, b is, levels compared.

    This is table III of the paper. `corrected` applies Holm's correction; the paper counts without it.
    """
    table: dict[tuple[str, str], tuple[int, int, int]] = {}
    for row in rows:
        key = row.measure.key, row.player_a
        up, down, total = table.get(key, (0, 0, 0))
        found = row.higher if row.differs(corrected=corrected) else ""
        table[key] = up + (found == "a"), down + (found == "b"), total + 1
    return table


def matrix(rows: Iterable[ComparisonRow], measure: str, *, corrected: bool = False) -> dict[tuple[str, str], int]:
    """Return (row player, column player) -> levels where the row player is higher (table IV of the paper)."""
    table: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.measure.key == measure:
            found = row.higher if row.differs(corrected=corrected) else ""
            for pair, side in (((row.player_a, row.player_b), "a"), ((row.player_b, row.player_a), "b")):
                table[pair] = table.get(pair, 0) + (found == side)
    return table


def compare_levels(
    records_a: Sequence[Playthrough],
    records_b: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    names: tuple[str, str] = ("A", "B"),
    worth: UtilityRanges | None = None,
) -> list[ComparisonRow]:
    """Compare two versions of a level for each player that played both, with verdicts in words.

    Wall-clock time is left out, since it depends more on the machine than on the level. The win rates of all players
    are corrected together, and so are all other rows: the comparison is mainly about win rates, and the many metrics
    must not hide a change in them.
    """
    chosen = measures([*records_a, *records_b], infos, clock=False)
    players = [p for p in players_of(records_a) if p in set(players_of(records_b))]
    groups = {p: (_of(records_a, p, worth), _of(records_b, p, worth)) for p in players}
    level = f"{names[0]} | {names[1]}"
    return versions_compared(players, chosen, names, lambda player, measure: _row(level, *groups[player], measure))


def versions_compared(
    players: Sequence[str],
    chosen: Sequence[Measure],
    names: tuple[str, str],
    row: Callable[[str, Measure], ComparisonRow],
) -> list[ComparisonRow]:
    """Return the rows of two versions, player by player, corrected and with verdicts in words.

    Args:
        chosen: the measures; the first is the win rate, which is corrected apart from the others.
        names: the names of the versions.
        row: compares a measure of a player.
    """
    main, rest = (
        corrected(row(player, measure) for player in players for measure in part) for part in (chosen[:1], chosen[1:])
    )
    by_player = [r for p in players for r in (*main, *rest) if r.player_a == p]
    return [replace(r, verdict=_verdict(r, names, len(main if r in main else rest))) for r in by_player]


def _of(records: Iterable[Playthrough], player: str, worth: UtilityRanges | None) -> TrialGroup:
    return _group([r for r in records if r.player == player], worth)


def _group(records: Sequence[Playthrough], worth: UtilityRanges | None) -> TrialGroup:
    """Return playthroughs of one player as a group."""
    return TrialGroup(records, (worth or {}).get(records[0].player, UNBOUNDED))


def headlines(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return the sentences of `compare_levels` to read first: what differs, then the win rates that do not.

    Losses of main metrics come before the other differences.
    """
    differing = [r for r in rows if r.differs()]
    rest = [r for r in rows if not r.differs()]
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
    silent -= len(few)
    if silent:
        how = "" if all(r.exact for r in rest) else " (p values corrected by Holm's method)"
        sentences.append(f"no difference found in {silent} other measures{how}")
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


def _row(level: str, a: TrialGroup, b: TrialGroup, measure: Measure) -> ComparisonRow:
    name, test, rank = tested(a, b, measure)
    effect, change = effects(a, b, measure)
    return ComparisonRow(
        level,
        a.records[0].player,
        b.records[0].player,
        measure,
        a.mean(measure),
        b.mean(measure),
        name,
        test.statistic,
        test.p,
        rank,
        note=test.note,
        effect=effect,
        difference=change,
    )


def shown(measure: Measure, value: float) -> str:
    """Format a value for display: 62 %, 11.8 %, 20.4 steps, 0.791."""
    if measure.ratio:
        return f"{round(value * 100, 1):g} %"
    text = f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    if not measure.unit or measure.unit == measure.name:
        return text
    return f"{text} {measure.unit.removesuffix('s') if text == '1' else measure.unit}"


def p_shown(p: float) -> str:
    """Format a p value for display."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}" if p < 0.095 else f"p = {p:.2f}"


def spoken(player: str) -> str:
    """Return a player's label as it appears within a sentence."""
    return player.replace("_", " ")


def _verdict(row: ComparisonRow, names: tuple[str, str], family: int) -> str:
    """Put the row in words; p values in the text are corrected."""
    player, name = spoken(row.player_a), row.measure.name
    alike = ", no variation in either" if row.constant and not row.measure.rate else ""
    alike += f", {DISAGREE}" if DISAGREE in row.note else ""
    change = f"{_change(row)} ({row.note if row.exact else p_shown(row.p_holm)}{alike})"
    if row.differs():
        if row.measure.key == "win_rate":
            harder = "harder" if row.higher == "a" else "easier"
            return f"{names[1]} is {harder} for the {player}: {change}"
        return f"{names[1]} changes what the {player} does: {change}"
    if row.higher:
        text = f"no difference found for the {player}: {change}"
    else:
        text = f"no difference for the {player}: {name} {shown(row.measure, row.a.value)} in both"
    rate = row.test == "Fisher" or (row.test == PAIRED and row.measure.key == "win_rate")
    return f"{text}; {blind(row, family)}" if rate else text


def _change(row: ComparisonRow) -> str:
    return f"{row.measure.name} {_said(row.measure, row.a)} -> {_said(row.measure, row.b)}"


def _said(measure: Measure, value: Interval) -> str:
    """Put a mean in words; "none left" if all playthroughs have the value that stands for none."""
    return "none left" if measure.none is not None and _constant(value, measure.none) else shown(measure, value.value)


def _constant(value: Interval, at: float) -> bool:
    return value.low == value.value == value.high == at


def _trials(row: ComparisonRow) -> str:
    return f"{counted(row.a.n, 'trial')} each" if row.a.n == row.b.n else f"{row.a.n} and {counted(row.b.n, 'trial')}"


def blind(row: ComparisonRow, family: int) -> str:
    """State what a comparison of rates with this many trials, or pairs of levels, cannot detect."""
    if row.test == PAIRED:
        pairs = row.difference.n
        unseen = (
            f"a difference that fewer than {fewest_pairs(family)} of the {pairs} pairs of levels show cannot be seen"
        )
        return too_few_pairs(pairs, family) or unseen
    trials = _trials(row)
    gap = detectable(round(row.a.value * row.a.n), row.a.n, row.b.n, ALPHA / max(1, family))
    if gap is None:
        return f"{trials} are too few to see any difference"
    return f"with {trials} a difference below about {gap * 100:.0f} points cannot be seen"
