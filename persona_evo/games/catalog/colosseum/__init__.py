"""Colosseum Survival!: two players wall each other off on a square board. Rules: README.md."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from persona_evo.games.catalog.colosseum.levels import load, restart
from persona_evo.games.catalog.colosseum.metrics import METRICS
from persona_evo.games.catalog.colosseum.moves import action_name, events, locate, parse_action
from persona_evo.games.catalog.colosseum.structure import structure
from persona_evo.games.core import Game, Rules, rules_in

MOST_MOVES = 2 * 32 * 31


VARIANTS = ("random", "killers", "narrow", "killer_games", "wide", "blind", "calm", "unswapped")
"""The variants of the rules for other ways to search (see `hunters`)."""


def variant(name: str, costly: bool = False) -> Rules:
    """Return the rules of a variant."""
    from persona_evo.games.catalog.colosseum.hunters import variant as found

    return found(name, costly)


GAME = Game(
    name="colosseum",
    title="Colosseum Survival!",
    version=1,
    metrics=METRICS,
    rules=rules_in("persona_evo.games.catalog.colosseum.rules"),
    load=load,
    action_name=action_name,
    parse_action=parse_action,
    players=2,
    horizon=MOST_MOVES,
    restart=restart,
    locate=locate,
    events=events,
    structure=structure,
    draw="persona_evo.games.catalog.colosseum.draw",
    levels=str(Path(__file__).parent / "levels"),
    variants={name: partial(variant, name) for name in VARIANTS},
    whole_games=("unswapped",),
    agents=str(Path(__file__).parent / "agents.toml"),
    programs="persona_evo.games.catalog.colosseum.foreign",
)
