"""What is wrong with levels, in words, from playthroughs and limits.

| kind | says | severity |
|---|---|---|
| unfinishable | nobody finishes the level | problem |
| never finishes | one player never does, others do | notice |
| dead content | objects that nobody touches in any playthrough, or monsters alone | notice |
| deaths | where players die most, and of what | notice |
| priority | a persona stays far from what is possible in its priority | problem, or notice if only on average |
| indistinguishable | no measure of any player differs between two levels | notice |
| no choice | all players take the same path | notice |
| timeouts | playthroughs that come to no end, of all players, baselines included | notice |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isfinite
from typing import Literal, NamedTuple

from persona_evo.formula import Formula
from persona_evo.games.core import Game, Metric
from persona_evo.playtest.compare import ALPHA, EXACT, shown, spoken, tested
from persona_evo.playtest.metrics import (
    EVERY,
    UNKNOWN_CAUSE,
    Bounds,
    Measure,
    certain,
    grouped,
    levels_of,
    measures,
    players_of,
)
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.statistics import Interval, mean_interval, wilson
from persona_evo.words import counted

Severity = Literal["problem", "notice"]

FAR = 0.5
"""A priority is far from what is possible below this share of it."""

MOST = 0.5
"""A player does not reach its priority where less than this share of its playthroughs do, by a 95 % interval."""

FEW_TRIALS = 10
"""With fewer trials a player, levels are not called indistinguishable."""

OUT_OF_BUDGET = "the search ended first: try more --iterations or another policy"
"""What it means that a playthrough comes to no end."""

COORDINATES = "places are (column, row) from the top left, both from 0"
"""How findings name tiles."""

DEATH_SHARE, TIMEOUT_SHARE, SAME_PATH = 0.1, 0.1, 0.9
"""Shares of playthroughs from which deaths, timeouts and a common path are worth a word."""


class Thing(NamedTuple):
    """An object of a level: its kind as the game's events call it, and where it stands at the start."""

    kind: str
    x: int
    y: int


@dataclass(frozen=True)
class Finding:
    """One sentence on a level. numbers: the evidence by name. places: tiles (x, y) that it speaks of."""

    severity: Severity
    kind: str
    level: str
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    places: tuple[tuple[int, int], ...] = ()
    players: tuple[str, ...] = ()
    look: str = ""
    trace: int | None = None


def find(
    records: Sequence[Playthrough],
    infos: Sequence[Metric] = (),
    *,
    bounds: Bounds | None = None,
    things: Mapping[str, Iterable[Thing | tuple[str, int, int]]] | None = None,
    priorities: Mapping[str, str] | None = None,
    utilities: Mapping[str, Formula] | None = None,
    players: Sequence[str] | None = None,
) -> list[Finding]:
    """All findings on the levels of these records, problems first; of games against an opponent see `duels`.

    bounds: limits by (level, persona). things: objects by level; a kind "monster:..." counts as touched when any event
    has that kind, since monsters walk, all others when an event of their kind has their place; portals are one thing.
    priorities: the metric that a player cares for most, by label. utilities: what it wants. players: whose behaviour is
    judged (others, such as baselines, count only for what nobody does); all if not given.
    """
    judged = set(players if players is not None else players_of(records))
    bounds = bounds or {}
    found: list[Finding] = []
    alone = [r for r in records if not r.opponent]
    for level in levels_of(alone):
        here = [r for r in alone if r.level == level]
        chosen = [r for r in here if r.player in judged]
        found += finishing(level, here, judged, bounds)
        found += dead_content(level, here, (things or {}).get(level, ()))
        found += deaths(level, chosen)
        found += timeouts(level, here)
        found += same_path(level, chosen)
        asked = {player: symbol for player, symbol in (priorities or {}).items() if player in judged}
        for symbol in dict.fromkeys(asked.values()):
            nothing = nothing_to_have(level, symbol, here, infos, bounds, (things or {}).get(level, ()))
            found += nothing
            for player in () if nothing else (p for p, s in asked.items() if s == symbol):
                found += priority(level, player, symbol, here, infos, bounds, (utilities or {}).get(player))
    found += indistinguishable([r for r in records if r.player in judged], infos)
    return sorted(found, key=lambda f: f.severity != "problem")


def without_wins(game: Game) -> list[Finding]:
    """Nothing was said of what counts as won, so that there are no win rates."""
    if game.outside is None or game.outside.wins:
        return []
    text = "no end of the game counts as won, so win rates are left out: write a formula to [outcome] won"
    return [Finding("notice", "no wins", EVERY, f"{text} in the game's file")]


