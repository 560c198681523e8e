"""MiniDungeons 2: a deterministic, turn-based dungeon crawler (Holmgård et al. 2015, 2018). Rules: README.md."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from persona_evo.games.catalog.minidungeons2.core import CORE
from persona_evo.games.catalog.minidungeons2.moves import locate
from persona_evo.games.core import Event, Level, Rules, State, Swift, found_in, rules_in
from persona_evo.games.findings import Finding


def events(level: Level, before: State, after: State, step: int) -> list[Event]:
    """Return what happened in one turn, and where (see `history`)."""
    from persona_evo.games.catalog.minidungeons2.history import events as found

    return found(level, before, after, step)


def cause(level: Level, before: State, after: State) -> str:
    """Return what killed the hero in the turn between two states."""
    from persona_evo.games.catalog.minidungeons2.history import cause_of_death

    return cause_of_death(level, before, after)


def structure(level: Level) -> dict[str, float]:
    """Return numbers on the level's structure (see `structure`)."""
    from persona_evo.games.catalog.minidungeons2.structure import structure as measured

    return measured(level.facts["grid"])


def analyse(level: Level) -> list[Finding]:
    """Return the findings on the level without playing it (see `analysis`)."""
    from persona_evo.games.catalog.minidungeons2.analysis import analyse as found

    return found(level)


def sound(level: Level) -> bool | None:
    """Return whether `analyse` finds no problem (see `soundness`)."""
    from persona_evo.games.catalog.minidungeons2.soundness import sound as found

    return found(level)


def hardness(level: Level) -> dict[str, float]:
    """Return numbers that measure how hard the level is (see `analysis`)."""
    from persona_evo.games.catalog.minidungeons2.analysis import hardness as found

    return found(level)


def informed(costly: bool = False) -> Rules:
    """Return rules whose rollouts walk toward objects (see `informed`)."""
    from persona_evo.games.catalog.minidungeons2.informed import informed as found

    return found(costly)


def novelty(level: Level) -> tuple[Any, int]:
    """Return the function that describes what makes a state new (see `reach.novelty`), and its number of variables."""
    from persona_evo.games.catalog.minidungeons2 import tables as t
    from persona_evo.games.catalog.minidungeons2.reach import novelty as compiled

    return compiled, 3 + int(level.tables[t.MONSTERS]) + int(level.tables[t.THINGS])


def swift(level: Level) -> Swift | None:
    """Return the level in the layout of `packed`, or None if it does not fit."""
    from persona_evo.games.catalog.minidungeons2 import packed

    if not packed.fits(level):
        return None
    tables, start = packed.build(level.tables), packed.pack(level.tables, level.start)
    return Swift(SWIFT_GAME, replace(level, tables=tables, start=start), partial(packed.pack, level.tables))


def swift_novelty(level: Level) -> tuple[Any, int]:
    """Return `novelty` for that layout."""
    from persona_evo.games.catalog.minidungeons2.packed import variables
    from persona_evo.games.catalog.minidungeons2.swift_reach import novelty as compiled

    return compiled, variables(level.tables)


GAME = replace(
    CORE,
    locate=locate,
    events=events,
    cause=cause,
    structure=structure,
    draw="persona_evo.games.catalog.minidungeons2.draw",
    reach=found_in("persona_evo.games.catalog.minidungeons2.reach", "reach"),
    novelty=novelty,
    variants={"informed": informed},
    analyse=analyse,
    hardness=hardness,
    swift=swift,
    sound=sound,
    generator=found_in("persona_evo.games.catalog.minidungeons2.generate", "GENERATOR"),
)

SWIFT_GAME = replace(
    GAME,
    rules=rules_in("persona_evo.games.catalog.minidungeons2.swift"),
    reach=found_in("persona_evo.games.catalog.minidungeons2.swift_reach", "reach"),
    novelty=swift_novelty,
    variants={},
    swift=None,
    locate=None,
    events=None,
    cause=None,
    draw=None,
    structure=None,
    analyse=None,
    hardness=None,
    sound=None,
    generator=None,
)
"""The game in the layout of `packed`, as searches play it."""
