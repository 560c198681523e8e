"""Tree policies: what scores the children of a node. Data, not code: UCB1 with its constant, or a formula.

UCB1 is `mean + C sqrt(ln P / N)` (equation (1) of the paper), mean the average utility backed up through the child, N
its visits, P those of its parent, C = sqrt 2 for utilities in [0, 1]; for raw scores take C of their size.

A formula reads the metrics of the child's own state as its mover sees them and the search's variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from persona_evo.errors import Place, SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Game
from persona_evo.personas.lists import OpenList

SEARCH_VARIABLES = {
    "R": "utility estimate of the child: 0.75 mean + 0.25 maximum, or the mean (search setting `value`)",
    "N": "visits of the child",
    "P": "visits of its parent",
    "D": "depth, moves from the root",
    "RMAX": "largest utility backed up through the child",
    "RSD": "standard deviation of the utilities backed up through the child",
}
"""The search's own variables, in the order in which they follow the game's metrics."""

MOVE_VARIABLES = {
    "AN": "iterations through the parent in which its mover made the child's move, there or later",
    "AR": "mean utility of these iterations, 0 before the first",
}
"""What there is beyond that in a search from move to move (see `amaf`), last in order."""

UTILITY_POLICY = "utility"
"""Name of the policy of personas that have none: the score is the utility itself."""

UCB1_FORMULA = "R + 1.4142135623730951 * sqrt(log(P) / N)"
"""UCB1 in the language of formulas (R the mean), to start an evolution from."""

STATIC, ALONG_PATH, EVERY_TIME = range(3)
"""How long a score holds: for ever, until a result is backed up through the child, or through its parent."""


@dataclass(frozen=True)
class TreePolicy:
    """A named tree policy.

    Attributes:
        name: as tables show it.
        formula: scores the children of a node; None for UCB1, and for lists that have no own score.
        c: UCB1's constant, >= 0.
        lists: the open lists that a planner searches with, in place of its defaults.
    """

    name: str
    formula: Formula | None = None
    c: float = math.sqrt(2)
    lists: tuple[OpenList, ...] = ()

    @classmethod
    def ucb1(cls, c: float = math.sqrt(2)) -> TreePolicy:
        """UCB1 with the constant C outside the root."""
        if not (math.isfinite(c) and c >= 0):
            raise SettingsError("UCB1's constant is out of range", found=str(c), expected="a finite number >= 0")
        return cls("ucb1", None, float(c))

    @classmethod
    def utility(cls, utility: Formula) -> TreePolicy:
        """What plays where a persona has no policy: states are scored by its utility."""
        return cls(UTILITY_POLICY, utility)

    @classmethod
    def of(
        cls, formula: Formula | str, game: Game, name: str = "formula", place: Place | None = None,
        moves: bool = False,
    ) -> TreePolicy:  # fmt: skip
        """A formula as tree policy; moves: for a search from move to move, which has MOVE_VARIABLES.

        Raises:
            FormulaError: it does not parse or names a symbol that the game and the search do not have.
        """
        text = formula if isinstance(formula, str) else formula.text
        return cls(name, parse(text, variables(game, moves), place=place))

    @property
    def kind(self) -> str:
        """`ucb1`, `formula`, or `lists` for those that have no own score."""
        if self.formula is not None:
            return "formula"
        return "lists" if self.lists else "ucb1"

    @property
    def text(self) -> str:
        """The policy as people read it."""
        if self.kind == "lists":
            return "; ".join(one.score.text for one in self.lists)
        if self.formula is None:
            return f"mean + {self.c:.6g} sqrt(ln P / N)"
        return self.formula.text

    @cached_property
    def holds(self) -> int:
        """STATIC, ALONG_PATH or EVERY_TIME."""
        if self.kind == "lists":
            return STATIC
        if self.formula is None or not self.formula.symbols.isdisjoint({"P", *MOVE_VARIABLES}):
            return EVERY_TIME
        return ALONG_PATH if self.formula.symbols & set(SEARCH_VARIABLES) else STATIC


def with_lists(policy: TreePolicy, lists: Sequence[OpenList]) -> TreePolicy:
    """What a persona's policy is searched with: its own lists go before the persona's.

    Args:
        policy: as it was named, evolved or read.
        lists: those of the persona, none for the planner's defaults.

    Returns:
        The policy with the persona's lists where its score never changes and it has none of its own; else as it is.
    """
    if not lists or policy.lists or policy.holds != STATIC:
        return policy
    return replace(policy, lists=tuple(lists))


def in_words(policy: TreePolicy) -> str:
    """A tree policy as people read it, with the lists that it is searched with."""
    if not policy.lists:
        return policy.text
    lists = "open lists " + "; ".join(one.text for one in policy.lists)
    return lists if policy.formula is None else f"{policy.text}; {lists}"


def check_moves(game: Game, variant: str, symbols: Iterable[str]) -> None:
    """See that a search with a variant of the rules can keep what its formulas read.

    Raises:
        SettingsError: AN or AR, with random games that are one piece (`Game.whole_games`).
    """
    read = sorted(set(symbols) & (set(variables(game, moves=True)) - set(variables(game))))
    if read and variant in game.whole_games:
        raise SettingsError(
            f"searches with the variant {variant!r} of {game.name} do not keep {' and '.join(read)}",
            found=", ".join(read), expected="a policy and an answer without AN and AR, or another variant",
            hint="random games of this variant are one piece, so that nobody can tell whose each of their moves is",
        )  # fmt: skip


def variables(game: Game, moves: bool = False) -> tuple[str, ...]:
    """Every symbol a tree policy of this game may use, in the engine's order; moves: with MOVE_VARIABLES.

    A game that calls a metric by one of these names keeps it, and its players have none of MOVE_VARIABLES.
    """
    more = MOVE_VARIABLES if moves and MOVE_VARIABLES.keys().isdisjoint(game.symbols) else ()
    return (*game.symbols, *SEARCH_VARIABLES, *more)
