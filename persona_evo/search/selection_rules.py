"""Selection rules from other packages: compiled functions that score the children to descend to.

A rule takes the place of UCB1 or the tree policy's score in the descent. The engine calls it by its address, as it does
with the code of a formula, so searches without a rule run the same machine code as before.

The engine still takes care of what makes a search sound: each action is tried once before the rule is asked, finished
subtrees are closed, and ties are broken at random. The tree policy is the rule's prior: a formula over metrics whose
value in each child's state is kept. It is 0 for UCB1, which has no formula.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar

from persona_evo import extensions
from persona_evo.arguments import checked_fields
from persona_evo.compiling import Callback, compiled, primitive, with_names
from persona_evo.compiling.arrays import FloatRow, FloatTable, Pointed
from persona_evo.compiling.marks import is_marked
from persona_evo.errors import SettingsError
from persona_evo.extensions import Extension
from persona_evo.formula import Formula
from persona_evo.search.tree import FIXED, TOTAL, VISITS
from persona_evo.search.tree_policy import STATIC, TreePolicy

BEST, PRIOR, WIDTH = FIXED, FIXED + 1, FIXED + 2
"""The columns of a child in searches with a rule (the largest utility backed up, the prior), and their number."""


@primitive("persona_evo.search.slot_code:float_bits")
def bits(x: float) -> int:
    """Return the bits of a float64 as int64."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


@compiled
def visits(children: FloatTable, k: int) -> int:
    """Return how often a result was backed up through child k."""
    return bits(children[k, VISITS // 2]) & 0x7FFFFFFF


@compiled
def mean(children: FloatTable, k: int) -> float:
    """Return the mean utility of these results; 0 before the first one."""
    n = visits(children, k)
    return children[k, TOTAL] / n if n > 0 else 0.0


@compiled
def best(children: FloatTable, k: int) -> float:
    """Return the largest utility of these results; 0 before the first one."""
    return children[k, BEST] if visits(children, k) > 0 else 0.0


@compiled
def prior(children: FloatTable, k: int) -> float:
    """Return the value of the tree policy's formula in the child's state; 0 for UCB1."""
    return children[k, PRIOR]


@primitive("persona_evo.search.slot_code:float_table")
def _table(address: FloatTable, rows: int, columns: int) -> FloatTable:
    """Return the table at an address; in plain Python, return the argument itself."""
    return address


@primitive("persona_evo.search.slot_code:float_row")
def _row(address: FloatRow, n: int) -> FloatRow:
    """Return the row at an address; in plain Python, return the argument itself."""
    return address


_nothing: Callable[..., int] = int
_rule = _nothing
"""The function that `_scored` calls; `Rule` replaces it with a rule's function."""


@compiled
def _scored(children: FloatTable, count: int, parent_visits: int, depth: int, scores: FloatRow) -> int:
    """Call a rule to score children, which the engine passes as addresses."""
    return _rule(_table(children, count, WIDTH), count, parent_visits, depth, _row(scores, count))


class Rule:
    """A rule in the form in which the engine calls it in place of a formula (`Codes.score`)."""

    def __init__(self, function: Callable[..., int]) -> None:
        addresses = Annotated[Callable[[int, int, int, int, int], int], Pointed()]
        self._callback = Callback(with_names(_scored, _rule=function), addresses)  # type: ignore[arg-type]

    @property
    def address(self) -> int:
        """The address of its machine code."""
        return self._callback.address

    def __call__(self, children: FloatTable, count: int, parent_visits: int, depth: int, scores: FloatRow) -> None:
        """Score children in plain Python."""
        self._callback.plain(children, count, parent_visits, depth, scores)


@checked_fields()
@dataclass(frozen=True)
class SelectionRule(Extension):
    """A selection rule that another package adds; its name is a value of `SearchSettings.selection_rule`.

    Attributes:
        score: a function that is marked with `compiled`. It takes the children, their number, their parent's visits,
            their depth, and float64[children], to which it writes a score for each child; it returns 0. `visits`,
            `mean`, `best` and `prior` of this module read child k. The function may contain what the rules of a game
            may contain (see `persona_evo.games.compiled_game`).
        help: one line that says what the rule is.

    Raises:
        SettingsError: the function is not marked.
    """

    group: ClassVar[str] = "persona_evo.selection_rules"
    noun: ClassVar[str] = "selection rule"

    score: Callable[..., int]
    help: str = ""

    def __post_init__(self) -> None:
        if not is_marked(self.score):
            found = getattr(self.score, "__name__", type(self.score).__name__)
            raise SettingsError("a selection rule is not compiled", found=found, hint="write @compiled above it")


@cache
def _bound(function: Callable[..., int]) -> Rule:
    """Return a rule's function; the same object each time."""
    return Rule(function)


def rule_and_prior(name: str, policy: TreePolicy) -> tuple[Rule, Formula]:
    """Return the function of a rule, and the formula of its prior.

    Raises:
        SettingsError: the rule cannot be loaded, or the policy reads more than metrics.
    """
    if policy.kind == "lists" or (policy.formula is not None and (policy.holds != STATIC or policy.planned)):
        raise SettingsError(
            f"policy {policy.name!r} cannot be the prior of a selection rule",
            found=policy.text,
            expected="ucb1, or a formula over metrics alone",
        )
    return _bound(extensions.load(SelectionRule, name).score), policy.formula or Formula((0.0,))
