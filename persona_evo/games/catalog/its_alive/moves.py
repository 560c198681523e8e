"""The notation of moves in It's Alive!, and the events of a move."""

from __future__ import annotations

import numpy as np

from persona_evo.errors import SettingsError
from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.core import LOST, Event, Level
from persona_evo.games.rows import Row

TURNS = "NESW"


def action_name(level: Level, state: Row, action: int) -> str:
    """Return the name of an action.

    "L,column,N" (E, S, W) is a landing, "C,x,y" collects the monster whose lowest cell is there; the other names are
    those of a factored player's answers.
    """
    from persona_evo.games.catalog.its_alive import rules as r

    width = int(level.tables[layout.WIDTH])
    if r.LAND <= action < 4 * width:
        return f"L,{action // 4},{TURNS[action % 4]}"
    if r.COLLECT <= action < r.COLLECT + width * int(level.tables[layout.HEIGHT]):
        return "C,{},{}".format(*place(level, action - r.COLLECT))
    if r.COLUMN <= action < r.COLUMN + width:
        return f"column,{action - r.COLUMN}"
    if r.TURN <= action < r.TURN + 4:
        return f"turn,{TURNS[action - r.TURN]}"
    return {r.SAY_LAND: "land", r.SAY_COLLECT: "collect"}.get(action, "-")


def parse_action(level: Level, state: Row, text: str) -> int:
    """Return the action with this name: the inverse of `action_name`."""
    from persona_evo.games.catalog.its_alive.rules import ACTIONS

    for action in range(-1, ACTIONS):
        if action_name(level, state, action) == text:
            return action
    raise SettingsError(
        "no such action",
        found=text,
        expected="L,column,N|E|S|W or C,x,y; land, collect, column,C, turn,N|E|S|W",
        hint="see the game's README",
    )


def place(level: Level, cell: int) -> tuple[int, int]:
    """Return a cell's (x, y) from the top left."""
    width = int(level.tables[layout.WIDTH])
    return cell % width, int(level.tables[layout.HEIGHT]) - 1 - cell // width


def events(level: Level, before: Row, after: Row, step: int) -> list[Event]:
    """Return a landing or a collected monster, at the cell of the piece or the lowest cell that was emptied."""
    from persona_evo.games.catalog.its_alive import rules as r

    cells = int(level.tables[layout.WIDTH]) * int(level.tables[layout.HEIGHT])
    was, now = (s[r.FIELD_AT : r.FIELD_AT + cells] for s in (before, after))
    changed = np.flatnonzero(was != now)
    if not changed.size:
        return []
    kind = "collect" if after[r.COLLECTED_AT] > before[r.COLLECTED_AT] else "land"
    return [Event(step, kind, *place(level, int(changed[0])))]


def cause(level: Level, before: Row, after: Row) -> str:
    """Return the cause of a lost game, of which there is only one."""
    from persona_evo.games.catalog.its_alive.rules import OVER_AT

    return "full field" if after[OVER_AT] == LOST else ""
