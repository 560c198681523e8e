"""Compiles several programs at once in two processes, since a command's needs are known before it begins.

numba and LLVM compile one function after another. The second process receives the names of marked functions, imports
their modules, and leaves its results on disk. Whatever it does not get to is compiled in this process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from persona_evo.compiling import cache
from persona_evo.compiling.machine import NativeCode, NativeProgram, optimising_of, seconds_of, translating_of
from persona_evo.compiling.news import told

WORTH = 3.0
"""The seconds of work in a step from which the work is shared between two processes."""

T = TypeVar("T", NativeCode, NativeProgram)


def prepare(programs: Iterable[NativeProgram]) -> None:
    """Compile the programs that are missing, on two cores where that saves time."""
    missing = list({one.name: one for one in programs}.values())
    codes = list({one.file: one for program in missing for one in program.codes if not cache.has(one.file)}.values())
    what = " and ".join(dict.fromkeys(one.title for program in missing for one in program.codes))
    with told(what, seconds_of(missing)), _Other() as other:
        _both(other, codes, translating_of, NativeCode.bitcode)
        _both(other, missing, optimising_of, NativeProgram.make)


def _both(other: _Other, todo: Sequence[T], cost: Callable[[list[T]], float], make: Callable[[T], object]) -> None:
    """Make everything, with the help of the other process if that pays."""
    shares: tuple[list[T], list[T]] = [], []
    for one in sorted(todo, key=lambda one: cost([one]), reverse=True):
        here = one.place is None or cost(shares[0] + [one]) <= cost(shares[1] + [one])
        shares[0 if here else 1].append(one)
    mine, others = shares
    if cost(list(todo)) < WORTH or not other.begin([one.place for one in others]):
        mine, others = list(todo), []
    for one in mine:
        make(one)
    other.wait()
    for one in others:
        if not cache.has(one.file):
            make(one)


class _Other:
    """The second process, which is started when there is work for it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._busy = False

    def __enter__(self) -> _Other:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def begin(self, places: Sequence[Any]) -> bool:
        """Start making something in the process; return False if it cannot."""
        if not places or not sys.executable or (os.cpu_count() or 1) < 2 or not cache.is_kept():
            return False
        try:
            if self._process is None:
                command = [sys.executable, "-P", "-m", "persona_evo.compiling"]
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=_environment(),
                )
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(places) + "\n")
            self._process.stdin.flush()
        except OSError:
            return False
        self._busy = True
        return True

    def wait(self) -> None:
        """Wait until the process has finished its work or failed."""
        if self._busy and self._process is not None and self._process.stdout is not None:
            self._process.stdout.readline()
        self._busy = False


def _environment() -> dict[str, str]:
    """Return an environment with the same modules and the same folder for compiled code."""
    folder = cache.cache_folder()
    root = {} if folder is None else {"PERSONA_EVO_CACHE": str(folder.parent)}
    return {**os.environ, **root, "PYTHONPATH": os.pathsep.join(one or os.getcwd() for one in sys.path)}


def serve() -> None:
    """Make what each line of standard input asks for, and answer it with an empty line."""
    for line in sys.stdin:
        for place in json.loads(line):
            with contextlib.suppress(Exception):  # it is made where it was asked for, and fails there
                _make(place)
        print(flush=True)


def _make(place: Any) -> None:
    if isinstance(place, str):
        _code(place).bitcode()
    else:
        entry, parts = place
        NativeProgram(_code(entry), {name: _code(one) for name, one in parts.items()}).make()


def _code(place: str) -> NativeCode:
    module, _, name = place.partition(":")
    code: NativeCode = getattr(importlib.import_module(module), name).code
    return code
