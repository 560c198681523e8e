"""Findings on behaviour in levels that can be finished: deaths, narrow wins, and whether players have a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import fsum

from persona_evo.games.core import Metric
from persona_evo.games.findings import Finding, Spot, where
from persona_evo.playtest.evidence import Evidence, percent, the, times
from persona_evo.playtest.metrics import Measure, grouped, levels_of, measures, players_of
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.samples import EXACT, TrialGroup, tested
from persona_evo.statistics import ALPHA
from persona_evo.words import counted, enumerated, plural

FEWEST_DEATHS, DEATH_SHARE = 3, 0.1
"""Number of deaths, and share of a player's playthroughs that are lost, from which deaths are reported."""

NARROW, CAREFUL, NARROW_SHARE = 0.2, 0.5, 0.5
"""Thresholds of the finding on narrow wins.

A win is narrow if at most the first share of the hit points is left. It is reported only if no win leaves more than
the second share, and if at least the third share of each player's wins is narrow.
"""

EXPOSED_MOVES, EXPOSED_SHARE, EXPOSED_DAMAGE = 2, 0.9, 0.2
"""An exposed start costs this share of the hit points within this many moves in this share of all playthroughs."""

SAME_PATH = 0.9
"""Share of a player's playthroughs that take its usual path from which the player has no choice."""

FEW_TRIALS = 10
"""Fewest trials per player with which levels are called indistinguishable."""


def deaths(e: Evidence, failing: frozenset[str]) -> list[Finding]:
    """Report where players who want to finish the level die, and of what.

    Players whose proven best plan is to die are left out.
    """
    groups = {
        p: lost
        for p, group in e.seekers.items()
        if p not in failing and len(lost := [r for r in group if r.lost and not r.proven]) >= DEATH_SHARE * len(group)
    }
    groups = {p: lost for p, lost in groups.items() if lost}
    lost = [r for own in groups.values() for r in own]
    if len(lost) < FEWEST_DEATHS:
        return []
    total = sum(len(e.seekers[p]) for p in groups)
    share = len(lost) / total
    places = Counter(place for r in lost if (place := r.death_place) is not None)
    text = (
        f"{the(groups)} {plural(len(groups), 'dies', 'die')} in {len(lost)} of {counted(total, 'playthrough')} "
        f"({percent(share)})"
    )
    top, there = places.most_common(1)[0] if places else (None, 0)
    share_there = "all" if there == len(lost) else percent(there / len(lost))
    text += f", {share_there} of them at {where(top)}" if top is not None else ""
    causes = Counter(r.lost_to for r in lost if r.lost_to)
    if len(causes) == 1 and causes.total() == len(lost):
        text += f"; the cause is always the same: {next(iter(causes))}"
    elif causes:
        text += f"; causes: {', '.join(f'{cause} {n}' for cause, n in causes.most_common(3))}"
    skills = _skills(e)
    shows = next((r for r in lost if r.death_place == top), lost[0])
    return [
        Finding(
            "deaths",
            "notice",
            e.level,
            text,
            () if top is None else (top,),
            tuple(groups),
            {
                "deaths": len(lost),
                "playthroughs": total,
                "share": share,
                "causes": dict(causes.most_common()),
                **({"death_rate_by_skill": skills} if skills else {}),
            },
            "Look at what kills there, and at what could avoid it.",
            e.trace(shows),
        )
    ]


def _skills(e: Evidence) -> dict[str, float]:
    """Return the share of playthroughs that are lost, by skill level."""
    groups: dict[str, list[Playthrough]] = {}
    for r in e.records:
        if r.skill:
            groups.setdefault(r.skill, []).append(r)
    return {skill: sum(r.lost for r in group) / len(group) for skill, group in groups.items()}


def narrow_escape(e: Evidence) -> list[Finding]:
    """Report that all winners win with hardly any hit points left, and nobody is known to do better.

    If players of several skill levels played, those that make mistakes decide (`skill.narrow_escapes`).
    """
    if e.escapes:
        return [replace(f, trace=e.trace(_narrow_win(e, f))) for f in e.escapes]
    wins = [r for r in e.records if r.won and r.hit_points]
    groups = {p: [r for r in group if r.won and r.hit_points] for p, group in e.seekers.items()}
    groups = {p: own for p, own in groups.items() if own}
    if not groups or any(r.hit_points[-1] > CAREFUL * r.hit_points[0] for r in wins):
        return []
    narrow = {p: [r for r in own if r.hit_points[-1] <= NARROW * r.hit_points[0]] for p, own in groups.items()}
    if any(len(narrow[p]) < NARROW_SHARE * len(own) for p, own in groups.items()):
        return []
    own, few = ([r for group in part.values() for r in group] for part in (groups, narrow))
    worst = min(few, key=lambda r: r.hit_points[-1])
    left, full = worst.hit_points[-1], worst.hit_points[0]
    text = (
        f"{the(groups)} {plural(len(groups), 'wins', 'win')} with hardly any hit points left: at most "
        f"{NARROW * full:g} of {full:g} in {percent(len(few) / len(own))} of {counted(len(own), 'win')}, "
        f"{left:g} at worst"
    )
    return [
        Finding(
            "narrow_escape",
            "notice",
            e.level,
            text,
            (),
            tuple(groups),
            {"wins": len(own), "narrow": len(few), "share": len(few) / len(own), "least": left, "hit_points": full},
            "Look at where the damage is done.",
            e.trace(worst),
        )
    ]


def _narrow_win(e: Evidence, finding: Finding) -> Playthrough | None:
    """Return a playthrough that shows the narrow wins of the first player that the finding is about."""
    wins = [r for r in e.records if r.player == finding.players[0] and r.won and r.hit_points]
    return min(wins, key=lambda r: r.hit_points[-1], default=None)


