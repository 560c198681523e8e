"""Analyses boards without playing: paths, tiles that every path passes, and pockets that lead nowhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from persona_evo.games.findings import Spot, where
from persona_evo.words import enumerated

T = TypeVar("T", bound=Hashable)

Moves = Mapping[Spot, Sequence[Spot]]
STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
MOST_PLACES = 6
"""Places that a sentence names one by one."""


def beside(spot: Spot) -> list[Spot]:
    """Return the four neighbours of a tile: north, east, south, west."""
    return [(spot[0] + dx, spot[1] + dy) for dx, dy in STEPS]


def distances(start: Iterable[Spot], moves: Moves, without: Collection[Spot] = ()) -> dict[Spot, int]:
    """Return the least number of moves from the nearest of some tiles to each tile that can be reached.

    Args:
        start: the tiles to begin from.
        moves: the tiles that each tile leads to.
        without: tiles that must not be entered.
    """
    found: dict[Spot, int] = dict.fromkeys(start, 0)
    queue = deque(found)
    while queue:
        tile = queue.popleft()
        for to in moves.get(tile, ()):
            if to not in found and to not in without:
                found[to] = found[tile] + 1
                queue.append(to)
    return found


def leading_to(goals: Iterable[T], after: Mapping[T, Iterable[T]]) -> set[T]:
    """Return the tiles, or states, from which one of the goals can be reached, including the goals themselves.

    Args:
        goals: the goals.
        after: for each tile or state, what one move leads to.
    """
    before: dict[T, list[T]] = {}
    for here, following in after.items():
        for to in following:
            before.setdefault(to, []).append(here)
    found = set(goals)
    queue = list(found)
    for to in queue:
        new = [here for here in before.get(to, ()) if here not in found]
        found.update(new)
        queue += new
    return found


def shortest(start: Spot, goal: Spot, moves: Moves, without: Collection[Spot] = ()) -> list[Spot]:
    """Return the tiles of a shortest path, including both ends; empty if there is none."""
    came: dict[Spot, Spot | None] = {start: None}
    queue = deque([start])
    while queue and goal not in came:
        tile = queue.popleft()
        for to in moves.get(tile, ()):
            if to not in came and to not in without:
                came[to] = tile
                queue.append(to)
    way: list[Spot] = []
    here: Spot | None = goal if goal in came else None
    while here is not None:
        way.append(here)
        here = came[here]
    return way[::-1]


def least_cost(start: Spot, moves: Moves, cost: Callable[[Spot], int]) -> dict[Spot, int]:
    """Return the least total cost of reaching each tile, where each tile entered costs 0 or 1."""
    found = {start: 0}
    queue = deque([(0, start)])
    while queue:
        spent, tile = queue.popleft()
        if spent > found[tile]:
            continue
        for to in moves.get(tile, ()):
            price = cost(to)
            if spent + price < found.get(to, spent + price + 1):
                found[to] = spent + price
                (queue.append if price else queue.appendleft)((spent + price, to))
    return found


def on_every_way(start: Spot, goal: Spot, moves: Moves) -> list[Spot]:
    """Return the tiles between start and goal that every path passes, in order; empty if there is no path."""
    path = shortest(start, goal, moves)
    index = {tile: i for i, tile in enumerate(path)}
    seen: set[Spot] = set()
    far, found = 0, []
    for i, tile in enumerate(path[:-1]):
        if i and far == i:
            found.append(tile)
        stack = [tile]
        while stack:
            here = stack.pop()
            for to in moves.get(here, ()):
                if to in index:
                    far = max(far, index[to])
                elif to not in seen:
                    seen.add(to)
                    stack.append(to)
    return found


def parts(tiles: Iterable[Spot]) -> list[list[Spot]]:
    """Return tiles in connected pieces (sides, not corners), each row by row, beginning with the first tile's piece."""
    left = dict.fromkeys(sorted(tiles, key=lambda p: (p[1], p[0])))
    found = []
    while left:
        queue = [next(iter(left))]
        del left[queue[0]]
        for tile in queue:
            near = [n for n in beside(tile) if n in left]
            for n in near:
                del left[n]
            queue += near
        found.append(sorted(queue, key=lambda p: (p[1], p[0])))
    return found


