"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.cli.parser import assignment, filled, names, number, path, whole
from persona_evo.cli.players import (
    by_persona,
    no_programs,
    own_policy,
    read_policy,
    short,
    tell_of_agents,
    with_baseline,
)
from persona_evo.errors import Place, SettingsError
from persona_evo.limits import MOST_ITERATIONS as MOST_ITERATIONS
from persona_evo.limits import MOST_JOBS, MOST_SHARE
from persona_evo.limits import MOST_SECONDS as MOST_SECONDS
from persona_evo.limits import SEEDS as SEEDS

if TYPE_CHECKING:
    from persona_evo.agents.duel import League
    from persona_evo.games.acceptance import Accepted
    from persona_evo.games.core import Game, Level
    from persona_evo.jobs.workers import Workers
    from persona_evo.personas import Persona
    from persona_evo.playtest.players import Player
    from persona_evo.search.settings import Budget, SearchSettings

MUCH, RATE, ITERATIONS = 15.0, 300_000.0, 10_000
"""Seconds of work on one core for which workers are started before anything else, iterations per second, and those of a
search if not given."""
PRESETS = ("paper", "single", "anytime")
"""Rules of the search (`search.settings.PRESETS`)."""

LEVELS = "files, folders, patterns, names or sets (train, test, all; one of your own: FILE.toml#name)"
"""What names of levels may be."""

PERSONA = "name, abbreviation or TOML file"


def add_game(parser: argparse.ArgumentParser) -> None:
    """--game."""
    parser.add_argument(
        "--game",
        default="minidungeons2",
        type=filled,
        metavar="GAME",
        help='name of a game, or "module:object" for your own (default: %(default)s)',
    )


def add_trust(parser: argparse.ArgumentParser) -> None:
    """--trust."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="run the game's file that the folder names, although it is not the one of then",
    )


def accept(args: argparse.Namespace, folder: Path) -> None:
    """Accept the code that a folder names, if --trust says so."""
    if args.trust:
        from persona_evo.games import trust

        trust.accept(folder)


def add_new(parser: argparse.ArgumentParser, suffix: str) -> None:
    """NAME, --out, --force and --game, of the commands that write a file to start from."""
    parser.add_argument("name", type=filled, metavar="NAME", help="name: letters, digits, _ and -")
    parser.add_argument("-o", "--out", type=path, metavar="FILE", help=f"file to write (default: NAME.{suffix})")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    add_game(parser)


def add_level_options(parser: argparse.ArgumentParser) -> None:
    """--game, --rules, --option, --allow-unreachable."""
    add_game(parser)
    parser.add_argument("--rules", type=filled, metavar="NAME", help="rule set of the game, such as paper")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="set an option of the game's level loader; may be repeated",
    )
    parser.add_argument(
        "--allow-unreachable",
        action="store_true",
        help="warn about a level whose exit cannot be reached instead of refusing it",
    )


def add_budget(parser: argparse.ArgumentParser, default: str = "10000", each: str = "playthrough") -> None:
    """--iterations and --seconds."""
    parser.add_argument(
        "--iterations",
        type=whole(1, MOST_ITERATIONS),
        metavar="N",
        help=f"search iterations per {each} (default: {default}; no limit with --seconds)",
    )
    parser.add_argument(
        "--seconds",
        type=number(0, MOST_SECONDS, above=True),
        metavar="S",
        help=f"search time in seconds per {each}; results then depend on the machine",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """--jobs."""
    parser.add_argument(
        "--jobs",
        type=whole(1, MOST_JOBS),
        metavar="N",
        help="number of cores to use (default: all); results do not depend on it",
    )


def add_backend(parser: argparse.ArgumentParser, address: bool = True) -> None:
    """--backend and --address; address: False where a cluster is always one's own."""
    parser.add_argument(
        "--backend",
        default="loky",
        choices=("loky", "threading", "dask", "ray"),
        help="where the work runs (default: %(default)s)",
    )
    parser.set_defaults(address=None)
    if address:
        parser.add_argument(
            "--address", type=filled, metavar="HOST:PORT", help="address of the scheduler of a dask or ray cluster"
        )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """--seed."""
    parser.add_argument(
        "--seed",
        type=whole(0, SEEDS),
        metavar="N",
        help="random seed; the same seed gives the same result (default: a new one, which is printed)",
    )


