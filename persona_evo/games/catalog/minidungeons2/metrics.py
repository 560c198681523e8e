"""The metrics of MiniDungeons 2, in the order in which the rules write them."""

from __future__ import annotations

from persona_evo.games.core import Metric

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
