"""The notation of moves in 2D Roguelike, the player's place, and the events of a move."""

from __future__ import annotations

from persona_evo.errors import SettingsError
from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.core import Event, Level
from persona_evo.games.rows import Row

ACTIONS = ("N", "E", "S", "W", "toward", "away", "lateral", "vertical")


def action_name(level: Level, state: Row, action: int) -> str:
    """Return the name of an action: N, E, S, W, or what a factored player says."""
    return ACTIONS[action] if 0 <= action < len(ACTIONS) else "-"


def parse_action(level: Level, state: Row, text: str) -> int:
    """Return the action with this name: the inverse of `action_name`."""
    if text in ACTIONS:
        return ACTIONS.index(text)
    if text == "-":
        return -1
    raise SettingsError("no such action", found=text, expected=", ".join(ACTIONS), hint="see the game's README")


def place(cell: int) -> tuple[int, int]:
    """Return a cell's (x, y) from the top left."""
    return cell % layout.SIDE, layout.SIDE - 1 - cell // layout.SIDE


def locate(level: Level, state: Row) -> tuple[int, int]:
    """Return the player's (x, y) from the top left."""
    from persona_evo.games.catalog.roguelike2d.rules import CELL_AT

    return place(int(state[CELL_AT]))


def events(level: Level, before: Row, after: Row, step: int) -> list[Event]:
    """Return the events of one decision at the player's cell at that time (at the exit for the end of a day)."""
    from persona_evo.games.catalog.roguelike2d import rules as r

    day_over = after[r.DAY_AT] > before[r.DAY_AT] or after[r.FLAGS_AT] == r.HAS_WON
    at = place(layout.EXIT if day_over else int(after[r.CELL_AT]))
    counted = ((r.BROKEN_AT, "wall"), (r.EATEN_AT, "food"), (r.HITS_AT, "hit"))
    found = [Event(step, kind, *at) for where, kind in counted for _ in range(int(after[where]) - int(before[where]))]
    if day_over:
        found.append(Event(step, "day", *at))
    if after[r.FLAGS_AT] == r.IS_DEAD != before[r.FLAGS_AT]:
        found.append(Event(step, "death", *at))
    return found


def cause(level: Level, before: Row, after: Row) -> str:
    """Return what used up the last food in the move between two states."""
    from persona_evo.games.catalog.roguelike2d.rules import HITS_AT

    return "enemy" if after[HITS_AT] > before[HITS_AT] else "hunger"
