"""The notation of moves in Colosseum Survival!, the players' places, and the events of a move."""

from __future__ import annotations

from persona_evo.errors import SettingsError
from persona_evo.games.catalog.colosseum.levels import board_of, reached
from persona_evo.games.core import Event, Level
from persona_evo.games.rows import Row

DIRECTIONS = "NESW"


def action_name(level: Level, state: Row, action: int) -> str:
    """Return the name of an action: row, column and side of the wall, as in 3,0,N."""
    cell, d = divmod(action, 4)
    r, c = divmod(cell, int(level.tables[0]))
    return f"{r},{c},{DIRECTIONS[d]}"


def parse_action(level: Level, state: Row, text: str) -> int:
    """Return the action with this name: the inverse of `action_name`."""
    n, parts = int(level.tables[0]), text.split(",")
    if len(parts) == 3 and parts[2] in tuple(DIRECTIONS) and all(p.isascii() and p.isdigit() for p in parts[:2]):
        r, c = (int(p) if len(p) < 4 else n for p in parts[:2])
        if r < n and c < n:
            return 4 * (r * n + c) + DIRECTIONS.index(parts[2])
    raise SettingsError(
        "no such move",
        found=text,
        expected=f"ROW,COLUMN,SIDE with rows and columns from 0 to {n - 1} and a side N, E, S or W",
    )


def scores(level: Level, state: Row) -> tuple[int, int]:
    """Return the number of cells connected with each player now."""
    board = board_of(level, state)
    first, second = (len(reached(board.walls, who)) for who in board.players)
    return first, second


def locate(level: Level, state: Row) -> tuple[int, int]:
    """Return (x, y) from the top left of the player who moved last; of player 0 before the first move."""
    from persona_evo.games.catalog.colosseum.board import MOVES, SEATS, SIDE

    who = 1 - int(state[SIDE]) if int(state[MOVES]) else 0
    r, c = divmod(int(state[SEATS + who]), int(level.tables[0]))
    return c, r


def events(level: Level, before: Row, after: Row, step: int) -> list[Event]:
    """Return the end of the game, at the last wall that was built."""
    from persona_evo.games.catalog.colosseum.board import RESULT

    if int(before[RESULT]) or not int(after[RESULT]):
        return []
    return [Event(step, "parted", *locate(level, after))]
