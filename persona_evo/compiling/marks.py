"""Marks the functions that may be compiled. Called from Python, a marked function is still plain Python."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from opcode import opmap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from persona_evo.compiling.arrays import IntRow

_GLOBAL, _LONGER = opmap["LOAD_GLOBAL"], opmap["EXTENDED_ARG"]
F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Mark a helper that compiled code may call; it becomes part of its callers."""
    function.__compiled__ = True  # type: ignore[attr-defined]
    return function


def apart(function: F) -> F:
    """Mark a helper that is compiled as a separate function, because it is large and called in several places."""
    function.__apart__ = True  # type: ignore[attr-defined]
    return compiled(function)


def primitive(where: str) -> Callable[[F], F]:
    """Mark a function whose machine code is written by hand.

    Args:
        where: "module:name" of the numba intrinsic; the module is imported only when something is compiled.
    """

    def mark(function: F) -> F:
        function.__primitive__ = where  # type: ignore[attr-defined]
        return function

    return mark


@primitive("persona_evo.compiling.frontend:stack_row")
def row(n: int) -> IntRow:
    """Return int64[n] on the stack of the calling compiled function; it is gone when that function returns.

    Its initial content is undefined. n must be a literal number or a constant of the module.
    """
    return np.zeros(n, dtype=np.int64)


def with_names(function: F, called: str = "", /, **names: Any) -> F:
    """Return a copy of a marked function in which some global names have other values.

    Args:
        function: the function.
        called: the name of its module that will hold the copy, so that another process finds it; "" for none.
        names: the values of global names.
    """
    assert isinstance(function, FunctionType)
    known, name = {**function.__globals__, **names}, called or function.__name__
    copied = FunctionType(function.__code__, known, name, function.__defaults__, function.__closure__)
    copied.__dict__.update(function.__dict__)
    copied.__qualname__ = name
    copied.__module__, copied.__doc__ = function.__module__, function.__doc__
    return copied  # type: ignore[return-value]


def is_marked(value: object) -> bool:
    """Return whether a value is a function that may be compiled."""
    return isinstance(value, FunctionType) and (hasattr(value, "__compiled__") or hasattr(value, "__primitive__"))


@functools.cache
def names(code: CodeType) -> tuple[str, ...]:
    """Return the global names that a function's code, and the functions inside it, read, without repeats."""
    found, more, numbers = [], 0, code.co_code
    for at in range(0, len(numbers), 2):
        number = numbers[at + 1] | more
        more = number << 8 if numbers[at] == _LONGER else 0
        if numbers[at] == _GLOBAL:
            found.append(code.co_names[number >> 1])
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += names(constant)
    return tuple(dict.fromkeys(found))


def used(function: FunctionType) -> dict[str, Any]:
    """Return the globals that a function uses, without modules and built-ins."""
    return {name: value for name, value in _globals(function).items() if not isinstance(value, ModuleType)}


def _globals(function: FunctionType) -> dict[str, Any]:
    known = function.__globals__
    return {name: known[name] for name in names(function.__code__) if name in known}


def reached(function: FunctionType) -> dict[FunctionType, None]:
    """Return a function and everything that it calls, except functions whose machine code is written by hand."""
    found: dict[FunctionType, None] = {}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one not in found and not hasattr(one, "__primitive__"):
            found[one] = None
            waiting += [value for value in used(one).values() if is_marked(value)]
    return found


def fingerprint(function: FunctionType) -> str:
    """Return a digest of everything a function's machine code depends on: its code, what it calls, and constants.

    An edit elsewhere does not change it, nor does a comment or a docstring.
    """
    facts: list[str] = []
    _add_facts(function, set(), facts)
    return hashlib.sha256("".join(f"{fact}\0" for fact in facts).encode()).hexdigest()


def _add_facts(function: FunctionType, seen: set[FunctionType], facts: list[str]) -> None:
    """Add the facts about a function, and about the functions that it calls and that were not seen yet."""
    facts.append(f"{function.__module__}.{function.__qualname__}")
    if function in seen:
        return
    seen.add(function)
    where = getattr(function, "__primitive__", "")
    if where:
        facts.append(where + _source(where.split(":")[0]))
        return
    facts += _code_facts(function.__code__, function.__doc__)
    facts.append(f"{sorted(vars(function))} {function.__defaults__}")
    for cell in function.__closure__ or ():
        _add_value(cell.cell_contents, seen, facts)
    for name, value in _globals(function).items():
        facts.append(name)
        if isinstance(value, ModuleType):
            for attribute in function.__code__.co_names:
                if hasattr(value, attribute):
                    facts.append(attribute)
                    _add_value(getattr(value, attribute), seen, facts)
        else:
            _add_value(value, seen, facts)


def _add_value(value: Any, seen: set[FunctionType], facts: list[str]) -> None:
    """Add the facts about a value that a function uses."""
    if isinstance(value, (int, float, str, tuple, np.generic)):
        facts.append(repr(value))
    elif is_marked(value):
        _add_facts(value, seen, facts)
    elif isinstance(value, np.ndarray):
        facts.append(f"{value.dtype} {value.shape} {value.tobytes().hex()}")
    elif hasattr(value, "_fields"):
        facts.append(repr(value.__annotations__))
    else:
        facts.append(getattr(value, "__qualname__", type(value).__qualname__))


@functools.cache
def _code_facts(code: CodeType, doc: str | None = None) -> tuple[str, ...]:
    facts = [code.co_code.hex(), repr((code.co_names, code.co_varnames, code.co_argcount))]
    for constant in code.co_consts[1:] if code.co_consts[:1] == (doc,) else code.co_consts:
        if isinstance(constant, CodeType):
            facts += _code_facts(constant)
        else:
            facts.append(repr(constant))
    return tuple(facts)


@functools.cache
def _source(module: str) -> str:
    import importlib.util

    spec = importlib.util.find_spec(module)
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
