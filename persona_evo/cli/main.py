"""`persona-evo COMMAND`: parse, call, and turn errors into one message and an exit code.

| code | meaning |
|---|---|
| 0 | done |
| 1 | a requirement (`--require`) does not hold |
| 2 | something that was given is wrong; nothing is lost |
| 130 | stopped by Ctrl-C |
| 141 | nobody reads the output any more |
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence

from persona_evo import __version__
from persona_evo.cli import (
    compare,
    demo,
    doctor,
    evolve,
    formula,
    level,
    persona,
    playtest,
    policy,
    reproduce,
    solve,
)
from persona_evo.cli.parser import Parser
from persona_evo.cli.say import Progress, note
from persona_evo.errors import PersonaEvoError

COMMANDS = (demo, persona, level, evolve, policy, playtest, compare, solve, reproduce, formula, doctor)
"""In the order in which they are met."""

ABOUT = """\
Automated playtesting with personas: say what a kind of player wants, evolve a tree policy for it, playtest levels.

  persona-evo demo                                     the main job in under three minutes
  persona-evo persona new speedrunner                  a commented file to start from
  persona-evo evolve --persona speedrunner.toml --levels train --for 8h
  persona-evo playtest my/levels --personas all --baseline ucb1
"""


def parser() -> Parser:
    """The parser of all commands."""
    top = Parser(prog="persona-evo", description=ABOUT)
    top.add_argument("--version", action="version", version=f"persona-evo {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for module in COMMANDS:
        module.add(commands)
    return top


def _quiet_threads() -> None:
    """Keep the thread that feeds worker processes from telling that Ctrl-C took its work away."""
    told = threading.excepthook

    def tell(args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread is not None else ""
        if not (name.startswith("ExecutorManagerThread") and args.exc_type is KeyError):
            told(args)

    threading.excepthook = tell


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    _quiet_threads()
    try:
        try:
            args = parser().parse_args(argv)
            code = int(args.run(args))
            sys.stdout.flush()
            return code
        except PersonaEvoError as e:
            note(f"persona-evo: error: {e}")
            return 2
        except KeyboardInterrupt:
            note("persona-evo: stopped")
            return 130
        except OSError as e:
            if isinstance(e, BrokenPipeError):
                raise
            note(f"persona-evo: error: {e.strerror or e}" + (f": {e.filename}" if e.filename else ""))
            return 2
        finally:
            Progress.done_with_line()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141

if __name__ == "__main__":
    sys.exit(main())
