"""An argument parser that answers mistakes with one clear message, and the types of option values."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

from persona_evo.errors import SettingsError, nearest, unknown
from persona_evo.limits import integral

_WHOLE = re.compile(r"\s*[-+]?[0-9]{1,39}\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*", re.ASCII)
_LARGEST = 1e300


class Commands(Protocol):
    """The commands of a parser, to which modules add theirs."""

    def add_parser(self, name: str, **options: Any) -> Parser:
        """Parse the options of a command."""


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes are SettingsError, with the nearest known option or command.

    Attributes:
        elsewhere: command that people look for here, but that has another name -> what to type.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("allow_abbrev", False)
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        self._typed: list[str] = []
        self.appendix: Callable[[], str] | None = None
        self.elsewhere: Mapping[str, str] = {}
        super().__init__(*args, **options)

    def format_help(self) -> str:
        """Return the help followed by what `appendix` returns, which is called only for help."""
        return super().format_help() + (f"\n{self.appendix()}\n" if self.appendix else "")

    def error(self, message: str) -> NoReturn:
        """Refuse the command line; a mistyped option explains missing arguments, so it is reported first."""
        typed = [a for a in self._typed if a.startswith("--") and len(a) > 2]
        mistyped = [a for a in typed if a.partition("=")[0] not in self._option_string_actions]
        if mistyped and "required" in message:
            self._refuse(mistyped)
        listed = "commands" if self._subparsers is not None else "options"
        raise SettingsError(message, hint=f"{self.prog} --help lists the {listed}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but unknown arguments are refused by the command that they follow."""
        self._typed = sys.argv[1:] if args is None else list(args)
        given = self._typed[: self._typed.index("--")] if "--" in self._typed else self._typed
        for word in given:
            # argparse takes this for an option with an empty list of values.
            if re.fullmatch(r"(--[^=]+=|-[^-]=?)--", word):
                raise SettingsError("an option without a value", found=word, expected="a value other than --")
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self._refuse(rest)
        return found, rest

    def _refuse(self, rest: Sequence[str]) -> NoReturn:
        option = next((r for r in rest if r.startswith("-")), None)
        if option is None:
            lists = [action.option_strings[-1] for action in self._actions if action.type is names]
            commas = f"{', '.join(lists)}: commas between names and no spaces; " if lists else ""
            raise SettingsError("too many arguments", found=" ".join(rest), hint=f"{commas}see {self.prog} --help")
        word = option.partition("=")[0]
        known = [o for action in self._actions for o in action.option_strings if o.startswith("--")]
        near = nearest(word, known)
        raise SettingsError(
            "no such option", found=word, hint=f"did you mean {near}?" if near else f"see {self.prog} --help"
        )

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print in the same way as all other output, since argparse ignores it if its help cannot be written."""
        from persona_evo.cli.say import say

        if message:
            say(message.removesuffix("\n"), file)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "no such command" if action.dest.startswith("command") else f"no such choice for {_name(action)}"
            expected, hint = unknown(str(value), [str(c) for c in action.choices])
            hint = self.elsewhere.get(str(value), hint)
            raise SettingsError(what, found=str(value), expected=expected, hint=hint)


def _name(action: argparse.Action) -> str:
    return action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Make a type of option: a whole number in [low, high]."""

    def read(text: str) -> int:
        value = int(text) if _WHOLE.fullmatch(text) else integral(float(text)) if _NUMBER.fullmatch(text) else None
        if not isinstance(value, int) or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"expected a whole number from {low} to {high}, found {text!r}")
        return value

    return read


def number(low: float, high: float, *, above: bool = False) -> Callable[[str], float]:
    """Make a type of option: a number in [low, high], or with `above` in (low, high]."""

    def read(text: str) -> float:
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not (low < value if above else low <= value) or not value <= high:
            start = "above" if above else "from"
            raise argparse.ArgumentTypeError(f"expected a number {start} {low:g} up to {high:g}, found {text!r}")
        return value

    return read


def filled(text: str) -> str:
    """Convert the value of an option to a text that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("expected text, found an empty string")
    return text


def path(text: str) -> Path:
    """Convert the value of an option to a path."""
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"expected a path, found {text!r}")
    return Path(text)


def names(text: str) -> list[str]:
    """Convert the value of an option to names, which commas separate."""
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected names separated by commas, found {text!r}")
    return found


def assignment(text: str) -> tuple[str, Any]:
    """Convert NAME=VALUE to a pair; the value is a number, true, false, a text, or texts separated by commas."""
    name, mark, value = text.partition("=")
    if not mark or not name.strip():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text!r}")
    return name.strip(), plain(value.strip())


def plain(text: str) -> Any:
    """Convert a text to the number or truth value that it spells, or return it as it is."""
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return text
    if not any(c.isdigit() for c in text):
        return text
    if not _NUMBER.fullmatch(text) or not abs(value) <= _LARGEST:
        raise argparse.ArgumentTypeError(f"expected a number such as 10 or 1e-3 within +-1e300, found {text[:80]!r}")
    return value
