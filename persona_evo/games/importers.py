"""Imports levels in the formats of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from persona_evo import extensions
from persona_evo.arguments import checked_fields
from persona_evo.errors import LevelError, PersonaEvoError, Place, SettingsError, raised
from persona_evo.extensions import Extension

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level


@checked_fields()
@dataclass(frozen=True)
class Importer(Extension):
    """A reader of levels in a foreign format, which another package adds.

    Attributes:
        game: name of the game whose levels it makes.
        suffixes: suffixes of the files that it reads, such as ".csv"; the game's own suffixes and ".toml" are taken.
        read: takes a file's text (UTF-8), and its path for messages; returns a level text in the game's own format.
            It raises `LevelError` with a `Place` for what is wrong with the file.
        help: one line that says what the format is.

    Raises:
        SettingsError: there is no suffix, or one without its dot.
    """

    group: ClassVar[str] = "persona_evo.importers"
    noun: ClassVar[str] = "importer of levels"

    game: str
    suffixes: tuple[str, ...]
    read: Callable[[str, str], str]
    help: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "suffixes", tuple(suffix.lower() for suffix in self.suffixes))
        if not self.suffixes or not all(s.startswith(".") and len(s) > 1 and s != ".toml" for s in self.suffixes):
            raise SettingsError(
                "an importer of levels has the wrong suffixes",
                found=", ".join(self.suffixes) or "none",
                expected='suffixes such as ".csv", other than ".toml"',
            )


def available(game: Game) -> tuple[dict[str, Importer], list[SettingsError]]:
    """Return the importers of a game by name, and the errors of those that cannot be loaded."""
    found: dict[str, Importer] = {}
    broken: list[SettingsError] = []
    for name in extensions.names(Importer.group):
        try:
            importer = extensions.load(Importer, name)
        except SettingsError as e:
            broken.append(e)
            continue
        if importer.game == game.name:
            found[name] = importer
    return found, broken


def suffixes(game: Game) -> tuple[str, ...]:
    """Return the suffixes of files that can be imported for a game."""
    importers, _ = available(game)
    return tuple(dict.fromkeys(suffix for one in importers.values() for suffix in one.suffixes))


def load(game: Game, path: Path, text: str, name: str, options: Mapping[str, Any]) -> Level:
    """Load the level in a file; it is imported if its suffix is not one of the game's and an importer accepts it.

    Args:
        game: the game.
        path: the file.
        text: its content.
        name: the name of the level.
        options: the options of the game's loader.

    Raises:
        LevelError: the file is not a level, or the importer fails.
        SettingsError: no importer reads the file, and one that might do so cannot be loaded.
    """
    source, low = str(path), path.name.lower()
    if low.endswith(game.level_suffixes) or not path.suffix:
        return game.load(text, name, source, **options)
    importers, broken = available(game)
    key = next((key for key, one in importers.items() if low.endswith(one.suffixes)), None)
    if key is None:
        try:
            return game.load(text, name, source, **options)
        except LevelError as e:
            if broken:
                raise broken[0] from e
            raise
    own = _converted(importers[key], key, text, source)
    try:
        return game.load(own, name, source, **options)
    except LevelError as e:
        what = f"the importer {key!r} makes a level that {game.title} cannot read"
        raise LevelError(
            what, place=Place(source), found=str(e), hint="the line number refers to the imported level"
        ) from e


def _converted(importer: Importer, name: str, text: str, source: str) -> str:
    """Return a file's text in the game's own format."""
    what = f"the importer {name!r} fails"
    try:
        own = importer.read(text, source)
    except PersonaEvoError:
        raise
    except Exception as e:
        hint = f"ask its authors; it failed at {raised(e)}"
        raise LevelError(what, place=Place(source), found=f"{type(e).__name__}: {e}", hint=hint) from e
    if not isinstance(own, str):
        raise LevelError(what, place=Place(source), found=repr(own)[:80], expected="a level text")
    return own
