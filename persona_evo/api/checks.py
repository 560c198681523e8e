"""Checks of games, and of levels before they are played."""

from __future__ import annotations

import warnings

from persona_evo import limits
from persona_evo.api.naming import LevelsLike, game_of, levels_of
from persona_evo.arguments import checked
from persona_evo.games import check, registry
from persona_evo.games.core import Game
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding
from persona_evo.games.options import for_check
from persona_evo.games.twins import check_rows


@checked
def check_game(game: str | Game, levels: LevelsLike, *, seed: int = 0) -> int:
    """Play random games of a game of your own, and check every state in them.

    Args:
        game: the game, its file as "FILE.py:GAME", or its name.
        levels: names, files or loaded levels to check the game on.
        seed: the seed of the random games.

    Returns:
        The number of states that were checked. If all games end without a winner, a warning is given.

    Raises:
        GameError: the game is wrong; the message names the level and the moves.
        LevelError: there is no such level, or a file is not one.
        SettingsError: there is no such game, or the seed is out of range.
    """
    of = game_of(game)
    chosen, seed = levels_of(of, levels), limits.seed(seed)
    check_rows(of, chosen, seed)
    return check.check_game(of, chosen, seed, notice=lambda text: warnings.warn(text, stacklevel=4))


@checked
def check_levels(levels: LevelsLike, game: str | Game = registry.DEFAULT) -> list[Finding]:
    """Find problems and peculiarities of levels without playing them.

    Args:
        levels: names, files or loaded levels. Named levels are read even if their exit cannot be reached.
        game: the game of the levels.

    Returns:
        Findings level by level, the most important of each level first; those on several levels come last.

    Raises:
        LevelError: there is no such level, or a file is not one.
        SettingsError: there is no such game.
    """
    of = game_of(game)
    return diagnose(of, levels_of(of, levels, **for_check(of)))
