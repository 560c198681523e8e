"""The board as rows of bits: how a state stores walls, and computations that shift whole rows.

State (uint16): SEATS the two players' cells (row * size + column), SIDE whose turn it is, MOVES made so far, RESULT
what `over` says, CELLS the players' cells once they are apart, then from WALLS on for each row of the board `words`
words with a bit for each cell that has a wall on its right, then as many for walls below. The border's are among them.

Tables (uint16): SIZE n, REACH K = (n + 1) // 2 steps at most, WORDS = ceil(n / 16).

In memory a row of cells is an int64, bit c for column c. `east` and `south` hold the walls of all rows, row r's at
[r]; `seen` and its like hold sets of cells. Directions: 0 up, 1 right, 2 down, 3 left.
"""

from __future__ import annotations


import numpy as np

from persona_evo.compiling import compiled, row
from persona_evo.compiling.arrays import IntRow
from persona_evo.games.rows import Row

SIZE, REACH, WORDS = range(3)
SEATS, SIDE, MOVES, RESULT, CELLS, WALLS = 0, 2, 3, 4, 5, 7
UP, RIGHT, DOWN, LEFT = range(4)

LEAST, MOST = 3, 32
"""The smallest and the largest side of a board."""

Cells = IntRow
"""A set of cells, or the walls of all rows on one side."""

ROWS = MOST
"""The length of a set of cells."""


@compiled
def word(array: Row, at: int) -> int:
    """Return a word as a plain whole number."""
    return int(np.int64(array[at]))


@compiled
def read_walls(t: Row, s: Row, east: Cells, south: Cells) -> int:
    """Unpack the walls of a state; return the board's size."""
    n = word(t, SIZE)
    words = word(t, WORDS)
    below = WALLS + n * words
    for r in range(n):
        if words == 1:
            east[r] = word(s, WALLS + r)
            south[r] = word(s, below + r)
        else:
            east[r] = word(s, WALLS + 2 * r) | (word(s, WALLS + 2 * r + 1) << 16)
            south[r] = word(s, below + 2 * r) | (word(s, below + 2 * r + 1) << 16)
    return n


