"""The C yardsticks: compiled when they are needed, called through ctypes on the arrays of the project."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.games.catalog.minidungeons2 import tables
from persona_evo.games.core import Level
from persona_evo.search.tree import Tree

HERE = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")

WORDS = ctypes.POINTER(ctypes.c_uint16)
LONGS = ctypes.POINTER(ctypes.c_int64)
LONG = ctypes.c_int64


class Unavailable(Exception):
    """There is no C compiler, or it fails; the text says which."""


@cache
def library() -> ctypes.CDLL:
    """Both C files as one library.

    Raises:
        Unavailable: it cannot be built here.
    """
    compiler = shutil.which("gcc")
    if compiler is None:
        raise Unavailable("no gcc on this machine")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "yardstick.so"
        command = [compiler, *FLAGS, "-o", str(out), str(HERE / "mcts.c"), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"gcc failed: {done.stderr.strip()[:200]}")
        lib = ctypes.CDLL(str(out))
    lib.playouts.restype = LONG
    lib.playouts.argtypes = [WORDS, WORDS, LONG, LONG, LONG, LONGS]
    lib.trace.restype = None
    lib.trace.argtypes = [WORDS, WORDS, LONG, LONG, LONG, LONGS, WORDS]
    lib.mcts.restype = LONG
    lib.mcts.argtypes = [WORDS, WORDS, LONG, *[ctypes.c_void_p] * 2, WORDS, *[LONG] * 5, ctypes.c_double, LONGS, LONGS]
    return lib


def _words(row: NDArray[Any]) -> Any:
    return row.ctypes.data_as(WORDS)


def _longs(row: NDArray[np.int64]) -> Any:
    return row.ctypes.data_as(LONGS)


def supports(level: Level) -> bool:
    """Whether the level's table of pairs is complete, as the C code expects."""
    return int(level.tables[tables.TILES]) <= tables.PAIR_FILL and len(level.start) <= 1024


def playouts(level: Level, turns: int, longest: int, rng: NDArray[np.int64]) -> int:
    """Random playouts of `turns` turns in all; a checksum of their ends."""
    start = level.start
    found = library().playouts(_words(level.tables), _words(start), len(start), turns, longest, _longs(rng))
    return int(found)


def trace(level: Level, turns: int, longest: int, rng: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The state after each turn of such playouts, uint16[turns, state size]."""
    start = level.start
    out = np.zeros((turns, len(start)), dtype=np.uint16)
    library().trace(_words(level.tables), _words(start), len(start), turns, longest, _longs(rng), _words(out))
    return out


def mcts(level: Level, tree: Tree, iterations: int, horizon: int, length: int, c: float,
         rng: NDArray[np.int64], stop_at_win: bool = True) -> tuple[int, int]:  # fmt: skip
    """A UCB1 search of the monster killer's utility into `tree`: (iterations made, nodes)."""
    nodes = np.zeros(2, dtype=np.int64)
    made = library().mcts(
        _words(level.tables), _words(level.start), len(level.start), tree.links.ctypes.data, tree.values.ctypes.data,
        _words(tree.states), tree.capacity, iterations, horizon, length, int(stop_at_win), c,
        _longs(rng), _longs(nodes),
    )  # fmt: skip
    return int(made), int(nodes[0])
