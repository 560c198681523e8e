"""2D Roguelike: the game of Unity's tutorial, whose days are laid out by the level's seed. Rules: README.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from persona_evo.errors import SettingsError
from persona_evo.games import keyed
from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.core import Event, Game, Level, Metric, Rules
from persona_evo.games.findings import Finding

if TYPE_CHECKING:
    from persona_evo.games.constraints import Generator

METRICS = (
    Metric(
        "ST", "decisions", "decisions so far; two a move for a factored player", "decisions", better="lower", clock=True
    ),
    Metric("MV", "moves", "attempted moves so far, each of which costs 1 food", "moves"),
    Metric("FD", "food left", "food points left", "points", better="higher", main=True),
    Metric("DS", "days survived", "days ended at the exit", "days", high=layout.MAX_DAYS, better="higher"),
    Metric(
        "PR",
        "progress",
        "share of the level's days survived, the way to the exit walked today included",
        high=1,
        better="higher",
        ratio=True,
        main=True,
    ),
    Metric("EA", "items eaten", "Food and Soda picked up", "items", better="higher", main=True),
    Metric("FG", "food gained", "food points of what was picked up", "points", better="higher"),
    Metric("HT", "hits taken", "attacks by enemies", "times", better="lower", main=True),
    Metric("DT", "damage taken", "food points that attacks cost", "points", better="lower"),
    Metric("WD", "walls destroyed", "inner walls that gave way", "walls"),
    Metric(
        "RW",
        "reward",
        "food left at the end of each day, summed, and x + y at death on the day of death, divided "
        "by 100 for each day of the level",
        better="higher",
    ),
    Metric("DEAD", "dead", "1 when the food has run out", high=1, better="lower"),
    Metric("WON", "won", "1 when every day of the level is survived", high=1, better="higher"),
    Metric(
        "NX", "way to the exit", "moves to the exit / moves from start to exit, walls ignored", high=1, better="lower"
    ),
    Metric(
        "NF",
        "nearest item",
        "moves to the nearest item / moves from start to exit, 0 without any",
        high=1,
        better="lower",
        costly=True,
    ),
    Metric(
        "NM",
        "nearest enemy",
        "moves to the nearest enemy / moves from start to exit, 1 without any",
        high=1,
        better="higher",
    ),
)

SETTINGS: dict[str, keyed.Whole | keyed.Word] = {
    "seed": keyed.Whole(0, 2**63 - 1),
    "days": keyed.Whole(1, layout.MAX_DAYS, 10),
    "variant": keyed.Word(tuple(layout.VARIANTS)),
    "player": keyed.Word(layout.PLAYERS),
}
"""What a level file may set."""

ACTIONS = ("N", "E", "S", "W", "toward", "away", "lateral", "vertical")


@dataclass(frozen=True)
class RoguelikeBoard:
    """The board that all days share, for heatmaps: y from the top here."""

    width: int = layout.SIDE
    height: int = layout.SIDE


def rules_of(costly: bool = False) -> Rules:
    """The compiled rules; all metrics are cheap enough to be worked out always."""
    from persona_evo.games.catalog.roguelike2d.rules import RULES

    return RULES


def load(text: str, name: str, source: str = "", *, variant: str = "", player: str = "") -> Level:
    """Read a level from its text and lay out all its days.

    Args:
        variant, player: override the values of the file.

    Raises:
        LevelError: with the line and column of what is wrong.
        SettingsError: no such variant or player.
    """
    from persona_evo.games.catalog.roguelike2d.rules import first

    found = keyed.read(text, source or name, SETTINGS, variant=variant, player=player)
    days = layout.layouts(found.whole["seed"], found.whole["days"])
    tables = layout.build(days, found.word["variant"], found.word["player"])
    options = {k: v for k, v in (("variant", variant), ("player", player)) if v}
    return Level(
        game="roguelike2d",
        name=name,
        text=text,
        tables=tables,
        start=first(tables),
        max_actions=4,
        source=source,
        options=options,
        facts={"grid": RoguelikeBoard(), "days": days},
    )


def action_name(level: Level, state: Any, action: int) -> str:
    """N, E, S, W, or what a factored player says."""
    return ACTIONS[action] if 0 <= action < len(ACTIONS) else "-"


def parse_action(level: Level, state: Any, text: str) -> int:
    """The inverse of `action_name`."""
    if text in ACTIONS:
        return ACTIONS.index(text)
    if text == "-":
        return -1
    raise SettingsError("no such action", found=text, expected=", ".join(ACTIONS), hint="see the game's README")


def place(cell: int) -> tuple[int, int]:
    """(x, y) of a cell from the top left."""
    return cell % layout.SIDE, layout.SIDE - 1 - cell // layout.SIDE


def locate(level: Level, state: Any) -> tuple[int, int]:
    """Where the player is, (x, y) from the top left."""
    from persona_evo.games.catalog.roguelike2d.rules import CELL_AT

    return place(int(state[CELL_AT]))


def events(level: Level, before: Any, after: Any, step: int) -> list[Event]:
    """What happened in one decision, where the player was then (the cell of the exit for the end of a day)."""
    from persona_evo.games.catalog.roguelike2d import rules as r

    day_over = after[r.DAY_AT] > before[r.DAY_AT] or after[r.FLAGS_AT] == r.HAS_WON
    at = place(layout.EXIT if day_over else int(after[r.CELL_AT]))
    counted = ((r.BROKEN_AT, "wall"), (r.EATEN_AT, "food"), (r.HITS_AT, "hit"))
    found = [Event(step, kind, *at) for where, kind in counted for _ in range(int(after[where]) - int(before[where]))]
    if day_over:
        found.append(Event(step, "day", *at))
    if after[r.FLAGS_AT] == r.IS_DEAD != before[r.FLAGS_AT]:
        found.append(Event(step, "death", *at))
    return found


def cause(level: Level, before: Any, after: Any) -> str:
    """What the food ran out by in the move between two states."""
    from persona_evo.games.catalog.roguelike2d.rules import HITS_AT

    return "enemy" if after[HITS_AT] > before[HITS_AT] else "hunger"


def structure(level: Level) -> dict[str, float]:
    """Numbers of the level's layouts (`guide.MEANINGS`)."""
    days = level.facts["days"]
    gains = level.tables[layout.GAINS : layout.GAINS + 2]
    return {
        "days": float(len(days)),
        "walls": float(np.mean([len(day.walls) for day in days])),
        "items": float(np.mean([len(day.items) for day in days])),
        "food": float(np.mean([sum(int(gains[kind]) for _, kind in day.items) for day in days])),
        "enemies": float(sum(len(day.enemies) for day in days)),
    }


