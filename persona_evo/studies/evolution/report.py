"""The report of the study of evolution: goals, comparisons, curves and matrices.

| file | what |
|---|---|
| index.html | the page |
| README.md | the same in Markdown |
| figures/*.png | learning curves and budget curves |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from persona_evo.jobs import files
from persona_evo.personas import load as load_persona
from persona_evo.report import figures, pages
from persona_evo.report.cell_comparisons import higher_words
from persona_evo.report.figures import Drawing, Heat
from persona_evo.report.markdown import markdown
from persona_evo.report.pages import Document, Facts, Gallery, Lines, Section, Svg, Text
from persona_evo.report.tables import NONE, Table
from persona_evo.report.written import WrittenReport
from persona_evo.store.versions import versions
from persona_evo.studies.evolution import curves, findings, levels, measuring, study
from persona_evo.studies.evolution.choices import LINE, SEED, Choices
from persona_evo.studies.evolution.curves import title_of
from persona_evo.studies.evolution.findings import PolicyComparison, signed
from persona_evo.studies.evolution.levels import HELD_OUT, OTHERS, PAPER, LevelSet
from persona_evo.studies.evolution.measuring import RunMeasurement
from persona_evo.studies.evolution.settings import METHODS, SEEDED, SETTINGS, MethodCell, StudySettings, study_game
from persona_evo.studies.evolution.stages import ENOUGH, TRANSFERRED, budgeted
from persona_evo.words import counted, percent

SETS = {HELD_OUT: "held-out levels", PAPER: "the paper's maps", OTHERS: "levels of other designers"}
WORDS = {
    "line": "a formula that was written by hand, in one line; its constants are tuned on the training levels",
    "best line": "the line of a persona that is best on the training levels",
    "best seed": "the best on the training levels of the formulas that an evolution with seeds starts from",
    "shipped policy": "the policy that shipped when the study began; the planner adds its default lists",
    "no policy": "the planner with its default lists and the utility alone",
    "run": "one search for a policy, by a method and with a seed of its own",
    "cell": "all runs of a method for a persona in a setting",
}
VERDICTS = {True: "met", False: "missed", None: "not measured"}


def seconds(folder: Path) -> float:
    """Return the seconds that the report of what is kept takes on an idle processor: 11.7 for 2,000 lines."""
    return 0.8 + 0.006 * sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))


def write(folder: Path, settings: StudySettings, progress: Callable[[str], None] | None = None) -> WrittenReport:
    """Write the report into the study's folder and replace files of the same names."""
    c = Choices.of(folder, settings, with_measured(folder))
    goals, drawn = goal_table(c), [*curves.learning(c), *curves.budgets(c)]
    images = figures.save(drawn, folder / "figures", "png", progress) if drawn else []
    parts = [
        Section("goals", "The goals", [*goal_parts(c), progress_table(c)], "Goals"),
        Section("words", "What the words mean", [Facts(WORDS)], "Words"),
        Section("nothing", "Where evolution gains nothing", [Lines(findings.nothing_gained(c))], "No gain"),
        *(Section(name, f"Setting {name}", tables_of(c, name)) for name in settings.chosen),
        Section("wins", "Wins of the planner, level by level", [wins(c)], "Wins"),
        Section("learning", "Learning curves", [_gallery(drawn, "learning")]),
        Section("budgets", "More and less search", [_gallery(drawn, "budgets"), *budget_tables(c)], "Budgets"),
        Section("transfer", "Whose policy serves whom", [transfer(c), own_metric(c)], "Transfer"),
        Section("policies", "Policies", [lines_table(c), chosen(c)]),
        Section("made", "How it was made", [Facts(facts(c))]),
    ]
    page = Document("What an evolution is worth", f"{study_game().title}, seed {settings.seed}", parts)
    path = pages.write(page, folder / "index.html", embed=False)
    pictures = {id(d.content): f"{f.parent.name}/{f.name}" for d, f in zip(drawn, images, strict=True)}
    files.write_atomically(folder / "README.md", markdown(page, pictures))
    return WrittenReport(path, goals.render())


def with_measured(folder: Path) -> levels.Levels:
    """Return the levels of a study, with the names of the sets on which policies were measured."""
    sets = {p.levels: LevelSet(p.levels, (), p.digest) for p in measuring.read(folder) if p.levels in (PAPER, OTHERS)}
    return levels.read(folder, sets)


def goal_table(c: Choices) -> Table:
    """Return a table of the goals and their results, for a terminal."""
    rows = [[goal.text, VERDICTS[goal.met], goal.why or NONE] for goal in findings.goals(c)]
    return Table("Goals", ["goal", "", "result"], rows, [_INTERVALS], left=frozenset({1, 2}))


def goal_parts(c: Choices) -> list[Table | Lines]:
    """Return the goals for a page: a short table of the goals that are met, and sentences with the results."""
    found = findings.goals(c)
    table = Table("Goals", ["goal", ""], [[goal.text, VERDICTS[goal.met]] for goal in found], left=frozenset({1}))
    return [table, Lines([*(f"{goal.text}: {goal.why}" for goal in found if goal.why), _INTERVALS])]


