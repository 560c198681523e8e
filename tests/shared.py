"""What several tests need: the recorded games and real levels, which are used but not part of the project; signals."""

from __future__ import annotations

import ast
import functools
import gc
import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from persona_evo.search.tree import Memory, Tree

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "persona_evo"


def shared(relative: str) -> Path:
    """Return the path of a file or folder of the shared data; skips the test where it is not there."""
    for base in filter(None, (os.environ.get("PERSONA_EVO_SHARED"), str(ROOT.parent / "shared"))):
        path = Path(base) / relative
        if path.exists():
            return path
    pytest.skip(f"the shared data has no {relative} here (set PERSONA_EVO_SHARED to its folder)")


@functools.cache
def trees() -> dict[Path, ast.Module]:
    """Every module of the package as a syntax tree. Parsing all of them takes seconds, so it is done once."""
    gc.disable()  # it would look through the trees again and again
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    finally:
        gc.enable()


def bytes_per_node(memory: Memory, tree: Tree, slots: float) -> float:
    """Return the memory of a search tree per node, with this many slots per node."""
    rows = (memory.nodes, memory.states, memory.twins, memory.table, memory.keys)
    return sum(float(row.nbytes) for row in rows) / memory.capacity + slots * 8.0 * tree.columns.width


def hear_ctrl_c() -> None:
    """For a child process's start: do not ignore SIGINT, as what a shell puts into the background does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def unsealed(path: Path) -> str:
    """Take the checksums out of a file, as if an earlier version had written it; its text."""
    text = re.sub(r',\s*"crc": ?"[0-9a-f]{8}"', "", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    return text
