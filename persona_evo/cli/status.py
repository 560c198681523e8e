"""Show the runs in progress, how far along they are, and how long they will still take."""

from __future__ import annotations

import argparse
import sys
import time

from persona_evo.cli.parser import Commands, number
from persona_evo.cli.runs import add_roots, roots_of
from persona_evo.cli.say import say

EVERY = 2.0


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("status", description=__doc__)
    add_roots(parser)
    parser.add_argument(
        "--follow", action="store_true", help="repeat the report until no run is in progress or Ctrl-C is pressed"
    )
    parser.add_argument(
        "--every",
        type=number(0.1, 3600),
        default=EVERY,
        metavar="S",
        help="with --follow: seconds between two reports (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the status once, or repeatedly."""
    from persona_evo.report.run_tables import facts
    from persona_evo.store import folders

    roots, before = roots_of(args.roots), None
    terminal = sys.stdout is not None and sys.stdout.isatty()
    while True:
        running = [folders.deep(e) for e in folders.find(roots) if e.state == "running"]
        now = [(e.folder, e.done, e.phase, e.last) for e in running]
        if terminal or now != before:
            if sys.stdout is not None and terminal and args.follow:
                sys.stdout.write("\x1b[H\x1b[2J")  # clear the screen
            nothing = f"no run is in progress in {', '.join(map(str, roots))}"
            say("\n\n".join(map(facts, running)) or nothing)
        if not args.follow or not running:
            return 0
        before = now
        time.sleep(args.every)
