"""Findings of a study: comparisons with intervals, wins in each level, and the goals that are met."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

from persona_evo.intervals import Interval, share_higher
from persona_evo.personas import load as load_persona
from persona_evo.playtest.bootstrap import difference, fewer
from persona_evo.studies.evolution.choices import LINE, PLAIN, SEED, SHIPPED, UTILITY, Choices
from persona_evo.studies.evolution.levels import HELD_OUT, PART
from persona_evo.studies.evolution.measuring import RunMeasurement
from persona_evo.studies.evolution.settings import (
    EVOLUTION,
    METHODS,
    SEEDED,
    SETTINGS,
    MethodCell,
    spec_of,
    study_game,
)
from persona_evo.studies.evolution.stages import ENOUGH, budget_probe, win_probe
from persona_evo.words import counted, enumerated

LOSS = -0.005
"""Nothing is lost if the interval of a difference lies above this."""
RARE = 0.01
"""Probability below which a smaller number of wins is not attributed to chance."""
SHOWN = 3
"""Number of levels with fewer wins that a goal names."""
MOST = 3
"""Number of personas for which most goals have to be met."""


class PolicyComparison(NamedTuple):
    """A comparison of the runs of a cell with one policy.

    Attributes:
        cell: the cell of the runs.
        against: the policy, by its name in `choices`.
        levels: name of the set of levels.
        runs: number of runs that were measured.
        mean, other: mean utility of the runs and of the policy.
        gain: the difference with its 95 % interval.
        effect: the share of levels in which the mean of the runs is higher, with its interval for other levels; ties
            count half.
    """

    cell: MethodCell
    against: str
    levels: str
    runs: int
    mean: float
    other: float
    gain: Interval
    effect: Interval

    @property
    def verdict(self) -> str:
        """The meaning of the interval in words."""
        if self.gain.low > 0:
            return "better"
        return "worse" if self.gain.high < 0 else "no difference shown"


class Fewer(NamedTuple):
    """A level in which evolved lists win less often than UCB1.

    Attributes:
        level: the name of the level.
        won, trials: wins and trials of the evolved lists.
        other, others: wins and trials of UCB1.
        p: the one-sided p value of Fisher's exact test.
        gain: the difference of the mean utilities in this level, positive if that of the evolved lists is higher.
    """

    level: str
    won: int
    trials: int
    other: int
    others: int
    p: float
    gain: float

    @property
    def text(self) -> str:
        """A description in words."""
        return f"{self.level}: {self.won} of {self.trials}, UCB1 {self.other} of {self.others}, p = {self.p:.2g}"


@dataclass(frozen=True)
class StudyGoal:
    """A goal of the study.

    Attributes:
        text: the goal.
        met: whether it is met; None if something has not been measured.
        why: the result in words.
    """

    text: str
    met: bool | None
    why: str


def measured(c: Choices, cell: MethodCell, where: str = HELD_OUT) -> list[RunMeasurement]:
    """Return the measurements of the final policies of a cell's runs on a set of levels, as far as they exist."""
    probes = [c.probe(cell.setting, cell.persona, run.policy, where) for run in c.runs.get(cell, [])]
    return [c.known[p] for p in probes if p in c.known]


def of_reference(c: Choices, what: str, setting: str, persona: str, where: str = HELD_OUT) -> RunMeasurement | None:
    """Return the measurement of a policy that runs are compared with; None if it was not measured."""
    text = c.reference(what, setting, persona)
    return None if text is None else c.known.get(c.reference_probe(setting, persona, text, where))


def compared(c: Choices, cell: MethodCell, against: str, where: str = HELD_OUT) -> PolicyComparison | None:
    """Compare the runs of a cell with a policy; return None if either was not measured."""
    runs, other = measured(c, cell, where), of_reference(c, against, cell.setting, cell.persona, where)
    if not runs or other is None:
        return None
    return _comparison(cell, against, where, runs, other)


def _comparison(
    cell: MethodCell, against: str, where: str, runs: Sequence[RunMeasurement], other: RunMeasurement
) -> PolicyComparison:
    played = [run.by_level for run in runs]
    effect = share_higher([fmean(own) - there for *own, there in zip(*played, other.by_level, strict=True)])
    mean = fmean(run.utility for run in runs)
    gain = difference(played, [other.by_level])
    return PolicyComparison(cell, against, where, len(runs), mean, other.utility, gain, effect)


def comparisons(c: Choices, setting: str, where: str = HELD_OUT) -> Iterator[PolicyComparison]:
    """Yield all comparisons of a setting that can be made."""
    for cell in c.runs:
        if cell.setting == setting:
            found = (compared(c, cell, what, where) for what in c.references(setting))
            yield from (one for one in found if one is not None)


