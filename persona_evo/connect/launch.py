"""Turns the path that a user gives into the command that starts the game.

| the path is | what is started |
|---|---|
| a Python file | this Python interpreter with the file |
| `gymnasium:ID` (in a description) | this Python interpreter with the adapter `persona_evo.connect.gym` |
| `Game.app` | the program in its Contents/MacOS |
| a folder with a build | its only `*.x86_64`, `*.x86`, `*.exe` or `*.app`, whichever suits this system |
| `Game.exe`, not on Windows | `mono Game.exe`, if it is a .NET assembly |
| `Game.dll` | `dotnet Game.dll` |
| `Game`, which does not exist | `Game.app`, `Game.x86_64`, `Game.exe` ..., whichever exists |
| any other file | the file itself |

A build with a folder `Game_Data` beside it, or in a `.app`, is a Unity player. It is told where to write its log, and
to open no window unless the user wants to watch, and to use no graphics unless it is to draw pictures of itself.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from persona_evo.connect.process_start import View
from persona_evo.errors import ConnectError, Place

GYM = Path(__file__).with_name("gym.py")
"""The adapter for Gymnasium environments, which is started as a module of this package."""

_SUFFIXES = {"win32": (".exe",), "darwin": (".app", ".x86_64", ".exe")}
_OTHERS = (".x86_64", ".x86", ".exe", ".app")


def command(
    path: Path, arguments: Sequence[str] = (), *, log: Path | None = None, view: View = View.HIDDEN
) -> list[str]:
    """Return the command line that starts a game, as a list of words.

    Args:
        path: the path given by the user.
        arguments: the game's arguments.
        log: the file to which a Unity player should write its log.
        view: whether the game is seen.

    Raises:
        ConnectError: there is nothing that can be started.
    """
    file = find(path)
    unity = is_unity(file)
    words = _words(file)
    if unity and view is not View.SHOWN:
        words += ["-batchmode"] if view is View.DRAWN else ["-batchmode", "-nographics"]
    if unity and log is not None:
        words += ["-logFile", str(log)]
    return [*words, *arguments]


def variables(address: str, port: int, nonce: str, settings: str = "{}", worker: int | None = None) -> dict[str, str]:
    """Return a game's environment variables, under the names of PROTOCOL.md and under the older ones.

    Args:
        address, port, nonce: where to connect, and the nonce for HELLO; a factory gets the same values.
        settings: a JSON object; its `variant` and `map` name the design variant and the map.
        worker: the number of the process; None if it is not known.
    """
    told = {"ADDR": address, "PORT": str(port), "NONCE": nonce}
    found = {f"{prefix}_{name}": value for prefix in ("PE", "MC") for name, value in told.items()}
    found |= {"PE_SETTINGS": settings, "MC_EXP_SETTINGS": settings}
    return found if worker is None else {**found, "PE_WORKER": str(worker)}


def find(path: Path) -> Path:
    """Return the file that is started: the program, the assembly or the script.

    Raises:
        ConnectError: there is nothing that can be started.
    """
    place = Place(str(path))
    if not path.exists():
        for suffix in _suffixes():
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                return find(beside)
        raise ConnectError(
            "there is no such game",
            place=place,
            expected="a program, a Python file, a .app or a build's folder",
            hint="paths in the file are relative to its folder",
        )
    if path.suffix == ".app":
        return _in_app(path)
    if path.is_dir():
        for suffix in _suffixes():
            found = [f for f in sorted(path.iterdir()) if f.suffix == suffix and not _is_helper(f)]
            if len(found) > 1:
                names = ", ".join(f.name for f in found)
                raise ConnectError(
                    "the folder contains several games", place=place, found=names, hint="name one of them"
                )
            if found:
                return find(found[0])
        raise ConnectError(
            "the folder contains no game", place=place, expected="a file that ends in " + " or ".join(_suffixes())
        )
    return path


def exists(path: Path) -> bool:
    """Return whether `find` may find a game at a path."""
    return path.exists() or any(path.with_name(path.name + suffix).exists() for suffix in _suffixes())


def is_unity(file: Path) -> bool:
    """Return whether a program is a Unity player."""
    if file.parent.name == "MacOS":
        return (file.parent.parent / "Resources" / "Data").is_dir()
    return (file.parent / f"{file.stem}_Data").is_dir()


def _words(file: Path) -> list[str]:
    place = Place(str(file))
    if file == GYM:
        return [sys.executable, "-m", "persona_evo.connect.gym"]
    if file.suffix.lower() == ".py":
        return [sys.executable, str(file)]
    if file.suffix.lower() == ".dll":
        return [_needed("dotnet", file, "install .NET"), str(file)]
    if file.suffix.lower() == ".exe" and sys.platform != "win32":
        if not _is_assembly(file):
            raise ConnectError(
                "this program is for Windows", place=place, expected="a build for this system, or a .NET assembly"
            )
        symbols = Path(f"{file}.mdb"), file.with_suffix(".pdb")  # with them, stacks have files and lines
        debug = ["--debug"] if any(map(Path.exists, symbols)) else []
        return [_needed("mono", file, "install Mono"), *debug, str(file)]
    if not os.access(file, os.X_OK):
        raise ConnectError(
            "this file is not a program",
            place=place,
            expected="an executable file",
            hint=f"chmod +x {file.name}",
        )
    return [str(file)]


def _needed(tool: str, file: Path, hint: str) -> str:
    found = shutil.which(tool)
    if found is None:
        raise ConnectError(f"{file.name} needs {tool}", place=Place(str(file)), found=f"no {tool} in PATH", hint=hint)
    return found


def _suffixes() -> tuple[str, ...]:
    return _SUFFIXES.get(sys.platform, _OTHERS)


def _is_helper(file: Path) -> bool:
    return file.stem.startswith("UnityCrashHandler") or file.name.startswith(".")


def _in_app(path: Path) -> Path:
    folder = path / "Contents" / "MacOS"
    try:
        with (path / "Contents" / "Info.plist").open("rb") as file:
            name = str(plistlib.load(file).get("CFBundleExecutable", ""))
        if name and (folder / Path(name).name).is_file():
            return folder / Path(name).name
    except (OSError, ValueError, plistlib.InvalidFileException):
        pass
    found = [f for f in sorted(folder.iterdir()) if f.is_file()] if folder.is_dir() else []
    if len(found) != 1:
        raise ConnectError(
            "the .app contains no program",
            place=Place(str(path)),
            found=", ".join(f.name for f in found) or "nothing",
            expected="one program in Contents/MacOS",
        )
    return found[0]


def _is_assembly(file: Path) -> bool:
    """Return whether a Windows program is a .NET one: its optional header refers to a CLI header (ECMA-335, II.25)."""
    try:
        with file.open("rb") as stream:
            data = stream.read(4096)
        (pe,) = struct.unpack_from("<I", data, 0x3C)
        if data[:2] != b"MZ" or data[pe : pe + 4] != b"PE\0\0":
            return False
        (magic,) = struct.unpack_from("<H", data, pe + 24)
        at = pe + 24 + (112 if magic == 0x20B else 96) + 14 * 8
        return bool(struct.unpack_from("<I", data, at)[0])
    except (OSError, struct.error):
        return False
