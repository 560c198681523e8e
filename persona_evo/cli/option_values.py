"""The values that options stand for: games, levels, budgets, players."""

from __future__ import annotations

import argparse
import contextlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.errors import SettingsError
from persona_evo.limits import MOST_ITERATIONS as MOST_ITERATIONS
from persona_evo.limits import MOST_SECONDS as MOST_SECONDS
from persona_evo.limits import SEEDS as SEEDS

if TYPE_CHECKING:
    from persona_evo.api.options import SearchOptions
    from persona_evo.games.acceptance import Accepted
    from persona_evo.games.core import Game, Level
    from persona_evo.jobs.workers import Workers
    from persona_evo.playtest.players import Player


MUCH, RATE, ITERATIONS = 15.0, 300_000.0, 10_000
"""Figures for an estimate of work: the seconds on one core from which workers are started before anything else, the
iterations per second, and the default iterations of a search.
"""


def search_options(args: argparse.Namespace) -> SearchOptions:
    """Return how the players search, for `playtest_levels`."""
    return {
        "search": args.search,
        "hedge": args.hedge,
        "tolerance": args.tolerance,
        "selection_rule": args.selection_rule,
        "rollout_policy": args.rollout_policy,
        "seeds": args.seeds,
        "league": args.league or (),
        "agent": args.agent or "",
    }


def new_folder(root: Path, words: Sequence[str]) -> Path:
    """Return the name of a new folder below `root`, made of the time and some words."""
    from datetime import UTC, datetime

    from persona_evo.names import file_name

    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name = file_name(f"{moment}-{'-'.join(words[:4])}")[:80]
    folder, copies = root / name, 1
    while folder.exists():
        copies += 1
        folder = root / f"{name}-{copies}"
    return folder


def game_of(args: argparse.Namespace) -> Game:
    """Load the game of --game."""
    from persona_evo.games import registry

    check_outside(args.game)
    return registry.get(args.game)


def check_outside(name: str) -> None:
    """Check that a connected game's description is correct and that the files that it names exist.

    This takes no time and is done before anything is compiled. Other games and missing descriptions are not checked.

    Raises:
        ConnectError: the description is wrong, or there is nothing to start.
    """
    from pathlib import Path

    if not name.endswith(".toml") or not Path(name).is_file():
        return
    from persona_evo.connect import description_file, launch

    about = description_file.read(Path(name))
    launch.command(about.game, about.arguments)


def accepted_of(args: argparse.Namespace) -> list[Accepted]:
    """Read the file of accepted findings; return no entries if no file is named."""
    from persona_evo.games import acceptance

    return [] if args.accept is None else acceptance.read(args.accept)


def report_findings(game: Game) -> None:
    """Print why a connected game failed, and what could not be checked."""
    from persona_evo.cli.say import note

    for finding in () if game.outside is None else game.outside.findings():
        note(finding)


def watching(args: argparse.Namespace, game: Game) -> contextlib.AbstractContextManager[None]:
    """Return a context in which the best playthroughs of a connected game are shown if --watch asks for it.

    Raises:
        SettingsError: --watch with a game that is not a connected one.
    """
    if args.watch is None:
        return contextlib.nullcontext()
    if game.outside is None:
        raise SettingsError("only connected games can be watched", found=f"--watch with {game.name}")
    return game.outside.watch(args.watch)


def moved(args: argparse.Namespace) -> str | None:
    """Return the present place of a resumed job's game, if --game gives it."""
    from persona_evo.games import registry

    return None if args.game == registry.DEFAULT else str(args.game)


def options_of(args: argparse.Namespace, game: Game) -> dict[str, Any]:
    """Collect the options for the game's level loader."""
    from persona_evo.games.options import level_options

    found = once(args.option, "--option")
    _check_options(found, game)
    if args.rules is not None:
        found["rules"] = args.rules
    if args.allow_unreachable:
        found["allow_unreachable"] = True
    return level_options(game, found)


