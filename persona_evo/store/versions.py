"""Versions of everything a result depends on, for its provenance."""

from __future__ import annotations

import importlib.metadata
import platform

from persona_evo.games.core import Game


def versions(game: Game | None = None) -> dict[str, str]:
    """Return the versions of everything a result depends on."""
    found = {"python": platform.python_version()}
    for package in ("persona-evo", "numpy", "numba", "deap", "joblib"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "source tree"
    if game is not None:
        found[game.name] = str(game.version)
    return found
