"""Makes pools of generated training levels. Each level is proven winnable, and its best known utility is recorded.

A level joins a pool if the planner finds a plan that wins, which is the proof; a level without such a plan is replaced.
This does not depend on a persona, so several personas can share one pool. The best known utility of a persona in each
level is found afterwards, by searches with its utility.

Results do not depend on the number of jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from persona_evo.errors import SettingsError
from persona_evo.evolve.pool_clock import Counted, PoolClock, Tell
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.constraints import Constraints
from persona_evo.games.core import WON, Game, Level
from persona_evo.games.generating import STREAMS, LevelSource, check_count
from persona_evo.games.level_text import LevelText
from persona_evo.games.main_metrics import main_metrics
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.personas.lists import OpenList
from persona_evo.search.plan import Planner, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.words import counted

WIN_ITERATIONS = (2_000, 20_000, 200_000)
"""The iterations spent on finding a plan that wins. A larger number is used only if the smaller ones found none."""

ITERATIONS = 20_000
"""The iterations of the search for the best known utility."""

MORE = 5
"""The factor on the iterations for a level whose best plan is not proven and does not win."""

VALIDATION, HELD_OUT = 30, 50
"""The default numbers of validation levels and of held-out levels of an evolution."""

CANDIDATES = 20
"""The number of levels tried for one place in a pool."""

SECONDS = 0.1
"""The assumed seconds per level."""


@dataclass(frozen=True)
class LevelPool:
    """Levels to train on or to compare on.

    Attributes:
        levels: the levels, each proven winnable.
        best: the best known utility of each level for a persona; empty if it is not known.
    """

    levels: tuple[LevelText, ...]
    best: tuple[float, ...]

    def load(self, game: Game) -> list[Level]:
        """Return the levels as the game loads them."""
        return [level.load(game) for level in self.levels]

    def to_dict(self) -> dict[str, Any]:
        """Return the pool as plain values for a run's configuration."""
        return {"levels": [level.to_dict() for level in self.levels], "best": list(self.best)}

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> LevelPool:
        """Make a pool from plain values; the inverse of `to_dict`.

        Raises:
            KeyError, TypeError, ValueError: the values are not a pool.
        """
        levels = tuple(LevelText.of_dict(level) for level in values["levels"])
        best = tuple(float(utility) for utility in values["best"])
        if best and len(levels) != len(best):
            raise ValueError(f"{len(levels)} levels, {len(best)} utilities")
        return cls(levels, best)


class Won(NamedTuple):
    """A level, and the moves of a plan that wins it."""

    level: LevelText
    moves: int


class LevelRequest(NamedTuple):
    """The levels to be drawn and solved.

    Attributes:
        game: the name in the registry, or "module:object".
        seed, stream: the random source of the levels.
        constraints: the constraints on the levels.
        options: options for the game's level loader.
    """

    game: str
    seed: int
    stream: str
    constraints: Constraints
    options: tuple[tuple[str, Any], ...]


class Best(NamedTuple):
    """The settings of the search for the best known utility.

    Attributes:
        game: the name in the registry, or "module:object".
        utility: the text of the persona's utility, over the game's metrics.
        lists: the persona's open lists.
        seed: the seed of the searches.
        iterations: the iterations of each search.
    """

    game: str
    utility: str
    lists: tuple[OpenList, ...]
    seed: int
    iterations: int


def counts(train: int, held_out: int = HELD_OUT, validation: int = VALIDATION) -> dict[str, int]:
    """Return the number of levels of each stream in an evolution."""
    return dict(zip(STREAMS, (train, validation, held_out), strict=True))


def prepared(
    game: Game,
    utility: Formula,
    counts: Mapping[str, int],
    seed: int,
    workers: Workers,
    *,
    lists: Sequence[OpenList] = (),
    iterations: int = ITERATIONS,
    constraints: Constraints | None = None,
    options: Mapping[str, Any] | None = None,
    tell: Tell | None = None,
    until: float | None = None,
) -> dict[str, LevelPool]:
    """Return the pools of an evolution by their streams. No level is in two pools.

    Args:
        counts: the number of levels by stream.
        tell: receives progress.
        until: the moment on `time.monotonic` by which the pools are made.

    Raises:
        SettingsError: as `winners`, or the time is up.
    """
    clock = PoolClock(2 * sum(counts.values()), tell, until)
    found: dict[str, LevelPool] = {}
    for stream, count in counts.items():
        levels = winnable(
            game,
            count,
            seed,
            stream,
            workers,
            constraints=constraints,
            options=options,
            progress=clock.phase(f"generating levels ({stream})"),
        )
        best = best_known(
            game,
            levels,
            utility,
            seed,
            workers,
            lists=lists,
            iterations=iterations,
            progress=clock.phase(f"finding the best known utilities ({stream})"),
        )
        found[stream] = LevelPool(levels, best)
    return found


def winnable(
    game: Game,
    count: int,
    seed: int,
    stream: str,
    workers: Workers,
    *,
    constraints: Constraints | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Counted | None = None,
) -> tuple[LevelText, ...]:
    """Return sound levels of a seed, each of which a plan has won; as `winners`. `progress` receives progress."""
    found: list[LevelText] = []
    for won in winners(game, count, seed, stream, workers, constraints=constraints, options=options):
        found.append(won.level)
        if progress is not None:
            progress(len(found), count)
    return tuple(found)


