"""Check levels before anybody plays them."""

from __future__ import annotations

from persona_evo.api.naming import LevelsLike, game_of, levels_of
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding
from persona_evo.games.options import for_check


def check_levels(levels: LevelsLike, game: str | Game = registry.DEFAULT) -> list[Finding]:
    """What is wrong with levels, or worth a look, found without playing them.

    Args:
        levels: names, files or loaded levels. Names of levels whose exit cannot be reached are read all the same.
        game: whose levels they are.

    Returns:
        Findings level by level, the most important of each level first; those on several levels come last.

    Raises:
        LevelError: a file is not a level.
    """
    of = game_of(game)
    return diagnose(of, levels_of(of, levels, **for_check(of)))
