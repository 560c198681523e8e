"""Generates levels of It's Alive!: files with their own seed, from which the game shuffles the sequence of pieces."""

from __future__ import annotations

from random import Random

from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.constraints import Constraints, Generator

SEEDS = 2**31
"""The seeds of levels are below this number, so that people can type them."""


def draw(rng: Random, kind: str, wanted: Constraints) -> str:
    """Draw a level on one of the fields, with the design `regular` for an unrestricted player."""
    return f"seed = {rng.randrange(SEEDS)}\nfield = {kind}\ndesign = regular\nplayer = unrestricted\nchoices = flat\n"


KINDS = {
    name: f"a field of {width} x {height}, {win} monsters win" for name, (width, height, win) in layout.FIELDS.items()
}

GENERATOR = Generator(draw, KINDS, shown=("cells", "win"), from_seed=True)
