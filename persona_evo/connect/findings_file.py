"""Failures of a connected game in files: findings.jsonl of a run, and the regression cases of `connect shrink`.

A playtest shows them as findings of the kind `crashes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from persona_evo.connect.description import LevelName
from persona_evo.connect.findings import CHANCE, FailingRollout, group_similar
from persona_evo.errors import SettingsError
from persona_evo.games.findings import Finding
from persona_evo.jobs import files, journal


def read_cases(path: Path, number: int | None = None) -> list[FailingRollout]:
    """Read a file of findings or cases, or only line `number` of it, counted from 1.

    Raises:
        RunError: a line is damaged.
        SettingsError: there is no such file or line.
    """
    if not path.is_file():
        raise SettingsError("there is no file of findings", found=str(path), expected="findings.jsonl of a search")
    found = [FailingRollout.from_dict(row, place) for row, place in journal.rows(path, "finding")]
    if number is None:
        return found
    if not 1 <= number <= len(found):
        raise SettingsError(
            "there is no such finding", found=f"{path}:{number}", expected=f"a line from 1 to {len(found)}"
        )
    return [found[number - 1]]


def add_case(path: Path, case: FailingRollout) -> None:
    """Append a case to a file, unless the file contains it already."""
    if not path.exists() or case not in read_cases(path):
        files.append_lines(path, [json.dumps(case.to_dict(), ensure_ascii=False)])


def case_of(text: str) -> tuple[Path, int | None]:
    """Split FILE or FILE:N into the file and the number of the line."""
    file, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and len(number) < 10 and not Path(text).exists():
        return Path(file), int(number)
    return Path(text), None


def level_of(failure: FailingRollout) -> LevelName:
    """Return the level that was played."""
    return LevelName(failure.map, failure.variant, failure.game_seed)


def as_findings(failures: Iterable[FailingRollout]) -> list[Finding]:
    """Return a finding for each kind of failure of each level; another end of the same choices is no failure here.

    A failure that did not happen again is a notice.
    """
    levels: dict[LevelName, list[FailingRollout]] = {}
    for failure in failures:
        if failure.kind != CHANCE:
            levels.setdefault(level_of(failure), []).append(failure)
    return [
        Finding(
            "crashes",
            "problem" if first.again else "notice",
            str(level),
            f"the game failed{'' if n == 1 else f' {n:,} times, first by'}: {first}",
            evidence={"rollouts": n, "first": first.to_dict()},
            look="connect replay plays it again, and connect shrink finds the choices that matter",
        )
        for level, failed in levels.items()
        for first, n in group_similar(failed)
    ]
