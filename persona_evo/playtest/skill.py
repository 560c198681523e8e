"""Evaluates playthroughs at several skill levels: difficulty, hit points over the turns, and narrow escapes.

All numbers are about these simulated players. They do not say how hard people find a level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from persona_evo.agents.skill import SKILLS, errs
from persona_evo.formula import parse
from persona_evo.games.analysis import at
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Finding, Spot
from persona_evo.intervals import Interval, mean_interval
from persona_evo.playtest.compare import spoken
from persona_evo.playtest.evidence import the
from persona_evo.playtest.metrics import DEATH_RATE, EVERY, UNKNOWN_CAUSE, WIN_RATE, estimate
from persona_evo.playtest.records import Playthrough
from persona_evo.words import plural

NARROW = 0.1
"""Largest share of the hit points at the start that a narrow escape leaves; one hit point always counts."""

OFTEN = 0.25
"""Share of a player's trials from which narrow escapes are a finding."""

FEWEST = 3
"""Minimum number of a player's narrow escapes for a finding."""


class Death(NamedTuple):
    """A place and cause of death: a tile as (x, y), None if unknown, and the number of deaths."""

    place: Spot | None
    cause: str
    times: int


@dataclass(frozen=True)
class SkillStep:
    """The results of players of one skill level.

    Attributes:
        level: the level's name, EVERY for all levels together.
        persona: the persona's name, EVERY for all personas together.
        skill: one of SKILLS.
        trials: number of playthroughs.
        win_rate, death_rate: rates with their 95 % intervals.
        damage: mean of the hit points lost on the way, None if the game has none.
        deaths: places and causes of death, the most frequent first.
    """

    level: str
    persona: str
    skill: str
    trials: int
    win_rate: Interval
    death_rate: Interval
    damage: Interval | None
    deaths: tuple[Death, ...]


def ladder(records: Sequence[Playthrough]) -> list[SkillStep]:
    """Return the results of each skill level, level by level and then overall, persona by persona and then for all.

    Totals over levels or personas are left out if there is only one. Records without a skill level are not counted.
    """
    known = [r for r in records if r.skill]
    levels = list(dict.fromkeys(r.level for r in known))
    personas = list(dict.fromkeys(r.persona for r in known))
    steps = []
    for level in (*levels, *([EVERY] if len(levels) > 1 else [])):
        for persona in (*personas, *([EVERY] if len(personas) > 1 else [])):
            for skill in SKILLS:
                group = [r for r in known if r.skill == skill and _fits(r.level, level) and _fits(r.persona, persona)]
                if group:
                    steps.append(_step(level, persona, skill, group))
    return steps


def curve(steps: Sequence[SkillStep]) -> list[SkillStep]:
    """Return the difficulty curve: the steps of single levels over all personas, or of the only one."""
    personas = {s.persona for s in steps}
    return [s for s in steps if s.level != EVERY and (s.persona == EVERY or len(personas) == 1)]


def _fits(name: str, wanted: str) -> bool:
    return wanted in (EVERY, name)


def _step(level: str, persona: str, skill: str, group: Sequence[Playthrough]) -> SkillStep:
    damage = [r.damage for r in group if r.damage is not None]
    found = Counter((r.death_place, r.lost_to or UNKNOWN_CAUSE) for r in group if r.lost)
    deaths = () if level == EVERY else tuple(Death(place, why, n) for (place, why), n in found.most_common())
    return SkillStep(
        level,
        persona,
        skill,
        len(group),
        estimate(WIN_RATE, group),
        estimate(DEATH_RATE, group),
        mean_interval(damage) if damage else None,
        deaths,
    )


class Health(NamedTuple):
    """Hit points of a player in a level after a turn, over all trials.

    Attributes:
        skill: one of SKILLS, "" for a player without one.
        turn: number of moves made, from 0.
        playing: number of trials that are still going on.
        mean, low, median, high: mean, 10 % quantile, median and 90 % quantile. A game that is over keeps the hit points
            of its end, so that players who died earlier still count.
    """

    level: str
    player: str
    persona: str
    skill: str
    turn: int
    playing: int
    mean: float
    low: float
    median: float
    high: float


def health(records: Iterable[Playthrough]) -> list[Health]:
    """Return hit points over the turns, level by level and player by player; [] for games without hit points."""
    groups: dict[tuple[str, str], list[Playthrough]] = {}
    for record in records:
        if record.hit_points:
            groups.setdefault((record.level, record.player), []).append(record)
    found = []
    for (level, player), group in groups.items():
        lengths = np.array([len(r.hit_points) for r in group])
        turns = int(lengths.max())
        values = np.array([r.hit_points + r.hit_points[-1:] * (turns - len(r.hit_points)) for r in group])
        low, median, high = np.quantile(values, (0.1, 0.5, 0.9), axis=0)
        for turn, mean in enumerate(values.mean(axis=0)):
            playing = int((lengths > turn).sum())
            found.append(
                Health(
                    level,
                    player,
                    group[0].persona,
                    group[0].skill,
                    turn,
                    playing,
                    float(mean),
                    float(low[turn]),
                    float(median[turn]),
                    float(high[turn]),
                )
            )
    return found


def narrow_escapes(records: Sequence[Playthrough], game: Game, level: Level) -> list[Finding]:
    """Report that players win a level with hardly any hit points left: one finding for all of them, or none.

    Only players that make mistakes count. A perfect player spends the hit points that it does not need, which says
    nothing about the level.

    Args:
        records: playthroughs of any levels and players.
        game, level: the level to judge.
    """
    if not game.health:
        return []
    left = parse(game.health, game.symbols).evaluate(game.measure(level, game.start(level)))
    limit = max(1.0, NARROW * left)
    shares: dict[str, tuple[int, int]] = {}
    places: list[Spot] = []
    for player in dict.fromkeys(r.player for r in records if r.level == level.name and errs(r.skill)):
        own = [r for r in records if r.level == level.name and r.player == player]
        narrow = [r for r in own if r.won and r.hit_points and r.hit_points[-1] <= limit]
        if len(narrow) >= FEWEST and len(narrow) >= OFTEN * len(own):
            shares[player] = len(narrow), len(own)
            places += [spot for r in narrow if (spot := _last_harm(r)) is not None]
    if not shares:
        return []
    most = max(shares, key=lambda p: shares[p][0] / shares[p][1])
    hits, runs = shares[most]
    rest = [p for p in shares if p != most]
    others = f"; {the(rest)} often {plural(len(rest), 'does', 'do')} so, too" if rest else ""
    common = [spot for spot, _ in Counter(places).most_common(3)]
    last = f" The last hit points are lost at {at(common)}." if common else ""
    share = f"in {hits / runs * 100:.0f} % of the playthroughs ({hits} of {runs})"
    text = f"The {spoken(most)} wins with at most {limit:g} of {left:g} hit points left {share}{others}.{last}"
    evidence = {
        "hit_points": limit,
        "hit_points_at_the_start": left,
        "narrow": hits,
        "runs": runs,
        "share": round(hits / runs, 6),
    }
    return [
        Finding(
            "narrow_escape",
            "notice",
            level.name,
            text,
            tuple(common),
            (most, *rest),
            evidence,
            look="Decide whether one more mistake should lose the game here.",
        )
    ]


def _last_harm(record: Playthrough) -> Spot | None:
    """Return the avatar's place when it last lost hit points; None if it is unknown."""
    points = record.hit_points
    turn = max((i for i in range(1, len(points)) if points[i] < points[i - 1]), default=0)
    walked = record.all_positions
    return walked[turn] if 0 < turn < len(walked) else None
