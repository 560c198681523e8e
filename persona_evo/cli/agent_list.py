"""A list of the agents that come with a game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli.say import say
from persona_evo.errors import SettingsError

if TYPE_CHECKING:
    from persona_evo.games.core import Game


def list_agents(game: Game) -> int:
    """Print the names and descriptions of the agents that come with a game.

    Raises:
        SettingsError: the game has none.
    """
    if not game.agents:
        raise SettingsError(f"{game.name} has no agents of its own", expected="FILE.toml#NAME or FILE.py, two or more")
    for name, about in _abouts(game):
        say(f"{name:<20} {about}")
    return 0


def _abouts(game: Game) -> list[tuple[str, str]]:
    """Return the names and descriptions of the game's agents, without compiling what they play with."""
    import tomllib

    try:
        found = tomllib.loads(Path(game.agents).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {"": ""}
    if all(isinstance(v, dict) for k, v in found.items() if k != "league"):
        return [(k, str(v.get("about", ""))) for k, v in found.items() if k != "league"]
    from persona_evo.agents.agent_files import load_agents  # reports errors in the file with their place

    return [(a.name, a.about) for a in load_agents(Path(game.agents), game).values()]
