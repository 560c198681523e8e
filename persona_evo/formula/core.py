"""Formulas: immutable expressions over named numbers, used for tree policies and for utilities."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from persona_evo.errors import FormulaError, Place, unknown
from persona_evo.formula import primitives as p

Token = str | float
"""A float is a constant; a string is a primitive (its name in the table) or else a symbol."""


@dataclass(frozen=True)
class Formula:
    """An expression in postfix order. Two are equal if they are written the same way, whatever the spacing.

    Args:
        tokens: operands before their operation, `(0.7, "MS", "*", "PE", "+")` for 0.7 * MS + PE.

    Raises:
        FormulaError: the tokens are not an expression, a constant is out of range, or there are more than MAX_NODES.
    """

    tokens: tuple[Token, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.tokens, (tuple, list)):
            raise FormulaError(
                "the tokens are not a list", found=repr(self.tokens)[:100], expected="tokens in postfix order"
            )
        object.__setattr__(self, "tokens", tuple([_token(t) for t in self.tokens]))
        if len(self.tokens) > p.MAX_NODES:
            raise too_large(len(self.tokens))
        height = 0
        for token in self.tokens:
            needed = arity(token)
            if height < needed:
                raise FormulaError(f"{token!r} has too few operands", expected=f"{needed} before it in postfix order")
            height += 1 - needed
        if height != 1:
            raise FormulaError("the tokens are not one expression", found=f"{height} values left", expected="1")

    @classmethod
    def from_prefix(cls, tokens: Sequence[Token]) -> Formula:
        """Make a formula from tokens with operations before their operands (the order in which DEAP stores a tree)."""
        postfix: list[Token] = []
        waiting: list[list[Any]] = []  # operations, and how many operands each still lacks
        for i, token in enumerate(tokens):
            if i and not waiting:
                raise FormulaError("the tokens are not one expression", found=f"{token!r} after its end")
            needed = arity(token)
            if needed:
                waiting.append([token, needed])
                continue
            postfix.append(token)
            while waiting:
                waiting[-1][1] -= 1
                if waiting[-1][1]:
                    break
                postfix.append(waiting.pop()[0])
        if waiting:
            raise FormulaError(f"{waiting[-1][0]!r} has too few operands", expected="all of them after it")
        return cls(tuple(postfix))

    @property
    def prefix(self) -> tuple[Token, ...]:
        """The tokens with every operation before its operands."""
        stack: list[list[Token]] = []
        for token in self.tokens:
            first = len(stack) - arity(token)
            joined = [token] + [t for part in stack[first:] for t in part]
            del stack[first:]
            stack.append(joined)
        return tuple(stack[0])

    @functools.cached_property
    def operands(self) -> tuple[Formula, ...]:
        """The operands of the outermost operation, empty for a symbol or a number."""
        begins: list[int] = []
        for i, token in enumerate(self.tokens[:-1]):
            needed = arity(token)
            begin = begins[-needed] if needed else i
            del begins[len(begins) - needed :]
            begins.append(begin)
        ends = [*begins[1:], len(self.tokens) - 1]
        return tuple(Formula(self.tokens[a:b]) for a, b in zip(begins, ends, strict=False))

    @property
    def size(self) -> int:
        """The number of operations, symbols and constants."""
        return len(self.tokens)

    @functools.cached_property
    def depth(self) -> int:
        """The number of operations above the deepest leaf: 0 for a single symbol or number."""
        stack: list[int] = []
        for token in self.tokens:
            first = len(stack) - arity(token)
            below = max(stack[first:], default=-1)
            del stack[first:]
            stack.append(below + 1)
        return stack[0]

    @functools.cached_property
    def symbols(self) -> frozenset[str]:
        """The named numbers that the value depends on."""
        return frozenset(t for t in self.tokens if isinstance(t, str) and is_symbol(t))

    @functools.cached_property
    def text(self) -> str:
        """The canonical text, with the fewest brackets; `parse(f.text) == f`."""
        from persona_evo.formula.printing import write

        return write(self.tokens)

    def __str__(self) -> str:
        return self.text

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self.tokens)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Formula({self.text!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {"tokens": self.tokens}

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the value for the given values of its symbols: always a number within ±LIMIT.

        Raises:
            FormulaError: a symbol has no value.
        """
        stack: list[float] = []
        for token in self.tokens:
            if isinstance(token, float):
                stack.append(token)
            elif token in p.PRIMITIVES:
                primitive = p.PRIMITIVES[token]
                first = len(stack) - primitive.arity
                value = primitive.function(*stack[first:])
                del stack[first:]
                stack.append(value)
            elif token in values:
                stack.append(p.clean(float(values[token])))
            else:
                expected, hint = unknown(token, values)
                raise FormulaError("a symbol has no value", found=token, expected=expected, hint=hint)
        return stack[0] + 0.0


_ARITY: dict[Token, int] = {primitive.name: primitive.arity for primitive in p.TABLE}


def arity(token: Token) -> int:
    """Return the number of operands that a token takes."""
    return _ARITY.get(token, 0)


def is_symbol(token: Token) -> bool:
    """Return whether a token is a named number."""
    return isinstance(token, str) and token not in p.PRIMITIVES


def constant(value: float) -> float:
    """Return a number as formulas store it.

    Raises:
        FormulaError: it is no number, not finite, or beyond ±LIMIT.
    """
    try:
        value = float(value) + 0.0
    except (TypeError, OverflowError):
        raise FormulaError("not a number", found=repr(value)[:100], expected=f"a number within ±{p.LIMIT:g}") from None
    if not -p.LIMIT <= value <= p.LIMIT:
        raise FormulaError("a number is out of range", found=repr(value), expected=f"within ±{p.LIMIT:g}")
    return value


def _token(token: Token) -> Token:
    if isinstance(token, str):
        if token in p.PRIMITIVES or (token.isidentifier() and token.isascii()):
            return token
        raise FormulaError("not a symbol", found=repr(token), expected="letters, digits and _, or a primitive's name")
    return constant(token)


def too_large(size: int, place: Place | None = None) -> FormulaError:
    """Return the error for a formula of more than MAX_NODES."""
    return FormulaError(
        "the formula is too large",
        place=place,
        found=f"{size} operations, symbols and numbers",
        expected=f"at most {p.MAX_NODES}",
        hint="split it, or simplify it",
    )


def parse(text: str, symbols: Iterable[str] | None = None, *, place: Place | None = None) -> Formula:
    """Read a formula.

    Numbers, symbols (case matters), + - * /, comparisons, brackets, calls like max(a, b) and if(c, a, b), powers with
    a small whole exponent (x ^ 3 stands for x * x * x), calls of operators that other packages add (`operators`), which
    are written out at once. Line breaks are spaces, # starts a comment.

    Args:
        text: the formula.
        symbols: the names it may use; None allows any.
        place: where the text starts, for errors.

    Raises:
        FormulaError: the text is not a formula; the error has line and column.
    """
    from persona_evo.formula.operators import operators
    from persona_evo.formula.parsing import read

    known = None if symbols is None else tuple(symbols)
    return Formula(read(text, known, place or Place("formula", 1, 1), operators))
