"""The report of a reproduction: the publication's tables and figures with our numbers beside those published.

| file | what |
|---|---|
| index.html | the complete page in one file |
| tables/*.csv | table2 to table4 in the publication's layout, `*_numbers` the same as numbers; and other tables |
| figures/* | fitness and objects (SVG), maps (PNG) |
| policies/*.json | the chosen policies |
"""

from __future__ import annotations

from persona_evo.playtest.metrics import grouped
from persona_evo.playtest.summaries import summarise
from persona_evo.report import csv_rows, maps, pages, plots, tables, tile_counts
from persona_evo.report.pages import (
    Block,
    Document,
    Facts,
    Folded,
    Gallery,
    Grid,
    Heading,
    Lines,
    Section,
    Styled,
    Text,
)
from persona_evo.report.tables import Table
from persona_evo.report.written import WrittenReport
from persona_evo.store import policies
from persona_evo.studies.minidungeons import agreement, cross, results
from persona_evo.studies.minidungeons import figures as study_figures
from persona_evo.studies.minidungeons.evolution_section import evolution_section
from persona_evo.studies.minidungeons.magnitudes import magnitude_rows, magnitude_table, magnitudes
from persona_evo.studies.minidungeons.material import Crossed, DungeonResults
from persona_evo.studies.minidungeons.paper_tables import (
    NONE,
    extremes_table,
    played_table,
    table2,
    table3,
    table4,
)
from persona_evo.studies.minidungeons.provenance import facts, reservations
from persona_evo.studies.minidungeons.report_files import ReportFolder, Tell, write_tables
from persona_evo.studies.minidungeons.results import title
from persona_evo.words import counted


def write(material: DungeonResults, progress: Tell | None = None) -> WrittenReport:
    """Write the report into the reproduction's folder and replace files of the same names."""
    m = material
    for name in ("tables", "figures", "policies"):
        (m.folder / name).mkdir(exist_ok=True)
    folder = ReportFolder(m.folder, progress)
    scores, cells, pairs = results.table2(m), results.table3(m), results.table4(m)
    two, three, four = table2(m, scores), table3(m, cells), [table4(m, pairs, row) for row in m.published.rows]
    write_tables(folder, m, scores, cells, pairs, (two, three, four))
    sizes = magnitudes(m)
    folder.csv("table3_magnitudes", magnitude_rows(sizes))
    words = agreement.agreement(m, scores, cells, pairs)
    parts = [
        Section(
            "agreement",
            "Agreement with the paper",
            [*(Text(text, "tag") for text in reservations(m)), Lines(words)],
            "Agreement",
        ),
        Section("table2", "Table II: average scores", [Styled("dense", [two]), played_table(m)], "Table II"),
        Section("table3", "Table III: evolved against UCB1", [three, magnitude_table(m, sizes)], "Table III"),
        Section("table4", "Table IV: personas against each other", [Grid(four, "dense")], "Table IV"),
        evolution_section(folder, m),
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


def _levels(folder: ReportFolder, m: DungeonResults) -> Section:
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
    extremes = extremes_table(m)
    folder.layout("best_and_worst_maps", extremes)
    found = results.all_correlations(m)
    folder.csv("correlations", csv_rows.correlation_rows(found))
    return Section(
        "levels",
        "Levels and personas",
        [
            folder.chart("objects", study_figures.objects(m), "Figure 3: number of objects in each level"),
            extremes,
            Heading("Correlations of section VI-D"),
            Lines(agreement.correlation_words(m, named)),
            Folded("the strongest of all correlations", [tables.correlation_table(found)] if found else []),
        ],
        "Levels",
    )


def _compared(folder: ReportFolder, m: DungeonResults) -> Section:
    """Return the section with figures 4 to 6."""
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
    parts: list[Block | None] = [Text(f"{words}.")]
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


def _cross(folder: ReportFolder, m: DungeonResults, crossed: Crossed) -> Section:
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
    parts: list[Block | None] = [
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
