"""Findings on a level's objects: those that nobody touches, that others take first, or that cannot be had.

An object counts only for players who care for its kind, and only once: what the static analysis says about it is not
repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from persona_evo.games.analysis import at
from persona_evo.games.findings import Finding, Spot
from persona_evo.intervals import wilson
from persona_evo.playtest.compare import shown
from persona_evo.playtest.evidence import Evidence, Thing, the, times
from persona_evo.playtest.metrics import Measure, certain
from persona_evo.playtest.records import Playthrough
from persona_evo.words import counted, enumerated, plural

TOLD = ("unreachable_object", "useless_object", "stolen_object")
"""Kinds of static findings that explain why nobody gets an object."""

FAR = 0.5
"""A player misses what it cares for if it gets less than this share of what is possible."""

HARDLY = 1 / 3
"""A player gets hardly any of what it cares for if it gets less than this share of all there is."""

MOST = 0.5
"""An object counts as taken by others if they get it in this share of the playthroughs."""


class Lot(NamedTuple):
    """The objects of one kind, and who touches them.

    Attributes:
        things: all objects of the kind.
        left: the objects that nobody touches.
        stolen: each object that others take and no player does -> who takes it, and in how many playthroughs.
        fans: labels of the judged players who care for the kind.
    """

    things: list[Thing]
    left: list[Spot]
    stolen: dict[Spot, Counter[str]]
    fans: list[str]


def contents(e: Evidence, failing: frozenset[str]) -> list[Finding]:
    """Return all findings on the level's objects.

    Args:
        failing: players who do not finish the level; nothing more is said about them.
    """
    found: list[Finding] = []
    fallen: set[str] = set(failing)
    for lot in _lots(e):
        found += _stolen(e, lot)
        fans = [p for p in lot.fans if p not in failing]
        if not lot.left or not fans:
            continue
        share = 1.0 - len(lot.left) / len(lot.things)
        scarce = share < HARDLY and len(lot.things) > 1
        found.append(_left(e, lot, fans, "out_of_reach" if scarce else "untouched_object"))
        fallen |= set(fans)
    for player in e.priorities:
        if player in e.judged and player not in fallen:
            found += missed(e, player)
    return found


def _lots(e: Evidence) -> list[Lot]:
    """Group the objects, without exits, by the kinds that a judged player cares for."""
    kinds: dict[str, list[Thing]] = {}
    for thing in e.things:
        kinds.setdefault(thing.kind, []).append(thing)
    touched = {(event.kind, (event.x, event.y)) for r in e.records for event in r.all_events}
    told = e.explained(*TOLD)
    lots = []
    for kind, things in kinds.items() if e.records else ():
        fans = [p for p in e.groups if e.cares_for(p, things[0])]
        if not fans or kind == "exit":
            continue
        if kind.startswith("monster:"):  # monsters walk, so one of a kind stands for all
            met = {k for k, _ in touched} & {kind, f"slain:{things[0].name}"}
            left, stolen = ([] if met else [t.spot for t in things]), {}
        else:
            free = [t.spot for t in things if (kind, t.spot) not in touched]
            stolen = {spot: takers for spot in free if (takers := _takers(e.records, kind, spot))}
            left = [spot for spot in free if spot not in stolen]
        lots.append(
            Lot(
                things, [s for s in left if s not in told], {s: who for s, who in stolen.items() if s not in told}, fans
            )
        )
    return lots


def _takers(records: Sequence[Playthrough], kind: str, spot: Spot) -> Counter[str]:
    """Return who else takes an object -> in how many playthroughs."""
    found: Counter[str] = Counter()
    for record in records:
        found.update(
            {
                event.kind.removeprefix(f"{kind}:")
                for event in record.all_events
                if event.kind.startswith(f"{kind}:") and (event.x, event.y) == spot
            }
        )
    return found


def _stolen(e: Evidence, lot: Lot) -> list[Finding]:
    """Report objects that others take in most playthroughs and no player ever does."""
    taken = {s: who for s, who in lot.stolen.items() if sum(who.values()) >= MOST * len(e.records)}
    if not taken:
        return []
    name = lot.things[0].name
    who: Counter[str] = sum(taken.values(), Counter())
    takers = enumerated([f"{taker}s" for taker, _ in who.most_common()])
    one = len(taken) == 1
    text = (
        f"{takers} take the {plural(len(taken), name)} at {at(list(taken))} in "
        f"{max(sum(w.values()) for w in taken.values())} of {times(e.records)}, and no player gets "
        f"{'it' if one else 'them'}"
    )
    shows = next(
        (
            r
            for p in lot.fans
            for r in e.groups[p]
            if any(
                event.kind.startswith(f"{lot.things[0].kind}:") and (event.x, event.y) in taken
                for event in r.all_events
            )
        ),
        None,
    )
    return [
        Finding(
            "stolen_object",
            "notice",
            e.level,
            text,
            tuple(taken),
            tuple(lot.fans),
            {"taken_by": dict(who), "playthroughs": len(e.records)},
            f"Look at the way of the {enumerated(sorted(who))} to the {name}.",
            e.trace(shows),
        )
    ]


def _left(e: Evidence, lot: Lot, fans: list[str], kind: str) -> Finding:
    """Report objects that nobody touches, though some players care for them."""
    name, n, total = lot.things[0].name, len(lot.left), len(lot.things)
    groups = [e.groups[p] for p in fans]
    best = max((r for group in groups for r in group), key=lambda r: r.best_utility)
    proven = all(certain(group) for group in groups)
    which = (
        f"the only {name}"
        if total == 1
        else f"any of the {total} {name}s"
        if n == total
        else (f"{n} of the {total} {name}s")
    )
    plans = plural(len(fans), "plan leaves", "plans leave")
    why = f"; the best {plans} {plural(n, 'it', 'them')} out (proven)" if proven else ""
    text = (
        f"nobody touches {which} in {times(e.records)}: at {at(lot.left)}; {the(fans)} "
        f"{plural(len(fans), 'cares', 'care')} for {name}s{why}"
    )
    return Finding(
        kind,
        "notice",
        e.level,
        text,
        tuple(lot.left),
        tuple(fans),
        {"untouched": n, "objects": total, "playthroughs": len(e.records), "proven": proven},
        f"Look at what it costs to get to the {plural(n, name)}.",
        e.trace(best),
    )


def missed(e: Evidence, player: str) -> list[Finding]:
    """Report that a player gets far less of what it cares for than in a known plan that it would prefer.

    If the metric has no highest value, plans that were cut short do not count, since the total depends on how long one
    plays. Too few playthroughs show nothing (Wilson's interval); a proven search needs no interval.
    """
    symbol = e.priorities[player]
    info = e.metric(symbol)
    own = [r for r in e.groups.get(player, ()) if symbol in r.metrics and (isfinite(info.high) or not r.open)]
    if not own or symbol in e.goals or certain(own):
        return []
    sign = -1.0 if info.better == "lower" else 1.0
    values = [r.metrics[symbol] for r in own]
    known = _possible(e, player, symbol, own)
    limit, shows = max(known, key=lambda pair: sign * pair[0])
    best = max(values, key=lambda v: sign * v)
    near = wilson(sum(not _far(v, limit, sign) for v in values), len(values))
    if not _far(best, limit, sign) or near.high >= MOST:
        return []
    measure = Measure(symbol, info.name, lambda r: 0.0, info.better, info.unit, info.ratio)
    by = f" in trace {number}" if (number := e.trace(shows)) else ", by the solver's plan"
    text = (
        f"the policy of {the([player])} misses what it cares for: {info.name} {shown(measure, best)} at best in "
        f"{counted(len(own), 'playthrough')}, and {shown(measure, limit)} is possible{by}"
    )
    return [
        Finding(
            "policy_fails",
            "notice",
            e.level,
            text,
            (),
            (player,),
            {"best": best, "possible": limit, "playthroughs": len(own)},
            "Try another policy for the persona, or increase --iterations.",
            e.trace(max(own, key=lambda r: sign * r.metrics[symbol])),
        )
    ]


def _possible(
    e: Evidence, player: str, symbol: str, own: Sequence[Playthrough]
) -> list[tuple[float, Playthrough | None]]:
    """Return values of a priority at known ends that the player's utility ranks at least as high as its own best."""
    ends: list[tuple[Mapping[str, float], Playthrough | None]] = [(r.metrics, r) for r in e.records]
    ends += [(b.metrics, None) for b in e.bounds.values() if not b.note]
    utility, least = e.utilities.get(player), max(r.best_utility for r in own) - 1e-12
    return [
        (end[symbol], shows)
        for end, shows in ends
        if symbol in end and (utility is None or (utility.symbols <= set(end) and utility.evaluate(dict(end)) >= least))
    ] or [(own[0].metrics[symbol], own[0])]


def _far(value: float, limit: float, sign: float) -> bool:
    return value < FAR * limit if sign > 0 else limit > 0 and value > limit / FAR
