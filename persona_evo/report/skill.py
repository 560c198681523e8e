"""Skill levels: tables, rows for CSV files, and charts of the difficulty and of hit points over the turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from persona_evo.agents.skill import SKILLS
from persona_evo.games.findings import where
from persona_evo.intervals import Interval
from persona_evo.playtest.calibration import Agreement
from persona_evo.playtest.compare import shown
from persona_evo.playtest.metrics import DAMAGE, DEATH_RATE, EVERY, WIN_RATE
from persona_evo.playtest.skill import Death, Health, SkillStep, curve
from persona_evo.report import charts, tables
from persona_evo.report.charts import Series
from persona_evo.report.tables import Table

SIMULATED = "difficulty for these simulated players, not for people"
MOST_DEATHS = 4
"""Number of places of death that a table shows for each level and skill level."""


def difficulty_tables(steps: Sequence[SkillStep], brief: bool = False, wins: bool = True) -> list[Table]:
    """Tabulate win rate, damage and places of death, with a column per skill level.

    A row is a level, or a persona over all levels. With `brief`, damage and places of death are not listed per level if
    there are several levels. Without `wins`, there are no win rates, since no end of the game counts as won.
    """
    skills = [s for s in SKILLS if any(step.skill == s for step in steps)]
    levels, personas = _over_personas(steps), _over_levels(steps)
    whole = not brief or len(levels) == len(skills)
    found = [_rates("win rate by level and skill", levels, skills)] if wins else []
    found += [_damage("damage by level and skill", levels, skills)] if whole or not personas else []
    found += [_rates("win rate by persona and skill", personas, skills)] if wins else []
    found += [_damage("damage by persona and skill", personas, skills)]
    found += [deaths_table(steps)] if whole else []
    return [table for table in found if table.rows]


def _over_personas(steps: Sequence[SkillStep]) -> list[tuple[str, SkillStep]]:
    """Return the steps of all personas together with the level's name."""
    several = any(s.persona == EVERY for s in steps)
    return [(_spoken(s.level), s) for s in steps if s.persona == EVERY or not several]


def _over_levels(steps: Sequence[SkillStep]) -> list[tuple[str, SkillStep]]:
    """Return the steps of single personas over all levels with the persona's name; none if there is only one."""
    several, all_levels = any(s.persona == EVERY for s in steps), any(s.level == EVERY for s in steps)
    return [(s.persona, s) for s in steps if several and s.persona != EVERY and (s.level == EVERY or not all_levels)]


def _spoken(level: str) -> str:
    return "all levels" if level == EVERY else level


def _rates(title: str, steps: Sequence[tuple[str, SkillStep]], skills: Sequence[str]) -> Table:
    cells = {(name, s.skill): _rate(s.win_rate) for name, s in steps}
    proven = "; proven: all trials show the same proven result" if any(s.win_rate.note for _, s in steps) else ""
    notes = [f"win rate with Wilson's 95 % interval; {SIMULATED}{proven}"]
    return Table(title, ["", *skills], _grid(cells, skills), notes)


def _rate(rate: Interval) -> str:
    return f"{shown(WIN_RATE, rate.value)} (proven)" if rate.note else tables.interval(WIN_RATE, rate)


def _damage(title: str, steps: Sequence[tuple[str, SkillStep]], skills: Sequence[str]) -> Table:
    cells = {
        (name, s.skill): f"{tables.interval(DAMAGE, s.damage)}, {s.death_rate.value * 100:.0f} %"
        for name, s in steps
        if s.damage is not None
    }
    notes = ["hit points lost on the way, mean ± half the 95 % interval, and death rate"]
    return Table(title, ["", *skills], _grid(cells, skills), notes)