def add_league(parser: argparse.ArgumentParser, whom: str, who: str) -> None:
    """--league and --agent. whom: meets the league. who: the agent is."""
    parser.add_argument(
        "--league",
        nargs="+",
        type=filled,
        metavar="AGENT",
        help=f"in two-player games: the opponents that {whom}, named as for match; programs (FILE.py) "
        "are not allowed, since their games cannot be replayed (default: the game's league)",
    )
    parser.add_argument(
        "--agent",
        type=filled,
        metavar="AGENT",
        help=f"agent that plays move by move, the one {who}; programs are not allowed. Without an "
        "agent, single-player games are planned whole (default in two-player games: the game's "
        "evolver)",
    )


def add_personas(parser: argparse.ArgumentParser) -> None:
    """--personas."""
    parser.add_argument(
        "--personas",
        default=["all"],
        type=names,
        metavar="NAMES",
        help="names, abbreviations or TOML files with commas between them; your own are named by file; "
        "all: the paper's four, or all that ship with the game if it has none of these (default: all)",
    )


def add_policies(parser: argparse.ArgumentParser) -> None:
    """--policy."""
    parser.add_argument(
        "--policy",
        action="append",
        type=filled,
        metavar="[PERSONA=]POLICY",
        help="evolved, paper, utility (what the persona wants), ucb1, ucb1:C, a policy's name or file, "
        "a run's folder, formula:TEXT, or agent:NAME, which plays in its own way beside --agent; may "
        "be repeated for single personas (default: evolved, where there is one, else utility, or ucb1 "
        "in games that are not planned whole and with --search paper)",
    )


def add_search(parser: argparse.ArgumentParser, tolerance: float) -> None:
    """--search, --hedge and --tolerance. tolerance: where none is given."""
    parser.add_argument(
        "--search",
        choices=PRESETS,
        help="rules of the search: anytime is the planner with several open lists, single has one, "
        "paper is the publication's (default: anytime)",
    )
    parser.add_argument(
        "--hedge",
        type=number(0, MOST_SHARE),
        metavar="SHARE",
        help="with anytime: share of the iterations for a search by UCB1 of its own, of which the plan "
        "counts if it is the better one (default: 0)",
    )
    parser.add_argument(
        "--tolerance",
        type=number(0, MOST_SHARE),
        metavar="SHARE",
        help="with anytime: each trial shows another route among the plans that are worth less than "
        f"the best by this share of its utility at most (default: {tolerance:g})",
    )
    parser.add_argument(
        "--selection-rule",
        type=filled,
        metavar="NAME",
        help="with single or paper: a rule of an installed package that chooses the child to descend to, with the tree "
        "policy as its prior",
    )
    parser.add_argument(
        "--rollout-policy",
        type=filled,
        metavar="NAME",
        help="rollouts of an installed package (default: random, the game's own)",
    )
    parser.set_defaults(usual_tolerance=tolerance)


def rules_of(args: argparse.Namespace, game: Game, league: League | None = None) -> SearchSettings:
    """The rules of the search that were asked for.

    Raises:
        SettingsError: --hedge or --tolerance where no planner with open lists plays, --selection-rule where one does.
    """
    from dataclasses import replace

    from persona_evo.api.naming import rules_of_search

    found = rules_of_search(
        args.search or "anytime",
        game,
        hedge=args.hedge,
        tolerance=args.tolerance,
        agent="" if league is None else league.agent.name,
        usual=args.usual_tolerance,
    )
    added = {"selection_rule": args.selection_rule, "rollout_policy": args.rollout_policy}
    return replace(found, **{name: value for name, value in added.items() if value is not None})


