"""The report of a reproduction: the publication's tables and figures with our numbers beside its own.

| file | what |
|---|---|
| index.html | the page, complete in itself |
| tables/*.csv | table2 to table4 in the publication's layout, `*_numbers` the same as numbers; and the rest |
| figures/* | fitness and objects (SVG), maps (PNG) |
| policies/*.json | the policies that were chosen |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.intervals import Interval, mean_interval
from persona_evo.playtest.metrics import grouped, summarise
from persona_evo.report import charts, csv_rows, maps, pages, plots, tables, tile_counts
from persona_evo.report.pages import (
    Document,
    Facts,
    Folded,
    Gallery,
    Grid,
    Heading,
    Lines,
    Section,
    Styled,
    Svg,
    Text,
)
from persona_evo.report.tables import Table
from persona_evo.report.written import WrittenReport
from persona_evo.search.tree_policy import SEARCH_VARIABLES
from persona_evo.store import policies, policy_library
from persona_evo.studies.minidungeons import agreement, cross, results
from persona_evo.studies.minidungeons import figures as study_figures
from persona_evo.studies.minidungeons.material import Crossed, DungeonResults
from persona_evo.studies.minidungeons.provenance import facts, reservations
from persona_evo.studies.minidungeons.published import BASELINE, EVOLVED, PublishedRow
from persona_evo.studies.minidungeons.results import Difference, PersonaPair, ScoreCell, title
from persona_evo.words import counted

NONE = "–"
"""Stands for what is not known or does not exist."""

Tell = Callable[[str], None]
Rows = list[dict[str, object]]


@dataclass
class _Folder:
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


def write(material: DungeonResults, progress: Tell | None = None) -> WrittenReport:
    """Write the report into the reproduction's folder; files of the same names are written anew."""
    m = material
    for name in ("tables", "figures", "policies"):
        (m.folder / name).mkdir(exist_ok=True)
    folder = _Folder(m.folder, progress)
    scores, cells, pairs = results.table2(m), results.table3(m), results.table4(m)
    two, three, four = table2(m, scores), table3(m, cells), [table4(m, pairs, row) for row in m.published.rows]
    _tables(folder, m, scores, cells, pairs, (two, three, four))
    words = agreement.agreement(m, scores, cells, pairs)
    parts = [
        Section(
            "agreement",
            "Agreement with the paper",
            [*(Text(text, "tag") for text in reservations(m)), Lines(words)],
            "Agreement",
        ),
        Section("table2", "Table II: average scores", [Styled("dense", [two]), played_table(m)], "Table II"),
        Section("table3", "Table III: evolved against UCB1", [three], "Table III"),
        Section("table4", "Table IV: personas against each other", [Grid(four, "dense")], "Table IV"),
        _evolution(folder, m),
        _levels(folder, m),
        _compared(folder, m),
        _cross(folder, m, m.crossed) if m.crossed is not None else Section("cross", "Cross tables", []),
        Section("made", "How it was made", [Facts(facts(m))]),
    ]
    for persona in m.personas:
        policies.write(m.policies[persona.name], m.folder / "policies" / f"{persona.name}.json")
    under = (
        f"{m.published.source}; protocol {m.settings.protocol}, "
        f"{counted(len(m.played.records), 'playthrough')} of {counted(len(m.levels), 'level')}"
    )
    page = m.folder / "index.html"
    pages.write(Document(f"Reproduction: {m.published.title}", under, parts), page)
    said = [two.render(), three.render(), "\n".join(words)]
    said[:0] = reservations(m)
    return WrittenReport(page, "\n\n".join(said))


def table2(m: DungeonResults, scores: Sequence[ScoreCell]) -> Table:
    """Table II, each cell "paper | here | limit"."""
    rows: list[list[str]] = []
    names = [p.name for p in m.personas]
    by_key = {(s.kind, s.row.key, s.persona): s for s in scores}
    for kind, word in ((EVOLVED, "Evolved"), (BASELINE, "Baseline")):
        rows.append([word, *([""] * len(names))])
        for row in (*m.published.rows, *results.MORE_ROWS):
            label = row.short + (" (%)" if results.is_share(row.key) else "")
            rows.append([label, *(_score(by_key[kind, row.key, name]) for name in names)])
    notes = [
        "paper | here | at the end of the best plan; means ± half the 95 % interval over all playthroughs of all maps "
        "(Student's, of win rates Wilson's)",
        "not a limit in itself but for the utility: another plan may have more of a single metric",
        *(["? best known, not proven"] if any(s.limit is not None and not s.proven for s in scores) else []),
        "the paper's time is that of a search of at most 300 s; here the budget is one of iterations",
    ]
    return Table(f"Average scores, {_setting(m)}", ["Metric", *_short(m)], rows, notes)


