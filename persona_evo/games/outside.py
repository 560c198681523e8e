"""Games that run outside this process: what stands in for their rules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from persona_evo.games.findings import Finding

FILMED = ("best", "median", "worst")
"""The playthroughs of a player that a game may draw pictures of."""

MOST_SHOTS = 12
"""Maximum number of pictures of a playthrough that are kept."""

Arrived: TypeAlias = "Callable[[int, int], None]"
"""Called with a number when a picture arrives: that of its moment, from 1, and the number of moments in all."""


def moments(decisions: int) -> list[int]:
    """Return the numbers of decisions before which pictures are kept: the start, the end, and some in between."""
    number = min(MOST_SHOTS, decisions + 1)
    return sorted({round(at * decisions / max(1, number - 1)) for at in range(number)})


class Shot(NamedTuple):
    """A picture of a playthrough.

    Attributes:
        depth: the number of decisions before it.
        png: the picture as a PNG file, which has not been decoded yet.
        metrics: the metrics at that moment, by symbol.
    """

    depth: int
    png: bytes
    metrics: dict[str, float]


class Film(NamedTuple):
    """The pictures of a playthrough.

    Attributes:
        shots: those that were asked for and came, in order.
        sent: the number of pictures that the game sent.
        score: the game's score at the end.
        metrics: the metrics at its end, by symbol.
    """

    shots: tuple[Shot, ...]
    sent: int
    score: float
    metrics: dict[str, float]


@dataclass(frozen=True)
class Outside:
    """Replaces the rules of a game that runs outside this process and keeps its own state.

    Attributes:
        levels: (names) -> the texts of the levels that names stand for. `load` reads these texts, not files.
        close: () ends the game's processes; they start again when needed.
        findings: () -> what made the game fail since the last call, one text for each failure.
        keep_in: (folder) begins a new record of failures and sets where its evidence is kept; None for no folder. It
            continues the record if the folder is the same as before.
        failures: (folder) -> findings on all failures of the game: those kept in a folder, or, without one, those since
            the last call of `keep_in`.
        regressions: () -> findings on the known failures that still happen when they are played again, and what there
            is to tell about the others.
        watch: (delay) -> a context in which searches show the best playthrough so far in a game of its own, with
            `delay` seconds before each decision. It ends when the last of these has been shown.
        hand_over: () -> all failures of the game, which are forgotten here; another process keeps them by `take_over`.
        take_over: (failures) keeps those that another process has handed over.
        film: (text of a level, actions, depths, arrived) -> pictures that the game draws of a playthrough after these
            numbers of actions; `arrived` is called with each picture, also with those that are not kept.
        filmed: which playthroughs of a player are worth pictures: some of FILMED, none if the game draws no pictures.
        sets: set name -> names of levels.
        personas: the game's own persona files.
        wins: whether it is defined which ends of the game count as won.
        ordering: how searches order the game's rollouts; policy files keep it, so that others can repeat the search.
    """

    levels: Callable[[Sequence[str]], list[str]]
    close: Callable[[], None]
    findings: Callable[[], list[str]]
    keep_in: Callable[[Path | None], None]
    failures: Callable[[Path | None], list[Finding]]
    watch: Callable[[float], contextlib.AbstractContextManager[None]]
    regressions: Callable[[], tuple[list[Finding], list[str]]]
    hand_over: Callable[[], Sequence[object]]
    take_over: Callable[[Sequence[object]], None]
    film: Callable[[str, Sequence[str], Sequence[int], Arrived], Film]
    filmed: tuple[str, ...] = ()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    personas: tuple[str, ...] = ()
    wins: bool = True
    ordering: Mapping[str, object] = field(default_factory=dict)


class _MayBeOutside(Protocol):
    """A game, as far as this module knows it."""

    @property
    def outside(self) -> Outside | None:
        """What stands in for its rules; None for a game in this process."""


@contextlib.contextmanager
def closing_outside(game: _MayBeOutside) -> Iterator[None]:
    """End the processes of a connected game when this context ends, normally or by an exception."""
    try:
        yield
    finally:
        if game.outside is not None:
            game.outside.close()


def failures_of(game: _MayBeOutside, folder: Path | None) -> list[Finding]:
    """Return findings on all failures of a game (see `Outside.failures`); none if it runs in this process."""
    return [] if game.outside is None else game.outside.failures(folder)


def hidden_facts(game: _MayBeOutside, given: Mapping[str, int | None]) -> dict[str, str]:
    """Return a fact about searches of a game whose seed decides what players cannot know; none if there are none.

    Args:
        given: the `seeds` of each player's search settings, by label.
    """
    own = 0 if game.outside is None else game.outside.ordering.get("seeds", 0)
    found = {label: own if seeds is None else seeds for label, seeds in given.items()}
    if not any(found.values()):
        return {}
    same = len({*found.values()}) == 1
    numbers = str(next(iter(found.values()))) if same else ", ".join(f"{n} ({label})" for label, n in found.items())
    return {"hidden": f"each move was searched with {numbers} seeds other than the level's, on average over them"}
