"""Times a small translation, so that the first estimate on a machine is about right."""

from __future__ import annotations

import time
from types import FunctionType

from persona_evo.compiling.arrays import ArrayType, IntRow, ScalarType
from persona_evo.compiling.marks import compiled, with_names

NOMINAL = 0.07
"""The seconds that translating `sample` takes on the machine for which the constants of `estimates` hold."""
_COPIES = 4


@compiled
def sample(row: IntRow, limit: int) -> int:
    """Compute something with what rules of games are mostly made of: rows, loops and branches."""
    total = 0
    for i in range(len(row)):
        if row[i] > limit:
            total += row[i] * (i + 1)
        elif row[i] == 0:
            total -= 1
        else:
            total = max(total - row[i], min(limit, i))
    return total


def slowness() -> float:
    """Start the compiler, and return how many times longer translating takes than on the machine of the constants."""
    _translate()  # loads numba and what numba looks up only once
    started = time.monotonic()
    for _ in range(_COPIES):
        _translate()
    return (time.monotonic() - started) / (_COPIES * NOMINAL)


def _translate() -> None:
    """Translate a copy of `sample`, of which numba knows nothing yet."""
    from persona_evo.compiling.frontend import translate

    copy = with_names(sample)
    assert isinstance(copy, FunctionType)
    translate(copy, (ArrayType("int64", 1), ScalarType(False)), ScalarType(False), "sample")
