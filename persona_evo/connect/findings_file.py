"""Failures of a connected game in files: findings.jsonl of a run, and the regression cases of `connect shrink`.

A playtest shows them as findings of the kind `crashes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from persona_evo.connect.findings import CHANCE, FailingRollout, group_similar, shown
from persona_evo.connect.level_names import LevelName
from persona_evo.errors import Place, SettingsError
from persona_evo.games.findings import Finding
from persona_evo.jobs import files, journal
from persona_evo.jobs.windows import program
from persona_evo.words import counted

FINDINGS = "findings.jsonl"
"""The name of the file with the findings in the folder of logs, one JSON object per line."""

EDIT = "correct this line or delete it: each line is a finding of its own"
"""What to do about a damaged line."""


def read_findings(path: Path, torn: bool = False) -> list[FailingRollout]:
    """Read a file of findings, without a last line that a killed process left unfinished.

    Args:
        path: the file.
        torn: whether to read a last line without a line ending like the others.

    Raises:
        RunError: a line is damaged.
    """
    return [FailingRollout.from_dict(row, place) for row, place in journal.rows(path, "finding", EDIT, torn=torn)]


def read_cases(path: Path, number: int | None = None) -> list[FailingRollout]:
    """Read a file of findings or cases that a user names, or only line `number` of it, counted from 1.

    Raises:
        RunError: a line is damaged.
        SettingsError: there is no such file or line, or the file has no lines.
    """
    if not path.is_file():
        raise SettingsError("there is no file of findings", found=str(path), expected="findings.jsonl of a search")
    found = read_findings(path, torn=True)
    if number is None:
        if not found:
            raise SettingsError("there are no findings in this file", place=Place(str(path)), expected="one a line")
        return found
    if not 1 <= number <= len(found):
        raise SettingsError(
            "there is no such finding", found=f"{path}:{number}", expected=f"a line from 1 to {len(found)}"
        )
    return [found[number - 1]]


def check_target(path: Path) -> None:
    """Check that `add_case` can add to a file.

    Raises:
        RunError: a line of the file is damaged.
        SettingsError: it is not a file, or its folder is missing.
    """
    if path.is_dir():
        raise SettingsError("cases cannot be added to a folder", found=str(path), hint=f"name {path / 'cases.jsonl'}")
    if not path.parent.is_dir():
        raise SettingsError(
            "there is no folder for the file of cases", found=str(path.parent), hint="make the folder first"
        )
    if path.exists():
        read_findings(path, torn=True)


def write_findings(path: Path, failures: Iterable[FailingRollout]) -> None:
    """Append findings to a file; make it and its folder if they are missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(f.to_dict(), ensure_ascii=False) + "\n" for f in failures)


def add_case(path: Path, case: FailingRollout) -> None:
    """Append a case to a file, unless the file contains it already."""
    if path.exists() and case in read_findings(path, torn=True):
        return
    ends = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
    files.append_lines(path, [("" if ends else "\n") + json.dumps(case.to_dict(), ensure_ascii=False)])


def case_of(text: str) -> tuple[Path, int | None]:
    """Split FILE or FILE:N into the file and the number of the line."""
    file, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and len(number) < 10 and not Path(text).exists():
        return Path(file), int(number)
    return Path(text), None


def level_of(failure: FailingRollout) -> LevelName:
    """Return the level that was searched."""
    seed = failure.game_seed if failure.level_seed is None else failure.level_seed
    return LevelName(failure.map, failure.variant, seed)


def as_findings(files: Iterable[tuple[Path, Sequence[FailingRollout]]], description: Path) -> list[Finding]:
    """Return a finding for each kind of failure of each level that was searched.

    Another end of the same choices is no failure here. A failure that did not happen again is a notice.

    Args:
        files: the files of findings, with what they hold, one a line.
        description: the game's description, for the commands that play a failure again.
    """
    levels: dict[LevelName, list[FailingRollout]] = {}
    lines: dict[FailingRollout, str] = {}
    for file, failures in files:
        for number, failure in enumerate(failures, 1):
            lines.setdefault(failure, f"{_near(file)}:{number}")
            if failure.kind != CHANCE:
                levels.setdefault(level_of(failure), []).append(failure)
    return [
        Finding(
            "crashes",
            "problem" if first.again else "notice",
            str(level),
            f"The game failed in {counted(n, 'rollout')} by {_article(first.how)}: {shown(first.message)}",
            evidence={"rollouts": n, "first": first.to_dict()},
            look=_look(n, _near(description), lines[first]),
        )
        for level, failed in levels.items()
        for first, n in group_similar(failed)
    ]


def _look(n: int, description: str, line: str) -> str:
    again, shorter = (program("connect", word, description, line) for word in ("replay", "shrink"))
    return f"{again} plays {'it' if n == 1 else 'the first'} again, and {shorter} finds the choices that matter."


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _near(path: Path) -> str:
    """Return a path relative to the current folder if it is below that folder."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
