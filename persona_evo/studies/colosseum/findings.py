"""Findings of a Colosseum reproduction: shares of wins, shapes of trees, and verdicts on the reports' claims."""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

from persona_evo.intervals import Interval, mean_interval, wilson
from persona_evo.matches import standings
from persona_evo.matches.standings import Pair, Thinking
from persona_evo.statistics import fisher
from persona_evo.studies.colosseum.matches import (
    CONSTANTS,
    DEPTHS,
    EQUIVALENCE,
    HEURISTICS,
    LARGE,
    MIDDLE,
    OPPONENTS,
    SMALL,
    ColosseumClaim,
    ColosseumGames,
    ColosseumSettings,
    study,
)
from persona_evo.words import counted, percent

YES, ROUGHLY, WEAK, NO = "yes", "same direction, other size", "same direction, not significant", "no"
SIGNIFICANT = 0.05
USUAL = 0.1
"""The exploration constant c of the first report."""
NEARLY_ALL = 0.95
"""The share of wins against the random agent that counts as winning all games."""


NEAR = 0.25
"""The relative difference up to which a number counts as equal to that of a report."""
RULES = (
    f'"{YES}": comparisons of two are significant (p < {SIGNIFICANT:g}), numbers of trees are within {percent(NEAR)} '
    f"of the report's, and intervals of shares contain the report's share; "
    f'"{ROUGHLY}": significant, with other numbers.',
    "The best of several values (of c, of K on both boards) counts as better only if its p times the number of values "
    f'is below {SIGNIFICANT:g}; otherwise "{NO}", because the best of several values exceeds the others by chance '
    "alone.",
)
"""The meaning of the verdicts' words."""


class ReportVerdict(NamedTuple):
    """A verdict on a claim of a report.

    Attributes:
        claim: the claim.
        here: the result of this reproduction, in words.
        kind: the verdict: YES, ROUGHLY, WEAK or NO.
        explained: whether the claim's `why` is a reason for this result.
    """

    claim: ColosseumClaim
    here: str
    kind: str
    explained: bool = False


class TreeShape(NamedTuple):
    """The size of an agent's search trees on a board.

    Attributes:
        breadth: mean over games of the largest breadth in a game.
        depth: mean over games of the largest depth in a game.
        nodes: mean number of nodes.
    """

    breadth: Interval
    depth: Interval
    nodes: float


def name_of(word: str) -> str:
    """Return the name of an agent as `match.names` gives it."""
    return word.partition("=")[0] if "=" in word.partition(":")[0] else word


def share(p: Pair) -> Interval:
    """Return the share of the games without a tie that the first agent won."""
    return wilson(p.wins, p.games - p.ties)


def pair(m: ColosseumGames, match: str, a: str, b: str) -> Pair:
    """Return the games of a match between two agents."""
    return standings.pair(m.played[match], a, b)


def shape(m: ColosseumGames, match: str, name: str, size: int) -> TreeShape | None:
    """Return the size of an agent's trees in a match; None if it built none."""
    rows = []
    for r in m.played[match]:
        if r.level == f"size{size}" and name in (r.first, r.second):
            searches = r.searches[0 if r.first == name else 1]
            if searches:
                rows.append(searches)
    if not rows:
        return None
    return TreeShape(
        mean_interval([row[5] for row in rows]),
        mean_interval([row[6] for row in rows]),
        fsum(row[2] for row in rows) / len(rows),
    )


def thinking(m: ColosseumGames, match: str, name: str, size: int) -> Thinking:
    """Return how much an agent searched in a match."""
    return standings.thinking(m.played[match], name, f"size{size}")


def words(p: Pair) -> str:
    """Describe a pair: games won, tied and lost, the share of wins with its interval, and p."""
    s = share(p)
    losses = p.games - p.wins - p.ties
    return f"{p.wins} · {p.ties} · {losses}; {percent(s.value)} ({percent(s.low)} to {percent(s.high)}), {p_text(p.p)}"


