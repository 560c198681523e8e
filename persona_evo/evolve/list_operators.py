"""Random open lists, their mutation and crossover. All functions return new genes within the limits.

| mutation | effect on the lists |
|---|---|
| those of `operators` | the score of one list is mutated, by a mutation that the settings' weights draw |
| weight | the weight of one list is multiplied by a log-normal factor |
| novel | one list starts, or stops, putting novel states first |
| add | one list is added: a random one, or one whose score is a mutant of another's |
| drop | one list is removed |

In a crossover, two lists exchange subtrees of their scores, or the parents exchange a list, or each parent copies one
of the other's lists. The parents themselves are not changed.
"""

from __future__ import annotations

import math
import random

from persona_evo.evolve import genetics, operators
from persona_evo.evolve.genes import HEAVY, LIGHT, MOST, Gene, Genes
from persona_evo.evolve.genetics import Primitives
from persona_evo.evolve.settings import EvolutionSettings

_MUTATIONS = {"score": 6.0, "weight": 2.0, "novel": 1.0, "add": 1.5, "drop": 1.5}
_CROSSOVERS = {"subtree": 2.0, "exchange": 1.0, "copy": 1.0}
_FEW = 4
"""The highest number of lists in a random genome."""
_STEP = 0.7
"""The standard deviation of the logarithm of a weight's factor."""


def random_genes(settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Genes:
    """Draw one to four random lists."""
    return distinct([_random_gene(settings, primitives, stream) for _ in range(stream.randint(1, _FEW))])


def _random_gene(settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Gene:
    tree = genetics.random_tree(settings, primitives, stream)
    return Gene(tree, _weight(math.exp(stream.gauss(0.0, _STEP))), stream.random() < 0.5)


def _weight(value: float) -> float:
    """Return a weight within the limits, to two significant digits."""
    return float(f"{min(HEAVY, max(LIGHT, value)):.2g}")


def distinct(genes: list[Gene]) -> Genes:
    """Return the lists without those that equal an earlier one in all but the weight."""
    found: dict[tuple[str, bool], Gene] = {}
    for gene in genes:
        found.setdefault((genetics.formula(gene.tree).text, gene.novel), gene)
    return tuple(found.values())


def mutate(
    genes: Genes, settings: EvolutionSettings, primitives: Primitives, stream: random.Random
) -> tuple[Genes, str]:
    """Return mutated lists and the name of the mutation."""
    usable = {"drop": len(genes) > 1, "add": len(genes) < MOST, "weight": len(genes) > 1}
    names = [name for name in _MUTATIONS if usable.get(name, True)]
    name = stream.choices(names, [_MUTATIONS[n] for n in names])[0]
    mutant = list(genes)
    at = stream.randrange(len(genes))
    gene = genes[at]
    if name == "score":
        tree, name = operators.mutate(gene.tree, settings, primitives, stream)
        mutant[at] = gene._replace(tree=tree)
    elif name == "weight":
        mutant[at] = gene._replace(weight=_weight(gene.weight * math.exp(stream.gauss(0.0, _STEP))))
    elif name == "novel":
        mutant[at] = gene._replace(novel=not gene.novel)
    elif name == "drop":
        del mutant[at]
    elif stream.random() < 0.5:
        mutant.append(_random_gene(settings, primitives, stream))
    else:
        mutant.append(gene._replace(tree=operators.mutate(gene.tree, settings, primitives, stream)[0]))
    return distinct(mutant), name


def crossover(first: Genes, second: Genes, settings: EvolutionSettings, stream: random.Random) -> tuple[Genes, Genes]:
    """Return two offspring of two sets of lists."""
    one, two = list(first), list(second)
    here, there = stream.randrange(len(one)), stream.randrange(len(two))
    mine, yours = one[here], two[there]
    kind = stream.choices(list(_CROSSOVERS), list(_CROSSOVERS.values()))[0]
    if kind == "subtree":
        trees = operators.crossover(mine.tree, yours.tree, settings, stream)
        one[here], two[there] = mine._replace(tree=trees[0]), yours._replace(tree=trees[1])
    elif kind == "exchange":
        one[here], two[there] = yours, mine
    else:
        one, two = [*one, yours][:MOST], [*two, mine][:MOST]
    return distinct(one), distinct(two)
