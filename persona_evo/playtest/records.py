"""One playthrough as a record, and files of them: JSON lines, one playthrough a line, with a schema version.

What is written here is read by `record_reading`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import fsum
from pathlib import Path
from typing import Any

from persona_evo.errors import GameError
from persona_evo.games.core import Event
from persona_evo.jobs import checksum, files
from persona_evo.search.settings import PROVEN

SCHEMA = 1
"""Version of the lines that `to_json` writes. It changes when a field changes its meaning."""

OUTCOMES = ("running", "won", "lost", "ended")
"""Names of RUNNING, WON, LOST and ENDED of `persona_evo.games.core`, in that order."""

SIDES = ("first", "second")
"""Sides of a two-player game, by who makes the first move."""

ENDS = ("won", "lost", "unfinished", "stuck", "ended")
"""How a game ends when play goes on after the plan: unfinished is alive at the horizon, or where the budget for playing
on was spent; stuck is better off standing still than going on; ended is an end that is neither won nor lost."""

_RESULTS = {"won": "win", "lost": "loss"}

EXHAUSTED, STUCK = "exhausted", "stuck"
"""Why a search ended: what older versions said of a proof, too, and that nothing was left to try."""

NUMBERS = ("utility", "seconds", "best_utility")
"""Fields that are numbers."""


@dataclass(frozen=True)
class End:
    """How the game ended when play went on after the plan (see `persona_evo.agents.continuation`).

    Attributes:
        outcome: one of ENDS.
        utility: of the last state.
        turn: moves from the start of the game to its end.
        cause: what the game was lost to, "" where it was not.
        place: where the avatar was, (x, y), None where the game has no place.
        actions: names of the moves after the plan; none where the plan ends the game.
        positions: where the avatar was after each of these.
        events: what happened in these moves, the steps counted from the start of the game.
    """

    outcome: str
    utility: float
    turn: int
    cause: str = ""
    place: tuple[int, int] | None = None
    actions: list[str] = field(default_factory=list)
    positions: list[tuple[int, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        return {
            "outcome": self.outcome,
            "utility": self.utility,
            "turn": self.turn,
            "cause": self.cause,
            "place": None if self.place is None else list(self.place),
            "actions": list(self.actions),
            "positions": [list(p) for p in self.positions],
            "events": _plain_events(self.events),
        }


@dataclass(frozen=True)
class Playthrough:
    """What one player did in one level in one trial.

    level: the level's name. player: label of the persona with its tree policy, as tables show it.
    outcome: one of OUTCOMES ("running": the plan ended before the game did). cause: what the game was lost to, "" where
    it was not. metrics: value at the end by symbol. utility: of the end, finite. seconds: wall-clock time of search.
    stopped: why the search ended ("proven best", "budget", "time", "nodes", "memory", "win" or "stuck").
    actions: names, one a step. positions: the avatar's (x, y) before the first action and after each, so one more than
    actions; empty where the game has no place. events: what happened on the way, in order. opponent, side: in a game
    for two, whom the player met and which of SIDES it had; "" in single-player games.

    All this is of the route that is shown. best_utility, best_actions: of the best plan that the search found, which
    the route may differ from within the search's tolerance; those of the route if not given. proven: no plan is worth
    more than best_utility. search: the trial of the same level and player from whose search the route was drawn, None
    where the trial searched itself.
    """

    level: str
    player: str
    outcome: str
    metrics: dict[str, float]
    utility: float
    steps: int
    persona: str = ""
    policy: str = ""
    trial: int = 0
    seed: int = 0
    cause: str = ""
    seconds: float = 0.0
    stopped: str = ""
    iterations: int = 0
    nodes: int = 0
    proven: bool = False
    actions: list[str] = field(default_factory=list)
    positions: list[tuple[int, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    opponent: str = ""
    side: str = ""
    best_utility: float = math.nan
    best_actions: list[str] = field(default_factory=list)
    search: int | None = None
    end: End | None = None
    hit_points: list[float] = field(default_factory=list)
    skill: str = ""

    def __post_init__(self) -> None:
        if math.isnan(self.best_utility):
            object.__setattr__(self, "best_utility", self.utility)
            object.__setattr__(self, "best_actions", list(self.actions))

    @property
    def result(self) -> str:
        """Win, loss or draw of a two-player game (a draw also if it does not end); "" in single-player games."""
        return _RESULTS.get(self.outcome, "draw") if self.opponent else ""

    @property
    def against(self) -> dict[str, str]:
        """Further fields of a two-player game, by name; empty for single-player games."""
        return {"opponent": self.opponent, "side": self.side, "result": self.result} if self.opponent else {}

    @property
    def best(self) -> dict[str, Any]:
        """Further fields of the search's best plan, by name; empty for two-player games."""
        names = () if self.opponent else ("best_utility", "best_actions", "search")
        return {name: getattr(self, name) for name in names}

    @property
    def all_actions(self) -> list[str]:
        """The actions of the plan, then those that were played after it."""
        return [*self.actions, *(self.end.actions if self.end is not None else ())]

    @property
    def all_positions(self) -> list[tuple[int, int]]:
        """Where the avatar was: before the first action and after each of `all_actions`."""
        return [*self.positions, *(self.end.positions if self.end is not None else ())]

    @property
    def all_events(self) -> list[Event]:
        """What happened in the plan, then what happened after it."""
        return [*self.events, *(self.end.events if self.end is not None else ())]

    @property
    def final(self) -> str:
        """How the game ended, one of ENDS; that of the plan where play did not go on after it."""
        if self.end is not None:
            return self.end.outcome
        return "unfinished" if self.open else self.outcome

    @property
    def open(self) -> bool:
        """The plan ended before the game did."""
        return self.outcome == "running"

    @property
    def won(self) -> bool:
        """The level was finished."""
        return self.final == "won"

    @property
    def lost(self) -> bool:
        """The avatar died, the opponent won, or the game was lost otherwise."""
        return self.final == "lost"

    @property
    def unfinished(self) -> bool:
        """The player was alive at the horizon, or where the budget ended."""
        return self.final == "unfinished"

    @property
    def stuck(self) -> bool:
        """The player was better off standing still."""
        return self.final == "stuck"

    @property
    def lost_to(self) -> str:
        """What the game was lost to, "" where it was not or that is not known."""
        return self.cause if self.end is None else self.end.cause

    @property
    def death_place(self) -> tuple[int, int] | None:
        """Where the avatar was when the game was lost, (x, y); None where it was not or that is not known."""
        return self.last_place if self.lost else None

    @property
    def last_place(self) -> tuple[int, int] | None:
        """Where the playthrough ends, (x, y); None where that is not known."""
        place = self.positions[-1] if self.positions else None
        return place if self.end is None or self.end.place is None else self.end.place

    @cached_property
    def damage(self) -> float | None:
        """Hit points lost on the way, turn by turn; None where the game has none."""
        return fsum(max(0.0, a - b) for a, b in pairwise(self.hit_points)) if self.hit_points else None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts, with the schema's version first."""
        return {
            "schema": SCHEMA,
            "level": self.level,
            "player": self.player,
            "persona": self.persona,
            "policy": self.policy,
            "trial": self.trial,
            "seed": self.seed,
            **self.against,
            "outcome": self.outcome,
            "cause": self.cause,
            "metrics": dict(self.metrics),
            "utility": self.utility,
            "steps": self.steps,
            "seconds": self.seconds,
            "stopped": self.stopped,
            "iterations": self.iterations,
            "nodes": self.nodes,
            "proven": self.proven,
            **self.best,
            "actions": list(self.actions),
            "positions": [list(p) for p in self.positions],
            "events": _plain_events(self.events),
            **({} if self.end is None else {"end": self.end.to_dict()}),
            **({"hit_points": [int(h) if h == int(h) else h for h in self.hit_points]} if self.hit_points else {}),
            **({"skill": self.skill} if self.skill else {}),
        }

    def to_json(self) -> str:
        """One line without its end.

        Raises:
            GameError: a number is not finite, which no game may report.
        """
        numbers = {**self.metrics, **{name: getattr(self, name) for name in NUMBERS}}
        numbers |= {f"the number of hit points after move {i}": h for i, h in enumerate(self.hit_points)}
        numbers |= {} if self.end is None else {"the utility at the end": self.end.utility}
        for name, value in numbers.items():
            if not math.isfinite(value):
                raise GameError(f"{self.player} in level {self.level!r}: {name} is {value}, expected a finite number")
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def ended(stopped: str, proven: bool) -> str:
    """Why a search ended, in today's words (see `Playthrough.stopped`)."""
    return stopped if stopped != EXHAUSTED else PROVEN if proven else STUCK


def write(path: Path | str, records: Iterable[Playthrough]) -> int:
    """Replace a file of JSON lines at once; the number of lines. Line ends are the same on every system."""
    chosen = list(records)
    files.write_atomically(Path(path), (checksum.sealed(record.to_json()) + "\n" for record in chosen))
    return len(chosen)


def _plain_events(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [{"step": e.step, "kind": e.kind, "x": e.x, "y": e.y} for e in events]
