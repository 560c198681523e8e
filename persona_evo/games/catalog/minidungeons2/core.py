"""The game as it is played: metrics, rule sets, levels and moves, without what is known of levels before play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from persona_evo.errors import SettingsError, unknown
from persona_evo.games.core import Game, Level, Metric, Rules

METRICS = (
    Metric(
        "ST", "steps taken", "hero actions so far, throws and lost turns included", "steps", better="lower", clock=True
    ),
    Metric("PE", "proximity to exit", "1 at the exit, 0 at the tile farthest from it", high=1, better="higher"),
    Metric("PD", "potions drunk", "share of the level's potions", high=1, ratio=True, main=True),
    Metric("TO", "treasures opened", "share of the level's treasures", high=1, better="higher", ratio=True, main=True),
    Metric(
        "MS",
        "monsters slain",
        "share of the monsters that can die, whoever slew them",
        high=1,
        better="higher",
        ratio=True,
        main=True,
    ),
    Metric("HL", "health left", "hit points / 10", better="higher"),
    Metric("MTK", "minitaur knockouts", "how often a minitaur was knocked out", "times"),
    Metric("JT", "javelins thrown", "valid throws", "times"),
    Metric("TU", "teleports used", "portals the hero walked into", "times"),
    Metric("TS", "traps sprung", "traps the hero stepped on", "times", better="lower"),
    Metric(
        "IC",
        "interactive objects consumed",
        "share of potions, treasures and mortal monsters together",
        high=1,
        better="higher",
        ratio=True,
        main=True,
    ),
    Metric("DEAD", "dead", "1 when the hero is dead", high=1, better="lower"),
    Metric("WON", "won", "1 when the exit was reached alive", high=1, better="higher"),
    Metric(
        "NM",
        "nearest monster",
        "moves to the nearest living monster that can die / farthest way to the exit, 0 without any",
        better="lower",
        costly=True,
    ),
    Metric(
        "NT",
        "nearest treasure",
        "moves to the nearest treasure / farthest way to the exit, 0 without any",
        better="lower",
        costly=True,
    ),
    Metric(
        "NP",
        "nearest potion",
        "moves to the nearest potion / farthest way to the exit, 0 without any",
        better="lower",
        costly=True,
    ),
    Metric(
        "NE",
        "way to the exit",
        "moves to the exit / farthest way to it on foot; ways lead through portals, too",
        better="lower",
        costly=True,
    ),
    Metric("DT", "damage taken", "hit points that the hero has lost so far", "hit points", better="lower", added=True),
)
"""The paper's eleven (table I) and IC, then DEAD and WON, then distances and the damage, which the paper lacks."""

RULE_SETS: dict[str, dict[str, int]] = {
    "game": {"hp_cap": 0, "wizard_range": 3, "object_wins_tie": 0, "goblins_avoid": 0, "npc_after_end": 1},
    "paper": {"hp_cap": 10, "wizard_range": 5, "object_wins_tie": 1, "goblins_avoid": 1, "npc_after_end": 0},
}
"""Every difference between what the original game does and what the paper says, as one switch each."""

DIRECTIONS = "NESW"


def rules(costly: bool = False) -> Rules:
    """The compiled rules (compiled, or read from disk, at the first call)."""
    from persona_evo.games.catalog.minidungeons2.rules import ALL_METRICS, RULES

    return ALL_METRICS if costly else RULES


def flags(rules: str = "game", **switches: int) -> dict[str, int]:
    """The switches of a rule set with single ones changed.

    Raises:
        SettingsError: no such rule set or switch.
    """
    if rules not in RULE_SETS:
        expected, hint = unknown(rules, RULE_SETS)
        raise SettingsError("no such rule set", found=rules, expected=expected, hint=hint)
    chosen = dict(RULE_SETS[rules])
    for name, value in switches.items():
        if name not in chosen:
            expected, hint = unknown(name, chosen)
            raise SettingsError("no such rule switch", found=name, expected=expected, hint=hint)
        chosen[name] = int(value)
    return chosen


def load(
    text: str,
    name: str,
    source: str = "",
    *,
    rules: str = "game",
    allow_unreachable: bool = False,
    **switches: int,
) -> Level:
    """Read a level from its text; MiniDungeons 1 files are recognised and translated, and the warnings say how.

    Raises:
        LevelError: with the line and column of what is wrong.
        SettingsError: no such rule set.
    """
    from persona_evo.games.catalog.minidungeons2 import history, levels, md1, tables

    chosen = flags(rules, **switches)
    mapped: list[str] = []
    if md1.detect(text) == "md1":
        text, mapped = md1.import_md1(text, name, source or name)
    grid = levels.parse(text, name, source or name, allow_unreachable=allow_unreachable)
    row, start = tables.build(grid, chosen)
    return Level(
        game="minidungeons2",
        name=name,
        text=text,
        tables=row,
        start=start,
        max_actions=int(row[tables.MONSTERS]) + 4,
        source=source,
        options={"rules": rules, "allow_unreachable": allow_unreachable, **switches},
        facts={"grid": grid, "things": history.things(grid)},
        warnings=(*mapped, *grid.warnings),
    )


def _tile_xy(level: Level, tile: int) -> tuple[int, int]:
    from persona_evo.games.catalog.minidungeons2.tables import HEADER, TILES

    return int(level.tables[HEADER + tile]), int(level.tables[HEADER + int(level.tables[TILES]) + tile])


def _tile_at(level: Level, x: int, y: int) -> int | None:
    from persona_evo.games.catalog.minidungeons2 import tables as t

    width, height = int(level.tables[t.WIDTH]), int(level.tables[t.HEIGHT])
    if not (0 <= x < width and 0 <= y < height):
        return None
    tile = int(level.tables[int(t.offset(level.tables, t.BOARD_AT)) + y * width + x])
    return None if tile == t.NOWHERE else tile


def action_name(level: Level, state: Any, action: int) -> str:
    """N, E, S, W, or J,x,y for a throw."""
    if 0 <= action < 4:
        return DIRECTIONS[action]
    if action >= 4:
        x, y = _tile_xy(level, action - 4)
        return f"J,{x},{y}"
    return "-"


def parse_action(level: Level, state: Any, text: str) -> int:
    """The inverse of `action_name`; throws at cells that are walls or off the board are lost turns."""
    from persona_evo.games.catalog.minidungeons2.rules import LOST_TURN, THROW

    if len(text) == 1 and text in DIRECTIONS:
        return DIRECTIONS.index(text)
    parts = text.split(",")
    if parts[0] == "J" and len(parts) == 3 and all(p.lstrip("-").isdigit() for p in parts[1:]):
        tile = _tile_at(level, int(parts[1]), int(parts[2]))
        return LOST_TURN if tile is None else THROW + tile
    if text == "-":
        return LOST_TURN
    raise SettingsError("no such action", found=text, expected="N, E, S, W, or J,x,y", hint="see the game's README")


def locate(level: Level, state: Any) -> tuple[int, int]:
    """Where the hero is, (x, y) from the top left."""
    return _tile_xy(level, int(state[0]))


CORE = Game(
    name="minidungeons2",
    title="MiniDungeons 2",
    version=3,
    metrics=METRICS,
    rules=rules,
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    horizon=200,
    levels=str(Path(__file__).parent / "levels"),
    homing="-NE",
    care="HL",
    health="10 * HL",
)
"""The game without what is compiled or drawn beside it, for analyses that play it."""
