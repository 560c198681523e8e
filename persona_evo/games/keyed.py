"""Level files that are a list of settings, one `name = value` a line, for games whose levels are made from a seed.

`#` starts a comment, empty lines do not count, names are lower case, each comes once. Values are whole numbers or words
of a list; a setting that has a default may be left out, and an option of the game's loader goes before the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from persona_evo.errors import LevelError, Place, SettingsError, printable, unknown


@dataclass(frozen=True)
class Whole:
    """A setting that is a whole number from `low` to `high`; without a default it has to be there."""

    low: int
    high: int
    default: int | None = None


@dataclass(frozen=True)
class Word:
    """A setting that is one of `words`, the first of which is the default."""

    words: Sequence[str]


class LevelSettings(NamedTuple):
    """Holds the settings in a level file: whole numbers and words by name."""

    whole: Mapping[str, int]
    word: Mapping[str, str]


_LINE = re.compile(r"(?P<name>[^=]*)=(?P<value>.*)")


def read(text: str, source: str, known: Mapping[str, Whole | Word], **given: str) -> LevelSettings:
    """Read the settings in a level file.

    Args:
        text: the content of the file.
        source: the file, for messages.
        known: every setting that exists.
        given: words from the loader's options that replace those in the file; "" for those that do not.

    Raises:
        LevelError: a line is wrong; the error has line and column.
        SettingsError: an option is not a word of its list.
    """
    whole: dict[str, int] = {}
    word: dict[str, str] = {}
    seen: dict[str, int] = {}
    lines = text.removeprefix("\ufeff").splitlines()
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0]
        if not content.strip():
            continue
        name, value, place, at = _split(content, number, source, known)
        if name in seen:
            raise LevelError(
                f"{name} is set twice", place=place, found=f"first set in line {seen[name]}", hint="keep one of them"
            )
        seen[name] = number
        setting = known[name]
        if isinstance(setting, Whole):
            whole[name] = _number(name, value, setting, at)
        else:
            word[name] = _word(name, value, setting, at)
    _fill(whole, word, known, source, len(lines))
    for name, value in given.items():
        setting = known[name]
        if value and isinstance(setting, Word):
            if value not in setting.words:
                expected, hint = unknown(value, setting.words)
                raise SettingsError(f"no such {name}", found=str(value), expected=expected, hint=hint)
            word[name] = value
    return LevelSettings(whole, word)


def _split(content: str, number: int, source: str, known: Mapping[str, Whole | Word]) -> tuple[str, str, Place, Place]:
    """Return the name and the value of a line, and the place of each."""
    match = _LINE.fullmatch(content)
    column = len(content) - len(content.lstrip()) + 1
    place = Place(source, number, column)
    if match is None:
        raise LevelError(
            "not a setting",
            place=place,
            found=_shown(content.strip()),
            expected="name = value",
            hint="the names are " + ", ".join(known) + "; a comment begins with #",
        )
    name, value = match["name"].strip(), match["value"].strip()
    if name not in known:
        expected, hint = unknown(name, known)
        raise LevelError("no such setting", place=place, found=_shown(name), expected=expected, hint=hint)
    start = match.start("value") + len(match["value"]) - len(match["value"].lstrip()) + 1
    return name, value, place, Place(source, number, start)


def _number(name: str, value: str, setting: Whole, place: Place) -> int:
    expected = f"a whole number from {setting.low} to {setting.high}"
    if re.fullmatch(r"[0-9]{1,20}", value) is None or not setting.low <= int(value) <= setting.high:
        raise LevelError(f"not a value for {name}", place=place, found=_shown(value), expected=expected)
    return int(value)


def _word(name: str, value: str, setting: Word, place: Place) -> str:
    if value not in setting.words:
        expected, hint = unknown(value, setting.words)
        raise LevelError(f"not a value for {name}", place=place, found=_shown(value), expected=expected, hint=hint)
    return value


def _fill(
    whole: dict[str, int], word: dict[str, str], known: Mapping[str, Whole | Word], source: str, lines: int
) -> None:
    """Add the defaults of the settings that the file omits."""
    for name, setting in known.items():
        if isinstance(setting, Word):
            word.setdefault(name, setting.words[0])
        elif name not in whole:
            if setting.default is None:
                raise LevelError(
                    f"the level has no {name}",
                    place=Place(source, max(1, lines)),
                    expected=f"a line  {name} = N  with a whole number from {setting.low} to {setting.high}",
                    hint="every level of this game is made from it",
                )
            whole[name] = setting.default


def _shown(text: str) -> str:
    return repr(printable(text[:80])) if text else "nothing"
