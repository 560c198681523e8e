"""The one table of what a formula is made of.

Everything that knows an operation reads it here: the parser and the printer, the evaluator in Python, the machine code,
intervals, the rewriting rules, the derivation of LaTeX, Python, NumPy and C#, and the way to sympy and back. A
primitive cannot be made without any of these, so none of them meets an operation for which it has no rule.

Two promises hold for every operation on numbers within ±LIMIT: the result is a number, never NaN, and lies within
±LIMIT. Variables are brought into that range before the first operation (`clean`), constants are refused beyond it.
The sign of a zero is never visible: no operation tells -0 from 0, and the result of a whole formula is never -0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from persona_evo.formula import arithmetic, assembly, interval_rules, opcodes, rewrite_rules
from persona_evo.formula.arithmetic import LIMIT, clean
from persona_evo.formula.assembly import Number, where
from persona_evo.formula.interval_rules import Span
from persona_evo.formula.opcodes import STACK
from persona_evo.formula.rewrite_rules import Rule

if TYPE_CHECKING:
    from persona_evo.formula.interval_rules import Spans

__all__ = ["LIMIT", "MAX_NODES", "PRIMITIVES", "STACK", "TABLE", "Primitive", "clean"]

MAX_NODES = 1023
"""Most operations, symbols and numbers in one formula."""

COMPARISON, SUM, PRODUCT, SIGN, ATOM = 1, 2, 3, 4, 5
"""How tightly an operation binds, loosest first."""


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """One operation.

    Attributes:
        name: what a formula's tokens and its text call it.
        arity: number of operands.
        meaning: in words.
        guard: what makes it defined everywhere, "" where nothing has to.
        opcode: in the interpreter.
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
    opcode: int
    precedence: int
    commutative: bool = False
    constant_first: bool = False
    function: Callable[..., float]
    interval: Callable[..., Span]
    intervals: Callable[..., Spans]
    native: Callable[..., Number]
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
        """Written between its two operands."""
        return self.arity == 2 and self.precedence < ATOM


CLAMPED = "limited to ±1e300"
"""What is done to every result, as guards say it."""

