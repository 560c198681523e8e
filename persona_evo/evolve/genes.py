"""Defines the genomes of the evolution: a tree, or the genes of open lists."""

from __future__ import annotations

from typing import NamedTuple

from persona_evo.evolve.genetics import Tree

MOST = 8
"""The highest number of lists in a genome."""

LIGHT, HEAVY = 0.01, 100.0
"""The lowest and the highest weight that evolution gives to a list."""


class Gene(NamedTuple):
    """One open list: the tree of its score, its weight (a share of the turns, > 0), and whether novel states lead."""

    tree: Tree
    weight: float = 1.0
    novel: bool = False


Genes = tuple[Gene, ...]
Genome = Tree | Genes
"""A tree, or 1 to MOST genes."""
