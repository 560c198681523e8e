"""Compiles marked Python functions to machine code; nothing else in the package does.

`@compiled` marks a helper, `@entry` a function that Python calls with a `Handle`, and `@callback(...)` a function of a
game. Called from Python, or with a game whose own functions are plain, a marked function stays plain Python, which is
slow but gives identical results (the tests' oracle). `PERSONA_EVO_INTERPRET=1` leaves everything in Python.

| module | contents |
|---|---|
| arrays | the types of the arguments of compiled code |
| marks | the marks, and what a function's machine code depends on |
| frontend | from Python to bitcode, with numba; imported only if something is not on disk |
| typing | the parts of numba that this needs |
| machine | from bitcode to machine code, with llvmlite |
| ahead | compiling several programs at once, in two processes |
| estimates | estimates of the time that compiling takes on this machine |
| calibration | the first measurement for these estimates |
| cache | compiled code on disk |
| turns | locks, so that two processes do not compile the same |
| news | reports of what is being compiled |
"""

from __future__ import annotations

import functools
import itertools
import os
from array import array
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from persona_evo.compiling import cache
from persona_evo.compiling.arrays import (
    ArrayType,
    Field,
    Function,
    Group,
    ScalarType,
    describe,
    differences,
    fields,
    leaves,
    width,
    words,
)
from persona_evo.compiling.calls import caller
from persona_evo.compiling.marks import apart, compiled, primitive, row, with_names
from persona_evo.compiling.news import Work, listen

if TYPE_CHECKING:
    from persona_evo.compiling.machine import NativeCode, NativeProgram

__all__ = [
    "INTERPRET",
    "Callback",
    "Entry",
    "Handle",
    "Work",
    "apart",
    "callback",
    "compiled",
    "entry",
    "is_warm",
    "listen",
    "prepare",
    "primitive",
    "row",
    "with_names",
]

W = TypeVar("W")

INTERPRET = bool(os.environ.get("PERSONA_EVO_INTERPRET"))
"""Whether everything stays plain Python, which is slow but easier to debug."""


def is_warm() -> bool:
    """Return whether there is compiled code for this machine already."""
    if INTERPRET:
        return True
    from persona_evo.compiling.machine import mark

    return cache.has_any(mark())


class Callback:
    """A function of a game: calls from compiled code and from Python run as machine code.

    Attributes:
        plain: the function itself in plain Python, which other marked functions call.
    """

    def __init__(self, plain: FunctionType, annotation: Any) -> None:
        self.plain = plain
        self.__name__, self.__doc__, self.__module__ = plain.__name__, plain.__doc__, plain.__module__
        self._annotation = annotation
        self._function: Callable[..., Any] | None = None

    @functools.cached_property
    def signature(self) -> Function:
        """The C signature: parameters and result."""
        if self._annotation is not None:
            found = describe(self._annotation)
            assert isinstance(found, Function)
            return found
        hints = get_type_hints(self.plain, include_extras=True)
        gives = describe(hints.pop("return"))
        return Function(tuple(map(describe, hints.values())), gives, True)  # type: ignore[arg-type]

    @functools.cached_property
    def code(self) -> NativeCode:
        """The code that the machine code is made from."""
        from persona_evo.compiling.machine import NativeCode

        assert self.signature.gives is not None
        return NativeCode(self.plain, self.signature.takes, self.signature.gives)

    @functools.cached_property
    def program(self) -> NativeProgram:
        """The machine code, as Python calls it."""
        from persona_evo.compiling.machine import NativeProgram

        return NativeProgram(self.code, {})

    @property
    def address(self) -> int:
        """The address of the machine code."""
        return self.program.address()

    def __call__(self, *given: Any) -> Any:
        """Call the machine code and return its result; arrays must have the types in the signature."""
        if self._function is None:
            if INTERPRET:
                return self.plain(*given)
            from persona_evo.compiling.machine import c_function

            takes = self.signature.takes
            parts = sum(1 + one.dimensions if isinstance(one, ArrayType) else 1 for one in takes)
            self._function = caller(c_function(self.address, parts, self.signature.gives), takes)
        return self._function(*given)


def callback(annotation: Any = None) -> Callable[[Callable[..., Any]], Callback]:
    """Mark a module-level function as a function of a game.

    Args:
        annotation: the signature, as `Annotated[Callable[[...], ...], Linked()]` of the types in `arrays`; by default
            it is taken from the function's own annotations.
    """

    def mark(function: Callable[..., Any]) -> Callback:
        return Callback(compiled(function), annotation)  # type: ignore[arg-type]

    return mark