def finishing(level: str, records: Sequence[Playthrough], judged: set[str], bounds: Bounds) -> list[Finding]:
    """Nobody finishes the level, or a player never does. Games that end without a winner are not judged."""
    if not records or any(r.outcome == "ended" for r in records):
        return []
    by_player = {p: group for (_, p), group in grouped(records).items()}
    total, lost = len(records), sum(r.lost for r in records)
    if not any(r.won for r in records):
        possible = any(
            known.metrics.get("WON", 0) > 0 for (name, _), known in bounds.items() if name == level
        )
        rest = f"{lost} lost, {total - lost} came to no end"
        ran_out = any(r.unfinished and not r.proven for r in records)
        aside = f"; {OUT_OF_BUDGET}" if ran_out else ""
        aside += "; a plan that finishes it is known, so it is hard and not impossible" if possible else ""
        text = (f"nobody finishes this level: {counted(len(by_player), 'player')}, {counted(total, 'playthrough')}, "
                f"{rest}{aside}")  # fmt: skip
        numbers = {"playthroughs": total, "lost": lost, "unfinished": total - lost}
        return [Finding("problem", "unfinishable", level, text, numbers)]
    return [
        Finding(
            "notice", "never finishes", level,
            f"the {spoken(player)} never finishes this level in {counted(len(group), 'playthrough')}, others do",
            {"playthroughs": len(group), "lost": sum(r.lost for r in group)},
        )
        for player, group in by_player.items()
        if player in judged and not any(r.won for r in group) and not all(r.unfinished for r in group)
    ]


def dead_content(
    level: str, records: Sequence[Playthrough], things: Iterable[Thing | tuple[str, int, int]]
) -> list[Finding]:
    """Objects that the hero touches in no playthrough, those that monsters get apart from those that nobody does.

    One finding for each kind; of exits `finishing` speaks.
    """
    kinds: dict[str, list[tuple[int, int]]] = {}
    for kind, x, y in things:
        if kind != "exit":
            kinds.setdefault(kind, []).append((x, y))
    touched = {(e.kind, e.x, e.y) for r in records for e in r.events}
    touched_kinds = {kind for kind, _, _ in touched}
    found = []
    for kind, places in kinds.items() if records else ():
        if kind.startswith("monster:") or kind == "portal":
            left = [] if kind in touched_kinds else places
        else:
            left = [p for p in places if (kind, *p) not in touched]
        for dead, others in _by_others(kind, left, records):
            name = kind.removeprefix("monster:")
            some = "any" if len(dead) == len(places) else f"{len(dead)}"
            which = f"the only {name}" if len(places) == 1 else f"{some} of the {len(places)} {name}s"
            spots = ", ".join(f"({x}, {y})" for x, y in dead[:8]) + (", ..." if len(dead) > 8 else "")
            who = "the hero never" if others else "nobody"
            text = f"{who} touches {which} in {counted(len(records), 'playthrough')}: at {spots}"
            text += "".join(f"; {doing} in {n} of them" for doing, n in others.items())
            numbers = {"untouched": len(dead), "objects": len(places), "playthroughs": len(records)}
            numbers |= {"by others": sum(others.values())} if others else {}
            found.append(Finding("notice", "dead content", level, text, numbers, tuple(dead)))
    return found


def _by_others(
    kind: str, places: Sequence[tuple[int, int]], records: Sequence[Playthrough]
) -> list[tuple[list[tuple[int, int]], dict[str, int]]]:
    """Places where the hero was not, in two groups: what nobody touched, and what monsters did, with who and how often.

    A monster that the hero did not meet and that was slain was slain by others (`slain:KIND`, anywhere, as they walk).
    """
    slain = f"slain:{kind.removeprefix('monster:')}" if kind.startswith("monster:") else ""
    doing: Counter[str] = Counter()
    at: set[tuple[int, int]] = set()
    for record in records:
        seen: set[str] = set()
        for e in record.events:
            if slain and e.kind == slain:
                seen.add("other monsters slay one")
                at.update(places)
            elif e.kind.startswith(f"{kind}:") and (e.x, e.y) in places:
                seen.add(f"{e.kind.removeprefix(kind + ':')}s get there")
                at.add((e.x, e.y))
        doing.update(seen)
    groups = [([p for p in places if p not in at], {}), ([p for p in places if p in at], dict(doing.most_common()))]
    return [(dead, others) for dead, others in groups if dead]


