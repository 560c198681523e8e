"""Reads the observations of Gymnasium environments: names, ranges and values of their numbers, and a hash of all.

The spaces are told by the names of their classes, so that this module needs no gymnasium.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from persona_evo.errors import printable

MOST_NUMBERS = 32
"""The largest number of metrics that an observation becomes."""

NUMERIC = ("Discrete", "Box", "MultiDiscrete", "MultiBinary")
"""The spaces whose observations have a fixed number of values."""


def _inner(space: Any) -> Iterable[tuple[Any, Any]]:
    """Return the keys and spaces that a Dict or a Tuple is made of."""
    return space.spaces.items() if type(space).__name__ == "Dict" else enumerate(space.spaces)


def parts(space: Any, where: str) -> Iterator[tuple[str, float, float]]:
    """Yield for each number of a space its position, its lowest and its highest value."""
    import numpy as np

    kind = type(space).__name__
    if kind == "Discrete":
        yield where, float(space.start), float(space.start + space.n - 1)
    elif kind in ("Box", "MultiDiscrete", "MultiBinary"):
        low = {"Box": lambda: space.low, "MultiDiscrete": lambda: space.start}.get(kind, lambda: 0)()
        high = {"Box": lambda: space.high, "MultiDiscrete": lambda: space.start + space.nvec - 1}.get(kind, lambda: 1)()
        lows, highs = (np.broadcast_to(np.asarray(b, dtype=float), space.shape).ravel() for b in (low, high))
        for i in range(min(len(lows), MOST_NUMBERS)):
            yield f"{where}[{i}]", float(lows[i]), float(highs[i])
    elif kind in ("Tuple", "Dict"):
        for key, part in _inner(space):
            yield from parts(part, f"{where} {' '.join(printable(str(key)).split())}")


def numbers(space: Any, seen: Any) -> Iterator[Any]:
    """Yield the numbers of an observation, part by part, in the order of `parts`, which is that of the space.

    Parts without a fixed number of values (Sequence, Graph, Text) are left out.
    """
    import numpy as np

    kind = type(space).__name__
    if kind in ("Tuple", "Dict"):
        for key, part in _inner(space):
            yield from numbers(part, seen[key])
    elif kind in NUMERIC:
        yield np.ascontiguousarray(seen).ravel()


def digest(whole: Any, space: Any, seen: Any) -> None:
    """Add a complete observation to a hash."""
    import numpy as np

    kind = type(space).__name__
    if kind in ("Tuple", "Dict"):
        for key, part in _inner(space):
            digest(whole, part, seen[key])
    elif kind in NUMERIC:
        whole.update(np.ascontiguousarray(seen).tobytes())
    elif kind == "Sequence":
        whole.update(str(len(seen)).encode())
        for one in seen if not space.stack else ():
            digest(whole, space.feature_space, one)
        whole.update(repr(seen).encode() if space.stack else b"")
    else:
        whole.update(repr(seen).encode())
