"""The report of an experiment.

| file | content |
|---|---|
| index.html | the page, self-contained |
| figures/scores.svg, growth.svg | the best scores of all searches, and how they grow: mean and standard deviation |
| tables/summary.csv, comparisons.csv, growth.csv | the numbers |
| best/CELL.json, CELL.gif | the best way to play for each combination; `persona-evo experiment replay` shows it |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from persona_evo.connect.local_pool import LocalPool
from persona_evo.errors import InputError, VerificationError
from persona_evo.experiments.design import Cell, Experiment
from persona_evo.experiments.job import ExperimentResults, SearchRecord
from persona_evo.experiments.results import (
    CellComparison,
    CellSummary,
    apart,
    comparisons,
    curve,
    summaries,
    unfit_constants,
)
from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.games.core import Game, Level
from persona_evo.playtest.playing import record as playthrough
from persona_evo.report import charts, csv_rows, pages, replay, tables
from persona_evo.report.cell_comparisons import comparison_rows, comparison_table
from persona_evo.report.figures import Drawing
from persona_evo.report.pages import Document, Facts, Figure, Gallery, Lines, Section, Styled, Svg
from persona_evo.report.tables import Table
from persona_evo.report.written import Names, WrittenReport
from persona_evo.search.plan import Plan
from persona_evo.words import counted

PAGE = "index.html"
Tell = Callable[[str], None]


def write(results: ExperimentResults, folder: Path, progress: Tell | None = None) -> WrittenReport:
    """Write the report into a folder; existing files of the same names are replaced."""
    experiment = results.experiment
    found, tests = summaries(results), comparisons(results)
    for name in ("figures", "tables", "best"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _tell(progress, "growth")
    picture = growth_figure(results, folder / "figures")
    write_tables(results, folder / "tables", found, tests)
    notes, pictures = _best(results, folder / "best", progress)
    summary = summary_table(found)
    tested = comparison_table(tests)
    words = [*(c.words() for c in tests), *apart(results)]
    warnings = [f"note: {text}" for text in unfit_constants(results)]
    warnings += [HIDDEN] if hides(experiment) else []
    page = Document(
        f"Experiment: {experiment.title}",
        subtitle(results),
        [
            Section("says", "What it says", [Lines([*(words or [NOTHING]), *warnings]), tested if tests else None]),
            Section("growth", "Best scores", [picture, summary]),
            Section(
                "best",
                "Best ways to play",
                [
                    Gallery("replay", [Figure(path, text) for text, path in pictures.items()]),
                    Lines(notes),
                ],
            ),
            Section("made", "How it was made", [Facts(facts(results))]),
        ],
    )
    pages.write(page, folder / PAGE)
    said = [summary.render(), *([tested.render()] if tests else []), "\n".join([*words, *warnings])]
    return WrittenReport(folder / PAGE, "\n\n".join(said).rstrip())


SCORES = "The best score of each search, with the mean"
FITTED = (
    "UCB1's own, 1.41, which is made for scores from 0 to 1: as in playtests, searches divide scores by the range of "
    'those that they have seen (unless the game\'s description says scores = "raw")'
)
GROWTH = "The best score so far over the rollouts, mean and standard deviation"
ONE_GAME = "The score of the one game that each search played, with the mean"
HIDDEN = (
    "note: players cannot know what the seed decides, so each search plays one game, move by move, and its score is "
    "that of this game, not the best of its rollouts"
)
NOTHING = "one combination: nothing to compare"


def subtitle(results: ExperimentResults) -> str:
    """Describe how much was searched."""
    experiment = results.experiment
    most = max(cell.search.rollouts for cell in experiment.cells)
    wanted = len(experiment.cells) * experiment.replicates * experiment.levels
    part = "" if len(results.records) == wanted else f", of which {len(results.records)} are finished"
    return f"{counted(wanted, 'search', 'searches')} of up to {counted(most, 'rollout')}{part}"


def facts(results: ExperimentResults) -> dict[str, str]:
    """Return the facts on how the experiment was made, by name, as text."""
    from persona_evo.store.versions import versions

    experiment = results.experiment
    protected = guards(parse(cell.score) for cell in experiment.cells if cell.score)
    return {
        "game": experiment.game,
        "seed": str(experiment.seed),
        "replicates": str(experiment.replicates) + (" in each level" if experiment.levels > 1 else ""),
        "combinations": "\n".join(f"{cell.label}: {_said(cell)}" for cell in experiment.cells),
        **({"UCT constant": FITTED} if any(map(experiment.is_fitted, experiment.cells)) else {}),
        **({"formulas": protected} if protected else {}),
        "versions": ", ".join(f"{name} {value}" for name, value in versions().items()),
    }


def _said(cell: Cell) -> str:
    s = cell.search
    settings = ", ".join(f"{k} = {v}" for k, v in cell.settings.items())
    inside = " inside the root" if s.constant == "inside" else ""
    whole = ", best paths saved whole" if s.save_best_path else ""
    return "; ".join(
        filter(
            None,
            (
                f"level {cell.level}" if cell.level else "",
                settings,
                f"{cell.goal}, {counted(s.rollouts, 'rollout')}, "
                f"{s.workers} at once, UCT constant {s.uct_constant:g}{inside}, "
                f"known ends {s.terminal.replace('_', ' ')}{whole}",
            ),
        )
    )


def summary_table(found: Sequence[CellSummary]) -> Table:
    """Tabulate the best scores of each combination, and their goal if that is not the same for all."""
    several = len({s.goal for s in found}) > 1
    rows = [
        [
            s.cell,
            *([s.goal] if several else []),
            str(s.n),
            tables.mean(s.mean),
            f"{s.deviation:.{tables.decimals(s.mean.value)}f}",
            f"{s.median:g}",
            f"{s.low:g} to {s.high:g}",
            f"{s.rollouts:,.0f}",
            f"{s.seconds:.1f} s",
        ]
        for s in found
    ]
    notes = ["mean ± half the 95 % interval; the middle half between the quartiles"]
    proven = sum(s.proven for s in found)
    if proven:
        notes.append(f"{counted(proven, 'search', 'searches')} proved that no way to play scores more")
    heads = [
        "",
        *(["searched for"] if several else []),
        "searches",
        "mean",
        "deviation",
        "median",
        "middle half",
        "rollouts",
        "time",
    ]
    return Table("best scores", heads, rows, notes, left=frozenset((0, 1)) if several else frozenset())


def _where(experiment: Experiment, record: SearchRecord) -> str:
    """Return which search of its combination a record is, in words."""
    number = record.replicate // experiment.levels
    level = f" in {record.best.level}" if experiment.levels > 1 else ""
    return f"replicate {number + 1}{level}"


def write_tables(
    results: ExperimentResults,
    folder: Path,
    found: Sequence[CellSummary],
    tests: Sequence[CellComparison],
    prefix: str = "",
) -> None:
    """Write the CSV files."""
    csv_rows.write_csv(
        folder / f"{prefix}summary.csv",
        [
            {
                "cell": s.cell,
                "goal": s.goal,
                "searches": s.n,
                "mean": s.mean.value,
                "low": s.mean.low,
                "high": s.mean.high,
                "deviation": s.deviation,
                "quartile1": s.low,
                "median": s.median,
                "quartile3": s.high,
                "rollouts": s.rollouts,
                "seconds": s.seconds,
                "proven": s.proven,
            }
            for s in found
        ],
    )
    if tests:
        csv_rows.write_csv(folder / f"{prefix}comparisons.csv", comparison_rows(tests))
    rows: list[dict[str, Any]] = []
    for cell in results.experiment.cells:
        records = results.of(cell)
        if records:
            grown = curve(records, cell.search.rollouts)
            rows += [
                {"cell": cell.label, "rollout": int(n), "mean": m, "deviation": d}
                for n, m, d in zip(*grown, strict=True)
            ]
    csv_rows.write_csv(folder / f"{prefix}growth.csv", rows)


def growth_figure(results: ExperimentResults, folder: Path, prefix: str = "") -> Styled:
    """Return the charts of all searches, a row for each goal.

    They are also saved to a folder, in files whose names begin with `prefix`.
    """
    rows: list[Any] = []
    hidden = hides(results.experiment)
    for number, *both in _growth(results):
        shown = list(zip(("scores", "growth"), both, (ONE_GAME if hidden else SCORES, GROWTH), strict=True))
        shown = shown[:1] if hidden else shown
        for word, chart, _ in shown:
            charts.save(chart, folder / f"{prefix}{word}{number or ''}.svg")
        rows.append(Gallery("chart", [Svg(chart, caption) for _, chart, caption in shown]))
    return Styled("growth", rows)


def hides(experiment: Experiment) -> bool:
    """Return whether the seed decides what players cannot know, so that a search plays one game and nothing grows."""
    from persona_evo.connect import description_file

    if not experiment.connected or not experiment.game.endswith(".toml"):
        return False
    try:
        return description_file.read(Path(experiment.game)).worlds > 0
    except InputError:
        return False  # the description has moved since


def drawings(results: ExperimentResults) -> list[Drawing]:
    """Return the figures of an experiment: best scores, and how they grow."""
    return [
        Drawing((f"{word}{number or ''}",), chart)
        for number, *both in _growth(results)
        for word, chart in zip(("scores", "growth"), both, strict=True)
    ]


def _growth(results: ExperimentResults) -> Iterator[tuple[int, charts.Plot, charts.Plot]]:
    """Yield, for each goal, its number from 0, the chart of best scores and the chart of their growth.

    Each goal has its own axes.
    """
    cells = [cell for cell in results.experiment.cells if results.of(cell)]
    goals = results.experiment.goals()
    for number, (goal, own) in enumerate(goals.items()):
        shown = [cell for cell in own if cell in cells]
        if shown:
            yield number, *_charts(results, shown, cells, goal if len(goals) > 1 else "")


def _charts(
    results: ExperimentResults, shown: Sequence[Cell], every: Sequence[Cell], title: str
) -> tuple[charts.Plot, charts.Plot]:
    """Draw the scores of one goal's cells and their growth; a cell's colour is that of its place in `every`."""
    dots, lines = [], []
    for at, cell in enumerate(shown):
        records, colour = results.of(cell), every.index(cell)
        scores = [record.score for record in records]
        spread = [(at + (k % 7 - 3) * 0.045, score) for k, score in enumerate(scores)]
        mean = float(np.mean(scores))
        dots += [
            charts.Series("", spread, "dots", colour),
            charts.Series("", [(at - 0.3, mean), (at + 0.3, mean)], "line", colour),
        ]
        grown = [(float(n), float(m), float(d)) for n, m, d in zip(*curve(records, cell.search.rollouts), strict=True)]
        lines.append(
            charts.Series(
                cell.label, [(n, m) for n, m, _ in grown], "line", colour, band=[(n, m - d, m + d) for n, m, d in grown]
            )
        )
    names = [cell.label for cell in shown]
    width = max(336, 90 + 34 * len(names))
    return (
        charts.Plot(dots, charts.Axis(names=names), charts.Axis("best score"), title=title, width=width),
        charts.Plot(lines, charts.Axis("rollouts", low=0), charts.Axis("best score so far"), title=title),
    )


def _best(results: ExperimentResults, folder: Path, progress: Tell | None) -> tuple[list[str], dict[str, Path]]:
    """Write the best trace of each combination, and draw it if the game can be drawn."""
    experiment, names = results.experiment, Names(folder)
    notes, pictures = [], {}
    for cell in experiment.cells:
        records = results.of(cell)
        if not records:
            continue
        best = max(records, key=lambda r: (r.score, -r.replicate))
        file = names.file(cell.label, suffix=".json")
        best.best.save(file)
        text = f"{cell.label}: {best.score:g} in {len(best.best.pairs)} decisions"
        notes.append(f"{text}, {_where(experiment, best)}: best/{file.name}")
        if experiment.connected:
            continue
        _tell(progress, cell.label)
        stage = cell.open(experiment.game, best.replicate)
        try:
            gif = draw(stage.game, stage.level, best, file.with_suffix(".gif"))
        except VerificationError as e:
            notes.append(f"no replay of {cell.label}: {e}")
            continue
        if gif is not None:
            pictures[text] = gif
    return notes, pictures


def draw(game: Game, level: Level, record: SearchRecord, path: Path) -> Path | None:
    """Draw the best way to play as an animated picture; return None if the game does not draw its states.

    Raises:
        VerificationError: the replay ends differently than in the search.
    """
    choices = [choice for choice, _ in record.best.pairs]
    actions = tuple(LocalPool(game, level).actions(choices))
    outcome = game.over(level, game.replay(level, actions)[-1])
    plan = Plan(
        actions,
        record.score,
        record.best.metrics,
        outcome,
        record.rollouts,
        record.nodes,
        record.seconds,
        record.stopped,
        record.proven,
        0,
    )
    pictures = replay.frames(game, level, playthrough(game, level, plan))
    return replay.save_gif(pictures, path) if pictures else None


def _tell(progress: Tell | None, text: str) -> None:
    if progress is not None:
        progress(text)
