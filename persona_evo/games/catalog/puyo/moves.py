"""The notation of moves in Puyo-Puyo, and the events of a move."""

from __future__ import annotations

from persona_evo.errors import SettingsError
from persona_evo.games.core import Event, Level
from persona_evo.games.rows import Row


def action_name(level: Level, state: Row, action: int) -> str:
    """Return the name of an action, such as 3U: the axis' column from 1, then the child's side, U, R, D or L."""
    from persona_evo.games.catalog.puyo.tables import SIDES

    return f"{(action >> 2) + 1}{SIDES[action & 3]}"


def parse_action(level: Level, state: Row, text: str) -> int:
    """Return the action with a name: the inverse of `action_name`.

    Raises:
        SettingsError: the text is not a placement.
    """
    from persona_evo.games.catalog.puyo.tables import COLUMNS, PLACEMENTS, SIDES, placements

    if len(text) == 2 and text[0] in "123456" and text[1] in SIDES:
        action = 4 * (int(text[0]) - 1) + SIDES.index(text[1])
        if action in placements(0, COLUMNS - 1):
            return action
    raise SettingsError(
        "no such placement",
        found=text,
        expected=f"one of {PLACEMENTS}: the axis' column 1 to 6, then U, R, D or L",
        hint="the letter says where the child is: above, right, below or left of the axis",
    )


def events(level: Level, before: Row, after: Row, step: int) -> list[Event]:
    """Return pops, chains, cleared fields and death; the place is the lowest, leftmost cell that changed."""
    from persona_evo.games.catalog.puyo import tables as t

    was, now = t.cells(before), t.cells(after)
    x, y = next(
        ((x, y) for y in range(t.ROWS - 1, -1, -1) for x in range(t.COLUMNS) if was[y][x] != now[y][x]), (t.THIRD, 0)
    )
    found = []
    links = int(after[t.CHAIN])
    if links and int(after[t.DROPPED]) > int(before[t.DROPPED]):
        found.append(Event(step, "pop" if links == 1 else f"chain of {links}", x, y))
    if after[t.CLEARS] > before[t.CLEARS]:
        found.append(Event(step, "all clear", x, y))
    if after[t.HEIGHTS + t.THIRD] >= t.VISIBLE_ROWS:
        found.append(Event(step, "death", t.THIRD, t.ROWS - t.VISIBLE_ROWS))
    return found


def cause(level: Level, before: Row, after: Row) -> str:
    """Return the cause of a lost game, of which there is only one."""
    return "a full third column"