def _score(s: ScoreCell) -> str:
    paper = NONE if s.paper is None else f"{s.paper[0]:g} ± {s.paper[1]:g}"
    if s.limit is None:
        limit = NONE
    else:
        limit = f"{s.limit:.3f}" if s.row.key == "utility" else f"{s.limit:.1f}"
        limit += "" if s.proven else "?"
    return f"{paper} | {_shown(s.row, s.here)} | {limit}"


def _shown(row: PublishedRow, value: Interval) -> str:
    if row.key == "seconds":
        digits = 1 if value.value >= 10 else 3
    else:
        digits = 3 if row.key == "utility" else 1
    return value.text(digits)


def table3(m: DungeonResults, cells: Sequence[Difference]) -> Table:
    """Table III, each cell "paper | here"."""
    by_key = {(c.row.key, c.persona): c for c in cells}
    rows = []
    for row in m.published.rows:
        line = [row.name]
        for persona in m.personas:
            c = by_key[row.key, persona.name]
            line += [f"{c.paper[k]} | {c.here[k]}" for k in (0, 1)]
        rows.append(line)
    heads = [f"{short} {side}" for short in _short(m) for side in ("E", "B")]
    note = (
        f"paper (of {counted(len(m.published.maps), 'map')}) | here (of {len(m.levels)}); E: significantly higher for "
        "the evolved persona, B: for the baseline of the same type (t tests with unequal variances, p < 0.05, not "
        "corrected; Fisher's exact test where neither side varies)"
    )
    return Table("Maps in which a metric is significantly higher", ["Metric", *heads], rows, [note])


def table4(m: DungeonResults, pairs: Sequence[PersonaPair], row: PublishedRow) -> Table:
    """One block of table IV, each cell "paper | here"."""
    by_key = {(c.kind, c.persona, c.other): c for c in pairs if c.row.key == row.key}
    rows = []
    for a in m.personas:
        line = [a.short]
        for kind in (EVOLVED, BASELINE):
            for b in m.personas:
                c = by_key.get((kind, a.name, b.name))
                line.append(NONE if c is None else f"{'?' if c.paper is None else c.paper} | {c.here}")
        rows.append(line)
    heads = [*_short(m), *(f"{short} B" for short in _short(m))]
    unknown = any(c.paper is None for c in by_key.values())
    note = "paper | here; maps in which the row's persona is significantly higher than the column's, B: baselines"
    return Table(row.name, ["", *heads], rows, [note + ("; ? not legible in the paper's text" if unknown else "")])


def played_table(m: DungeonResults) -> Table:
    """Wins, steps and times of every player."""
    rows = []
    for label in (p.label for p in m.played.players):
        own = [r for r in m.played.records if r.player == label]
        won = [r for r in own if r.won]
        seconds, steps = mean_interval([r.seconds for r in own]), mean_interval([float(r.steps) for r in own])
        won_seconds = f"{sum(r.seconds for r in won) / len(won):.3f}" if won else NONE
        rows.append(
            [
                label,
                f"{len(won)} of {len(own)}",
                str(sum(r.lost for r in own)),
                steps.text(1),
                seconds.text(3),
                won_seconds,
                f"{sum(r.seconds for r in own):.1f}",
                f"{sum(r.iterations for r in own) / len(own):.0f}",
                f"{sum(r.nodes for r in own) / len(own):.0f}",
            ]
        )
    heads = ["player", "wins", "deaths", "steps", "seconds", "seconds of wins", "seconds of all", "iterations", "nodes"]
    note = "seconds: of the search, on one core; iterations and nodes: means"
    return Table("Wins, steps and time", heads, rows, [note])