def p_text(p: float) -> str:
    """Format the p value of a test."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def better(p: Pair) -> str:
    """Return the kind of verdict on the claim that the first agent is better."""
    won = share(p).value > 0.5
    return (YES if p.p < SIGNIFICANT else WEAK) if won else NO


def worse(p: Pair) -> bool:
    """Return whether the first agent is significantly worse."""
    return share(p).value < 0.5 and p.p < SIGNIFICANT


def stands_out(p: float, tried: int) -> bool:
    """Return whether the best of several values is significant after Bonferroni's correction.

    Args:
        p: the p value of the best one.
        tried: number of values that were tried.
    """
    return p * tried < SIGNIFICANT


def few(m: ColosseumGames) -> bool:
    """Return whether there are too few games, or games with too little search, for verdicts."""
    usual = ColosseumSettings()
    return m.settings.quick or m.settings.games < usual.games or m.settings.iterations < usual.iterations


def verdicts(m: ColosseumGames) -> list[ReportVerdict]:
    """Return the verdicts on all claims of both reports."""
    return [ReportVerdict(claim, *_judged(m, claim.key)) for claim in study().claims]


Judged = tuple[str, str, bool]
"""The result in words, the kind of verdict, and whether the claim's reason explains the result."""


def _judged(m: ColosseumGames, key: str) -> Judged:
    if key in ("breadth", "depth"):
        return _trees(m, key)
    if key in ("walls_random", "killers_random"):
        p = pair(m, "all", {"walls_random": "uct_walls", "killers_random": "killer_moves"}[key], "random")
        kind = YES if p.rate.value >= NEARLY_ALL else ROUGHLY if p.rate.low > 0.5 else NO
        return _of_all(p), kind, kind == ROUGHLY
    if key == "walls_two_ply":
        p = pair(m, "all", "uct_walls", "two_ply")
        return words(p), better(p), better(p) != YES
    if key in ("prior", "killers_help"):
        return _part(m, "prior" if key == "prior" else "anything")
    if key in ("field_6", "field_12"):
        p, said = pair(m, key.replace("_", "-"), "potential_field", "killer_moves"), 0.13 if key == "field_6" else 0.04
        s = share(p)
        kind = YES if s.low <= said <= s.high else NO if s.value >= 0.5 else ROUGHLY if p.p < SIGNIFICANT else WEAK
        return words(p), kind, kind != YES
    judge = {
        "two_ply_random": _two_ply,
        "best_c": _constant,
        "rave": _rave,
        "field_deeper": _deeper,
        "stopping_early": _early,
    }[key]
    return judge(m)


def _of_all(p: Pair) -> str:
    return f"{p.wins} of {counted(p.games, 'game')} ({percent(p.rate.low)} to {percent(p.rate.high)})"


def _two_ply(m: ColosseumGames) -> Judged:
    p, said = pair(m, "all", "two_ply", "random"), 0.9
    kind = YES if p.rate.low <= said <= p.rate.high else ROUGHLY if p.rate.low > 0.5 else NO
    return _of_all(p), kind, p.rate.low > said


def _part(m: ColosseumGames, part: str) -> Judged:
    whole, _, less = HEURISTICS[part]
    small, large = (pair(m, f"without-{part}-{n}", whole, name_of(less)) for n in (SMALL, LARGE))
    kinds = [better(small), better(large)]
    kind = YES if YES in kinds and NO not in kinds else WEAK if NO not in kinds else NO
    useless = YES not in kinds and not worse(small) and not worse(large)
    return f"6 x 6: {words(small)}; 12 x 12: {words(large)}", kind, useless


def _near(here: float, there: float) -> bool:
    return abs(here - there) <= NEAR * there


def _trees(m: ColosseumGames, key: str) -> Judged:
    sizes = [row.size for row in study().trees]
    found = {n: shape(m, f"trees-{n}", "uct_walls", n) for n in sizes}
    values = {n: (s.breadth if key == "breadth" else s.depth).value for n, s in found.items() if s is not None}
    text = ", ".join(f"{values[n]:.3g}" for n in values)
    there = {row.size: row.breadth if key == "breadth" else row.depth for row in study().trees}
    falls = SMALL in values and LARGE in values and values[SMALL] > values[LARGE]
    kind = NO if not falls else YES if all(_near(v, there[n]) for n, v in values.items()) else ROUGHLY
    larger = kind == ROUGHLY and all(v >= there[n] for n, v in values.items())
    return f"{text} on 6 x 6 to 12 x 12, at equal iterations", kind, larger


