"""Reads level files of It's Alive!: the seed of the pieces, the field, and what the player may do."""

from __future__ import annotations

import numpy as np

from persona_evo.errors import LevelError, Place
from persona_evo.games import keyed
from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.core import Level
from persona_evo.words import counted

SETTINGS: dict[str, keyed.Whole | keyed.Word] = {
    "seed": keyed.Whole(0, 2**63 - 1),
    "field": keyed.Word(tuple(layout.FIELDS)),
    "design": keyed.Word(layout.DESIGNS),
    "player": keyed.Word(layout.PLAYERS),
    "choices": keyed.Word(layout.CHOICES),
}
"""The settings that a level file may have."""


def load(
    text: str, name: str, source: str = "", *, field: str = "", design: str = "", player: str = "", choices: str = ""
) -> Level:
    """Read a level from its text.

    Args:
        field, design, player, choices: override the values of the file.

    Raises:
        LevelError: the file is wrong, with line and column; or nothing can live on so small a field.
        SettingsError: an option has no such value.
    """
    from persona_evo.games.catalog.its_alive.rules import FIELD_AT

    given = {"field": field, "design": design, "player": player, "choices": choices}
    found = keyed.read(text, source or name, SETTINGS, **given)
    width, height, _ = layout.FIELDS[found.word["field"]]
    if found.word["design"] == "tenacious" and width * height < layout.TENACIOUS_PIECES:
        raise LevelError(
            "nothing can live on this field",
            place=Place(source or name),
            found=counted(width * height, "cell"),
            expected=f"{layout.TENACIOUS_PIECES} for the design tenacious",
            hint="choose another field or design",
        )
    tables = layout.build(found.whole["seed"], **found.word)
    return Level(
        game="its_alive",
        name=name,
        text=text,
        tables=tables,
        start=np.zeros(FIELD_AT + 2 * width * height, dtype=np.uint16),
        max_actions=4 * width + width * height,
        source=source,
        options={k: v for k, v in given.items() if v},
    )
