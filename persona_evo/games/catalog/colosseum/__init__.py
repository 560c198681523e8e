"""Colosseum Survival!: two players wall each other off on a square board. Rules: README.md."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from persona_evo.errors import SettingsError
from persona_evo.games.catalog.colosseum.levels import (
    HIGHEST,
    LOWEST,
    BoardRequest,
    ColosseumBoard,
    parse,
    random_board,
)
from persona_evo.games.core import Event, Game, Level, Metric, Rules

METRICS = (
    Metric("ST", "moves made", "moves of both players so far", "moves", clock=True),
    Metric("MV", "to move", "1 when it is this player's turn", high=1),
    Metric("WIN", "won", "1 when this player has won, 1/2 for a tie", high=1, better="higher"),
    Metric("LOSS", "lost", "1 when this player has lost, 1/2 for a tie", high=1, better="lower"),
    Metric(
        "MG",
        "margin",
        "own cells less the other's at the end, as a share of the board; 0 before",
        low=-1,
        high=1,
        better="higher",
        main=True,
    ),
    Metric("WA", "walls around me", "walled sides of this player's cell", high=4, better="lower"),
    Metric("OWA", "walls around the other", "walled sides of the other's cell", high=4, better="higher"),
    Metric("MD", "distance", "rows plus columns between the players", "cells"),
    Metric(
        "RC",
        "reach",
        "cells this player could walk to in one move, its own among them",
        "cells",
        better="higher",
        costly=True,
    ),
    Metric("ORC", "reach of the other", "the same for the other", "cells", better="lower", costly=True),
    Metric("NM", "moves", "moves this player could choose from, were it its turn", better="higher", costly=True),
    Metric("ONM", "moves of the other", "the same for the other", better="lower", costly=True),
    Metric("DI", "way", "steps from one player to the other, size * size where there is no way", "steps", costly=True),
    Metric(
        "TE",
        "territory",
        "cells fewer steps from this player than from the other",
        "cells",
        better="higher",
        costly=True,
    ),
    Metric("OTE", "territory of the other", "cells fewer steps from the other", "cells", better="lower", costly=True),
)
"""In the order of `rules`. Each player sees the board as its own."""

DIRECTIONS = "NESW"
MOST_MOVES = 2 * 32 * 31


def rules(costly: bool = False) -> Rules:
    """The compiled rules (compiled, or read from disk, at the first call)."""
    from persona_evo.games.catalog.colosseum.rules import ALL_METRICS, RULES

    return ALL_METRICS if costly else RULES


VARIANTS = ("random", "killers", "narrow", "killer_games", "wide", "blind", "calm", "unswapped")
"""Other ways to search (see `hunters`)."""


def variant(name: str, costly: bool = False) -> Rules:
    """The rules of a variant."""
    from persona_evo.games.catalog.colosseum.hunters import variant as found

    return found(name, costly)


def load(text: str, name: str, source: str = "", *, size: int = 0, seed: int = -1) -> Level:
    """Read a level from its text (see `levels`).

    Args:
        size, seed: instead of those of a random board; 0 and -1 for what the text says.

    Raises:
        LevelError: with the line and column of what is wrong.
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


def rows_of(board: ColosseumBoard) -> tuple[NDArray[Any], NDArray[Any]]:
    """A board as the rows that the rules take: the tables and the state, unsettled where the players are apart."""
    from persona_evo.games.catalog.colosseum.board import DOWN, RIGHT, SEATS, SIDE, WALLS

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


def board_of(level: Level, state: Any) -> ColosseumBoard:
    """The board that a state holds: the inverse of `rows_of`."""
    from persona_evo.games.catalog.colosseum.board import DOWN, LEFT, RIGHT, SEATS, SIDE, UP, WALLS

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


def restart(level: Level, seed: int) -> NDArray[Any]:
    """A start: a new random board for each seed, unless the level's is fixed."""
    if level.facts["fixed"]:
        return level.start.copy()
    return rows_of(random_board(int(level.facts["size"]), seed))[1]


def action_name(level: Level, state: Any, action: int) -> str:
    """Row, column and side of the wall, as in 3,0,N."""
    cell, d = divmod(action, 4)
    r, c = divmod(cell, int(level.tables[0]))
    return f"{r},{c},{DIRECTIONS[d]}"


def parse_action(level: Level, state: Any, text: str) -> int:
    """The inverse of `action_name`."""
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


def scores(level: Level, state: Any) -> tuple[int, int]:
    """Cells connected with each player now."""
    from persona_evo.games.catalog.colosseum.levels import reached

    board = board_of(level, state)
    first, second = (len(reached(board.walls, who)) for who in board.players)
    return first, second


def locate(level: Level, state: Any) -> tuple[int, int]:
    """Where the player stands who has moved last (player 0 before the first move), (x, y) from the top left."""
    from persona_evo.games.catalog.colosseum.board import MOVES, SEATS, SIDE

    who = 1 - int(state[SIDE]) if int(state[MOVES]) else 0
    r, c = divmod(int(state[SEATS + who]), int(level.tables[0]))
    return c, r


def events(level: Level, before: Any, after: Any, step: int) -> list[Event]:
    """The end of the game, where the last wall was built."""
    from persona_evo.games.catalog.colosseum.board import RESULT

    if int(before[RESULT]) or not int(after[RESULT]):
        return []
    return [Event(step, "parted", *locate(level, after))]


def structure(level: Level) -> dict[str, float]:
    """Numbers of the board at the start."""
    board = board_of(level, level.start)
    n = board.size
    inside = sum(sides.bit_count() for line in board.walls for sides in line) - 4 * n
    way = abs(board.players[0][0] - board.players[1][0]) + abs(board.players[0][1] - board.players[1][1])
    return {"cells": n * n, "steps": (n + 1) // 2, "inner walls": inside / 2, "distance": way}


GAME = Game(
    name="colosseum",
    title="Colosseum Survival!",
    version=1,
    metrics=METRICS,
    rules=rules,
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    players=2,
    horizon=MOST_MOVES,
    restart=restart,
    locate=locate,
    events=events,
    structure=structure,
    draw="persona_evo.games.catalog.colosseum.draw",
    levels=str(Path(__file__).parent / "levels"),
    variants={name: partial(variant, name) for name in VARIANTS},
    whole_games=("unswapped",),
    agents=str(Path(__file__).parent / "agents.toml"),
    programs="persona_evo.games.catalog.colosseum.foreign",
)
