"""Names of games -> where their description stands. A game is imported when it is asked for.

Games of others register an entry point of the group `persona_evo.games` whose value is "module:object", or are named
that way on the command line.
"""

from __future__ import annotations

import functools
import importlib
from importlib.metadata import entry_points

from persona_evo.errors import GameError, SettingsError, unknown
from persona_evo.games.core import Game

CATALOG = {
    "minidungeons2": "persona_evo.games.catalog.minidungeons2:GAME",
}
"""Games that ship with the project."""

DEFAULT = "minidungeons2"


def names() -> dict[str, str]:
    """All known games: name -> "module:object"."""
    found = {e.name: e.value for e in entry_points(group="persona_evo.games")}
    return {**found, **CATALOG}


@functools.cache
def get(name: str) -> Game:
    """The game called `name`, or at "module:object".

    Raises:
        SettingsError: no such game, or its module cannot be imported.
        GameError: the object is not a Game.
    """
    known = names()
    target = known.get(name) or (name if ":" in name else None)
    if target is None:
        expected, hint = unknown(name, known)
        raise SettingsError("no such game", found=name, expected=expected, hint=hint)
    module, _, attribute = target.partition(":")
    try:
        game = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as e:
        raise SettingsError(
            f"game {name!r} cannot be loaded: {e}",
            found=target,
            expected='"module:object" of an importable module',
            hint="is the game's package installed in this environment?",
        ) from e
    if not isinstance(game, Game):
        raise GameError(f"{target} is a {type(game).__name__}, expected a persona_evo.games.Game")
    return game