_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a name"),
    "bool": ((bool,), "true or false"),
    "int": ((int, bool), "a whole number"),
}
"""By annotation of a loader's option, the types of its value, and these in words."""


def _check_options(found: Mapping[str, Any], game: Game) -> None:
    parameters = inspect.signature(game.load).parameters.values()
    options = {p.name: p for p in parameters if p.kind == p.KEYWORD_ONLY}
    more = next((p for p in parameters if p.kind == p.VAR_KEYWORD), None)
    given = {"text", *(p.name for p in parameters if p.name not in options and p is not more)}
    for name, value in found.items():
        if name in given:
            raise SettingsError(
                "a level's text and name come from its file",
                found=f"--option {name}=...",
                expected="an option of the game's loader",
            )
        parameter = options.get(name, more)
        kinds, words = _KINDS.get(str(parameter.annotation) if parameter else "", ((object,), ""))
        if object not in kinds and type(value) not in kinds:
            raise SettingsError(f"option {name!r} has a wrong value", found=repr(value), expected=words)


def once(given: Sequence[tuple[str, Any]], option: str) -> dict[str, Any]:
    """Collect assignments by name, and refuse a name that is given twice."""
    found: dict[str, Any] = {}
    for name, value in given:
        if name in found:
            raise SettingsError(f"{option} {name} is given twice", found=repr(value), expected="one value")
        found[name] = value
    return found


def levels_of(args: argparse.Namespace, game: Game, named: Sequence[str]) -> list[Level]:
    """Load the levels that were named, and print their warnings."""
    from persona_evo.games import mapsets

    found = mapsets.resolve(game, named, options_of(args, game))
    tell_warnings(found)
    return found


def tell_warnings(levels: Sequence[Level]) -> None:
    """Print the warnings of levels."""
    from persona_evo.cli.say import note

    for level in levels:
        for warning in level.warnings:
            note(f"{level.name}: {warning}")


def jobs_of(args: argparse.Namespace) -> int:
    """Return the number of cores to use."""
    from persona_evo.jobs.workers import cores

    return int(args.jobs or cores())


def workers_of(args: argparse.Namespace, module: str, seconds: float) -> Workers:
    """Make the workers; start them at once if there is probably enough work.

    Args:
        module: the module that a worker imports first.
        seconds: estimated seconds of work on one core.
    """
    from persona_evo.compiling import is_warm
    from persona_evo.jobs.workers import Workers

    workers = Workers(jobs_of(args), args.backend, args.address)
    if seconds >= MUCH and args.backend == "loky" and not str(args.game).endswith(".toml") and is_warm():
        workers.begin(module)
    return workers


def thought(args: argparse.Namespace, searches: int) -> float:
    """Estimate the seconds that a number of searches take on one core."""
    return searches * (args.seconds or (args.iterations or ITERATIONS) / RATE)


def typed(args: argparse.Namespace, seed: int) -> str:
    """Return the command line as it was typed, with the seed that was used, so that it can be repeated."""
    from persona_evo.jobs.windows import command_line

    command, *words = args.typed
    more = [] if getattr(args, "resume", None) is not None or args.seed is not None else ["--seed", str(seed)]
    words = [*more, *words] if "--" in words else [*words, *more]
    return command_line(["persona-evo", command, *words])


def seed_of(args: argparse.Namespace) -> int:
    """Return the seed of --seed, or a new one."""
    from persona_evo.seeds import fresh

    return fresh() if args.seed is None else int(args.seed)


def players_of(args: argparse.Namespace, game: Game) -> list[Player]:
    """Make the players: personas with their tree policies, each followed by its baseline if it has one."""
    from persona_evo.api.players import make_players
    from persona_evo.cli.say import note

    return make_players(
        args.personas,
        game,
        policies=args.policy or (),
        baseline=getattr(args, "baseline", None),
        search=args.search,
        agent=args.agent or "",
        skills=args.skill,
        notice=note,
    )
