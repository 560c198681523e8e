"""Options of a game's level loader, given by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from persona_evo.errors import SettingsError, unknown
from persona_evo.games.core import Game


def level_options(game: Game, options: Mapping[str, Any]) -> dict[str, Any]:
    """Check options for the game's loader, and return them.

    Raises:
        SettingsError: the loader does not take one of them.
    """
    parameters = inspect.signature(game.load).parameters.values()
    known = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
    for name in options:
        if name not in known and not any(p.kind == p.VAR_KEYWORD for p in parameters):
            expected, hint = unknown(name, known)
            raise SettingsError(f"{game.title} has no such option for levels", found=name, expected=expected, hint=hint)
    return dict(options)


def for_check(game: Game) -> dict[str, Any]:
    """Return the options for loading a level to be checked: what its analysis can name is not an error then."""
    parameters = inspect.signature(game.load).parameters
    return {"allow_unreachable": True} if "allow_unreachable" in parameters else {}
