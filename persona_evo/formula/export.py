"""Exports a formula as text, LaTeX, or source in Python, NumPy and C#, with the same values as in this program.

Each source stands alone: it is a function of the formula's symbols in alphabetical order, with the helpers for the
protected operations. Long formulas are split into steps, since compilers limit how deep brackets may nest. Every value
is the same to the last bit if the other language's exp and log are; NumPy's may differ in that bit.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from persona_evo.errors import SettingsError, unknown
from persona_evo.formula.core import Formula
from persona_evo.formula.latex import latex
from persona_evo.formula.primitive import Primitive
from persona_evo.formula.primitives import PRIMITIVES

LEVELS = 10
"""The nesting depth of operations in one expression beyond which a separate step is written."""
WIDTH = 80
"""The length of an expression beyond which a separate step is written."""


@dataclass(frozen=True)
class Language:
    """The way a language writes expressions.

    Attributes:
        template: selects the primitive's template.
        step: how an intermediate value is declared.
        helpers: helper name -> source, written only if used.
        reserved: names that a parameter must not have.
    """

    template: Callable[[Primitive], str]
    step: str
    helpers: dict[str, str]
    reserved: frozenset[str]


PYTHON = Language(
    template=lambda p: p.python,
    step="{0} = {1}",
    helpers={
        "clean": '''\
def clean(x):
    """NaN counts as 0, anything beyond ±1e300 as ±1e300."""
    return 0.0 if x != x else limit(float(x))
''',
        "limit": """\
def limit(x):
    return 1e300 if x > 1e300 else -1e300 if x < -1e300 else x
""",
        "divide": '''\
def divide(a, b):
    """1 where the divisor is 0."""
    return 1.0 if b == 0.0 else limit(a / b)
''',
        "log": """\
def log(x):
    return 0.0 if x == 0.0 else math.log(abs(x))
""",
        "exp": """\
def exp(x):
    return limit(math.exp(min(max(x, -700.0), 700.0)))
""",
    },
    reserved=frozenset(
        (*keyword.kwlist, "math", "min", "max", "abs", "float", "clean", "limit", "divide", "log", "exp")
    ),
)

NUMPY = Language(
    template=lambda p: p.numpy,
    step="{0} = {1}",
    helpers={
        "clean": '''\
def clean(x):
    """NaN counts as 0, anything beyond ±1e300 as ±1e300."""
    x = np.asarray(x, dtype=np.float64)
    return limit(np.where(np.isnan(x), 0.0, x))
''',
        "limit": """\
def limit(x):
    return np.minimum(np.maximum(x, -1e300), 1e300)
""",
        "divide": '''\
def divide(a, b):
    """1 where the divisor is 0."""
    return np.where(b == 0.0, 1.0, limit(a / np.where(b == 0.0, 1.0, b)))
''',
        "log": """\
def log(x):
    return np.log(np.where(x == 0.0, 1.0, np.abs(x)))
""",
        "exp": """\
def exp(x):
    return limit(np.exp(np.minimum(np.maximum(x, -700.0), 700.0)))
""",
        "truth": """\
def truth(x):
    return np.where(x, 1.0, 0.0)
""",
    },
    reserved=frozenset({*keyword.kwlist, "np", "clean", "limit", "divide", "log", "exp", "truth"}),
)

_CSHARP_WORDS = (
    "Math Clean Limit Divide Log Exp abstract as base bool break byte case catch char checked class const continue "
    "decimal default delegate do double else enum event explicit extern false finally fixed float for foreach goto "
    "if implicit in int interface internal is lock long namespace new null object operator out override params "
    "private protected public readonly ref return sbyte sealed short sizeof stackalloc static string struct switch "
    "this throw true try typeof uint ulong unchecked unsafe ushort using virtual void volatile while"
)

CSHARP = Language(
    template=lambda p: p.csharp,
    step="double {0} = {1};",
    helpers={
        "Clean": """\
    /// <summary>NaN counts as 0, anything beyond ±1e300 as ±1e300.</summary>
    static double Clean(double x) { return double.IsNaN(x) ? 0.0 : Limit(x); }
""",
        "Limit": """\
    static double Limit(double x) { return x > 1e300 ? 1e300 : x < -1e300 ? -1e300 : x; }
""",
        "Divide": """\
    /// <summary>1 where the divisor is 0.</summary>
    static double Divide(double a, double b) { return b == 0.0 ? 1.0 : Limit(a / b); }
""",
        "Log": """\
    static double Log(double x) { return x == 0.0 ? 0.0 : Math.Log(Math.Abs(x)); }
""",
        "Exp": """\
    static double Exp(double x) { return Limit(Math.Exp(Math.Min(Math.Max(x, -700.0), 700.0))); }
