"""Decides whether a level can be finished and, if nobody does, whether level, policy or budget is to blame.

The claim that a level cannot be finished rests on a proof, either from its static analysis or from an exhaustive
search. The claim that it can be finished names a playthrough or a plan that wins, and refutes any static finding to the
contrary. Without either, the budget was too small to tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from persona_evo.games.findings import Finding, Spot, where
from persona_evo.playtest.evidence import Evidence, ends_of, percent, the, times
from persona_evo.playtest.records import Playthrough
from persona_evo.search.outlook import GOAL
from persona_evo.words import counted, plural, sentence

BLOCKING = ("lethal_start", "unreachable_exit", "deadly_way", "scarce_resource", "impossible")
"""Kinds of problems each of which says that a level cannot be finished."""

LETHAL_MOVES = 10
"""A start is lethal if every line of play is lost within this many moves."""

OFTEN = 0.5
"""Share of a player's playthroughs from which standing still is reported."""

LIMITS = ("budget", "time", "nodes", "memory")
"""Reasons why a search stopped before it was complete."""

_EPSILON = 1e-9


class CompletionVerdict(NamedTuple):
    """The verdict on whether a level can be finished.

    Attributes:
        possible: None if unknown, or if the game has no winner.
        found: the findings about it.
        failing: labels of the players that these findings are about.
        static: the static findings that hold.
    """

    possible: bool | None
    found: list[Finding]
    failing: frozenset[str]
    static: list[Finding]


def verdict(e: Evidence) -> CompletionVerdict:
    """Decide whether the level can be finished, and which players fail to finish it."""
    blocking = [
        f for f in e.static if f.severity == "problem" and (f.kind in BLOCKING or f.evidence.get("prevents_winning"))
    ]
    if _ways(e, 0):
        static = [f for f in e.static if f not in blocking]
        found, failing = _failing(e)
        return CompletionVerdict(True, found, failing, static)
    if blocking:
        first = _supported(e, blocking[0])
        return CompletionVerdict(False, [], frozenset(), [first if f is blocking[0] else f for f in e.static])
    if any(r.final == "ended" for r in e.records) or (e.outlook is not None and e.outlook.ended):
        return CompletionVerdict(None, [], frozenset(), list(e.static))
    if e.outlook is not None and e.outlook.possible is False:
        return CompletionVerdict(False, [_impossible(e)], frozenset(), list(e.static))
    found, failing = _unknown(e)
    return CompletionVerdict(None, found, failing, list(e.static))


def _supported(e: Evidence, finding: Finding) -> Finding:
    """Add the evidence from play to a static finding that the level cannot be finished."""
    if not e.records:
        return finding
    proof = e.outlook is not None and e.outlook.possible is False
    text = f"{finding.text} {sentence(_played(e.records))}"
    evidence = {**finding.evidence, **_numbers(e), **({"proven_by_search": True} if proof else {})}
    return replace(finding, text=text, evidence=evidence, trace=e.trace(_example(e.records)))


def _impossible(e: Evidence) -> Finding:
    """Report that a search has proven that the level cannot be finished."""
    assert e.outlook is not None
    out = e.outlook
    evidence: dict[str, Any] = {"proven": True, **_numbers(e)}
    proof = (
        f"all {counted(out.states, 'state')} from the start on were searched"
        if out.states
        else f"the search for a win within {counted(out.horizon, 'move')} was exhausted"
    )
    if out.deadly and out.longest <= LETHAL_MOVES:
        killers = _causes(e.records)
        by = f"; cause of death: {killers}" if killers else ""
        start = next((r.positions[0] for r in e.records if r.positions), None)
        at = f" at {where(start)}" if start is not None else ""
        text = (
            f"the start{at} is lethal: every continuation dies within {counted(out.longest, 'move')} "
            f"(proven: {proof}){by}"
        )
        return Finding(
            "lethal_start",
            "problem",
            e.level,
            text,
            () if start is None else (start,),
            evidence={**evidence, "moves": out.longest, "states": out.states},
            trace=e.trace(_example(e.records)),
            look="Look at what can attack the start in the first moves.",
        )
    within = f" within {counted(out.horizon, 'move')}" if out.horizon else ""
    place = _usual_end(e.records)
    ends = f"; most playthroughs end at {where(place)}" if place is not None else ""
    text = f"no plan finishes this level{within} (proven: {proof}); {_played(e.records)}{ends}"
    return Finding(
        "impossible",
        "problem",
        e.level,
        text,
        () if place is None else (place,),
        evidence=evidence,
        trace=e.trace(_example(e.records)),
        look="Look at what lies between the last place that players reach and the goal.",
    )


