"""The file of a program, before anything is known of it."""

from __future__ import annotations

from pathlib import Path

from persona_evo.errors import Place, SettingsError


def is_file(path: Path, word: str = "") -> None:
    """See that there is a program. word: as it was typed.

    Raises:
        SettingsError: there is nothing, or it is a folder.
    """
    if path.is_file():
        return
    what, found, hint = "there is no such program", "nothing of this name", "check the spelling and the folder"
    if path.is_dir():
        what, found, hint = "this is a folder, not a program", "a folder", "name the file in it"
    raise SettingsError(what, place=Place(word or str(path)), found=found, expected="a Python file", hint=hint)
