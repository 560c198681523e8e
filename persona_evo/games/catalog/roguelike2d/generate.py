"""Generates levels of 2D Roguelike: files with their own seed, from which the game lays out all days."""

from __future__ import annotations

from random import Random

from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.constraints import Constraints, Generator

SEEDS = 2**31
"""The seeds of levels are below this number, so that people can type them."""
LEAST_DAYS, MOST_DAYS = 4, 12
"""The range of a level's days unless the constraints say otherwise."""


def draw(rng: Random, kind: str, wanted: Constraints) -> str:
    """Draw a level of one of the variants, for an unrestricted player."""
    days = min(layout.MAX_DAYS, max(1, wanted.draw(rng, "days", LEAST_DAYS, MOST_DAYS)))
    return f"seed = {rng.randrange(SEEDS)}\ndays = {days}\nvariant = {kind}\nplayer = unrestricted\n"


KINDS = {
    name: f"food gives {food} and {soda} points, enemies take {weak} and {strong}"
    for name, (food, soda, weak, strong) in layout.VARIANTS.items()
}

GENERATOR = Generator(draw, KINDS, shown=("days", "walls", "items", "food", "enemies"), from_seed=True)
