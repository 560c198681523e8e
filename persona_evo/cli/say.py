"""What commands print: results to standard output, progress and notices to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from persona_evo.words import duration as duration

if TYPE_CHECKING:
    from persona_evo.games.core import Game

STDOUT = "standard output"
"""What an error of the operating system names where that cannot be written."""


def say(text: object = "", stream: TextIO | None = None) -> None:
    """Print a line or lines; in plain ASCII where the terminal cannot show the rest."""
    target = sys.stdout if stream is None else stream
    if target is None:  # closed by whoever called
        raise BrokenPipeError
    line = str(text)
    try:
        try:
            line.encode(getattr(target, "encoding", None) or "ascii")
            target.write(line + "\n")
        except (UnicodeEncodeError, LookupError):
            from persona_evo.report.tables import put

            put(target, line)
        target.flush()
    except OSError as e:
        e.filename = e.filename or STDOUT
        raise


def note(text: object) -> None:
    """Print to standard error: what is going on, and what is no result."""
    Progress.done_with_line()
    with _if_heard():
        say(text, sys.stderr)


@contextlib.contextmanager
def _if_heard() -> Iterator[None]:
    """Standard error that cannot be written stops nothing."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for the rest of the process)
    try:
        yield
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO | None) -> None:
    """Let a stream that cannot be written go nowhere, also when the process ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


class Progress:
    """A line that is rewritten on a terminal, and written anew now and then elsewhere."""

    _open = False

    def __init__(self, every: float = 15.0) -> None:
        self.every = every
        self._last: float | None = None

    def show(self, text: str, *, last: bool = False) -> None:
        """Say how far things are; `last` keeps the line."""
        with _if_heard():
            self._show(text, last)

    def _show(self, text: str, last: bool) -> None:
        import time

        stream = sys.stderr
        if stream.isatty():
            encoding = stream.encoding or "ascii"
            stream.write("\r\x1b[2K" + text.encode(encoding, "replace").decode(encoding))
            stream.flush()
            Progress._open = True
            if last:
                Progress.done_with_line()
            return
        now = time.monotonic()
        if last or self._last is None or now - self._last >= self.every:
            self._last = now
            say(text, stream)

    @classmethod
    def done_with_line(cls) -> None:
        """End the line that is being rewritten, if there is one."""
        if cls._open:
            with _if_heard():
                sys.stderr.write("\n")
            cls._open = False


SEARCH, SOLVER, CONNECTED = "mcts._search", "open_lists._search", "descent.descend"
"""Compiled functions that stand for all that a playthrough, a solution, or a connected game needs."""

_TIMES = {SEARCH: ("engine", "a minute"), SOLVER: ("solver", "20 s"), CONNECTED: ("search", "20 s")}


_announced: set[str] = set()
"""What this process has said it compiles."""


def is_compiled(function: str = SEARCH) -> bool:
    """Whether a compiled function is on disk for these sources (reading levels alone compiles less than a search)."""
    from persona_evo import compiling as machine

    return machine.INTERPRET or any(machine.cache_folder().rglob(f"{function}-*.nbc"))


def compiling(function: str = SEARCH, game: Game | None = None) -> bool:
    """Say so when the search engine, the solver, or a game's rules have to be compiled first; whether they have.

    Call it before anything is imported that imports the engine: that is when it is compiled.
    """
    needed = [function] if function in (SEARCH, CONNECTED) else [SEARCH, function]
    missing = next((part for part in needed if not is_compiled(part)), None)
    if missing is not None:
        what, time = _TIMES[missing]
        if missing not in _announced:
            note(f"compiling the {what} once for this machine, about {time} ...")
        _announced.add(missing)
        return True
    return game is not None and compiling_rules(game)


def compiling_rules(game: Game) -> bool:
    """Say so when a game's rules have to be compiled first; whether they have."""
    missing = not has_compiled(game, "rules.step")
    if missing:
        note(f"compiling the rules of {game.title} once for this machine, about half a minute ...")
    return missing


@contextlib.contextmanager
def compiling_levels(game: Game, after: float = 1.0) -> Iterator[None]:
    """Read a game's levels within this, and say so when what reads them has to be compiled first.

    Few games compile anything for that, and none says so beforehand: it is told after so many seconds.
    """
    import threading

    words = f"compiling what reads levels of {game.title} once for this machine, about 15 s ..."
    timer = threading.Timer(after, note, (words,))
    timer.daemon = True
    if not has_compiled(game):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def has_compiled(game: Game, function: str = "") -> bool:
    """Whether a game's compiled function, or any of its, is on disk; yes for games that are not of this package."""
    from pathlib import Path

    from persona_evo import compiling as machine

    home = getattr(game.rules, "__module__", "").split(".")
    sources = Path(machine.__file__).parent.joinpath(*home[1:])
    if machine.INTERPRET or home[0] != "persona_evo" or not (sources / "rules.py").is_file():
        return True
    return any(machine.cache_folder().joinpath(*home[1:]).rglob(f"{function}*.nbc"))
