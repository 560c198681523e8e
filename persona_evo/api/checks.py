"""Check levels before anybody plays them."""

from __future__ import annotations

import warnings

from persona_evo import limits
from persona_evo.api.naming import LevelsLike, game_of, levels_of
from persona_evo.games import check, registry
from persona_evo.games.core import Game
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding
from persona_evo.games.options import for_check
from persona_evo.games.twins import check_rows


def check_game(game: str | Game, levels: LevelsLike, *, seed: int = 0) -> int:
    """Play random games of a game of your own, and check each state that they come to.

    Args:
        game: the game, its file as "FILE.py:GAME", or its name.
        levels: names, files or loaded levels to check it on.
        seed: of the random games.

    Returns:
        How many states were looked at. A warning tells of a game whose games all end without a winner.

    Raises:
        GameError: what is wrong, in which level, after which moves.
        LevelError: there is no such level, or a file is not one.
        SettingsError: there is no such game, or the seed is out of range.
    """
    of = game_of(game)
    chosen, seed = levels_of(of, levels), limits.seed(seed)
    check_rows(of, chosen, seed)
    return check.check_game(of, chosen, seed, notice=lambda text: warnings.warn(text, stacklevel=4))


def check_levels(levels: LevelsLike, game: str | Game = registry.DEFAULT) -> list[Finding]:
    """Find what is wrong with levels, or worth a look, without playing them.

    Args:
        levels: names, files or loaded levels. Names of levels whose exit cannot be reached are read all the same.
        game: whose levels they are.

    Returns:
        Findings level by level, the most important of each level first; those on several levels come last.

    Raises:
        LevelError: there is no such level, or a file is not one.
        SettingsError: there is no such game.
    """
    of = game_of(game)
    return diagnose(of, levels_of(of, levels, **for_check(of)))
