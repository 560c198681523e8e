"""Levels of MiniDungeons 2 of any size, drawn from a seed."""

from __future__ import annotations

import random
from collections import deque

WALLS = 0.25
"""Share of the inner tiles that are turned into walls, as long as all floor stays connected."""

THINGS = "MMRRobPPTTTt"
"""The objects of a level of 16 by 16, beside hero and exit; a smaller level has its share, a larger one no more."""


def cavern(side: int, seed: int) -> str:
    """Return the text of a level of `side` by `side` tiles, including its outer walls."""
    rng = random.Random(seed)
    inner = [(x, y) for y in range(1, side - 1) for x in range(1, side - 1)]
    floor = set(inner)
    for tile in rng.sample(inner, round(WALLS * len(inner))):
        if _connected(floor - {tile}, tile):
            floor.discard(tile)
    count = min(len(THINGS), max(4, len(inner) * len(THINGS) // 196))
    objects = dict(zip(rng.sample(sorted(floor), 2 + count), "He" + "".join(rng.sample(THINGS, count)), strict=True))
    return "".join(
        "".join("X" if (x, y) not in floor else objects.get((x, y), " ") for x in range(side)) + "\n"
        for y in range(side)
    )


def _connected(floor: set[tuple[int, int]], gone: tuple[int, int]) -> bool:
    """Return whether the neighbours of a tile reach each other without it, within a few steps around it."""
    x, y = gone
    near = [tile for tile in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if tile in floor]
    if not near:
        return False
    seen, waiting = {near[0]}, deque(near[:1])
    while waiting:
        a, b = waiting.popleft()
        for tile in ((a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)):
            if tile in floor and tile not in seen and max(abs(tile[0] - x), abs(tile[1] - y)) <= 3:
                seen.add(tile)
                waiting.append(tile)
    return seen.issuperset(near)
