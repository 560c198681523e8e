"""A playtest on disk, from its first playthrough on.

| file | content | written |
|---|---|---|
| playtest.json | everything that the result depends on | once, before anything else |
| traces.jsonl | a line for each playthrough, in the order of levels, players and trials | appended |
| bounds.json, appraisals.json | limits and analysis of the levels, so that they are computed once | later |
| lock | the process that is working here | while it is |

`persona_evo.jobs` says what is guaranteed if the process is killed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.agents.skill import SKILLS
from persona_evo.errors import RunError
from persona_evo.evolve.reopening import budget_at, formula_at
from persona_evo.games import trust
from persona_evo.games.core import Game
from persona_evo.games.level_text import check_levels
from persona_evo.jobs import json_text
from persona_evo.jobs.folder import JobKind
from persona_evo.jobs.journal import Journal, LineFormat
from persona_evo.limits import MOST_TRIALS
from persona_evo.playtest.players import Player
from persona_evo.playtest.playing import Spec
from persona_evo.playtest.record_reading import from_dict
from persona_evo.playtest.records import Playthrough
from persona_evo.search.configuration import comparable
from persona_evo.search.settings import SearchSettings

SCHEMA = 1
"""Version of playtest.json."""

CONFIG, TRACES = "playtest.json", "traces.jsonl"

Key = tuple[str, str, int, int]
"""Level, player, trial and seed of a playthrough."""

KIND = JobKind("playtest", CONFIG, TRACES, SCHEMA, comparable=comparable)


def configuration(spec: Spec, game: Game, players: Sequence[Player], trials: int, seed: int) -> dict[str, object]:
    """Return all that a batch's result depends on, as plain values; `reopen` reads it back."""
    return {
        "game": spec.game,
        **trust.code_of(spec.game),
        "game_version": game.version,
        "seed": seed,
        "trials": trials,
        "budget": spec.budget.to_dict(),
        "search": spec.settings.to_dict(),
        **({"continuation": spec.continuation} if spec.continuation else {}),
        "levels": [level.to_dict() for level in spec.levels],
        "players": [
            {**role.to_dict(), "priority": p.persona.priority, "title": p.persona.title, "baseline": p.baseline}
            for role, p in zip(spec.roles, players, strict=True)
        ],
        **({} if spec.league is None else {"league": spec.league.to_dict()}),
    }


def key(record: Playthrough) -> Key:
    """Return the key that identifies a playthrough within its playtest."""
    return record.level, record.player, record.trial, record.seed


def _label(key: Key) -> str:
    level, player, trial, seed = key
    return f"{level}, {player}, trial {trial}, seed {seed}"


LINES = LineFormat("playthrough", Playthrough.to_json, from_dict, key, _label)


def playthroughs(folder: Path) -> Journal[Playthrough]:
    """Return the journal of the playthroughs in a playtest's folder."""
    return Journal(folder / TRACES, LINES)


@dataclass(frozen=True)
class Reopened:
    """The configuration of a playtest, as its file has it."""

    game: str
    game_version: int
    seed: int
    trials: int
    budget: Mapping[str, Any]
    search: Mapping[str, Any]
    levels: Sequence[Mapping[str, Any]]
    players: Sequence[Mapping[str, Any]]
    continuation: float = 0.0


def reopen(folder: Path) -> Reopened:
    """Read the configuration of a playtest.

    Raises:
        RunError: no playtest's folder, or a damaged file (with line and column).
    """
    r = KIND.reader(folder)
    data = r.data
    check_levels(r)
    r.made("budget", lambda _: budget_at(r))
    r.made("search", SearchSettings.from_dict)
    players = r.items("players")
    if not players:
        raise r.fail("is empty", "players", expected="at least one player", hint=json_text.RESTORE)
    for player in players:
        for key in ("label", "persona", "policy"):
            player.text_of(key)
        for key in ("priority", "title", "baseline"):
            player.text_of(key, "")
        formula_at(player, "utility")
        for one in player.items("lists") if "lists" in player.data else ():
            formula_at(one, "score")
        if player.data.get("formula", "") is not None:
            formula_at(player, "formula")
        if player.text_of("skill", "") not in ("", *SKILLS):
            raise player.fail(
                "is not a level of skill", "skill", found=player.data["skill"], expected=", ".join(SKILLS)
            )
        if not 0 <= player.number("c") < math.inf:
            raise player.fail("is out of range", "c", found=player.data["c"], expected="a number of at least 0")
    if not 1 <= r.whole("trials") <= MOST_TRIALS:
        raise r.fail("is out of range", "trials", found=r.whole("trials"), expected=f"1 to {MOST_TRIALS}")
    continuation = r.number("continuation") if "continuation" in data else 0.0
    if not 0 <= continuation <= 1:
        raise r.fail("is out of range", "continuation", found=data["continuation"], expected="a share from 0 to 1")
    return Reopened(
        r.text_of("game"),
        r.whole("game_version"),
        r.whole("seed"),
        r.whole("trials"),
        r.object("budget").data,
        r.object("search").data,
        data["levels"],
        data["players"],
        continuation,
    )


def check_routes(journal: Journal[Playthrough], records: Sequence[Playthrough]) -> None:
    """Check that each route agrees with the search that it was drawn from.

    Args:
        journal: the file that the playthroughs were read from, for messages.
        records: the playthroughs of a playtest, in order.

    Raises:
        RunError: that search proved nothing, or found another utility.
    """
    proofs: dict[tuple[str, str, int], float] = {}
    for number, record in enumerate(records, 1):
        if record.search is None:
            if record.proven:
                proofs[record.level, record.player, record.trial] = record.best_utility
            continue
        proven = proofs.get((record.level, record.player, record.search))
        if proven is None or abs(record.best_utility - proven) > 1e-9:
            raise RunError(
                "a route does not agree with the search it was drawn from",
                place=journal.place(number),
                found=f"best_utility {record.best_utility:.6g} of search {record.search}",
                expected="an earlier trial with a proof" if proven is None else f"{proven:.6g}, as proven there",
                hint=json_text.RESTORE,
            )
