"""Tree policies, which score the children of a node. A policy is data: UCB1 with its constant, or a formula.

UCB1 is `mean + C sqrt(ln P / N)` (equation (1) of the paper): mean is the average utility backed up through the child,
N its number of visits, P that of its parent, and C = sqrt 2 for utilities in [0, 1]. For raw scores, C should be of
their magnitude.

A formula reads the metrics of the child's own state, as the player who moved into it sees them, and the variables of
the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from persona_evo import limits
from persona_evo.errors import Place, SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Game
from persona_evo.personas.lists import CEILING, DEPTH, LIST_VARIABLES, UTILITY, OpenList

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
"""Further variables of a search from move to move (see `amaf`). They come last in order."""

PARENT = "_PARENT"
"""The suffix of symbols for a value in the parent of a state, in plans of whole levels."""

UTILITY_POLICY = "utility"
"""The name of the policy of personas that have none: the score is the utility itself."""

UCB1_CONSTANT = math.sqrt(2)
"""The default constant of UCB1, for utilities from 0 to 1."""

UCB1_FORMULA = "R + 1.4142135623730951 * sqrt(log(P) / N)"
"""UCB1 as a formula (R is the mean), to start an evolution from."""

STATIC, ALONG_PATH, EVERY_TIME = range(3)
"""How long a score stays valid: forever; until a result is backed up through the child; until one is backed up through
its parent.
"""


@dataclass(frozen=True)
class TreePolicy:
    """A named tree policy.

    Attributes:
        name: the name shown in tables.
        formula: the score of a node's children; None for UCB1, and for lists that have no score of their own.
        c: the constant of UCB1, >= 0.
        lists: the open lists that a planner uses instead of its defaults.
        planned: whether the formula reads what only a plan of a whole level has (see `plan_variables`); set by `of`.
    """

    name: str
    formula: Formula | None = None
    c: float = UCB1_CONSTANT
    lists: tuple[OpenList, ...] = ()
    planned: bool = False

    @classmethod
    def ucb1(cls, c: float = UCB1_CONSTANT) -> TreePolicy:
        """Return UCB1 with the constant C outside the root."""
        if not (limits.is_finite(c) and c >= 0):
            raise SettingsError(
                "UCB1's constant is out of range", found=limits.shown(c), expected="a finite number >= 0"
            )
        return cls("ucb1", None, float(c))

    @classmethod
    def utility(cls, utility: Formula) -> TreePolicy:
        """Return the policy for personas that have none: it scores states by the utility."""
        return cls(UTILITY_POLICY, utility)

    @classmethod
    def of(
        cls,
        formula: Formula | str,
        game: Game,
        name: str = "formula",
        place: Place | None = None,
        moves: bool = False,
    ) -> TreePolicy:
        """Return a tree policy with a formula.

        Args:
            moves: whether it is for a search from move to move, which has MOVE_VARIABLES and nothing of
                `plan_variables`.

        Raises:
            FormulaError: the formula does not parse, or names a symbol that neither the game nor the search has.
        """
        text = formula if isinstance(formula, str) else formula.text
        more = {} if moves else plan_variables(game)
        found = parse(text, (*variables(game, moves), *more), place=place)
        return cls(name, found, planned=not found.symbols.isdisjoint(more))

    @property
    def kind(self) -> str:
        """`ucb1`, `formula`, or `lists` for policies that have no score of their own."""
        if self.formula is not None:
            return "formula"
        return "lists" if self.lists else "ucb1"

    @property
    def text(self) -> str:
        """The policy as readable text."""
        if self.kind == "lists":
            return "; ".join(one.score.text for one in self.lists)
        if self.formula is None:
            return f"mean + {self.c:.6g} sqrt(ln P / N)"
        return self.formula.text

    @cached_property
    def holds(self) -> int:
        """How long a score stays valid: STATIC, ALONG_PATH or EVERY_TIME."""
        if self.kind == "lists":
            return STATIC
        if self.formula is None or not self.formula.symbols.isdisjoint({"P", *MOVE_VARIABLES}):
            return EVERY_TIME
        changing = self.formula.symbols & set(SEARCH_VARIABLES)
        return STATIC if not changing or (self.planned and changing == {DEPTH}) else ALONG_PATH

    def check_planned(self, search: str, *, best_first: bool) -> None:
        """Check that a search computes what the formula reads.

        Args:
            search: the name of the search.
            best_first: whether it plans whole levels and continues at the best leaf of the whole tree.

        Raises:
            SettingsError: the search does not compute it, or the formula also reads what changes during the search.
        """
        if not self.planned or self.formula is None:
            return
        read = [s for s in sorted(self.formula.symbols) if s in (UTILITY, CEILING) or s.endswith(PARENT)]
        if not best_first:
            raise SettingsError(
                f"{search} does not compute what this policy reads",
                found=", ".join(read),
                expected="a policy over metrics, or the search 'single' or 'anytime' for whole levels",
                hint="UTILITY, CEILING and the parent's values are for plans of whole levels",
            )
        if self.holds != STATIC:
            changing = [s for s in sorted(self.formula.symbols) if s in SEARCH_VARIABLES and s != DEPTH]
            raise SettingsError(
                f"a policy that reads {', '.join(read)} needs a score that never changes",
                found=f"{', '.join(changing)} in {self.formula.text}",
                expected="metrics, D, UTILITY, CEILING and values of the parent",
            )


@lru_cache(maxsize=256)
def own_formula(game: Game, text: str, utility: Formula) -> Formula:
    """Return one of a game's own formulas (`Game.homing`, `Game.care`), or the utility if the game has none.

    It is cached, since each search asks for it.
    """
    return parse(text, game.symbols) if text else utility


def with_lists(policy: TreePolicy, lists: Sequence[OpenList]) -> TreePolicy:
    """Return a policy with the open lists it is searched with. Its own lists take precedence over the persona's.

    Args:
        policy: the policy as it was named, evolved or read.
        lists: the persona's lists, empty for the planner's defaults.

    Returns:
        The policy with the persona's lists if its score never changes and it has no lists; else the policy unchanged.
    """
    if not lists or policy.lists or policy.holds != STATIC:
        return policy
    return replace(policy, lists=tuple(lists))


def in_words(policy: TreePolicy) -> str:
    """Return a tree policy as readable text, with the lists that it is searched with."""
    if not policy.lists:
        return policy.text
    lists = "open lists " + "; ".join(one.text for one in policy.lists)
    return lists if policy.formula is None else f"{policy.text}; {lists}"


def check_moves(game: Game, variant: str, symbols: Iterable[str]) -> None:
    """Check that a search with a variant of the rules can record what its formulas read.

    Raises:
        SettingsError: the formulas read AN or AR, but the variant plays random games in one piece (`Game.whole_games`).
    """
    read = sorted(set(symbols) & (set(variables(game, moves=True)) - set(variables(game))))
    if read and variant in game.whole_games:
        raise SettingsError(
            f"searches with the variant {variant!r} of {game.name} do not keep {' and '.join(read)}",
            found=", ".join(read),
            expected="a policy and an answer without AN and AR, or another variant",
            hint="in this variant a random game is played as one step, so it is unknown which player made which move",
        )


def variables(game: Game, moves: bool = False) -> tuple[str, ...]:
    """Return every symbol that a tree policy of this game may use, in the engine's order.

    If a metric of the game has one of the names in MOVE_VARIABLES, it keeps the name, and none of them are available.

    Args:
        moves: whether to include MOVE_VARIABLES.
    """
    more = MOVE_VARIABLES if moves and MOVE_VARIABLES.keys().isdisjoint(game.symbols) else ()
    return (*game.symbols, *SEARCH_VARIABLES, *more)


def plan_variables(game: Game) -> dict[str, str]:
    """Return what a policy may read beyond `variables` when whole levels are planned best-first, as symbol -> meaning.

    The score of such a policy is static: D, if it reads that, too, is the depth at which a state was first met. The
    parent of a state is the one from which it was first met; the start is its own parent. A game's own metrics take
    precedence over these names.
    """
    if not game.planned:
        return {}
    known = {name: LIST_VARIABLES[name] for name in (UTILITY, CEILING) if name != CEILING or game.reach is not None}
    values = {**{m.symbol: m.meaning for m in game.metrics}, **known}
    known |= {symbol + PARENT: f"{meaning}; before the last move" for symbol, meaning in values.items()}
    return {symbol: meaning for symbol, meaning in known.items() if symbol not in variables(game)}


def read_of(symbols: Iterable[str]) -> frozenset[str]:
    """Return the symbols with the mark of the parent's values removed."""
    return frozenset(symbol.removesuffix(PARENT) for symbol in symbols)


def columns_for(formula: Formula, game: Game) -> tuple[str, ...]:
    """Return `variables` and what a formula reads of `plan_variables`: the columns of states to compare formulas on."""
    return (*variables(game), *(symbol for symbol in plan_variables(game) if symbol in formula.symbols))
