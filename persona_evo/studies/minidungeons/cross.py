"""Cross tables: policies under other utilities, on other maps, and against more search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from persona_evo.intervals import Interval
from persona_evo.playtest.metrics import UTILITY, estimate, levels_of, searches
from persona_evo.playtest.records import Playthrough
from persona_evo.statistics import ALPHA, student
from persona_evo.studies.minidungeons.material import Crossed, DungeonResults
from persona_evo.studies.minidungeons.results import higher, title


@dataclass(frozen=True)
class Matrix:
    """A table of means by row and column; None stands for no value."""

    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[Sequence[float | None]]


def mean_utility(records: Sequence[Playthrough]) -> Interval:
    """Return the mean utility of at least one playthrough."""
    return estimate(UTILITY, records)


def valued(m: DungeonResults) -> Matrix:
    """Return the value of the playthroughs of evolved persona A (row) by the utility of B (column)."""
    cells = []
    for a in m.personas:
        own = [r for r in m.played.records if r.player == m.evolved[a.name]]
        cells.append([fsum(b.utility.evaluate(r.metrics) for r in own) / len(own) for b in m.personas])
    names = [p.short for p in m.personas]
    return Matrix(names, names, cells)


def foreign(m: DungeonResults, crossed: Crossed) -> Matrix:
    """Return the mean utility of persona B (column) that searches with the policy evolved for A (row)."""
    names = [p.name for p in m.personas]
    means: dict[tuple[str, str], float] = {}
    for label, pair in crossed.players.items():
        means[pair] = mean_utility([r for r in crossed.foreign.records if r.player == label]).value
    short = [p.short for p in m.personas]
    return Matrix(short, short, [[means[a, b] for b in names] for a in names])


def transfer(m: DungeonResults, crossed: Crossed, persona: str) -> Matrix:
    """Return the mean utility on a map (column) with the policy evolved on another map (row)."""
    names = [level.name for level in m.levels]
    groups: dict[tuple[str, str], list[Playthrough]] = {}
    for r in crossed.transfer[persona].records:
        groups.setdefault((crossed.sources[r.player], r.level), []).append(r)
    return Matrix(names, names, [[mean_utility(groups[a, b]).value for b in names] for a in names])


def transfer_words(m: DungeonResults, matrices: dict[str, Matrix]) -> list[str]:
    """Return sentences on the worth of policies of a single map on other maps."""
    found = []
    for persona, matrix in matrices.items():
        n = len(matrix.rows)
        cells = [[v for v in row if v is not None] for row in matrix.cells]
        own = fsum(cells[i][i] for i in range(n)) / n
        others = [cells[i][k] for i in range(n) for k in range(n) if i != k]
        away = fsum(others) / len(others) if others else own
        text = f"{title(m, persona)}: {own:.3f} on the map that a policy was evolved on, {away:.3f} on the others"
        everywhere = [fsum(row) / len(row) for row in cells]
        best = max(range(n), key=lambda i: everywhere[i])
        found.append(f"{text}; the policy of {matrix.rows[best]} does best over all maps ({everywhere[best]:.3f})")
    return found


def budgets(m: DungeonResults, crossed: Crossed) -> list[tuple[str, Interval, dict[int, Interval], dict[int, int]]]:
    """Compare the evolved policy of each persona with UCB1 at multiples of its budget.

    Returns:
        For each persona: its name, the mean utility with the evolved policy, that with UCB1 by multiple of the budget,
        and the comparison by multiple: 1 if the evolved policy is significantly better, -1 if it is worse, else 0
        (see `_better`).
    """
    found = []
    for p in m.personas:
        evolved = [r for r in m.played.records if r.player == m.evolved[p.name]]
        ucb1 = {1: [r for r in m.played.records if r.player == m.baseline[p.name]]}
        for times, results in crossed.more.items():
            ucb1[times] = [r for r in results.records if r.player == m.baseline[p.name]]
        found.append(
            (
                p.name,
                mean_utility(evolved),
                {t: mean_utility(rs) for t, rs in ucb1.items()},
                {t: _better(evolved, rs) for t, rs in ucb1.items()},
            )
        )
    return found


def _better(a: Sequence[Playthrough], b: Sequence[Playthrough]) -> int:
    """Return 1 if the utility of a is significantly higher than that of b over all maps, -1 if it is lower, else 0.

    If in some maps all trials show the route of one search, and in others each trial is a search, the samples are the
    maps: Student's t test of the differences between the means in each map.
    """
    if len(searches(a)) == len(a) and len(searches(b)) == len(b):
        return higher(a, b, "utility")
    means = [{name: mean_utility([r for r in rs if r.level == name]).value for name in levels_of(rs)} for rs in (a, b)]
    test = student([means[0][name] - means[1][name] for name in means[0] if name in means[1]], 0.0)
    return 0 if test.p >= ALPHA else 1 if test.statistic > 0 else -1


def budget_words(m: DungeonResults, crossed: Crossed) -> list[str]:
    """Return sentences on how much search an evolved policy replaces."""
    found = []
    for persona, evolved, _, compared in budgets(m, crossed):
        better = [t for t, s in compared.items() if s == 1]
        worse = [t for t, s in compared.items() if s == -1]
        text = f"{title(m, persona)}: the evolved policy ({evolved.value:.3f}) is "
        if better:
            text += f"significantly better than UCB1 with up to {max(better)} times its budget"
        else:
            text += "not significantly better than UCB1 with the same budget"
        if worse:
            text += f", and worse than UCB1 with {min(worse)} times"
        found.append(text)
    return found
