"""Everything that is computed from a batch of playthroughs, in one go, for the command line, the page and Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from persona_evo.agents.skill import errs
from persona_evo.formula import Formula, parse
from persona_evo.games.acceptance import Accepted, accept
from persona_evo.games.core import Game, Level, Metric
from persona_evo.games.findings import Finding, ranked
from persona_evo.playtest import calibration, compare, duels, findings, require
from persona_evo.playtest.calibration import Agreement
from persona_evo.playtest.compare import ComparisonRow
from persona_evo.playtest.correlations import CorrelationRow, correlations
from persona_evo.playtest.duels import Standing
from persona_evo.playtest.evidence import Thing, goals_of
from persona_evo.playtest.metrics import FLAGS, Bounds, Summary, players_of
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.requirement import Check, Requirement
from persona_evo.playtest.skill import SkillStep, ladder, narrow_escapes
from persona_evo.playtest.summaries import summarise
from persona_evo.search.outlook import Outlook


@dataclass(frozen=True)
class Analysis:
    """What a batch says. personas: the players that are judged; pairs: (player, baseline) that were compared.

    standings: in two-player games, by level, player, opponent and side. baseline: rows of `versus_baseline`; players:
    rows of `between_players` among the personas that make no mistakes. tolerances: see `analyse`. steps: how each level
    of skill fares, none without any. agreements: with the pass rates given.
    accepted: accepted findings, with reasons; gone: accepted ones that no longer occur.
    """

    records: tuple[Playthrough, ...]
    infos: tuple[Metric, ...]
    personas: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    summaries: tuple[Summary, ...]
    findings: tuple[Finding, ...]
    standings: tuple[Standing, ...]
    baseline: tuple[ComparisonRow, ...]
    players: tuple[ComparisonRow, ...]
    structure: Mapping[str, Mapping[str, float]]
    correlations: tuple[CorrelationRow, ...]
    checks: tuple[Check, ...]
    tolerances: Mapping[str, float] = field(default_factory=dict)
    accepted: tuple[tuple[Finding, str], ...] = ()
    gone: tuple[Accepted, ...] = ()
    steps: tuple[SkillStep, ...] = ()
    agreements: tuple[Agreement, ...] = ()

    @property
    def passed(self) -> bool:
        """All requirements hold (also where there are none)."""
        return all(c.passed for c in self.checks)


class _Roles(NamedTuple):
    """Which players are judged, and which are compared with.

    Attributes:
        pairs: players with their baselines.
        personas: players that are no baseline.
        judged: those of them whose level of skill makes no mistakes.
        aside: players that only requirements which name them judge.
        skilled: playthroughs at levels of skill, without those of baselines.
    """

    pairs: tuple[tuple[str, str], ...]
    personas: tuple[str, ...]
    judged: list[str]
    aside: set[str]
    skilled: list[Playthrough]

    @classmethod
    def of(cls, records: Sequence[Playthrough], baselines: Mapping[str, str]) -> _Roles:
        """The roles of the players of some playthroughs. baselines: label of a player -> label of its baseline."""
        known = players_of(records)
        pairs = tuple((p, b) for p, b in baselines.items() if p in known and b in known)
        compared, erring = {b for _, b in pairs}, {r.player for r in records if errs(r.skill)}
        personas = tuple(p for p in known if p not in compared)
        judged = [p for p in personas if p not in erring]
        skilled = [r for r in records if r.skill and r.player not in compared]
        return cls(pairs, personas, judged, compared | erring if judged else compared, skilled)


def analyse(
    game: Game,
    levels: Iterable[Level],
    records: Sequence[Playthrough],
    *,
    baselines: Mapping[str, str] | None = None,
    priorities: Mapping[str, str] | None = None,
    utilities: Mapping[str, Formula] | None = None,
    bounds: Bounds | None = None,
    requirements: Sequence[Requirement] = (),
    tolerances: Mapping[str, float] | None = None,
    static: Sequence[Finding] = (),
    outlooks: Mapping[str, Outlook] | None = None,
    accepted: Sequence[Accepted] = (),
    rates: Mapping[str, float] | None = None,
) -> Analysis:
    """Sum up, compare, correlate, find and check.

    Args:
        game: for the metrics' names and the structure of levels.
        levels: those that were played.
        records: the playthroughs.
        baselines: label of a player -> label of its baseline (such as UCB1 with the same utility). Players that are a
            baseline are compared with, and not judged by findings, nor by requirements that do not name them. Nor are
            players whose level of skill makes them err, unless there are no others.
        priorities: label of a player -> symbol of the metric it cares for most; correlations are of win rates, steps
            and these.
        utilities: label of a player -> what it wants.
        bounds: the best known utilities by (level, persona).
        requirements: see `require`.
        tolerances: label of a player whose trials draw their routes -> the share of |best utility| within which.
        static: findings of the levels' analysis without play.
        outlooks: what is known of whether levels can be won, by level.
        accepted: findings that fail nothing (see `games.acceptance`).
        rates: pass rates by level that were measured elsewhere, for a calibration.

    Raises:
        SettingsError: a requirement names what does not exist.
    """
    levels, records = list(levels), list(records)
    priorities, roles = priorities or {}, _Roles.of(records, baselines or {})
    structure = {level.name: game.structure(level) for level in levels} if game.structure else {}
    summaries = _summaries(game, records, bounds, structure)
    results = {
        p: list(dict.fromkeys(["win_rate", "steps", *filter(None, [priorities.get(p)])])) for p in roles.personas
    }
    found = findings.without_wins(game) + findings.find(
        records,
        game.metrics,
        static=static,
        bounds=bounds,
        outlooks=outlooks,
        things={level.name: things(level) for level in levels},
        goals=goals_of(game),
        priorities=priorities,
        utilities=utilities,
        players=roles.judged,
        escapes=[f for level in levels for f in narrow_escapes(roles.skilled, game, level)],
    )
    found = ranked(found + duels.find(records, roles.judged))
    told = accept(found, accepted, [level.name for level in levels])
    return Analysis(
        records=tuple(records),
        infos=game.metrics,
        personas=roles.personas,
        pairs=roles.pairs,
        summaries=tuple(summaries),
        findings=tuple(told.left),
        standings=tuple(duels.standings(records)),
        baseline=told_rows(compare.versus_baseline(records, roles.pairs, game.metrics), game),
        players=told_rows(compare.between_players(records, game.metrics, roles.judged), game),
        structure=structure,
        correlations=tuple(correlations(structure, records, game.metrics, results)),
        checks=tuple(require.evaluate(requirements, summaries, roles.aside, told.left)),
        tolerances=dict(tolerances or {}),
        accepted=tuple(told.accepted),
        gone=tuple(told.gone),
        steps=tuple(ladder(roles.skilled)),
        agreements=tuple(calibration.calibrate(roles.skilled or records, rates) if rates else ()),
    )


def _summaries(
    game: Game, records: Sequence[Playthrough], bounds: Bounds | None, structure: Mapping[str, Mapping[str, float]]
) -> list[Summary]:
    """The summaries, with what the game says of its metrics and its ends."""
    found = summarise(records, game.metrics, bounds, _absent(game, structure))
    return [replace(s, wins=told_wins(game), repeated=_repeated(game)) for s in found]


def _absent(game: Game, structure: Mapping[str, Mapping[str, float]]) -> set[tuple[str, str]]:
    """Level and symbol of metrics that are shares of things of which the level's structure counts none ("potions drunk"
    where there are no potions)."""
    return {
        (level, m.symbol)
        for level, numbers in structure.items()
        for m in game.metrics
        if m.ratio and numbers.get(m.name.partition(" ")[0]) == 0
    }


def _repeated(game: Game) -> frozenset[str]:
    """Symbols of the metrics that say whether the game is won or lost, what hit points are left, and how many were
    lost."""
    health = parse(game.health, game.symbols).symbols if game.health else frozenset()
    harm = {m.symbol for m in game.metrics if m.unit == "hit points" and m.better == "lower" and health}
    flags = FLAGS if game.players == 1 and told_wins(game) else ()
    return frozenset({*flags, *health, *harm} & set(game.symbols))


def told_wins(game: Game) -> bool:
    """Whether an end of the game can count as won."""
    return game.outside is None or game.outside.wins


def told_rows(rows: Iterable[ComparisonRow], game: Game) -> tuple[ComparisonRow, ...]:
    """Rows of a comparison without those of win rates where no end can count as won. (Win rates are corrected by
    themselves, so the p values of the others stay.)"""
    return tuple(r for r in rows if told_wins(game) or r.measure.key != "win_rate")


def things(level: Level) -> list[Thing]:
    """The level's objects for findings: the level's fact "things", rows of (kind, x, y); [] where it has none."""
    return [Thing(str(kind), int(x), int(y)) for kind, x, y in level.facts.get("things", ())]
