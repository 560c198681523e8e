"""Accepted findings: a TOML file names them with a reason, and from then on they fail nothing.

    [[accept]]
    kind = "forced_hazard"
    level = "map03"
    places = ["8:5", "8:6"]
    reason = "the corridor teaches that traps hurt"

Without places the finding is accepted wherever it is. With places, all the places of a finding must be among those that
the file accepts for its kind and level, so that one more unreachable treasure is not accepted with the first one. The
level "*" stands for every level.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from persona_evo.errors import Place, SettingsError
from persona_evo.games import textfile
from persona_evo.games.findings import KINDS, Finding, where
from persona_evo.games.toml_table import TomlTable

EVERY = "*"
"""The level that stands for every level."""

_TABLE = "accept"
_KEYS = ("kind", "level", "place", "places", "reason")
_SPOT = re.compile(r"[1-9][0-9]{0,5}:[1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Accepted:
    """One entry of the file.

    Attributes:
        kind: one of KINDS.
        level: a level's name, or EVERY.
        reason: why this is intended.
        places: tiles as row:column; none for all.
        source: where the entry stands.
    """

    kind: str
    level: str
    reason: str
    places: tuple[str, ...] = ()
    source: Place | None = None

    def __str__(self) -> str:
        at = f" at {', '.join(self.places)}" if self.places else ""
        return f"{self.kind} in {'any level' if self.level == EVERY else self.level}{at}"


class Sorted(NamedTuple):
    """Findings held against a file.

    Attributes:
        left: findings that nobody accepted.
        accepted: accepted findings, each with the reason.
        gone: entries for levels that were looked at, of which no finding is left.
    """

    left: list[Finding]
    accepted: list[tuple[Finding, str]]
    gone: list[Accepted]


def read(path: Path) -> list[Accepted]:
    """Read the entries of a file.

    Raises:
        SettingsError: the file cannot be read, or an entry is wrong (with line and column).
    """
    table = TomlTable.read(path, SettingsError, 'put text in quotes: reason = "..."')
    table.allow((_TABLE,))
    return [_accepted(row) for row in table.tables(_TABLE)]


def accept(findings: Iterable[Finding], entries: Sequence[Accepted], levels: Iterable[str]) -> Sorted:
    """Tell accepted findings from the rest.

    Args:
        findings: the findings, whose order is kept.
        entries: the entries of a file.
        levels: names of the levels that were looked at; entries for other levels are not held to be gone.
    """
    left: list[Finding] = []
    accepted: list[tuple[Finding, str]] = []
    used: set[int] = set()
    for finding in findings:
        own = [i for i, entry in enumerate(entries) if _about(entry, finding)]
        free = [i for i in own if not entries[i].places]
        if not free:
            named = {place for i in own for place in entries[i].places}
            free = own if finding.places and {where(p) for p in finding.places} <= named else []
        if free:
            accepted.append((finding, "; ".join(dict.fromkeys(entries[i].reason for i in free))))
        else:
            left.append(finding)
        used |= set(own)
    seen = {EVERY, *levels}
    gone = [e for i, e in enumerate(entries) if i not in used and {*e.level.split(", ")} <= seen]
    return Sorted(left, accepted, gone)


def no_longer(entry: Accepted) -> str:
    """Return a sentence about an entry that no longer matches any finding."""
    return f"no longer found: {entry} (accepted in {entry.source})"


def _about(entry: Accepted, finding: Finding) -> bool:
    """Return whether an entry is about a finding, or about some of its places."""
    fits = entry.kind == finding.kind and entry.level in (EVERY, finding.level)
    return fits and (not entry.places or bool({where(p) for p in finding.places} & set(entry.places)))


def _accepted(row: TomlTable) -> Accepted:
    row.allow(_KEYS)
    return Accepted(
        row.choice("kind", tuple(KINDS), kind="kind of finding"),
        row.text("level"),
        row.text("reason"),
        _places(row),
        row.key(),
    )


def _places(row: TomlTable) -> tuple[str, ...]:
    if "place" in row.values and "places" in row.values:
        raise SettingsError("both place and places", place=row.key("place"), expected="one of them")
    key = "place" if "place" in row.values else "places"
    value = row.values.get(key, [])
    several = value if isinstance(value, list) else [value]
    for i, spot in enumerate(several):
        if not isinstance(spot, str) or not _SPOT.fullmatch(spot):
            at, expected = (key, i) if isinstance(value, list) else (key,), '"row:column", both from 1, such as "7:10"'
            raise row.wrong("no place", *at, found=textfile.shown(spot), expected=expected)
    return tuple(several)
