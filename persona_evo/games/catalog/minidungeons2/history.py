"""Reconstructs what happened in a turn from the rules themselves.

A turn is replayed with the action that leads from the state before it to the state after it. The rules then run as
plain Python with a hook on each blow and each taking, which records who did what to whom. No rule is therefore repeated
here, and a cause of death is exact. Turns in which everybody only walks are not replayed.

| kind of event | where | what |
|---|---|---|
| treasure, potion, trap | its tile | the hero opened, drank or sprang it |
| portal, exit | its tile | the hero walked into it |
| treasure:ogre, potion:blob, trap:KIND | its tile | a monster took or sprang it |
| monster:KIND | the monster's tile | hero and monster came to blows: walked into, hit by the javelin, or cast at him |
| slain:KIND | the monster's tile | it died, whoever did it |
| knockout | the minitaur's tile | it was knocked out |
| javelin | the target's tile | thrown |
| pickup | the hero's tile | the javelin is in hand again |
| death:CAUSE | the hero's tile | a monster's kind, or trap |

Where two actions lead to the same state (two ways of losing a turn) the first is taken; what happened is the same.
"""

from __future__ import annotations

import functools
import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from persona_evo.compiling import Callback
from persona_evo.errors import GameError
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.core import Event, Level, State
from persona_evo.games.rows import Row

if TYPE_CHECKING:
    from persona_evo.games.catalog.minidungeons2.levels import DungeonLevel

KINDS = {tb.GOBLIN: "goblin", tb.WIZARD: "wizard", tb.OGRE: "ogre", tb.BLOB: "blob", tb.MINITAUR: "minitaur"}
"""The names of monsters in events."""

THINGS = {
    "T": "treasure",
    "P": "potion",
    "t": "trap",
    "p": "portal",
    "e": "exit",
    **{c: f"monster:{KINDS[kind]}" for c, kind in tb.MONSTER_KINDS.items()},
}
"""Characters of a level file -> the kind of event by which somebody meets the object."""

UNKNOWN = "unknown"
"""The cause of a death that did not happen in the turn in question."""

_REMEMBERED = 4096
_HEARD = (
    "move_hero",
    "throw",
    "act",
    "hurt_hero",
    "hurt_monster",
    "take",
    "hero_meets_thing",
    "monster_meets_thing",
    "monster_meets_monster",
)
_STAYS_COMPILED = "entry"


def things(grid: DungeonLevel) -> tuple[tuple[str, int, int], ...]:
    """Return the objects of a level as (kind of event, x, y), row by row."""
    return tuple((THINGS[char], x, y) for char, x, y in grid.objects)


def events(level: Level, before: State, after: State, step: int) -> list[Event]:
    """Return what happened between two states that are one turn apart, in order.

    Args:
        level: the level.
        before, after: the two states.
        step: the number of the turn, which the events carry.

    Raises:
        GameError: no action leads from one state to the other.
    """
    if _only_walking(level, before, after):
        return []
    return [Event(step, kind, x, y) for kind, x, y in _turn(level, before.tobytes(), after.tobytes())]


def cause_of_death(level: Level, before: State, after: State) -> str:
    """Return what took the hero's last hit point in the turn between two states: a monster's kind or "trap"."""
    for event in events(level, before, after, 0):
        if event.kind.startswith("death:"):
            return event.kind.removeprefix("death:")
    return UNKNOWN


def _only_walking(level: Level, before: State, after: State) -> bool:
    """Return whether only places, the count of steps, and minitaurs that wake up differ."""
    places = tb.THINGS_AT + int(level.tables[tb.WORDS])
    health = places + int(level.tables[tb.MONSTERS])
    if not np.array_equal(before[tb.HP_AT : tb.STEPS_AT], after[tb.HP_AT : tb.STEPS_AT]):
        return False
    if not np.array_equal(before[tb.FLAGS_AT : places], after[tb.FLAGS_AT : places]):
        return False
    changed = np.flatnonzero(before[health:] != after[health:])
    first_kind = tb.HEADER + 10 * int(level.tables[tb.TILES])
    return all(int(level.tables[first_kind + int(i)]) == tb.MINITAUR for i in changed)