def _tables(
    folder: _Folder,
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
    """Every player in every level, measure by measure, with the limit of its persona's utility."""
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


def _evolution(folder: _Folder, m: DungeonResults) -> Section:
    found, figures = [], []
    rows: Rows = []
    for persona in m.personas:
        journal = m.journals[persona.name]
        found.append(results.convergence(persona.name, journal))
        caption = f"{title(m, persona.name)}: fitness of the run that was chosen, by island"
        figures.append(folder.chart(f"fitness_{persona.name}", study_figures.fitness(m, persona), caption))
        rows += [{"persona": persona.name, **{k: v for k, v in r.items() if k != "timing"}} for r in journal]
    folder.csv("fitness", rows)
    folder.csv(
        "convergence",
        [
            {"persona": c.persona, "generation": c.generation, "generations": c.generations, "final": c.final}
            for c in found
        ],
    )
    runs_table = _runs_table(m)
    folder.layout("runs", runs_table)
    equations = equations_table(m)
    folder.layout("equations", equations)
    return Section(
        "evolution",
        "Evolution",
        [
            Lines(agreement.convergence_words(m, found)),
            Gallery("chart", figures),
            runs_table,
            equations,
            _symbols(m),
        ],
    )


def _runs_table(m: DungeonResults) -> Table:
    rows = []
    for persona in m.personas:
        for n, outcome in enumerate(m.outcomes[persona.name], 1):
            chosen = outcome is m.best[persona.name] or outcome.folder == m.best[persona.name].folder
            policy = policies.read(outcome.policy) if outcome.policy else None
            rows.append(
                [
                    f"{persona.name} {n}",
                    "yes" if chosen else "",
                    str(policy.seed if policy else NONE),
                    str(outcome.generations),
                    str(policy.run.get("evaluations", NONE) if policy else NONE),
                    persona.priority,
                    NONE if outcome.priority is None else f"{outcome.priority:.4f}",
                    NONE if outcome.utility is None else f"{outcome.utility:.4f}",
                    _minutes(m, outcome.folder),
                ]
            )
    heads = ["run", "chosen", "seed", "generations", "evaluations", "priority", "its mean", "utility", "minutes"]
    note = "means over the training levels on seeds that the evolution never used; the best by core priority is chosen"
    return Table("Evolutionary runs", heads, rows, [note], frozenset({1, 5}))


def _minutes(m: DungeonResults, folder: Path) -> str:
    from persona_evo.store import runs

    seconds = {int(r["generation"]): float(r.get("timing", {}).get("seconds", 0)) for r in runs.read_journal(folder)}
    return f"{sum(seconds.values()) / 60:.1f}"


def equations_table(m: DungeonResults) -> Table:
    """The simplified formulas beside the paper's."""
    rows = []
    for number, (persona, printed) in enumerate(zip(m.personas, m.published.printed, strict=True), 6):
        rows.append(
            [
                f"({number}) {persona.short}",
                policy_library.find(printed, m.game.name).formula,
                m.policies[persona.name].best,
            ]
        )
    first, notes = m.settings.evolution.first, []
    if "library" in first:
        notes.append(
            f"the evolution began with {', '.join(first)}, among them the policies that ship: what is equal "
            "to one of these was confirmed here, not found"
        )
    notes += filter(None, [guards(parse(text) for row in rows for text in row[1:])])
    head = ["persona", "paper, as printed", "here"]
    return Table("Tree policies, simplified", head, rows, notes, left=frozenset({1, 2}))


def _symbols(m: DungeonResults) -> Folded:
    """What the formulas and columns name."""
    rows = [[metric.symbol, metric.name, metric.meaning] for metric in m.game.metrics]
    rows += [[name, "of the search", meaning] for name, meaning in SEARCH_VARIABLES.items()]
    table = Table("Symbols", ["symbol", "name", "meaning"], rows, left=frozenset({1, 2}))
    return Folded("what the symbols mean", [table])


def _levels(folder: _Folder, m: DungeonResults) -> Section:
    structure = results.structures(m)
    folder.csv("structure", [{"level": name, **numbers} for name, numbers in structure.items()])
    named = results.named_correlations(m)
    folder.csv(
        "correlations_named",
        [
            {
                "persona": n.persona,
                "result": n.result,
                "structure": n.structure,
                "paper": n.r,
                "here": c.r,
                "p": c.p,
                "levels": c.n,
                "note": c.note,
            }
            for n, c in named
        ],
    )
    found = results.all_correlations(m)
    folder.csv("correlations", csv_rows.correlation_rows(found))
    return Section(
        "levels",
        "Levels and personas",
        [
            folder.chart("objects", study_figures.objects(m), "Figure 3: number of objects in each level"),
            Heading("Correlations of section VI-D"),
            Lines(agreement.correlation_words(m, named)),
            Folded("the strongest of all correlations", [tables.correlation_table(found)] if found else []),
        ],
        "Levels",
    )


def _compared(folder: _Folder, m: DungeonResults) -> Section:
    """Figures 4 to 6."""
    own = study_figures.evolved_records(m)
    summaries = summarise(own, m.game.metrics, m.bounds)
    groups = grouped(own)
    counts = results.differences(m)
    chosen = results.compared(m)
    folder.csv(
        "differences",
        [{"level": name, "significant_differences_between_evolved_personas": n} for name, n in counts.items()],
    )
    most, fewest = max(counts, key=lambda n: counts[n]), min(counts, key=lambda n: counts[n])
    words = f"Significant differences between evolved personas, over all pairs and metrics of table IV: most in {most} "
    words += f"({counts[most]}), fewest in {fewest} ({counts[fewest]})"
    if not m.differing:
        words += f"; in the paper most in {chosen[0]} ({counts[chosen[0]]} here), fewest in {chosen[1]} "
        words += f"({counts[chosen[1]]} here)"
    parts: list[Any] = [Text(f"{words}.")]
    for number, name in enumerate(chosen):
        level = next(v for v in m.levels if v.name == name)
        parts += [
            Text(f"Figure 4 ({'ab'[number]}): metrics of the evolved personas in {name}, means with 95 % intervals"),
            plots.main_results([s for s in summaries if s.level == name], m.game.metrics),
        ]
        high = tile_counts.most_visits(groups[name, label] for label in m.evolved.values())
        drawn = []
        for letter, (persona, label) in zip("abcd", m.evolved.items(), strict=False):
            file = folder.figure(f"map_{name}_{label}")
            who = title(m, persona)
            if maps.annotated(m.game, level, groups[name, label], file, high=high) is not None:
                drawn.append(maps.figure(file, f"Figure {5 + number} ({letter}): {who} in {name}"))
        parts.append(Gallery("map", drawn))
    return Section("compared", f"Personas in {' and '.join(chosen)}", parts, "Maps compared")


def _cross(folder: _Folder, m: DungeonResults, crossed: Crossed) -> Section:
    valued, foreign = cross.valued(m), cross.foreign(m, crossed)
    transfers = {p.name: cross.transfer(m, crossed, p.name) for p in m.personas}
    shown: list[Table] = []
    for name, heading, matrix, note in (
        (
            "cross_valued",
            "Playthroughs of a persona by the utility of another",
            valued,
            "row: who plays, with its own utility and policy; column: by whose utility it is judged",
        ),
        (
            "cross_policies",
            "A persona with the policy of another",
            foreign,
            "row: for whom the policy was evolved; column: whose utility is searched for, and judged by",
        ),
    ):
        table = _matrix(heading, matrix, note)
        folder.layout(name, table)
        shown.append(table)
    budgets = _budgets(m)
    folder.layout("cross_budgets", budgets)
    parts: list[Any] = [
        Grid(shown),
        budgets,
        Lines(cross.budget_words(m, crossed)),
        Heading("Policies of a single map"),
        Lines(cross.transfer_words(m, transfers)),
    ]
    for persona, matrix in transfers.items():
        note = "row: the map that the policy was evolved on; column: the map that is played"
        table = _matrix(f"{title(m, persona)}: mean utility", matrix, note)
        folder.layout(f"cross_transfer_{persona}", table)
        parts.append(Folded(title(m, persona), [Styled("dense", [table])]))
    return Section("cross", "Cross tables", parts)


def _matrix(heading: str, matrix: cross.Matrix, note: str) -> Table:
    rows = [
        [name, *(NONE if v is None else f"{v:.3f}" for v in row)]
        for name, row in zip(matrix.rows, matrix.cells, strict=True)
    ]
    return Table(heading, ["", *matrix.columns], rows, [note])


def _budgets(m: DungeonResults) -> Table:
    assert m.crossed is not None
    rows, times = [], [1, *m.crossed.more]
    sign = {1: " +", -1: " −", 0: ""}
    for persona, evolved, ucb1, compared in cross.budgets(m, m.crossed):
        cells = [f"{ucb1[t].text(3)}{sign[compared[t]]}" for t in times]
        rows.append([persona, evolved.text(3), *cells])
    note = "mean utility; + the evolved policy is significantly better than this, − worse (t test, p < 0.05)"
    heads = ["", "evolved", "UCB1", *(f"UCB1, {t} times" for t in times[1:])]
    each = counted(m.settings.playtest_iterations, "iteration")
    return Table(f"What an evolved policy is worth in search, {each}", heads, rows, [note])


def _setting(m: DungeonResults) -> str:
    return f"{counted(m.settings.trials, 'playthrough')} of each player in each of {counted(len(m.levels), 'level')}"


def _short(m: DungeonResults) -> list[str]:
    return [p.short for p in m.personas]
