"""Playthroughs as records, and files of them: JSON lines, one playthrough per line, with a schema version.

`record_reading` reads what this module writes.
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
"""Version of the lines that `to_json` writes. It changes when the meaning of a field changes."""

OUTCOMES = ("running", "won", "lost", "ended")
"""Names of RUNNING, WON, LOST and ENDED of `persona_evo.games.core`, in that order."""

SIDES = ("first", "second")
"""Sides of a two-player game, by who moves first."""

ENDS = ("won", "lost", "unfinished", "stuck", "ended")
"""How a game ends if play goes on after the plan.

"unfinished" means alive at the horizon, or when the budget for playing on is spent; "stuck" means better off standing
still than going on; "ended" is an end that is neither won nor lost.
"""

_RESULTS = {"won": "win", "lost": "loss"}

EXHAUSTED, STUCK = "exhausted", "stuck"
"""Reasons why a search ended: how older versions recorded a proof, and that nothing was left to try."""

NUMBERS = ("utility", "seconds", "best_utility")
"""Fields whose values are numbers."""


@dataclass(frozen=True)
class End:
    """How the game ended if play went on after the plan (see `persona_evo.agents.continuation`).

    Attributes:
        outcome: one of ENDS.
        utility: utility of the last state.
        turn: number of moves from the start of the game to its end.
        cause: what the game was lost to, "" if it was not lost.
        place: the avatar's last place, (x, y); None if the game has no places.
        actions: names of the moves after the plan; empty if the plan ends the game.
        positions: the avatar's place after each of these moves.
        events: events of these moves, with steps counted from the start of the game.
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
        """Return plain lists, numbers and texts."""
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

    All attributes describe the route that is shown, unless stated otherwise.

    Attributes:
        level: the level's name.
        player: label of the persona with its tree policy, as tables show it.
        outcome: one of OUTCOMES; "running" means that the plan ended before the game did.
        metrics: value at the end by symbol.
        utility: utility of the end, finite.
        cause: what the game was lost to, "" if it was not lost.
        seconds: wall-clock time of the search.
        stopped: why the search ended ("proven best", "budget", "time", "nodes", "memory", "win", "stuck", or
            "failed" if a connected game failed after the actions).
        proven: whether no plan is worth more than best_utility.
        actions: names, one per step.
        positions: the avatar's (x, y) before the first action and after each, so one more than actions; empty if the
            game has no places.
        events: what happened on the way, in order.
        opponent, side: in a two-player game, whom the player met and which of SIDES it had; "" in single-player games.
        best_utility, best_actions: those of the best plan that the search found, from which the route may differ within
            the search's tolerance; those of the route if not given.
        search: the trial of the same level and player from whose search the route was drawn, None if the trial searched
            itself.
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
        """Additional fields of a two-player game, by name; empty for single-player games."""
        return {"opponent": self.opponent, "side": self.side, "result": self.result} if self.opponent else {}

    @property
    def best(self) -> dict[str, Any]:
        """Additional fields of the search's best plan, by name; empty for two-player games."""
        names = () if self.opponent else ("best_utility", "best_actions", "search")
        return {name: getattr(self, name) for name in names}

    @property
    def all_actions(self) -> list[str]:
        """The actions of the plan, then those played after it."""
        return [*self.actions, *(self.end.actions if self.end is not None else ())]

    @property
    def all_positions(self) -> list[tuple[int, int]]:
        """The avatar's places: before the first action and after each of `all_actions`."""
        return [*self.positions, *(self.end.positions if self.end is not None else ())]

    @property
    def all_events(self) -> list[Event]:
        """The events of the plan, then those after it."""
        return [*self.events, *(self.end.events if self.end is not None else ())]

    @property
    def final(self) -> str:
        """How the game ended, one of ENDS; how the plan ended if play did not go on after it."""
        if self.end is not None:
            return self.end.outcome
        return "unfinished" if self.open else self.outcome

    @property
    def open(self) -> bool:
        """Whether the plan ended before the game did."""
        return self.outcome == "running"

    @property
    def won(self) -> bool:
        """Whether the level was finished."""
        return self.final == "won"

    @property
    def lost(self) -> bool:
        """Whether the avatar died, the opponent won, or the game was lost otherwise."""
        return self.final == "lost"

    @property
    def unfinished(self) -> bool:
        """Whether the player was alive at the horizon, or when the budget was spent."""
        return self.final == "unfinished"

    @property
    def stuck(self) -> bool:
        """Whether the player was better off standing still."""
        return self.final == "stuck"

    @property
    def lost_to(self) -> str:
        """What the game was lost to; "" if it was not lost or the cause is unknown."""
        return self.cause if self.end is None else self.end.cause

    @property
    def death_place(self) -> tuple[int, int] | None:
        """The avatar's place when the game was lost, (x, y); None if it was not lost or the place is unknown."""
        return self.last_place if self.lost else None

    @property
    def last_place(self) -> tuple[int, int] | None:
        """The last place of the playthrough, (x, y); None if it is unknown."""
        place = self.positions[-1] if self.positions else None
        return place if self.end is None or self.end.place is None else self.end.place

    @cached_property
    def damage(self) -> float | None:
        """Hit points lost on the way, summed over the turns; None if the game has none."""
        return fsum(max(0.0, a - b) for a, b in pairwise(self.hit_points)) if self.hit_points else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and texts, with the schema's version first."""
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
        """Return one line without its line end.

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
    """Return why a search ended, in current terms (see `Playthrough.stopped`)."""
    return stopped if stopped != EXHAUSTED else PROVEN if proven else STUCK


def write(path: Path | str, records: Iterable[Playthrough]) -> int:
    """Replace a file of JSON lines atomically, with the same line ends on every system; return the number of lines."""
    chosen = list(records)
    files.write_atomically(Path(path), (checksum.sealed(record.to_json()) + "\n" for record in chosen))
    return len(chosen)


def _plain_events(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [{"step": e.step, "kind": e.kind, "x": e.x, "y": e.y} for e in events]
