"""Command lines for the user to copy, with the game that they are about, however it was named."""

from __future__ import annotations

import os
from pathlib import Path

from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game
from persona_evo.jobs.windows import program

UNSEEN = "test"
"""The set of levels that a policy has not been trained on, where a game ships one."""


def command(game: Game, *words: object) -> str:
    """Return a command line of the program, with `--game` if the game is not the one that is meant without it."""
    return program(*words, *(() if game.name == registry.DEFAULT else ("--game", _near(registry.address(game)))))


def unseen(game: Game, otherwise: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return levels for a command line to playtest with: the game's own unseen set, else these, else a placeholder."""
    return (UNSEEN,) if UNSEEN in mapsets.shipped(game).sets else otherwise or ("YOUR_LEVELS",)


def _near(address: str) -> str:
    """Return an address with its file relative to the current folder, if it is below that folder."""
    file, colon, attribute = address.rpartition(":")
    here = os.getcwd()
    if address.endswith(".toml") and Path(address).is_relative_to(here):
        return os.path.relpath(address, here)
    if not colon or not file.endswith(".py") or not Path(file).is_relative_to(here):
        return address
    return f"{os.path.relpath(file, here)}:{attribute}"
