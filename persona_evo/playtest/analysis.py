"""Computes everything that the command line, the page and Python show of a batch of playthroughs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from persona_evo.agents.skill import errs
from persona_evo.arguments import checked_fields
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
from persona_evo.playtest.metrics import FLAGS, Bounds, Summary, UtilityRanges, players_of, utility_ranges
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.requirement import Check, Requirement
from persona_evo.playtest.skill import SkillStep, ladder, narrow_escapes
from persona_evo.playtest.summaries import summarise
from persona_evo.search.outlook import Outlook


@checked_fields()
@dataclass(frozen=True)
class Analysis:
    """Holds the results computed from one batch of playthroughs.

    Attributes:
        personas: the players that are judged.
        pairs: (player, baseline) pairs that were compared.
        standings: results of two-player games by level, player, opponent and side.
        baseline: rows of `versus_baseline`.
        players: rows of `between_players` for the personas that make no mistakes.
        tolerances, priorities: see `analyse`.
        worth: the range of each player's utility.
        accepted: accepted findings with their reasons.
        gone: accepted findings that no longer occur.
        steps: results of each skill level; empty if there are none.
        agreements: correlations with the given pass rates.
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
    worth: UtilityRanges = field(default_factory=dict)
    accepted: tuple[tuple[Finding, str], ...] = ()
    gone: tuple[Accepted, ...] = ()
    steps: tuple[SkillStep, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    priorities: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether all requirements hold; true if there are none."""
        return all(c.passed for c in self.checks)


class _Roles(NamedTuple):
    """Says which players are judged and which serve as baselines.

    Attributes:
        pairs: (player, baseline) pairs.
        personas: players that are not a baseline.
        judged: personas whose skill level makes no mistakes.
        aside: players that are judged only by requirements that name them.
        skilled: playthroughs at skill levels, without those of baselines.
    """

    pairs: tuple[tuple[str, str], ...]
    personas: tuple[str, ...]
    judged: list[str]
    aside: set[str]
    skilled: list[Playthrough]

    @classmethod
    def of(cls, records: Sequence[Playthrough], baselines: Mapping[str, str]) -> _Roles:
        """Return the roles of the players in `records`; `baselines` maps a player's label to its baseline's label."""
        known = players_of(records)
        pairs = tuple((p, b) for p, b in baselines.items() if p in known and b in known)
        compared, erring = {b for _, b in pairs}, {r.player for r in records if errs(r.skill)}
        personas = tuple(p for p in known if p not in compared)
        judged = [p for p in personas if p not in erring]
        skilled = [r for r in records if r.skill and r.player not in compared]
        return cls(pairs, personas, judged, compared | erring if judged else compared, skilled)

    def correlated(self, priorities: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the measures of each persona that are correlated with the structure of the levels."""
        return {
            p: list(dict.fromkeys(["win_rate", "steps", *filter(None, [priorities.get(p)])])) for p in self.personas
        }


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
    failures: Sequence[Finding] = (),
    outlooks: Mapping[str, Outlook] | None = None,
    accepted: Sequence[Accepted] = (),
    rates: Mapping[str, float] | None = None,
) -> Analysis:
    """Summarise, compare and correlate playthroughs, derive findings and check requirements.

    Args:
        game: supplies the names of the metrics and the structure of levels.
        levels, records: the levels that were played, and the playthroughs.
        baselines: label of a player -> label of its baseline (such as UCB1 with the same utility). Baselines are only
            compared with: no finding judges them, and no requirement that does not name them. The same holds for
            players whose skill level makes mistakes, unless there are no others.
        priorities: label of a player -> symbol of the metric that matters most to it; correlations cover win rates,
            steps and these metrics.
        utilities: label of a player -> its utility.
        bounds: the best known utilities by (level, persona).
        requirements: see `require`.
        tolerances: label of a player whose trials draw their routes -> the tolerance, as a share of |best utility|.
        static, failures: findings of the analysis of the levels without play, and on failures of a connected game.
        outlooks: what is known about whether each level can be won, by level.
        accepted: findings that do not cause a failure (see `games.acceptance`).
        rates: pass rates by level that were measured elsewhere, for a calibration.

    Raises:
        SettingsError: a requirement names something that does not exist.
    """
    levels, records = list(levels), list(records)
    priorities, roles = priorities or {}, _Roles.of(records, baselines or {})
    structure = {level.name: game.structure(level) for level in levels} if game.structure else {}
    worth = utility_ranges(utilities or {}, game.metrics)
    summaries = _summaries(game, records, bounds, structure, worth)
    found = findings.find(
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
    found = ranked([*failures, *findings.without_wins(game), *found, *duels.find(records, roles.judged)])
    told = accept(found, accepted, [level.name for level in levels])
    return Analysis(
        records=tuple(records),
        infos=game.metrics,
        personas=roles.personas,
        pairs=roles.pairs,
        summaries=tuple(summaries),
        findings=tuple(told.left),
        standings=tuple(duels.standings(records)),
        baseline=told_rows(compare.versus_baseline(records, roles.pairs, game.metrics, worth), game),
        players=told_rows(compare.between_players(records, game.metrics, roles.judged, worth), game),
        structure=structure,
        correlations=tuple(correlations(structure, records, game.metrics, roles.correlated(priorities))),
        checks=tuple(require.evaluate(requirements, summaries, roles.aside, told.left)),
        tolerances=dict(tolerances or {}),
        worth=worth,
        accepted=tuple(told.accepted),
        gone=tuple(told.gone),
        steps=tuple(ladder(roles.skilled)),
        agreements=tuple(calibration.calibrate(roles.skilled or records, rates) if rates else ()),
        priorities=priorities,
    )


def _summaries(
    game: Game,
    records: Sequence[Playthrough],
    bounds: Bounds | None,
    structure: Mapping[str, Mapping[str, float]],
    worth: UtilityRanges,
) -> list[Summary]:
    """Return the summaries, completed with what the game says about its metrics and its ends."""
    found = summarise(records, game.metrics, bounds, _absent(game, structure), worth)
    return [replace(s, wins=told_wins(game), repeated=_repeated(game)) for s in found]


def _absent(game: Game, structure: Mapping[str, Mapping[str, float]]) -> set[tuple[str, str]]:
    """Return (level, symbol) of each metric that is a share of things which the level does not contain.

    An example is "potions drunk" in a level without potions. The level's structure counts the things.
    """
    return {
        (level, m.symbol)
        for level, numbers in structure.items()
        for m in game.metrics
        if m.ratio and numbers.get(m.name.partition(" ")[0]) == 0
    }


def _repeated(game: Game) -> frozenset[str]:
    """Return the symbols of metrics that repeat the outcome, the remaining hit points or the lost hit points."""
    health = parse(game.health, game.symbols).symbols if game.health else frozenset()
    harm = {m.symbol for m in game.metrics if m.unit == "hit points" and m.better == "lower" and health}
    flags = FLAGS if game.players == 1 and told_wins(game) else ()
    return frozenset({*flags, *health, *harm} & set(game.symbols))


def told_wins(game: Game) -> bool:
    """Return whether an end of the game can count as a win."""
    return game.outside is None or game.outside.wins


def told_rows(rows: Iterable[ComparisonRow], game: Game) -> tuple[ComparisonRow, ...]:
    """Drop the rows of win rates if no end of the game can count as a win.

    Win rates are corrected separately, so the p values of the other rows do not change.
    """
    return tuple(r for r in rows if told_wins(game) or r.measure.key != "win_rate")


def things(level: Level) -> list[Thing]:
    """Return the objects of a level for findings, from its fact "things" (rows of kind, x, y); [] without that fact."""
    return [Thing(str(kind), int(x), int(y)) for kind, x, y in level.facts.get("things", ())]
