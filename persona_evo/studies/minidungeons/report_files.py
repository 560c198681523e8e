"""The files of the report: figures, and the tables as CSV files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from persona_evo.playtest.metrics import grouped
from persona_evo.report import charts, csv_rows
from persona_evo.report.pages import (
    Svg,
)
from persona_evo.report.tables import Table
from persona_evo.studies.minidungeons import results
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.results import Difference, PersonaPair, ScoreCell

Tell = Callable[[str], None]
Rows = list[dict[str, object]]


@dataclass
class ReportFolder:
    root: Path
    progress: Tell | None = None
    written: list[Path] = field(default_factory=list)

    def csv(self, name: str, rows: Sequence[Mapping[str, object]]) -> None:
        path = self.root / "tables" / f"{name}.csv"
        csv_rows.write_csv(path, rows)
        self.written.append(path)

    def layout(self, name: str, table: Table) -> None:
        heads = [h or " " * i for i, h in enumerate(table.headers)]
        self.csv(name, [dict(zip(heads, row, strict=True)) for row in table.rows])

    def figure(self, name: str, suffix: str = ".png") -> Path:
        if self.progress is not None:
            self.progress(name)
        path = self.root / "figures" / f"{name}{suffix}"
        self.written.append(path)
        return path

    def chart(self, name: str, chart: charts.Chart, caption: str) -> Svg:
        return Svg(charts.save(chart, self.figure(name, ".svg")), caption)


def write_tables(
    folder: ReportFolder,
    m: DungeonResults,
    scores: Sequence[ScoreCell],
    cells: Sequence[Difference],
    pairs: Sequence[PersonaPair],
    shown: tuple[Table, Table, list[Table]],
) -> None:
    two, three, four = shown
    folder.layout("table2", two)
    folder.layout("table3", three)
    folder.csv(
        "table4",
        [
            {"metric": t.title, **{h or "persona": cell for h, cell in zip(t.headers, row, strict=True)}}
            for t in four
            for row in t.rows
        ],
    )
    folder.csv(
        "table2_numbers",
        [
            {
                "kind": s.kind,
                "measure": s.row.key,
                "persona": s.persona,
                "paper": s.paper[0] if s.paper else "",
                "paper_half": s.paper[1] if s.paper else "",
                "here": s.here.value,
                "low": s.here.ends[0],
                "high": s.here.ends[1],
                "n": s.here.n,
                "limit": "" if s.limit is None else s.limit,
                "proven": int(s.proven),
            }
            for s in scores
        ],
    )
    folder.csv(
        "table3_numbers",
        [
            {
                "measure": c.row.key,
                "persona": c.persona,
                "paper_higher": c.paper[0],
                "paper_lower": c.paper[1],
                "higher": c.here[0],
                "lower": c.here[1],
                "levels": c.levels,
            }
            for c in cells
        ],
    )
    folder.csv(
        "table4_numbers",
        [
            {
                "kind": c.kind,
                "measure": c.row.key,
                "persona": c.persona,
                "other": c.other,
                "paper": "" if c.paper is None else c.paper,
                "here": c.here,
            }
            for c in pairs
        ],
    )
    folder.csv("playthroughs", csv_rows.record_rows(m.played.records))
    folder.csv("levels", _level_rows(m))


def _level_rows(m: DungeonResults) -> Rows:
    """Return a row for every player, level and measure, with the limit of the persona's utility."""
    rows: Rows = []
    for (level, label), group in grouped(m.played.records).items():
        bound = m.bounds.get((level, group[0].persona))
        for row in (*m.published.rows, *results.MORE_ROWS):
            v = results.mean_of(group, row.key)
            limit = bound.utility if bound is not None and row.key == "utility" else ""
            rows.append(
                {
                    "level": level,
                    "player": label,
                    "measure": row.key,
                    "mean": v.value,
                    "low": v.ends[0],
                    "high": v.ends[1],
                    "n": v.n,
                    "limit": limit,
                }
            )
    return rows
