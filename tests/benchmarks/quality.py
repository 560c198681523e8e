"""The quality of the shipped policies, compared with the paper's formulas and UCB1 under the same search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from persona_evo.jobs.workers import cores
from persona_evo.personas import Persona, catalog
from persona_evo.playtest.batch import playtest
from persona_evo.playtest.players import Player
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import policies, policy_library

from .levels import game, maps, which
from .report import FIGURE, REACHED, SHORT, Row, skipped

ITERATIONS = 100_000
"""Iterations of a playthrough, which takes no more than a second."""

AIMS = {"runner": 0.78, "monster_killer": 0.95, "treasure_collector": 0.80, "completionist": 0.85}
LIMITS = {"runner": 0.790, "monster_killer": 1.0, "treasure_collector": 0.882, "completionist": 0.938}
BASELINES = ("paper_", "printed_")


def shipped(persona: str) -> list[policies.Policy]:
    """Return the shipped policies that were evolved for a persona and are not from the paper."""
    found = [p for p in policy_library.available("minidungeons2") if p.persona == persona and p.kind == "formula"]
    return [p for p in found if not p.name.startswith(BASELINES)]


def _mean(records: Sequence[Playthrough], label: str) -> tuple[float, float]:
    """Return the mean over the maps of the mean utility, and half the width of its 95 % interval."""
    by_level: dict[str, list[float]] = {}
    for record in records:
        if record.player == label:
            by_level.setdefault(record.level, []).append(record.utility)
    mean = fmean(fmean(v) for v in by_level.values())
    variance = sum(stdev(v) ** 2 / len(v) if len(v) > 1 else 0.0 for v in by_level.values()) / len(by_level) ** 2
    return mean, 1.96 * math.sqrt(variance)


def _play(persona: Persona, trials: int) -> list[Row]:
    g = game()
    paper = policy_library.find(f"paper_{persona.name}", g.name)
    ours = shipped(persona.name)
    what = f"mean utility of the {persona.name} over {which()}, {trials} trials, default search"
    aim = AIMS[persona.name]
    reach = f"above the paper's formula, aim {aim:.2f} (limit {LIMITS[persona.name]:.3f})"
    players = [Player(persona, p.tree_policy(g), p.name) for p in (paper, policy_library.find("ucb1", g.name), *ours)]
    results = playtest(
        g,
        list(maps()),
        players,
        trials,
        seed=1,
        budget=Budget(iterations=ITERATIONS, seconds=1.0),
        settings=SearchSettings.anytime(),
        jobs=cores(),
    )
    means = {p.label: _mean(results.records, p.label) for p in players}
    base = means[paper.name][0]
    text = f"paper's formula {base:.3f}, UCB1 {means['ucb1'][0]:.3f}"
    if not ours:
        return [skipped(what, reach, f"no evolved policy ships yet; {text}")]
    rows = []
    for policy in ours:
        mean, width = means[policy.name]
        verdict = SHORT if mean <= base else (REACHED if mean >= aim else FIGURE)
        longest = max(r.seconds for r in results.records if r.player == policy.name)
        measured = f"{policy.name} {mean:.3f} ± {width:.3f}, {text}; longest playthrough {longest:.2f} s"
        if verdict == FIGURE:
            measured += "; above the paper's, below the aim"
        rows.append(Row(what, reach, measured, mean / aim, verdict))
    return rows


def measure(trials: int) -> list[Row]:
    """Measure all four personas."""
    personas = {p.name: p for p in catalog(game())}
    return [row for name in AIMS for row in _play(personas[name], trials)]
