"""Summarises a comparison of two versions of a level in at most LINES lines, the most important first.

The first line says whether B is harder than A, for which players, and why, as far as the maps show. The next lines say
what players do differently, measure by measure, with the effect size. Then follow the tiles that changed, and the
differences that this number of trials cannot detect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from persona_evo.games.findings import Finding
from persona_evo.playtest.compare import ComparisonRow, shown, spoken
from persona_evo.playtest.compare_versions import blind, found_routes, values
from persona_evo.playtest.level_pairs import LevelPairs
from persona_evo.playtest.metrics import DAMAGE, UTILITY
from persona_evo.playtest.samples import PAIRED
from persona_evo.playtest.versions import MOST, AnalysisDifference, Changes
from persona_evo.statistics import NO_VARIATION, too_few_pairs
from persona_evo.words import counted, enumerated, plural

LINES = 5
"""Maximum number of lines of an answer."""

DIFFICULTY = {UTILITY.key: -1, "win_rate": -1, "death_rate": 1, "stuck_rate": 1, "unfinished_rate": 1, DAMAGE.key: 1}
"""Measures of difficulty: 1 if a higher value is harder, -1 if a lower one is. The first that differs decides."""

SAME = 0.005
"""Largest difference between two means, in objects, that counts as no difference."""

_SAID = {
    "damage": ("loses more hit points", "loses fewer hit points"),
    "steps": ("takes more steps", "takes fewer steps"),
}
"""What a player does in B if its values are higher there, and if they are lower."""


@dataclass(frozen=True)
class Answer:
    """A comparison in words.

    Attributes:
        lines: at most LINES sentences; the first is the verdict.
        harder: 1 if B is harder, -1 if it is easier, 0 if players disagree or nothing differs.
    """

    lines: tuple[str, ...]
    harder: int


def answer(rows: Sequence[ComparisonRow], changes: Changes | LevelPairs, difference: AnalysisDifference) -> Answer:
    """Describe how two versions of a level, or of several levels, differ.

    Args:
        rows: the rows of `compare_versions.compare_levels` or of `level_pairs.compare_pairs`.
        changes: the tiles that changed, or the pairs of levels.
        difference: the difference between the analyses of both versions; empty for several levels.
    """
    if changes.none:
        return Answer((changes.words,), 0)
    players = list(dict.fromkeys(r.player_a for r in rows))
    leaning = {p: _leaning([r for r in rows if r.player_a == p], difference) for p in players}
    told = [r for r in rows if (telling(r) or _proven_by_maps(r, difference)) and _comparable(r, difference)]
    first = _verdict(players, leaning, {r.player_a for r in told}, _contrary(rows, leaning, difference), difference)
    measures = _measures(told)
    new, rest = _new(difference.new), [*filter(None, [changes.words]), *_unseen(rows, told), *_too_few(rows)]
    room = LINES - 1 - len(new) - len(rest)
    lines = [_measure(own, difference) for own in measures[:room]]
    if len(measures) > room and lines:
        more = len(measures) - room
        lines[-1] += f"; {counted(more, 'other measure')} {plural(more, 'differs', 'differ')} (--all)"
    signs = {sign for sign in leaning.values() if sign}
    harder = signs.pop() if len(signs) == 1 else difference.harder if not signs else 0
    return Answer((first, *new, *lines, *rest), harder)


def telling(row: ComparisonRow) -> bool:
    """Return whether a row shows that the versions differ.

    It does if the difference is significant or proven, or if the routes found in one version have no value in common
    with those found in the other (`ComparisonRow.routes_apart`).
    """
    return row.differs() or row.routes_apart


def _new(found: Sequence[Finding]) -> list[str]:
    """Describe in one line the findings that B has and A does not."""
    if not found:
        return []
    more = f" And {len(found) - 1} more." if len(found) > 1 else ""
    return [f"B has a {found[0].severity} that A does not have: {found[0].text}{more}"]


def _counts(row: ComparisonRow, difference: AnalysisDifference) -> tuple[int, int] | None:
    """Return how many of the objects that a share refers to A and B have, if these numbers differ."""
    words = row.measure.name.split() if row.measure.ratio and not row.measure.rate else []
    return next((difference.objects[word] for word in words if word in difference.objects), None)


def _comparable(row: ComparisonRow, difference: AnalysisDifference) -> bool:
    """Return whether a row can be compared.

    It can if it is no share, if both versions have equally many objects, or if the number of objects obtained differs
    too.
    """
    counts = _counts(row, difference)
    if counts is not None:
        return abs(row.a.value * counts[0] - row.b.value * counts[1]) > SAME
    shares = row.measure.ratio and not row.measure.rate
    return not shares or difference.sums.isdisjoint(row.measure.name.split())


def _signs(rows: Iterable[ComparisonRow], difference: AnalysisDifference) -> dict[ComparisonRow, int]:
    """Return the measures of difficulty in which a player differs, the first in DIFFICULTY first.

    The value is 1 if the measure says that B is harder, -1 if easier.
    """
    found = [r for r in rows if r.measure.key in DIFFICULTY and (telling(r) or _proven_by_maps(r, difference))]
    found.sort(key=lambda r: list(DIFFICULTY).index(r.measure.key))
    return {r: _sign(r) for r in found}


def _sign(row: ComparisonRow) -> int:
    """Return 1 if the values of a row say that B is harder, -1 if they say easier, 0 if they say neither."""
    return DIFFICULTY.get(row.measure.key, 0) * {"b": 1, "a": -1}.get(row.higher, 0)


def _leaning(rows: Sequence[ComparisonRow], difference: AnalysisDifference) -> int:
    """Return 1 if B is harder for a player, -1 if it is easier, 0 if nothing shows either.

    The player's own utility decides; if it does not differ, the first rate that does. Damage decides only if the maps
    say the same and the mean utility does not say the opposite: lost hit points can buy what the player wants.
    """
    wanted = next((_sign(r) for r in rows if r.measure.key == UTILITY.key), 0)
    for row, sign in _signs(rows, difference).items():
        if row.measure.key != DAMAGE.key or (sign == difference.harder and sign != -wanted):
            return sign
    return 0


def _contrary(rows: Sequence[ComparisonRow], leaning: dict[str, int], difference: AnalysisDifference) -> str:
    """Name the measures of difficulty that point the other way than the verdict on their player."""
    found = [
        f"the {spoken(p)}'s {row.measure.name} is {'higher' if row.higher == 'b' else 'lower'}"
        for p, lean in leaning.items()
        for row, sign in _signs([r for r in rows if r.player_a == p], difference).items()
        if sign == -lean != 0
    ]
    return f", although {enumerated(found)}" if found else ""


def _proven_by_maps(row: ComparisonRow, difference: AnalysisDifference) -> bool:
    """Return whether the routes found differ in what the maps prove, such as damage where traps are forced."""
    return row.disjoint and _sign(row) == difference.harder != 0


def _verdict(
    players: Sequence[str], leaning: dict[str, int], moved: set[str], contrary: str, difference: AnalysisDifference
) -> str:
    """Return the first line.

    Args:
        moved: the players that differ in some measure.
        contrary: what points the other way than `leaning`, in words.
    """
    against = {-difference.harder} == set(filter(None, leaning.values())) if difference.harder else False
    reasons = ", ".join(difference.reasons)
    why = f"{', though its map says otherwise: ' if against else ': '}{reasons}" if reasons else ""
    why += f"; B has {enumerated(difference.things, MOST)}" if difference.things else ""
    version, problem = difference.problem
    other = "A" if version == "B" else "B"
    has = f"{version} has a problem that {other} does not have: {problem}" if problem else ""
    if has and (version == "B" or 1 not in leaning.values()):
        return has
    why = f", though {has}" if has else why
    parts = [
        f"{word} than A for {_whom(own, players)}" if not k else f"{word} for {_whom(own, players)}"
        for k, (word, own) in enumerate(_sides(players, leaning))
    ]
    if parts:
        return f"B is {' and '.join(parts)}{contrary}{why}"
    if difference.harder:
        word = "harder" if difference.harder > 0 else "easier"
        return f"B is {word} than A judging by its map{why}; the players do not show it"
    if moved:
        return (
            f"B is not shown to be harder or easier than A, but {_whom([p for p in players if p in moved], players)} "
            f"{plural(len(moved), 'plays', 'play')} it differently{why}"
        )
    return f"no difference shown between A and B for {_whom(players, players)}{why}"


def _sides(players: Sequence[str], leaning: dict[str, int]) -> list[tuple[str, list[str]]]:
    """Return the players for whom B is harder, and those for whom it is easier."""
    sides = [(word, [p for p in players if leaning[p] == sign]) for word, sign in (("harder", 1), ("easier", -1))]
    return [(word, own) for word, own in sides if own]


def _whom(own: Sequence[str], players: Sequence[str]) -> str:
    """Name players in a sentence."""
    if len(own) == len(players) > 2:
        return f"all {len(players)} players"
    return enumerated([f"the {spoken(p)}" for p in own])


def _measures(rows: Sequence[ComparisonRow]) -> list[list[ComparisonRow]]:
    """Group the rows by measure: first difficulty, the win rate before all, then what is significant or proven.

    Losses of main metrics lead.
    """
    groups: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        groups.setdefault(row.measure.key, []).append(row)
    order = sorted(DIFFICULTY, key=lambda key: key != "win_rate")

    def rank(own: list[ComparisonRow]) -> tuple[int, bool, bool, bool, int]:
        key = own[0].measure.key
        return (
            order.index(key) if key in order else len(order),
            not any(r.differs() for r in own),
            not any(r.loss for r in own),
            not own[0].measure.main,
            -len(own),
        )

    return sorted(groups.values(), key=rank)


def _measure(rows: Sequence[ComparisonRow], difference: AnalysisDifference) -> str:
    """Describe one measure for all players in whom it differs, the largest effect first and in words."""
    ordered = sorted(rows, key=lambda r: -abs(r.effect.value - 0.5))
    said = [f"{spoken(r.player_a)} {_values(r, _counts(r, difference), full=k == 0)}" for k, r in enumerate(ordered)]
    if all(r.exact and r.ranges is None for r in rows):
        said[-1] += f", in the proven best {plural(len(rows), 'plan')}"
    else:
        said = [f"{text} ({_source(r)})" if r.exact else text for r, text in zip(ordered, said, strict=True)]
    return f"{ordered[0].measure.name}: {', '.join(said)}"


def _source(row: ComparisonRow) -> str:
    """State what the values of an exact row come from."""
    return found_routes(row) if row.ranges else "proven best plan"


def _values(row: ComparisonRow, counts: tuple[int, int] | None, full: bool) -> str:
    """Return both values, the difference with its interval, and Vargha and Delaney's A.

    Args:
        counts: numbers of objects in A and in B, if shares of them cannot be compared.
        full: whether to add the unit and the meaning of A.
    """
    measure = row.measure
    if counts is not None:
        return f"{row.a.value * counts[0]:.3g} of {counts[0]} -> {row.b.value * counts[1]:.3g} of {counts[1]}"
    both = values(row, unit=full)
    if row.exact:
        return both
    change, effect = row.difference, row.effect.value
    gap = f"{change.value * 100:+.0f} points" if measure.ratio else f"{change.value:+.2g}"
    if change.known and change.low < change.high:
        low, high = (f"{v * 100:.0f}" if measure.ratio else f"{v:.2g}" for v in (change.low, change.high))
        gap += f", {'95 % interval ' if full else ''}{low} to {high}"
    if measure.rate:
        return f"{both} ({gap})"
    if row.test == PAIRED:
        share = max(effect, 1 - effect)
        return f"{both} ({gap}; in {share * 100:.0f} % of pairs{f' of levels {_doing(row)}' if full else ''})"
    means = f": in {max(effect, 1 - effect) * 100:.0f} % of pairs of playthroughs {_doing(row)}" if full else ""
    return f"{both} ({gap}; {'Vargha-Delaney ' if full else ''}A = {effect:.2f}{means})"


def _doing(row: ComparisonRow) -> str:
    """Describe what the pairs of playthroughs that A counts have in common."""
    more, fewer = _SAID.get(row.measure.key, ("", ""))
    said = more if row.effect.value >= 0.5 else fewer
    return f"B {said}" if said else f"it is {'higher' if row.effect.value >= 0.5 else 'lower'} in B"


def _unseen(rows: Sequence[ComparisonRow], told: Sequence[ComparisonRow]) -> list[str]:
    """State what this comparison cannot detect, if no win rate differs."""
    rates = [r for r in rows if r.measure.key == "win_rate"]
    if not rates or any(r.measure.key == "win_rate" for r in told):
        return []
    if all(r.exact for r in rates):
        return [f"win rates do not differ: {_each(rates)} (proven)"]
    tested = [r for r in rates if r.test in ("Fisher", PAIRED)]
    if not tested:
        trials = max(max(r.a.n, r.b.n) for r in rates if not r.exact)
        return [f"win rates do not differ: {_each(rates)} (proven, or the same in {counted(trials, 'trial')})"]
    unseen = blind(tested[0], len(rates))
    alike = not any(r.higher for r in rates)
    said = "do not differ" if alike or not unseen.hopeless else "cannot be compared"
    return [f"win rates {said} ({_each(rates)}): {unseen.text}"]


def _too_few(rows: Sequence[ComparisonRow]) -> list[str]:
    """State that there are too few pairs of levels for measures other than the win rate, if there are."""
    others = [r for r in rows if r.test == PAIRED and r.measure.key != "win_rate" and r.note != NO_VARIATION]
    few = too_few_pairs(others[0].difference.n, len(others)) if others else ""
    return [f"other measures, {len(others)} in all, cannot be compared: {few}"] if few else []


def _each(rates: Sequence[ComparisonRow]) -> str:
    """List the win rates of all players."""
    values = dict.fromkeys(shown(r.measure, side.value) for r in rates for side in (r.a, r.b))
    if len(values) == 1:
        return f"{next(iter(values))} in both"
    pairs = [dict.fromkeys(shown(r.measure, side.value) for side in (r.a, r.b)) for r in rates]
    return ", ".join(f"{spoken(r.player_a)} {' -> '.join(pair)}" for r, pair in zip(rates, pairs, strict=True))
