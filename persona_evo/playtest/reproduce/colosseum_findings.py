"""What the games of a Colosseum reproduction say: shares, trees, and how they go with the reports' sentences."""

from __future__ import annotations

from typing import NamedTuple

from persona_evo.playtest.match import standings
from persona_evo.playtest.match.standings import Pair, Thinking
from persona_evo.playtest.reproduce.colosseum import (
    CONSTANTS,
    DEPTHS,
    EQUIVALENCE,
    HEURISTICS,
    LARGE,
    MIDDLE,
    OPPONENTS,
    SMALL,
    Claim,
    Material,
    study,
)
from persona_evo.playtest.statistics import Interval, mean_interval, wilson
from persona_evo.words import counted

YES, ROUGHLY, WEAK, NO = "yes", "the direction, of another size", "the direction, not significant", "no"
SIGNIFICANT = 0.05
USUAL = 0.1
"""c of the first report."""
NEARLY_ALL = 0.95
"""Of games won against the random agent, what counts as all of them."""


class Verdict(NamedTuple):
    """A sentence of a report, what came out here, and how that goes together: YES, ROUGHLY, WEAK or NO."""

    claim: Claim
    here: str
    kind: str


class Shape(NamedTuple):
    """Trees of an agent on a board: means over games of the largest breadth and depth in a game, and of the nodes."""

    breadth: Interval
    depth: Interval
    nodes: float


def name_of(word: str) -> str:
    """The name of an agent as `match.names` gives it."""
    return word.partition("=")[0] if "=" in word.partition(":")[0] else word


def share(p: Pair) -> Interval:
    """Of the games that were no ties, those that the first agent won."""
    return wilson(p.wins, p.games - p.ties)


def pair(m: Material, match: str, a: str, b: str) -> Pair:
    """The games of a match between two agents."""
    return standings.pair(m.played[match], a, b)


def pair_of(m: Material, match: str) -> Pair:
    """The games of a match between two agents that are in the order of its name."""
    first = m.played[match][0]
    return pair(m, match, first.first, first.second)


def shape(m: Material, match: str, name: str, size: int) -> Shape | None:
    """The trees of an agent in a match, None where it made none."""
    rows = []
    for r in m.played[match]:
        if r.level == f"size{size}" and name in (r.first, r.second):
            searches = r.searches[0 if r.first == name else 1]
            if searches:
                rows.append(searches)
    if not rows:
        return None
    return Shape(mean_interval([row[5] for row in rows]), mean_interval([row[6] for row in rows]),
                 sum(row[2] for row in rows) / len(rows))  # fmt: skip


def thinking(m: Material, match: str, name: str, size: int) -> Thinking:
    """How an agent thought in a match."""
    return standings.thinking(m.played[match], name, f"size{size}")


def words(p: Pair) -> str:
    """Won, tied and lost, the share of those decided with its interval, and p."""
    s = share(p)
    losses = p.games - p.wins - p.ties
    return f"{p.wins} · {p.ties} · {losses}; {s.value:.0%} ({s.low:.0%} to {s.high:.0%}), {p_text(p)}"


def p_text(p: Pair) -> str:
    """The sign test's p."""
    return "p < 0.001" if p.p < 0.001 else f"p = {p.p:.2g}"


def better(p: Pair) -> str:
    """Whether the first agent is better."""
    won = share(p).value > 0.5
    return (YES if p.p < SIGNIFICANT else WEAK) if won else NO


def verdicts(m: Material) -> list[Verdict]:
    """Every sentence of both reports."""
    return [Verdict(claim, *_judged(m, claim.key)) for claim in study().claims]


def _judged(m: Material, key: str) -> tuple[str, str]:
    if key in ("breadth", "depth"):
        return _trees(m, key)
    if key in ("walls_random", "killers_random", "two_ply_random"):
        name = {"walls_random": "uct_walls", "killers_random": "killer_moves", "two_ply_random": "two_ply"}[key]
        p = pair(m, "all", name, "random")
        rate = p.rate
        agrees = rate.low <= 0.9 <= rate.high if key == "two_ply_random" else rate.value >= NEARLY_ALL
        kind = YES if agrees else ROUGHLY if rate.low > 0.5 else NO
        return f"{p.wins} of {counted(p.games, 'game')} ({rate.low:.0%} to {rate.high:.0%})", kind
    if key == "walls_two_ply":
        p = pair(m, "all", "uct_walls", "two_ply")
        return words(p), better(p)
    if key in ("prior", "killers_help"):
        part = "prior" if key == "prior" else "anything"
        whole, _, less = HEURISTICS[part]
        small, large = (pair(m, f"without-{part}-{n}", whole, name_of(less)) for n in (SMALL, LARGE))
        kinds = [better(small), better(large)]
        kind = YES if YES in kinds and NO not in kinds else WEAK if NO not in kinds else NO
        return f"6 x 6: {words(small)}; 12 x 12: {words(large)}", kind
    if key in ("field_6", "field_12"):
        p, said = pair(m, key.replace("_", "-"), "potential_field", "killer_moves"), 0.13 if key == "field_6" else 0.04
        s = share(p)
        if s.low <= said <= s.high:
            return words(p), YES
        return words(p), NO if s.value >= 0.5 else ROUGHLY if p.p < SIGNIFICANT else WEAK
    return {"best_c": _constant, "rave": _rave, "field_deeper": _deeper, "stopping_early": _early}[key](m)


