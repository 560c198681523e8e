"""Let the same personas play two versions of a level, and say in words what differs.

A and B may also be several levels each: folders, sets, or ranges of seeds such as MAP@11-20 and MAP:VARIANT@11-20. They
are compared in pairs of the same seed, name or place, and what is said holds for other levels of the kind.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options, playtest, playtest_options
from persona_evo.cli.parser import Commands, filled
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.jobs.windows import command_line
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level
    from persona_evo.jobs.workers import Workers

ROOT = Path("runs") / "comparisons"
"""The folder of comparisons without a named folder."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("compare", description=__doc__, epilog=playtest_options.SKILL_TABLE)
    parser.add_argument("a", type=filled, metavar="A", help="a level, or several")
    parser.add_argument("b", type=filled, metavar="B", help="another level or version of it, or as many others")
    playtest_options.add_playing(parser)
    parser.add_argument(
        "--all", action="store_true", help="also print everything that was compared, in words and in a table"
    )
    options.add_out(
        parser,
        "folder for the page, maps, tables and traces; one that holds the beginning of the same "
        "comparison is continued (default: a new one below runs/comparisons/)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play both versions, print the answer and write the page."""
    options.check_backend(args)
    with playtest.workers_of(args, 2) as workers:
        return _run(args, workers)


def _run(args: argparse.Namespace, workers: Workers) -> int:
    game = option_values.game_of(args)
    from persona_evo.api.playtests import compare_paired
    from persona_evo.report import tables
    from persona_evo.statistics import too_few_pairs

    pairs = _pairs(args, game)
    if all(a.text == b.text and a.options == b.options for a, b in pairs):
        say("A and B are the same level: there is nothing to compare")
        return 0
    folder = args.out or option_values.new_folder(ROOT, [level.name for level in pairs[0]])
    players, search = option_values.players_of(args, game), option_values.search_options(args)
    few = too_few_pairs(len(pairs), len(players)) if len(pairs) > 1 else ""
    if few:
        among = f" for {counted(len(players), 'player')}" if len(players) > 1 else ""
        note(f"win rates will not be comparable: {few}{among}")
    comparison = compare_paired(pairs, players, **search, **playtest.playing(args, game, folder, workers))
    results = comparison.results
    results.command = option_values.typed(args, results.seed)
    option_values.report_findings(game)
    if not results.complete:
        note(f"stopped; kept in {folder}: {counted(len(results.records), 'playthrough')}")
        again = "" if args.out else f" --out {command_line([str(folder)])}"
        note(f"resume with: {results.command}{again}")
        return 130
    results.look(workers=workers)
    for sentence in comparison.answer.lines:
        say(sentence)
    if args.all:
        say("\n" + "\n".join(f"- {sentence}" for sentence in comparison.sentences))
        say("\n" + tables.comparison_table(comparison.rows, "A and B").render())
    line = StatusLine()
    page = comparison.write(folder, workers=workers, progress=line.show)
    StatusLine.done_with_line()
    note(f"the page is {page}; seed {results.seed}, {counted(args.trials, 'trial')} of each player in each level")
    return 0


def _pairs(args: argparse.Namespace, game: Game) -> list[tuple[Level, Level]]:
    """Load the levels of A and B, and say which are compared."""
    from persona_evo.api.comparison import named_pairs
    from persona_evo.api.naming import paired_levels

    pairs = paired_levels(game, args.a, args.b, **option_values.options_of(args, game))
    option_values.tell_warnings([level for pair in pairs for level in pair])
    if len(pairs) == 1:
        for letter, level in zip("AB", pairs[0], strict=True):
            note(f"{letter} = {level.name}" + (f" ({level.source})" if level.source else ""))
        return pairs
    note(named_pairs(pairs).words)
    return pairs