""",
    },
    reserved=frozenset(_CSHARP_WORDS.split()),
)

RESERVED = PYTHON.reserved | NUMPY.reserved | CSHARP.reserved


def export(formula: Formula, kind: str, name: str = "score", about: str = "") -> str:
    """Return a formula in another notation.

    Args:
        formula: the formula to write.
        kind: text, latex, python, numpy or csharp.
        name: the name of the function (in C# of the class, whose method is `Evaluate`).
        about: one line for the comment at the top.

    Raises:
        SettingsError: the kind is unknown, or `name` is not a valid name.
    """
    if kind not in KINDS:
        expected, hint = unknown(kind, KINDS)
        raise SettingsError("no such form of a formula", found=kind, expected=expected, hint=hint)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name) or {name, _title(name)} & RESERVED:
        raise SettingsError(
            "not a name for a function",
            found=repr(name),
            expected="letters, digits and _, and not a keyword of the language",
        )
    return KINDS[kind](formula, name, " ".join((about or f"Score: {formula.text}").split()))


def _python(formula: Formula, name: str, about: str) -> str:
    names, steps, result, helpers = _code(formula, PYTHON)
    cleaned = [f"    {n} = clean({n})\n" for n in names]
    return (
        f'"""{_quoted(about)}"""\n\n'
        + "import math\n\n\n"
        + "".join(h + "\n\n" for h in helpers)
        + f"def {name}({', '.join(names)}):\n"
        + "".join(cleaned)
        + "".join(f"    {s}\n" for s in steps)
        + f"    return {result} + 0.0\n"
    )


def _numpy(formula: Formula, name: str, about: str) -> str:
    names, steps, result, helpers = _code(formula, NUMPY)
    cleaned = [f"    {n} = clean({n})\n" for n in names]
    return (
        f'"""{_quoted(about)} Takes arrays of one shape (or numbers)."""\n\n'
        + "import numpy as np\n\n\n"
        + "".join(h + "\n\n" for h in helpers)
        + f"def {name}({', '.join(names)}):\n"
        + "".join(cleaned)
        + '    with np.errstate(over="ignore", under="ignore"):\n'
        + "".join(f"        {s}\n" for s in steps)
        + f"        return {result} + 0.0\n"
    )


def _csharp(formula: Formula, name: str, about: str) -> str:
    names, steps, result, helpers = _code(formula, CSHARP)
    cleaned = [f"        {n} = Clean({n});\n" for n in names]
    escaped = about.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        f"using System;\n\n/// <summary>{escaped}</summary>\npublic static class {_title(name)}\n{{\n"
        + f"    public static double Evaluate({', '.join(f'double {n}' for n in names)})\n    {{\n"
        + "".join(cleaned)
        + "".join(f"        {s}\n" for s in steps)
        + f"        return {result} + 0.0;\n    }}\n\n"
        + "\n".join(helpers)
        + "}\n"
    )


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _code(formula: Formula, language: Language) -> tuple[list[str], list[str], str, list[str]]:
    """Return (parameters, steps, the last expression, sources of the helpers)."""
    symbols = sorted(formula.symbols)
    names = _names(symbols, language.reserved)
    steps: list[str] = []
    stack: list[tuple[str, int]] = []
    for token in formula.tokens:
        if isinstance(token, float):
            stack.append((_number(token), 0))
        elif token in PRIMITIVES:
            primitive = PRIMITIVES[token]
            operands = stack[len(stack) - primitive.arity :]
            del stack[len(stack) - primitive.arity :]
            text = language.template(primitive).format(*(t for t, _ in operands))
            level = 1 + max(level for _, level in operands)
            if level >= LEVELS or len(text) > WIDTH:
                steps.append(language.step.format(f"t{len(steps) + 1}", text))
                text, level = f"t{len(steps)}", 0
            stack.append((text, level))
        else:
            stack.append((names[token], 0))
    result = stack[0][0]
    used = " ".join([*steps, result, *(["clean(", "Clean("] if symbols else [])])
    return list(names.values()), steps, result, _helpers(used, language)


def _helpers(used: str, language: Language) -> list[str]:
    found: list[str] = []
    for name, source in language.helpers.items():
        if re.search(rf"(?<![\w.]){name}\(", used + " ".join(found)):
            found.append(source)
    limit = next(s for n, s in language.helpers.items() if n.lower() == "limit")
    if limit not in found and any("imit(" in s for s in found):
        found.append(limit)
    return found


def _names(symbols: Sequence[str], reserved: frozenset[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for symbol in symbols:
        name = symbol
        while (
            name in reserved
            or re.fullmatch(r"t[0-9]+", name)
            or name in names.values()
            or (name != symbol and name in symbols)
        ):
            name += "_"
        names[symbol] = name
    return names


def _number(value: float) -> str:
    text = repr(value)
    return f"({text})" if value < 0 else text


KINDS: dict[str, Callable[[Formula, str, str], str]] = {
    "text": lambda formula, name, about: formula.text,
    "latex": lambda formula, name, about: latex(formula),
    "python": _python,
    "numpy": _numpy,
    "csharp": _csharp,
}
"""All notations for a formula."""
