"""Shows states to programs that were written for the course's framework, and reads their answers (see `runner`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from persona_evo.games.catalog.colosseum.levels import board_of
from persona_evo.games.core import Level, State

RUNNER = str(Path(__file__).with_name("runner.py"))
"""The script that runs in the program's process."""

EXPECTED = "a Python file with a function step(chess_board, my_pos, adv_pos, max_step), or a class with that method"
"""The required content of a program's file, in words."""


def shown(level: Level, state: State) -> dict[str, Any]:
    """Return the walls as rows of numbers, bit d for side d, both positions, and the number of steps."""
    board = board_of(level, state)
    me = board.turn
    return {
        "walls": board.walls,
        "me": board.players[me],
        "other": board.players[1 - me],
        "steps": int(level.tables[1]),
    }


def read(level: Level, state: State, answer: Any) -> int:
    """Return the action that [row, column, side] means.

    Raises:
        ValueError: the answer is not three whole numbers that name a side of a cell.
    """
    n = int(level.tables[0])
    whole = isinstance(answer, list) and len(answer) == 3 and all(type(v) is int for v in answer)
    if not whole or not (0 <= answer[0] < n and 0 <= answer[1] < n and 0 <= answer[2] < 4):
        raise ValueError(f"{str(answer)[:80]} is not a cell of the board and a side from 0 to 3")
    return int(4 * (answer[0] * n + answer[1]) + answer[2])