def deaths(level: str, records: Sequence[Playthrough]) -> list[Finding]:
    """The tile on which most playthroughs are lost and the usual cause there."""
    lost = [r for r in records if r.lost]
    if len(lost) < 3 or len(lost) < DEATH_SHARE * len(records):
        return []
    known = any(r.cause for r in lost)
    causes = Counter(r.cause or UNKNOWN_CAUSE for r in lost)
    tiles = Counter(tile for r in lost if (tile := _death_tile(r)) is not None)
    share = len(lost) / len(records)
    numbers = {"deaths": len(lost), "playthroughs": len(records), "share": share}
    start = f"{len(lost)} of {counted(len(records), 'playthrough')} are lost"
    mainly = "; causes: " + ", ".join(f"{cause} {count}" for cause, count in causes.most_common(3)) if known else ""
    if not tiles:
        return [Finding("notice", "deaths", level, f"{start}{mainly}", numbers)]
    (x, y), count = tiles.most_common(1)[0]
    numbers |= {"x": x, "y": y, "there": count}
    cause = Counter(r.cause or UNKNOWN_CAUSE for r in lost if _death_tile(r) == (x, y)).most_common(1)[0][0]
    text = f"{start}, {count / len(lost):.0%} of them at ({x}, {y}){f', mostly by {cause}' if known else ''}{mainly}"
    return [Finding("notice", "deaths", level, text.replace("%", " %"), numbers, ((x, y),))]


def timeouts(level: str, records: Sequence[Playthrough]) -> list[Finding]:
    """Playthroughs that come to no end where the level has been finished at all: one finding for all players."""
    if not any(r.won or r.outcome == "ended" for r in records):
        return []
    parts: list[str] = []
    stopped: list[Playthrough] = []
    for (_, player), group in grouped(records).items():
        open_ended = [r for r in group if r.unfinished]
        if len(open_ended) / len(group) >= TIMEOUT_SHARE:
            parts.append(f"{len(open_ended)} of {len(group)} of the {spoken(player)}")
            stopped += open_ended
    if not parts:
        return []
    steps = sum(r.steps for r in stopped) / len(stopped)
    usual = f"after {counted(round(steps), 'step')} on average"
    why = "their plans are proven to be the best" if all(r.proven for r in stopped) else OUT_OF_BUDGET
    text = f"playthroughs come to no end ({usual}): {', '.join(parts)}; {why}"
    numbers = {"unfinished": len(stopped), "playthroughs": len(records), "steps": steps}
    return [Finding("notice", "timeouts", level, text, numbers)]


def same_path(level: str, records: Sequence[Playthrough]) -> list[Finding]:
    """All players, at least two, nearly always walk over the same tiles in the same order."""
    groups = [group for group in grouped(records).values() if all(r.positions for r in group)]
    if len(groups) < 2:
        return []
    usual = [Counter(_path(r) for r in group).most_common(1)[0] for group in groups]
    shares = [count / len(group) for (_, count), group in zip(usual, groups, strict=True)]
    if len({path for path, _ in usual}) > 1 or min(shares) < SAME_PATH:
        return []
    text = (
        f"a level without choice: all {len(groups)} players take the same path of "
        f"{counted(len(usual[0][0]) - 1, 'move')} in at least {min(shares):.0%} of their playthroughs"
    ).replace("%", " %")
    numbers = {"players": len(groups), "share": min(shares), "moves": len(usual[0][0]) - 1}
    return [Finding("notice", "no choice", level, text, numbers, tuple(dict.fromkeys(usual[0][0])))]


def nothing_to_have(
    level: str, symbol: str, records: Sequence[Playthrough], infos: Sequence[Metric], bounds: Bounds,
    things: Iterable[Thing | tuple[str, int, int]] = (),
) -> list[Finding]:  # fmt: skip
    """Of a priority that should be high nothing is ever seen, by any player or the solver: said once, as what it is."""
    info, seen = _info(symbol, infos), [r.metrics[symbol] for r in records if symbol in r.metrics]
    solved = [b.metrics[symbol] for (name, _), b in bounds.items() if name == level and symbol in b.metrics]
    if not seen or info.better == "lower" or max(seen + solved) > 0:
        return []
    word = info.name.partition(" ")[0]
    kinds = [kind.partition(":")[0] for kind, _, _ in things]
    count = sum(f"{kind}s" == word for kind in kinds)
    what = f"0 of {count} {word}" if count else "0"
    text = f"nobody gets any {info.name}: {what} in {counted(len(seen), 'playthrough')}"
    text += ", and none in the solver's plan" if solved else ""
    numbers = {"objects": count, "playthroughs": len(seen)}
    return [Finding("notice", "priority", level, text, numbers)]


def _info(symbol: str, infos: Sequence[Metric]) -> Metric:
    return next((m for m in infos if m.symbol == symbol), None) or Metric(symbol, symbol, "", better="higher")


