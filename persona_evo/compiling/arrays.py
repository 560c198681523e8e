"""The types of what compiled code is given: rows of numbers, functions, and named tuples of these.

A compiled function sees an array as a bare row: where it lies, and how long it is. Whole numbers come out of every row
as int64 and real numbers as float64; an index is never negative and never checked. Of a row there are `row[i]`,
`row[a:b]`, `len(row)`; of a table (two dimensions, C order) `table[i, j]`, `table[i]`, which is a row, and `table.shape`.
As plain Python the same code works on NumPy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Shape:
    """What compiled code must know of an array: its NumPy type by name, and its dimensions (1 or 2)."""

    dtype: str
    dimensions: int


@dataclass(frozen=True)
class Linked:
    """Marks a field that holds a function of a game, which the machine code is linked with."""


@dataclass(frozen=True)
class Pointed:
    """Marks a field that holds a function by its address (`.address` of the value)."""


IntRow = Annotated[NDArray[np.int64], Shape("int64", 1)]
IntTable = Annotated[NDArray[np.int64], Shape("int64", 2)]
ShortRow = Annotated[NDArray[np.int32], Shape("int32", 1)]
ShortTable = Annotated[NDArray[np.int32], Shape("int32", 2)]
WordRow = Annotated[NDArray[np.uint16], Shape("uint16", 1)]
WordTable = Annotated[NDArray[np.uint16], Shape("uint16", 2)]
FloatRow = Annotated[NDArray[np.float64], Shape("float64", 1)]
FloatTable = Annotated[NDArray[np.float64], Shape("float64", 2)]
SingleTable = Annotated[NDArray[np.float32], Shape("float32", 2)]
