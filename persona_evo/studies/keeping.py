"""The folder of a reproduction: what it is for stands in `reproduction.json`, which is written first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from persona_evo.api.studies import CONFIG as CONFIG
from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.store import schema
from persona_evo.store.lines import with_whole_search

SCHEMA = 1

T = TypeVar("T")


ROOT = Path("runs")
"""Where reproductions are kept for which no folder is named."""


def usual_folder(*words: str) -> Path:
    """The folder of a reproduction for which none is named: below ROOT, or in the current folder where it was begun
    there, as versions did that kept it there."""
    name = "-".join(("reproduction", *filter(None, words)))
    return Path(name) if (Path(name) / CONFIG).is_file() else ROOT / name


def claim(folder: Path, study: str, values: Mapping[str, Any]) -> None:
    """Write down what a folder is for; nothing happens where it says the same already.

    Args:
        values: plain ones, all that the result depends on.

    Raises:
        RunError: the folder is for something else, or its file is damaged.
    """
    ours = json.loads(json.dumps({"schema": SCHEMA, "study": study, **values}))
    path = folder / CONFIG
    if not path.exists():
        schema.write_atomically(path, schema.dump(ours))
        return
    known, _ = schema.read(path, RunError)
    other = difference(known, ours, sorted({**known, **ours}))
    if other is not None:
        raise RunError(
            "the folder holds another reproduction",
            place=Place(str(path)),
            found=other[0],
            expected=other[1],
            hint=f"go on with it as it is: --resume {folder}; or name another folder with --out",
        )


def difference(known: Mapping[str, Any], ours: Mapping[str, Any], keys: Iterable[str]) -> tuple[str, str | None] | None:
    """What a file says otherwise than it should, as (found, expected) of a message; None where it does not.

    Where a level was read from does not matter, nor which fields a search had when it was written down.
    """
    alike = [
        with_whole_search({**v, "levels": [_unplaced(level) for level in v.get("levels", ())]}) for v in (known, ours)
    ]
    different = [k for k in keys if alike[0].get(k) != alike[1].get(k)]
    if not different:
        return None
    key = different[0]
    if isinstance(ours.get(key), (list, dict)):
        return "other " + ", ".join(different), None
    return f"{key} {known.get(key)}", f"{key} {ours.get(key)}"


def _unplaced(level: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in level.items() if k != "source"}


def reopened(folder: Path, study: str) -> schema.Reader:
    """What a folder says it is for, beside its study.

    Raises:
        RunError: it is not the folder of such a reproduction, or its file is damaged.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(
            "this is not the folder of a reproduction",
            place=Place(str(folder)),
            expected=f"a folder with {CONFIG}",
            hint="name the folder that --out named",
        )
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    r = schema.Reader(data, text, str(path), RunError)
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
            expected="as this program wrote it",
            hint=schema.RESTORE,
        ) from e
