"""Findings on a level: what is wrong with it, or worth a look, in one sentence with places and evidence.

Findings have two sources: the analysis of a level without playing it (`Game.analyse`), and playthroughs
(`persona_evo.playtest.findings`). `KINDS` is the complete list of kinds for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from persona_evo.arguments import checked_fields
from persona_evo.errors import SettingsError, unknown

Severity = Literal["problem", "notice"]
"""How serious a finding is: with a "problem" the level cannot be played as intended; a "notice" is worth a look."""

Spot = tuple[int, int]
"""A tile as (x, y), both from 0, from the top left. It is shown to people as row:column, both from 1 (see `where`)."""

SCHEMA = 1
"""The version of `findings.json`. It changes when a field changes its meaning."""

KINDS: dict[str, str] = {
    "crashes": "a connected game crashed, hung, ran out of memory or raised an exception",
    "lethal_start": "every continuation from the start dies within a few moves",
    "unreachable_exit": "no way leads to the exit",
    "deadly_way": "the least damage on any way to the exit is at least the hit points",
    "scarce_resource": "something that is needed to finish is too scarce",
    "impossible": "the level cannot be finished, and no simpler cause is known",
    "harder_copy": "a level that is nearly the same as another one, and harder",
    "no_return": "a place that can be entered and never left",
    "unreachable_object": "an object that no way leads to",
    "stolen_object": "an object that others take before the player can",
    "shortcut": "a portal or gap that makes the way at most half as long, or an exit beside the start",
    "forced_hazard": "a trap or monster that nobody can avoid",
    "exposed_start": "monsters reach the start before or right after the first move",
    "useless_object": "an object that nobody has a reason to go to, or that changes nothing",
    "empty_dead_end": "a dead end without anything in it",
    "unreachable_floor": "floor that no way leads to",
    "open_border": "floor at the edge of the board, where there is no wall",
    "policy_fails": "the level is possible, and a persona's policy does not finish it, or misses what it cares for",
    "budget_too_small": "the search ended before a way was found or ruled out",
    "stuck": "standing still is worth more than going on",
    "deaths": "where players die, and of what",
    "untouched_object": "an object that can be reached and that nobody touches",
    "out_of_reach": "a persona can get nothing, or hardly anything, of what it cares for most",
    "no_choice": "all players take the same path",
    "indistinguishable": "no measure of any player differs between two levels",
    "narrow_escape": "wins with hardly any hit points left",
    "no_wins": "the game does not say which end counts as won",
    "beaten": "opponents in a two-player game that a player loses most games to",
    "sides": "in a two-player game a player wins more often from one side than from the other",
    "endless": "games of a two-player game that do not end",
}
"""Kind -> what it means. The list is closed: a finding of another kind is an error."""

RANK = tuple(KINDS)
"""The kinds in the order in which findings of one severity are listed."""


COORDINATES = "places are row:column, both from 1"
"""The note that explains how findings name tiles."""


@checked_fields()
@dataclass(frozen=True)
class Finding:
    """A finding on a level, in one sentence.

    Attributes:
        kind: one of KINDS.
        severity: "problem" or "notice".
        level: the level's name; several names are separated by ", ".
        text: the sentence, which names objects and places (as `where` writes them).
        places: the tiles concerned, (x, y) from 0.
        players: the labels of the players concerned; empty for all players.
        evidence: the numbers, texts and truth values that the finding is based on, by name.
        look: what to look at, or what to change; "" if the sentence says it already.
        trace: the number of a playthrough that shows the finding, from 1 in the order of traces.jsonl; None for none.
    """

    kind: str
    severity: Severity
    level: str
    text: str
    places: tuple[Spot, ...] = ()
    players: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    look: str = ""
    trace: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            expected, hint = unknown(self.kind, KINDS)
            raise SettingsError("no such kind of finding", found=self.kind, expected=expected, hint=hint)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values, as in `findings.json`."""
        optional = {"look": self.look, "trace": self.trace}
        return {
            "kind": self.kind,
            "severity": self.severity,
            "level": self.level,
            "places": [where(p) for p in self.places],
            "players": list(self.players),
            "evidence": dict(self.evidence),
            "text": self.text,
            **{name: value for name, value in optional.items() if value},
        }


def where(spot: Spot) -> str:
    """Return a tile as row:column, both from 1, like the lines and columns of an editor."""
    return f"{spot[1] + 1}:{spot[0] + 1}"


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings: problems first, then by kind in the order of `KINDS`. The sort is stable."""
    return sorted(findings, key=lambda f: (f.severity != "problem", RANK.index(f.kind)))


def to_json(findings: Iterable[Finding], accepted: Iterable[tuple[Finding, str]] = ()) -> dict[str, Any]:
    """Return the content of `findings.json`.

    Args:
        findings: the open findings.
        accepted: the accepted findings, each with its reason (see `acceptance`).
    """
    meant = [{**f.to_dict(), "reason": reason} for f, reason in accepted]
    return {"schema": SCHEMA, "findings": [f.to_dict() for f in findings], **({"accepted": meant} if meant else {})}


def lines(findings: Iterable[Finding], accepted: Iterable[tuple[Finding, str]] = ()) -> list[str]:
    """Return one line for each finding, "problem: map01: ...", then the accepted findings with their reasons."""
    told = [f"{f.severity}: {_where(f)}: {f.text}{f' (trace {f.trace})' if f.trace else ''}" for f in findings]
    return told + [f"accepted: {_where(f)}: {f.text} ({reason})" for f, reason in accepted]


def _where(finding: Finding) -> str:
    return "all levels" if finding.level == "*" else finding.level
