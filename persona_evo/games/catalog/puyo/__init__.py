"""Puyo-Puyo by the Tsu rules: pairs of coloured puyos fall, four of a colour pop, chains score. Rules: README.md.

`GAME` knows all pairs of a level, so it can be planned; in `HIDDEN` only the visible ones are certain, and the rest is
drawn while it is played.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from persona_evo.games.catalog.puyo.levels import load, load_hidden, restart
from persona_evo.games.catalog.puyo.metrics import METRICS
from persona_evo.games.catalog.puyo.moves import action_name, cause, events, parse_action
from persona_evo.games.catalog.puyo.structure import structure
from persona_evo.games.core import Game, Level, found_in, rules_in
from persona_evo.games.findings import Finding

TITLE = "Puyo-Puyo"


def novelty(level: Level) -> tuple[Any, int]:
    """Return the function that describes what makes a state new (see `reach.novelty`), and its number of variables."""
    from persona_evo.games.catalog.puyo.reach import CELLS
    from persona_evo.games.catalog.puyo.reach import novelty as compiled

    return compiled, CELLS


def analyse(level: Level) -> list[Finding]:
    """Return the finding on a level that is always lost within its first drops."""
    from persona_evo.games.explored import lost_start

    return lost_start(GAME, level)


GAME = Game(
    name="puyo",
    title=TITLE,
    version=1,
    metrics=METRICS,
    rules=rules_in("persona_evo.games.catalog.puyo.rules"),
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
    reach=found_in("persona_evo.games.catalog.puyo.reach", "reach"),
    novelty=novelty,
    care="-H3 - PU / 6",
    analyse=analyse,
    sound=lambda level: None,  # the analysis has nothing to say of levels that can be won
    generator=found_in("persona_evo.games.catalog.puyo.generate", "GENERATOR"),
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
