"""A playtest that starts again with each change of its levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from persona_evo.api.options import SearchOptions
from persona_evo.api.playtests import playing_rules
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.live import LivePlaytest
from persona_evo.playtest.players import Player


def live_playtest(
    game: Game,
    players: Sequence[Player],
    workers: Workers,
    *,
    trials: int,
    seed: int,
    iterations: int | None,
    seconds: float | None,
    continuation: float,
    **options: Unpack[SearchOptions],
) -> LivePlaytest:
    """Return a playtest that can start again with each change of its levels (arguments as for `playtest_levels`).

    Raises:
        SettingsError: as for `playtest_levels`.
    """
    rules = playing_rules(game, players, options, iterations=iterations, seconds=seconds)
    return LivePlaytest(
        game,
        trials,
        seed=seed,
        workers=workers,
        budget=rules.budget,
        settings=rules.search,
        league=rules.league,
        continuation=continuation,
        game_name=registry.address(game),
    )
