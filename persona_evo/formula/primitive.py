"""The definition of one operation of formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from persona_evo.formula.assembly import AssemblyNumber
from persona_evo.formula.interval_rules import Span
from persona_evo.formula.rewrite_rules import Rule

if TYPE_CHECKING:
    from persona_evo.formula.interval_rules import Spans


COMPARISON, SUM, PRODUCT, SIGN, ATOM = 1, 2, 3, 4, 5
"""How tightly an operation binds, loosest first."""


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """One operation.

    Attributes:
        name: the name in the tokens and the text of formulas.
        arity: number of operands.
        meaning: a description in words.
        guard: what makes the operation defined everywhere; "" if it is without help.
        precedence: how tightly it binds; ATOM for what is written as a call.
        commutative: whether operands may change places, exactly so in floating point too.
        constant_first: whether a constant is the first operand of its canonical form, else the last.
        function: the reference in Python.
        interval: the interval and the direction of the result, from those of the operands (`Span`).
        intervals: the intervals of many results, from the module numpy and the operands' intervals (`Spans`).
        native: writes machine code; operands are within ±LIMIT and so is the result.
        rewrite: the exact rewriting rules.
        sympy: builds the sympy expression from the sympy module and the operands (without the guard).
        sympy_class: the class of sympy that is read back as this operation, "" where there is not one alone.
        latex: the template of LaTeX, with {0}, {1}, {2} for the operands.
        latex_precedence: how tightly the result of `latex` binds; None where it is `precedence`.
        latex_encloses: whether `latex` sets an infix operation so that its operands need no brackets.
        python, numpy, csharp: templates that take operands which are atoms or bracketed, and yield the guarded value
            with the helpers that `formula.export` writes before them.
    """

    name: str
    arity: int
    meaning: str
    guard: str = ""
    precedence: int
    commutative: bool = False
    constant_first: bool = False
    function: Callable[..., float]
    interval: Callable[..., Span]
    intervals: Callable[..., Spans]
    native: Callable[..., AssemblyNumber]
    rewrite: Rule
    sympy: Callable[..., Any]
    sympy_class: str = ""
    latex: str
    latex_precedence: int | None = None
    latex_encloses: bool = False
    python: str
    numpy: str
    csharp: str

    @property
    def infix(self) -> bool:
        """Whether it is written between its two operands."""
        return self.arity == 2 and self.precedence < ATOM