def _unknown(e: Evidence) -> tuple[list[Finding], frozenset[str]]:
    """Report that nobody finishes the level, and that nothing shows whether it is possible."""
    own = [r for group in e.seekers.values() for r in group]
    if not own or not _winnable(e) or all(r.proven for r in own):
        return [], frozenset()
    tried = e.outlook.iterations if e.outlook is not None else 0
    aside = f"; {tried:,} more iterations found neither a way nor a proof that there is none" if tried else ""
    place = _usual_end(own)
    text = f"nobody finishes this level in {_played(own)}{aside}, so the search budget was too small to tell"
    return [
        Finding(
            "budget_too_small",
            "notice",
            e.level,
            text,
            () if place is None else (place,),
            tuple(e.seekers),
            _numbers(e),
            "Increase --iterations or --bound-seconds.",
            e.trace(_example(own)),
        )
    ], frozenset(e.seekers)


def _winnable(e: Evidence) -> bool:
    """Return whether a game of this kind can be won at all, as far as is known."""
    return any(m.symbol == GOAL for m in e.infos) or any(r.lost or r.won for r in e.records)


class Way(NamedTuple):
    """A known end that wins.

    Attributes:
        text: the evidence for it, in words.
        metrics: the metrics at that end.
        within: whether it was found within the budget of the playthroughs.
    """

    text: str
    metrics: Mapping[str, float]
    within: bool


def _ways(e: Evidence, budget: int) -> list[Way]:
    """Return all known ends that win, those of playthroughs first; `budget` is the iterations of a playthrough."""
    found = []
    for r in e.records:
        if r.won:
            number = e.trace(r)
            shows = f"{the([r.player])} finishes it" + (f" in trace {number}" if number else "")
            found.append(Way(shows, r.metrics if r.outcome == "won" else {}, True))
    if e.outlook is not None and e.outlook.possible:
        shows = f"a plan of {counted(len(e.outlook.actions), 'move')} finishes it"
        found.append(Way(shows, e.outlook.metrics, e.outlook.iterations <= budget))
    return found + [
        Way(f"the solver's plan for {the([persona])} finishes it", bound.metrics, False)
        for persona, bound in e.bounds.items()
        if bound.won
    ]


def _failing(e: Evidence) -> tuple[list[Finding], frozenset[str]]:
    """Report players that never finish a level which can be finished, although they prefer a win to what they get."""
    late: dict[str, Way] = {}
    bad: dict[str, Way] = {}
    for player, group in e.seekers.items():
        way = None if any(r.won for r in group) else _missed(e, player, group)
        if way is not None:
            small = not way.within and all(r.stopped in LIMITS for r in group)
            (late if small else bad)[player] = way
    found = [_fails(e, ways, kind) for kind, ways in (("policy_fails", bad), ("budget_too_small", late)) if ways]
    return found, frozenset({*late, *bad})


def _missed(e: Evidence, player: str, group: Sequence[Playthrough]) -> Way | None:
    """Return the first known win that a player prefers to its best plan; None if its plan is proven."""
    ways = _ways(e, max(r.iterations for r in group))
    utility = e.utilities.get(player)
    if utility is None:
        return None if all(r.proven for r in group) else ways[0]
    least = max(r.best_utility for r in group) + _EPSILON
    return next(
        (way for way in ways if utility.symbols <= set(way.metrics) and utility.evaluate(dict(way.metrics)) > least),
        None,
    )