def add_out(parser: argparse.ArgumentParser, text: str) -> None:
    """--out."""
    parser.add_argument("--out", type=path, metavar="FOLDER", help=text)


def check_picture(target: Path, suffix: str = ".gif") -> None:
    """Refuse a name for a picture that does not end as its format does."""
    if target.suffix.lower() != suffix:
        raise SettingsError(
            f"the picture is a {suffix[1:].upper()} and would be named as something else",
            found=str(target),
            expected=f"a name that ends in {suffix}",
        )


def new_folder(root: Path, words: Sequence[str]) -> Path:
    """A folder below `root` that is not there yet, named by the moment and some words."""
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
    """The game that was named."""
    from persona_evo.games import registry

    check_outside(args.game)
    return registry.get(args.game)


def check_outside(name: str) -> None:
    """See that a connected game's description is right and that what it names is there, which costs nothing, before
    anything is compiled for it. Other games, and descriptions that are not there, are not looked at.

    Raises:
        ConnectError: the description is wrong, or there is nothing to start.
    """
    from pathlib import Path

    if not name.endswith(".toml") or not Path(name).is_file():
        return
    from persona_evo.connect import description_file, launch

    about = description_file.read(Path(name))
    launch.command(about.game, about.arguments)


def add_accept(parser: argparse.ArgumentParser) -> None:
    """--accept."""
    parser.add_argument(
        "--accept",
        type=path,
        metavar="FILE",
        help="TOML file of accepted findings, a table [[accept]] for each with kind, level, places "
        '(such as ["7:10"], optional) and reason; accepted findings are listed apart and fail nothing',
    )


def accepted_of(args: argparse.Namespace) -> list[Accepted]:
    """The entries of the file of accepted findings; none without a file."""
    from persona_evo.games import acceptance

    return [] if args.accept is None else acceptance.read(args.accept)


def report_findings(game: Game) -> None:
    """Say what made a connected game fail, and what could not be checked."""
    from persona_evo.cli.say import note

    for finding in () if game.outside is None else game.outside.findings():
        note(finding)


def moved(args: argparse.Namespace) -> str | None:
    """Where the game of something that is resumed stands now, if that was said."""
    from persona_evo.games import registry

    return None if args.game == registry.DEFAULT else str(args.game)


def options_of(args: argparse.Namespace, game: Game) -> dict[str, Any]:
    """Options for the game's level loader."""
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
"""Annotation of a loader's option -> what its value may be, and this in words."""


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
    """Assignments by name, each given once."""
    found: dict[str, Any] = {}
    for name, value in given:
        if name in found:
            raise SettingsError(f"{option} {name} is given twice", found=repr(value), expected="one value")
        found[name] = value
    return found


def levels_of(args: argparse.Namespace, game: Game, named: Sequence[str]) -> list[Level]:
    """The levels that were named; their warnings are printed."""
    from persona_evo.cli.say import note
    from persona_evo.games import mapsets

    found = mapsets.resolve(game, named, options_of(args, game))
    for level in found:
        for warning in level.warnings:
            note(f"{level.name}: {warning}")
    return found


def budget_of(args: argparse.Namespace, league: League | None = None) -> Budget:
    """The budget of a playthrough, or of a move where one is played move by move."""
    from persona_evo.agents.duel import budget_for

    return budget_for(args.iterations, args.seconds, league)


def league_of(args: argparse.Namespace, game: Game, persona: Persona) -> League | None:
    """Who plays move by move; None in single-player games where no agent is named."""
    from persona_evo.matches import names

    if game.players == 1:
        if args.league:
            raise SettingsError(
                "--league is for two-player games", found=f"{game.name}, for one", hint="leave --league out"
            )
        if not args.agent:
            return None
    with no_programs():
        return names.league(game, persona.utility.text, args.agent or "", args.league or ())


def jobs_of(args: argparse.Namespace) -> int:
    """Cores to use."""
    from persona_evo.jobs.workers import cores

    return int(args.jobs or cores())


