"""Reads level files of 2D Roguelike: the seed from which all days are laid out, and the variant that is played."""

from __future__ import annotations

from dataclasses import dataclass

from persona_evo.games import keyed
from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.core import Level

SETTINGS: dict[str, keyed.Whole | keyed.Word] = {
    "seed": keyed.Whole(0, 2**63 - 1),
    "days": keyed.Whole(1, layout.MAX_DAYS, 10),
    "variant": keyed.Word(tuple(layout.VARIANTS)),
    "player": keyed.Word(layout.PLAYERS),
}
"""The settings that a level file may have."""


@dataclass(frozen=True)
class RoguelikeBoard:
    """The board that all days share, for heatmaps; here y counts from the top."""

    width: int = layout.SIDE
    height: int = layout.SIDE


def load(text: str, name: str, source: str = "", *, variant: str = "", player: str = "") -> Level:
    """Read a level from its text and lay out all its days.

    Args:
        variant, player: override the values of the file.

    Raises:
        LevelError: the file is wrong, with line and column.
        SettingsError: no such variant or player.
    """
    from persona_evo.games.catalog.roguelike2d.rules import first

    found = keyed.read(text, source or name, SETTINGS, variant=variant, player=player)
    days = layout.layouts(found.whole["seed"], found.whole["days"])
    tables = layout.build(days, found.word["variant"], found.word["player"])
    options = {k: v for k, v in (("variant", variant), ("player", player)) if v}
    return Level(
        game="roguelike2d",
        name=name,
        text=text,
        tables=tables,
        start=first(tables),
        max_actions=4,
        source=source,
        options=options,
        facts={"grid": RoguelikeBoard(), "days": days},
    )
