"""What can be done with formulas: read them, and simplify those of tree policies.

The package itself reads formulas with `persona_evo.formula.parse`, which does not look at the types of its arguments.
"""

from __future__ import annotations

from persona_evo import formula as formulas
from persona_evo.arguments import checked
from persona_evo.errors import Place
from persona_evo.formula import Formula
from persona_evo.formula.simplify import HANG_SECONDS, Simplified, simplify
from persona_evo.games.core import Game
from persona_evo.search.tree_policy import columns_for, plan_variables, variables

parse = checked(formulas.parse)


def policy_formula(text: str, game: Game) -> Formula:
    """Read a formula over the symbols that tree policies of a game may use.

    Raises:
        FormulaError: it is no such formula, with its column.
    """
    return formulas.parse(text, (*variables(game), *plan_variables(game)), place=Place("FORMULA", 1, 1))


def simplify_formula(formula: Formula, game: Game, timeout: float | None = None) -> Simplified:
    """Simplify a formula, and check that its values stay the same.

    Args:
        formula: a formula over the symbols that tree policies of the game may use.
        game: the game.
        timeout: the limit in seconds; None limits only the work, which is the same on every machine.
    """
    return simplify(formula, columns_for(formula, game), timeout=HANG_SECONDS if timeout is None else timeout)
