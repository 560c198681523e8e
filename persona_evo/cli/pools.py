"""Levels that `--levels generate:N` generates and solves before an evolution begins."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from persona_evo.cli import option_values
from persona_evo.cli.parser import whole
from persona_evo.cli.say import StatusLine
from persona_evo.errors import SettingsError

if TYPE_CHECKING:
    from persona_evo.evolve.pools import LevelPool
    from persona_evo.games.core import Game
    from persona_evo.jobs.workers import Workers
    from persona_evo.personas import Persona


def add_held_out(parser: argparse.ArgumentParser) -> None:
    """Add --held-out."""
    parser.add_argument(
        "--held-out",
        type=whole(1, 10_000),
        metavar="N",
        help="with --levels generate:N: number of held-out levels, which influence no choice and on "
        "which the result is reported (default: 50)",
    )


def is_asked(args: argparse.Namespace) -> bool:
    """Return whether levels are to be generated.

    Raises:
        SettingsError: --held-out without generated levels, or a wrong number of levels.
    """
    from persona_evo.games.generating import asked

    if asked(args.levels or ()):
        return True
    if args.held_out is not None:
        raise SettingsError(
            "held-out levels are generated with the others",
            found=f"--held-out {args.held_out}",
            expected="--levels generate:N beside it",
            hint="leave --held-out out",
        )
    return False


def pools_of(
    args: argparse.Namespace, game: Game, persona: Persona, seed: int, workers: Workers
) -> dict[str, LevelPool]:
    """Return the pools by their streams; none if levels are named."""
    if not is_asked(args):
        return {}
    from persona_evo.evolve import pools
    from persona_evo.games.generating import asked

    lines: dict[str, StatusLine] = {}

    def tell(what: str, done: int, total: int) -> None:
        lines.setdefault(what, StatusLine()).show(f"{what}: {done} of {total}", last=done == total)

    counts = pools.counts(asked(args.levels), args.held_out or pools.HELD_OUT)
    return pools.prepared(
        game,
        persona.utility,
        counts,
        seed,
        workers,
        lists=persona.lists,
        options=option_values.options_of(args, game),
        tell=tell,
    )
