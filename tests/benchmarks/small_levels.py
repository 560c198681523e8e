"""Levels of MiniDungeons 2 that are small enough for an exhaustive search."""

from __future__ import annotations

import itertools
from random import Random

from persona_evo.errors import LevelError
from persona_evo.games.catalog.minidungeons2.generate import text_of
from persona_evo.games.core import Level

from .levels import game

ATTEMPTS = 1_000
"""Largest number of attempts to make a level."""


def loaded(text: str, name: str) -> Level | None:
    """Load a level; return None if the game refuses it (no way to the exit, a hero walled in)."""
    try:
        return game().load(text, name)
    except LevelError:
        return None


def small(seed: int, number: int = 0) -> Level:
    """Draw a level of 3x3 to 5x5 tiles within its walls with few objects: small enough for an exhaustive search."""
    rng = Random(f"small {seed} {number}")
    for _ in range(ATTEMPTS):
        width, height = rng.randint(3, 5), rng.randint(3, 5)
        inside = list(itertools.product(range(1, width + 1), range(1, height + 1)))
        rng.shuffle(inside)
        crowd = rng.randint(0, 6)
        chars = ["H", "e", *(["p", "p"] if rng.random() < 0.3 else []), *rng.choices("TTPPtMRobm", k=crowd)]
        things = dict(zip(inside, chars, strict=False))
        floor = {tile for tile in inside if tile in things or rng.random() < 0.8}
        found = loaded(text_of(width + 2, height + 2, floor, things), f"small-{seed}-{number}")
        if found:
            return found
    raise RuntimeError(f"no small level out of seed {seed}, number {number}")
