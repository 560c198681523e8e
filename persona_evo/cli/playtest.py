"""`persona-evo playtest`: many playthroughs of levels by personas, and what they say about the levels."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.cli import options
from persona_evo.cli.parser import filled, number, path, whole
from persona_evo.cli.say import SOLVER, Progress, compiling, duration, note, say
from persona_evo.errors import SettingsError
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.api import Results
    from persona_evo.games.core import Game, Level
    from persona_evo.playtest.analysis import Analysis
    from persona_evo.playtest.batch import Progress as Played
    from persona_evo.playtest.players import Player
    from persona_evo.search.duel import League

REQUIREMENTS = """\
requirements: [PLAYER[@LEVEL].]MEASURE OPERATOR NUMBER
  runner.win_rate >= 95%          all of the runner's trials together, whatever the level
  runner@test02.win_rate >= 95%   in one level; runner@* in each of them, all of which have to hold
  deaths == 0                     without a player, or with *: each persona, all of which have to hold; a baseline is
                                  judged only where it is named, such as runner/ucb1.win_rate > 0
  measures: win_rate, deaths or losses (the same: playthroughs lost), death_rate, loss_rate, unfinished, steps,
  utility, best_utility, bound_ratio (mean utility / limit), seconds, trials, or the symbol of a metric of the game
  (its mean)
  operators: >= <= > < == !=      several requirements: --require again, or ; between them
