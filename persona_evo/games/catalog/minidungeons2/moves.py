"""The notation of moves in MiniDungeons 2, and the hero's place."""

from __future__ import annotations

from persona_evo.errors import SettingsError
from persona_evo.games.core import Level
from persona_evo.games.rows import Row

DIRECTIONS = "NESW"


def action_name(level: Level, state: Row, action: int) -> str:
    """Return the name of an action: N, E, S, W, or J,x,y for a throw."""
    if 0 <= action < 4:
        return DIRECTIONS[action]
    if action >= 4:
        x, y = _tile_xy(level, action - 4)
        return f"J,{x},{y}"
    return "-"


def parse_action(level: Level, state: Row, text: str) -> int:
    """Return the action with this name (see `action_name`). Throws at walls or off the board are lost turns."""
    from persona_evo.games.catalog.minidungeons2.rules import LOST_TURN, THROW

    if len(text) == 1 and text in DIRECTIONS:
        return DIRECTIONS.index(text)
    parts = text.split(",")
    if parts[0] == "J" and len(parts) == 3 and all(p.lstrip("-").isdigit() for p in parts[1:]):
        tile = _tile_at(level, int(parts[1]), int(parts[2]))
        return LOST_TURN if tile is None else THROW + tile
    if text == "-":
        return LOST_TURN
    raise SettingsError("no such action", found=text, expected="N, E, S, W, or J,x,y", hint="see the game's README")


def locate(level: Level, state: Row) -> tuple[int, int]:
    """Return the hero's (x, y) from the top left."""
    return _tile_xy(level, int(state[0]))


def _tile_xy(level: Level, tile: int) -> tuple[int, int]:
    from persona_evo.games.catalog.minidungeons2.tables import HEADER, TILES

    return int(level.tables[HEADER + tile]), int(level.tables[HEADER + int(level.tables[TILES]) + tile])


def _tile_at(level: Level, x: int, y: int) -> int | None:
    from persona_evo.games.catalog.minidungeons2 import tables as t

    width, height = int(level.tables[t.WIDTH]), int(level.tables[t.HEIGHT])
    if not (0 <= x < width and 0 <= y < height):
        return None
    tile = int(level.tables[int(t.offset(level.tables, t.BOARD_AT)) + y * width + x])
    return None if tile == t.NOWHERE else tile
