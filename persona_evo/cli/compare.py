"""`persona-evo compare A B`: two versions of a level, played by the same personas, and what differs in words."""

from __future__ import annotations

import argparse
from typing import Any

from persona_evo.cli import options, playtest
from persona_evo.cli.parser import filled
from persona_evo.cli.say import Progress, compiling, say
from persona_evo.errors import SettingsError
from persona_evo.words import counted


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("compare", help="two versions of a level: what differs", description=__doc__)
    parser.add_argument("a", type=filled, metavar="A", help="a level")
    parser.add_argument("b", type=filled, metavar="B", help="another one, or another version of it")
    playtest.add_playing(parser, 0.0)
    parser.add_argument("--all", action="store_true", help="also the table of everything that was compared")
    options.add_out(parser, "folder for traces, tables and a page with heatmaps (default: nothing is kept)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play both and print the verdicts."""
    options.check_backend(args)
    game = options.game_of(args)
    if game.outside is None:
        compiling(game=game)  # what is imported from here on is
    from persona_evo.api.results import compared
    from persona_evo.report import tables

    levels = options.levels_of(args, game, [args.a, args.b])
    if len(levels) != 2:
        found = f"{len(levels)}: " + ", ".join(level.name for level in levels)
        raise SettingsError(
            "a comparison needs two levels", found=found, expected="two different files or names of one level each"
        )
    results = playtest.play(args, game, levels, options.players_of(args, game), args.out)
    options.report_findings(game)
    if not results.complete:
        return playtest.interrupted(results)
    comparison = compared(results)
    for letter, level in zip("AB", levels, strict=True):
        say(f"{letter} = {level.name}" + (f" ({level.source})" if level.source else ""))
    for sentence in comparison.answer.lines:
        say(sentence)
    table = tables.comparison_table(comparison.rows, "what differs", only_differing=not args.all)
    if table.rows:
        say("\n" + table.render())
    if args.out is not None:
        from persona_evo.report import folder

        title = f"A {levels[0].name} against B {levels[1].name}"
        line = Progress()
        written = folder.write(
            args.out, game, levels, results.analysis, title=title, facts=results.facts, versions=comparison.rows,
            replays=False, progress=lambda text: line.show(f"drawing {text}"),
        )
        Progress.done_with_line()
        say(f"\nwrote {written.page}")
    say(f"\nseed {results.seed}, {counted(args.trials, 'trial')} of each player in each level")
    return 0