@compiled
def count_bits(x: int) -> int:
    """Count the bits that are set among the lowest 32."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) & 0xFFFFFFFF) >> 24


@compiled
def grow(n: int, east: Cells, south: Cells, seen: Cells, low: int, high: int) -> int:
    """Add the cells one step from those in `seen`, between two rows; return a nonzero number if any were added."""
    above = 0
    if low > 0:
        above = seen[low - 1]
    changed = 0
    for r in range(low, high + 1):
        old = seen[r]
        new = old | ((old & ~east[r]) << 1) | ((old >> 1) & ~east[r])
        if r > 0:
            new |= above & ~south[r - 1]
        if r < n - 1:
            new |= seen[r + 1] & ~south[r]
        above = old
        changed |= new ^ old
        seen[r] = new
    return changed


@compiled
def walk_area(n: int, east: Cells, south: Cells, start: int, other: int, steps: int, seen: Cells) -> int:
    """Write to `seen` the cells within this many steps of `start`, never through the cell `other`."""
    for r in range(n):
        seen[r] = 0
    low = high = start // n
    seen[low] = 1 << (start - low * n)
    taken_row = other // n
    free = ~(1 << (other - taken_row * n))
    for _ in range(steps):
        low = max(0, low - 1)
        high = min(n - 1, high + 1)
        if grow(n, east, south, seen, low, high) == 0:
            break
        seen[taken_row] &= free
    return 0


@compiled
def count_cells(n: int, seen: Cells) -> int:
    """Return the size of a set of cells."""
    total = 0
    for r in range(n):
        total += count_bits(seen[r])
    return total


@compiled
def open_sides(n: int, east: Cells, south: Cells, r: int, cells: int) -> int:
    """Return the number of open sides of the cells `cells` of row r."""
    above = 0
    if r > 0:
        above = ~south[r - 1]
    total = count_bits(cells & ~east[r]) + count_bits(cells & ~((east[r] << 1) | 1)) + count_bits(cells & above)
    return total + count_bits(cells & ~south[r])


@compiled
def is_open(n: int, east: Cells, south: Cells, r: int, c: int, d: int) -> int:
    """Return 1 if side d of the cell (r, c) has no wall, else 0."""
    if d == UP:
        return 0 if r == 0 else 1 - ((south[r - 1] >> c) & 1)
    if d == RIGHT:
        return 1 - ((east[r] >> c) & 1)
    if d == DOWN:
        return 1 - ((south[r] >> c) & 1)
    return 0 if c == 0 else 1 - ((east[r] >> (c - 1)) & 1)


@compiled
def walls_around(n: int, east: Cells, south: Cells, cell: int) -> int:
    """Return the number of sides of a cell that have walls."""
    r = cell // n
    return 4 - open_sides(n, east, south, r, 1 << (cell - r * n))


@compiled
def neighbour(n: int, cell: int, d: int) -> int:
    """Return the cell on side d of a cell."""
    if d == UP:
        return cell - n
    if d == RIGHT:
        return cell + 1
    if d == DOWN:
        return cell + n
    return cell - 1


@compiled
def build(t: Row, s: Row, cell: int, d: int) -> None:
    """Put a wall on side d of a cell, unless there is one."""
    n = word(t, SIZE)
    words = word(t, WORDS)
    r = cell // n
    c = cell - r * n
    if (d == UP and r == 0) or (d == LEFT and c == 0):
        return
    if d == UP:
        r -= 1
    if d == LEFT:
        c -= 1
    at = WALLS + r * words + (c >> 4)
    if d == UP or d == DOWN:
        at += n * words
    s[at] = word(s, at) | (1 << (c & 15))


@compiled
def component(n: int, east: Cells, south: Cells, start: int, target: int, seen: Cells) -> int:
    """Find the cells connected with `start`, ignoring players; stop at `target` (-1: none) and return 1 if found."""
    for r in range(n):
        seen[r] = 0
    first = start // n
    seen[first] = 1 << (start - first * n)
    goal_row = 0
    goal = 0
    if target >= 0:
        goal_row = target // n
        goal = 1 << (target - goal_row * n)
    changed = 1
    while changed and seen[goal_row] & goal == 0:
        changed = 0
        for k in range(2 * n - 1):
            r = k
            if k >= n:
                r = 2 * (n - 1) - k
            cells = seen[r]
            if r > 0:
                cells |= seen[r - 1] & ~south[r - 1]
            if r < n - 1:
                cells |= seen[r + 1] & ~south[r]
            if cells == seen[r]:
                if cells == 0 or r != first:
                    continue
            right = ~east[r]
            old = 0
            while old != cells:
                old = cells
                cells |= ((cells & right) << 1) | ((cells >> 1) & right)
            changed |= cells ^ seen[r]
            seen[r] = cells
    return 1 if seen[goal_row] & goal else 0


@compiled
def corner(n: int, east: Cells, south: Cells, y: int, x: int) -> int:
    """Return 1 if several walls, or the border, meet in the corner above and left of the cell (y, x), else 0."""
    if y == 0 or x == 0 or y == n or x == n:
        return 1
    left, right = (south[y - 1] >> (x - 1)) & 1, (south[y - 1] >> x) & 1
    up, down = (east[y - 1] >> (x - 1)) & 1, (east[y] >> (x - 1)) & 1
    return 1 if left + right + up + down > 1 else 0


@compiled
def may_divide(n: int, east: Cells, south: Cells, cell: int, d: int) -> int:
    """Return whether a new wall can have cut anything off, that is, whether both its ends touch other walls."""
    r = cell // n
    c = cell - r * n
    if d == UP:
        return corner(n, east, south, r, c) & corner(n, east, south, r, c + 1)
    if d == DOWN:
        return corner(n, east, south, r + 1, c) & corner(n, east, south, r + 1, c + 1)
    if d == LEFT:
        return corner(n, east, south, r, c) & corner(n, east, south, r + 1, c)
    return corner(n, east, south, r, c + 1) & corner(n, east, south, r + 1, c + 1)


@compiled
def nearer(n: int, east: Cells, south: Cells, first: int, second: int, counts: IntRow) -> int:
    """Write the numbers of cells that are nearer to `first` and to `second`, ignoring players, to counts[0] and [1].

    Returns:
        The number of steps from one to the other; n * n if there is no way.
    """
    mine, others, claimed = row(ROWS), row(ROWS), row(ROWS)
    for r in range(n):
        mine[r] = others[r] = claimed[r] = 0
    r1, r2 = first // n, second // n
    goal = 1 << (second - r2 * n)
    mine[r1] = claimed[r1] = 1 << (first - r1 * n)
    others[r2] = goal
    claimed[r2] |= goal
    counts[0] = counts[1] = 1
    apart = n * n
    step = 0
    changed = 1
    while changed:
        step += 1
        changed = grow(n, east, south, mine, 0, n - 1) | grow(n, east, south, others, 0, n - 1)
        if apart == n * n and mine[r2] & goal:
            apart = step
        for r in range(n):
            counts[0] += count_bits(mine[r] & ~others[r] & ~claimed[r])
            counts[1] += count_bits(others[r] & ~mine[r] & ~claimed[r])
            claimed[r] |= mine[r] | others[r]
    return apart
