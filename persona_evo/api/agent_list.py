"""The agents that come with a game."""

from __future__ import annotations

import tomllib
from pathlib import Path

from persona_evo.errors import SettingsError
from persona_evo.games.core import Game


def agents_of(game: Game) -> dict[str, str]:
    """Return the descriptions of the agents that come with a game, by name, without compiling what they play with.

    Raises:
        SettingsError: the game has none, or their file is damaged.
    """
    if not game.agents:
        raise SettingsError(f"{game.name} has no agents of its own", expected="FILE.toml#NAME or FILE.py, two or more")
    try:
        found = tomllib.loads(Path(game.agents).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {"": ""}
    if all(isinstance(v, dict) for k, v in found.items() if k != "league"):
        return {k: str(v.get("about", "")) for k, v in found.items() if k != "league"}
    from persona_evo.agents.agent_files import load_agents  # reports errors in the file with their place

    return {a.name: a.about for a in load_agents(Path(game.agents), game).values()}