TABLE: tuple[Primitive, ...] = (
    Primitive(
        name="+",
        arity=2,
        meaning="sum",
        guard=CLAMPED,
        opcode=opcodes.ADD,
        precedence=SUM,
        commutative=True,
        function=arithmetic.add,
        interval=interval_rules.add,
        intervals=lambda np, a, b: interval_rules.limited(np, a + b),
        native=assembly.add,
        rewrite=rewrite_rules.add,
        sympy=lambda sp, a, b: a + b,
        latex="{0} + {1}",
        python="limit({0} + {1})",
        numpy="limit({0} + {1})",
        csharp="Limit({0} + {1})",
    ),
    Primitive(
        name="-",
        arity=2,
        meaning="difference",
        guard=CLAMPED,
        opcode=opcodes.SUB,
        precedence=SUM,
        function=arithmetic.sub,
        interval=interval_rules.sub,
        intervals=lambda np, a, b: interval_rules.limited(np, a - b[::-1]),
        native=assembly.sub,
        rewrite=rewrite_rules.sub,
        sympy=lambda sp, a, b: a - b,
        latex="{0} - {1}",
        python="limit({0} - {1})",
        numpy="limit({0} - {1})",
        csharp="Limit({0} - {1})",
    ),
    Primitive(
        name="*",
        arity=2,
        meaning="product",
        guard=CLAMPED,
        opcode=opcodes.MUL,
        precedence=PRODUCT,
        commutative=True,
        constant_first=True,
        function=arithmetic.mul,
        interval=interval_rules.mul,
        intervals=interval_rules.mul_many,
        native=assembly.mul,
        rewrite=rewrite_rules.mul,
        sympy=lambda sp, a, b: a * b,
        latex="{0} \\cdot {1}",
        python="limit({0} * {1})",
        numpy="limit({0} * {1})",
        csharp="Limit({0} * {1})",
    ),
    Primitive(
        name="/",
        arity=2,
        meaning="quotient",
        guard=f"1 where the divisor is 0; {CLAMPED}",
        opcode=opcodes.DIV,
        precedence=PRODUCT,
        function=arithmetic.div,
        interval=interval_rules.div,
        intervals=interval_rules.div_many,
        native=assembly.div,
        rewrite=rewrite_rules.div,
        sympy=lambda sp, a, b: a / b,
        latex="\\frac{{{0}}}{{{1}}}",
        latex_precedence=ATOM,
        latex_encloses=True,
        python="divide({0}, {1})",
        numpy="divide({0}, {1})",
        csharp="Divide({0}, {1})",
    ),
    Primitive(
        name="neg",
        arity=1,
        meaning="the opposite",
        opcode=opcodes.NEG,
        precedence=SIGN,
        function=arithmetic.neg,
        interval=interval_rules.neg,
        intervals=lambda np, a: -a[::-1],
        native=lambda a: -a,
        rewrite=rewrite_rules.neg,
        sympy=lambda sp, a: -a,
        latex="-{0}",
        python="(-{0})",
        numpy="(-{0})",
        csharp="(-{0})",
    ),
    Primitive(
        name="abs",
        arity=1,
        meaning="magnitude",
        opcode=opcodes.ABS,
        precedence=ATOM,
        function=abs,
        interval=interval_rules.magnitude,
        intervals=interval_rules.magnitude_many,
        native=assembly.magnitude,
        rewrite=rewrite_rules.magnitude,
        sympy=lambda sp, a: sp.Abs(a),
        sympy_class="Abs",
        latex="\\left|{0}\\right|",
        python="abs({0})",
        numpy="np.abs({0})",
        csharp="Math.Abs({0})",
    ),
    Primitive(
        name="sqrt",
        arity=1,
        meaning="square root of the magnitude",
        guard="of |x|",
        opcode=opcodes.SQRT,
        precedence=ATOM,
        function=arithmetic.sqrt,
        interval=interval_rules.sqrt,
        intervals=interval_rules.sqrt_many,
        native=lambda a: assembly.root(assembly.magnitude(a)),
        rewrite=rewrite_rules.sqrt,
        sympy=lambda sp, a: sp.sqrt(sp.Abs(a)),
        latex="\\sqrt{{\\left|{0}\\right|}}",
        python="math.sqrt(abs({0}))",
        numpy="np.sqrt(np.abs({0}))",
        csharp="Math.Sqrt(Math.Abs({0}))",
    ),
    Primitive(
        name="log",
        arity=1,
        meaning="natural logarithm of the magnitude",
        guard="of |x|; 0 where x is 0",
        opcode=opcodes.LOG,
        precedence=ATOM,
        function=arithmetic.log,
        interval=interval_rules.log,
        intervals=interval_rules.log_many,
        native=assembly.log,
        rewrite=rewrite_rules.log,
        sympy=lambda sp, a: sp.log(sp.Abs(a)),
        sympy_class="log",
        latex="\\ln\\left|{0}\\right|",
        python="log({0})",
        numpy="log({0})",
        csharp="Log({0})",
    ),
    Primitive(
        name="exp",
        arity=1,
        meaning="e to the power",
        guard=f"x is taken within ±700; {CLAMPED}",
        opcode=opcodes.EXP,
        precedence=ATOM,
        function=arithmetic.exp,
        interval=interval_rules.exp,
        intervals=interval_rules.exp_many,
        native=assembly.exp,
        rewrite=rewrite_rules.keep,
        sympy=lambda sp, a: sp.exp(a),
        sympy_class="exp",
        latex="\\exp\\left({0}\\right)",
        python="exp({0})",
        numpy="exp({0})",
        csharp="Exp({0})",
    ),
    Primitive(
        name="min",
        arity=2,
        meaning="the smaller one",
        opcode=opcodes.MIN,
        precedence=ATOM,
        commutative=True,
        function=arithmetic.smaller,
        interval=interval_rules.smaller,
        intervals=lambda np, a, b: np.minimum(a, b),
        native=lambda a, b: where(b < a, b, a),
        rewrite=rewrite_rules.smaller,
        sympy=lambda sp, a, b: sp.Min(a, b),
        sympy_class="Min",
        latex="\\min\\left({0}, {1}\\right)",
        python="min({0}, {1})",
        numpy="np.minimum({0}, {1})",
        csharp="Math.Min({0}, {1})",
    ),
    Primitive(
        name="max",
        arity=2,
        meaning="the larger one",
        opcode=opcodes.MAX,
        precedence=ATOM,
        commutative=True,
        function=arithmetic.larger,
        interval=interval_rules.larger,
        intervals=lambda np, a, b: np.maximum(a, b),
        native=lambda a, b: where(b > a, b, a),
        rewrite=rewrite_rules.larger,
        sympy=lambda sp, a, b: sp.Max(a, b),
        sympy_class="Max",
        latex="\\max\\left({0}, {1}\\right)",
        python="max({0}, {1})",
        numpy="np.maximum({0}, {1})",
        csharp="Math.Max({0}, {1})",
    ),
    Primitive(
        name=">",
        arity=2,
        meaning="1 if larger, else 0",
        opcode=opcodes.GT,
        precedence=COMPARISON,
        function=arithmetic.gt,
        interval=interval_rules.gt,
        intervals=lambda np, a, b: np.where(a > b[::-1], 1.0, 0.0),
        native=lambda a, b: where(a > b, 1.0, 0.0),
        rewrite=rewrite_rules.gt,
        sympy=lambda sp, a, b: sp.Piecewise((1, a > b), (0, True)),
        sympy_class="StrictGreaterThan",
        latex="\\left[{0} > {1}\\right]",
        latex_precedence=ATOM,
        python="float({0} > {1})",
        numpy="truth({0} > {1})",
        csharp="({0} > {1} ? 1.0 : 0.0)",
    ),
    Primitive(
        name=">=",
        arity=2,
        meaning="1 if larger or equal, else 0",
        opcode=opcodes.GE,
        precedence=COMPARISON,
        function=arithmetic.ge,
        interval=interval_rules.ge,
        intervals=lambda np, a, b: np.where(a >= b[::-1], 1.0, 0.0),
        native=lambda a, b: where(a >= b, 1.0, 0.0),
        rewrite=rewrite_rules.ge,
        sympy=lambda sp, a, b: sp.Piecewise((1, a >= b), (0, True)),
        sympy_class="GreaterThan",
        latex="\\left[{0} \\ge {1}\\right]",
        latex_precedence=ATOM,
        python="float({0} >= {1})",
        numpy="truth({0} >= {1})",
        csharp="({0} >= {1} ? 1.0 : 0.0)",
    ),
    Primitive(
        name="<",
        arity=2,
        meaning="1 if smaller, else 0",
        opcode=opcodes.LT,
        precedence=COMPARISON,
        function=arithmetic.lt,
        interval=interval_rules.lt,
        intervals=lambda np, a, b: np.where(a[::-1] < b, 1.0, 0.0),
        native=lambda a, b: where(a < b, 1.0, 0.0),
        rewrite=rewrite_rules.lt,
        sympy=lambda sp, a, b: sp.Piecewise((1, a < b), (0, True)),
        sympy_class="StrictLessThan",
        latex="\\left[{0} < {1}\\right]",
        latex_precedence=ATOM,
        python="float({0} < {1})",
        numpy="truth({0} < {1})",
        csharp="({0} < {1} ? 1.0 : 0.0)",
    ),
    Primitive(
        name="<=",
        arity=2,
        meaning="1 if smaller or equal, else 0",
        opcode=opcodes.LE,
        precedence=COMPARISON,
        function=arithmetic.le,
        interval=interval_rules.le,
        intervals=lambda np, a, b: np.where(a[::-1] <= b, 1.0, 0.0),
        native=lambda a, b: where(a <= b, 1.0, 0.0),
        rewrite=rewrite_rules.le,
        sympy=lambda sp, a, b: sp.Piecewise((1, a <= b), (0, True)),
        sympy_class="LessThan",
        latex="\\left[{0} \\le {1}\\right]",
        latex_precedence=ATOM,
        python="float({0} <= {1})",
        numpy="truth({0} <= {1})",
        csharp="({0} <= {1} ? 1.0 : 0.0)",
    ),
    Primitive(
        name="if",
        arity=3,
        meaning="if(c, a, b) is a where c > 0, else b",
        opcode=opcodes.IF,
        precedence=ATOM,
        function=arithmetic.choose,
        interval=interval_rules.choose,
        intervals=interval_rules.choose_many,
        native=lambda c, a, b: where(c > 0.0, a, b),
        rewrite=rewrite_rules.choose,
        sympy=lambda sp, c, a, b: sp.Piecewise((a, c > 0), (b, True)),
        latex="\\begin{{cases}} {1} & {0} > 0 \\\\ {2} & \\text{{otherwise}} \\end{{cases}}",
        latex_precedence=COMPARISON - 1,
        python="({1} if {0} > 0.0 else {2})",
        numpy="np.where({0} > 0.0, {1}, {2})",
        csharp="({0} > 0.0 ? {1} : {2})",
    ),
)
"""Every operation, in the order in which help texts list them."""

PRIMITIVES: dict[str, Primitive] = {p.name: p for p in TABLE}
"""The same by name."""

FUNCTIONS: dict[str, Primitive] = {p.name: p for p in TABLE if p.name.isidentifier()}
"""Those that may be written as a call; their names are reserved and cannot be symbols."""
