"""Describes how functions are made to return a number everywhere, for display beside formulas that contain them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from persona_evo.formula.core import Formula
from persona_evo.formula.primitives import CLAMPED, PRIMITIVES


def guards(formulas: Iterable[Formula]) -> str:
    """Return one sentence on what the functions in these formulas return where they have no value; "" if there is none.

    Divisors and arguments that are numbers other than 0 are left out, and so is the limit of ±1e300 on every result.
    """
    named = dict.fromkeys(name for formula in formulas for name in _guarded(formula))
    found = [f"{_written(name)} {_domain(name)}" for name in PRIMITIVES if name in named]
    return f"Protected, so that a formula has a value everywhere: {'; '.join(found)}" if found else ""


def _guarded(formula: Formula) -> Iterator[str]:
    """Yield the functions of a formula whose guard can matter. In postfix order a function follows its last operand."""
    for before, token in zip(("", *formula.tokens), formula.tokens, strict=False):
        if token in PRIMITIVES and _domain(str(token)) and not (isinstance(before, float) and before > 0):
            yield str(token)


def _domain(name: str) -> str:
    """Return a primitive's guard without the limit that all have."""
    parts = [part for part in PRIMITIVES[name].guard.split("; ") if part != CLAMPED]
    return ", ".join(parts)


def _written(name: str) -> str:
    return f"a {name} b is" if PRIMITIVES[name].infix else f"{name}(x):"
