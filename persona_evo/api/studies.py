"""Studies: published experiments that can be run again, each found by an entry point.

A package adds a study with an entry point of the group `persona_evo.studies`: its name is the study's, its value is
"module:object", and the object is a `Study`. The studies that ship are the folders of the package of the same name;
they are also found in a checkout that is not installed. Everything else works without that package.
"""

from __future__ import annotations

import argparse
import functools
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.arguments import checked, checked_fields
from persona_evo.errors import SettingsError, unknown
from persona_evo.jobs.windows import program
from persona_evo.report.written import WrittenReport

if TYPE_CHECKING:
    from persona_evo.report.figures import Drawing

GROUP = "persona_evo.studies"
"""The group of entry points, and the package with the studies that ship."""

CONFIG = "reproduction.json"
"""The file in a study's folder that says which study it is and what the result depends on."""


@checked_fields()
@dataclass(frozen=True)
class Reproduction(WrittenReport):
    """The report of a finished study; as a string, its text."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Study:
    """A published experiment that can be run again. Its module should import little, since lists of studies import it.

    Attributes:
        help: one line for lists.
        description: what the study does, and how long it takes.
        add_arguments: adds the options of its command to a parser.
        run: runs its command with the parsed options; returns the exit code.
        reproduce: runs it from Python; None if only its command does.
        resume: continues it from Python, given its folder; None if only its command does.
        drawings: the figures of a study's folder for print; None if it has none.
    """

    help: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    reproduce: Callable[..., Reproduction] | None = None
    resume: Callable[..., Reproduction] | None = None
    drawings: Callable[[Path], Iterable[Drawing]] | None = None


@functools.cache
def installed() -> Mapping[str, EntryPoint]:
    """Find all installed studies by name, in alphabetical order."""
    found = {name: EntryPoint(name, f"{GROUP}.{name}.command:STUDY", GROUP) for name in _shipped()}
    for point in entry_points(group=GROUP):
        if point.name in found or not point.module.startswith(f"{GROUP}."):  # otherwise its folder has been deleted
            found[point.name] = point
    return dict(sorted(found.items()))


def _shipped() -> list[str]:
    """Return the names of the studies that ship, [] without their package."""
    spec = find_spec(GROUP)
    folders = None if spec is None else spec.submodule_search_locations
    return [] if folders is None else [module.name for module in pkgutil.iter_modules(folders) if module.ispkg]


def not_installed(name: str) -> SettingsError:
    """Make the error for a study that is not installed."""
    if not installed():
        return SettingsError(
            "no studies are installed",
            found=name or None,
            hint=f"install a package with entry points of the group {GROUP}",
        )
    expected, hint = unknown(name, installed())
    return SettingsError("there is no such study", found=name, expected=expected, hint=hint)


def get(name: str) -> Study:
    """Load the study called `name`.

    Raises:
        SettingsError: it is not installed, or cannot be loaded.
    """
    if name not in installed():
        raise not_installed(name)
    point = installed()[name]
    hint = "reinstall the package that it comes with, or ask its authors"
    try:
        study = point.load()
    except Exception as e:
        what = f"the study {name!r} cannot be loaded: {type(e).__name__}: {e}"
        raise SettingsError(what, found=point.value, hint=hint) from e
    if not isinstance(study, Study):
        what = f"the study {name!r} is a {type(study).__name__}"
        raise SettingsError(what, found=point.value, expected="a persona_evo.api.studies.Study", hint=hint)
    return study


def study_of(folder: Path) -> tuple[str, Study]:
    """Find the study that a folder belongs to; return its name and the study.

    Raises:
        RunError: the folder is not that of a study, or its file is damaged.
        SettingsError: the study is not installed.
    """
    from persona_evo.jobs.folder import JobKind

    name = JobKind("reproduction", CONFIG).reader(folder).text_of("study", "")
    return name, get(name)


@checked
def reproduce(study: str = "minidungeons", *choices: Any, **settings: Any) -> Reproduction:
    """Run a study and write its report; the same call resumes it after any interruption.

    Args:
        study: the name of the study.
        choices, settings: arguments of the study, as in `persona_evo.studies.minidungeons.reproduction.reproduce`.

    Raises:
        SettingsError: the study is not installed, or runs only from the command line.
    """
    found = get(study).reproduce
    if found is None:
        raise _command_only(study, program("reproduce", study))
    return found(*choices, **settings)


@checked
def resume_reproduction(folder: str | Path, **settings: Any) -> Reproduction:
    """Continue a study from its folder alone.

    Args:
        folder: the folder of a study that was begun.
        settings: settings that may change between calls, such as `jobs`.

    Raises:
        RunError: the folder is not that of a study, or its file is damaged.
        SettingsError: the study is not installed, or runs only from the command line.
    """
    name, study = study_of(Path(folder))
    if study.resume is None:
        raise _command_only(name, program("reproduce", name, "--resume", folder))
    return study.resume(Path(folder), **settings)


def _command_only(study: str, command: str) -> SettingsError:
    return SettingsError("this study can only be run from the command line", found=study, hint=command)
