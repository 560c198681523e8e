"""Levels of skill: tables, rows for CSV files, and charts of the difficulty and of hit points over the turns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from persona_evo.games.findings import where
from persona_evo.playtest.calibration import Agreement
from persona_evo.playtest.compare import shown
from persona_evo.playtest.metrics import DAMAGE, DEATH_RATE, EVERY, WIN_RATE
from persona_evo.playtest.skill import Death, Health, Step, curve
from persona_evo.playtest.statistics import Interval
from persona_evo.report import plots, tables
from persona_evo.report.tables import Table
from persona_evo.search.skill import SKILLS

SIMULATED = "difficulty for these simulated players, not for people"
MOST_DEATHS = 4
"""Places of death that a table shows of one level and level of skill."""


def difficulty_tables(steps: Sequence[Step], brief: bool = False) -> list[Table]:
    """Win rate, damage and places of death: a row for each level, or each persona in all levels; skills across.

    brief: of several levels, without damage and places of death level by level.
    """
    skills = [s for s in SKILLS if any(step.skill == s for step in steps)]
    levels, personas = _over_personas(steps), _over_levels(steps)
    whole = not brief or len(levels) == len(skills)
    found = [_rates("difficulty by level", levels, skills)]
    found += [_damage("damage by level", levels, skills)] if whole or not personas else []
    found += [_rates("difficulty by persona", personas, skills), _damage("damage by persona", personas, skills)]
    found += [deaths_table(steps)] if whole else []
    return [table for table in found if table.rows]


def _over_personas(steps: Sequence[Step]) -> list[tuple[str, Step]]:
    """The steps of all personas together by the level's name."""
    several = any(s.persona == EVERY for s in steps)
    return [(_spoken(s.level), s) for s in steps if s.persona == EVERY or not several]


def _over_levels(steps: Sequence[Step]) -> list[tuple[str, Step]]:
    """The steps of single personas in all levels by the persona's name; none where there is only one."""
    several, all_levels = any(s.persona == EVERY for s in steps), any(s.level == EVERY for s in steps)
    return [(s.persona, s) for s in steps if several and s.persona != EVERY and (s.level == EVERY or not all_levels)]


def _spoken(level: str) -> str:
    return "all levels" if level == EVERY else level


def _rates(title: str, steps: Sequence[tuple[str, Step]], skills: Sequence[str]) -> Table:
    cells = {(name, s.skill): _rate(s.win_rate) for name, s in steps}
    proven = "; proven: all trials show the same proven result" if any(s.win_rate.note for _, s in steps) else ""
    notes = [f"win rate with Wilson's 95 % interval; {SIMULATED}{proven}"]
    return Table(title, ["", *skills], _grid(cells, skills), notes)


def _rate(rate: Interval) -> str:
    return f"{shown(WIN_RATE, rate.value)} (proven)" if rate.note else tables.interval(WIN_RATE, rate)


def _damage(title: str, steps: Sequence[tuple[str, Step]], skills: Sequence[str]) -> Table:
    cells = {
        (name, s.skill): f"{tables.interval(DAMAGE, s.damage)}, {s.death_rate.value * 100:.0f} %"
        for name, s in steps
        if s.damage is not None
    }
    notes = ["hit points lost on the way, mean ± half the 95 % interval, and death rate"]
    return Table(title, ["", *skills], _grid(cells, skills), notes)


def deaths_table(steps: Sequence[Step]) -> Table:
    """Where each level of skill dies, level by level."""
    cells = {(_spoken(s.level), s.skill): _deaths(s.deaths) for s in curve(steps)}
    skills = [s for s in SKILLS if any(cells.get((name, s)) for name, _ in cells)]
    rows = _grid({key: text for key, text in cells.items() if key[1] in skills}, skills)
    notes = [f"places as row:column from the top left; the {MOST_DEATHS} most frequent of each"]
    return Table("deaths", ["", *skills], rows, notes, left=frozenset(range(len(skills) + 1)))


def _deaths(deaths: Sequence[Death]) -> str:
    most = [f"{d.cause}{'' if d.place is None else f' {where(d.place)}'} × {d.times}" for d in deaths[:MOST_DEATHS]]
    rest = sum(d.times for d in deaths[MOST_DEATHS:])
    return ", ".join([*most, *([f"{rest} elsewhere"] if rest else [])])


def _grid(cells: dict[tuple[str, str], str], skills: Sequence[str]) -> list[list[str]]:
    names = list(dict.fromkeys(name for name, _ in cells))
    return [[name, *(cells.get((name, skill)) or "–" for skill in skills)] for name in names]


