"""Runs commands, in this process or as a user does."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from persona_evo.cli.main import main
from tests.shared import ROOT


class Ran(NamedTuple):
    """The result of a command."""

    code: int
    out: str
    err: str


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Ran:
    """Run a command in this process."""
    capsys.readouterr()
    code = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return Ran(code, captured.out, captured.err)


def silent(*arguments: object) -> Ran:
    """Run a command in this process where `capsys` cannot be had, in a fixture of a module."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main([str(a) for a in arguments])
    return Ran(code, out.getvalue(), err.getvalue())


def command(*arguments: object) -> list[str]:
    """Return a command line that starts the program in a process of its own."""
    return [sys.executable, "-m", "persona_evo.cli.main", *(str(a) for a in arguments)]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, in which the package is found from any folder."""
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": paths, **changes}


def typed(folder: Path, *arguments: object, **changes: str) -> Ran:
    """Run a command in a process of its own, in a folder."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
