"""Winnable levels drawn from a seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from persona_evo import limits
from persona_evo.api.naming import LevelOption, game_of
from persona_evo.arguments import checked
from persona_evo.errors import SettingsError
from persona_evo.evolve import pools
from persona_evo.evolve.pools import Won as Won
from persona_evo.games import registry
from persona_evo.games.constraints import AllowedRange, Constraints
from persona_evo.games.core import Game, Level
from persona_evo.games.generating import generate, generator
from persona_evo.games.level_text import LevelText
from persona_evo.games.options import level_options
from persona_evo.jobs.workers import lent


@checked
def generate_levels(
    count: int,
    seed: int,
    *,
    game: str | Game = registry.DEFAULT,
    stream: str = "train",
    kinds: Sequence[str] = (),
    min_path: int | None = None,
    max_path: int | None = None,
    constraints: Mapping[str, tuple[float, float]] | None = None,
    jobs: int = -1,
    **options: LevelOption,
) -> list[Level]:
    """Generate levels from a seed. All are different, sound and proven to be winnable.

    The same arguments always give the same levels. In a game that is not planned, levels are sound, but it is not known
    whether they can be won.

    Args:
        count: number of levels.
        stream: "train", "validation" or "held out"; levels of different streams are never equal.
        kinds: the game's kinds of levels to use in turn; all if none are named.
        min_path, max_path: fewest and most moves to the end of a level.
        constraints: lowest and highest value of numbers of the level's structure: {"monsters": (2, 5)}.
        jobs: cores, -1 for all; it does not change the result.
        options: options of the game's loader.

    Raises:
        SettingsError: the game draws no levels, a number is out of range, or no winnable level was found that meets
            the constraints.
    """
    of = game_of(game)
    count = limits.whole(count, "the number of levels", 1, limits.MOST_LEVELS)
    seed, jobs = limits.seed(seed), limits.jobs(jobs)
    min_path, max_path = _moves(min_path, "min_path"), _moves(max_path, "max_path")
    spans = {name: _span(name, span) for name, span in (constraints or {}).items()}
    if min_path is not None or max_path is not None:
        spans.update(path_between(of, min_path, max_path))
    wanted, given = Constraints(tuple(kinds), spans), level_options(of, options)
    return [won.level.load(of) for won in each_level(of, count, seed, stream, jobs, wanted, given)]


def each_level(
    game: Game,
    count: int,
    seed: int,
    stream: str,
    jobs: int,
    constraints: Constraints,
    options: Mapping[str, LevelOption],
) -> Iterator[Won]:
    """Yield each generated level as soon as it is ready, with the moves of a plan that wins it, 0 if none is known.

    The arguments are those of `generate_levels`.
    """
    if not game.planned:
        yield from (Won(LevelText.of(level), 0) for level in generate(game, count, seed, stream, constraints, options))
        return
    with lent(None, jobs, alone=registry.alone(game)) as workers:
        yield from pools.winners(game, count, seed, stream, workers, constraints=constraints, options=options)


def _moves(value: int | None, name: str) -> int | None:
    """Convert a value to a number of moves; None stays None."""
    return None if value is None else limits.whole(value, name, 0, 1_000_000)


def _span(name: str, span: object) -> AllowedRange:
    """Convert the lowest and the highest value of a constraint."""
    values = list(span) if isinstance(span, (tuple, list)) else []
    if len(values) != 2:
        raise SettingsError(
            f"the constraint {name!r} needs a lowest and a highest value",
            found=repr(span)[:200],
            expected="two numbers, such as (2, 5)",
        )
    return AllowedRange(*(limits.number(value, f"the constraint {name!r}", -math.inf, math.inf) for value in values))


def path_between(game: Game, low: int | None, high: int | None) -> dict[str, AllowedRange]:
    """Make the constraint on the number of moves to the end of a level.

    Raises:
        SettingsError: the game has no such number, or no way can be that long.
    """
    path = generator(game).path
    if not path:
        raise SettingsError(
            f"levels of {game.title} do not have a path to the end that can be measured",
            found=f"a path of {AllowedRange(low or 0, math.inf if high is None else high)}",
            hint="leave out the constraint on the path",
        )
    if high is not None and high < (low or 0):
        raise SettingsError(
            "no path can have this length",
            found=f"at least {low} and at most {high}",
            expected="the higher number last",
        )
    return {path: AllowedRange(low or 0, math.inf if high is None else high)}