def winners(
    game: Game,
    count: int,
    seed: int,
    stream: str,
    workers: Workers,
    *,
    constraints: Constraints | None = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Won]:
    """Yield sound levels of a seed, each of which a plan has won. No two are equal.

    Args:
        count: the number of levels.
        stream: one of `generating.STREAMS`; levels of different streams are never equal.
        constraints: the constraints on the levels.
        options: options for the game's loader.

    Raises:
        SettingsError: the game draws no levels or cannot be planned, or too few levels were sound and winnable.
    """
    check_count(count)
    constraints = constraints or Constraints()
    LevelSource(game, seed, stream, constraints, options or {})
    if not game.planned:
        raise SettingsError(
            f"levels of {game.title} cannot be proven winnable",
            found=game.name,
            expected="a deterministic single-player game",
            hint="name levels instead",
        )
    wanted = LevelRequest(registry.address(game), seed, stream, constraints, tuple(sorted((options or {}).items())))
    found = set[str]()
    jobs = [(number, 0) for number in range(1, count + 1)]
    for part in Dispatch(workers, _won, wanted, jobs, [0] * count, [SECONDS] * count):
        for won in part:
            skip = 0
            while won.level.text in found:  # equal levels are rare: the later one is drawn anew, in this process
                skip += 1
                won = next(_won(wanted, [(len(found) + 1, skip)]))
            found.add(won.level.text)
            yield won


def best_known(
    game: Game,
    levels: Sequence[LevelText],
    utility: Formula,
    seed: int,
    workers: Workers,
    *,
    lists: Sequence[OpenList] = (),
    iterations: int = ITERATIONS,
    progress: Counted | None = None,
) -> tuple[float, ...]:
    """Return the best utility that the planner finds in each level.

    Args:
        utility: the persona's utility.
        lists: the persona's open lists.
        iterations: the iterations of each search. A search ends sooner if it proves its plan, and is extended if the
            plan does not win.
        progress: receives progress.
    """
    best = Best(registry.address(game), utility.text, tuple(lists), seed, iterations)
    found: list[float] = []
    count = len(levels)
    for utilities in Dispatch(workers, _reached, best, levels, [0] * count, [SECONDS] * count):
        found += utilities
        if progress is not None:
            progress(len(found), count)
    return tuple(found)


def _won(wanted: LevelRequest, jobs: Sequence[tuple[int, int]]) -> Iterator[Won]:
    """Yield the levels of some places in the pool, as (number, winnable candidates to leave out); run by workers.

    Raises:
        SettingsError: no level drawn for a place can be won.
    """
    game = registry.get(wanted.game)
    source = LevelSource(game, wanted.seed, wanted.stream, wanted.constraints, dict(wanted.options))
    for number, skip in jobs:
        candidates = source.candidates(number)
        for level, _ in (next(candidates) for _ in range(CANDIDATES + skip)):
            if moves := moves_to_win(game, level):
                if not skip:
                    yield Won(LevelText.of(level), moves)
                    break
                skip -= 1
        else:
            raise SettingsError(
                f"no level that can be proven winnable was found for number {number} of {game.title}",
                found=f"no win in {counted(CANDIDATES, 'sound level')} in {win_iterations(game)[-1]:,} iterations each",
                expected="levels that can be won",
                hint="relax the constraints, or choose other kinds",
            )


def moves_to_win(game: Game, level: Level) -> int:
    """Return the number of moves of a plan that wins, 0 if none was found."""
    for iterations in win_iterations(game):
        first = iterations == WIN_ITERATIONS[0]
        settings = replace(SearchSettings.single(), stop="first_win") if first else SearchSettings.anytime()
        planner = planner_for(game, level, settings, iterations + 1)
        for goal in goals(game):
            found = planner.plan(goal, TreePolicy.utility(goal), Budget(iterations), 0)
            if found.outcome == WON:
                return len(found.actions)
    return 0


def win_iterations(game: Game) -> tuple[int, ...]:
    """Return the WIN_ITERATIONS used in a game.

    Games written as classes are slow and would take minutes for the last.
    """
    return WIN_ITERATIONS if game.compiled else WIN_ITERATIONS[:-1]


def goals(game: Game) -> list[Formula]:
    """Return the scores that guide a search for a win: what grows on the way to one, or else each metric that may."""
    if game.homing:
        return [parse(game.homing, game.symbols)]
    lasting = [m for m in game.metrics if m.clock and m.better == "higher"]
    signs = {"higher": "", "lower": "-", "neutral": ""}
    texts = [signs[m.better] + m.symbol for m in (*lasting, *main_metrics(game.metrics))]
    return [parse(text, game.symbols) for text in dict.fromkeys(texts or ["0"])]


def _reached(best: Best, levels: Sequence[LevelText]) -> Iterator[float]:
    """Yield the best known utility of some levels; run by workers."""
    game = registry.get(best.game)
    utility = parse(best.utility, game.symbols)
    policy = replace(TreePolicy.utility(utility), lists=best.lists)
    for level in levels:
        loaded, found = level.load(game), list[float]()
        for iterations in (best.iterations, MORE * best.iterations):
            planner = Planner(game, loaded, SearchSettings.anytime(), iterations + 1)
            plan = planner.plan(utility, policy, Budget(iterations), best.seed, polish=0)
            found.append(plan.best_utility)
            if plan.proven or plan.outcome == WON:
                break
        yield max(found)