def deaths_table(steps: Sequence[SkillStep]) -> Table:
    """Tabulate where each skill level dies, level by level."""
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
    """Tabulate how win rates agree with pass rates that were measured elsewhere."""
    rows = []
    for a in agreements:
        r = a.correlation
        number = [f"{r.value:.2f}", f"{r.low:.2f} to {r.high:.2f}"] if not a.note else ["–", a.note]
        rows.append([a.players, *number, str(r.n)])
    notes = ["Spearman's correlation of win rates with the pass rates given, over levels"]
    return Table("calibration", ["win rates of", "correlation", "95 % interval", "levels"], rows, notes)


def difficulty_rows(steps: Iterable[SkillStep]) -> list[dict[str, object]]:
    """Return the difficulty curve for a CSV file; * stands for all levels, or for all personas."""
    rows: list[dict[str, object]] = []
    for s in steps:
        row: dict[str, object] = {"level": s.level, "persona": s.persona, "skill": s.skill, "trials": s.trials}
        for key, value in (("win_rate", s.win_rate), (DEATH_RATE.key, s.death_rate), (DAMAGE.key, s.damage)):
            if value is not None:
                row |= {key: value.value, f"{key}_low": value.ends[0], f"{key}_high": value.ends[1]}
        rows.append({**row, "deaths": _deaths(s.deaths)})
    return rows


def calibration_rows(agreements: Iterable[Agreement]) -> list[dict[str, object]]:
    """Return the calibration for a CSV file."""
    rows: list[dict[str, object]] = []
    for a in agreements:
        r = a.correlation
        number = ("", "", "") if a.note else (r.value, r.low, r.high)
        names = dict(zip(("correlation", "correlation_low", "correlation_high"), number, strict=True))
        rows.append({"players": a.players, **names, "levels": r.n, "note": a.note})
    return rows


def health_rows(values: Iterable[Health]) -> list[dict[str, object]]:
    """Return hit points over the turns for a CSV file."""
    return [
        {
            "level": h.level,
            "player": h.player,
            "persona": h.persona,
            "skill": h.skill,
            "turn": h.turn,
            "playing": h.playing,
            "mean": round(h.mean, 6),
            "q10": h.low,
            "median": h.median,
            "q90": h.high,
        }
        for h in values
    ]


def difficulty_chart(steps: Sequence[SkillStep]) -> charts.Plot | None:
    """Plot win rates over levels with 95 % intervals, one line per skill level; None for fewer than 2 levels."""
    found = curve(steps)
    levels = list(dict.fromkeys(s.level for s in found))
    if len(levels) < 2:
        return None
    lines = []
    for place, skill in enumerate(SKILLS):
        aside = 0.06 * (place - (len(SKILLS) - 1) / 2)
        own = [(levels.index(s.level) + aside, s.win_rate) for s in found if s.skill == skill]
        spans = [(x, 100 * rate.low, 100 * rate.high) for x, rate in own if rate.known]
        lines.append(Series(skill, [(x, 100 * rate.value) for x, rate in own], "linedots", place, spans=spans))
    up = charts.Axis("win rate, %", low=0, high=100)
    return charts.Plot(
        [line for line in lines if line.points],
        charts.Axis(names=levels),
        up,
        title="Difficulty curve",
        width=max(480, 90 + 44 * len(levels)),
    )


def health_charts(values: Sequence[Health]) -> dict[str, list[charts.Plot]]:
    """Plot hit points over the turns by level, one chart per persona.

    A chart shows each skill level's mean and the range from its 10 % to its 90 % quantile.
    """
    found: dict[str, list[charts.Plot]] = {}
    for level, persona in dict.fromkeys((h.level, h.persona) for h in values):
        lines = []
        for place, skill in enumerate(SKILLS):
            own = [h for h in values if (h.level, h.persona, h.skill) == (level, persona, skill)]
            if own:
                band = [(h.turn, h.low, h.high) for h in own]
                lines.append(Series(skill, [(h.turn, h.mean) for h in own], "steps", place, band=band))
        across, up = charts.Axis("turn", low=0, whole=True), charts.Axis("hit points", low=0, whole=True)
        title = f"{persona}: mean hit points, 10 % to 90 % quantile"
        found.setdefault(level, []).append(charts.Plot(lines, across, up, title=title, height=240))
    return found
