"""Puyo-Puyo by the Tsu rules: pairs of coloured puyos fall, four of a colour pop, chains score. Rules: README.md.

`GAME` knows all pairs of a level, so it can be planned; in `HIDDEN` only the visible ones are certain, and the rest is
drawn while it is played.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.errors import SettingsError
from persona_evo.games.core import Event, Game, Level, Metric, Rules
from persona_evo.games.findings import Finding

if TYPE_CHECKING:
    from persona_evo.games.constraints import Generator

METRICS = (
    Metric("DR", "drops", "pairs dropped so far", "drops", better="higher", clock=True),
    Metric("SC", "score", "points so far", "points", better="higher", main=True),
    Metric("LC", "longest chain", "links of the longest chain so far", "links", better="higher", main=True),
    Metric("LS", "last score", "points of the last drop", "points", better="higher"),
    Metric("CH", "last chain", "links of the last drop's chain", "links", better="higher"),
    Metric("AC", "all clears", "drops that left the field empty", "times", better="higher"),
    Metric("PU", "puyos", "puyos on the field, garbage too", "puyos", high=78, better="lower"),
    Metric("HC", "highest column", "height of the highest column, ghost row included", "rows", high=13, better="lower"),
    Metric("H3", "third column", "height of the third column; at 12 the game is lost", "rows", high=13, better="lower"),
    Metric("DEAD", "dead", "1 when the third column is full", high=1, better="lower"),
    Metric(
        "CP",
        "chain potential",
        "links that two more puyos of one colour in one column would set off at most",
        "links",
        better="higher",
        costly=True,
    ),
    Metric("P2", "pairs connected", "groups of two of a colour", "groups", high=36, costly=True),
    Metric("P3", "threes connected", "groups of three of a colour", "groups", high=24, better="higher", costly=True),
)
"""In the order in which `rules` writes them."""

TITLE = "Puyo-Puyo"


def rules(costly: bool = False) -> Rules:
    """The compiled rules."""
    from persona_evo.games.catalog.puyo.rules import ALL_METRICS, RULES

    return ALL_METRICS if costly else RULES


def load(text: str, name: str, source: str = "") -> Level:
    """Read a level whose pairs are all known.

    Raises:
        LevelError: with line and column of what is wrong.
    """
    return _level(text, name, source, False)


def load_hidden(text: str, name: str, source: str = "") -> Level:
    """Read a level of which no more than the visible pairs are known, whatever the file says of later ones.

    Raises:
        LevelError: with line and column of what is wrong.
    """
    return _level(text, name, source, True)


def _level(text: str, name: str, source: str, hidden: bool) -> Level:
    from persona_evo.games.catalog.puyo import levels, tables

    setup = levels.parse(text, source or name)
    row, start = tables.build(setup.colours, min(setup.visible, setup.drops), setup.pairs, setup.rows, hidden)
    return Level(
        game="puyo_hidden" if hidden else "puyo",
        name=name,
        text=text,
        tables=row,
        start=start,
        max_actions=tables.PLACEMENTS,
        source=source,
        facts={"setup": setup},
        horizon=setup.drops,
    )


def restart(level: Level, seed: int) -> Any:
    """A start of the hidden game: the first visible pairs follow from the level's and this seed; 0 is the file's."""
    from persona_evo.games.catalog.puyo import levels, tables
    from persona_evo.seeds import derive

    state = level.start.copy()
    if seed:
        setup = level.facts["setup"]
        count = len(state) - tables.QUEUE
        state[tables.QUEUE :] = levels.random_pairs(derive(setup.seed, "start", seed), setup.colours, count)
    return state


def action_name(level: Level, state: Any, action: int) -> str:
    """The axis' column from 1, then where the child is: U, R, D or L, such as 3U."""
    from persona_evo.games.catalog.puyo.tables import SIDES

    return f"{(action >> 2) + 1}{SIDES[action & 3]}"


