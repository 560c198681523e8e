"""Extensions that other packages add by name: through an entry point of a group, or with `register`.

    [project.entry-points."persona_evo.mutations"]
    swap = "my_package:SWAP"

The value of an entry point is "module:object". The object is an instance of the class that belongs to the group. Entry
points are looked up only for a name that is not built in, and only the requested one is loaded.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

from persona_evo.errors import PersonaEvoError, Place, SettingsError, raised
from persona_evo.names import is_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Extension:
    """Base class of extensions.

    Attributes:
        group: the group of its entry points.
        noun: its name in messages.
    """

    group: ClassVar[str]
    noun: ClassVar[str]


E = TypeVar("E", bound=Extension)

_registered: dict[str, dict[str, Extension]] = {}
"""Registered extensions by group and name."""


def register(name: str, extension: Extension) -> None:
    """Add an extension to this process. A name that was registered before gets the new value.

    Args:
        name: letters, digits, _ and -, a letter first. Built-in names cannot be replaced.
        extension: an instance of one of the classes of extensions.

    Raises:
        SettingsError: the name is not allowed, or this is not an extension.
    """
    if not isinstance(extension, Extension):
        raise SettingsError(
            "only extensions can be registered",
            found=repr(extension)[:80],
            expected="an instance of " + ", ".join(sorted(kind.__name__ for kind in Extension.__subclasses__())),
        )
    if not isinstance(name, str) or not is_name(name, digits=False):
        raise SettingsError(
            f"a {extension.noun} cannot have this name",
            found=repr(name),
            expected="letters, digits, _ and -, a letter first",
        )
    _registered.setdefault(extension.group, {})[name] = extension


@functools.cache
def _installed(group: str) -> Mapping[str, EntryPoint]:
    """Find the entry points of a group by name; if two packages use a name, the first by value counts."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        found.setdefault(point.name, point)
    return found


def names(group: str) -> list[str]:
    """List the names in a group in alphabetical order, without loading anything."""
    return sorted({**_installed(group), **_registered.get(group, {})})


def load(kind: type[E], name: str) -> E:
    """Load the extension of a class by its name, which is one of `names`.

    Raises:
        SettingsError: it cannot be loaded, or has another type.
    """
    given = _registered.get(kind.group, {}).get(name)
    if given is not None:
        assert isinstance(given, kind)
        return given
    point = _installed(kind.group)[name]
    place = Place(f"entry point {name} = {point.value}")
    package = point.dist.name if point.dist is not None else ""
    hint = f"reinstall the package {package or 'that it comes with'}, or ask its authors"
    what = f"the {kind.noun} {name!r} cannot be loaded"
    try:
        found = point.load()
    except PersonaEvoError as e:
        raise SettingsError(what, place=place, found=str(e), hint=hint) from e
    except (Exception, SystemExit) as e:
        raise SettingsError(what, place=place, found=f"{type(e).__name__}: {e}", hint=hint) from e
    if not isinstance(found, kind):
        expected = f"a {kind.__module__}.{kind.__qualname__}"
        raise SettingsError(what, place=place, found=repr(found)[:80], expected=expected, hint=hint)
    return found


@contextlib.contextmanager
def guarded(what: str, expected: str | None = None) -> Iterator[None]:
    """Convert any exception in the code of another package to an error of the settings that named it.

    Args:
        what: what is wrong, in one sentence.
        expected: what the code is expected to return.

    Raises:
        SettingsError: the code fails, or its result is refused.
    """
    try:
        yield
    except PersonaEvoError as e:
        raise SettingsError(what, found=str(e), expected=expected) from e
    except Exception as e:
        place = Place(raised(e))
        raise SettingsError(what, place=place, found=f"{type(e).__name__}: {e}", hint="ask its authors") from e
