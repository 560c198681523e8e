"""What a search over prefixes has found: a way to walk through its tree, and a file that keeps it.

The file is numpy's `.npz` without objects, so that reading one runs no code: `links`, `values` and `metrics` as in
`PrefixTree`, and `about`, a JSON text with the format's version and the metrics' symbols.
"""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import Place, RunError
from persona_evo.jobs import files
from persona_evo.jobs.files import opened
from persona_evo.search import tree as t
from persona_evo.search.prefixes import Prefixes

FORMAT = 2
PARENT, CHOICE, COUNT, VISITS, STATUS = range(5)
LINKS = 5
TOTAL, BEST, SQUARES = range(3)
_STATUS = ("open", "done", "dead")
_BEFORE = (0, 3, 4, 6, 9)
"""Where format 1 kept the columns of `links`, among others."""


@dataclass(frozen=True)
class PrefixNode:
    """A prefix in the tree.

    choices: from the root. count: choices here, 0 where the game is over, None where no result came back yet. mean,
    best, deviation: of the utilities backed up (NaN without visits). metrics: reported here. status: open, done (all
    below is known) or dead (the game fails here). children: numbers of nodes, in the order in which they were made.
    """

    number: int
    parent: int
    choices: tuple[int, ...]
    count: int | None
    visits: int
    mean: float
    best: float
    deviation: float
    metrics: dict[str, float]
    status: str
    children: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """A tree of prefixes, one row a node, parents before their children.

    Attributes:
        symbols: of the metrics.
        links: int64[nodes, LINKS]: the parent (-1 at the root), the choice that leads here, how many choices there are
            here (-1 until the first result), visits, and the number of the status in _STATUS.
        values: float64[nodes, 3]: sum, largest and sum of squares of the utilities backed up.
        metrics: float64[nodes, symbols].
    """

    symbols: tuple[str, ...]
    links: NDArray[np.int64]
    values: NDArray[np.float64]
    metrics: NDArray[np.float64]

    @classmethod
    def of(cls, work: Prefixes, symbols: Sequence[str]) -> PrefixTree:
        """The tree of a search as it is now."""
        tree, nodes = work.search.tree, int(work.search.buffers.counts[0])
        rows = tree.nodes[:nodes]
        hot, values = tree.links[rows[:, t.SLOT]], tree.values[rows[:, t.SLOT]]
        status = np.where(hot[:, t.STATUS] & t.DEAD, 2, (hot[:, t.STATUS] & t.DONE) != 0)
        links = np.stack([rows[:, t.PARENT], rows[:, t.ACTION], work.choices[:nodes], hot[:, t.VISITS], status], axis=1)
        kept = values[:, [t.TOTAL, tree.columns.best, tree.columns.squares]]
        return cls(tuple(symbols), links.astype(np.int64), kept, work.metrics[:nodes].copy())

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.links)

    def node(self, number: int) -> PrefixNode:
        """A node by its number; the root is 0.

        Raises:
            IndexError: there is none.
        """
        if not 0 <= number < self.nodes:
            raise IndexError(f"no node {number} in a tree of {self.nodes}")
        parent, _, count, visits, status = map(int, self.links[number])
        total, best, squares = map(float, self.values[number])
        mean = total / visits if visits else math.nan
        spread = math.sqrt(max(0.0, squares / visits - mean * mean)) if visits else math.nan
        metrics = dict(zip(self.symbols, map(float, self.metrics[number]), strict=True)) if visits else {}
        return PrefixNode(
            number,
            parent,
            self.choices(number),
            None if count < 0 else count,
            visits,
            mean,
            best if visits else math.nan,
            spread,
            metrics,
            _STATUS[status],
            tuple(self._children.get(number, ())),
        )

    @cached_property
    def _children(self) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, parent in enumerate(self.links[:, PARENT].tolist()):
            found.setdefault(parent, []).append(number)
        return found

    def choices(self, number: int) -> tuple[int, ...]:
        """The choices that lead to a node."""
        found: list[int] = []
        while self.links[number, PARENT] >= 0:
            found.append(int(self.links[number, CHOICE]))
            number = int(self.links[number, PARENT])
        return tuple(reversed(found))

    def find(self, choices: Sequence[int]) -> PrefixNode | None:
        """The node of a prefix, None if it is not in the tree."""
        number = 0
        for choice in choices:
            below = (c for c in self._children.get(number, ()) if self.links[c, CHOICE] == choice)
            number = next(below, -1)
            if number < 0:
                return None
        return self.node(number)

    def walk(self) -> Iterator[PrefixNode]:
        """All nodes, parents before their children, in the order in which they were made."""
        return (self.node(number) for number in range(self.nodes))

    @property
    def explored(self) -> bool:
        """Whether every way to play is known."""
        return _STATUS[int(self.links[0, STATUS])] == "done"

    def save(self, path: Path) -> None:
        """Write the tree to a file."""
        about = json.dumps({"format": FORMAT, "symbols": list(self.symbols)})
        with files.naming(path), path.open("wb") as file:
            np.savez_compressed(
                file,
                links=self.links,
                values=self.values,
                metrics=self.metrics,
                about=np.frombuffer(about.encode(), dtype=np.uint8),
            )

    @classmethod
    def load(cls, path: Path) -> PrefixTree:
        """The tree in a file, of this format or the one before.

        Raises:
            RunError: there is none, or it is damaged.
        """
        try:
            with opened(path, RunError, "a file with a tree") as file, np.load(file, allow_pickle=False) as data:
                about = json.loads(bytes(data["about"]).decode())
                found = {name: data[name] for name in ("links", "values", "metrics")}
        except RunError:
            raise
        except _UNREADABLE as e:
            raise RunError("not a file with a tree", place=Place(str(path)), found=str(e)[:200]) from e
        wrong = _wrong(about, found)
        if wrong:
            raise RunError("the tree's file is damaged", place=Place(str(path)), found=wrong)
        return cls(tuple(about["symbols"]), found["links"], found["values"], found["metrics"])


_UNREADABLE = (
    *(OSError, ValueError, KeyError, EOFError, RecursionError, TypeError, SyntaxError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, MemoryError),
)
"""What reading a damaged file raises: its parts have checksums, their places and sizes have none."""


def _wrong(about: Any, found: dict[str, NDArray[Any]]) -> str:
    """What is wrong with a file's content; "" if nothing is. Of format 1 only what is needed is left in `found`."""
    version = about.get("format") if isinstance(about, dict) else about
    if version not in (1, FORMAT):
        return f"format {version!r}, expected {FORMAT}"
    symbols = about.get("symbols")
    if not isinstance(symbols, list) or not all(isinstance(s, str) for s in symbols):
        return "symbols that are no list of texts"
    if version == 1 and found["links"].ndim == 2 and found["links"].shape[1] == 12:
        found["links"] = found["links"][:, _BEFORE]
    n = len(found["links"]) if found["links"].ndim else 0
    shapes = {"links": (n, LINKS), "values": (n, 3), "metrics": (n, len(symbols))}
    for name, shape in shapes.items():
        kind = np.int64 if name == "links" else np.float64
        if found[name].shape != shape or found[name].dtype != kind or n < 1:
            return f"{name} of shape {found[name].shape} and type {found[name].dtype}"
    parents, numbers = found["links"][:, PARENT], np.arange(n)
    if parents[0] != -1 or (n > 1 and not ((parents[1:] >= 0) & (parents[1:] < numbers[1:])).all()):
        return "a node whose parent does not stand before it"
    if not np.isin(found["links"][:, STATUS], range(len(_STATUS))).all():
        return "a status that there is not"
    return ""
