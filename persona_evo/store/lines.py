"""Work that is written down line by line in a folder: what the folder is for, and the lines that are there already.

Whatever kills the process, the folder holds a beginning of the work and at most one torn line, which is cut off when
the work is continued. Lines are added by `schema.append_lines`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from persona_evo.errors import InputError, Place, RunError
from persona_evo.jobs import schema
from persona_evo.search.settings import SearchSettings
from persona_evo.words import counted

HINTS = {
    "schema": "the folder comes from another version of persona-evo: name another folder",
    "game_version": "the game's rules were others when this was begun: name another folder",
}
"""Of values that nobody gives: what to do where they differ."""

_NAMING = ("name", "variant", "player")
"""What an element of a list may be called by."""

_MOST = 6
"""Differences that are told."""


def claim(
    config: Path, lines: Path, values: Mapping[str, Any], what: str, hints: Mapping[str, str] | None = None
) -> None:
    """Write down what a folder is for; nothing happens where it says the same already.

    Args:
        config: the file for it.
        lines: the file of the work, which is not there before that.
        values: plain ones, all that the result depends on.
        what: the work in one word, for messages.
        hints: of values that nobody gives, besides HINTS, what to do where they differ.

    Raises:
        RunError: the folder is for something else, or damaged.
    """
    if not config.exists():
        if lines.exists():
            raise RunError(
                f"the folder has {lines.name} but no {config.name}",
                place=Place(str(config.parent)),
                found=f"{lines.name}, which does not say what it is of",
                expected=f"{config.name} beside it, or no {lines.name}",
                hint=f"restore {config.name} from a copy, or name another folder",
            )
        schema.write_atomically(config, schema.dump(values))
        return
    known = _deciding(schema.read(config, RunError)[0])
    ours = _deciding(json.loads(json.dumps(values)))
    different = [k for k in {**known, **ours} if known.get(k) != ours.get(k)]
    if different:
        known_hints = {**HINTS, **(hints or {})}
        hint = next(
            (known_hints[k] for k in known_hints if k in different),
            "name another folder, or give the same values as then",
        )
        pairs = [pair for k in different for pair in _differences(k, known.get(k), ours.get(k))]
        more = f", and {counted(len(pairs) - _MOST, 'more difference')}" if len(pairs) > _MOST else ""
        raise RunError(
            f"the folder holds another {what}",
            place=Place(str(config)),
            found=", ".join(f"other {there}" for there, _ in pairs[:_MOST]) + more,
            expected=", ".join(here for _, here in pairs[:_MOST]) + more,
            hint=hint,
        )


def _deciding(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values without where levels were read from, which no result depends on, and with all fields of their search."""
    values, levels = with_whole_search(values), values.get("levels")
    if not isinstance(levels, list):
        return dict(values)
    texts = [{k: v for k, v in text.items() if k != "source"} if isinstance(text, dict) else text for text in levels]
    return {**values, "levels": texts}


def with_whole_search(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values whose `search` has all fields that a search has by now, so that older folders can be gone on with."""
    search = values.get("search")
    if not isinstance(search, dict):
        return dict(values)
    try:
        return {**values, "search": SearchSettings.from_dict(search).to_dict()}
    except (InputError, TypeError):  # it is damaged, and differs from what is not
        return dict(values)


def _differences(name: str, there: Any, here: Any) -> list[tuple[str, str]]:
    """In what a value of a folder and the one that was asked for differ, in words: both whole if they are short, else
    where they differ. What differs alike in several elements of a list is told once, by the key alone."""
    if isinstance(there, list) and isinstance(here, list):
        names = [[_name_of(v, i) for i, v in enumerate(side)] for side in (there, here)]
        if names[0] != names[1]:
            return [(f"{name} {_short(', '.join(names[0]))}", f"{name} {_short(', '.join(names[1]))}")]
        at = [i for i, (a, b) in enumerate(zip(there, here, strict=True)) if a != b]
        alike = {tuple(_differences("", there[i], here[i])) for i in at}
        if len(at) > 1 and len(alike) == 1:
            return [(f"{name}{a}", f"{name}{b}") for a, b in alike.pop()]
        return [pair for i in at for pair in _differences(f"{name} {names[0][i]}:", there[i], here[i])]
    if isinstance(there, dict) and isinstance(here, dict):
        different = [k for k in {**there, **here} if there.get(k) != here.get(k)]
        return [pair for k in different for pair in _differences(f"{name} {k}", there.get(k), here.get(k))]
    return [(f"{name} {_short(_value(there))}", f"{name} {_short(_value(here))}")]


def _name_of(value: Any, number: int) -> str:
    """What an element of a list is called: its name, or what names a combination, or its number."""
    if not isinstance(value, dict):
        return str(value)
    parts = [value.get(key) for key in _NAMING]
    return " / ".join(part for part in parts if isinstance(part, str) and part) or f"{number + 1}"


def _value(value: Any) -> str:
    return "none" if value is None or value == "" else value if isinstance(value, str) else json.dumps(value)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def made(folder: Path, what: str = "folder", option: str = "--out") -> None:
    """See that a folder is there.

    Args:
        folder: which.
        what: its name in messages.
        option: of the command line, which names it.

    Raises:
        RunError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        taken = next((p for p in (folder, *folder.parents) if p.exists() and not p.is_dir()), None)
        hint = f"{f'{taken} is a file: ' if taken else ''}name another folder with {option}"
        raise RunError(f"the {what} cannot be made", place=Place(str(folder)), found=e.strerror, hint=hint) from e


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
