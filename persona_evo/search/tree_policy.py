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
"""What there is beyond that in a search from move to move (see `amaf`), last in order."""

PARENT = "_PARENT"
"""What follows a symbol that stands for its value in the parent of a state, in plans of whole levels."""

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
        planned: the formula reads what only a plan of a whole level has (see `plan_variables`); `of` sees that.
    """

    name: str
    formula: Formula | None = None
    c: float = math.sqrt(2)
    lists: tuple[OpenList, ...] = ()
    planned: bool = False

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
        cls,
        formula: Formula | str,
        game: Game,
        name: str = "formula",
        place: Place | None = None,
        moves: bool = False,
    ) -> TreePolicy:
        """A formula as tree policy; moves: for a search from move to move, which has MOVE_VARIABLES, and nothing of
        `plan_variables`.

        Raises:
            FormulaError: it does not parse or names a symbol that the game and the search do not have.
        """
        text = formula if isinstance(formula, str) else formula.text
        more = {} if moves else plan_variables(game)
        found = parse(text, (*variables(game, moves), *more), place=place)
        return cls(name, found, planned=not found.symbols.isdisjoint(more))

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
        changing = self.formula.symbols & set(SEARCH_VARIABLES)
        return STATIC if not changing or (self.planned and changing == {DEPTH}) else ALONG_PATH

    def check_planned(self, search: str, *, best_first: bool) -> None:
        """See that a search gives what the formula reads.

        Args:
            search: what it is called.
            best_first: it plans whole levels, and takes up the best leaf wherever that is.

        Raises:
            SettingsError: the search lacks it, or the formula reads what changes during the search, too.
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
            found=", ".join(read),
            expected="a policy and an answer without AN and AR, or another variant",
            hint="in this variant a random game is played as one step, so it is unknown which player made which move",
        )


def variables(game: Game, moves: bool = False) -> tuple[str, ...]:
    """Every symbol a tree policy of this game may use, in the engine's order; moves: with MOVE_VARIABLES.

    A game that calls a metric by one of these names keeps it, and its players have none of MOVE_VARIABLES.
    """
    more = MOVE_VARIABLES if moves and MOVE_VARIABLES.keys().isdisjoint(game.symbols) else ()
    return (*game.symbols, *SEARCH_VARIABLES, *more)


def plan_variables(game: Game) -> dict[str, str]:
    """What a policy may read beyond `variables` where whole levels are planned best first: symbol -> meaning.

    Its score is static: D, if it reads that, too, is the depth at which a state was met first. The parent of a state is
    the one that it was met from then; the start counts as its own parent. A game's own metrics go before these names.
    """
    if not game.planned:
        return {}
    known = {name: LIST_VARIABLES[name] for name in (UTILITY, CEILING) if name != CEILING or game.reach is not None}
    values = {**{m.symbol: m.meaning for m in game.metrics}, **known}
    known |= {symbol + PARENT: f"{meaning}; before the last move" for symbol, meaning in values.items()}
    return {symbol: meaning for symbol, meaning in known.items() if symbol not in variables(game)}


def read_of(symbols: Iterable[str]) -> frozenset[str]:
    """Symbols with those whose value in the parent is read, without the mark of that."""
    return frozenset(symbol.removesuffix(PARENT) for symbol in symbols)


def columns_for(formula: Formula, game: Game) -> tuple[str, ...]:
    """`variables`, and what a formula reads of `plan_variables`: the columns of states to compare formulas on."""
    return (*variables(game), *(symbol for symbol in plan_variables(game) if symbol in formula.symbols))
