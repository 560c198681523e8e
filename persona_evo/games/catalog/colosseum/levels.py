"""Reads level files of Colosseum Survival!: a drawing of a board, or a request for a random board.

A drawing has alternating lines for walls and for cells, 2 n + 1 lines of 2 n + 1 characters:

    +-+-+-+-+-+
    |0|       |        0, 1   the players
    + + + + + +        - |    walls
    |   |     |        +      where walls can meet
    ...

A random board is the line `random SIZE` and perhaps `seed NUMBER`; without a seed, each game has a different board.
A line `turn 1` before a drawing lets player 1 move first. Lines that begin with # are comments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import LevelError, Place, SettingsError
from persona_evo.games.catalog.colosseum.board import DOWN, LEAST, LEFT, MOST, RIGHT, SEATS, SIDE, UP, WALLS
from persona_evo.games.core import Level
from persona_evo.seeds import SEED_LIMIT
from persona_evo.words import counted

LOWEST, HIGHEST = 5, MOST
"""The smallest and the largest side of a random board; a drawn board may be as small as LEAST."""

Cell = tuple[int, int]
STEPS: dict[int, Cell] = {UP: (-1, 0), RIGHT: (0, 1), DOWN: (1, 0), LEFT: (0, -1)}
HINT = "persona-evo level new NAME --game colosseum writes one to start from"


@dataclass(frozen=True)
class ColosseumBoard:
    """A position. In walls[r][c], bit d is set if side d of the cell has a wall; a wall is set in both of its cells."""

    size: int
    walls: tuple[tuple[int, ...], ...]
    players: tuple[Cell, Cell]
    turn: int = 0

    def connected(self) -> bool:
        """Return whether there is a way between the players."""
        return self.players[1] in reached(self.walls, self.players[0])

    @property
    def text(self) -> str:
        """Return the board as a level file, which reads back to the same board."""
        n = self.size
        rows = [["+" if not y % 2 and not x % 2 else " " for x in range(2 * n + 1)] for y in range(2 * n + 1)]
        for r, line in enumerate(self.walls):
            for c, sides in enumerate(line):
                for d, (dy, dx) in STEPS.items():
                    if sides >> d & 1:
                        rows[2 * r + 1 + dy][2 * c + 1 + dx] = "-" if dx == 0 else "|"
        for who, (r, c) in enumerate(self.players):
            rows[2 * r + 1][2 * c + 1] = str(who)
        head = f"turn {self.turn}\n" if self.turn else ""
        return head + "\n".join("".join(row) for row in rows) + "\n"


@dataclass(frozen=True)
class BoardRequest:
    """A request for a random board: its size, and its seed, which is None for a new board in each game."""

    size: int
    seed: int | None = None


def reached(walls: tuple[tuple[int, ...], ...] | list[list[int]], start: Cell) -> set[Cell]:
    """Return the cells connected with a cell."""
    found, queue = {start}, [start]
    for r, c in queue:
        for d, (dy, dx) in STEPS.items():
            there = r + dy, c + dx
            if not walls[r][c] >> d & 1 and there not in found:
                found.add(there)
                queue.append(there)
    return found


def random_board(size: int, seed: int) -> ColosseumBoard:
    """Return a start board as the course's program draws it; for seeds below 2**32, the same as with numpy.random.seed.

    First size // 2 - 1 pairs of walls that mirror each other in the centre are drawn, then the players in the same way.
    """
    draw = np.random.RandomState(seed if seed < 2**32 else [seed & 0xFFFFFFFF, seed >> 32])
    walls = [
        [(r == 0) << UP | (c == size - 1) << RIGHT | (r == size - 1) << DOWN | (c == 0) << LEFT for c in range(size)]
        for r in range(size)
    ]

    def wall(r: int, c: int, d: int) -> None:
        walls[r][c] |= 1 << d
        dy, dx = STEPS[d]
        if 0 <= r + dy < size and 0 <= c + dx < size:
            walls[r + dy][c + dx] |= 1 << (d + 2) % 4

    for _ in range(size // 2 - 1):
        while True:
            r, c = (int(v) for v in draw.randint(0, size, size=2))
            d = int(draw.randint(0, 4))
            if not walls[r][c] >> d & 1:
                break
        wall(r, c, d)
        wall(size - 1 - r, size - 1 - c, (d + 2) % 4)
    while True:
        r, c = (int(v) for v in draw.randint(0, size, size=2))
        other = size - 1 - r, size - 1 - c
        if other != (r, c) and other in reached(walls, (r, c)):
            return ColosseumBoard(size, tuple(map(tuple, walls)), ((r, c), other))


def parse(text: str, source: str) -> ColosseumBoard | BoardRequest:
    """Read a level.

    Raises:
        LevelError: the text is wrong; the error has line and column, what is there, what is allowed and what to do.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not kept:
        raise LevelError("the level is empty", place=Place(source, 1, 1), expected="a board, or random SIZE", hint=HINT)
    words = kept[0][1].split()
    if words[0] == "random":
        return _wanted(kept, source)
    turn = 0
    if words[0] == "turn":
        if len(words) != 2 or words[1] not in ("0", "1"):
            _refuse("the turn cannot be read", source, kept[0][0], 1, kept[0][1], "turn 0 or turn 1")
        turn = int(words[1])
        kept = kept[1:]
    return _drawn(kept, turn, source)