_INTERVALS = (
    "Differences of the mean utility over runs and levels, with 95 % intervals: bootstrap over runs and "
    "levels, paired by level and seed."
)


_FEWER = f"Above {ENOUGH:,} iterations, fewer levels are played, so compare within a column."
_HIGHER = (
    "After the semicolon: the share of levels in which the mean of the runs is higher, with its 95 % interval for "
    "other levels; ties count half."
)


def progress_table(c: Choices) -> Table:
    """Return a table of the finished runs of each cell and their cost."""
    rows = []
    for setting in c.settings.chosen:
        for method in c.settings.chosen[setting].methods:
            runs = [
                run
                for cell, found in c.runs.items()
                for run in found
                if (cell.setting, cell.method) == (setting, method)
            ]
            if runs:
                rows.append(
                    [
                        setting,
                        METHODS[method],
                        f"{len(runs)} of {c.settings.runs * len(c.settings.personas)}",
                        f"{fmean(r.playthroughs for r in runs):,.0f}",
                        f"{fmean(r.seconds for r in runs):.1f}",
                        f"{max(r.seconds for r in runs):.1f}",
                    ]
                )
    heads = ["setting", "method", "runs", "playthroughs", "core-seconds", "longest"]
    note = "Playthroughs and core-seconds are means of a run."
    return Table("Runs", heads, rows, [note], left=frozenset({1}), keys=2)


# settings


def _in_words(c: Choices, setting: str) -> str:
    how, s = SETTINGS[setting], c.settings
    where = f"{s.iterations[setting]:,} iterations"
    moves = f"Play from move to move, {where} a move, as far ahead as a game goes, without errors (--skill full-sight)"
    what = f"Search preset {how.search}, {where} a playthrough" if how.search else moves
    return f"{what}; {s.playthroughs[setting]:,} playthroughs a run."


def tables_of(c: Choices, setting: str) -> list[Table | Text]:
    """Return how policies play, then means and differences on each set of levels that was measured."""
    found: list[Table | Text] = [Text(_in_words(c, setting))]
    for where, words in SETS.items():
        if where == HELD_OUT or where in c.levels.named:
            found += [means(c, setting, where, words), differences(c, setting, where, words)]
        else:
            found.append(Text(f"Not measured on {words}: name them with --{_OPTIONS[where]}.", "dim"))
    return found


_OPTIONS = {PAPER: "paper", OTHERS: "levels"}


def means(c: Choices, setting: str, where: str, words: str) -> Table:
    """Return a table of mean utility and win rate of all policies in a setting."""
    names = c.references(setting)
    rows = []
    for persona in c.settings.personas:
        row = [title_of(persona), f"{curves.best_known(c, persona):.3f}" if where == HELD_OUT else NONE]
        for what in names:
            one = findings.of_reference(c, what, setting, persona, where)
            row.append(NONE if one is None else _mean([one]))
        for method in c.methods(setting):
            runs = findings.measured(c, MethodCell(setting, method, persona), where)
            row.append(_mean(runs) if runs else NONE)
        rows.append(row)
    heads = ["", "best known", *names, *(METHODS[m] for m in c.methods(setting))]
    return Table(f"{setting}, {words}: mean utility (win rate)", heads, rows)


def _mean(measures: Sequence[RunMeasurement]) -> str:
    return f"{fmean(m.utility for m in measures):.3f} ({percent(fmean(m.win_rate for m in measures))})"


def differences(c: Choices, setting: str, where: str, words: str) -> Table:
    """Return a table that compares the runs of each cell with each policy."""
    names = c.references(setting)
    known = {(one.cell, one.against): one for one in findings.comparisons(c, setting, where)}
    rows = []
    for persona in c.settings.personas:
        for method in c.methods(setting):
            cell = MethodCell(setting, method, persona)
            found = [known.get((cell, what)) for what in names]
            if any(found):
                gains = [NONE if one is None else _gain(one).replace(" ", "\u00a0") for one in found]
                rows.append([title_of(persona), METHODS[method], *gains])
    heads = ["", "", *(f"against {findings.spoken(what)}" for what in names)]
    return Table(f"{setting}, {words}: difference", heads, rows, [_INTERVALS, _HIGHER], left=frozenset({1}), keys=2)


def _gain(one: PolicyComparison) -> str:
    """Format a comparison: the difference, and the share of levels in which the runs score more."""
    return f"{signed(one.gain)}; {higher_words(one.effect)}"


def wins(c: Choices) -> Table:
    """Return a table of the levels in which evolved lists win less often than UCB1."""
    rows = []
    for setting, how in c.settings.chosen.items():
        for persona in c.settings.personas if how.lists else ():
            for trials in c.settings.wins:
                found = findings.fewer_wins(c, setting, persona, trials)
                if found is not None:
                    worst = found[0].text if found else NONE
                    rare = sum(row.p < findings.RARE for row in found)
                    rows.append([setting, title_of(persona), str(trials), str(len(found)), str(rare), worst])
    heads = ["setting", "persona", "trials", "levels with fewer wins", f"p < {findings.RARE:g}", "the clearest"]
    note = "The trials are shared by all runs. One-sided exact test of Fisher."
    return Table("Evolved lists against UCB1", heads, rows, [note], left=frozenset({1, 5}), keys=3)


