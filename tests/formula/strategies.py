"""Random formulas and nasty values for the property tests."""

from __future__ import annotations

import struct

from hypothesis import strategies as st

from persona_evo.formula import LIMIT, MAX_NODES, TABLE, Formula
from persona_evo.formula.core import Token

SYMBOLS = ("R", "MS", "PE", "ST")

_special = st.sampled_from(
    [0.0, 1.0, -1.0, 2.0, 0.5, -0.25, 0.1, 3.0, 1e-5, 700.0, -701.0, 1e300, -1e300, 5e-324, 1e200]
)
constants = st.one_of(_special, st.floats(-LIMIT, LIMIT))
values = st.one_of(
    _special,
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([float("nan"), float("inf"), -float("inf"), -0.0, 1.7e308]),
    st.integers(-5, 200).map(float),
)
points = st.fixed_dictionaries({s: values for s in SYMBOLS})
leaves = st.one_of(st.sampled_from(SYMBOLS), constants).map(lambda t: (t,))


def _grow(parts: st.SearchStrategy[tuple[Token, ...]]) -> st.SearchStrategy[tuple[Token, ...]]:
    def join(name: str, arity: int) -> st.SearchStrategy[tuple[Token, ...]]:
        return st.tuples(*[parts] * arity).map(lambda args: (*(t for a in args for t in a), name))

    return st.one_of([join(p.name, p.arity) for p in TABLE])


formulas = st.recursive(leaves, _grow, max_leaves=25).map(Formula)


def bits(value: float) -> bytes:
    """Return a float to the last bit, the sign of a zero included."""
    return struct.pack("<d", value)


LARGE = (
    "R - (" * 511 + "MS" + ")" * 511,
    "if(R, 1, " * 340 + "MS" + ")" * 340,
    "-" * (MAX_NODES - 1) + "R",
    " + ".join(["R * MS"] * 64),
)
"""Formulas as large and as deep as they may be, and one of many equal parts."""
