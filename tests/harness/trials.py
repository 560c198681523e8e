"""Trials: what one is, how long it may take and how much memory, and the file that its outcome is kept in."""

from __future__ import annotations

import contextlib
import json
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.harness.clock import WorkClock

SEED = 20310504
OWN_SECONDS, WALL_SECONDS = 10.0, 60.0
"""A trial hangs that takes more of the processor's time, or more by a clock that stands still while it waits for a
processor.
"""
LOOKS = 60
"""Number of looks at the clock until then."""
MOST_BYTES = 1 << 30


class Finding(Exception):
    """What must not happen has happened; the message says what."""


class _Hang(BaseException):
    """A trial takes too long."""


@dataclass
class Trial:
    """One trial under way.

    Attributes:
        number: decides, with the part's name, all that is random.
        dice: the source of what is random.
        folder: an empty folder of its own, kept if something is found.
        what: what is tried, for whoever reads the finding.
    """

    number: int
    dice: random.Random
    folder: Path
    what: str = ""


@dataclass(frozen=True)
class Part:
    """A kind of trials.

    Attributes:
        name: on the command line and in the table.
        trials: how many a full run has.
        unit, each: what is counted, and how many of them one trial has.
        run: makes a trial; returns its outcome in a word or two, or raises `Finding`. Every other exception is a
            finding, too.
        prepare: is called once before the trials, without limits: it compiles, and makes what they share.
    """

    name: str
    trials: int
    unit: str
    each: int
    run: Callable[[Trial], str]
    prepare: Callable[[], object]

    def share(self, part: int, parts: int) -> range:
        """Return the numbers of the trials of a share; share 1 of 10 has the first tenth."""
        return range(self.trials * (part - 1) // parts, self.trials * part // parts)


@dataclass(frozen=True)
class Row:
    """A trial that was made.

    Attributes:
        part, number: which one.
        what: what was tried.
        outcome: what came of it.
        bad: whether it is a finding.
        seconds, processor: by the clock, and of this process and its children.
        memory: most bytes that a process has had until then.
        details: the traceback of a finding.
    """

    part: str
    number: int
    what: str
    outcome: str
    bad: bool
    seconds: float
    processor: float
    memory: int
    details: str = ""


@dataclass
class Record:
    """The rows in a file, to which each trial adds one, so that a run can be stopped and resumed at any time."""

    path: Path
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.path.exists():
            whole = self.path.read_bytes().rpartition(b"\n")[0].decode("utf-8")  # a kill may have torn the last line
            self.rows += [Row(**json.loads(line)) for line in whole.splitlines()]
            self.path.write_text("".join(f"{line}\n" for line in whole.splitlines()), encoding="utf-8")

    def add(self, row: Row) -> None:
        """Write a row down."""
        self.rows.append(row)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")

    def numbers(self, part: Part) -> set[int]:
        """Return the trials of a part that were made."""
        return {row.number for row in self.rows if row.part == part.name}


def run(part: Part, numbers: Sequence[int], record: Record, tell: Callable[[Row], object] = lambda row: None) -> None:
    """Make those of the trials that have not been made.

    Args:
        part: whose trials they are.
        numbers: which of them.
        record: what was made, and gets the new rows. Folders of trials with findings are kept beside its file.
        tell: is given each new row.
    """
    known = record.numbers(part)
    missing = [number for number in numbers if number not in known]
    if missing:
        part.prepare()
    for number in missing:
        row = make(part, number, record.path.parent)
        record.add(row)
        tell(row)


def make(part: Part, number: int, home: Path) -> Row:
    """Make one trial; its folder is kept in `home` if there is a finding."""
    folder = Path(tempfile.mkdtemp(prefix=f"{part.name}-{number}-"))
    trial = Trial(number, random.Random(f"{SEED} {part.name} {number}"), folder)
    clock, processor, memory = time.monotonic(), _processor(), _memory()
    bad, details = True, ""
    try:
        with _limited():
            outcome = part.run(trial)
        bad = False
    except Finding as e:
        outcome = str(e)
    except _Hang:
        outcome, details = "it hangs", traceback.format_exc()
    except Exception as e:
        outcome, details = f"{type(e).__name__}: {e}", traceback.format_exc()
    after = _memory()
    if not bad and memory < MOST_BYTES <= after:
        bad, outcome = True, f"more than 1 GB of memory, {outcome}"
    if bad:
        shutil.copytree(folder, home / f"{part.name}-{number}", dirs_exist_ok=True, symlinks=True)
    shutil.rmtree(folder, ignore_errors=True)
    took, used = time.monotonic() - clock, _processor() - processor
    return Row(
        part.name, number, trial.what, outcome[:2000], bad, round(took, 3), round(used, 3), after, details[-4000:]
    )


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Interrupt what takes too long."""

    clock = WorkClock()

    def stop(number: int, frame: object) -> None:
        if number == signal.SIGPROF or clock.seconds > WALL_SECONDS:
            raise _Hang
        signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS / LOOKS)

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, OWN_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS / LOOKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _processor() -> float:
    """Seconds of the processor that this process and its children have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _memory() -> int:
    """Most bytes that this process, or one of its children, has had."""
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
