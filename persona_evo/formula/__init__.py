"""A small expression language for tree policies and utilities.

`parse("0.7*MS + 0.3*PE - 5*DEAD")` returns a `Formula`. It is immutable and printable, and has the same value wherever
it is computed: by `Formula.evaluate`, in machine code (`native`), and by the sources that `export` writes.

| operation | meaning | guard |
|---|---|---|
| a + b, a - b, a * b, -a | as usual | limited to ±1e300 |
| a / b | quotient | 1 where b is 0; limited to ±1e300 |
| a > b, a >= b, a < b, a <= b | 1 or 0 | |
| x ^ 3 | x * x * x, for whole exponents from 0 | |
| abs(x), min(a, b), max(a, b) | as usual | |
| sqrt(x), log(x) | of the magnitude | log(0) is 0 |
| exp(x) | e to the power x | x is limited to ±700; the result to ±1e300 |
| if(c, a, b) | a where c > 0, else b | |

A variable that is NaN counts as 0, and an infinite one as ±1e300, so every formula returns a number for every input.
"""

from persona_evo.formula.core import Formula, Token, parse
from persona_evo.formula.operators import Operator
from persona_evo.formula.primitive import Primitive
from persona_evo.formula.primitives import LIMIT, MAX_NODES, PRIMITIVES, TABLE

__all__ = [
    "LIMIT",
    "MAX_NODES",
    "PRIMITIVES",
    "TABLE",
    "Formula",
    "Operator",
    "Primitive",
    "Token",
    "parse",
]
