"""Search for the best scores that players can reach in variants of a game, and compare them.

  persona-evo experiment new NAME          write a commented file to start from
  persona-evo experiment FILE.toml         run all searches; the same command resumes them after a stop
  persona-evo experiment replay FOLDER     show the best playthrough of a combination

Each combination of a variant and a player is searched several times (replicates) for the best score. The page shows the
best scores, how they grow with the number of rollouts, and which combinations differ (Mann-Whitney U, corrected by
Holm's method). The game is one of the catalog or a connected game.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled, number, path, whole
from persona_evo.cli.say import StatusLine, note, say, teller
from persona_evo.cli.template_file import write_template
from persona_evo.errors import ConnectError, GameError, Place, SettingsError, unknown
from persona_evo.jobs.windows import program
from persona_evo.words import counted, percent

if TYPE_CHECKING:
    from persona_evo.experiments.design import Experiment
    from persona_evo.experiments.job import SearchRecord
    from persona_evo.jobs.progress import Progress

ROOT = Path("runs") / "experiments"
"""The folder of experiments without a named folder."""

MANY = 100
"""The number of levels from which on the command says how many it has loaded."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("experiment", description=__doc__)
    parser.add_argument(
        "what", type=filled, metavar="FILE.toml|new|replay", help="the file of an experiment, new or replay"
    )
    parser.add_argument(
        "name",
        nargs="?",
        type=filled,
        metavar="NAME|FOLDER",
        help="with new: name of the experiment; with replay: folder of an experiment",
    )
    parser.add_argument(
        "--replicates", type=whole(1, 10_000), metavar="N", help="number of replicates, instead of the one in the file"
    )
    parser.add_argument(
        "--rollouts",
        type=whole(1, 100_000_000),
        metavar="N",
        help="number of rollouts of each search, instead of the one in the file",
    )
    options.add_jobs(parser)
    parser.add_argument(
        "-o",
        "--out",
        type=path,
        metavar="PATH",
        help="folder for everything (default: "
        "runs/experiments/NAME); with new, the file; with replay, the picture, NAME.gif",
    )
    parser.add_argument("--force", action="store_true", help="with new: overwrite an existing file")
    parser.add_argument(
        "--cell",
        type=filled,
        metavar="NAME",
        help="with replay: "
        "the combination, such as 'hard / lazy' (default: the one with the best score for the first goal)",
    )
    parser.add_argument(
        "--delay",
        type=number(0, 3600),
        metavar="S",
        help="with replay: seconds before each decision of a connected game (default: no delay)",
    )
    parser.add_argument("--no-screen", action="store_true", help="with replay: do not open a connected game's window")
    options.add_trust(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write a template, run an experiment, or show its best way to play."""
    if args.what in ("new", "replay"):
        if args.name is None:
            raise SettingsError(
                f"experiment {args.what} needs a name",
                expected="experiment new NAME" if args.what == "new" else "experiment replay FOLDER",
            )
        return _new(args) if args.what == "new" else _replay(args)
    if args.name is not None:
        raise SettingsError("too many arguments", found=args.name, expected="one FILE.toml")
    return _make(args)


def _new(args: argparse.Namespace) -> int:
    from persona_evo.api.experiments import experiment_template

    target = write_template(args, "an experiment", ".toml", experiment_template, SettingsError)
    say(f"wrote {target}; edit it, then  {program('experiment', target)}")
    return 0


def _make(args: argparse.Namespace) -> int:
    from persona_evo.api.experiments import kept_experiment, read_experiment, search_all, write_experiment
    from persona_evo.statistics import too_few_pairs

    experiment = read_experiment(args.what, args.replicates, args.rollouts)
    folder = args.out or ROOT / experiment.name
    if experiment.connected:
        option_values.check_outside(experiment.game)
    levels = f" x {experiment.levels} levels" if experiment.levels > 1 else ""
    note(
        f"{experiment.title}: {counted(len(experiment.cells), 'combination')} x "
        f"{counted(experiment.replicates, 'replicate')}{levels}, into {folder}"
    )
    compared = len(experiment.pairs())
    few = too_few_pairs(experiment.levels, compared) if experiment.levels > 1 and compared else ""
    if few:
        note(f"nothing will be comparable: {few} for {counted(compared, 'comparison')}")
    if any(map(experiment.is_fitted, experiment.cells)):
        note(
            "UCB1's constant is 1.41, and searches divide scores by the range of those they have seen, as in playtests"
        )
    wanted = counted(len(experiment.tasks()), "search")
    try:
        jobs = option_values.jobs_of(args)
        results = search_all(experiment, folder, jobs=jobs, progress=teller(_in_words), loading=_loading())
    except (ConnectError, GameError):
        StatusLine.done_with_line()
        done = len(kept_experiment(folder).records) if folder.is_dir() else 0
        if done:
            note(f"kept in {folder}: {done} of {wanted}; the same command continues with the next one")
        raise
    StatusLine.done_with_line()
    if not results.complete:
        note(f"stopped; kept in {folder}: {len(results.records)} of {wanted}; the same command continues")
        return 130
    line = StatusLine()
    written = write_experiment(results, folder, lambda text: line.show(f"drawing {text}"))
    StatusLine.done_with_line()
    say(written.text)
    say(f"\neverything is in {folder}, start with {written.page}")
    return 0


def _replay(args: argparse.Namespace) -> int:
    from persona_evo.api.experiments import kept_experiment
    from persona_evo.report import experiment as report

    folder = Path(args.name)
    options.check_gif(args.out)
    options.accept(args, folder)
    kept = kept_experiment(folder)
    experiment, records = kept.experiment, kept.records
    if args.cell is not None:
        labels = [cell.label for cell in experiment.cells]
        if args.cell not in labels:
            expected, hint = unknown(args.cell, labels)
            raise SettingsError("no such combination", found=args.cell, expected=expected, hint=hint)
        records = [record for record in records if record.cell == args.cell]
    if not records:
        raise SettingsError("nothing has been searched yet", place=Place(str(folder)), hint="run the experiment first")
    best = _best(records, experiment)
    cell = next(cell for cell in experiment.cells if cell.label == best.cell)
    opened = cell.open(experiment.game, best.replicate)
    try:
        said = f"{best.cell}: score {best.score:g} in {counted(len(best.best.pairs), 'decision')}"
        if experiment.connected:
            opened.replay(best.best, not args.no_screen, args.delay)
            say(f"{said}, as in the search")
        else:
            target = args.out or folder / "replay.gif"
            drawn = report.draw(opened.game, opened.level, best, target)
            say(f"{said}: {' '.join(str(choice) for choice, _ in best.best.pairs)}")
            say(f"wrote {drawn}" if drawn else f"{opened.game.title} does not draw its states")
    finally:
        opened.close()
    return 0


def _best(records: Sequence[SearchRecord], experiment: Experiment) -> SearchRecord:
    """Return the search with the best score; if combinations have several goals, only the first goal's count."""
    searched = {cell.label: cell.goal for cell in experiment.cells}
    goals = list(dict.fromkeys(searched[record.cell] for record in records))
    if len(goals) > 1:
        note(
            f"showing the best for {goals[0]}; scores of other goals cannot be compared with it: choose their "
            "combinations with --cell"
        )
    return max((r for r in records if searched[r.cell] == goals[0]), key=lambda r: (r.score, -r.replicate))


def _loading() -> Callable[[int, int], None]:
    """Return a function that shows how many levels are loaded, if there are many."""
    line = StatusLine(every=5.0)

    def tell(number: int, total: int) -> None:
        if total >= MANY:
            line.show(f"loading levels: {number:,} of {total:,}", last=number == total)

    return tell


def _in_words(p: Progress) -> str:
    return f"{percent(p.share)}: {p.what}; {p.done:,} of {p.total:,} rollouts"
