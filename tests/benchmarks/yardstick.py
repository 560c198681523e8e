"""The yardstick in C++ (`md2ref.cpp`), which is built once if possible and called through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__).with_name("md2ref.cpp")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c++20", "-shared", "-fPIC")
COMPILERS = ("g++", "clang++", "c++")
WITH_SSE = ("x86_64", "amd64", "i686")

UCB1, METRICS, VISITS, PARENTS = range(4)
"""Tree policies of a search: UCB1, or one of the formulas that are compiled in."""

TRACED = ("ST", "PE", "PD", "TO", "MS", "HL", "MTK", "JT", "TU", "TS", "DEAD", "WON")
"""Metrics that `Map.trace` returns."""

_LONG, _POINTER, _DOUBLE = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double


class Unavailable(Exception):
    """The yardstick cannot be built or does not know the level; the text says why."""


class Found(NamedTuple):
    """The result of a search.

    Attributes:
        iterations: number of iterations.
        nodes: number of nodes in the tree.
        utility: utility of the best node.
        moves: number of moves from the root to the best node.
        won: whether that node is won.
    """

    iterations: int
    nodes: int
    utility: float
    moves: int
    won: bool


def cache_folder() -> Path:
    """Return the folder in which the library is kept from run to run."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "persona-evo-benchmarks"


@cache
def library() -> ctypes.CDLL:
    """Load the yardstick as a library.

    Raises:
        Unavailable: it cannot be built here.
    """
    if platform.machine().lower() not in WITH_SSE:
        raise Unavailable(f"the yardstick needs a processor with SSE, not {platform.machine()}")
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise Unavailable("no C++ compiler on this machine")
    told = subprocess.run([compiler, *FLAGS, "-Q", "--help=target"], capture_output=True).stdout
    mark = hashlib.sha256(b"\0".join((SOURCE.read_bytes(), " ".join((compiler, *FLAGS)).encode(), told))).hexdigest()
    out = cache_folder() / f"md2ref-{mark[:16]}.so"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        made = out.with_suffix(f".{os.getpid()}")
        done = subprocess.run([compiler, *FLAGS, "-o", str(made), str(SOURCE)], capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"{Path(compiler).name} failed: {done.stderr.strip()[:200]}")
        made.replace(out)
    lib = ctypes.CDLL(str(out))
    lib.md2_load.restype, lib.md2_load.argtypes = _POINTER, [ctypes.c_char_p]
    lib.md2_playouts.restype, lib.md2_playouts.argtypes = _LONG, [_POINTER, _LONG, _LONG, _POINTER]
    lib.md2_trace.restype, lib.md2_trace.argtypes = None, [_POINTER, _LONG, _LONG, _POINTER, _POINTER]
    lib.md2_tree.restype, lib.md2_tree.argtypes = _POINTER, [_LONG]
    lib.md2_free.restype, lib.md2_free.argtypes = None, [_POINTER]
    lib.md2_unload.restype, lib.md2_unload.argtypes = None, [_POINTER]
    lib.md2_search.restype = _LONG
    lib.md2_search.argtypes = [_POINTER, _POINTER, ctypes.c_int, _LONG, _LONG, _LONG, _DOUBLE, *[_POINTER] * 3]
    return lib


class Map:
    """A level of the yardstick.

    Args:
        text: the text of the level file.
        longest: largest number of turns of a playout and of moves from the root of a tree (255 or fewer).

    Raises:
        Unavailable: there is no yardstick here, or the level is too large for it.
    """

    def __init__(self, text: str, longest: int) -> None:
        self.longest = longest
        self._level = library().md2_load(text.encode())
        if not self._level:
            raise Unavailable("more than 254 tiles, 16 monsters or 16 potions and treasures")

    def __del__(self) -> None:
        if getattr(self, "_level", None):
            library().md2_unload(self._level)

    def playouts(self, turns: int, rng: NDArray[np.int64]) -> int:
        """Play random playouts of `turns` turns in all; return a checksum of their ends."""
        return int(library().md2_playouts(self._level, turns, self.longest, rng.ctypes.data))

    def trace(self, turns: int, rng: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the metrics after each turn of such playouts, float64[turns, TRACED]."""
        out = np.zeros((turns, len(TRACED)))
        library().md2_trace(self._level, turns, self.longest, rng.ctypes.data, out.ctypes.data)
        return out


class Searcher:
    """Searches on one level, one after the other, in the same memory.

    Args:
        on: the level.
        most: largest number of iterations of a search.
        rollout: random moves after an expansion.
    """

    def __init__(self, on: Map, most: int, rollout: int) -> None:
        self._map, self._rollout = on, rollout
        self._tree = library().md2_tree(4 * most + 1_000)
        self._out, self._best = np.zeros(5, dtype=np.int64), np.zeros(1)

    def __del__(self) -> None:
        if getattr(self, "_tree", None):
            library().md2_free(self._tree)

    def search(self, kind: int, iterations: int, rng: NDArray[np.int64]) -> Found:
        """Run a search that continues after a win.

        Args:
            kind: UCB1 with the constant of UCB1, or one of the formulas.
        """
        on, out = self._map, self._out
        made = library().md2_search(
            on._level,
            self._tree,
            kind,
            iterations,
            on.longest,
            self._rollout,
            math.sqrt(2),
            rng.ctypes.data,
            out.ctypes.data,
            self._best.ctypes.data,
        )
        return Found(int(made), int(out[0]), float(self._best[0]), int(out[2]), bool(out[3]))

    def bytes_per_node(self) -> float:
        """Return the memory of the last search's tree under UCB1 per node, including untried children."""
        return float(self._out[4] * self._out[1] / self._out[0])
