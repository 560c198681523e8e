"""It's Alive!: pieces land in columns and join to monsters, which are collected while they live. Rules: README.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from persona_evo.errors import LevelError, Place, SettingsError
from persona_evo.games import keyed
from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.core import LOST, Event, Game, Level, Metric, Rules
from persona_evo.games.findings import Finding
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.constraints import Generator

MOST = max(win for _, _, win in layout.FIELDS.values())

METRICS = (
    Metric("ST", "decisions", "decisions so far; up to three a turn for a factored player", "decisions", clock=True),
    Metric("PT", "points", "points for landings and monsters", "points", better="higher"),
    Metric(
        "SC",
        "score",
        "points, divided by those for a piece in each cell and all of them collected as one monster",
        better="higher",
        main=True,
    ),
    Metric(
        "MC",
        "monsters collected",
        "living monsters taken off the field",
        "monsters",
        high=MOST,
        better="higher",
        main=True,
    ),
    Metric("PR", "progress", "share of the monsters that win", high=1, better="higher", ratio=True, main=True),
    Metric("PL", "pieces landed", "pieces that have landed", "pieces"),
    Metric(
        "LM", "largest monster", "pieces of the largest monster collected / cells of the field", high=1, better="higher"
    ),
    Metric(
        "CP", "pairs collected", "joints between pieces of one colour in collected monsters", "pairs", better="higher"
    ),
    Metric("LV", "living monsters", "monsters on the field that live", "monsters", better="higher"),
    Metric(
        "BV", "best monster", "score of the most valuable living monster on the field, 0 without any", better="higher"
    ),
    Metric("LG", "largest group", "pieces of the largest joined group on the field / cells", high=1, better="higher"),
    Metric("SP", "same-colour pairs", "joints between pieces of one colour on the field", "pairs", better="higher"),
    Metric("FI", "fill", "share of the cells that hold a piece", high=1, better="lower", ratio=True, main=True),
    Metric("HI", "height", "height of the highest column / rows", high=1, better="lower"),
    Metric("LOST", "lost", "1 when the field is full and nothing lives", high=1, better="lower"),
    Metric("WON", "won", "1 when enough monsters are collected", high=1, better="higher"),
)

SETTINGS: dict[str, keyed.Whole | keyed.Word] = {
    "seed": keyed.Whole(0, 2**63 - 1),
    "field": keyed.Word(tuple(layout.FIELDS)),
    "design": keyed.Word(layout.DESIGNS),
    "player": keyed.Word(layout.PLAYERS),
    "choices": keyed.Word(layout.CHOICES),
}
"""What a level file may set."""

TURNS = "NESW"


def rules_of(costly: bool = False) -> Rules:
    """The compiled rules; all metrics are cheap enough to be worked out always."""
    from persona_evo.games.catalog.its_alive.rules import RULES

    return RULES


def load(
    text: str, name: str, source: str = "", *, field: str = "", design: str = "", player: str = "", choices: str = ""
) -> Level:
    """Read a level from its text.

    Args:
        field, design, player, choices: override the values of the file.

    Raises:
        LevelError: with the line and column of what is wrong, or nothing can live on so small a field.
        SettingsError: an option has no such value.
    """
    from persona_evo.games.catalog.its_alive.rules import FIELD_AT

    given = {"field": field, "design": design, "player": player, "choices": choices}
    found = keyed.read(text, source or name, SETTINGS, **given)
    width, height, _ = layout.FIELDS[found.word["field"]]
    if found.word["design"] == "tenacious" and width * height < layout.TENACIOUS_PIECES:
        raise LevelError(
            "nothing can live on this field",
            place=Place(source or name),
            found=counted(width * height, "cell"),
            expected=f"{layout.TENACIOUS_PIECES} for the design tenacious",
            hint="choose another field or design",
        )
    tables = layout.build(found.whole["seed"], **found.word)
    return Level(
        game="its_alive",
        name=name,
        text=text,
        tables=tables,
        start=np.zeros(FIELD_AT + 2 * width * height, dtype=np.uint16),
        max_actions=4 * width + width * height,
        source=source,
        options={k: v for k, v in given.items() if v},
    )


def action_name(level: Level, state: Any, action: int) -> str:
    """L,column,N (E, S, W): a landing; C,x,y: the monster whose lowest cell is there; what a factored player says."""
    from persona_evo.games.catalog.its_alive import rules as r

    width = int(level.tables[layout.WIDTH])
    if r.LAND <= action < 4 * width:
        return f"L,{action // 4},{TURNS[action % 4]}"
    if r.COLLECT <= action < r.COLLECT + width * int(level.tables[layout.HEIGHT]):
        return "C,{},{}".format(*place(level, action - r.COLLECT))
    if r.COLUMN <= action < r.COLUMN + width:
        return f"column,{action - r.COLUMN}"
    if r.TURN <= action < r.TURN + 4:
        return f"turn,{TURNS[action - r.TURN]}"
    return {r.SAY_LAND: "land", r.SAY_COLLECT: "collect"}.get(action, "-")


def parse_action(level: Level, state: Any, text: str) -> int:
    """The inverse of `action_name`."""
    from persona_evo.games.catalog.its_alive.rules import ACTIONS

    for action in range(-1, ACTIONS):
        if action_name(level, state, action) == text:
            return action
    raise SettingsError(
        "no such action",
        found=text,
        expected="L,column,N|E|S|W or C,x,y; land, collect, column,C, turn,N|E|S|W",
        hint="see the game's README",
    )


def place(level: Level, cell: int) -> tuple[int, int]:
    """(x, y) of a cell from the top left."""
    width = int(level.tables[layout.WIDTH])
    return cell % width, int(level.tables[layout.HEIGHT]) - 1 - cell // width


def events(level: Level, before: Any, after: Any, step: int) -> list[Event]:
    """A landing or a collected monster, and where: the cell of the piece, or the lowest cell that was emptied."""
    from persona_evo.games.catalog.its_alive import rules as r

    cells = int(level.tables[layout.WIDTH]) * int(level.tables[layout.HEIGHT])
    was, now = (s[r.FIELD_AT : r.FIELD_AT + cells] for s in (before, after))
    changed = np.flatnonzero(was != now)
    if not changed.size:
        return []
    kind = "collect" if after[r.COLLECTED_AT] > before[r.COLLECTED_AT] else "land"
    return [Event(step, kind, *place(level, int(changed[0])))]


def cause(level: Level, before: Any, after: Any) -> str:
    """A game is lost in one way only."""
    from persona_evo.games.catalog.its_alive.rules import OVER_AT

    return "full field" if after[OVER_AT] == LOST else ""


def structure(level: Level) -> dict[str, float]:
    """Numbers of the level's field (`guide.MEANINGS`)."""
    width, height, win = (int(level.tables[k]) for k in (layout.WIDTH, layout.HEIGHT, layout.WIN))
    return {"columns": width, "rows": height, "cells": width * height, "win": win, "par": layout.par(width * height)}


