"""Genomes of the evolution: one formula, or the open lists of a planner (several formulas with weights).

A genome is a tree, or a tuple of genes, one for each list. As text it is a formula, or the lists on one line:

    TO - 0.1 * NT @ 2 novel; CARE + 0.1 * TO @ 1

A list's score stands before the `@` and its weight after it; `novel` follows if states that show something for the
first time come before all others. No formula contains `@` or `;`, so the text alone decides which of the two it is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from persona_evo.errors import SettingsError
from persona_evo.evolve import genetics, list_operators, operators
from persona_evo.evolve.genes import MOST, Gene, Genome
from persona_evo.evolve.genetics import Primitives
from persona_evo.evolve.setting_values import LISTS
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.formula.printing import number
from persona_evo.personas.lists import OWN, OpenList, readable
from persona_evo.search.list_orders import put_in
from persona_evo.search.tree_policy import TreePolicy

if TYPE_CHECKING:
    from persona_evo.games.core import Game

NODE = 5.0
"""The bits of a node in a description: one of about thirty symbols and functions."""

_AT, _END, _NOVEL = "@", ";", "novel"


# text


def is_lists(text: str) -> bool:
    """Return whether a text is that of lists."""
    return _AT in text


def text_of(lists: Sequence[OpenList]) -> str:
    """Return lists as one line; `lists_of` gives the same lists back."""
    return f"{_END} ".join(
        f"{one.score.text} {_AT} {number(one.weight)}{f' {_NOVEL}' if one.novel else ''}" for one in lists
    )


def lists_of(text: str, symbols: tuple[str, ...] | None = None) -> tuple[OpenList, ...]:
    """Return the lists of a text.

    Args:
        symbols: the symbols that their scores may read, None for any.

    Raises:
        SettingsError: it is not the text of 1 to MOST lists.
        FormulaError: a score is not a formula, or reads another symbol.
    """
    parts = text.split(_END)
    if len(parts) > MOST:
        raise _no_lists(text, f"at most {MOST} lists")
    return tuple(_list_of(part, symbols) for part in parts)


def _list_of(text: str, symbols: tuple[str, ...] | None) -> OpenList:
    score, at, rest = text.rpartition(_AT)
    words = rest.split()
    if not at or len(words) not in (1, 2) or words[1:] not in ([], [_NOVEL]):
        raise _no_lists(text, f"SCORE {_AT} WEIGHT, and perhaps {_NOVEL}")
    try:
        weight = float(words[0])
    except ValueError:
        raise _no_lists(text, f"a number as weight, after the {_AT}") from None
    return OpenList(parse(score.strip(), symbols), weight, len(words) == 2)


def _no_lists(text: str, expected: str) -> SettingsError:
    return SettingsError("not the text of open lists", found=text[:80], expected=expected)


def scores(text: str) -> tuple[Formula, ...]:
    """Return the formulas of a text: the one, or the score of each list (raises as `parse` and `lists_of`)."""
    return tuple(one.score for one in lists_of(text)) if is_lists(text) else (parse(text),)


def canonical_form(text: str) -> str:
    """Return the text with each formula in canonical form."""
    from persona_evo.formula.rewrite import canonical

    if not is_lists(text):
        return canonical(parse(text)).text
    return text_of([replace(one, score=canonical(one.score)) for one in lists_of(text)])


def size(text: str) -> int:
    """Return the number of nodes of all its formulas."""
    return sum(formula.size for formula in scores(text))


def description_length(text: str) -> float:
    """Return the bits of a text: NODE per node, log2(10) per digit of a number, 1 for a list's `novel`."""
    numbers = [token for formula in scores(text) for token in formula.tokens if isinstance(token, float)]
    lists = lists_of(text) if is_lists(text) else ()
    digits = sum(_digits(value) for value in (*numbers, *(one.weight for one in lists)))
    return NODE * size(text) + math.log2(10) * digits + len(lists)


def _digits(value: float) -> int:
    """Return the number of significant digits of a number, at least 1."""
    mantissa = number(abs(value)).partition("e")[0].replace(".", "")
    return max(1, len(mantissa.strip("0")))


def to_policy(text: str, game: Game) -> TreePolicy:
    """Return the tree policy of a text (raises as `lists_of` and `TreePolicy.of`)."""
    if not is_lists(text):
        return TreePolicy.of(text, game, "formula")
    return TreePolicy("formula", None, lists=lists_of(text, readable(game.symbols)))


def of_policy(policy: TreePolicy) -> str | None:
    """Return the text of a policy, with its own score in place of OWN in its lists; None for UCB1.

    Lists that read OWN are left out if there is no own score, as a search does.
    """
    if not policy.lists:
        return None if policy.formula is None else policy.formula.text
    own = policy.formula
    found = with_own(policy.lists, own) if own else [one for one in policy.lists if OWN not in one.score.symbols]
    return text_of(found) if found else None


def with_own(lists: Sequence[OpenList], own: Formula) -> list[OpenList]:
    """Return the lists with OWN replaced by a formula."""
    return [replace(one, score=put_in(one.score, OWN, own)) for one in lists]


# trees


def to_text(genome: Genome) -> str:
    """Return a genome as text."""
    if not isinstance(genome, tuple):
        return genetics.formula(genome).text
    return text_of([OpenList(genetics.formula(gene.tree), gene.weight, gene.novel) for gene in genome])


def read(text: str, primitives: Primitives) -> Genome:
    """Return the genome of a text.

    Raises:
        SettingsError: the text uses something that the primitive set does not have.
    """
    if not is_lists(text):
        return genetics.read(text, primitives)
    return tuple(Gene(genetics.tree(one.score, primitives), one.weight, one.novel) for one in lists_of(text))


def random_genome(settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Genome:
    """Draw a random genome of the kind that the settings name."""
    if settings.individual != LISTS:
        return genetics.random_tree(settings, primitives, stream)
    return list_operators.random_genes(settings, primitives, stream)


def mutate(
    genome: Genome, settings: EvolutionSettings, primitives: Primitives, stream: random.Random
) -> tuple[Genome, str]:
    """Return a mutant and the name of the mutation."""
    if not isinstance(genome, tuple):
        return operators.mutate(genome, settings, primitives, stream)
    return list_operators.mutate(genome, settings, primitives, stream)


def crossover(
    first: Genome, second: Genome, settings: EvolutionSettings, stream: random.Random
) -> tuple[Genome, Genome]:
    """Return two offspring of two genomes of the same kind."""
    if not isinstance(first, tuple):
        return operators.crossover(first, second, settings, stream)
    return list_operators.crossover(first, second, settings, stream)


def fits(text: str, settings: EvolutionSettings, known: Collection[str]) -> bool:
    """Return whether a text is of the kind that the settings name, within their limits, and uses only `known` names.

    `known` contains symbols and functions.
    """
    return is_lists(text) == (settings.individual == LISTS) and all(
        f.depth <= settings.depth_limit
        and f.size <= settings.size_limit
        and all(token in known for token in f.tokens if isinstance(token, str))
        for f in scores(text)
    )
