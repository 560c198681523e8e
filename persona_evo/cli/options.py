"""Options that several commands share, and their values."""

from __future__ import annotations

import argparse
from pathlib import Path

from persona_evo.cli.parser import assignment, filled, names, number, path, whole
from persona_evo.errors import Place, SettingsError
from persona_evo.limits import MOST_BOUND_SECONDS as MOST_BOUND_SECONDS
from persona_evo.limits import MOST_ITERATIONS as MOST_ITERATIONS
from persona_evo.limits import MOST_JOBS, MOST_SEEDS, MOST_SHARE
from persona_evo.limits import MOST_SECONDS as MOST_SECONDS
from persona_evo.limits import SEEDS as SEEDS

PRESETS = ("paper", "single", "anytime")
"""Presets of the search's rules (`search.settings.PRESETS`)."""

LEVELS = "files, folders, patterns, names or sets (train, test, all; one of your own: FILE.toml#name)"
"""The forms of names of levels."""

TOLERANCE = 0.01
"""The default of --tolerance (`api.search_rules.TOLERANCE`)."""

PERSONA = "name, abbreviation or TOML file"


def add_game(parser: argparse.ArgumentParser) -> None:
    """Add --game."""
    parser.add_argument(
        "--game",
        default="minidungeons2",
        type=filled,
        metavar="GAME",
        help="name of a game, FILE.toml of a connected game, or FILE.py:GAME or module:object for a game in Python "
        "(default: %(default)s)",
    )


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add --trust."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="run the game's file that the folder names even if it has changed since the run began",
    )


def accept(args: argparse.Namespace, folder: Path) -> None:
    """Accept the code that a folder names, if --trust says so."""
    if args.trust:
        from persona_evo.games import trust

        trust.accept(folder)


def add_new(parser: argparse.ArgumentParser, suffix: str) -> None:
    """Add NAME, --out, --force and --game to a command that writes a file to start from."""
    parser.add_argument("name", type=filled, metavar="NAME", help="name: letters, digits, _ and -")
    parser.add_argument("-o", "--out", type=path, metavar="FILE", help=f"file to write (default: NAME.{suffix})")
    parser.add_argument("--force", action="store_true", help="overwrite the file if it exists")
    add_game(parser)


def add_level_options(parser: argparse.ArgumentParser) -> None:
    """Add --game, --rules, --option and --allow-unreachable."""
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
    """Add --iterations and --seconds."""
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
    """Add --jobs."""
    parser.add_argument(
        "--jobs",
        type=whole(1, MOST_JOBS),
        metavar="N",
        help="number of cores to use (default: all); results do not depend on it",
    )


def add_backend(parser: argparse.ArgumentParser, address: bool = True) -> None:
    """Add --backend and --address.

    Args:
        address: False if the command always starts its own cluster.
    """
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
    """Add --seed."""
    parser.add_argument(
        "--seed",
        type=whole(0, SEEDS),
        metavar="N",
        help="random seed; the same seed gives the same result (default: a new one, which is printed)",
    )


def add_league(parser: argparse.ArgumentParser, whom: str, who: str) -> None:
    """Add --league and --agent.

    Args:
        whom: the name of those who meet the league.
        who: a description of the agent.
    """
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
        help=f"agent that plays move by move, {who}; programs are not allowed. Without an agent, "
        "single-player games are planned as a whole (default in two-player games: the game's "
        "evolver)",
    )


def add_personas(parser: argparse.ArgumentParser) -> None:
    """Add --personas."""
    parser.add_argument(
        "--personas",
        default=["all"],
        type=names,
        metavar="NAMES",
        help="names, abbreviations or TOML files, separated by commas; name your own by file; "
        "all means the four of the paper, or all that ship with the game if it has none of these (default: "
        "all)",
    )


def add_policies(parser: argparse.ArgumentParser) -> None:
    """Add --policy."""
    parser.add_argument(
        "--policy",
        action="append",
        type=filled,
        metavar="[PERSONA=]POLICY",
        help="evolved, paper, utility (what the persona wants), ucb1, ucb1:C, a policy's name or file, "
        "a run's folder, formula:TEXT, or agent:NAME, an agent that plays with its own settings; may be "
        "repeated for single personas (default: evolved if there is one; otherwise utility, or ucb1 with "
        "--search paper and in games that are played move by move)",
    )


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add --search, --hedge, --tolerance, --selection-rule, --rollout-policy and --seeds."""
    parser.add_argument(
        "--search",
        choices=PRESETS,
        help="rules of the search: anytime is the planner with several open lists, single has one list, and "
        "paper is the published search (default: anytime)",
    )
    parser.add_argument(
        "--hedge",
        type=number(0, MOST_SHARE),
        metavar="SHARE",
        help="with anytime: share of the iterations for a separate search by UCB1, whose plan is "
        "used if it is better (default: 0)",
    )
    parser.add_argument(
        "--tolerance",
        type=number(0, MOST_SHARE),
        metavar="SHARE",
        help="with anytime: each trial shows a different route among the plans whose utility is "
        f"below the best by at most this share (default: {TOLERANCE:g})",
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
        help="a rollout policy of an installed package (default: the game's own random rollouts)",
    )
    add_seeds(parser)


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """Add --seeds."""
    parser.add_argument(
        "--seeds",
        type=whole(0, MOST_SEEDS),
        metavar="N",
        help="in a connected game: search with N seeds other than the level's, because players cannot know what that "
        "one decides; 0 for players who know it (default: what the persona or the game's description says)",
    )


def add_out(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --out."""
    parser.add_argument("--out", type=path, metavar="FOLDER", help=text)


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Add --watch."""
    parser.add_argument(
        "--watch",
        nargs="?",
        const=0.5,
        type=number(0, 3600),
        metavar="S",
        help="show the best playthrough so far of a connected game in a window of its own, with S seconds before each "
        "decision (default: 0.5)",
    )


def add_accept(parser: argparse.ArgumentParser) -> None:
    """Add --accept."""
    parser.add_argument(
        "--accept",
        type=path,
        metavar="FILE",
        help="TOML file of accepted findings, with a table [[accept]] for each: kind, level, reason and, optionally, "
        'places such as ["7:10"]; accepted findings are listed separately and do not count as problems',
    )


def check_backend(args: argparse.Namespace) -> None:
    """Refuse a cluster that cannot be used, before anything is made."""
    from persona_evo.jobs.workers import Workers

    Workers(1, args.backend, args.address)


def check_gif(target: Path | None) -> None:
    """Refuse the name of an animated picture that is not a GIF."""
    if target is not None and target.suffix.lower() != ".gif":
        raise SettingsError(
            "a replay is written as a GIF",
            place=Place(str(target)),
            found=target.suffix or "no ending",
            expected="a name that ends in .gif",
            hint=f"such as {target.with_suffix('.gif')}" if target.name else None,
        )