def priority(
    level: str, player: str, symbol: str, records: Sequence[Playthrough], infos: Sequence[Metric], bounds: Bounds,
    utility: Formula | None = None,
) -> list[Finding]:  # fmt: skip
    """A player stays far from the best that is known for its priority, in this level and from any player or limit.

    Of what has no highest value, plans that were cut short have no say: how much comes together depends on how long one
    plays. Whether most playthroughs stay away is told by Wilson's interval; too few for that are only noted. Routes of
    one proven search are no sample: what they come to is known.
    """
    info = _info(symbol, infos)
    own = [r for r in records if r.player == player and symbol in r.metrics]
    own = [r for r in own if isfinite(info.high) or not r.unfinished]
    if not own:
        return []
    sign = -1.0 if info.better == "lower" else 1.0
    values = [r.metrics[symbol] for r in own]
    limit = max([*_possible(level, symbol, records, own, bounds, utility), *values], key=lambda v: sign * v)
    best, mean = max(values, key=lambda v: sign * v), mean_interval(values)
    reaching = sum(not _far(v, limit, sign) for v in values)
    near = wilson(reaching, len(values))
    if note := certain(own):
        mean, near = Interval.exact(mean.value, note), Interval.exact(reaching / len(values), note)
    measure = Measure(symbol, info.name, lambda r: 0.0, info.better, info.unit, info.ratio)
    numbers = {"best": best, "mean": mean.value, "known": limit, "playthroughs": float(len(own))}
    who, many = f"the {spoken(player)}", counted(len(own), "playthrough")
    short = f"known to be possible: {shown(measure, limit)}"
    if _far(best, limit, sign):
        reached = f"{info.name} {shown(measure, best)} at best in {many}"
        if near.high >= MOST:
            text = f"{who} comes to {reached}, too few to say that it does not reach its priority; {short}"
            return [Finding("notice", "priority", level, text, numbers)]
        text = f"{who} does not reach its priority: {reached}, {short}"
        return [Finding("problem", "priority", level, text, numbers)]
    if near.high < MOST and _far(mean.high if sign > 0 else mean.low, limit, sign):
        text = f"{who} seldom reaches its priority: {info.name} {shown(measure, mean.value)} on average of {many}"
        return [Finding("notice", "priority", level, f"{text}, {short}", numbers)]
    return []


def _possible(
    level: str, symbol: str, records: Sequence[Playthrough], own: Sequence[Playthrough], bounds: Bounds,
    utility: Formula | None,
) -> list[float]:  # fmt: skip
    """Values of a priority at known ends, but those that the player's own utility puts below the best it came to."""
    solved = [b.metrics for (name, _), b in bounds.items() if name == level and not b.note]
    ends = [end for end in (*(r.metrics for r in records), *solved) if symbol in end]
    if utility is None:
        return [end[symbol] for end in ends]
    best = max(r.best_utility for r in own) - 1e-12
    return [end[symbol] for end in ends if utility.symbols <= set(end) and utility.evaluate(end) >= best]


def indistinguishable(records: Sequence[Playthrough], infos: Sequence[Metric] = ()) -> list[Finding]:
    """Pairs of levels that no measure of any player tells apart after Holm's correction."""
    groups = grouped(records)
    chosen = sorted(measures(records, infos, clock=False), key=lambda m: m.key not in ("steps", "utility"))
    found = []
    for a, b in combinations(levels_of(records), 2):
        players = [p for p in players_of(records) if (a, p) in groups and (b, p) in groups]
        trials = min((min(len(groups[a, p]), len(groups[b, p])) for p in players), default=0)
        if trials < FEW_TRIALS:
            continue
        pairs = [(groups[a, p], groups[b, p], m) for p in players for m in chosen]
        if not _any_differs(pairs):
            text = (
                f"{a} and {b} can not be told apart: none of {counted(len(pairs), 'measure')} of "
                f"{counted(len(players), 'player')} differs ({trials} trials each, corrected by Holm)"
            )
            numbers = {"measures": len(pairs), "players": len(players), "trials": trials}
            found.append(Finding("notice", "indistinguishable", f"{a}, {b}", text, numbers))
    return found


def _any_differs(pairs: Sequence[tuple[list[Playthrough], list[Playthrough], Measure]]) -> bool:
    """Known groups differ, or the smallest p, times the number of pairs that vary, is significant: what Holm's first
    step asks."""
    smallest, varying = 1.0, 0
    for a, b, measure in pairs:
        if len({measure.value(r) for r in (*a, *b)}) == 1:
            continue
        name, test, _ = tested(a, b, measure)
        if name == EXACT and test.p < 1:
            return True
        varying += name != EXACT
        smallest = min(smallest, test.p)
        if smallest * len(pairs) < ALPHA:
            return True
    return varying > 0 and smallest * varying < ALPHA


def _far(value: float, limit: float, sign: float) -> bool:
    return value < FAR * limit if sign > 0 else limit > 0 and value > limit / FAR


def _death_tile(record: Playthrough) -> tuple[int, int] | None:
    for event in reversed(record.events):
        if event.kind.startswith("death"):
            return event.x, event.y
    return record.positions[-1] if record.positions else None


def _path(record: Playthrough) -> tuple[tuple[int, int], ...]:
    """The tiles walked over, in order, each standstill once."""
    walked = record.positions
    return tuple(p for i, p in enumerate(walked) if i == 0 or p != walked[i - 1])
