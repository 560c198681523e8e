"""Crossover and mutation. All functions return new trees within the limits and leave the parents unchanged.

| mutation | effect on the tree |
|---|---|
| new | it becomes another random tree (the paper's) |
| subtree | a random subtree is replaced by a new one |
| point | one node becomes another with the same number of operands |
| constant | every number changes a little; in a tree without numbers, a leaf becomes one |
| hoist | it becomes one of its subtrees |
| shrink | one operation is replaced by one of its operands |
| term | a small multiple of a leaf, or of the product of two, is added to it or subtracted |

Other packages add mutations as `MutationOperator`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from persona_evo import extensions
from persona_evo.arguments import checked_fields
from persona_evo.evolve import genetics
from persona_evo.evolve.genetics import Primitives, Tree, constant, fits, grow, is_constant, random_tree, with_term
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.extensions import Extension

_TRIES = 10
_SMALL = 2
"""The highest depth of the subtree that a mutation inserts."""

Mutation = Callable[[Tree, EvolutionSettings, Primitives, random.Random], Tree]


@checked_fields()
@dataclass(frozen=True)
class MutationOperator(Extension):
    """A mutation that another package adds. Its name is a key of `EvolutionSettings.mutations`.

    Attributes:
        mutate: a function that returns a new tree and leaves its argument unchanged. It takes the tree, the settings,
            the building blocks of formulas (`genetics.Primitives`), and the stream for all random draws. A tree that
            breaks a limit of the settings is drawn again, at most ten times.
        help: one line on what the mutation does to the tree.
    """

    group: ClassVar[str] = "persona_evo.mutations"
    noun: ClassVar[str] = "mutation"

    mutate: Mutation
    help: str = ""


def _copy(tree: Tree) -> Tree:
    return type(tree)(tree)


def crossover(first: Tree, second: Tree, settings: EvolutionSettings, stream: random.Random) -> tuple[Tree, Tree]:
    """Return two offspring whose parents exchange one randomly drawn subtree each.

    Exchanges that break a limit are drawn again; after a number of attempts, the offspring are copies.
    """
    for _ in range(_TRIES):
        one, two = _copy(first), _copy(second)
        here = one.searchSubtree(stream.randrange(len(one)))
        there = two.searchSubtree(stream.randrange(len(two)))
        one[here], two[there] = two[there], one[here]
        if fits(one, settings) and fits(two, settings):
            return one, two
    return _copy(first), _copy(second)


def mutate(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> tuple[Tree, str]:
    """Return a mutant and the name of the mutation, which is drawn by the weights of the settings."""
    added = sorted(settings.mutations.keys() - MUTATION.keys())
    names = [name for name in (*MUTATION, *added) if settings.mutations.get(name, 0) > 0]
    name = stream.choices(names, [settings.mutations[n] for n in names])[0]
    for _ in range(_TRIES):
        if name in MUTATION:
            mutant = MUTATION[name](tree, settings, primitives, stream)
        else:
            mutant = _mutate_from_outside(name, tree, settings, primitives, stream)
        if fits(mutant, settings):
            return mutant, name
    return _copy(tree), name


def _mutate_from_outside(
    name: str, tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random
) -> Tree:
    """Return a mutant made by an operator of another package, which must be a formula over the same symbols.

    Raises:
        SettingsError: the operator fails, or returns something else.
    """
    operator = extensions.load(MutationOperator, name)
    what = f"the mutation {name!r} does not return a formula of this evolution"
    with extensions.guarded(what, expected="a tree over the given primitives"):
        mutant = operator.mutate(_copy(tree), settings, primitives, stream)
        return genetics.tree(genetics.formula(mutant), primitives)


def new(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Return a new random tree; nothing of the old one is kept."""
    return random_tree(settings, primitives, stream)


def subtree(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Replace a random subtree by a new one of a depth of at most two."""
    mutant = _copy(tree)
    where = mutant.searchSubtree(stream.randrange(len(mutant)))
    mutant[where] = grow(primitives, 0, _SMALL, stream, full=False)
    return mutant


def point(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Replace one node by another with the same number of operands."""
    mutant = _copy(tree)
    i = stream.randrange(len(mutant))
    arity = mutant[i].arity
    mutant[i] = primitives.function(stream, arity) if arity else primitives.leaf(stream)
    return mutant


def perturb(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Change every number by some tenths of itself and of the range; in a tree without numbers, make a leaf one."""
    mutant = _copy(tree)
    numbers = [i for i, node in enumerate(mutant) if is_constant(node)]
    low, high = primitives.constants
    for i in numbers:
        value = mutant[i].value
        moved = value + stream.gauss(0.0, 1.0) * 0.1 * (abs(value) + (high - low))
        mutant[i] = constant(max(-1e6, min(1e6, moved)))
    if not numbers:
        i = stream.choice([i for i, node in enumerate(mutant) if node.arity == 0])
        mutant[i] = constant(stream.uniform(low, high))
    return mutant


def hoist(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Return one of the subtrees: an operation if there is one below the root."""
    inner = [i for i, node in enumerate(tree) if i and node.arity]
    i = stream.choice(inner) if inner else stream.randrange(len(tree))
    return type(tree)(tree[tree.searchSubtree(i)])


def shrink(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Replace one operation by one of its operands."""
    mutant = _copy(tree)
    operations = [i for i, node in enumerate(mutant) if node.arity]
    if not operations:
        return mutant
    i = stream.choice(operations)
    begin = i + 1
    for _ in range(stream.randrange(mutant[i].arity)):
        begin = mutant.searchSubtree(begin).stop
    mutant[mutant.searchSubtree(i)] = mutant[mutant.searchSubtree(begin)]
    return mutant


def term(tree: Tree, settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Add or subtract a weighted leaf or product of two leaves. The logarithm of the weight is uniform.

    The state that a tree ranks first mostly stays first, so a term refines what the tree already does.
    """
    return with_term(tree, primitives, stream)


MUTATION: dict[str, Mutation] = {
    "new": new,
    "subtree": subtree,
    "point": point,
    "constant": perturb,
    "hoist": hoist,
    "shrink": shrink,
    "term": term,
}
"""The mutations by their names in the settings."""
