"""The tree of a search over prefixes: its memory, a way to walk through it, and a file that keeps it.

The file is numpy's `.npz` without objects, so that reading one runs no code: `links`, `values` and `metrics` as in
`descent`, and `about`, a JSON text with the format's version and the metrics' symbols.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.connect import descent as d
from persona_evo.errors import Place, RunError

FORMAT = 1
_STATUS = {d.GOING: "open", d.DONE: "done", d.DEAD: "dead"}


@dataclass(frozen=True)
class Node:
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


class PrefixTree:
    """Rows of nodes, as many as were needed, up to `most`.

    Args:
        symbols: of the metrics that nodes keep.
        most: nodes at most.
    """

    def __init__(self, symbols: Sequence[str], most: int = 1_000_000) -> None:
        self.symbols, self.most = tuple(symbols), max(1, most)
        size = min(self.most, 1024)
        self.links: NDArray[np.int64] = np.zeros((size, d.LINKS), dtype=np.int64)
        self.values: NDArray[np.float64] = np.zeros((size, d.VALUES))
        self.metrics: NDArray[np.float64] = np.zeros((size, len(self.symbols)))
        self.nodes = int(d.plant(self.links, self.values))

    def make_room(self, rows: int = 1) -> None:
        """See that there are rows for so many more nodes, or as many as the tree may have."""
        size = len(self.links)
        if self.nodes + rows <= size or size >= self.most:
            return
        more = min(self.most, max(2 * size, self.nodes + rows)) - size
        for name in ("links", "values", "metrics"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros((more, old.shape[1]), dtype=old.dtype)]))

    def node(self, number: int) -> Node:
        """A node by its number; the root is 0.

        Raises:
            IndexError: there is none.
        """
        if not 0 <= number < self.nodes:
            raise IndexError(f"no node {number} in a tree of {self.nodes}")
        row, sums = self.links[number], self.values[number]
        visits = int(row[d.VISITS])
        mean = float(sums[d.TOTAL]) / visits if visits else math.nan
        spread = math.sqrt(max(0.0, float(sums[d.SQUARES]) / visits - mean * mean)) if visits else math.nan
        best = float(sums[d.BEST]) if visits else math.nan
        count = int(row[d.COUNT])
        metrics = dict(zip(self.symbols, map(float, self.metrics[number]), strict=True)) if visits else {}
        return Node(
            number, int(row[d.PARENT]), self.choices(number), None if count == d.UNKNOWN else count, visits, mean, best,
            spread, metrics, _STATUS[int(row[d.STATUS])], tuple(self._children(number)),
        )  # fmt: skip

    def choices(self, number: int) -> tuple[int, ...]:
        """The choices that lead to a node."""
        found: list[int] = []
        while self.links[number, d.PARENT] != d.NOBODY:
            found.append(int(self.links[number, d.CHOICE]))
            number = int(self.links[number, d.PARENT])
        return tuple(reversed(found))

    def find(self, choices: Sequence[int]) -> Node | None:
        """The node of a prefix, None if it is not in the tree."""
        number = 0
        for choice in choices:
            below = (c for c in self._children(number) if self.links[c, d.CHOICE] == choice)
            number = next(below, -1)
            if number < 0:
                return None
        return self.node(number)

    def walk(self) -> Iterator[Node]:
        """All nodes, parents before their children, in the order in which they were made."""
        return (self.node(number) for number in range(self.nodes))

    @property
    def explored(self) -> bool:
        """Whether every way to play is known."""
        return bool(self.links[0, d.STATUS] == d.DONE)

    def save(self, path: Path) -> None:
        """Write the tree to a file."""
        about = json.dumps({"format": FORMAT, "symbols": list(self.symbols)})
        with path.open("wb") as file:
            np.savez_compressed(
                file, links=self.links[: self.nodes], values=self.values[: self.nodes],
                metrics=self.metrics[: self.nodes], about=np.frombuffer(about.encode(), dtype=np.uint8),
            )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> PrefixTree:
        """The tree in a file, to be looked at.

        Raises:
            RunError: there is none, or it is damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as data:
                about = json.loads(bytes(data["about"]).decode())
                found = {name: data[name] for name in ("links", "values", "metrics")}
        except (OSError, ValueError, KeyError, EOFError, RecursionError, zipfile.BadZipFile) as e:
            raise RunError("not a file with a tree", place=Place(str(path)), found=str(e)[:200]) from e
        wrong = _wrong(about, found)
        if wrong:
            raise RunError("the tree's file is damaged", place=Place(str(path)), found=wrong)
        tree = cls(about["symbols"], len(found["links"]))
        tree.links, tree.values, tree.metrics = found["links"], found["values"], found["metrics"]
        tree.nodes = len(tree.links)
        return tree

    def _children(self, number: int) -> list[int]:
        found: list[int] = []
        child = int(self.links[number, d.FIRST])
        while child != d.NOBODY:
            found.append(child)
            child = int(self.links[child, d.NEXT])
        return found[::-1]


def _wrong(about: Any, found: dict[str, NDArray[Any]]) -> str:
    """What is wrong with a file's content; "" if nothing is."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        return f"format {about.get('format') if isinstance(about, dict) else about!r}, expected {FORMAT}"
    symbols = about.get("symbols")
    if not isinstance(symbols, list) or not all(isinstance(s, str) for s in symbols):
        return "symbols that are no list of texts"
    n = len(found["links"]) if found["links"].ndim else 0
    shapes = {"links": (n, d.LINKS), "values": (n, d.VALUES), "metrics": (n, len(symbols))}
    for name, shape in shapes.items():
        kind = np.int64 if name == "links" else np.float64
        if found[name].shape != shape or found[name].dtype != kind or n < 1:
            return f"{name} of shape {found[name].shape} and type {found[name].dtype}"
    links = found["links"]
    numbers = np.arange(n)
    parents = links[:, d.PARENT]
    if parents[0] != d.NOBODY or (n > 1 and not ((parents[1:] >= 0) & (parents[1:] < numbers[1:])).all()):
        return "a node whose parent does not stand before it"
    for column, low in ((d.FIRST, numbers + 1), (d.NEXT, np.zeros(n))):
        to = links[:, column]
        if not ((to == d.NOBODY) | ((to >= low) & (to < n))).all():
            return "a link that leads nowhere"
    beside = links[:, d.NEXT]
    if not ((beside == d.NOBODY) | (beside < numbers)).all():
        return "a row of siblings that does not end"
    if not np.isin(links[:, d.STATUS], list(_STATUS)).all():
        return "a status that there is not"
    return ""
