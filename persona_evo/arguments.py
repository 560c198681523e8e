"""Checks the arguments of public functions, and the fields of public classes, against their annotations.

It does so before anything is done. Names that no file can have are refused, too.

Numbers are converted by `limits`. Their ranges are left to the functions and classes. What an annotation calls ...Like,
such as a level or its name, is converted and checked where it is used.
"""

from __future__ import annotations

import builtins
import collections.abc
import contextlib
import dataclasses
import errno
import functools
import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union

from persona_evo import limits
from persona_evo.errors import SettingsError, unknown

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

_LATER = {
    "Budget": "persona_evo.search.settings",
    "Game": "persona_evo.games.core",
    "League": "persona_evo.agents.duel",
    "Playthrough": "persona_evo.playtest.records",
    "SearchSettings": "persona_evo.search.settings",
    "Workers": "persona_evo.jobs.workers",
}
"""Types that modules import for type checkers alone, and the modules that have them."""

_PLAIN: dict[object, str] = {
    None: "None",
    types.NoneType: "None",
    str: "text",
    Path: "a path",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
}

_NUMBERS = (int, float)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a public function or method.

    SettingsError is raised if one has another type than its annotation, or an option is unknown.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        signature, hints = _known(function)
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:  # an argument is missing or unknown, which Python says itself
            return function(*args, **kwargs)
        for name, value in given.items():
            kind = signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                for one in value:
                    _check(name, one, hints[name])
            elif kind is inspect.Parameter.VAR_KEYWORD:
                for option, one in value.items():
                    if option not in hints and name not in hints:
                        expected, hint = unknown(option, hints)
                        what = f"{function.__name__} has no such argument"
                        raise SettingsError(what, found=option, expected=expected, hint=hint)
                    _check(option, one, hints[option if option in hints else name])
            else:
                _check(name, value, hints[name])
        with _names_of_files():
            return function(*args, **kwargs)

    return call


def checked_fields(*own: str) -> Callable[[C], C]:
    """Return a decorator for a dataclass: SettingsError is raised if a field has another type than its annotation.

    Numbers become Python's own, as on the command line: 1e3 and NumPy's numbers are whole numbers, True is none.

    Args:
        own: fields that the class converts itself, so that they may have other types.
    """

    def decorate(cls: C) -> C:
        made: Callable[..., None] = vars(cls)["__init__"]
        fields = list(inspect.signature(cls).parameters)

        @functools.wraps(made)
        def init(self: object, *args: object, **kwargs: object) -> None:
            if len(args) > len(fields) or not kwargs.keys() <= set(fields[len(args) :]):
                return made(self, *args, **kwargs)  # which Python refuses
            given = {**dict(zip(fields, args, strict=False)), **kwargs}
            hints = _of_fields(cls)
            return made(self, **{k: v if k in own else _converted(k, v, hints[k]) for k, v in given.items()})

        setattr(cls, "__init__", init)  # noqa: B010 - mypy takes an assignment for a mistake
        return cls

    return decorate


@functools.cache
def _of_fields(cls: type) -> dict[str, Any]:
    """Return the types of the fields that a dataclass is made of."""
    return {f.name: _evaluated(str(f.type), cls.__module__) for f in dataclasses.fields(cls) if f.init}


def _converted(name: str, value: object, hint: Any) -> object:
    """Return the value of a field; numbers are converted."""
    if type(value) is hint and hint is not int:
        return value
    options = set(typing.get_args(hint)) if typing.get_origin(hint) in (Union, types.UnionType) else {hint}
    if options <= {int, float, types.NoneType} and not (value is None and types.NoneType in options):
        kinds, most = ((int, float), sys.float_info.max) if float in options else (int, limits.SEEDS)
        found = limits.python_number(value) if float in options else limits.integral(value)
        if isinstance(found, bool) or not isinstance(found, kinds):
            raise _wrong(name, value, hint)
        if isinstance(found, int) and abs(found) > most:
            what = f"the argument {name} is out of range"
            raise SettingsError(what, found=_shown(value), expected=f"a number up to {most:g}")
        return found
    _check(name, value, hint)
    return bool(value) if hint is bool else value


