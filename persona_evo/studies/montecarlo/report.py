"""The report of the thesis' experiments: its findings on each pair, and the results here.

| file | what |
|---|---|
| index.html | the complete page in one file |
| tables/agreement.csv | the thesis' finding and the result here, a line for each pair |
| tables/NAME-*.csv | the numbers of each experiment |
| figures/NAME-scores.svg, NAME-growth.svg | best scores and their growth |
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from persona_evo.experiments.results import CORRECTION, comparisons, p_words, summaries
from persona_evo.report import csv_rows, experiment, pages
from persona_evo.report.cell_comparisons import comparison_table, effect_fields
from persona_evo.report.pages import Document, Facts, Lines, Section, Styled
from persona_evo.report.tables import Table
from persona_evo.report.written import WrittenReport
from persona_evo.studies.montecarlo import chapters as study
from persona_evo.studies.montecarlo.chapters import AGREES, ALIKE, Chapter, ThesisSearches, ThesisVerdict
from persona_evo.words import counted

NONE = "–"


def write(material: ThesisSearches, progress: Callable[[str], None] | None = None) -> WrittenReport:
    """Write the report into the reproduction's folder and replace files of the same names."""
    folder = material.folder
    for name in ("figures", "tables"):
        (folder / name).mkdir(exist_ok=True)
    found: dict[str, list[ThesisVerdict]] = {}
    parts = []
    for chapter in material.thesis.chapters:
        name = chapter.experiment.name
        if progress is not None:
            progress(chapter.experiment.title)
        found[name] = study.verdicts(chapter, material.results[name])
        parts.append(_section(material, chapter, found[name], folder))
    table = agreement_table(material, found)
    _csv(material, found, folder / "tables" / "agreement.csv")
    standing = summary_words(material, found)
    first = Section("agreement", "The thesis and here", [Lines(standing), Styled("dense wrapped", [table])])
    made = Section("made", "How it was made", [Facts(_facts(material))])
    page = folder / experiment.PAGE
    s = material.settings
    under = (
        f"{material.thesis.source}; {counted(s.replicates, 'replicate')} of {counted(s.rollouts, 'rollout')} "
        f"(there {material.thesis.replicates} of {material.thesis.rollouts:,})"
    )
    title = f"Reproduction: {material.thesis.title}"
    pages.write(Document(title, under, [first, *parts, made]), page)
    words = [v.words() for verdicts in found.values() for v in verdicts if v.kind not in (AGREES, ALIKE)]
    return WrittenReport(page, "\n\n".join([table.render(), "\n".join(standing), "\n".join(words)]).strip())


def agreement_table(material: ThesisSearches, found: dict[str, list[ThesisVerdict]]) -> Table:
    """Return a table with a row for each pair on which the thesis has a finding."""
    rows = []
    for chapter in material.thesis.chapters:
        for number, v in enumerate(found[chapter.experiment.name]):
            rows.append(
                [
                    f"{chapter.experiment.title} ({chapter.figure})" if number == 0 else "",
                    v.kind,
                    v.said.words,
                    v.said.p or NONE,
                    v.here,
                    p_words(v.comparison.test.p).removeprefix("p = "),
                    p_words(v.comparison.corrected).removeprefix("p = "),
                ]
            )
    heads = ["experiment (figure)", "here it is", "thesis", "p", "here", "p here", "corrected"]
    notes = [
        "a > b: a scores more; = where p is at least 0.05",
        "p: Mann-Whitney U, two-sided, not corrected, as in the thesis",
        f"p corrected: {CORRECTION.partition('; ')[2]}, within each experiment",
    ]
    return Table("thesis | here", heads, rows, notes, left=frozenset((0, 1, 2, 4)))


def summary_words(material: ThesisSearches, found: dict[str, list[ThesisVerdict]]) -> list[str]:
    """Return sentences on how many findings are confirmed, and on what is done differently here."""
    every = [v for verdicts in found.values() for v in verdicts]
    kinds = [v.kind for v in every]
    s, thesis = material.settings, material.thesis
    tally = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
    lines = [f"{counted(len(every), 'pair')}: {tally}."]
    if (s.replicates, s.rollouts) != (thesis.replicates, thesis.rollouts):
        lines.append(
            f"Made with {counted(s.replicates, 'replicate')} of {counted(s.rollouts, 'rollout')}, in the thesis "
            f"{thesis.replicates} of {thesis.rollouts:,}: small differences do not show, and scores are those of an "
            "earlier point of the curves."
        )
    lines += [
        "No source of It's Alive! is public: its shapes, connectors and points for landings are chosen here, so scores "
        "are not those of the thesis, and only directions are compared.",
        "Workers are rollouts under way at once, with virtual loss; their games are played in this program, so times "
        "of one and of many workers are not compared.",
    ]
    return lines


def _section(material: ThesisSearches, chapter: Chapter, verdicts: list[ThesisVerdict], folder: Path) -> Section:
    name = chapter.experiment.name
    results = material.results[name]
    picture = experiment.growth_figure(results, folder / "figures", f"{name}-")
    found, tests = summaries(results), comparisons(results)
    experiment.write_tables(results, folder / "tables", found, tests, f"{name}-")
    return Section(
        name,
        f"{chapter.experiment.title} (figure {chapter.figure})",
        [
            Lines(v.words() for v in verdicts),
            picture,
            experiment.summary_table(found),
            comparison_table(tests),
        ],
        name,
    )


def _csv(material: ThesisSearches, found: dict[str, list[ThesisVerdict]], path: Path) -> None:
    rows = []
    for chapter in material.thesis.chapters:
        for v in found[chapter.experiment.name]:
            rows.append(
                {
                    "experiment": chapter.experiment.name,
                    "figure": chapter.figure,
                    "a": v.said.a,
                    "b": v.said.b,
                    "thesis": ">" if v.said.different else "=",
                    "thesis_p": v.said.p,
                    **effect_fields(v.comparison.effect, v.comparison.difference),
                    "U": v.comparison.test.statistic,
                    "p": v.comparison.test.p,
                    "p_holm": v.comparison.corrected,
                    "verdict": v.kind,
                }
            )
    csv_rows.write_csv(path, rows)


def _facts(material: ThesisSearches) -> dict[str, str]:
    from persona_evo.store.versions import versions

    s = material.settings
    return {
        "seed": str(s.seed),
        "replicates": str(s.replicates),
        "rollouts": f"{s.rollouts:,}",
        "versions": ", ".join(f"{name} {value}" for name, value in versions().items()),
    }
