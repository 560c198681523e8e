"""The output of commands: results to standard output, progress and notices to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from persona_evo.errors import printable
from persona_evo.words import duration as duration

if TYPE_CHECKING:
    from persona_evo.compiling import Work
    from persona_evo.jobs.progress import Progress

STDOUT = "standard output"
"""The name of the stream in errors of the operating system when it cannot be written."""


def say(text: object = "", stream: TextIO | None = None) -> None:
    """Print lines with control characters escaped, and in plain ASCII if the terminal cannot show other characters.

    Names and notes come from files, and must not control the terminal.
    """
    target = sys.stdout if stream is None else stream
    if target is None:  # closed by the caller
        raise BrokenPipeError
    line = "\t".join(map(printable, str(text).split("\t")))
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


HARDLY = 0.5
"""Seconds below which the remaining time is not worth a word."""


def _to_go(eta: float | None, what: str) -> str:
    """Format the remaining seconds for the end of a line; "" before they are known, or if there are hardly any."""
    return "" if eta is None or eta < HARDLY else f", {duration(eta)} to go{what}"


def note(text: object) -> None:
    """Print progress and notices, which are not results, to standard error."""
    StatusLine.done_with_line()
    with _if_heard():
        say(text, sys.stderr)


@contextlib.contextmanager
def _if_heard() -> Iterator[None]:
    """Continue if standard error cannot be written."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (for the rest of the process)
    try:
        yield
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO | None) -> None:
    """Discard the output of a stream that cannot be written, also when the process ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


class StatusLine:
    """A line that is rewritten on a terminal; elsewhere, a new line is written from time to time."""

    _open = False

    def __init__(self, every: float = 15.0) -> None:
        self.every = every
        self._last: float | None = None

    def show(self, text: str, *, last: bool = False) -> None:
        """Show the progress; `last` keeps the line."""
        with _if_heard():
            self._show(text, last)

    def _show(self, text: str, last: bool) -> None:
        import time

        stream = sys.stderr
        if stream.isatty():
            encoding = stream.encoding or "ascii"
            stream.write("\r\x1b[2K" + printable(text).encode(encoding, "replace").decode(encoding))
            stream.flush()
            StatusLine._open = True
            if last:
                StatusLine.done_with_line()
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


def teller(words: Callable[[Progress], str], what: str = "") -> Callable[[Progress], None]:
    """Return a function that shows progress on one line.

    Args:
        words: puts the progress in words; the time left follows.
        what: the work that this time is for, such as " for everything".
    """
    line = StatusLine()
    return lambda p: line.show(words(p) + _to_go(p.eta, what), last=p.ended or p.done >= p.total)


class Compiling:
    """Reports what is compiled: in a sentence once, then in a line of progress."""

    def __init__(self) -> None:
        self._line, self._began, self._open = StatusLine(), 0.0, 0
        self._told = False

    def __call__(self, work: Work) -> None:
        """Report that the compilation of something begins or ends."""
        import time

        from persona_evo.compiling.news import START

        self._open += -1 if work.done else 1
        if work.what == START:
            if not work.done:
                self._line.show("starting the compiler ...")
        elif not self._told:
            self._told, self._began = True, time.monotonic()
            note(f"compiling for this machine, once: about {duration(max(1.0, work.seconds))} ...")
        elif not work.done:
            self._line.show(f"compiling {work.what}, {duration(time.monotonic() - self._began)} so far")
        elif not self._open:
            self._line.show(f"compiled {work.what}")
