"""Levels as text, which is sent to workers and stored in configurations, and read again from there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from persona_evo.games.core import Game, Level
from persona_evo.jobs import json_text, schema


class LevelText(NamedTuple):
    """A level as it can be sent anywhere: what `game.load` takes."""

    name: str
    text: str
    source: str
    options: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, level: Level) -> LevelText:
        """Return the text form of a loaded level."""
        return cls(level.name, level.text, level.source, tuple(sorted(level.options.items())))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**self._asdict(), "options": dict(self.options)}

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> LevelText:
        """Make a text form from plain values: the inverse of `to_dict`."""
        options = tuple(sorted(values["options"].items()))
        return cls(values["name"], values["text"], values["source"], options)

    @property
    def digest(self) -> str:
        """Names its text in seeds. Where the file lies plays no part: the same seed gives the same on every machine."""
        return hashlib.blake2b(self.text.encode(), digest_size=8).hexdigest()

    def load(self, game: Game) -> Level:
        """Load the level again (raises what `game.load` raises)."""
        return game.load(self.text, self.name, self.source, **dict(self.options))


def check_levels(reader: schema.Reader) -> None:
    """Refuse a configuration whose levels are not as this program writes them."""
    levels = reader.items("levels")
    if not levels:
        raise reader.fail("is empty", "levels", expected="at least one level", hint=json_text.RESTORE)
    for level in levels:
        for key in ("name", "text", "source"):
            level.text_of(key)
        options = level.object("options")
        for key in options.data:
            options.get(key, (str, int, float, bool, type(None)), "a text, a number, true, false or null")


def load_levels(reader: schema.Reader, game: Game) -> list[Level]:
    """Load the levels of a configuration that `check_levels` has passed; errors of the game get their place."""

    def load(level: schema.Reader) -> Level:
        name, text, source = (level.text_of(key) for key in ("name", "text", "source"))
        return level.made("options", lambda options: game.load(text, name, source, **options))

    return [load(level) for level in reader.items("levels")]
