"""Formulas as the rows of numbers that compiled code takes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from persona_evo.compiling.arrays import FloatRow, IntRow
from persona_evo.formula import Formula
from persona_evo.formula.encoding import encode_all


@lru_cache(maxsize=512)
def code(formula: Formula, order: tuple[str, ...]) -> tuple[IntRow, FloatRow]:
    """A formula over variables in this order, as code and constants (neither is empty)."""
    (words,), constants = encode_all([formula], order)
    return np.array(words, dtype=np.int64), np.array(constants or [0.0], dtype=np.float64)