def _fails(e: Evidence, ways: Mapping[str, Way], kind: str) -> Finding:
    """Build the finding on players that do not finish a level, each with a win that shows it is possible."""
    own = [r for p in ways for r in e.seekers[p]]
    start = f"the level is possible ({next(iter(ways.values())).text}), but "
    ends = f"in {_played(own)}{_standing(own)}"
    if kind == "policy_fails":
        does = plural(len(ways), "does", "do")
        whose = "its policy" if len(ways) == 1 else "their policies"
        text = f"{start}{the(ways)} {does} not finish it {ends}; the reason is {whose}, not the level"
        look = "Try another policy for the persona, or increase --iterations."
    else:
        most = max(r.iterations for r in own)
        few = f"{counted(most, 'iteration')} {plural(most, 'was', 'were')} too few"
        text, look = f"{start}{few} for {the(ways)} to finish it {ends}", "Increase --iterations."
    place = _usual_end(own)
    return Finding(
        kind,
        "notice",
        e.level,
        text,
        () if place is None else (place,),
        tuple(ways),
        {"playthroughs": len(own), **_counts(own)},
        look,
        e.trace(_example(own)),
    )


def stuck(e: Evidence, failing: frozenset[str]) -> list[Finding]:
    """Report players that stand still in most playthroughs, if no other finding is about them."""
    own = {
        p: [r for r in group if r.stuck]
        for p, group in e.seekers.items()
        if p not in failing and sum(r.stuck for r in group) >= OFTEN * len(group) and not all(r.proven for r in group)
    }
    if not own:
        return []
    records = [r for group in own.values() for r in group]
    place = _usual_end(records)
    at = f" at {where(place)}" if place is not None else ""
    total = sum(len(e.seekers[p]) for p in own)
    stands = plural(len(own), "stands", "stand")
    text = (
        f"{the(own)} {stands} still{at} in {len(records)} of {counted(total, 'playthrough')}: no other move is "
        "worth as much"
    )
    return [
        Finding(
            "stuck",
            "notice",
            e.level,
            text,
            () if place is None else (place,),
            tuple(own),
            {"playthroughs": total, "stuck": len(records)},
            "Look at what comes next on the way.",
            e.trace(records[0]),
        )
    ]


def _standing(records: Sequence[Playthrough]) -> str:
    """Describe where players stand still, as an aside."""
    place = _usual_end([r for r in records if r.stuck])
    return f", standing at {where(place)}" if place is not None else ""


def _numbers(e: Evidence) -> dict[str, Any]:
    return {"playthroughs": len(e.records), **_counts(e.records)}


def _counts(records: Sequence[Playthrough]) -> dict[str, Any]:
    """Count the playthroughs by how they ended, and by what they were lost to."""
    causes = Counter(r.lost_to for r in records if r.lost_to)
    return {**Counter(r.final for r in records), **({"causes": dict(causes.most_common())} if causes else {})}


def _played(records: Sequence[Playthrough]) -> str:
    return f"{times(records)}: {ends_of(records)}"


def _causes(records: Sequence[Playthrough]) -> str:
    """List what playthroughs are lost to, most frequent first: "wizard (90 %), ogre (10 %)"."""
    causes = Counter(r.lost_to for r in records if r.lost_to).most_common(2)
    total = sum(1 for r in records if r.lost_to)
    return ", ".join(f"{cause} ({percent(n / total)})" if len(causes) > 1 else cause for cause, n in causes)


def _usual_end(records: Sequence[Playthrough]) -> Spot | None:
    """Return the place at which most playthroughs end."""
    places = Counter(place for r in records if (place := r.last_place) is not None)
    return places.most_common(1)[0][0] if places else None


def _example(records: Sequence[Playthrough]) -> Playthrough | None:
    """Return the playthrough to look at: the first one that is lost, or else the first."""
    return next((r for r in records if r.lost), records[0] if records else None)