def workers_of(args: argparse.Namespace, module: str, seconds: float) -> Workers:
    """Who does the work, started when there is some; right away where there is probably enough.

    Args:
        module: what a worker needs first.
        seconds: of work on one core that there are about.
    """
    from persona_evo.compiling import is_warm
    from persona_evo.jobs.workers import Workers

    workers = Workers(jobs_of(args), args.backend, args.address)
    if seconds >= MUCH and args.backend == "loky" and not str(args.game).endswith(".toml") and is_warm():
        workers.begin(module)
    return workers


def thought(args: argparse.Namespace, searches: int) -> float:
    """Seconds that so many searches may take on one core."""
    return searches * (args.seconds or (args.iterations or ITERATIONS) / RATE)


def check_backend(args: argparse.Namespace) -> None:
    """Refuse a cluster that cannot be used, before anything is made."""
    from persona_evo.jobs.workers import Workers

    Workers(1, args.backend, args.address)


def typed(args: argparse.Namespace, seed: int) -> str:
    """The command line as typed, with the seed, so that it can be repeated. seed: the seed that was used."""
    import shlex

    command, *words = args.typed
    more = [] if getattr(args, "resume", None) is not None or args.seed is not None else ["--seed", str(seed)]
    words = [*more, *words] if "--" in words else [*words, *more]
    return shlex.join(["persona-evo", command, *words])


def seed_of(args: argparse.Namespace) -> int:
    """The seed given, or a new one."""
    from persona_evo.seeds import fresh

    return fresh() if args.seed is None else int(args.seed)


def players_of(args: argparse.Namespace, game: Game) -> list[Player]:
    """The personas that were named with their tree policies, each followed by its baseline where one is asked for."""
    from persona_evo import api
    from persona_evo.api.naming import by_utility
    from persona_evo.cli.say import note
    from persona_evo.personas import catalog, resolve
    from persona_evo.search.settings import SearchSettings

    chosen = resolve(args.personas, game)
    left = [p.name for p in catalog(game) if p not in chosen] if args.personas == ["all"] else []
    if left:
        note(
            f"all: {', '.join(p.name for p in chosen)}; not {', '.join(left)}, nor personas of your own: name them to "
            "play them, too"
        )
    wanted = by_persona(args.policy or (), chosen)
    rules = SearchSettings.preset(getattr(args, "search", None) or "anytime")
    led = by_utility(game, rules, getattr(args, "agent", None) or "")
    found: list[Player] = []
    for persona in chosen:
        baseline = getattr(args, "baseline", None)
        beside = f"{persona.name}/{short(baseline)}" if baseline else ""
        if game.players == 1 and not getattr(args, "agent", None):
            tell_of_agents(wanted.get(persona.name, wanted.get("", "evolved")), persona, game)
        own = api.player(persona, own_policy(wanted, persona, game, led), persona.name, beside)
        if not baseline:
            found.append(own)
            continue
        planned = game.players == 1 and not getattr(args, "agent", None)
        other = api.player(persona, read_policy(baseline, persona, game), beside)
        found += with_baseline(own, other, mean=planned and getattr(args, "search", None) != "paper")
    return found


def check_gif(target: Path | None) -> None:
    """Refuse a name for an animated picture that is none of a GIF."""
    if target is not None and target.suffix.lower() != ".gif":
        raise SettingsError(
            "a replay is written as a GIF",
            place=Place(str(target)),
            found=target.suffix or "no ending",
            expected="a name that ends in .gif",
            hint=f"such as {target.with_suffix('.gif')}" if target.name else None,
        )


def note_left_out(game: Game, level: Level, players: Sequence[Player], rules: SearchSettings) -> None:
    """Say which of the lists that personas and policies bring are not searched with, and why."""
    from persona_evo.cli.say import note
    from persona_evo.search.list_orders import left_out

    for player in players:
        for text in left_out(game, level, player.persona.utility, player.policy, rules):
            note(f"{player.label}: {text}")