def _trees(m: Material, key: str) -> tuple[str, str]:
    sizes = [row.size for row in study().trees]
    found = {n: shape(m, f"trees-{n}", "uct_walls", n) for n in sizes}
    values = {n: (s.breadth if key == "breadth" else s.depth).value for n, s in found.items() if s is not None}
    text = ", ".join(f"{values[n]:.3g}" for n in values)
    there = {row.size: row.breadth if key == "breadth" else row.depth for row in study().trees}
    near = all(there[n] / 2 <= values[n] <= 2 * there[n] for n in values)
    falls = values[SMALL] > values[LARGE]
    kind = YES if near and falls else ROUGHLY if falls else NO
    return f"{text} on 6 x 6 to 12 x 12, at equal iterations", kind


def constants(m: Material, other: str) -> dict[float, Pair]:
    """uct_walls with every c against an agent."""
    return {c: pair(m, f"c-{other}-{c}", "c", other) for c in CONSTANTS}


def _constant(m: Material) -> tuple[str, str]:
    found = {other: constants(m, other) for other in OPPONENTS}

    def of(c: float) -> Interval:
        pairs = [found[other][c] for other in OPPONENTS]
        return wilson(sum(p.wins for p in pairs), sum(p.games - p.ties for p in pairs))

    best = max(CONSTANTS, key=lambda c: of(c).value)
    ours, usual = of(best), of(USUAL)
    kind = NO if best == USUAL else YES if ours.low > usual.high else WEAK
    return (f"best c = {best:g}: {ours.value:.0%} ({ours.low:.0%} to {ours.high:.0%}) against "
            f"{' and '.join(OPPONENTS)}, with {USUAL:g} {usual.value:.0%} ({usual.low:.0%} to {usual.high:.0%})"), kind


def _rave(m: Material) -> tuple[str, str]:
    texts, kinds = [], []
    for n in (SMALL, MIDDLE):
        best = max(EQUIVALENCE, key=lambda k: share(pair(m, f"rave-{k}-{n}", "rave", "uct_walls")).value)
        p = pair(m, f"rave-{best}-{n}", "rave", "uct_walls")
        kind = better(p)
        if kind == YES and p.p * len(EQUIVALENCE) >= SIGNIFICANT:
            kind = WEAK
        if kind == WEAK:  # the best of several values of K is no direction
            kind = NO
        texts.append(f"{n} x {n}, K = {best}: {words(p)}")
        kinds.append(kind)
    return "; ".join(texts), YES if YES in kinds and NO not in kinds else WEAK if {YES, WEAK} & {*kinds} else NO


def _deeper(m: Material) -> tuple[str, str]:
    field, killers = (shape(m, "field-6", name, SMALL) for name in ("potential_field", "killer_moves"))
    if field is None or killers is None:
        return "no searches", NO
    a, b = field.depth, killers.depth
    kind = YES if a.low > b.high else WEAK if a.value > b.value else NO
    return f"{a.value:.1f} ± {a.half:.1f} and {b.value:.1f} ± {b.half:.1f} moves, largest of each game", kind


def speed(m: Material, depth: int) -> float:
    """Iterations a second with games of so many random moves on the large board."""
    t = thinking(m, f"depth-{depth}-short", "early", LARGE)
    return t.iterations / t.seconds if t.seconds > 0 else 0.0


def _early(m: Material) -> tuple[str, str]:
    cut, whole = (pair(m, f"depth-{d}-short", "early", "killer_moves") for d in (20, max(DEPTHS)))
    faster = speed(m, 20) / max(1e-9, speed(m, max(DEPTHS)))
    a, b = share(cut), share(whole)
    kind = YES if a.low > b.high and faster > 1 else WEAK if a.value > b.value else NO
    return (f"12 x 12, {faster:.1f} times as many iterations in the same time; judged after 20 moves {words(cut)} "
            f"against killer_moves, after the whole game {words(whole)}"), kind
