"""The report of an experiment.

| file | what |
|---|---|
| index.html | the page, complete in itself |
| figures/growth.png | the best scores of all searches, and how they grow: mean and standard deviation |
| tables/summary.csv, comparisons.csv, growth.csv | the numbers |
| best/CELL.json, CELL.gif | the best way to play of each combination; `persona-evo experiment replay` shows it |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from persona_evo.connect.within import Within
from persona_evo.errors import VerificationError
from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.games.core import Game, Level
from persona_evo.playtest.experiment.course import Record, Results
from persona_evo.playtest.experiment.design import Cell
from persona_evo.playtest.experiment.results import (
    CORRECTION,
    Comparison,
    Summary,
    apart,
    comparisons,
    curve,
    p_words,
    summaries,
    unfit_constants,
)  # fmt: skip
from persona_evo.playtest.playing import record as playthrough
from persona_evo.report import html, plots, replay, tables
from persona_evo.report.folder import Names
from persona_evo.report.tables import Table
from persona_evo.report.written import Report
from persona_evo.search.plan import Plan
from persona_evo.store import schema
from persona_evo.words import counted

PAGE = "index.html"
Tell = Callable[[str], None]


def write(results: Results, folder: Path, progress: Tell | None = None) -> Report:
    """Write the report into a folder; files of the same names are written anew."""
    experiment = results.experiment
    found, tests = summaries(results), comparisons(results)
    for name in ("figures", "tables", "best"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    _tell(progress, "growth")
    picture = growth_figure(results, folder / "figures" / "growth.png")
    write_tables(results, folder / "tables", found, tests)
    notes, pictures = _best(results, folder / "best", progress)
    summary = summary_table(found)
    tested = comparison_table(tests)
    words = [*(c.words() for c in tests), *apart(results)]
    warnings = [f"note: {text}" for text in unfit_constants(results)]
    parts = [
        html.section("says", "What it says", html.lines([*(words or [NOTHING]), *warnings]),
                     html.table(tested) if tests else ""),
        html.section("growth", "Best scores", html.figure(picture, CAPTION), html.table(summary)),
        html.section("best", "Best ways to play", _gallery(pictures), html.lines(notes)),
        html.section("made", "How it was made", html.facts(facts(results))),
    ]  # fmt: skip
    links = [("#says", "what it says"), ("#growth", "best scores"), ("#best", "best ways to play"),
             ("#made", "how it was made")]  # fmt: skip
    page = folder / PAGE
    title = experiment.title
    schema.write_atomically(page, html.document(f"Experiment: {title}", subtitle(results), links, parts))
    said = [summary.render(), *([tested.render()] if tests else []), "\n".join([*words, *warnings])]
    return Report(page, "\n\n".join(said).rstrip())


CAPTION = ("Left: the best score of each search, with the mean. Right: the best score so far over the rollouts, mean "
           "and standard deviation")  # fmt: skip
NOTHING = "one combination: nothing to compare"


def subtitle(results: Results) -> str:
    """How much was searched."""
    experiment = results.experiment
    most = max(cell.search.rollouts for cell in experiment.cells)
    wanted = len(experiment.cells) * experiment.replicates
    part = "" if len(results.records) == wanted else f", of which {len(results.records)} are made"
    return f"{counted(wanted, 'search', 'searches')} of up to {counted(most, 'rollout')}{part}"


def facts(results: Results) -> dict[str, str]:
    """How the experiment was made, by name, for people."""
    from persona_evo.evolve.winner import versions

    experiment = results.experiment
    cells = {cell.label: _said(cell) for cell in experiment.cells}
    protected = guards(parse(cell.score) for cell in experiment.cells if cell.score)
    cells |= {"formulas": protected} if protected else {}
    return {
        "game": experiment.game, "seed": str(experiment.seed), "replicates": str(experiment.replicates), **cells,
        **{name: str(value) for name, value in versions().items()},
    }  # fmt: skip


def _said(cell: Cell) -> str:
    s = cell.search
    settings = ", ".join(f"{k} = {v}" for k, v in cell.settings.items())
    inside = " inside the root" if s.constant == "inside" else ""
    whole = ", best paths saved whole" if s.save_best_path else ""
    return "; ".join(filter(None, (
        f"level {cell.level}" if cell.level else "", settings, f"{cell.goal}, {counted(s.rollouts, 'rollout')}, "
        f"{s.workers} at once, UCT constant {s.uct_constant:g}{inside}, known ends {s.terminal.replace('_', ' ')}"
        f"{whole}")))  # fmt: skip


def summary_table(found: Sequence[Summary]) -> Table:
    """The best scores of each combination, and what they are scores of where that is not the same for all."""
    several = len({s.goal for s in found}) > 1
    rows = [
        [s.cell, *([s.goal] if several else []), str(s.n), tables.mean(s.mean),
         f"{s.deviation:.{tables.decimals(s.mean.value)}f}", f"{s.median:g}", f"{s.low:g} to {s.high:g}",
         f"{s.rollouts:,.0f}", f"{s.seconds:.1f} s"]
        for s in found
    ]  # fmt: skip
    notes = ["mean ± half the 95 % interval; the middle half between the quartiles"]
    proven = sum(s.proven for s in found)
    if proven:
        notes.append(f"{counted(proven, 'search', 'searches')} proved that no way to play scores more")
    heads = ["", *(["searched for"] if several else []), "searches", "mean", "deviation", "median", "middle half",
             "rollouts", "time"]  # fmt: skip
    return Table("best scores", heads, rows, notes, left=frozenset((0, 1)) if several else frozenset())


def comparison_table(tests: Sequence[Comparison]) -> Table:
    """The tests."""
    rows = [
        [c.a, c.b, f"{c.share * 100:.0f} %", f"{c.test.statistic:g}", p_words(c.test.p).removeprefix("p = "),
         p_words(c.corrected).removeprefix("p = ")]
        for c in tests
    ]  # fmt: skip
    heads = ["first", "second", "first scores more", "U", "p", "p corrected"]
    return Table("comparisons", heads, rows, [CORRECTION], left=frozenset((0, 1)), keys=2)


def write_tables(
    results: Results, folder: Path, found: Sequence[Summary], tests: Sequence[Comparison], prefix: str = ""
) -> None:
    """The CSV files."""
    tables.write_csv(folder / f"{prefix}summary.csv", [
        {"cell": s.cell, "goal": s.goal, "searches": s.n, "mean": s.mean.value, "low": s.mean.low, "high": s.mean.high,
         "deviation": s.deviation, "quartile1": s.low, "median": s.median, "quartile3": s.high, "rollouts": s.rollouts,
         "seconds": s.seconds, "proven": s.proven} for s in found
    ])  # fmt: skip
    if tests:
        tables.write_csv(folder / f"{prefix}comparisons.csv", [
            {"a": c.a, "b": c.b, "share_a_higher": c.share, "U": c.test.statistic, "p": c.test.p, "p_holm": c.corrected}
            for c in tests
        ])  # fmt: skip
    rows: list[dict[str, Any]] = []
    for cell in results.experiment.cells:
        records = results.of(cell)
        if records:
            grown = curve(records, cell.search.rollouts)
            rows += [{"cell": cell.label, "rollout": int(n), "mean": m, "deviation": d}
                     for n, m, d in zip(*grown, strict=True)]  # fmt: skip
    tables.write_csv(folder / f"{prefix}growth.csv", rows)


def growth_figure(results: Results, path: Path, title: str = "") -> Path:
    """The best scores of all searches beside each other, and how they grow; a row of panels, with axes of its own, for
    each thing that was searched for."""
    cells = [cell for cell in results.experiment.cells if results.of(cell)]
    goals = [goal for goal, own in results.experiment.goals().items() if any(cell in own for cell in cells)]
    figure = plots._figure(10.4, 4.2 * len(goals))
    rows = figure.subplots(len(goals), 2, width_ratios=[1, 1.35], squeeze=False)
    handles, names = [], []
    for goal, (left, right) in zip(goals, rows, strict=True):
        _panels(results, [cell for cell in cells if cell.goal == goal], cells, left, right)
        for ax in (left, right):
            plots._tidy(ax, "y")
        if len(goals) > 1:
            left.set_title(plots._plain(goal), loc="left", fontsize=9)
        more = right.get_legend_handles_labels()
        handles += more[0]
        names += more[1]
    figure.legend(handles, names, loc="outside lower center", ncols=min(4, len(cells)), frameon=False, fontsize=9)
    if title:
        figure.suptitle(plots._plain(title), fontsize=12)
    return plots._save(figure, path)


def _panels(results: Results, cells: Sequence[Cell], every: Sequence[Cell], left: Any, right: Any) -> None:
    """Draw the cells of one goal. every: those of all, by which a cell has its colour."""
    for at, cell in enumerate(cells):
        k = every.index(cell)
        records, colour = results.of(cell), plots._colour(k)
        _dots(left, at, records, colour)
        grown = curve(records, cell.search.rollouts)
        right.plot(grown.rollouts, grown.mean, color=colour, linewidth=1.6, label=plots._plain(cell.label),
                   linestyle="-" if k < len(plots.COLOURS) else "--")  # fmt: skip
        right.fill_between(grown.rollouts, grown.mean - grown.deviation, grown.mean + grown.deviation, color=colour,
                           alpha=0.16, linewidth=0)  # fmt: skip
    labels = [plots._plain(c.label).replace(" / ", "\n") for c in cells]
    room = max(8, 48 // len(cells))
    longest = max(len(line) for label in labels for line in label.split("\n"))
    turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if longest > room else {}
    left.set_xticks(range(len(cells)), labels, fontsize=8, **turned)
    left.set_xlim(-0.6, len(cells) - 0.4)
    left.set_ylabel("best score")
    right.set_xlabel("rollouts")
    right.set_ylabel("best score so far")


def _dots(ax: Any, k: int, records: Sequence[Record], colour: str) -> None:
    scores = np.array([r.score for r in records])
    shift = (np.arange(len(scores)) % 7 - 3) * 0.045
    ax.plot(k + shift, scores, "o", color=colour, markersize=4, alpha=0.55, markeredgewidth=0)
    mean = float(scores.mean())
    ax.plot([k - 0.3, k + 0.3], [mean, mean], color=colour, linewidth=2.2)


def _gallery(pictures: Mapping[str, Path]) -> str:
    shown = "".join(html.figure(path, text) for text, path in pictures.items())
    return f'<div class="gallery replay">{shown}</div>' if shown else ""


def _best(results: Results, folder: Path, progress: Tell | None) -> tuple[list[str], dict[str, Path]]:
    """Write the best trace of each combination, and draw those of games that can be drawn."""
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
        notes.append(f"{text}, replicate {best.replicate + 1}: best/{file.name}")
        if experiment.connected:
            continue
        _tell(progress, cell.label)
        stage = cell.open(experiment.game)
        try:
            gif = draw(stage.game, stage.level, best, file.with_suffix(".gif"))
        except VerificationError as e:
            notes.append(f"no replay of {cell.label}: {e}")
            continue
        if gif is not None:
            pictures[text] = gif
    return notes, pictures


def draw(game: Game, level: Level, record: Record, path: Path) -> Path | None:
    """The best way to play as an animated picture; None where the game does not draw its states.

    Raises:
        VerificationError: it comes to another end than when it was searched.
    """
    choices = [choice for choice, _ in record.best.pairs]
    actions = tuple(Within(game, level).actions(choices))
    outcome = game.over(level, game.replay(level, actions)[-1])
    plan = Plan(actions, record.score, record.best.metrics, outcome, record.rollouts, record.nodes, record.seconds,
                record.stopped, record.proven, 0)  # fmt: skip
    pictures = replay.frames(game, level, playthrough(game, level, plan))
    return replay.save_gif(pictures, path) if pictures else None


def _tell(progress: Tell | None, text: str) -> None:
    if progress is not None:
        progress(text)
