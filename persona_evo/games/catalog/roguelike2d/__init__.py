"""2D Roguelike: the game of Unity's tutorial, whose days are laid out by the level's seed. Rules: README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from persona_evo.games.catalog.roguelike2d import layout
from persona_evo.games.catalog.roguelike2d.levels import load
from persona_evo.games.catalog.roguelike2d.metrics import METRICS
from persona_evo.games.catalog.roguelike2d.moves import action_name, cause, events, locate, parse_action
from persona_evo.games.catalog.roguelike2d.structure import structure
from persona_evo.games.core import Game, Level, found_in, rules_in
from persona_evo.games.findings import Finding


def novelty(level: Level) -> tuple[Any, int]:
    """Return the function that describes what makes a state new (see `reach.novelty`), and its number of variables."""
    from persona_evo.games.catalog.roguelike2d.reach import novelty as compiled

    return compiled, 1 + layout.MOST_ITEMS + layout.MOST_WALLS + layout.MOST_ENEMIES


def analyse(level: Level) -> list[Finding]:
    """Return the findings on whether the food can last (see `analysis`)."""
    from persona_evo.games.catalog.roguelike2d.analysis import analyse as found

    return found(level)


GAME = Game(
    name="roguelike2d",
    title="2D Roguelike",
    version=1,
    metrics=METRICS,
    rules=rules_in("persona_evo.games.catalog.roguelike2d.rules"),
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
    reach=found_in("persona_evo.games.catalog.roguelike2d.reach", "reach"),
    homing="PR",
    novelty=novelty,
    care="FD",
    health="FD",
    score=lambda level: f"RW * {layout.START_FOOD * len(level.facts['days'])}",
    analyse=analyse,
    generator=found_in("persona_evo.games.catalog.roguelike2d.generate", "GENERATOR"),
)
