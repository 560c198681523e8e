"""`persona-evo COMMAND`: parse the command line, run the command, and convert errors to a message and an exit code.

| code | meaning |
|---|---|
| 0 | done |
| 1 | a requirement (`--require`) does not hold, or a connected game is not fit |
| 2 | the input is wrong; nothing is lost |
| 130 | stopped by Ctrl-C |
| 143 | stopped by `kill` (SIGTERM), which otherwise has the same effect as Ctrl-C |
| 141 | the reader of the output has closed it |
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from persona_evo.cli.parser import Commands, Parser

COMMANDS = {
    "demo": "evolve a policy and playtest a level in about three minutes",
    "persona": "write, explain and list personas",
    "level": "write, generate, import, check and list levels",
    "evolve": "evolve a tree policy for a persona",
    "policy": "list, show, export, simplify and install tree policies",
    "playtest": "play levels many times and report the results",
    "watch": "playtest levels again whenever a file is saved",
    "compare": "say what differs between two versions of a level",
    "runs": "list, show, compare and delete runs",
    "status": "show the runs in progress and how far along they are",
    "match": "let agents of a two-player game play each other",
    "solve": "find the best plan for a persona in a level",
    "experiment": "compare designs and players by the best scores they allow",
    "reproduce": "repeat a published experiment, or a study of this project",
    "formula": "simplify formulas, and export them",
    "connect": "describe, search and replay games that run outside this program",
    "game": "write a template for a game, and check games",
    "doctor": "show versions, cores and the cache of compiled code",
}
"""Modules of commands in the order of a user's first steps, with their lines in `--help`."""

_ENDING = 3.0
"""Seconds after a Ctrl-C in which further ones count as the same."""
_SOON = 0.05
"""Seconds after which a Ctrl-C is raised again if it came while a destructor ran."""

ABOUT = """\
Automated playtesting with personas: describe what a kind of player wants, evolve a tree policy for it, and playtest
your levels.

  persona-evo demo                                     the whole workflow in about three minutes
  persona-evo persona new speedrunner                  a commented file to start from
  persona-evo evolve --persona speedrunner.toml --levels train --for 8h
  persona-evo playtest my/levels --personas all --baseline ucb1
  persona-evo watch my/level.txt                       playtest it again whenever it is saved
"""


class _Commands:
    """The commands of a parser, to which modules add theirs."""

    def __init__(self, made: Commands) -> None:
        self._made = made

    def add_parser(self, name: str, **options: Any) -> Parser:
        """Make the parser of a command, with the line that `--help` shows."""
        return self._made.add_parser(name, help=COMMANDS[name], **options)


def parser(wanted: Collection[str] = tuple(COMMANDS)) -> Parser:
    """Make the parser of all commands.

    Args:
        wanted: commands whose options are needed; only their modules are imported.
    """
    import importlib

    from persona_evo import __version__
    from persona_evo.cli.parser import Parser

    top = Parser(prog="persona-evo", description=ABOUT)
    top.add_argument("--version", action="version", version=f"persona-evo {__version__}")
    commands = _Commands(top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser))
    for name in COMMANDS:
        if name in wanted:
            importlib.import_module(f"persona_evo.cli.{name}").add(commands)
        else:
            commands.add_parser(name)
    return top


def _quiet_threads() -> None:
    """Keep the thread that feeds worker processes quiet when Ctrl-C ends them."""
    import threading

    told = threading.excepthook

    def tell(args: threading.ExceptHookArgs) -> None:
        name = args.thread.name if args.thread is not None else ""
        if not (name.startswith("ExecutorManagerThread") and args.exc_type is KeyError):
            told(args)

    threading.excepthook = tell


