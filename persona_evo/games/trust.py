"""Protects against code that a folder names: an unlisted game's file runs only if its version is known."""

from __future__ import annotations

import hashlib
import importlib.machinery
from pathlib import Path
from typing import Any

from persona_evo.errors import SettingsError
from persona_evo.games import registry
from persona_evo.jobs import schema
from persona_evo.jobs.files import opened

CODE = "code"
"""Key of a configuration: the digest of the file that the game is in; absent for a listed game."""

_HINT = "read the file first; --trust accepts it"

_accepted: set[Path] = set()
"""Folders whose code was accepted in this process."""


def accept(folder: Path) -> None:
    """Let a folder run the code that it names, for as long as this process lives."""
    _accepted.add(folder.resolve())


def code_of(address: str) -> dict[str, str]:
    """Return what a configuration keeps of the code at a game's address: its digest under `CODE`, nothing if listed."""
    file = _file(address)
    digest = "" if file is None else _digest(file)
    return {CODE: digest} if digest else {}


def check(config: schema.Reader) -> None:
    """Check that the code that a folder names is the code it was written with; nothing is imported.

    Args:
        config: the folder's configuration, with "game" and, if the game is in a file, `CODE`.

    Raises:
        RunError: it is not, or that cannot be determined.
    """
    address, folder = config.text_of("game"), Path(config.source).parent.resolve()
    file = _file(address)
    if file is None or folder in _accepted:
        return
    known, now = config.text_of(CODE, "") or None, _digest(file)
    if not now:
        return  # the registry says what is missing
    problem = found = ""
    if known is None:
        problem, found = "the folder names code, but not which version of it", str(file)
    elif known != now:
        problem, found = "the game's file is not the one this folder was made with", f"{file}, digest {now}"
    elif file.is_relative_to(folder):
        problem, found = "the folder brings the code that it names", str(file)
    if problem:
        expected = f"digest {known}" if known is not None and known != now else "a file that you know"
        raise config.fail(problem, "game", said=found, expected=expected, hint=_HINT)


def _file(address: str) -> Path | None:
    """Return the file that an address leads to; None for a listed game and for what is not the address of a file."""
    if address in registry.names():
        return None
    if address.endswith(".toml"):
        return Path(address).resolve()
    module = address if address.endswith(".py") else address.rpartition(":")[0]
    if module.endswith(".py"):
        return Path(module).resolve()
    return _module_file(module) if module else None


def _module_file(module: str) -> Path | None:
    """Return the file of a module, without importing the packages that contain it."""
    where: Any = None
    spec, name = None, ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = importlib.machinery.PathFinder.find_spec(name, where)
        if spec is None:
            return None
        where = spec.submodule_search_locations
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None


def _digest(file: Path) -> str:
    """Return a digest of a file's content; "" if there is no file."""
    try:
        with opened(file, SettingsError) as stream:
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return ""
