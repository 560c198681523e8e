"""The rules and levels of MiniDungeons 2, without the analysis of levels."""

from __future__ import annotations

from pathlib import Path

from persona_evo.errors import SettingsError, unknown
from persona_evo.games.catalog.minidungeons2.metrics import METRICS
from persona_evo.games.catalog.minidungeons2.moves import action_name, parse_action
from persona_evo.games.core import Game, Level, rules_in

RULE_SETS: dict[str, dict[str, int]] = {
    "game": {"hp_cap": 0, "wizard_range": 3, "object_wins_tie": 0, "goblins_avoid": 0, "npc_after_end": 1},
    "paper": {"hp_cap": 10, "wizard_range": 5, "object_wins_tie": 1, "goblins_avoid": 1, "npc_after_end": 0},
}
"""Rule set -> its switches, one for each difference between the original game and the paper."""


def flags(rules: str = "game", **switches: int) -> dict[str, int]:
    """Return the switches of a rule set with some of them changed.

    Raises:
        SettingsError: there is no such rule set or switch.
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
        LevelError: the file is wrong, with line and column.
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


CORE = Game(
    name="minidungeons2",
    title="MiniDungeons 2",
    version=3,
    metrics=METRICS,
    rules=rules_in("persona_evo.games.catalog.minidungeons2.rules"),
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    horizon=200,
    levels=str(Path(__file__).parent / "levels"),
    homing="-NE",
    care="HL",
    health="10 * HL",
)
"""The game without additional compiled code or drawing, for analyses that play it."""