def _is_linked(field: Field) -> bool:
    return isinstance(field, Function) and field.linked


@functools.cache
def _fields_of(kind: type) -> list[tuple[str, Field]]:
    group = describe(kind)
    assert isinstance(group, Group)
    return list(fields(group, "work"))


class Handle(Generic[W]):
    """Holds the data of an entry, a named tuple of rows, numbers and functions, in the form that machine code reads.

    Args:
        work: the named tuple; it stays alive as long as the handle.

    Attributes:
        plain: whether entries run on it as plain Python: a function of the game is plain, or nothing is compiled.
    """

    def __init__(self, work: W) -> None:
        self._fields = _fields_of(type(work))  # type: ignore[arg-type]
        self._functions: dict[Entry, Callable[..., int]] = {}
        self._at = [0, *itertools.accumulate(width(field) for _, field in self._fields)]
        self._words, self.plain = array("q", bytes(8 * self._at[-1])), INTERPRET
        self._parts: dict[str, Callback] = {}
        self._change(work, differences(work, None))

    @property
    def work(self) -> W:
        """The named tuple; assign a new one of its type after an array was replaced."""
        return self._work

    @work.setter
    def work(self, work: W) -> None:
        self._change(work, differences(work, self._work))

    def _change(self, work: W, changed: dict[int, Any]) -> None:
        self._work = work
        if any(_is_linked(self._fields[k][1]) for k in changed):
            changed = dict(enumerate(leaves(work)))  # functions that were plain before have no words yet
            paths = zip(self._fields, changed.values(), strict=True)
            parts = {path: value for (path, field), value in paths if _is_linked(field)}
            self._parts = {path: value for path, value in parts.items() if value is not None}
            self.plain = INTERPRET or not all(isinstance(one, Callback) for one in self._parts.values())
            self._functions.clear()
        if not self.plain:
            for k, value in changed.items():
                self._words[self._at[k] : self._at[k + 1]] = array("q", words(self._fields[k][1], value))

    def function(self, entry: Entry) -> Callable[..., int]:
        """Return a function that runs an entry on this work and takes the entry's numbers."""
        found = self._functions.get(entry)
        if found is None:
            found = self._functions[entry] = self._bind(entry)
        return found

    def program(self, entry: Entry) -> NativeProgram:
        """Return the machine code of an entry that works on this."""
        from persona_evo.compiling.machine import NativeProgram

        return NativeProgram(entry.code, {name: one.code for name, one in self._parts.items()})

    def _bind(self, entry: Entry) -> Callable[..., int]:
        if self.plain:
            return lambda *numbers: entry.plain(self._work, *numbers)
        from persona_evo.compiling.machine import c_function

        place, _ = self._words.buffer_info()
        return functools.partial(c_function(self.program(entry).address(), 1 + entry.numbers), place)


class Entry:
    """A function that Python calls and that runs as machine code: `entry(handle, *numbers)`.

    Its first parameter is a named tuple (see `arrays`), the others are whole numbers; it returns a whole number.
    """

    def __init__(self, plain: Callable[..., int]) -> None:
        self.plain = compiled(plain)
        self.__name__, self.__doc__ = plain.__name__, plain.__doc__

    @property
    def numbers(self) -> int:
        """The number of whole numbers that the entry takes."""
        return self.plain.__code__.co_argcount - 1

    @functools.cached_property
    def code(self) -> NativeCode:
        """The code that the machine code is made from."""
        from persona_evo.compiling.machine import NativeCode

        hints = get_type_hints(self.plain, include_extras=True)
        group = describe(next(iter(hints.values())))
        assert isinstance(group, Group)
        assert isinstance(self.plain, FunctionType)
        return NativeCode(self.plain, (group, *[ScalarType(False)] * self.numbers), ScalarType(False))

    def __call__(self, handle: Handle[Any], *numbers: int) -> int:
        return handle.function(self)(*numbers)


def prepare(*wanted: object) -> None:
    """Compile those of several functions that are not compiled yet, on two cores where that saves time.

    Args:
        wanted: functions of games, and pairs of an entry and the handle that it works on; plain Python is skipped.
    """
    programs = [one[1].program(one[0]) for one in wanted if isinstance(one, tuple) and not one[1].plain]
    programs += [one.program for one in wanted if isinstance(one, Callback) and not INTERPRET]
    missing = [one for one in programs if not one.is_made()]
    if missing:
        from persona_evo.compiling import ahead

        ahead.prepare(missing)


def entry(function: Callable[..., int]) -> Entry:
    """Mark a function that Python calls with a `Handle`."""
    return Entry(function)