def _open_streams() -> None:
    """Open standard streams that the caller closed on the null device, so that no other file gets their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


class _Stops(list[float]):
    """Times of Ctrl-C and SIGTERM.

    Attributes:
        code: the exit code of a process that stops because of them.
    """

    code = 130


@contextlib.contextmanager
def _interrupts(stops: _Stops) -> Iterator[None]:
    """Record Ctrl-C and SIGTERM in `stops`, even if compiled code swallows the exception.

    Further signals are ignored while the command ends. Workers and games handle signals themselves.
    """
    import signal
    import threading
    import time

    def stop(number: int, frame: FrameType | None) -> None:
        if _in_destructor(frame):  # Python ignores exceptions there
            again = threading.Timer(_SOON, signal.raise_signal, (number,))
            again.daemon = True
            again.start()
            return
        now = time.monotonic()
        if not stops or now - stops[-1] > _ENDING:
            stops.append(now)
            stops.code = 128 + number
            signal.default_int_handler(signal.SIGINT, frame)

    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    ours = [s for s in usual if signal.getsignal(s) is usual[s]]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is stop:
                signal.signal(number, usual[number])


def _in_destructor(frame: FrameType | None) -> bool:
    """Return whether a destructor is being called."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def entry() -> int:
    """Run `main` in a process that ends with it: Ctrl-C is ignored once the exit code is known."""
    import signal

    stops = _Stops()
    try:
        _open_streams()
        _quiet_threads()
        with _interrupts(stops):
            code = _main(None, stops)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return stops.code


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    stops = _Stops()
    try:
        _open_streams()
        _quiet_threads()
        with _interrupts(stops):
            return _main(argv, stops)
    except KeyboardInterrupt:
        return stops.code


def _main(argv: Sequence[str] | None, stops: _Stops) -> int:
    from persona_evo.cli.say import StatusLine, note, silence
    from persona_evo.errors import PersonaEvoError

    try:
        try:
            _hear_warnings()
            typed = sys.argv[1:] if argv is None else [str(word) for word in argv]
            try:
                args = parser([word for word in typed if not word.startswith("-")][:1]).parse_args(argv)
            except SystemExit:  # after --help
                _flush()
                raise
            args.typed = typed
            _tell_of_compiling()
            code = int(args.run(args))
            _flush()
            return stops.code if code == 130 else code
        except PersonaEvoError as e:
            note(f"persona-evo: error: {e}")
            return 2
        except KeyboardInterrupt:
            note("persona-evo: stopped")
            return stops.code
        except BrokenPipeError:
            raise
        except Exception as e:
            if stops:
                note("persona-evo: stopped")
                return stops.code
            if not isinstance(e, OSError):
                raise
            note(f"persona-evo: error: {_told(e)}")
            _flush(quietly=True)
            return 2
        finally:
            StatusLine.done_with_line()
    except BrokenPipeError:
        silence(sys.stdout)
        return 141


def _tell_of_compiling() -> None:
    """Show what is compiled while a command works."""
    from persona_evo.cli.say import Compiling
    from persona_evo.compiling.news import listen

    listen(Compiling())


def _hear_warnings() -> None:
    """Print warnings of this package as notes, each on its own line."""
    import logging

    from persona_evo.cli.say import note

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            note(record.getMessage())

    ours = logging.getLogger("persona_evo")
    if not any(type(handler).__name__ == Notes.__name__ for handler in ours.handlers):
        ours.addHandler(Notes(logging.WARNING))


def _flush(quietly: bool = False) -> None:
    """Flush standard output.

    Args:
        quietly: whether to drop output that cannot be written.
    """
    from persona_evo.cli.say import STDOUT, silence

    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as e:
        e.filename = STDOUT
        silence(sys.stdout)
        if not quietly:
            raise


def _told(error: OSError) -> str:
    import errno

    from persona_evo.cli.say import STDOUT

    said = f"{error.filename}: " if error.filename else ""
    said += error.strerror or str(error)
    if error.filename == STDOUT:
        return f"{said}\n  hint: the results are kept, only the output is lost; print it elsewhere"
    if error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)):
        said += "\n  hint: everything saved so far is kept; free some space, then use --resume or run the command again"
    if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
        said += (
            "\n  hint: a file is where a folder is needed, or the reverse; move it away, or name another one with --out"
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        said += "\n  hint: permission is missing; change it, or name another place with --out"
    return said


if __name__ == "__main__":
    sys.exit(entry())
