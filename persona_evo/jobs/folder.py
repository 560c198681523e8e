"""The folder of a job: its configuration, and a lock that keeps a second process out.

The configuration is the first file in a folder and holds everything that the results depend on. A folder with the same
configuration is resumed. Any other folder is refused; the message lists the differences and what to do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from persona_evo.errors import Place, RunError
from persona_evo.jobs import schema
from persona_evo.jobs.lock import Lock
from persona_evo.jobs.windows import command_line
from persona_evo.words import counted

Values = Mapping[str, Any]
"""A configuration as plain values."""

_NAMING = ("name", "variant", "player")
"""Keys that may hold the name of an element of a list."""

_MOST = 6
"""The largest number of differences in a message."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job, and how its folder is recognized.

    Attributes:
        name: the name of the job in messages.
        config: name of the file with the configuration.
        lines: name of the file with the results, which cannot exist before the configuration; "" without one.
        version: the version of the configuration's format.
        hints: what to do about a difference in a value that no option sets.
        hint: what to do about other differences; "{folder}" stands for the folder.
        comparable: returns the part of a configuration that decides the results, with fields that older versions lack.
    """

    name: str
    config: str
    lines: str = ""
    version: int = 1
    hints: Mapping[str, str] = field(default_factory=dict)
    hint: str = "name another folder, or use the same values as before"
    comparable: Callable[[Values], Values] = dict

    def reader(self, folder: Path) -> schema.Reader:
        """Return a reader of a folder's configuration.

        Raises:
            RunError: the folder is not one of this kind, or the file is damaged or of a newer version.
        """
        path = folder / self.config
        if not path.is_file():
            article = "an" if self.name[0] in "aeiou" else "a"
            found = f"{self.lines} without {self.config}" if self.lines and (folder / self.lines).is_file() else None
            raise RunError(
                f"this is not the folder of {article} {self.name}",
                place=Place(str(folder)),
                found=found,
                expected=f"a folder with {self.config}",
                hint="name the folder that was given with --out",
            )
        data, text = schema.read(path, RunError)
        data = schema.migrate(data, text, str(path), RunError, self.version, {})
        return schema.Reader(data, text, str(path), RunError)


class JobFolder:
    """The folder of a job, locked from its creation until `close` or the end of `with`.

    The configuration is written into a new folder. A folder with the same configuration is resumed.

    Args:
        kind: the kind of job.
        path: the folder.
        values: the configuration without the version of its format.

    Raises:
        RunError: the folder holds something else, is damaged or in use, or cannot be made.
    """

    def __init__(self, kind: JobKind, path: Path, values: Values) -> None:
        self.path = path
        made(path, f"{kind.name}'s folder")
        self._lock = Lock(path)
        self._lock.acquire()
        try:
            claim(kind, path, values)
        except BaseException:
            self._lock.release()
            raise

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def claim(kind: JobKind, folder: Path, values: Values) -> None:
    """Write the configuration of a job into its folder, or compare it with the one in the folder.

    Args:
        kind: the kind of job.
        folder: the folder, which the caller has locked.
        values: the configuration without the version of its format.

    Raises:
        RunError: the folder belongs to something else, or is damaged.
    """
    config = folder / kind.config
    values = {"schema": kind.version, **values}
    if not config.exists():
        lines = folder / kind.lines
        if kind.lines and lines.exists():
            raise RunError(
                f"the folder has {lines.name} but no {config.name}",
                place=Place(str(folder)),
                found=f"{lines.name}, which does not say what was played",
                expected=f"{config.name} beside it, or no {lines.name}",
                hint=f"restore {config.name} from a copy, or name another folder",
            )
        _refuse_other_work(kind, folder)
        schema.write(config, values)
        return
    known = kind.comparable(schema.read(config, RunError)[0])
    ours = kind.comparable(json.loads(json.dumps(values)))
    different = differences(known, ours)
    if different is not None:
        hints = {**_HINTS, **kind.hints}
        raise RunError(
            f"the folder holds another {kind.name}",
            place=Place(str(config)),
            found=different[0],
            expected=different[1],
            hint=next(
                (hints[k] for k in hints if known.get(k) != ours.get(k)),
                kind.hint.format(folder=command_line([str(folder)])),
            ),
        )


def _refuse_other_work(kind: JobKind, folder: Path) -> None:
    """Raise RunError if a folder without a configuration of this kind has a file of another kind of job."""
    for path in sorted(folder.glob("*.json")):
        if path.is_file() and _has_schema(path):
            raise RunError(
                "the folder holds other work",
                place=Place(str(folder)),
                found=f"{path.name}, and no {kind.config}",
                expected=f"a new folder, or one of {'an' if kind.name[0] in 'aeiou' else 'a'} {kind.name}",
                hint="name another folder",
            )


def _has_schema(path: Path) -> bool:
    """Return whether a file begins like the files that this program writes."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"schema"' in file.read(200)


_HINTS = {
    "schema": "the folder comes from another version of persona-evo: name another folder",
    "game_version": "the game's rules have changed since this was begun: name another folder",
}
"""What to do about a difference in a value that the user does not set."""


def differences(known: Values, ours: Values) -> tuple[str, str] | None:
    """Describe the differences of two configurations as (found, expected); None if there are none.

    A value that is missing counts as null.
    """
    different = [k for k in {**known, **ours} if known.get(k) != ours.get(k)]
    if not different:
        return None
    pairs = [pair for k in different for pair in _differences(k, known.get(k), ours.get(k))]
    more = f", and {counted(len(pairs) - _MOST, 'more difference')}" if len(pairs) > _MOST else ""
    return ", ".join(f"other {there}" for there, _ in pairs[:_MOST]) + more, ", ".join(
        p for _, p in pairs[:_MOST]
    ) + more


def _differences(name: str, there: Any, here: Any) -> list[tuple[str, str]]:
    """List the differences between a value in the folder and the requested one as pairs of words.

    Elements of a list that all differ in the same way are listed once, without their names.
    """
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
    """Name an element of a list: by its own name, by the names that make it up, or by its number."""
    if not isinstance(value, dict):
        return str(value)
    parts = [value.get(key) for key in _NAMING]
    return " / ".join(part for part in parts if isinstance(part, str) and part) or f"{number + 1}"


def _value(value: Any) -> str:
    return "none" if value is None or value == "" else value if isinstance(value, str) else json.dumps(value)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def made(folder: Path, what: str = "folder", option: str = "--out") -> None:
    """Make a folder, unless it exists.

    Args:
        folder: the folder.
        what: its name in messages.
        option: the command-line option that names it.

    Raises:
        RunError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        taken = next((p for p in (folder, *folder.parents) if p.exists() and not p.is_dir()), None)
        hint = f"{f'{taken} is a file: ' if taken else ''}name another folder with {option}"
        raise RunError(f"the {what} cannot be made", place=Place(str(folder)), found=e.strerror, hint=hint) from e