def at_budget(c: Choices, cell: MethodCell, iterations: int) -> PolicyComparison | None:
    """Compare all runs of a cell with the shipped policy at a budget; return None if that was not measured."""
    text = c.reference(SHIPPED, cell.setting, cell.persona)
    if text is None:
        return None
    found = [
        c.known.get(budget_probe(c, cell.setting, cell.persona, run.policy, iterations)) for run in c.runs.get(cell, [])
    ]
    other, runs = c.known.get(budget_probe(c, cell.setting, cell.persona, text, iterations)), [m for m in found if m]
    return _comparison(cell, SHIPPED, PART, runs, other) if runs and other else None


def fewer_wins(c: Choices, setting: str, persona: str, trials: int) -> list[Fewer] | None:
    """Return the levels in which evolved lists win less often than UCB1; None if wins were not measured.

    The level with the clearest difference comes first.
    """
    cell, ucb1 = MethodCell(setting, SEEDED, persona), c.reference(PLAIN, setting, persona)
    assert ucb1 is not None
    runs = [
        c.known.get(win_probe(c, setting, persona, run.policy, trials, c.settings.runs)) for run in c.runs.get(cell, [])
    ]
    found, other = [m for m in runs if m], c.known.get(win_probe(c, setting, persona, ucb1, trials, 1))
    if not found or other is None:
        return None
    rows = []
    for k, level in enumerate(c.levels.set_of(persona, PART).levels):
        won, played = sum(m.won[k] for m in found), sum(len(m.utilities[k]) for m in found)
        others = len(other.utilities[k])
        if won * others < other.won[k] * played:
            p = fewer(won, played, other.won[k], others)
            gain = fmean(utility for m in found for utility in m.utilities[k]) - fmean(other.utilities[k])
            rows.append(Fewer(level.name, won, played, other.won[k], others, p, gain))
    return sorted(rows, key=lambda row: row.p)


def in_own_metric(c: Choices, setting: str) -> dict[str, dict[str, float]] | None:
    """Return the mean of each persona's own metric (first key) over the runs of each persona (second key)."""
    means: dict[str, dict[str, float]] = {}
    for persona in c.settings.personas:
        metric = load_persona(persona, study_game()).priority
        for theirs in c.settings.personas:
            runs = measured(c, MethodCell(setting, SEEDED, theirs))
            if not runs:
                return None
            means.setdefault(persona, {})[theirs] = fmean(run.metrics[metric] for run in runs)
    return means


def share_of_best(c: Choices, persona: str, measure: RunMeasurement) -> float:
    """Return the mean share of the best known utility on the held-out levels."""
    pool = c.levels.pool(persona, HELD_OUT)
    spec = replace(spec_of(c.settings, "single", load_persona(persona, study_game()), ()), best=pool.best)
    return fmean(spec.share(case, utility, 0.0) for case, utility in enumerate(measure.by_level))


# goals


def goals(c: Choices) -> list[StudyGoal]:
    """Return the goals of the study with their results."""
    everybody = len(c.settings.personas)
    found = [
        _for_personas(
            c,
            "single, evolution without seeds: mean at least that of the best line",
            everybody,
            _pairs(c, "single", EVOLUTION, (LINE,)),
            lambda one: one.gain.value >= 0,
        ),
        _for_personas(
            c,
            "single, evolution with seeds: better than the best seed and the best line",
            MOST,
            _pairs(c, "single", SEEDED, (SEED, LINE)),
            lambda one: one.gain.low > 0,
        ),
    ]
    for setting, how in SETTINGS.items():
        if how.lists:
            found += [
                _for_personas(
                    c,
                    f"{setting}: evolved lists better than the default lists",
                    MOST,
                    _pairs(c, setting, SEEDED, (SHIPPED,)),
                    lambda one: one.gain.low > 0,
                ),
                _wins(c, setting),
                _for_personas(
                    c,
                    f"{setting}: nothing lost at {ENOUGH:,} iterations",
                    everybody,
                    {p: [at_budget(c, MethodCell(setting, SEEDED, p), ENOUGH)] for p in c.settings.personas},
                    lambda one: one.gain.low > LOSS,
                ),
            ]
    found += [
        _for_personas(
            c,
            "casual: evolved policies better than UCB1 and the best line",
            MOST,
            _pairs(c, "casual", SEEDED, (PLAIN, LINE)),
            lambda one: one.gain.low > 0,
        ),
        _cross(c, "casual"),
    ]
    return found


