"""Conversions and ranges of the numbers and names that users give, shared by Python and the command line.

A whole number may be an `int`, a NumPy integer, or a float with a whole value, such as 1e3. A number may be any real
number of Python or NumPy. `True`, `nan`, text and None are not numbers.
"""

from __future__ import annotations

import numbers
import operator
import sys
from pathlib import Path
from typing import SupportsIndex, TypeGuard

from persona_evo.errors import SettingsError, has_control

SEEDS = 2**63 - 1
"""The largest seed."""

MOST_ITERATIONS = 2_000_000_000
MOST_SECONDS = 7 * 86400.0
MOST_DURATION = 365 * 86400.0
MOST_BOUND_SECONDS = 86400.0
"""The longest search for the best possible utility of a persona in a level."""
MOST_JOBS = 4096
MOST_TRIALS = 100_000
MOST_LEVELS = 10_000
MOST_SHARE = 0.9
MOST_SEEDS = 256
"""The largest number of game seeds that a search averages over."""

LARGEST = sys.float_info.max
"""The largest number that a float can hold."""

_EXACT = 2.0**53
"""Floats up to this hold every whole number."""


def is_truth(value: object) -> bool:
    """Return whether a value is True or False, of Python or NumPy."""
    return isinstance(value, bool) or (
        getattr(getattr(value, "dtype", None), "kind", "") == "b" and getattr(value, "shape", None) == ()
    )


def python_number(value: object) -> object:
    """Convert a number to Python's own `int` or `float`, and return anything else as it is."""
    if type(value) in (int, float):
        return value
    if is_truth(value):  # NumPy before version 2 makes a number of it
        return value
    if isinstance(value, SupportsIndex):
        try:
            return operator.index(value)
        except TypeError:  # an array
            return value
    if not isinstance(value, numbers.Real):
        return value
    return float(value)


def is_finite(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number that a float can hold. True and False are not numbers."""
    found = python_number(value)
    return isinstance(found, (int, float)) and not isinstance(found, bool) and -LARGEST <= found <= LARGEST


def integral(value: object) -> object:
    """Convert a number with a whole value to an `int`, and return anything else as it is."""
    found = python_number(value)
    return int(found) if isinstance(found, float) and found.is_integer() and abs(found) <= _EXACT else found


def whole(value: object, name: str, low: int, high: int) -> int:
    """Convert a value to a whole number in [low, high].

    Args:
        value: the given value.
        name: its name, for the message.
        low: the smallest number allowed.
        high: the largest number allowed.

    Raises:
        SettingsError: the value is not such a number.
    """
    found = integral(value)
    if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
        raise _out_of_range(value, name, f"a whole number from {low} to {high}")
    return found


def number(value: object, name: str, low: float, high: float, *, above: bool = False) -> float:
    """Convert a value to a number in [low, high], or with `above` in (low, high].

    Raises:
        SettingsError: the value is not such a number.
    """
    found = python_number(value)
    fits = isinstance(found, (int, float)) and not isinstance(found, bool)
    if not fits or not (low < found if above else low <= found) or not found <= high:  # type: ignore[operator]
        raise _out_of_range(value, name, f"a number {'above' if above else 'from'} {low:g} up to {high:g}")
    return found  # type: ignore[return-value]


def seed(value: object) -> int:
    """Convert a value to a seed."""
    return whole(value, "the seed", 0, SEEDS)


def jobs(value: object) -> int:
    """Convert a value to a number of jobs: at least 1, or -1 for all cores."""
    found = integral(value)
    if isinstance(found, bool) or not isinstance(found, int) or not (found == -1 or 1 <= found <= MOST_JOBS):
        raise _out_of_range(value, "the number of jobs", f"a whole number from 1 to {MOST_JOBS}, or -1 for all cores")
    return found


def shown(value: object) -> str:
    """Return a wrong value as Python writes it, in at most 200 characters."""
    try:
        return repr(value)[:200]
    except ValueError:
        return "a number of more than 4,300 digits"


def _out_of_range(value: object, name: str, expected: str) -> SettingsError:
    return SettingsError(f"{name} is out of range", found=shown(value), expected=expected)


def name(value: object, what: str) -> str:
    """Convert a name or a path to text.

    Args:
        value: the given value.
        what: what it names, for the message.

    Raises:
        SettingsError: it is neither text nor a path.
    """
    if not isinstance(value, str | Path):
        raise SettingsError(f"this is not the name of {what}", found=repr(value)[:200], expected="a name or a file")
    return str(value)


def label(text: str, what: str) -> None:
    """Check that a name can be shown on one line, in a file and in a terminal.

    Args:
        text: the name.
        what: what it names, for the message.

    Raises:
        SettingsError: it has line endings or control characters.
    """
    if not is_label(text):
        raise SettingsError(
            f"the name of {what} has a control character", found=repr(text)[:200], expected="a name on one line"
        )


def is_label(text: str) -> bool:
    """Return whether a text has neither line endings nor control characters."""
    return "\n" not in text and not has_control(text)
