"""Opening files that have to be regular ones: reading a pipe or a device may never end."""

from __future__ import annotations

import stat
from io import BufferedReader
from pathlib import Path

from persona_evo.errors import InputError, Place

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def opened(path: Path, error: type[InputError], expected: str = "a regular file") -> BufferedReader:
    """Open a file for reading.

    Args:
        path: of the file.
        error: what to raise.
        expected: what the file should be, for the message.

    Raises:
        error: it is a folder, a pipe, a socket or a device.
        OSError: it is missing or cannot be opened.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        found = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise error(
            "this is no regular file and cannot be read", place=Place(str(path)), found=found, expected=expected
        )
    return path.open("rb")
