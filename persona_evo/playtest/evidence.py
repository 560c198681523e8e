"""Collects what analysis, playthroughs and solvers show about one level, as the basis of findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from persona_evo.agents.skill import errs
from persona_evo.formula import Formula, parse
from persona_evo.formula.intervals import FALLING, RISING, span
from persona_evo.games.core import Game, Metric
from persona_evo.games.findings import Finding, Spot
from persona_evo.playtest.compare import spoken
from persona_evo.playtest.metrics import Bound, grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.search.outlook import GOAL, Outlook
from persona_evo.words import counted, enumerated

WEAK_POLICY = "ucb1"
"""Tree policy of the baselines. Its failures say nothing about a level."""

_FLAG = re.compile(r"1 (when|if|where|at|once)\b")
_LEFT = re.compile(r"\b(left|remaining)\b")
_GOAL_NAME = re.compile(r"\b(won|wins?|goals?|exit|progress)\b")


class Thing(NamedTuple):
    """An object of a level: its kind as the game's events call it, and its tile at the start."""

    kind: str
    x: int
    y: int

    @property
    def spot(self) -> Spot:
        """Its tile."""
        return self.x, self.y

    @property
    def name(self) -> str:
        """Its name in sentences, such as "ogre" without the prefix "monster"."""
        return self.kind.removeprefix("monster:")


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that is known about one level.

    Attributes:
        level: the level's name.
        records: playthroughs of the level by all players.
        judged: labels of the players whose behaviour is evidence about the level, without baselines and weak players.
        static: findings of the analysis without play.
        bounds: the best known utility, by persona.
        outlook: what is known about whether the level can be won; None if this was not examined.
        things: the level's objects.
        infos: the game's metrics.
        goals: symbols of the metrics that say how close a win is.
        priorities: label of a player -> symbol of the metric that it cares for most.
        utilities: label of a player -> its utility.
        numbers: id of a record -> its number in traces.jsonl, from 1.
        escapes: narrow wins of players that make mistakes (`skill.narrow_escapes`).
    """

    level: str
    records: Sequence[Playthrough]
    judged: frozenset[str] = frozenset()
    static: Sequence[Finding] = ()
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    outlook: Outlook | None = None
    things: Sequence[Thing] = ()
    infos: Sequence[Metric] = ()
    goals: frozenset[str] = frozenset()
    priorities: Mapping[str, str] = field(default_factory=dict)
    utilities: Mapping[str, Formula] = field(default_factory=dict)
    numbers: Mapping[int, int] = field(default_factory=dict)
    escapes: Sequence[Finding] = ()

    @cached_property
    def groups(self) -> dict[str, list[Playthrough]]:
        """The playthroughs of each judged player, by label."""
        return {player: group for (_, player), group in grouped(self.records).items() if player in self.judged}

    @cached_property
    def seekers(self) -> dict[str, list[Playthrough]]:
        """The groups of players that want to finish the level; a player of unknown utility does."""
        return {
            player: group
            for player, group in self.groups.items()
            if player not in self.utilities or self.utilities[player].symbols & self.goals
        }

    def trace(self, record: Playthrough | None) -> int | None:
        """Return the number of a playthrough in traces.jsonl."""
        return None if record is None else self.numbers.get(id(record))

    def metric(self, symbol: str) -> Metric:
        """Return the metric with this symbol."""
        return next((m for m in self.infos if m.symbol == symbol), None) or Metric(symbol, symbol, "", better="higher")

    def cares_for(self, player: str, thing: Thing) -> bool:
        """Return whether a player wants objects of this kind: its utility reads a metric named after them.

        Its utility must not fall with it ("treasures opened"), or must not rise with what is left ("coins left").
        """
        utility = self.utilities.get(player)
        symbols = utility.symbols if utility is not None else {self.priorities.get(player, "")}
        about = [m for m in map(self.metric, symbols) if m.name.partition(" ")[0] == f"{thing.kind.partition(':')[0]}s"]
        return any(
            utility is None or self._way(utility, m) != (RISING if _LEFT.search(m.name) else FALLING) for m in about
        )

    def _way(self, utility: Formula, metric: Metric) -> int:
        """Return how a utility changes with a metric that it reads."""
        read = map(self.metric, utility.symbols)
        return span(utility, {m.symbol: (m.low, m.high) for m in read}, metric.symbol).way

    def explained(self, *kinds: str) -> set[Spot]:
        """Return the places of static findings of these kinds."""
        return {spot for f in self.static if f.kind in kinds for spot in f.places}


def goals_of(game: Game) -> frozenset[str]:
    """Return the symbols of metrics that say how close a win is, by declaration, name or meaning ("1 when out")."""
    named = {
        m.symbol
        for m in game.metrics
        if _GOAL_NAME.search(m.name) or (m.better == "higher" and m.high == 1 and _FLAG.match(m.meaning))
    }
    return frozenset({GOAL} | named | (parse(game.homing).symbols if game.homing else set()))


def weak(record: Playthrough) -> bool:
    """Return whether a playthrough's player is meant to play badly."""
    return errs(record.skill) or (not record.skill and record.policy == WEAK_POLICY)


def the(players: Iterable[str]) -> str:
    """Name players in a sentence: "the runner and the monster killer"."""
    return enumerated([f"the {spoken(p)}" for p in players])


def ends_of(records: Sequence[Playthrough]) -> str:
    """Describe how playthroughs end: "8 lost (ogre 5, trap 3), 2 unfinished", or "all lost (ogre)"."""
    parts = []
    ends = dict.fromkeys(r.final for r in records)
    for end in ends:
        own = [r for r in records if r.final == end]
        causes = [r.lost_to for r in own if r.lost_to]
        counts = sorted(((causes.count(c), c) for c in set(causes)), key=lambda pair: (-pair[0], pair[1]))
        told = [c if len(counts) == 1 and n == len(own) else f"{c} {n}" for n, c in counts[:3]]
        why = f" ({', '.join(told)})" if told else ""
        number = "all" if len(ends) == 1 and len(own) > 1 else str(len(own))
        parts.append((len(own), f"{number} {end}{why}"))
    return ", ".join(text for _, text in sorted(parts, key=lambda part: -part[0]))


def percent(share: float) -> str:
    """Format a share for display: 40 %."""
    return f"{share * 100:.0f} %"


def times(records: Sequence[Playthrough]) -> str:
    """Count playthroughs in words: "in 1 playthrough"."""
    return counted(len(records), "playthrough")