def exposed_start(e: Evidence) -> list[Finding]:
    """Report that every player loses hit points in the first moves, unless each move costs some (as hunger does)."""
    long = [r for r in e.records if len(r.hit_points) > EXPOSED_MOVES + 1]
    hurt = [r for r in long if r.hit_points[EXPOSED_MOVES] <= (1 - EXPOSED_DAMAGE) * r.hit_points[0]]
    steady = all(a > b for r in long for a, b in zip(r.hit_points, r.hit_points[1:], strict=False))
    if not e.groups or not long or len(hurt) < EXPOSED_SHARE * len(long) or steady:
        return []
    start = next((r.positions[0] for r in long if r.positions), None)
    at = f" at {where(start)}" if start is not None else ""
    cost = fsum(r.hit_points[0] - r.hit_points[EXPOSED_MOVES] for r in hurt) / len(hurt)
    text = (
        f"the start{at} is exposed: within {EXPOSED_MOVES} moves {cost:.2g} hit points are lost on average in "
        f"{len(hurt)} of {times(long)}"
    )
    return [
        Finding(
            "exposed_start",
            "notice",
            e.level,
            text,
            () if start is None else (start,),
            (),
            {"playthroughs": len(long), "hurt": len(hurt), "damage": cost},
            "Look at what can reach the start immediately.",
            e.trace(hurt[0]),
        )
    ]


def no_choice(e: Evidence) -> list[Finding]:
    """Report that at least two personas nearly always walk over the same tiles in the same order."""
    groups = {p: group for p, group in e.groups.items() if all(r.positions for r in group)}
    if len({group[0].persona for group in groups.values()}) < 2:
        return []
    usual = [Counter(_path(r) for r in group).most_common(1)[0] for group in groups.values()]
    shares = [count / len(group) for (_, count), group in zip(usual, groups.values(), strict=True)]
    if len({path for path, _ in usual}) > 1 or min(shares) < SAME_PATH:
        return []
    path = usual[0][0]
    shows = next(r for group in groups.values() for r in group if _path(r) == path)
    who = "both players" if len(groups) == 2 else f"all {len(groups)} players"
    often = "all" if min(shares) == 1 else f"at least {percent(min(shares))}"
    text = f"{who} take the same path of {counted(len(path) - 1, 'move')} in {often} of their playthroughs"
    return [
        Finding(
            "no_choice",
            "notice",
            e.level,
            text,
            tuple(dict.fromkeys(path)),
            tuple(groups),
            {"players": len(groups), "share": min(shares), "moves": len(path) - 1},
            "Put something off the path that is worth a detour.",
            e.trace(shows),
        )
    ]


def _path(record: Playthrough) -> tuple[Spot, ...]:
    """Return the tiles walked over, in order, with standstills merged."""
    walked = record.positions
    return tuple(p for i, p in enumerate(walked) if i == 0 or p != walked[i - 1])


def indistinguishable(records: Sequence[Playthrough], infos: Sequence[Metric] = ()) -> list[Finding]:
    """Report levels that no measure of any player tells apart after Holm's correction, in groups."""
    groups = {key: TrialGroup(own) for key, own in grouped(records).items()}
    chosen = sorted(measures(records, infos, clock=False), key=lambda m: m.key not in ("steps", "utility"))
    alike: dict[tuple[str, str], tuple[int, int, int]] = {}
    for a, b in combinations(levels_of(records), 2):
        players = [p for p in players_of(records) if (a, p) in groups and (b, p) in groups]
        trials = min((min(len(groups[a, p].records), len(groups[b, p].records)) for p in players), default=0)
        if trials < FEW_TRIALS:
            continue
        pairs = [(groups[a, p], groups[b, p], m) for p in players for m in chosen]
        if not _any_differs(pairs):
            alike[a, b] = len(pairs), len(players), trials
    return [_alike(names, *alike[names[0], names[1]]) for names in _together(list(alike))]


def _together(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Group levels so that each two of a group are a pair and every pair is in a group."""
    known = set(pairs)
    found: list[list[str]] = []
    for a, b in pairs:
        if any(a in names and b in names for names in found):
            continue
        names = [a, b]
        names += [
            c
            for c in dict.fromkeys(c for pair in pairs for c in pair)
            if c not in names and all((n, c) in known or (c, n) in known for n in names)
        ]
        found.append(names)
    return found


def _alike(names: Sequence[str], count: int, players: int, trials: int) -> Finding:
    text = (
        f"the levels {enumerated(names)} cannot be told apart: none of {counted(count, 'measure')} of "
        f"{counted(players, 'player')} differs ({counted(trials, 'trial')} each, p values corrected by Holm's "
        "method)"
    )
    return Finding(
        "indistinguishable",
        "notice",
        ", ".join(names),
        text,
        evidence={"measures": count, "players": players, "trials": trials},
        look="Decide what one level is to ask of players that the other does not.",
    )


def _any_differs(pairs: Sequence[tuple[TrialGroup, TrialGroup, Measure]]) -> bool:
    """Return whether any pair differs.

    This is so if known groups differ, or if the smallest p, times the number of pairs that vary, is significant (the
    first step of Holm's method).
    """
    smallest, varying = 1.0, 0
    for a, b, measure in pairs:
        if len({measure.value(r) for group in (a, b) for r in group.records}) == 1:
            continue
        name, test, _ = tested(a, b, measure)
        if name == EXACT and test.p < 1:
            return True
        varying += name != EXACT
        smallest = min(smallest, test.p)
        if smallest * len(pairs) < ALPHA:
            return True
    return varying > 0 and smallest * varying < ALPHA