def is_door(spot: Spot, passable: Callable[[int, int], bool]) -> bool:
    """Return whether a tile is a door or part of a corridor: walls on two opposite sides, floor on the other two."""
    north, east, south, west = (passable(*n) for n in beside(spot))
    return north == south and east == west and north != east


@dataclass(frozen=True)
class Pocket:
    """Tiles that hang on the rest of the board by one tile.

    Attributes:
        door: the tile that all ways into it pass; it is no part of the pocket.
        tiles: in the order of a walk from the door.
        end: the tile farthest from the door.
        depth: moves from the door to there.
    """

    door: Spot
    tiles: tuple[Spot, ...]
    end: Spot
    depth: int


def pockets(start: Spot, moves: Moves, content: Callable[[Spot], bool]) -> list[Pocket]:
    """Return the largest pockets without content, as seen from `start`.

    Args:
        start: the tile from which the board is explored.
        moves: the neighbours that a tile leads to; every move must be possible in both directions.
        content: whether a tile holds something, so that its pocket does not count.
    """
    order, low, parent = _depth_first(start, moves)
    number = {tile: i for i, tile in enumerate(order)}
    full = [0] * (len(order) + 1)
    for i, tile in enumerate(order):
        full[i + 1] = full[i] + content(tile)
    size = [1] * len(order)
    for i in range(len(order) - 1, 0, -1):
        size[number[parent[order[i]]]] += size[i]
    found, i = [], 1
    while i < len(order):
        tile = order[i]
        door = parent[tile]
        hangs = low[tile] >= number[door]
        if hangs and full[i + size[i]] == full[i]:
            tiles = tuple(order[i : i + size[i]])
            inside = distances([door], {t: moves[t] for t in (door, *tiles)})
            end = max(tiles, key=lambda t: inside[t])
            found.append(Pocket(door, tiles, end, inside[end]))
            i += size[i]
        else:
            i += 1
    return found


def _depth_first(start: Spot, moves: Moves) -> tuple[list[Spot], dict[Spot, int], dict[Spot, Spot]]:
    """Walk depth-first; return the tiles in order, the earliest tile that each subtree touches, and the parents."""
    number, low, parent, order = {start: 0}, {start: 0}, {start: start}, [start]
    stack = [(start, iter(moves.get(start, ())))]
    while stack:
        tile, rest = stack[-1]
        for to in rest:
            if to not in number:
                number[to] = low[to] = len(order)
                parent[to] = tile
                order.append(to)
                stack.append((to, iter(moves.get(to, ()))))
                break
            if to != parent[tile]:
                low[tile] = min(low[tile], number[to])
        else:
            stack.pop()
            low[parent[tile]] = min(low[parent[tile]], low[tile])
    return order, low, parent


def at(spots: Sequence[Spot]) -> str:
    """Return the positions of things for a sentence: one by one, or "8:5 to 8:15" for a row or column without gaps."""
    spots = list(dict.fromkeys(spots))
    ends = _line(sorted(spots))
    if ends:
        return f"{where(ends[0])} to {where(ends[1])}"
    return enumerated([where(p) for p in spots], MOST_PLACES)


def _line(spots: list[Spot]) -> tuple[Spot, Spot] | None:
    """Return both ends of three or more tiles that lie in a row or column without gaps."""
    if len(spots) < 3:
        return None
    first, last = spots[0], spots[-1]
    for axis in (0, 1):
        along = list(range(first[1 - axis], last[1 - axis] + 1))
        if all(p[axis] == first[axis] for p in spots) and [p[1 - axis] for p in spots] == along:
            return first, last
    return None