def calibration_table(agreements: Sequence[Agreement]) -> Table:
    """How win rates agree with pass rates that were measured elsewhere."""
    rows = []
    for a in agreements:
        r = a.correlation
        number = [f"{r.value:.2f}", f"{r.low:.2f} to {r.high:.2f}"] if not a.note else ["–", a.note]
        rows.append([a.players, *number, str(r.n)])
    notes = ["Spearman's correlation of win rates with the pass rates given, over levels"]
    return Table("calibration", ["win rates of", "correlation", "95 % interval", "levels"], rows, notes)


def difficulty_rows(steps: Iterable[Step]) -> list[dict[str, object]]:
    """The difficulty curve for a CSV file; * stands for all levels, or for all personas."""
    rows: list[dict[str, object]] = []
    for s in steps:
        row: dict[str, object] = {"level": s.level, "persona": s.persona, "skill": s.skill, "trials": s.trials}
        for key, value in (("win_rate", s.win_rate), (DEATH_RATE.key, s.death_rate), (DAMAGE.key, s.damage)):
            if value is not None:
                row |= {key: value.value, f"{key}_low": value.ends[0], f"{key}_high": value.ends[1]}
        rows.append({**row, "deaths": _deaths(s.deaths)})
    return rows


def health_rows(values: Iterable[Health]) -> list[dict[str, object]]:
    """Hit points over the turns for a CSV file."""
    return [
        {"level": h.level, "player": h.player, "turn": h.turn, "playing": h.playing, "mean": round(h.mean, 6),
         "q10": h.low, "median": h.median, "q90": h.high}
        for h in values
    ]  # fmt: skip


def difficulty_chart(steps: Sequence[Step], path: Path | str) -> Path | None:
    """Levels across and win rates up, a line for each level of skill, with 95 % intervals; None without any."""
    found = curve(steps)
    if not found:
        return None
    levels = list(dict.fromkeys(s.level for s in found))
    skills = [skill for skill in SKILLS if any(s.skill == skill for s in found)]
    figure = plots._figure(max(4.6, 2.0 + 0.55 * len(levels)), 3.8)
    ax = figure.subplots()
    for k, skill in enumerate(skills):
        own = [s for s in found if s.skill == skill]
        at = [levels.index(s.level) + 0.06 * (k - (len(skills) - 1) / 2) for s in own]
        rates = [s.win_rate for s in own]
        away = [[max(0.0, 100 * (r.value - r.low)) for r in rates], [max(0.0, 100 * (r.high - r.value)) for r in rates]]
        ax.errorbar(at, [100 * r.value for r in rates], yerr=away, color=plots._colour(k), label=skill, marker="o",
                    markersize=4, linewidth=1.4, elinewidth=0.9, capsize=2)  # fmt: skip
    ax.set_xticks(range(len(levels)), [plots._plain(name) for name in levels], rotation=45 if len(levels) > 6 else 0)
    ax.set_ylim(-3, 103)
    ax.set_ylabel("win rate, %")
    plots._tidy(ax, "y")
    figure.legend(loc="outside lower center", ncols=len(skills), fontsize=8, frameon=False)
    return plots._save(figure, path)


def health_chart(values: Sequence[Health], level: str, path: Path | str) -> Path | None:
    """Mean hit points over the turns in a level, a line for each player with the range from the 10 % to the 90 %
    quantile around it; None without any."""
    own = [h for h in values if h.level == level]
    players = list(dict.fromkeys(h.player for h in own))
    if not players:
        return None
    columns = min(4, len(players))
    rows = math.ceil(len(players) / columns)
    figure = plots._figure(2.5 * columns + 0.6, 1.9 * rows + 0.5)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for k, ax in enumerate(grid.flat):
        if k >= len(players):
            ax.set_visible(False)
            continue
        line = [h for h in own if h.player == players[k]]
        turns, colour = [h.turn for h in line], plots._colour(k % columns)
        ax.fill_between(turns, [h.low for h in line], [h.high for h in line], color=colour, alpha=0.2, linewidth=0)
        ax.plot(turns, [h.mean for h in line], color=colour, linewidth=1.6)
        ax.set_title(plots._plain(players[k]), fontsize=9)
        ax.set_ylim(bottom=0)
        plots._tidy(ax, "both")
    figure.supxlabel("turn", fontsize=9)
    figure.supylabel("hit points", fontsize=9)
    return plots._save(figure, path)