def _refuse(what: str, source: str, line: int, column: int, found: str, expected: str, hint: str = HINT) -> NoReturn:
    raise LevelError(what, place=Place(source, line, column), found=found[:80], expected=expected, hint=hint)


def _wanted(kept: list[tuple[int, str]], source: str) -> BoardRequest:
    number, line = kept[0]
    expected = f"random SIZE with a size from {LOWEST} to {HIGHEST}, optionally followed by seed NUMBER"
    if len(kept) > 1:
        _refuse("a random board has one line", source, kept[1][0], 1, kept[1][1], expected)
    words = line.split()
    if len(words) not in (2, 4) or (len(words) == 4 and words[2] != "seed"):
        _refuse("the random board cannot be read", source, number, 1, line, expected)
    for at in range(1, len(words), 2):
        low, high = (LOWEST, HIGHEST) if at == 1 else (0, SEED_LIMIT - 1)
        digits = words[at]
        if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and low <= int(digits) <= high):
            name = "size" if at == 1 else "seed"
            wrong = "is out of range" if digits.removeprefix("-").isdecimal() else "is not a whole number"
            column = line.index(digits, line.index(words[at - 1]) + len(words[at - 1])) + 1
            _refuse(f"the {name} {wrong}", source, number, column, digits, f"{low} to {high}, as in random 8 seed 3")
    return BoardRequest(int(words[1]), int(words[3]) if len(words) == 4 else None)


def _drawn(kept: list[tuple[int, str]], turn: int, source: str) -> ColosseumBoard:
    if not kept:
        raise LevelError("there is no board", place=Place(source, 1, 1), expected="a drawing of one", hint=HINT)
    side = len(kept[0][1].rstrip())
    n = side // 2
    if side % 2 == 0 or not LEAST <= n <= MOST:
        expected = f"2 n + 1 characters, n the board's side from {LEAST} to {MOST}"
        _refuse("the board has the wrong size", source, kept[0][0], 1, f"{side} characters", expected)
    if len(kept) != side:
        last = kept[-1][0]
        _refuse("the board is not square", source, last, 1, counted(len(kept), "line"), f"{side} lines, as it is wide")
    walls = [[0] * n for _ in range(n)]
    players: dict[str, Cell] = {}
    for y, (number, line) in enumerate(kept):
        if len(line.rstrip()) > side:
            _refuse("the line is too long", source, number, side + 1, line[side:], f"{side} characters")
        for x, char in enumerate(line.ljust(side)[:side]):
            _read(char, y, x, n, walls, players, (source, number))
    for who in "01":
        if who not in players:
            _refuse(f"player {who} is missing", source, kept[0][0], 1, f"no {who}", f"a {who} in one cell")
    board = ColosseumBoard(n, tuple(map(tuple, walls)), (players["0"], players["1"]), turn)
    if not board.connected():
        r, c = players["1"]
        _refuse(
            "the players are apart: the game is over before it began",
            source,
            kept[2 * r + 1][0],
            2 * c + 2,
            "1",
            "a way from 0 to 1",
            "open a wall between them",
        )
    return board


