"""The program in a process without what only POSIX has, in a folder whose name has a space."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WITHOUT_POSIX = """
import importlib, os, pkgutil, signal, sys, types
import numba, numpy, scipy.stats, sympy

held = {}
def locking(handle, mode, size):
    assert os.lseek(handle, 0, os.SEEK_CUR) == 2**30 and size == 1
    if mode and held.setdefault(os.fstat(handle).st_ino, handle) != handle:
        raise OSError(36, "Resource deadlock avoided")
    if not mode:
        del held[os.fstat(handle).st_ino]

sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2, LK_UNLCK=0)
for name in ("fcntl", "resource", "grp", "pwd", "termios"):
    sys.modules[name] = None
for name in ("getuid", "geteuid", "sched_getaffinity", "setsid", "fchmod", "chown", "mkfifo"):
    delattr(os, name)
for name in ("SIGUSR1", "SIGHUP"):
    delattr(signal, name)
sys.platform = "win32"
from persona_evo.jobs.lock import Lock, holder
sys.platform = "linux"
import persona_evo
skipped = ("persona_evo.__main__", "persona_evo.agents.guard", "persona_evo.games.catalog.colosseum.runner")
for found in pkgutil.walk_packages(persona_evo.__path__, "persona_evo."):
    if found.name not in skipped:
        importlib.import_module(found.name)
from pathlib import Path
with Lock(Path(".")):
    assert holder(Path(".")) is not None
assert holder(Path(".")) is None and not held
from persona_evo.cli.main import main
small = "--trials 1 --iterations 50 --jobs 1 --no-pictures --bound-seconds 0 --seed 1"
sys.exit(main(["playtest", "test01", "--personas", "runner", "--out", "my folder", *small.split()]))
"""


def test_everything_is_imported_and_played_without_the_calls_of_posix(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[1]
    code = tmp_path / "without posix.py"
    code.write_text(WITHOUT_POSIX)
    ran = subprocess.run(
        [sys.executable, str(code)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "my folder" / "traces.jsonl").is_file()
