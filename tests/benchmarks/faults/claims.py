"""Checks whether a finding about a level is true, as far as this can be tested from outside.

A notice is false if it is untrue, or names neither a place nor an object. A statement that nobody can check (such as
that an object is not worth a detour) counts as true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from persona_evo.games.analysis import beside

from .boards import Board, Spot
from .cases import Case
from .dungeons import dead_ends, fetches, health, untouched_way, world_of
from .exploring import layers

Finding = Mapping[str, Any]
OBJECTS = re.compile(
    r"\b(treasures?|potions?|traps?|portals?|exit|goblins?|wizards?|ogres?|blobs?|minitaurs?|monsters?|hero|start|"
    r"gold|keys?|doors?|spikes?|guards?|gems?|food|mud|hut|items?|enem(?:y|ies)|day|walls?|pieces?|hit points|HP|STR|"
    r"GOLD|GEMS|KEYS|corridor|dead end|floor|tiles?|way)\b",
    re.IGNORECASE,
)
SPOT = re.compile(r"\b(\d+):(\d+)\b")
EXPOSED = 2
"""Number of moves within which an exposed start has to cost a hit point in some play."""


def spots(finding: Finding) -> set[Spot]:
    """Return the tiles that a finding names, (x, y) from 0: its places, and those in its sentence."""
    named = [*map(str, finding.get("places", ())), str(finding.get("text", ""))]
    return {(int(column) - 1, int(row) - 1) for text in named for row, column in SPOT.findall(text)}


def names_something(finding: Finding) -> bool:
    """Return whether a finding names a place or an object."""
    return bool(spots(finding) or finding.get("players")) or OBJECTS.search(str(finding.get("text", ""))) is not None


def untrue(finding: Finding, case: Case) -> str:
    """Return why a notice on a level is false; "" if nothing contradicts it."""
    if not names_something(finding):
        return "it names no place and no object"
    check = CHECKS.get(str(finding["kind"]))
    if check is None or case.game != "minidungeons2":
        return ""
    names = str(finding.get("level", "")).split(", ")
    texts = [t for n, t in zip(case.level_names, case.texts, strict=True) if n in names] or [case.texts[-1]]
    if len(texts) > 1:
        return ""
    board = Board.of(texts[0])
    places = [s for s in sorted(places_of(finding)) if s in board.cells]
    return check(board, places)


def places_of(finding: Finding) -> set[Spot]:
    """Return the tiles in a finding's list of places."""
    return spots({"places": finding.get("places", ())})


def _unreachable(board: Board, places: list[Spot]) -> str:
    ways = board.ways()
    there = [s for s in places if s in ways]
    return f"{_named(there)} can be walked to" if places and len(there) == len(places) else ""


def _dead_end(board: Board, places: list[Spot]) -> str:
    ends = {s for lane in dead_ends(board) for s in lane}
    wide = {s for s in board.floor if sum(n in board.floor for n in beside(s)) <= 2}
    if places and not any(s in ends or s in wide for s in places):
        return f"{_named(places)} is no dead end"
    holds = [s for lane in dead_ends(board) if set(lane) & set(places) for s in lane if board.cells[s] in "TPe"]
    return f"{_named(holds)} is in it" if holds else ""


def _shortcut(board: Board, places: list[Spot]) -> str:
    closed = board.changed({s: "X" if board.cells[s] == " " else " " for s in places if board.cells[s] in " p"})
    if closed.cells == board.cells:
        return ""
    if len(closed.find("p")) == 1:
        closed = closed.changed({closed.find("p")[0]: " "})
    before, way = closed.ways().get(board.exit), board.ways().get(board.exit)
    return f"{way} moves with it and {before} without" if before and way and 2 * way > before else ""


def _forced(board: Board, places: list[Spot]) -> str:
    """Check that traps are on every way, and that a monster stands on every way or nobody gets past it unhurt."""
    traps = [s for s in places if board.cells[s] == "t"]
    around = traps and board.exit in board.ways(closed=traps)
    past = len(traps) < len(places) and not any(board.exit not in board.ways(closed=[s]) for s in places)
    if (around or past) and _unharmed(board.text):
        return "a playthrough reaches the exit without losing a hit point"
    return ""


@cache
def _unharmed(text: str) -> bool:
    return untouched_way(Board.of(text))


@cache
def _taken(text: str, spot: Spot) -> bool:
    board = Board.of(text)
    world = world_of(board)
    return world is not None and fetches(world, board, spot)


def _stolen(board: Board, places: list[Spot]) -> str:
    loot = [s for s in places if board.cells[s] in "TP"]
    taken = [s for s in loot if _taken(board.text, s)]
    return f"a playthrough takes {_named(taken)} first" if loot and len(taken) == len(loot) else ""


def _exposed(board: Board, places: list[Spot]) -> str:
    world = world_of(board)
    if world is None:
        return ""
    full = health(world, world.start())
    for depth, states in enumerate(layers(world)):
        if any(health(world, s) < full for s in states):
            return ""
        if depth == EXPOSED:
            break
    return f"no play loses a hit point in {EXPOSED} moves"


def _named(places: list[Spot]) -> str:
    return ", ".join(f"{y + 1}:{x + 1}" for x, y in places)


CHECKS: dict[str, Callable[[Board, list[Spot]], str]] = {
    "unreachable_object": _unreachable,
    "unreachable_floor": _unreachable,
    "empty_dead_end": _dead_end,
    "shortcut": _shortcut,
    "forced_hazard": _forced,
    "stolen_object": _stolen,
    "exposed_start": _exposed,
}
"""Kind -> (board, places named) -> why it is not true, "" if it may be."""
