"""Personas: kinds of players, each a TOML file with a utility over a game's metrics."""

from persona_evo.personas.core import Persona, Stage, catalog, combine, load, named, read_persona, resolve

__all__ = ["Persona", "Stage", "catalog", "combine", "load", "named", "read_persona", "resolve"]
