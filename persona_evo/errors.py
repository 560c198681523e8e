"""The tree of exceptions for all mistakes that a user can make.

PersonaEvoError                 base class; the command line prints it and exits with code 2
├── InputError                  something that a user wrote or named is wrong; it knows the place
│   ├── FormulaError            a formula does not parse, or names an unknown symbol
│   ├── LevelError              a level file is not a level
│   ├── PersonaError            a persona file is incomplete or contradicts itself
│   ├── PolicyError             a policy file cannot be used
│   ├── SettingsError           an option, a budget or a name in a map set makes no sense
│   ├── CompileError            a marked function has code that cannot be compiled
│   ├── RunError                a run folder is damaged, in use, or belongs to something else
│   └── ConnectError            a connected game does not start, does not answer, or fails
│       └── ProtocolError       a message of a connected game violates the protocol
├── GameError                   a game breaks the contract of `persona_evo.games`
└── VerificationError           two ways of computing the same thing disagree
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_MOST_FOUND, _MOST_TEXT = 500, 4000
"""Largest number of characters in a message for the value that was found, and for each other part."""

_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Escape control characters other than line endings, so that a terminal shows a text as it is."""
    return _CONTROL.sub(lambda m: m.group().encode("unicode_escape", "surrogatepass").decode(), text)


def shortened(text: str, most: int) -> str:
    """Shorten a text to at most `most` characters; a shortened text ends with its original length."""
    if len(text) <= most:
        return text
    end = f"... ({len(text):,} characters)"
    return text[: max(0, most - len(end))] + end


def has_control(text: str) -> bool:
    """Return whether a text holds control characters other than line endings."""
    return _CONTROL.search(text) is not None


def json_fault(error: Exception) -> str:
    """Return why a text is not JSON, given what `json` raised."""
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:100]


def raised(error: BaseException, file: str = "") -> str:
    """Find where an exception was raised: "file:line" within `file`, or the innermost line of any file."""
    lines: list[str] = []
    at = error.__traceback__
    while at is not None:
        name = at.tb_frame.f_code.co_filename
        if name == file or (not file and not name.startswith("<")):
            lines = [f"{name}:{at.tb_lineno}"]
        at = at.tb_next
    return lines[-1] if lines else file


@dataclass(frozen=True)
class Place:
    """A place in a file. Lines and columns count from 1; 0 means unknown."""

    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.source]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


class PersonaEvoError(Exception):
    """Base class of all errors that are shown to the user as one message without a traceback."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(printable(a) if isinstance(a, str) else a for a in args))


class InputError(PersonaEvoError):
    """A user's input is wrong.

    Args:
        what: one sentence that says what is wrong.
        place: file, line and column, if known.
        found: the wrong input.
        expected: correct input.
        hint: what to do now.
    """

    def __init__(
        self,
        what: str,
        *,
        place: Place | None = None,
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        what, found = shortened(what, _MOST_TEXT), found and shortened(found, _MOST_FOUND)
        expected, hint = expected and shortened(expected, _MOST_TEXT), hint and shortened(hint, _MOST_TEXT)
        self.what, self.place, self.found, self.expected, self.hint = what, place, found, expected, hint
        lines = [f"{place}: {what}" if place else what]
        for label, text in (("found", found), ("expected", expected), ("hint", hint)):
            if text:
                lines.append(f"  {label}: {text}")
        super().__init__("\n".join(lines))

    def hinting(self, first: str) -> Self:
        """Return the same error with another hint before its own."""
        hint = "; ".join(filter(None, (first, self.hint)))
        return type(self)(self.what, place=self.place, found=self.found, expected=self.expected, hint=hint)

    def moved(self, place: Place | None, what: str = "", error: type[InputError] | None = None) -> InputError:
        """Return the same error at another place, with another message and as another class if they are given."""
        kind = error or type(self)
        return kind(what or self.what, place=place, found=self.found, expected=self.expected, hint=self.hint)


class FormulaError(InputError):
    """A formula cannot be read."""


class LevelError(InputError):
    """A level cannot be read."""


class PersonaError(InputError):
    """A persona cannot be read."""


class PolicyError(InputError):
    """A policy cannot be read."""


class SettingsError(InputError):
    """A setting is out of range or contradicts another."""


class CompileError(InputError):
    """A function cannot become machine code."""


class RunError(InputError):
    """A run folder cannot be used."""


class ConnectError(InputError):
    """A connected game cannot be played."""


class ProtocolError(ConnectError):
    """A frame breaks the protocol. `code` is its code in the ERROR frame."""

    code = "frame"


class GameError(PersonaEvoError):
    """A game does not keep the contract of a forward model."""


class VerificationError(PersonaEvoError):
    """Two ways of computing the same thing disagree."""


_NEAR, _PART = 0.66, 0.5
"""Least similarity (0 to 1) of a word to a suggestion for it, and the least if one is a part of the other."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word most like `word`, ignoring case, or None if none is similar.

    Words are similar if two thirds of the letters are the same, in order, or if one is the beginning or a part of the
    other.
    """
    import difflib

    by_lower = {k.lower(): k for k in known}
    hits = difflib.get_close_matches(word.lower(), list(by_lower), n=5, cutoff=_PART)
    near = [h for h in hits if difflib.SequenceMatcher(None, word.lower(), h).ratio() >= _NEAR or _within(word, h)]
    return by_lower[near[0]] if near else None


def _within(word: str, known: str) -> bool:
    shorter, longer = sorted((word.lower(), known), key=len)
    return len(shorter) > 1 and shorter in longer


def unknown(word: object, known: Iterable[str]) -> tuple[str, str]:
    """Return `expected` and `hint` of an error for an unknown name: all names, and the most similar one.

    Anything that is no text is as unknown as a name that is like no other.
    """
    names = sorted(set(known))
    near = nearest(word, names) if isinstance(word, str) else None
    return "one of " + ", ".join(names), (f"did you mean {near!r}?" if near else "use a name from the list")


def in_one_line(error: PersonaEvoError) -> str:
    """Return the message of an error without its hint, as one line."""
    return "; ".join(line.strip() for line in str(error).split("\n  hint:")[0].splitlines())
