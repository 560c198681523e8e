"""The folder of a reproduction: what it is for stands in `reproduction.json`, which is written first."""

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
"""Where reproductions are kept for which no folder is named."""


def usual_folder(*words: str) -> Path:
    """The folder of a reproduction for which none is named: below ROOT, or in the current folder where it was begun
    there, as versions did that kept it there."""
    name = "-".join(("reproduction", *filter(None, words)))
    return Path(name) if (Path(name) / CONFIG).is_file() else ROOT / name


KIND = JobKind(
    "reproduction",
    CONFIG,
    hint="go on with it as it is: --resume {folder}; or name another folder with --out",
    comparable=comparable,
)


def opened(folder: Path, study: str, values: Mapping[str, Any]) -> JobFolder:
    """Make or resume the folder of a reproduction, and lock it.

    Args:
        folder: where.
        study: its name.
        values: plain ones, everything that the result depends on.

    Raises:
        RunError: the folder is for something else, damaged, or in use.
    """
    return JobFolder(KIND, folder, {"study": study, **values})


def row_journal(path: Path) -> Journal[Row]:
    """A file of plain values, a line each, in any order."""
    return Journal(path, plain_rows("line", hint="delete the line: what it holds is worked out again"))


def reopened(folder: Path, study: str) -> schema.Reader:
    """What a folder says it is for, beside its study.

    Raises:
        RunError: it is not the folder of such a reproduction, or its file is damaged.
    """
    r = KIND.reader(folder)
    if r.text_of("study", "") != study:
        raise r.fail(
            "another study is reproduced here",
            "study",
            expected=study,
            hint=f"persona-evo reproduce {r.text_of('study', 'minidungeons')} --resume FOLDER",
        )
    return r


def settings(folder: Path, study: str, make: Callable[..., T]) -> T:
    """What a folder is for, made of the values in its file, by name.

    Raises:
        RunError: no folder of this reproduction, or a damaged file.
    """
    data = reopened(folder, study).data
    try:
        return make(**{k: v for k, v in data.items() if k not in ("schema", "study", "game_version")})
    except (TypeError, ValueError, SettingsError) as e:
        raise RunError(
            "the reproduction's file is damaged",
            place=Place(str(folder / CONFIG)),
            found=str(e).partition("\n")[0],
            expected="the file as this program wrote it",
            hint=json_text.RESTORE,
        ) from e