def reach() -> Any:
    """What each metric can still become (see `reach`)."""
    from persona_evo.games.catalog.roguelike2d.reach import reach as compiled

    return compiled


def novelty(level: Level) -> tuple[Any, int]:
    """What makes a state new (see `reach.novelty`), and how many variables that is."""
    from persona_evo.games.catalog.roguelike2d.reach import novelty as compiled

    return compiled, 1 + layout.MOST_ITEMS + layout.MOST_WALLS + layout.MOST_ENEMIES


def analyse(level: Level) -> list[Finding]:
    """Whether the food can last (see `analysis`)."""
    from persona_evo.games.catalog.roguelike2d.analysis import analyse as found

    return found(level)


def generator() -> Generator:
    """How levels are drawn (see `generate`)."""
    from persona_evo.games.catalog.roguelike2d.generate import GENERATOR

    return GENERATOR


GAME = Game(
    name="roguelike2d",
    title="2D Roguelike",
    version=1,
    metrics=METRICS,
    rules=rules_of,
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    horizon=400,
    locate=locate,
    events=events,
    cause=cause,
    structure=structure,
    draw="persona_evo.games.catalog.roguelike2d.draw",
    levels=str(Path(__file__).parent / "levels"),
    reach=reach,
    homing="PR",
    novelty=novelty,
    care="FD",
    health="FD",
    score=lambda level: f"RW * {layout.START_FOOD * len(level.facts['days'])}",
    analyse=analyse,
    generator=generator,
)
