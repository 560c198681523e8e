"""Operators that other packages add to formulas.

An operator is defined by a formula over its parameters, and every call is replaced by that formula when a text is read.
The operator thus has the intervals, machine code, rewriting and exports of its parts without further rules, and no
proof can depend on a wrong rule of another package. The replacement costs nothing in machine code, since a part that
occurs twice is computed once.

A package offers operators by entry points of the group `persona_evo.operators`; each gives an `Operator`:

    [project.entry-points."persona_evo.operators"]
    clamp = "my_package:CLAMP"

    CLAMP = Operator("clamp", ("x", "low", "high"), "min(max(x, low), high)", "x, brought between low and high")
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from persona_evo.arguments import checked_fields
from persona_evo.errors import FormulaError, Place
from persona_evo.formula.parsing import read
from persona_evo.formula.primitives import PRIMITIVES

GROUP = "persona_evo.operators"
"""The group of the entry points."""


@checked_fields()
@dataclass(frozen=True)
class Operator:
    """An operator that is defined by a formula.

    Attributes:
        name: the name in formulas; letters, digits and _.
        parameters: the names of its operands, at least one.
        formula: the definition over these names and the built-in operations.
        meaning: a description in words.
        tokens: the definition in postfix order.

    Raises:
        FormulaError: a name cannot be used, or the definition is not a formula over the parameters.
    """

    name: str
    parameters: tuple[str, ...]
    formula: str
    meaning: str = ""
    tokens: tuple[str | float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(self.parameters))
        for name in (self.name, *self.parameters):
            if not (isinstance(name, str) and name.isidentifier() and name.isascii()) or name in PRIMITIVES:
                raise FormulaError(
                    "an operator cannot use this name",
                    found=repr(name),
                    expected="letters, digits and _, and not the name of a built-in function",
                )
        if not self.parameters or len(set(self.parameters)) < len(self.parameters):
            raise FormulaError(
                f"the operator {self.name} has the wrong parameters",
                found=", ".join(self.parameters) or "none",
                expected="at least one, each with a different name",
            )
        place = Place(f"operator {self.name}", 1, 1)
        object.__setattr__(self, "tokens", read(self.formula, self.parameters, place))

    def expand(self, operands: Sequence[Sequence[str | float]]) -> tuple[str | float, ...]:
        """Return the definition with operands, each in postfix order, in place of the parameters."""
        given = dict(zip(self.parameters, operands, strict=True))
        return tuple(t for token in self.tokens for t in given.get(str(token), (token,)))


@functools.cache
def operators() -> Mapping[str, Operator]:
    """Return the operators of all installed packages, by name.

    Raises:
        FormulaError: an entry point cannot be loaded or does not give an operator, or two operators have the same name.
    """
    from importlib.metadata import entry_points

    found: dict[str, Operator] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        place = Place(f"entry point {entry.name} = {entry.value}")
        try:
            operator = entry.load()
        except FormulaError:
            raise
        except Exception as error:
            raise FormulaError("an operator cannot be loaded", place=place, found=repr(error)) from error
        if not isinstance(operator, Operator):
            raise FormulaError("an entry point does not give an operator", place=place, found=repr(operator)[:80])
        if operator.name in found and operator != found[operator.name]:
            raise FormulaError("two packages define the same operator", place=place, found=operator.name)
        found[operator.name] = operator
    return found