@functools.lru_cache(maxsize=_REMEMBERED)
def _turn(level: Level, before: bytes, after: bytes) -> tuple[tuple[str, int, int], ...]:
    """Return the events of a turn as (kind, x, y). Results are cached, since trials of a level repeat many turns."""
    start = np.frombuffer(before, dtype=level.start.dtype)
    end = np.frombuffer(after, dtype=level.start.dtype)
    return _Witness(level, start).hear(_action(level, start, end))


def _action(level: Level, before: State, after: State) -> int:
    from persona_evo.games.catalog.minidungeons2.rules import LOST_TURN, RULES

    legal = np.zeros(max(1, level.max_actions), dtype=np.int64)
    count = RULES.legal(level.tables, before.copy(), legal)
    rng = np.ones(2, dtype=np.int64)
    for action in dict.fromkeys([*(int(a) for a in legal[:count]), 0, 1, 2, 3, LOST_TURN]):
        state = before.copy()
        RULES.step(level.tables, state, action, rng)
        if np.array_equal(state, after):
            return action
    raise GameError(
        f"level {level.name!r}: no action leads from one state to the other, so they are not one turn apart"
    )


class _Witness:
    """Runs the rules in plain Python for one turn, with each function of `_HEARD` replaced by one that takes notes.

    Attributes:
        actor: the number of the monster whose turn it is; -1 for the hero.
        opponent: what the hero's own move last brought him up against.
        death: the cause of his death; "" while he lives.
    """

    def __init__(self, level: Level, before: State) -> None:
        self.level, self.state = level, before.copy()
        self.actor, self.opponent, self.death = -1, "", ""
        self.on_thing, self.thing_at = False, 0
        self.found: list[tuple[str, int, int]] = []
        names = _plain_rules()
        self.rules = dict(names)
        for name in _HEARD:
            names[name] = getattr(self, name)

    def hear(self, action: int) -> tuple[tuple[str, int, int], ...]:
        """Play the turn and return what was noted."""
        with np.errstate(all="ignore"):
            self.rules["step"](self.level.tables, self.state, action, np.ones(2, dtype=np.int64))
        if self.death:
            self.note(f"death:{self.death}", int(self.state[tb.HERO_AT]))
        return tuple(self.found)

    def note(self, kind: str, tile: int) -> None:
        t = self.level.tables
        event = kind, int(t[tb.HEADER + tile]), int(t[tb.HEADER + int(t[tb.TILES]) + tile])
        if event not in self.found or not kind.startswith("monster:"):
            self.found.append(event)

    def monster(self, number: int) -> tuple[str, int]:
        """Return a monster's (kind, tile)."""
        t = self.level.tables
        kind = KINDS[int(t[tb.HEADER + 10 * int(t[tb.TILES]) + number])]
        return kind, int(self.state[tb.THINGS_AT + int(t[tb.WORDS]) + number])

    def move_hero(self, t: Row, s: Row, direction: int) -> None:
        held = int(s[tb.JAVELIN_AT])
        self.rules["move_hero"](t, s, direction)
        if int(s[tb.JAVELIN_AT]) != held:
            self.note("pickup", int(s[tb.HERO_AT]))

    def throw(self, t: Row, s: Row, tile: int) -> None:
        at = len(self.found)
        thrown = int(s[tb.THROWN_AT])
        self.rules["throw"](t, s, tile)
        if int(s[tb.THROWN_AT]) != thrown:
            self.note("javelin", tile)
            self.found.insert(at, self.found.pop())

    def act(self, t: Row, s: Row, kind: int, i: int, p: int, here: int) -> None:
        self.actor = i
        self.rules["act"](t, s, kind, i, p, here)
        self.actor = -1

    def hurt_hero(self, s: Row, damage: int) -> None:
        alive = not int(s[tb.FLAGS_AT]) & 2
        cause = self.opponent
        if self.actor >= 0:
            cause, tile = self.monster(self.actor)
            self.note(f"monster:{cause}", tile)
        self.rules["hurt_hero"](s, damage)
        if alive and int(s[tb.FLAGS_AT]) & 2:
            self.death = cause

    def hurt_monster(self, t: Row, s: Row, m: int, hp: int, damage: int) -> None:
        slain, knocked = int(s[tb.SLAIN_AT]), int(s[tb.KNOCKED_AT])
        kind, tile = self.monster(m)
        if self.actor < 0:
            self.opponent = kind
            self.note(f"monster:{kind}", tile)
        self.rules["hurt_monster"](t, s, m, hp, damage)
        if self.on_thing:
            self.note(f"trap:{kind}", self.thing_at)
        if int(s[tb.SLAIN_AT]) != slain:
            self.note(f"slain:{kind}", tile)
        if int(s[tb.KNOCKED_AT]) != knocked:
            self.note("knockout", tile)

    def take(self, s: Row, k: int) -> None:
        t = self.level.tables
        targets = int(t[tb.BOARD_AT]) + (int(t[tb.BOARD_AT + 1]) << 16) + int(t[tb.WIDTH]) * int(t[tb.HEIGHT])
        what = "potion" if k < int(t[tb.POTIONS]) else "treasure"
        taker = f":{self.monster(self.actor)[0]}" if self.actor >= 0 else ""
        self.rules["take"](s, k)
        self.note(what + taker, int(t[targets + k]))

    def hero_meets_thing(self, t: Row, s: Row, tile: int) -> int:
        won, sprung = int(s[tb.FLAGS_AT]) & 1, int(s[tb.TRAPS_AT])
        self.opponent = "trap"
        ported = int(self.rules["hero_meets_thing"](t, s, tile))
        if ported:
            self.note("portal", tile)
        if int(s[tb.TRAPS_AT]) != sprung:
            self.note("trap", tile)
        if int(s[tb.FLAGS_AT]) & 1 and not won:
            self.note("exit", tile)
        return ported

    def monster_meets_thing(self, t: Row, s: Row, kind: int, i: int, me: int, tile: int) -> None:
        self.on_thing, self.thing_at = True, tile
        self.rules["monster_meets_thing"](t, s, kind, i, me, tile)
        self.on_thing = False

    def monster_meets_monster(self, t: Row, s: Row, kind: int, me: int, i: int, hp: int) -> None:
        slain, noted = int(s[tb.SLAIN_AT]), len(self.found)
        self.rules["monster_meets_monster"](t, s, kind, me, i, hp)
        told = sum(event[0].startswith("slain:") for event in self.found[noted:])
        if int(s[tb.SLAIN_AT]) - slain > told:
            swallowed, tile = self.monster(i)
            self.note(f"slain:{swallowed}", tile)


def _plain_rules() -> dict[str, Any]:
    """Return all names of the rules and of what they use; functions are in plain Python and call each other.

    The path search stays compiled, because nothing happens in it and it would take seconds on large levels.
    """
    names, functions = _sources()
    names = dict(names)
    for name, function in functions.items():
        names[name] = FunctionType(function.__code__, names, name, function.__defaults__)
    return names


@functools.cache
def _sources() -> tuple[dict[str, Any], dict[str, FunctionType]]:
    rules = importlib.import_module(f"{__package__}.rules")
    names: dict[str, Any] = {**vars(tb), **vars(rules)}
    functions: dict[str, FunctionType] = {}
    for name, value in names.items():
        function = value.plain if isinstance(value, Callback) else value
        ours = isinstance(function, FunctionType) and function.__module__ in (rules.__name__, tb.__name__)
        if ours and name != _STAYS_COMPILED:
            functions[name] = function
    names[_STAYS_COMPILED] = Callback(tb.entry, None)  # type: ignore[arg-type]
    return names, functions