def _read(
    char: str, y: int, x: int, n: int, walls: list[list[int]], players: dict[str, Cell], at: tuple[str, int]
) -> None:
    """Read one character of a drawing."""
    border = y in (0, 2 * n) or x in (0, 2 * n)
    if y % 2 and x % 2:
        allowed = " 01"
    elif not y % 2 and not x % 2:
        allowed = "+"
    else:
        allowed = ("" if border else " ") + ("|" if y % 2 else "-")
    if char not in allowed:
        wanted = " or ".join("a space" if c == " " else repr(c) for c in allowed)
        _refuse("a character in the wrong place", at[0], at[1], x + 1, repr(char), wanted)
    if char in "01":
        if char in players:
            _refuse(f"player {char} stands in two cells", at[0], at[1], x + 1, char, "one cell for each player")
        players[char] = (y // 2, x // 2)
    elif char in "|-":
        for r, c, d in (
            ((y // 2, x // 2 - 1, RIGHT), (y // 2, x // 2, LEFT))
            if y % 2
            else ((y // 2 - 1, x // 2, DOWN), (y // 2, x // 2, UP))
        ):
            if 0 <= r < n and 0 <= c < n:
                walls[r][c] |= 1 << d


def load(text: str, name: str, source: str = "", *, size: int = 0, seed: int = -1) -> Level:
    """Read a level from its text.

    Args:
        size, seed: instead of those of a random board; 0 and -1 for what the text says.

    Raises:
        LevelError: the file is wrong, with line and column.
        SettingsError: an option is out of range, or the board is drawn and no random one.
    """
    if size and not LOWEST <= size <= HIGHEST:
        raise SettingsError("the board's size is out of range", found=str(size), expected=f"{LOWEST} to {HIGHEST}")
    if seed < -1:
        raise SettingsError("the board's seed is out of range", found=str(seed), expected="at least 0")
    found = parse(text, source or name)
    if isinstance(found, ColosseumBoard) and (size or seed >= 0):
        raise SettingsError(
            "size and seed are for random boards",
            found=f"{name}, which is a drawing",
            hint="leave the options out, or name random boards",
        )
    if isinstance(found, BoardRequest):
        found = BoardRequest(size or found.size, seed if seed >= 0 else found.seed)
    board = random_board(found.size, found.seed or 0) if isinstance(found, BoardRequest) else found
    tables, start = rows_of(board)
    fixed = isinstance(found, ColosseumBoard) or found.seed is not None
    options = {k: v for k, v in (("size", size), ("seed", seed)) if v != {"size": 0, "seed": -1}[k]}
    reach = (board.size + 1) // 2
    return Level(
        game="colosseum",
        name=name,
        text=text,
        tables=tables,
        start=start,
        max_actions=4 * min(board.size**2, 2 * reach * (reach + 1) + 1),
        source=source,
        options=options,
        facts={"size": board.size, "fixed": fixed},
    )


def rows_of(board: ColosseumBoard) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return a board as the rows that the rules take, the tables and the state; nobody has won yet."""
    n, words = board.size, (board.size + 15) // 16
    tables = np.array([n, (n + 1) // 2, words], dtype=np.uint16)
    state = np.zeros(WALLS + 2 * n * words, dtype=np.uint16)
    state[SEATS], state[SEATS + 1] = (r * n + c for r, c in board.players)
    state[SIDE] = board.turn
    for r, line in enumerate(board.walls):
        for c, sides in enumerate(line):
            state[WALLS + r * words + c // 16] |= (sides >> RIGHT & 1) << c % 16
            state[WALLS + (n + r) * words + c // 16] |= (sides >> DOWN & 1) << c % 16
    return tables, state


def board_of(level: Level, state: NDArray[np.uint16]) -> ColosseumBoard:
    """Return the board that a state holds; this is the inverse of `rows_of`."""
    n, words = int(level.tables[0]), int(level.tables[2])

    def wall(r: int, c: int, below: bool) -> int:
        if r < 0 or c < 0:
            return 1
        return int(state[WALLS + (n * below + r) * words + c // 16]) >> c % 16 & 1

    walls = tuple(
        tuple(
            wall(r - 1, c, True) << UP
            | wall(r, c, False) << RIGHT
            | wall(r, c, True) << DOWN
            | wall(r, c - 1, False) << LEFT
            for c in range(n)
        )
        for r in range(n)
    )
    players = tuple(divmod(int(state[SEATS + p]), n) for p in range(2))
    return ColosseumBoard(n, walls, (players[0], players[1]), int(state[SIDE]))


def restart(level: Level, seed: int) -> NDArray[np.uint16]:
    """Return a start: a new random board for each seed, unless the level's board is fixed."""
    if level.facts["fixed"]:
        return level.start.copy()
    return rows_of(random_board(int(level.facts["size"]), seed))[1]
