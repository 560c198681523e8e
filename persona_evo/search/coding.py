"""Formulas as the rows of numbers that compiled code takes.

The score of a node is asked for at every visit, or at every visit of a sibling, and so a tree policy's formula is
taken apart: what it computes from the state alone is worked out once, when a node is made, and kept in the node's row;
what it computes from P alone is worked out once for all children of a node.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from persona_evo.formula import Formula
from persona_evo.formula.encoding import encode_all
from persona_evo.formula.parts import split
from persona_evo.search.layout import ENDS, KEPT, MOST_KEPT, MOST_SHARED, READS, SHARED, SPREAD
from persona_evo.search.tree_policy import MOVE_VARIABLES, SEARCH_VARIABLES


class PolicyCode(NamedTuple):
    """A tree policy's code: what its parts leave, and the parts.

    rows: `pops`, `pconst` and `fops` of `layout`. reads, spread: whether `pops` reads metrics, and RSD. kept: how many
    parts nodes keep; the others are shared by siblings. ends: where in `fops` each part ends.
    """

    rows: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]
    reads: bool
    spread: bool
    kept: int
    ends: tuple[int, ...]

    def describe(self, opts: NDArray[np.int64]) -> None:
        """Write to a search's options what the rows hold."""
        opts[[READS, SPREAD, KEPT, SHARED]] = self.reads, self.spread, self.kept, len(self.ends) - self.kept
        opts[ENDS : ENDS + len(self.ends)] = self.ends


@lru_cache(maxsize=512)
def code(formula: Formula, order: tuple[str, ...]) -> tuple[Any, Any]:
    """A formula over variables in this order, as code and constants (neither is empty)."""
    (words,), constants = encode_all([formula], order)
    return _words(words), _constants(constants)


@lru_cache(maxsize=512)
def policy_code(formula: Formula, order: tuple[str, ...], keep: bool = True, moves: bool = False) -> PolicyCode:
    """A tree policy over variables in this order, in parts as far as there is room for them.

    Args:
        keep: nodes may keep parts; not where the state of a node changes.
        moves: nodes keep MOVE_VARIABLES, which come after `order` and take the room of two parts.
    """
    late = tuple(MOVE_VARIABLES) if moves else ()
    rest, kept = split(formula, (*SEARCH_VARIABLES, *late))
    if not keep or len(kept) > MOST_KEPT - len(late):
        rest, kept = formula, {}
    unlike = {*order, *kept, *late} - {"P"}
    whole, (rest, shared) = rest, split(rest, unlike, leaves=False)
    if len(shared) > MOST_SHARED:
        rest, shared = whole, {}
    (words, *parts), constants = encode_all([rest, *kept.values(), *shared.values()], (*order, *kept, *shared, *late))
    rows = (_words(words), _constants(constants), _words([word for part in parts for word in part]))
    reads = not rest.symbols <= {*SEARCH_VARIABLES, *kept, *shared, *late}
    return PolicyCode(rows, reads, "RSD" in rest.symbols, len(kept), tuple(accumulate(map(len, parts))))


def _words(words: list[int]) -> NDArray[np.int64]:
    return np.array(words, dtype=np.int64)


def _constants(constants: list[float]) -> NDArray[np.float64]:
    return np.array(constants or [0.0], dtype=np.float64)
