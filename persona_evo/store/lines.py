"""Work that is written down line by line in a folder: what the folder is for, and the lines that are there already.

Whatever kills the process, the folder holds a beginning of the work and at most one torn line, which is cut off when
the work is continued. Lines are added by `schema.append_lines`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, RunError
from persona_evo.store import schema


def claim(config: Path, lines: Path, values: Mapping[str, Any], what: str) -> None:
    """Write down what a folder is for; nothing happens where it says the same already.

    Args:
        config: the file for it.
        lines: the file of the work, which is not there before that.
        values: plain ones, all that the result depends on.
        what: the work in one word, for messages.

    Raises:
        RunError: the folder is for something else, or damaged.
    """
    if not config.exists():
        if lines.exists():
            raise RunError(
                f"the folder has {lines.name} but no {config.name}", place=Place(str(config.parent)),
                hint="name another folder",
            )  # fmt: skip
        schema.write_atomically(config, schema.dump(values))
        return
    known, _ = schema.read(config, RunError)
    ours = json.loads(json.dumps(values))
    different = [k for k in {**known, **ours} if known.get(k) != ours.get(k)]
    if different:
        raise RunError(
            f"the folder holds another {what}", place=Place(str(config)), found="other " + ", ".join(different),
            hint="name another folder, or delete this one",
        )  # fmt: skip


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file with their ends, [] where there is no file; a torn last line is cut off.

    Raises:
        RunError: it is no file.
    """
    if not path.exists():
        return []
    if not path.is_file():
        raise RunError("this is no file", place=Place(str(path)), hint="restore it from a copy")
    lines = path.read_bytes().splitlines(keepends=True)
    whole = [line for line in lines if line.endswith(b"\n")]
    if len(whole) < len(lines):
        with open(path, "r+b") as f:
            f.truncate(sum(map(len, whole)))
    return whole
