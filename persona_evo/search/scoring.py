"""Compiles tree policies to machine code over the rows of the tree.

The score of a slot is needed at every visit of its parent, so a formula is split. Parts that read only metrics are
computed when a slot is made and kept in its row. Parts that read only P and D are computed once for all children of a
node. If a policy has more parts over metrics than it reads metrics, the metrics themselves are kept instead.
"""

from __future__ import annotations

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
    """The requirements of a search on its tree policy.

    Attributes:
        formula: the policy's formula; None for UCB1, which the search computes itself.
        utility: the search's utility.
        symbols: the game's metrics in their order.
        holds: STATIC, ALONG_PATH or EVERY_TIME (see `tree_policy`).
        mean: whether R is the mean.
        moves: whether AN and AR are variables of the search and are kept.
        pending: whether rollouts under way count.
        read: variables of the search that are also read elsewhere.
        rule: a selection rule, which takes the formula as its prior (see `selection_rules`); None for the policy's
            score.
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
        """The part computed at each visit, over the search's variables and the names of `kept`."""
        return self._parts[0]

    @property
    def kept(self) -> dict[str, Formula]:
        """The parts that are kept, in the order of the columns. They read only metrics."""
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
        """The first column written when a slot is made."""
        return self.columns.score if self.holds == STATIC else self.columns.kept

    @cached_property
    def sources(self) -> dict[str, NativeSource]:
        """The functions to compile, by their names in `Codes`."""
        found: dict[str, NativeSource] = {"utility": RowFunction(self.utility, self.symbols)}
        if self.kept:
            found["keep"] = Rows(tuple(self.kept.values()), self.symbols, self.first_kept, QUICK)
        if self.formula is not None and self.rule is None and self.holds == EVERY_TIME:
            found["score"] = BlockScore(self)
        if self.formula is not None and self.holds == ALONG_PATH:
            found["rescore"] = Rescore(self)
        return found


@lru_cache(maxsize=1_024)
def policy_code(scoring: Scoring) -> tuple[Columns, Codes]:
    """Return the layout of a slot and the compiled formulas. Results are cached."""
    made = dict(zip(scoring.sources, compile_all([*scoring.sources.values()]), strict=True))
    score = scoring.rule or made.get("score")
    return scoring.columns, Codes(made["utility"], made.get("keep"), score, made.get("rescore"))  # type: ignore[arg-type]