@contextlib.contextmanager
def _names_of_files() -> Iterator[None]:
    """Turn the exceptions of names that no file can have into a SettingsError."""
    try:
        yield
    except OSError as e:
        if e.errno != errno.ENAMETOOLONG:
            raise
        raise SettingsError("a name is too long for a file", found=_shown(e.filename)) from None
    except ValueError as e:
        if not isinstance(e, UnicodeEncodeError) and "null" not in str(e):
            raise
        raise SettingsError("a name has a character that no file's name can have", found=str(e)) from None


def _check(name: str, value: object, hint: Any) -> None:
    if not _fits(value, hint):
        raise _wrong(name, value, hint)


def _wrong(name: str, value: object, hint: Any) -> SettingsError:
    return SettingsError(
        f"the argument {name} is of the wrong type",
        found=f"{_shown(value)}, {type(value).__name__}",
        expected=_words(hint),
    )


def _shown(value: object) -> str:
    try:
        return repr(value)[:100]
    except Exception:  # a class of the user's, or a whole number with thousands of digits
        return "a value that cannot be shown"


@functools.cache
def _known(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return the signature of a function, and the types of its arguments; Any where nothing is checked.

    Options that have a type each are among them by their own names.
    """
    signature, hints = inspect.signature(function), dict[str, Any]()
    for name, parameter in signature.parameters.items():
        text = str(parameter.annotation)
        if parameter.annotation is inspect.Parameter.empty:  # the object of a method
            hints[name] = Any
        elif text.startswith("Unpack["):
            options = _evaluated(text.removeprefix("Unpack[").removesuffix("]"), function.__module__)
            for option, reference in options.__annotations__.items():
                hints[option] = _evaluated(reference.__forward_arg__, reference.__forward_module__)
        else:
            hints[name] = _evaluated(text, function.__module__)
    return signature, hints


class _Names(dict[str, Any]):
    """The names that an annotation may use; unknown ones stand for anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(importlib.import_module(_LATER[name]), name) if name in _LATER else Any


def _evaluated(annotation: str, module: str) -> Any:
    """Return the type that an annotation in a module stands for; Any if it is converted where it is used."""
    if "Like" in annotation:
        return Any
    known = _Names({**vars(builtins), **vars(importlib.import_module(module))})
    annotated = types.SimpleNamespace(__annotations__={"argument": annotation})
    try:
        return typing.get_type_hints(annotated, globalns={}, localns=known)["argument"]
    except TypeError:  # it combines names that are unknown here
        return Any


def _fits(value: object, hint: Any) -> bool:
    """Return whether a value is of a type."""
    if hint is None:
        return value is None
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if hint is bool:
        return limits.is_truth(value)
    if hint is Any or hint in _NUMBERS:
        return True
    if origin is collections.abc.Callable:
        return callable(value)
    if origin is type:
        return isinstance(value, type)
    if typing.is_typeddict(hint):
        return isinstance(value, Mapping)
    kind = origin or hint
    if not isinstance(kind, type) or (getattr(kind, "_is_protocol", False) and kind.__module__ != "collections.abc"):
        return True
    if issubclass(kind, Mapping):
        return isinstance(value, Mapping)
    if kind is tuple and parts and parts[-1] is not ...:
        return (
            isinstance(value, Sequence)
            and len(value) == len(parts)
            and all(_fits(one, part) for one, part in zip(value, parts, strict=True))
        )
    if issubclass(kind, Iterable) and parts and kind.__module__ in ("builtins", "collections.abc"):
        return _lists(value, parts[0])
    return isinstance(value, kind)


def _lists(values: object, hint: Any) -> bool:
    """Return whether a value is a list, or another collection, of values of a type; text is none."""
    try:
        iter(values)  # type: ignore[call-overload]
    except TypeError:  # an array without dimensions is an Iterable, too
        return False
    if isinstance(values, str):
        return False
    return (
        hint is Any
        or hint in _NUMBERS
        or not isinstance(values, collections.abc.Collection)
        or all(_fits(one, hint) for one in values)
    )


def _words(hint: Any) -> str:
    """Describe a type in words."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_words, parts)))
    if origin is collections.abc.Callable:
        return "a function"
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is type:
        return "a class"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a mapping"
    if origin is tuple and parts[-1] is not ...:
        return f"a tuple of {', '.join(map(_words, parts))}"
    if origin is not None and parts:
        return "a list of text" if parts[0] is str else f"a list of {_words(parts[0]).partition(' ')[2]}s"
    if (known := _PLAIN.get(hint)) is not None:
        return known
    name = str(getattr(hint, "__name__", hint))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
