"""Puts the findings of each level's static analysis and of its playthroughs together, in words.

One cause gives one finding. The consequences of a level that cannot be finished are evidence for that finding, not
findings of their own. Forced hazards explain deaths on them, and a shortcut explains what it makes players leave out. A
baseline or a player that is meant to be weak never causes a finding, and neither does anything that a persona does not
care for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from persona_evo.formula import Formula
from persona_evo.games.core import Game, Metric
from persona_evo.games.findings import Finding, ranked
from persona_evo.playtest.behaviour import deaths, exposed_start, indistinguishable, narrow_escape, no_choice
from persona_evo.playtest.completion import stuck, verdict
from persona_evo.playtest.contents import contents
from persona_evo.playtest.evidence import Evidence, Thing, the, weak
from persona_evo.playtest.metrics import EVERY, Bound, Bounds, levels_of, players_of
from persona_evo.playtest.records import Playthrough
from persona_evo.search.outlook import GOAL, Outlook
from persona_evo.words import counted, plural, sentence

FOLDED = {
    "forced_hazard": ("deaths", "narrow_escape"),
    "exposed_start": ("exposed_start",),
    "stolen_object": ("stolen_object",),
    "no_return": ("stuck",),
}
"""Kind of a static finding -> kinds from play that it explains if they concern the same places."""

SKIPPED = {"shortcut": ("untouched_object", "out_of_reach", "no_choice"), "lethal_start": ("exposed_start",)}
"""Kind of a static finding -> kinds from play that it explains at any place."""

TOUCHABLE = ("unreachable_object",)
"""Kinds of static findings that are refuted by a playthrough in which somebody touches the object."""


def find(
    records: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    *,
    static: Sequence[Finding] = (),
    bounds: Bounds | None = None,
    outlooks: Mapping[str, Outlook] | None = None,
    things: Mapping[str, Iterable[Thing | tuple[str, int, int]]] | None = None,
    goals: frozenset[str] = frozenset({GOAL}),
    priorities: Mapping[str, str] | None = None,
    utilities: Mapping[str, Formula] | None = None,
    players: Sequence[str] | None = None,
    escapes: Iterable[Finding] = (),
) -> list[Finding]:
    """Return all findings on the levels of these records, problems first (two-player games: see `duels`).

    Args:
        records: playthroughs in the order of traces.jsonl.
        infos: the game's metrics.
        static: findings of the analysis without play.
        bounds: limits by (level, persona).
        outlooks: what is known about whether each level can be won, by level.
        things: objects by level.
        goals: symbols of the metrics that say how close a win is (see `evidence.goals_of`).
        priorities: label of a player -> symbol of the metric that it cares for most.
        utilities: label of a player -> its utility.
        players: those whose behaviour is judged; all if not given. Weak players never are.
        escapes: narrow wins of players that make mistakes (`skill.narrow_escapes`).
    """
    weaklings = {r.player for r in records if weak(r)}
    judged = frozenset(players if players is not None else players_of(records)) - weaklings
    numbers: dict[int, int] = {}
    for i, record in enumerate(records, 1):
        numbers.setdefault(id(record), i)
    alone = [r for r in records if not r.opponent]
    names = list(dict.fromkeys([*levels_of(alone), *(f.level for f in static if ", " not in f.level)]))
    narrow = list(escapes)
    found: list[Finding] = []
    impossible: set[str] = set()
    for level in names:
        evidence = Evidence(
            level,
            [r for r in alone if r.level == level],
            judged,
            [f for f in static if f.level == level],
            _of_level(bounds or {}, level),
            (outlooks or {}).get(level),
            [Thing(*thing) for thing in (things or {}).get(level, ())],
            infos,
            goals,
            priorities or {},
            utilities or {},
            numbers,
            [f for f in narrow if f.level == level],
        )
        own, possible = _level(evidence)
        found += own
        impossible |= {level} if possible is False else set()
    chosen = [r for r in alone if r.player in judged and r.level not in impossible]
    found += [f for f in static if f.level not in names]
    return ranked([*found, *_spoken(indistinguishable(chosen, infos))])


def without_wins(game: Game) -> list[Finding]:
    """Report that nothing says what counts as a win, so that there are no win rates."""
    if game.outside is None or game.outside.wins:
        return []
    return [
        Finding(
            "no_wins",
            "notice",
            EVERY,
            "No end of the game counts as won, so win rates are left out.",
            look="Give [outcome] won a formula in the game's file.",
        )
    ]


def _of_level(bounds: Bounds, level: str) -> dict[str, Bound]:
    return {persona: bound for (name, persona), bound in bounds.items() if name == level}


def _level(e: Evidence) -> tuple[list[Finding], bool | None]:
    """Return the findings on one level, and whether it can be finished."""
    said = verdict(e)
    static = [_affected(e, f) for f in said.static if not _refuted(e, f)]
    untold = any(f.kind == "budget_too_small" for f in said.found) and said.possible is None
    if said.possible is False or untold or not e.records:
        return static + _spoken(said.found), said.possible
    e = replace(e, static=static)
    failing = said.failing
    played = [
        *said.found,
        *stuck(e, failing),
        *contents(e, failing),
        *deaths(e, failing),
        *narrow_escape(e),
        *exposed_start(e),
        *no_choice(e),
    ]
    return _folded(static, _spoken(played)), said.possible


def _spoken(found: Iterable[Finding]) -> list[Finding]:
    """Turn the texts of findings into complete sentences."""
    return [replace(f, text=sentence(f.text)) for f in found]


def _refuted(e: Evidence, finding: Finding) -> bool:
    """Return whether a playthrough refutes a static finding."""
    if finding.kind not in TOUCHABLE:
        return False
    kinds = {(thing.kind, thing.spot) for thing in e.things if thing.spot in finding.places}
    return any((event.kind, (event.x, event.y)) in kinds for r in e.records for event in r.all_events)


def _affected(e: Evidence, finding: Finding) -> Finding:
    """Add the judged players who care for its objects to a static finding."""
    about = [thing for thing in e.things if thing.spot in finding.places]
    if finding.players or not finding.kind.endswith("_object"):
        return finding
    return replace(finding, players=tuple(p for p in e.groups if any(e.cares_for(p, thing) for thing in about)))


def _folded(static: Sequence[Finding], played: Sequence[Finding]) -> list[Finding]:
    """Merge findings: static ones take over what they explain as evidence; the other findings from play follow."""
    found, rest = [], list(played)
    for cause in static:
        wherever, there = SKIPPED.get(cause.kind, ()), FOLDED.get(cause.kind, ())
        explained = [
            f
            for f in rest
            if f.kind in wherever or (f.kind in there and (not f.places or set(f.places) & set(cause.places)))
        ]
        rest = [f for f in rest if f not in explained]
        found.append(_with(cause, explained))
    return found + rest


def _with(cause: Finding, explained: Sequence[Finding]) -> Finding:
    """Add the evidence, players and playthroughs of the findings that `cause` explains to it."""
    if not explained:
        return cause
    evidence = {**cause.evidence, **{f.kind: {"text": f.text, **f.evidence} for f in explained}}
    players = tuple(dict.fromkeys([*cause.players, *(p for f in explained for p in f.players)]))
    trace = cause.trace or next((f.trace for f in explained if f.trace), None)
    text = cause.text
    if dead := next((f for f in explained if f.kind == "deaths"), None):
        die = f"{the(dead.players)} {plural(len(dead.players), 'dies', 'die')} there"
        times = f"in {dead.evidence['deaths']} of {counted(dead.evidence['playthroughs'], 'playthrough')}"
        text = f"{text} {sentence(f'{die} {times}')}"
    return replace(cause, text=text, evidence=evidence, players=players, trace=trace)