# budgets, transfer


def budget_tables(c: Choices) -> list[Table]:
    """Return tables of mean utility on held-out levels over iterations, and of losses with much search."""
    found = []
    for search, settings in budgeted(c).items():
        rows = []
        for persona in c.settings.personas:
            for name, points in curves.budget_lines(c, settings, persona).items():
                known = dict(points)
                rows.append(
                    [title_of(persona), name, *(f"{known[n]:.3f}" if n in known else NONE for n in c.settings.budgets)]
                )
        heads = ["", "", *(f"{n:,}" for n in c.settings.budgets)]
        title = f"Search {search}: mean utility by iterations"
        found.append(Table(title, heads, rows, [_FEWER], left=frozenset({1}), keys=2))
    return found


def transfer(c: Choices) -> Table:
    """Return a table of the chosen policy of each persona (columns) under the utility of each (rows)."""
    personas = c.settings.personas
    runs = {p: c.chosen_run(MethodCell(TRANSFERRED, SEEDED, p)) for p in personas}
    rows = []
    for persona in personas:
        row = [title_of(persona)]
        for theirs in personas:
            run = runs[theirs]
            one = None if run is None else c.known.get(c.probe(TRANSFERRED, persona, run.policy))
            row.append(NONE if one is None else f"{one.utility:.3f}")
        rows.append(row)
    note = (
        "Rows: whose utility counts. Columns: whose policy plays. Other games have other metrics, so that no "
        "policy can be tried there."
    )
    return Table(f"Transfer, {TRANSFERRED}, held-out levels", ["", *map(title_of, personas)], rows, [note])


def own_metric(c: Choices) -> Table:
    """Return a table of the mean of each persona's own metric over the runs of each persona, from move to move."""
    found = findings.in_own_metric(c, "casual") or {}
    rows = [
        [
            f"{load_persona(persona, study_game()).priority} of the {title_of(persona)}",
            *(f"{value:.3f}" for value in row.values()),
        ]
        for persona, row in found.items()
    ]
    heads = ["", *map(title_of, c.settings.personas)]
    return Table("casual: own metrics, by who plays", heads, rows)


# policies


def lines_table(c: Choices) -> Table:
    """Return a table of the lines and seeds that were chosen on the training levels."""
    rows = []
    for setting in c.settings.chosen:
        for persona in c.settings.personas:
            for what, probes in (
                (LINE, c.line_probes(setting, persona)),
                (SEED, c.seed_probes(setting, persona) if setting == "single" else []),
            ):
                text = c.reference(what, setting, persona) if probes else None
                if text is not None:
                    known = next(c.known[p] for p in probes if p.policy == text)
                    rows.append([setting, title_of(persona), what, text, f"{known.utility:.3f}", str(len(probes))])
    heads = ["setting", "persona", "", "policy", "training utility", "among"]
    return Table("Chosen on the training levels", heads, rows, left=frozenset({1, 2, 3}), keys=3)


def chosen(c: Choices) -> Table:
    """Return a table of the run of each cell that is best on the validation levels."""
    rows = []
    for cell in c.runs:
        run = c.chosen_run(cell)
        if run is not None:
            rows.append(
                [
                    cell.setting,
                    METHODS[cell.method],
                    title_of(cell.persona),
                    str(run.number),
                    f"{run.validation:.3f}",
                    run.policy,
                ]
            )
    heads = ["setting", "method", "persona", "run", "validation", "policy"]
    return Table("The best run of each cell by validation", heads, rows, left=frozenset({1, 2, 5}), keys=3)


def facts(c: Choices) -> dict[str, str]:
    """Return seeds, sizes and versions."""
    s = c.settings
    folders = [f"--{option} FOLDER" for name, option in _OPTIONS.items() if name in c.levels.named]
    options = [*["--quick"] * s.quick, f"--seed {s.seed}", *folders]
    return {
        "command": " ".join(["persona-evo reproduce evolution", *options]),
        "runs": f"{s.runs} of each method, persona and setting",
        "levels": f"{s.training} to train on, {s.validation} to choose by, {s.held_out} held out",
        "playthroughs": f"{counted(s.trials, 'playthrough')} of each level where a policy is measured",
        "core-seconds": f"{sum(run.seconds for runs in c.runs.values() for run in runs):,.0f} in all runs",
        "stages": ", ".join(study.STAGES),
        "versions": ", ".join(f"{k} {v}" for k, v in versions(study_game()).items()),
    }


def _gallery(drawn: Sequence[Drawing], kind: str) -> Gallery:
    return Gallery(
        "chart",
        [
            Svg(d.content, " ".join(d.name[1:]).replace("_", " "))
            for d in drawn
            if d.name[0] == kind and not isinstance(d.content, Heat)
        ],
    )
