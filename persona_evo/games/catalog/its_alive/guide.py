"""A guide for designers of It's Alive! levels: the file format, a level to start from, and the notation of moves."""

from __future__ import annotations

from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.catalog.its_alive.structure import MEANINGS

__all__ = ["ACTIONS", "AIMED", "EXAMPLE", "LEGEND", "MEANINGS"]

LEGEND = f"""\
A level of It's Alive! is a text file of settings, one a line; # begins a comment.

  seed = N      the seed for the sequence of pieces (required)
  field = W     {", ".join(layout.FIELDS)}: columns x rows
  design = W    {", ".join(layout.DESIGNS)}: when pieces join and monsters live
  player = W    {", ".join(layout.PLAYERS)}: when monsters are collected
  choices = W   {" or ".join(layout.CHOICES)}: one list of all choices, or one decision after the other

The first word of a list is the default."""

EXAMPLE = """\
seed = 12
field = 3x5
design = regular
player = unrestricted
choices = flat
"""

ACTIONS = (
    "L,column,N (E, S, W): the next piece lands in this column (from 0) and orientation; C@row:column: collect the "
    "monster whose lowest cell is there; as single decisions: land or collect, column,C, turn,N"
)

AIMED = ("C",)