Pairs = dict[str, list[PolicyComparison | None]]


def _pairs(c: Choices, setting: str, method: str, against: Sequence[str]) -> Pairs:
    return {p: [compared(c, MethodCell(setting, method, p), what) for what in against] for p in c.settings.personas}


def _for_personas(
    c: Choices, text: str, needed: int, pairs: Pairs, holds: Callable[[PolicyComparison], bool]
) -> StudyGoal:
    """Return a goal that `needed` personas have to meet, each in all of its comparisons."""
    met = {p: None if None in found else all(holds(one) for one in found if one) for p, found in pairs.items()}
    count, unknown = sum(m is True for m in met.values()), sum(m is None for m in met.values())
    needed = min(needed, len(pairs))
    verdict = None if unknown and count < needed <= count + unknown else count >= needed
    said = [
        f"{plain(p)}: " + ", ".join(f"{signed(one.gain)} against {spoken(one.against)}" for one in found if one)
        for p, found in pairs.items()
        if any(found)
    ]
    why = f"{count} met it. {'; '.join(said)}" if said else ""
    return StudyGoal(f"{text}, for {needed} of {len(pairs)} personas", verdict, why)


def _wins(c: Choices, setting: str) -> StudyGoal:
    """Return the goal on wins. A pair of level and persona counts if it is rare in all numbers of trials.

    There are hundreds of pairs, so that some are rare by chance in one of them.
    """
    again = " and again in ".join(f"{trials} trials" for trials in c.settings.wins)
    text = f"{setting}: no level with fewer wins than UCB1 (p < {RARE:g} in {again})"
    rare: list[dict[tuple[str, str], Fewer]] = []
    for trials in c.settings.wins:
        found = {persona: fewer_wins(c, setting, persona, trials) for persona in c.settings.personas}
        if None in found.values():
            return StudyGoal(text, None, "")
        rows = [(persona, row) for persona, some in found.items() for row in some or () if row.p < RARE]
        rare.append({(persona, row.level): row for persona, row in rows})
    pairs = set.intersection(*map(set, rare))
    bad = sorted((rare[-1][pair].p, plain(pair[0]), rare[-1][pair]) for pair in pairs)
    counts = enumerated([f"{len(some)} in {trials} trials" for some, trials in zip(rare, c.settings.wins, strict=True)])
    why = f"{counted(len(bad), 'pair')} of level and persona ({counts})."
    if bad:
        richer = sum(row.gain > 0 for *_, row in bad)
        why += f" In {richer} of these, the mean utility is higher than UCB1's, as the persona wants other things more "
        why += f"than to win. The clearest: {'; '.join(f'{who}, {row.text}' for _, who, row in bad[:SHOWN])}."
    return StudyGoal(text, not bad, why)


def _cross(c: Choices, setting: str) -> StudyGoal:
    text = f"{setting}: no other persona's mean is above theirs in their own metric"
    means = in_own_metric(c, setting)
    if means is None:
        return StudyGoal(text, None, "")
    above = [
        f"The {plain(theirs)} has {value:.4f} in the metric of the {plain(persona)}, who has {row[persona]:.4f}"
        for persona, row in means.items()
        for theirs, value in row.items()
        if value > row[persona] and not math.isclose(value, row[persona], rel_tol=1e-9)
    ]
    return StudyGoal(text, not above, "; ".join(above) or "There is none.")


def nothing_gained(c: Choices) -> list[str]:
    """Return sentences on the cells in which an evolution gains nothing."""
    found = []
    for setting in c.settings.chosen:
        for one in comparisons(c, setting):
            if one.cell.method in (SEEDED, EVOLUTION) and one.gain.low <= 0:
                how = "is worse than" if one.gain.high < 0 else "is not shown to be better than"
                found.append(
                    f"In {setting}, {METHODS[one.cell.method]} for the {plain(one.cell.persona)} "
                    f"{how} {spoken(one.against)}: {signed(one.gain)}."
                )
    return found


def plain(persona: str) -> str:
    """Return the name of a persona as it appears in a sentence."""
    return persona.replace("_", " ")


def spoken(against: str) -> str:
    """Return the name of a compared policy as it appears in a sentence."""
    return against if against in (PLAIN, UTILITY) else f"the {against}"


def signed(gain: Interval) -> str:
    """Format a difference with its interval: +.012 (+.003 to +.020). A small one keeps its sign: -.000."""
    value, low, high = (f"{round(v, 5) + 0.0:+.3f}".replace("0.", ".", 1) for v in (gain.value, gain.low, gain.high))
    return f"{value} ({low} to {high})"
