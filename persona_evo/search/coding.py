"""Formulas as the rows of numbers that compiled code takes.

The score of a node is asked for at every visit, or at every visit of a sibling. What a tree policy computes from the
state alone is worked out once when a node is made and kept in its row: the formula's fixed parts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula import Formula
from persona_evo.formula.encoding import encode_all
from persona_evo.formula.parts import split
from persona_evo.search.layout import ENDS, MOST_PARTS, PARTS, READS, SPREAD
from persona_evo.search.tree_policy import SEARCH_VARIABLES


class PolicyCode(NamedTuple):
    """A tree policy's code: of the whole formula, or of what its fixed parts leave.

    rows: `pops`, `pconst` and `fops` of `layout`. reads, spread: whether `pops` reads metrics, and RSD. ends: where in
    `fops` each part ends.
    """

    rows: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]
    reads: bool
    spread: bool
    ends: tuple[int, ...] = ()

    def describe(self, opts: NDArray[np.int64]) -> None:
        """Write to a search's options what the rows hold."""
        opts[[READS, SPREAD, PARTS]] = self.reads, self.spread, len(self.ends)
        opts[ENDS : ENDS + len(self.ends)] = self.ends


@lru_cache(maxsize=512)
def code(formula: Formula, order: tuple[str, ...]) -> tuple[Any, Any]:
    """A formula over variables in this order, as code and constants (neither is empty)."""
    (words,), constants = encode_all([formula], order)
    return _words(words), _constants(constants)


@lru_cache(maxsize=512)
def policy_code(formula: Formula, order: tuple[str, ...], remember: bool = True) -> PolicyCode:
    """A tree policy over variables in this order, with fixed parts where they pay and find room.

    Args:
        remember: False where the state of a node changes.
    """
    rest, fixed = split(formula, SEARCH_VARIABLES)
    spread = "RSD" in formula.symbols
    if not remember or len(fixed) > MOST_PARTS or rest == formula:
        reads = not formula.symbols <= SEARCH_VARIABLES.keys()
        return PolicyCode((*code(formula, order), np.zeros(0, dtype=np.int64)), reads, spread)
    (words, *parts), constants = encode_all([rest, *fixed.values()], (*order, *fixed))
    ends = np.cumsum([len(part) for part in parts])
    rows = (_words(words), _constants(constants), _words([word for part in parts for word in part]))
    return PolicyCode(rows, False, spread, tuple(map(int, ends)))


def _words(words: list[int]) -> NDArray[np.int64]:
    return np.array(words, dtype=np.int64)


def _constants(constants: list[float]) -> NDArray[np.float64]:
    return np.array(constants or [0.0], dtype=np.float64)
