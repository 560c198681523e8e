"""What the evolution breeds: a tree, or the genes of open lists."""

from __future__ import annotations

from typing import NamedTuple

from persona_evo.evolve.genetics import Tree

MOST = 8
"""Lists of a genome at most."""

LIGHT, HEAVY = 0.01, 100.0
"""Weights that evolution gives to lists, at least and at most."""


class Gene(NamedTuple):
    """One open list: the tree of its score, its weight (a share of the turns, > 0), whether novel states come first."""

    tree: Tree
    weight: float = 1.0
    novel: bool = False


Genes = tuple[Gene, ...]
Genome = Tree | Genes
"""A tree, or 1 to MOST genes."""
