"""Splits a formula into parts that stay the same for a while and the rest, which is computed each time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from persona_evo.formula.core import Formula, Token, arity, is_symbol


class Parts(NamedTuple):
    """A formula whose fixed parts have become symbols.

    Attributes:
        rest: the formula with these symbols.
        fixed: what the symbols stand for, in the order in which they appear.
    """

    rest: Formula
    fixed: dict[str, Formula]


def split(formula: Formula, changing: Iterable[str], leaves: bool = True) -> Parts:
    """Separate the largest sub-expressions that read symbols but none that changes.

    The value is the same to the last bit: the order of operations does not change, and each fixed part is computed
    once.

    Args:
        changing: the symbols that change; a formula without any of them is left whole.
        leaves: whether a symbol alone is a part, too.
    """
    changes = frozenset(changing)
    names: dict[tuple[Token, ...], str] = {}
    taken = formula.symbols | changes

    def named(part: tuple[Token, ...]) -> tuple[Token, ...]:
        if not any(map(is_symbol, part)) or (len(part) == 1 and not leaves):
            return part
        if part not in names:
            name = f"part{len(names)}"
            while name in taken:
                name = f"_{name}"
            names[part] = name
        return (names[part],)

    stack: list[tuple[tuple[Token, ...], bool]] = []
    for token in formula.tokens:
        first = len(stack) - arity(token)
        operands = stack[first:]
        del stack[first:]
        moving = token in changes or any(moves for _, moves in operands)
        parts = [part if moves or not moving else named(part) for part, moves in operands]
        stack.append(((*chain.from_iterable(parts), token), moving))
    return Parts(Formula(stack[0][0]), {name: Formula(part) for part, name in names.items()})
