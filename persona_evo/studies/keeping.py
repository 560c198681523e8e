"""The folder of a reproduction: its settings are in `reproduction.json`, which is written first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from persona_evo.api.studies import CONFIG as CONFIG
from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.jobs import json_text, schema
from persona_evo.jobs.folder import JobFolder, JobKind
from persona_evo.jobs.journal import Journal, Row, plain_rows
from persona_evo.search.configuration import comparable

T = TypeVar("T")


ROOT = Path("runs")
"""The folder of reproductions without a named folder."""


def usual_folder(*words: str) -> Path:
    """Return the folder of a reproduction without a named one.

    It lies below ROOT, or in the current folder if an earlier version began the reproduction there.
    """
    name = "-".join(("reproduction", *filter(None, words)))
    return Path(name) if (Path(name) / CONFIG).is_file() else ROOT / name


KIND = JobKind(
    "reproduction",
    CONFIG,
    hint="continue it as it is: --resume {folder}; or name another folder with --out",
    comparable=comparable,
)


def opened(folder: Path, study: str, values: Mapping[str, Any]) -> JobFolder:
    """Make or resume the folder of a reproduction, and lock it.

    Args:
        folder: the folder.
        study: the name of the study.
        values: everything that the result depends on, as plain values.

    Raises:
        RunError: the folder belongs to something else, is damaged, or is in use.
    """
    return JobFolder(KIND, folder, {"study": study, **values})


def row_journal(path: Path) -> Journal[Row]:
    """Return a journal of plain values, one line each, in any order."""
    return Journal(path, plain_rows("line", hint="delete the line: its content is computed again"))


def reopened(folder: Path, study: str) -> schema.Reader:
    """Return a reader of a reproduction's settings, and check the name of its study.

    Raises:
        RunError: the folder does not belong to such a reproduction, or its file is damaged.
    """
    r = KIND.reader(folder)
    if r.text_of("study", "") != study:
        raise r.fail(
            "the folder holds the reproduction of another study",
            "study",
            expected=study,
            hint=f"persona-evo reproduce {r.text_of('study', 'minidungeons')} --resume FOLDER",
        )
    return r


def settings(folder: Path, study: str, make: Callable[..., T]) -> T:
    """Return the settings in a reproduction's folder, made by `make` from the values by name.

    Raises:
        RunError: this is no folder of this reproduction, or a file is damaged.
    """
    data = reopened(folder, study).data
    try:
        return make(**{k: v for k, v in data.items() if k not in ("schema", "study", "game_version")})
    except (TypeError, ValueError, SettingsError) as e:
        raise RunError(
            "the reproduction's file is damaged",
            place=Place(str(folder / CONFIG)),
            found=str(e).partition("\n")[0],
            expected="a file written by this program",
            hint=json_text.RESTORE,
        ) from e