def constants(m: ColosseumGames, other: str) -> dict[float, Pair]:
    """Return the games of uct_walls against an agent for each value of c."""
    return {c: pair(m, f"c-{other}-{c}", "c", other) for c in CONSTANTS}


def _constant(m: ColosseumGames) -> Judged:
    found = {other: constants(m, other) for other in OPPONENTS}

    def of(c: float) -> tuple[int, int]:
        pairs = [found[other][c] for other in OPPONENTS]
        return sum(p.wins for p in pairs), sum(p.games - p.ties for p in pairs)

    best = max(CONSTANTS, key=lambda c: wilson(*of(c)).value)
    ours, usual = wilson(*of(best)), wilson(*of(USUAL))
    p = fisher(*of(best), *of(USUAL)).p
    kind = YES if best != USUAL and stands_out(p, len(CONSTANTS) - 1) else NO
    beside = "" if best == USUAL else f" ({p_text(p)}, Fisher, not yet multiplied by {len(CONSTANTS) - 1})"
    return (
        (
            f"best c = {best:g}: {percent(ours.value)} ({percent(ours.low)} to {percent(ours.high)}) against "
            f"{' and '.join(OPPONENTS)}, "
            f"with {USUAL:g} {percent(usual.value)} ({percent(usual.low)} to {percent(usual.high)}){beside}"
        ),
        kind,
        kind == NO,
    )


def _rave(m: ColosseumGames) -> Judged:
    texts, best, boards = [], [], (SMALL, MIDDLE)
    for n in boards:
        found = {k: pair(m, f"rave-{k}-{n}", "rave", "uct_walls") for k in EQUIVALENCE}
        k = max(EQUIVALENCE, key=lambda k: share(found[k]).value)
        best.append(found[k])
        texts.append(f"{n} x {n}, K = {k}: {words(found[k])}")
    above = [share(p).value > 0.5 and stands_out(p.p, len(EQUIVALENCE) * len(boards)) for p in best]
    kind = NO if not any(above) else ROUGHLY if any(share(p).value < 0.5 for p in best) else YES
    return "; ".join(texts), kind, kind == NO


def _deeper(m: ColosseumGames) -> Judged:
    field, killers = (shape(m, "field-6", name, SMALL) for name in ("potential_field", "killer_moves"))
    if field is None or killers is None:
        return "no searches", NO, False
    a, b = field.depth, killers.depth
    apart = a.n > 1 and b.n > 1 and a.low > b.high
    near = _near(a.value, 5) and _near(b.value, 2)
    kind = NO if a.value <= b.value else WEAK if not apart else YES if near else ROUGHLY
    return f"{a.text(1)} and {b.text(1)} moves, largest of each game", kind, kind == ROUGHLY


def speed(m: ColosseumGames, depth: int) -> float:
    """Return the iterations per second on the large board with random games of `depth` moves."""
    t = thinking(m, f"depth-{depth}-short", "early", LARGE)
    return t.iterations / t.seconds if t.seconds > 0 else 0.0


def _early(m: ColosseumGames) -> Judged:
    cut, whole = (pair(m, f"depth-{d}-short", "early", "killer_moves") for d in (20, max(DEPTHS)))
    faster = speed(m, 20) / max(1e-9, speed(m, max(DEPTHS)))
    a, b = share(cut), share(whole)
    kind = YES if a.low > b.high and faster > 1 else WEAK if a.value > b.value else NO
    return (
        (
            f"12 x 12, {faster:.1f} times as many iterations in the same time; judged after 20 moves {words(cut)} "
            f"against killer_moves, after the whole game {words(whole)}"
        ),
        kind,
        kind != YES and faster < 1 + NEAR,
    )
