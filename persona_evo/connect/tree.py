"""The tree of a search over prefixes: access to its nodes, and the file format that stores it.

The file is a NumPy `.npz` archive without pickled objects, so reading one does not run code. It holds `links`, `values`
and `metrics` as in `PrefixTree`, and `about`, a JSON text with the version of the format and the metrics' symbols.
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
"""The columns of format 1's `links` that hold today's columns; format 1 had others as well."""


@dataclass(frozen=True)
class PrefixNode:
    """A prefix in the tree.

    Attributes:
        number, parent: the numbers of this node and of its parent (-1 at the root).
        choices: the choices that lead here from the root.
        count: the number of choices here; 0 where the game is over, None before the first result.
        mean, best, deviation: statistics of the utilities backed up; NaN without visits.
        metrics: the metrics that the game reported here; empty without visits.
        status: "open", "done" (everything below is known) or "dead" (the game fails here).
        children: the numbers of the children, in the order in which they were made.
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
    """A tree of prefixes with one row per node, parents before their children.

    Attributes:
        symbols: the symbols of the metrics.
        links: int64[nodes, LINKS]: the parent (-1 at the root), the choice that leads here, the number of choices here
            (-1 until the first result), the visits, and the index of the status in _STATUS.
        values: float64[nodes, 3]: the sum, maximum and sum of squares of the utilities backed up.
        metrics: float64[nodes, symbols]: the metrics that the game reported at each node.
    """

    symbols: tuple[str, ...]
    links: NDArray[np.int64]
    values: NDArray[np.float64]
    metrics: NDArray[np.float64]

    @classmethod
    def of(cls, work: Prefixes, symbols: Sequence[str]) -> PrefixTree:
        """Return the current tree of a search."""
        tree, nodes = work.search.tree, int(work.search.buffers.counts[0])
        rows = tree.nodes[:nodes]
        hot, values = tree.links[rows[:, t.SLOT]], tree.values[rows[:, t.SLOT]]
        status = np.where(hot[:, t.STATUS] & t.DEAD, 2, (hot[:, t.STATUS] & t.DONE) != 0)
        links = np.stack([rows[:, t.PARENT], rows[:, t.ACTION], work.choices[:nodes], hot[:, t.VISITS], status], axis=1)
        kept = values[:, [t.TOTAL, tree.columns.best, tree.columns.squares]]
        return cls(tuple(symbols), links.astype(np.int64), kept, work.metrics[:nodes].copy())

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.links)

    def node(self, number: int) -> PrefixNode:
        """Return the node with this number; the root is 0.

        Raises:
            IndexError: there is no such node.
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
        """Return the choices that lead from the root to a node."""
        found: list[int] = []
        while self.links[number, PARENT] >= 0:
            found.append(int(self.links[number, CHOICE]))
            number = int(self.links[number, PARENT])
        return tuple(reversed(found))

    def find(self, choices: Sequence[int]) -> PrefixNode | None:
        """Return the node of a prefix, or None if it is not in the tree."""
        number = 0
        for choice in choices:
            below = (c for c in self._children.get(number, ()) if self.links[c, CHOICE] == choice)
            number = next(below, -1)
            if number < 0:
                return None
        return self.node(number)

    def walk(self) -> Iterator[PrefixNode]:
        """Yield all nodes in the order in which they were made, so parents come before their children."""
        return (self.node(number) for number in range(self.nodes))

    @property
    def explored(self) -> bool:
        """Whether every way to play is known, that is, the root is done."""
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
        """Read a tree from a file of the current or the previous format.

        Raises:
            RunError: the file does not exist, holds no tree, or is damaged.
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
"""The exceptions that reading a damaged file raises. The archive's members have checksums, but their offsets and sizes
do not, so damage shows in many ways."""


def _wrong(about: Any, found: dict[str, NDArray[Any]]) -> str:
    """Return what is wrong with a file's content, or ""; reduce `links` of format 1 to the columns of today."""
    version = about.get("format") if isinstance(about, dict) else about
    if version not in (1, FORMAT):
        return f"format {version!r}, expected {FORMAT}"
    symbols = about.get("symbols")
    if not isinstance(symbols, list) or not all(isinstance(s, str) for s in symbols):
        return "symbols that are not a list of texts"
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
        return "a node whose parent does not come before it"
    if not np.isin(found["links"][:, STATUS], range(len(_STATUS))).all():
        return "an unknown status"
    return ""
