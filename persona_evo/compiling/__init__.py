"""The one place where Python becomes machine code (for now: everything stays plain Python)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from persona_evo.old_compiling import cache_folder, cache_root, is_warm  # noqa: F401

F = TypeVar("F", bound=Callable[..., Any])
W = TypeVar("W", bound=NamedTuple)
INTERPRET = True


def compiled(function: F) -> F:
    """Mark a helper that compiled code calls. Called from Python, it stays plain Python."""
    return function


def jit(function: Any, signature: Any = None, *, inline: bool = False, final: bool = False) -> Any:
    return function


def interpreted(function: Any, keep: frozenset[str] = frozenset()) -> Any:
    return function


class Handle(Generic[W]):
    """What an entry works on: a named tuple of rows, numbers and functions, as machine code finds it in memory."""

    def __init__(self, work: W) -> None:
        self.work = work


class Entry:
    """A function that Python calls and that runs as machine code: `entry(handle, *numbers)`.

    Its first parameter is a named tuple (see `arrays`), the others are whole numbers; it returns a whole number.
    """

    def __init__(self, plain: Callable[..., int]) -> None:
        self.plain = plain

    def __call__(self, handle: Handle[Any], *numbers: int) -> int:
        return self.plain(handle.work, *numbers)


def entry(function: Callable[..., int]) -> Entry:
    """Mark a function that Python calls with a `Handle`."""
    return Entry(function)