def parse_action(level: Level, state: Any, text: str) -> int:
    """The inverse of `action_name`.

    Raises:
        SettingsError: no placement.
    """
    from persona_evo.games.catalog.puyo.tables import COLUMNS, PLACEMENTS, SIDES, placements

    if len(text) == 2 and text[0] in "123456" and text[1] in SIDES:
        action = 4 * (int(text[0]) - 1) + SIDES.index(text[1])
        if action in placements(0, COLUMNS - 1):
            return action
    raise SettingsError(
        "no such placement",
        found=text,
        expected=f"one of {PLACEMENTS}: the axis' column 1 to 6, then U, R, D or L",
        hint="the letter says where the child is: above, right, below or left of the axis",
    )


def events(level: Level, before: Any, after: Any, step: int) -> list[Event]:
    """Pops and chains, cleared fields, death; the place is the lowest, leftmost cell that changed."""
    from persona_evo.games.catalog.puyo import tables as t

    was, now = t.cells(before), t.cells(after)
    x, y = next(
        ((x, y) for y in range(t.ROWS - 1, -1, -1) for x in range(t.COLUMNS) if was[y][x] != now[y][x]), (t.THIRD, 0)
    )
    found = []
    links = int(after[t.CHAIN])
    if links and int(after[t.DROPPED]) > int(before[t.DROPPED]):
        found.append(Event(step, "pop" if links == 1 else f"chain of {links}", x, y))
    if after[t.CLEARS] > before[t.CLEARS]:
        found.append(Event(step, "all clear", x, y))
    if after[t.HEIGHTS + t.THIRD] >= t.VISIBLE_ROWS:
        found.append(Event(step, "death", t.THIRD, t.ROWS - t.VISIBLE_ROWS))
    return found


def cause(level: Level, before: Any, after: Any) -> str:
    """What the game was lost to; there is one way only."""
    return "a full third column"


def structure(level: Level) -> dict[str, float]:
    """Numbers of the level: colours, drops, visible pairs, share of pairs of one colour, cells filled at the start."""
    setup = level.facts["setup"]
    doubles = sum(pair & 7 == pair >> 3 for pair in setup.pairs) / len(setup.pairs)
    filled = sum(cell != "." for row in setup.rows for cell in row)
    return {
        "colours": float(setup.colours),
        "drops": float(setup.drops),
        "visible": float(setup.visible),
        "doubles": doubles,
        "filled": float(filled),
    }


def reach() -> Any:
    """What each metric can still become where all pairs are known (see `reach`)."""
    from persona_evo.games.catalog.puyo.reach import reach as compiled

    return compiled


def novelty(level: Level) -> tuple[Any, int]:
    """What makes a state new (see `reach.novelty`), and how many variables that is."""
    from persona_evo.games.catalog.puyo.reach import CELLS
    from persona_evo.games.catalog.puyo.reach import novelty as compiled

    return compiled, CELLS


def analyse(level: Level) -> list[Finding]:
    """Whether the level is lost within its first drops whatever is played."""
    from persona_evo.games.explored import lost_start

    return lost_start(GAME, level)


def generator() -> Generator:
    """How levels are drawn (see `generate`)."""
    from persona_evo.games.catalog.puyo.generate import GENERATOR

    return GENERATOR


GAME = Game(
    name="puyo",
    title=TITLE,
    version=1,
    metrics=METRICS,
    rules=rules,
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    horizon=150,
    events=events,
    cause=cause,
    structure=structure,
    draw="persona_evo.games.catalog.puyo.draw",
    levels=str(Path(__file__).parent / "levels"),
    agents=str(Path(__file__).parent / "agents.toml"),
    reach=reach,
    novelty=novelty,
    care="-H3 - PU / 6",
    analyse=analyse,
    sound=lambda level: None,  # the analysis has nothing to say of levels that can be won
    generator=generator,
)

HIDDEN = dataclasses.replace(
    GAME,
    name="puyo_hidden",
    title=f"{TITLE}, hidden queue",
    deterministic=False,
    load=load_hidden,
    restart=restart,
    kin="puyo",
    reach=None,
    analyse=None,
)
