"""Tree policies as machine code over the tree's rows.

The score of a slot is asked for at every visit of its parent, and so a formula is taken apart: what it computes from
the metrics alone is worked out when a slot is made, and kept in its row; what it computes from P and D alone is worked
out once for all children of a node. A policy that reads metrics in more parts than there are metrics keeps those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from persona_evo.formula import Formula
from persona_evo.formula.blocks import BlockScore, Rescore
from persona_evo.formula.native import QUICK, NativeSource, RowFunction, Rows, compile_all
from persona_evo.formula.parts import split
from persona_evo.search.layout import Codes
from persona_evo.search.selection_rules import Rule
from persona_evo.search.tree import Columns
from persona_evo.search.tree_policy import ALONG_PATH, EVERY_TIME, MOVE_VARIABLES, SEARCH_VARIABLES, STATIC
from persona_evo.search.variables import DEFINITIONS, Definition, mean


@dataclass(frozen=True)
class Scoring:
    """What a search asks of its tree policy.

    Attributes:
        formula: of the policy; None for UCB1, which the search computes itself.
        utility: of the search.
        symbols: the game's metrics in their order.
        holds: STATIC, ALONG_PATH or EVERY_TIME (see `tree_policy`).
        mean: whether R is the mean.
        moves: whether AN and AR are variables of the search, and kept.
        pending: whether rollouts under way count.
        read: variables of the search that are read elsewhere, too.
        rule: a selection rule, whose prior the formula is (see `selection_rules`); None for the policy's own score.
    """

    formula: Formula | None
    utility: Formula
    symbols: tuple[str, ...]
    holds: int = EVERY_TIME
    mean: bool = False
    moves: bool = False
    pending: bool = False
    read: frozenset[str] = frozenset()
    rule: Rule | None = None

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The variables that the policy may read."""
        names = (*SEARCH_VARIABLES, *(MOVE_VARIABLES if self.moves else ()))
        return {name: mean if name == "R" and self.mean else DEFINITIONS[name] for name in names}

    @cached_property
    def _parts(self) -> tuple[Formula | None, dict[str, Formula]]:
        if self.formula is None:
            return None, {}
        if self.rule is not None:
            return None, {"prior": self.formula}
        metrics = self.formula.symbols - self.definitions.keys()
        if self.holds == STATIC or metrics == self.formula.symbols != frozenset():
            return Formula(("whole",)), {"whole": self.formula}
        rest, kept = split(self.formula, self.definitions)
        if len(kept) > len(metrics):
            return self.formula, {name: Formula((name,)) for name in self.symbols if name in metrics}
        return rest, kept

    @property
    def rest(self) -> Formula | None:
        """What is left to compute at each visit, over the search's variables and the names of `kept`."""
        return self._parts[0]

    @property
    def kept(self) -> dict[str, Formula]:
        """What is kept, in the order of the columns: parts that read metrics alone."""
        return self._parts[1]

    @cached_property
    def columns(self) -> Columns:
        """The layout of a slot."""
        read = self.read | (self.formula.symbols if self.formula else frozenset())
        formula = self.formula is not None
        return Columns.of(
            best=self.rule is not None or bool(read & ({"RMAX"} if self.mean else {"R", "RMAX"})),
            squares="RSD" in read,
            score=formula and self.holds != EVERY_TIME,
            kept=len(self.kept) if self.holds != STATIC else 0,
            moves=self.moves,
            pending=self.pending,
        )

    @property
    def first_kept(self) -> int:
        """The first column that is written when a slot is made."""
        return self.columns.score if self.holds == STATIC else self.columns.kept


@lru_cache(maxsize=1_024)
def policy_code(scoring: Scoring) -> tuple[Columns, Codes]:
    """The layout of a slot and the code of formulas, remembered."""
    (codes,) = policy_codes([scoring])
    return scoring.columns, codes


def policy_codes(asked: Sequence[Scoring]) -> list[Codes]:
    """The code of formulas, which is much faster to compile for all at once."""
    sources: list[dict[str, NativeSource]] = []
    for scoring in asked:
        functions: dict[str, NativeSource] = {"utility": RowFunction(scoring.utility, scoring.symbols)}
        if scoring.kept:
            functions["keep"] = Rows(tuple(scoring.kept.values()), scoring.symbols, scoring.first_kept, QUICK)
        if scoring.formula is not None and scoring.rule is None and scoring.holds == EVERY_TIME:
            functions["score"] = BlockScore(scoring)
        if scoring.formula is not None and scoring.holds == ALONG_PATH:
            functions["rescore"] = Rescore(scoring)
        sources.append(functions)
    natives = iter(compile_all([source for functions in sources for source in functions.values()]))
    codes = []
    for scoring, functions in zip(asked, sources, strict=True):
        made = {name: next(natives) for name in functions}
        codes.append(Codes(made["utility"], made.get("keep"), scoring.rule or made.get("score"), made.get("rescore")))  # type: ignore[arg-type]
    return codes
