"""The folder that `watch` keeps up to date: a playtest's folder whose page reloads itself.

A separate process writes it at low priority, so that drawing does not slow down the playthroughs. It makes the whole
folder beside the old one and then replaces each file at once, the page last.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import shutil
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from persona_evo.errors import PersonaEvoError, Place, RunError
from persona_evo.games.acceptance import Accepted
from persona_evo.jobs import checksum, files, schema
from persona_evo.jobs.interrupts import quiet_worker
from persona_evo.store.cleaning import NEW, written
from persona_evo.store.folders import kind_of

CONFIG = "watch.json"
SCHEMA = 1
STAMP = "stamp.js"
"""A script beside the page with the version of the folder. A page may load a script even from a file."""

_KEPT = (CONFIG, "lock", STAMP, NEW)
"""Files that are not part of a version."""

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*">')
_RELOAD = """\
<script>
(function () {
  "use strict";
  window.stamped = function (stamp) { if (stamp !== %s) location.reload(); };
  setInterval(function () {
    var look = document.createElement("script");
    look.src = "stamp.js?" + Date.now();
    look.onload = look.onerror = function () { look.remove(); };
    document.head.appendChild(look);
  }, 1000);
})();
</script>
"""


@dataclass(frozen=True)
class Snapshot:
    """A version of the folder.

    Attributes:
        config: the contents of `playtest.json`.
        lines: playthroughs as lines of `traces.jsonl`.
        stamp: the name of this version.
        command: the command line, for the page.
        pictures, replays: whether these are drawn.
        accepted: accepted findings, which are no problems.
    """

    config: Mapping[str, Any]
    lines: tuple[str, ...]
    stamp: str
    command: str = ""
    pictures: bool = True
    replays: bool = True
    accepted: tuple[Accepted, ...] = ()


def claim(folder: Path, values: Mapping[str, Any]) -> None:
    """Take a folder for a watch: a new or empty one, or that of an earlier watch.

    Args:
        folder: an existing folder that the caller has locked.
        values: the configuration of the watch.

    Raises:
        RunError: it holds something else.
    """
    kind = kind_of(folder)
    others = [p.name for p in folder.iterdir() if p.name not in _KEPT]
    if (kind is None and others) or (kind is not None and kind.name != "watch"):
        raise RunError(
            "the folder holds something else",
            place=Place(str(folder)),
            found=f"a run of the kind {kind.name}" if kind is not None else ", ".join(others[:5]),
            expected="a new folder, or that of an earlier watch",
            hint="name another folder with --out",
        )
    schema.write(folder / CONFIG, {"schema": SCHEMA, **values})


def publish(folder: Path, version: Snapshot) -> None:
    """Make a version of the folder, and replace the previous version by it."""
    from persona_evo.api.runs import kept_playtest
    from persona_evo.playtest import journal

    new = folder / NEW
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    schema.write(new / journal.CONFIG, {"schema": journal.SCHEMA, **version.config})
    files.write_atomically(new / journal.TRACES, [checksum.sealed(line) + "\n" for line in version.lines])
    if not (folder / journal.CONFIG).is_file():  # the first version exists while its page is drawn
        for name in (journal.TRACES, journal.CONFIG):
            files.write_atomically(folder / name, (new / name).read_text(encoding="utf-8"))
    results = kept_playtest(new)
    results.command, results.accepted = version.command, version.accepted
    page = results.write(new, pictures=version.pictures, replays=version.replays)
    page.write_text(reloading(page.read_text(encoding="utf-8"), version.stamp), encoding="utf-8", newline="\n")
    _put(new, folder, page.name)
    files.write_atomically(folder / STAMP, f'stamped("{version.stamp}");\n')
    shutil.rmtree(new, ignore_errors=True)


def _put(new: Path, folder: Path, last: str) -> None:
    """Replace the files of the old version by those of the new one, one at a time; `last` comes last."""
    files = sorted((p.relative_to(new) for p in new.rglob("*") if p.is_file()), key=lambda p: (str(p) == last, p))
    for path in files:
        (folder / path).parent.mkdir(exist_ok=True)
        os.replace(new / path, folder / path)
    kept, ours = set(files), written("watch")
    for old in [p.relative_to(folder) for p in folder.rglob("*") if p.is_file()]:
        if old not in kept and old.parts[0] not in _KEPT and ours.fullmatch(old.as_posix()):
            (folder / old).unlink()


def reloading(page: str, stamp: str) -> str:
    """Return a page that checks the version of the folder every second, and reloads itself if that has changed.

    Browsers do not let a page from a file read another file, but they let it load a script from one.
    """
    policy = (
        "default-src 'none'; img-src data: file: 'self'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline' file: 'self'"
    )
    page = _POLICY.sub(f'<meta http-equiv="Content-Security-Policy" content="{policy}">', page, count=1)
    head, end, tail = page.rpartition("</body>")
    return head + _RELOAD % f'"{stamp}"' + end + tail


class Publisher:
    """A process that publishes versions of a folder one after the other.

    If several versions wait, only the newest is published.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: Any = None
        self._pipe: Connection | None = None
        self._busy, self._waiting = False, None

    _waiting: Snapshot | None

    def start(self) -> None:
        """Start the process, which then loads its modules."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, str(self.folder), os.getpid()), daemon=True)
        with _deaf():
            self._process.start()
        theirs.close()

    def publish(self, version: Snapshot) -> None:
        """Publish a version as soon as the process is free."""
        self._waiting = version
        self.look()

    def look(self) -> list[str]:
        """Send the waiting version if the process is free; return the errors since the last call."""
        wrong: list[str] = []
        if self._process is None:
            self.start()
        assert self._pipe is not None
        try:
            while self._busy and self._pipe.poll():
                told = self._pipe.recv()
                self._busy = False
                wrong += [told] if told else []
            if self._waiting is not None and not self._busy:
                version, self._waiting = self._waiting, None
                self._pipe.send(version)
                self._busy = True
        except (EOFError, OSError):
            wrong.append("the process that writes the page has ended; it is started again")
            self.close()
        return wrong

    @property
    def idle(self) -> bool:
        """Whether everything is published."""
        return not self._busy and self._waiting is None

    def close(self) -> None:
        """End the process; the folder stays as it is."""
        if self._process is not None:
            self._process.terminate()
            self._process.join(5)
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None
        self._busy = False
        shutil.rmtree(self.folder / NEW, ignore_errors=True)


@contextlib.contextmanager
def _deaf() -> Any:
    """Start processes inside this block so that they never receive Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(pipe: Connection, folder: str, parent: int) -> None:
    """Publish each version that is received, and answer with the error or ""."""
    quiet_worker(parent)
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)
    from persona_evo.report import folder as _  # noqa: F401 (loaded while nothing is to be published yet)

    while True:
        try:
            version = pipe.recv()
        except EOFError:
            return
        try:
            publish(Path(folder), version)
            told = ""
        except (PersonaEvoError, OSError) as e:
            told = str(e)
        pipe.send(told)