"""

MOST_TRIALS = 100_000
BOUND_SECONDS = 3.0
TOLERANCE = 0.01
"""As `api.naming.TOLERANCE`."""
ROOT = Path("runs") / "playtests"
"""Where playtests are kept for which no folder is named."""


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("playtest", help="play levels many times and report", description=__doc__,
                                 epilog=REQUIREMENTS)
    parser.add_argument("levels", nargs="*", type=filled, metavar="LEVEL", help=options.LEVELS)
    add_playing(parser, TOLERANCE)
    parser.add_argument("--baseline", nargs="?", const="ucb1", type=filled, metavar="POLICY",
                        help="each persona also plays by this policy and is compared with that (default: ucb1)")
    parser.add_argument("--require", action="append", default=[], type=filled, metavar="REQUIREMENT",
                        help="[PLAYER[@LEVEL].]MEASURE >= NUMBER, such as 'runner.win_rate >= 95%%'; exit code 1 if it "
                        "fails; may be repeated (below)")
    parser.add_argument("--bound-seconds", type=number(0, 86400), default=BOUND_SECONDS, metavar="S",
                        help="time to look for the best possible utility of each persona in each level, 0 for none "
                        "(default: %(default)s)")
    parser.add_argument("--no-pictures", action="store_true", help="no charts, heatmaps and replays")
    parser.add_argument("--no-replays", action="store_true", help="no replays")
    options.add_out(parser, "folder for everything; one that holds the beginning of the same playtest is continued "
                    "(default: a new one below runs/playtests/)")
    parser.add_argument("--resume", type=path, metavar="FOLDER", help="continue the playtest in this folder")
    parser.set_defaults(run=run)


def add_playing(parser: argparse.ArgumentParser, tolerance: float) -> None:
    """What `playtest` and `compare` share. tolerance: where none is given."""
    options.add_personas(parser)
    options.add_policies(parser)
    parser.add_argument("--trials", type=whole(1, MOST_TRIALS), default=50, metavar="N",
                        help="playthroughs of each player in each level (default: %(default)s)")
    options.add_budget(parser, each="playthrough, or per move with an agent", default="10000, or the agent's")
    options.add_search(parser, tolerance)
    options.add_league(parser, "the personas play against, in turn and from both sides",
                       "that plays with the personas' tree policies")
    options.add_jobs(parser)
    options.add_backend(parser)
    options.add_seed(parser)
    options.add_level_options(parser)


def run(args: argparse.Namespace) -> int:
    """Play, find the limits, analyse, write, print; 1 if a requirement fails."""
    from persona_evo.playtest import require

    options.check_backend(args)
    requirements = require.parse_all(args.require) if args.require else []
    if args.bound_seconds == 0 and any(r.measure == "bound_ratio" for r in requirements):
        raise SettingsError("bound_ratio needs the limits that --bound-seconds 0 leaves out", found="--bound-seconds 0",
                            expected="--bound-seconds above 0, or no requirement on bound_ratio")
    if args.resume is not None:
        results, game_name = _resumed(args), options.moved(args)
    else:
        if not args.levels:
            raise SettingsError("no levels are named", expected="persona-evo playtest LEVELS..., or --resume FOLDER",
                                hint="persona-evo level list shows those that ship")
        game = options.game_of(args)
        if game.outside is None:
            compiling(game=game)  # what is imported from here on is
        from persona_evo.playtest.bounds import limited

        levels = options.levels_of(args, game, args.levels)
        players = options.players_of(args, game)
        if not limited(game) and any(r.measure == "bound_ratio" for r in requirements):
            raise SettingsError("bound_ratio needs limits, which games for two and games of chance do not have",
                                found=game.name, expected="a requirement on win_rate, utility or a metric")
        for requirement in requirements:
            requirement.check_names([p.label for p in players], [v.name for v in levels], game.symbols)
        results, game_name = play(args, game, levels, players, args.out or _new_folder(levels)), args.game
    options.report_findings(results.game)
    if not results.complete:
        return interrupted(results, _wanted(args))
    analysis = finish(args, results, game_name)
    return 0 if analysis.passed else 1


def play(
    args: argparse.Namespace, game: Game, levels: list[Level], players: list[Player], folder: Path | None
) -> Results:
    """Play everything, with progress."""
    from persona_evo.api.results import as_results
    from persona_evo.games import registry
    from persona_evo.playtest import batch
    from persona_evo.playtest.players import check_lists

    seed, league = options.seed_of(args), options.league_of(args, game, players[0].persona)
    budget = options.budget_of(args, league)
    if league is not None and args.search is not None:
        raise SettingsError("move by move the agent says how it searches", found=f"--search {args.search}",
                            hint="leave --search out, or name another --agent")  # fmt: skip
    rules = options.rules_of(args, game, league)
    check_lists([p.policy for p in players if p.agent is None], rules, "" if league is None else league.agent.name)
    if folder is not None and args.seed is None:
        seed = _seed_of(folder, seed)
    limit = ", ".join(f"{v:g} {k}" for k, v in budget.to_dict().items() if v is not None)
    each = "playthrough" if league is None else "move"
    note(f"{counted(len(players), 'player')}, {counted(len(levels), 'level')}, {counted(args.trials, 'trial')}, "
         f"{limit} a {each}, seed {seed}" + (f", into {folder}" if folder is not None else ""))
    if league is not None:
        _note_league(league, players, args.trials)
    elif game.planned:
        options.note_left_out(game, levels[0], players, rules)
    results = as_results(
        batch.playtest(
            game, levels, players, args.trials, seed=seed, budget=budget,
            settings=rules, league=league,
            jobs=options.jobs_of(args), backend=args.backend, address=args.address, folder=folder, progress=teller(),
            game_name=registry.address(game),
        )
    )
    results.command = options.typed(args, seed)
    return results


def _note_league(league: League, players: list[Player], trials: int) -> None:
    """Say who is met, or in games for one who plays."""
    from persona_evo.playtest.duels import meeting, met
    from persona_evo.playtest.players import movers

    if not league.opponents:
        who = movers(players, league)
        note(f"{', '.join(who)} {'plays' if len(who) == 1 else 'play'} move by move")
        return
    names = [o.name for o in league.opponents]
    note(f"against {', '.join(met(names, trials))}")
    if left := meeting(names, trials):
        note(left)


def _resumed(args: argparse.Namespace) -> Results:
    if args.levels or args.out is not None:
        raise SettingsError("levels and --out do not go with --resume", hint="a playtest has them from its folder")
    compiling(game=options.recorded(args.resume / "playtest.json"))  # what is imported from here on is
    from persona_evo.api.results import as_results
    from persona_evo.playtest import batch

    played = batch.resume(
        args.resume, jobs=options.jobs_of(args), backend=args.backend, address=args.address, progress=teller(),
        game_name=options.moved(args),
    )
    note(f"{counted(len(played.players), 'player')}, {counted(len(played.levels), 'level')}, "
         f"{counted(played.trials, 'trial')}, seed {played.seed}")
    results = as_results(played)
    results.command = options.typed(args, played.seed)
    return results


def teller() -> Callable[[Played], None]:
    """Shows how far the playthroughs are."""
    line = Progress()

    def tell(p: Played) -> None:
        made = f"{p.done}/{p.total} {plural(p.total, 'playthrough')}"
        line.show(f"{made}, {p.player} in {p.level}, {duration(p.eta)} to go", last=p.done == p.total)

    return tell


def _wanted(args: argparse.Namespace) -> list[str]:
    """Options that say what is made of the playthroughs, which its folder does not hold, as they were given."""
    words = [f"--{name}" for name in ("no-pictures", "no-replays") if getattr(args, name.replace("-", "_"))]
    if args.bound_seconds != BOUND_SECONDS:
        words += ["--bound-seconds", f"{args.bound_seconds:g}"]
    return words + [word for text in args.require for word in ("--require", text)]


def interrupted(results: Results, wanted: Sequence[str] = ()) -> int:
    """Say what is kept after Ctrl-C, and how to go on, with further options; the exit code."""
    from persona_evo.games.commands import command

    if results.folder is None:
        note(f"stopped after {counted(len(results.records), 'playthrough')}, not kept")
    else:
        note(f"stopped; kept in {results.folder}: {counted(len(results.records), 'playthrough')}")
        note(f"go on with: {command(results.game, 'playtest', '--resume', results.folder, *wanted)}")
    return 130


def finish(args: argparse.Namespace, results: Results, game_name: str | None) -> Analysis:
    """Look for the limits, analyse, write the folder and print the summary."""
    from persona_evo.api.results import add_bounds
    from persona_evo.playtest.bounds import limited
    from persona_evo.report.text import summary_text

    if args.bound_seconds > 0 and limited(results.game):
        line = Progress()
        compiling(SOLVER, results.game)
        add_bounds(results, args.bound_seconds, options.jobs_of(args),
                   lambda done, total: line.show(f"limits: {done}/{total}", last=done == total), game_name)
    analysis = results.check(*args.require)
    line = Progress()
    folder = results.folder or Path()
    page = results.write(
        folder, analysis=analysis, pictures=not args.no_pictures, replays=not args.no_replays,
        progress=lambda text: line.show(f"drawing {text}"),
    )
    Progress.done_with_line()
    say(summary_text(analysis))
    say(f"\nseed {results.seed}; everything is in {folder}, start with {page}")
    return analysis


def _new_folder(levels: list[Level]) -> Path:
    """A folder that is not there yet, named by the moment and the levels."""
    import re

    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    words = re.sub(r"[^A-Za-z0-9_.]+", "_", levels[0].name)
    name = f"{moment}-{words}" + (f"-and-{len(levels) - 1}-more" if len(levels) > 1 else "")
    folder, copies = ROOT / name, 1
    while folder.exists():
        copies += 1
        folder = ROOT / f"{name}-{copies}"
    return folder


def _seed_of(folder: Path, otherwise: int) -> int:
    """The seed of the playtest that a folder holds, so that the same command continues it."""
    from persona_evo.playtest import journal

    return journal.reopen(folder).seed if (folder / journal.CONFIG).is_file() else otherwise