def reach() -> Any:
    """What each metric can still become (see `reach`)."""
    from persona_evo.games.catalog.its_alive.reach import reach as compiled

    return compiled


def novelty(level: Level) -> tuple[Any, int]:
    """What makes a state new (see `reach.novelty`), and how many variables that is."""
    from persona_evo.games.catalog.its_alive.reach import novelty as compiled

    return compiled, int(level.tables[layout.WIDTH]) * int(level.tables[layout.HEIGHT]) + 3


def analyse(level: Level) -> list[Finding]:
    """Whether the level is lost whatever is played, as far as few states can tell."""
    from persona_evo.games.explored import lost_start

    return lost_start(GAME, level, int(level.tables[layout.WIDTH]) * int(level.tables[layout.HEIGHT]))


def generator() -> Generator:
    """How levels are drawn (see `generate`)."""
    from persona_evo.games.catalog.its_alive.generate import GENERATOR

    return GENERATOR


GAME = Game(
    name="its_alive",
    title="It's Alive!",
    version=1,
    metrics=METRICS,
    rules=rules_of,
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    horizon=200,
    events=events,
    cause=cause,
    structure=structure,
    draw="persona_evo.games.catalog.its_alive.draw",
    levels=str(Path(__file__).parent / "levels"),
    reach=reach,
    homing="MC + 0.5 * min(LV, 1) + 0.1 * LG",
    novelty=novelty,
    care="min(LV, 1) - FI",
    score=lambda level: "PT",
    analyse=analyse,
    sound=lambda level: None,  # the analysis has nothing to say of levels that can be won
    generator=generator,
)
