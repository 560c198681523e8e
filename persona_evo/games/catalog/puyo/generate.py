"""Levels of Puyo-Puyo: files with a seed of their own, from which the game draws the pairs; some begin with a filled
field, which is a drawing here."""

from __future__ import annotations

from random import Random

from persona_evo.games.catalog.puyo import tables
from persona_evo.games.catalog.puyo.levels import LIMITS
from persona_evo.games.constraints import Constraints, Generator

SEEDS = 2**31
"""The seeds of levels are below this number, so that people can type them."""
COLOURS, DROPS = (3, 5), (12, 24)
"""Fewest and most of a level unless the constraints say otherwise."""
HIGHEST = 6
"""The largest number of rows of a filled field."""
GARBAGE = 0.2
"""The share of the cells of a filled field that hold garbage."""


def draw(rng: Random, kind: str, wanted: Constraints) -> str:
    """Draw a level; one with a filled field may be rejected by the game because four of a colour touch."""
    colours = min(LIMITS["colours"][1], max(LIMITS["colours"][0], wanted.draw(rng, "colours", *COLOURS)))
    drops = min(LIMITS["drops"][1], max(1, wanted.draw(rng, "drops", *DROPS)))
    text = f"seed = {rng.randrange(SEEDS)}\ncolours = {colours}\ndrops = {drops}\nvisible = 3\n"
    return text if kind == "empty" else text + field(rng, colours)


def field(rng: Random, colours: int) -> str:
    """Draw columns of puyos and garbage that stand on the ground."""
    letters = tables.LETTERS[1 : colours + 1]
    heights = [rng.randint(0, HIGHEST) for _ in range(tables.COLUMNS)]
    rows = [
        "".join("." if height < y else "#" if rng.random() < GARBAGE else rng.choice(letters) for height in heights)
        for y in range(max(heights), 0, -1)
    ]
    return 'field = """\n' + "".join(f"{row}\n" for row in rows) + '"""\n'


KINDS = {"empty": "the field is empty at the start", "filled": "the field holds puyos and garbage at the start"}

GENERATOR = Generator(draw, KINDS, shown=("colours", "drops", "filled"), from_seed=True)
