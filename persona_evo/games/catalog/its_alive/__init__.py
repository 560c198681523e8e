"""It's Alive!: pieces land in columns and join to monsters, which are collected while they live. Rules: README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from persona_evo.games.catalog.its_alive import layout
from persona_evo.games.catalog.its_alive.levels import load
from persona_evo.games.catalog.its_alive.metrics import METRICS
from persona_evo.games.catalog.its_alive.moves import action_name, cause, events, parse_action
from persona_evo.games.catalog.its_alive.structure import structure
from persona_evo.games.core import Game, Level, found_in, rules_in
from persona_evo.games.findings import Finding


def novelty(level: Level) -> tuple[Any, int]:
    """Return the function that describes what makes a state new (see `reach.novelty`), and its number of variables."""
    from persona_evo.games.catalog.its_alive.reach import novelty as compiled

    return compiled, int(level.tables[layout.WIDTH]) * int(level.tables[layout.HEIGHT]) + 3


def analyse(level: Level) -> list[Finding]:
    """Return the finding on a level that is always lost, as far as a few states can tell."""
    from persona_evo.games.explored import lost_start

    return lost_start(GAME, level, int(level.tables[layout.WIDTH]) * int(level.tables[layout.HEIGHT]))


GAME = Game(
    name="its_alive",
    title="It's Alive!",
    version=1,
    metrics=METRICS,
    rules=rules_in("persona_evo.games.catalog.its_alive.rules"),
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    horizon=200,
    events=events,
    cause=cause,
    structure=structure,
    draw="persona_evo.games.catalog.its_alive.draw",
    levels=str(Path(__file__).parent / "levels"),
    reach=found_in("persona_evo.games.catalog.its_alive.reach", "reach"),
    homing="MC + 0.5 * min(LV, 1) + 0.1 * LG",
    novelty=novelty,
    care="min(LV, 1) - FI",
    score=lambda level: "PT",
    analyse=analyse,
    sound=lambda level: None,  # the analysis has nothing to say of levels that can be won
    generator=found_in("persona_evo.games.catalog.its_alive.generate", "GENERATOR"),
)
