"""`persona-evo playtest`: many playthroughs of levels by personas, and what they say about the levels."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.agents.skill import FULL_SIGHT, LADDER, errs
from persona_evo.cli import ci, option_values, options
from persona_evo.cli.parser import Commands, filled, number, path
from persona_evo.cli.playtest_options import (
    BOUND_SECONDS,
    FEWEST_LEVELS,
    REQUIREMENTS,
    SKILL_TABLE,
    TOLERANCE,
    add_playing,
)
from persona_evo.cli.say import StatusLine, note, say, to_go
from persona_evo.errors import SettingsError
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.agents.duel import League
    from persona_evo.api import Results
    from persona_evo.games.core import Game, Level
    from persona_evo.jobs.progress import Progress
    from persona_evo.jobs.workers import Workers
    from persona_evo.playtest.analysis import Analysis
    from persona_evo.playtest.players import Player
    from persona_evo.playtest.requirement import Requirement
    from persona_evo.search.settings import Budget

ROOT = Path("runs") / "playtests"
"""The folder of playtests without a named folder."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("playtest", description=__doc__, epilog=f"{REQUIREMENTS}\n{SKILL_TABLE}")
    parser.add_argument("levels", nargs="*", type=filled, metavar="LEVEL", help=options.LEVELS)
    add_playing(parser, TOLERANCE)
    parser.add_argument(
        "--baseline",
        nargs="?",
        const="ucb1",
        type=filled,
        metavar="POLICY",
        help="each persona also plays by this policy, as a baseline for comparison (default: ucb1)",
    )
    parser.add_argument(
        "--calibrate",
        type=path,
        metavar="FILE",
        help="CSV file with the columns level and pass_rate (0.75 or 75%%): how the players' win rates "
        f"correlate with these rates over at least {FEWEST_LEVELS} levels",
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        type=filled,
        metavar="REQUIREMENT",
        help="[PLAYER[@LEVEL].]MEASURE >= NUMBER, such as 'runner.win_rate >= 95%%'; exit code 1 if it "
        "fails; may be repeated (below)",
    )
    options.add_accept(parser)
    parser.add_argument(
        "--bound-seconds",
        type=number(0, 86400),
        default=BOUND_SECONDS,
        metavar="S",
        help="time to look for the best possible utility of each persona in each level, 0 for none "
        "(default: %(default)s)",
    )
    ci.add(parser)
    parser.add_argument("--no-pictures", action="store_true", help="draw no maps and no replays")
    parser.add_argument("--no-replays", action="store_true", help="no replays")
    options.add_out(
        parser,
        "folder for everything; one that holds the beginning of the same playtest is continued "
        "(default: a new one below runs/playtests/)",
    )
    parser.add_argument("--resume", type=path, metavar="FOLDER", help="continue the playtest in this folder")
    options.add_trust(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play, compute bounds, analyse, write and print; return 1 if a requirement fails."""
    options.check_backend(args)
    ci.check(args)
    with workers_of(args, len(args.levels)) as workers:
        return _run(args, workers)


def workers_of(args: argparse.Namespace, levels: int) -> Workers:
    """Return the workers for a number of levels or sets of levels."""
    return option_values.workers_of(
        args, "persona_evo.playtest.playing", option_values.thought(args, args.trials * levels)
    )


def _run(args: argparse.Namespace, workers: Workers) -> int:
    from persona_evo.playtest import require

    requirements = require.parse_all(args.require) if args.require else []
    accepted = option_values.accepted_of(args)
    if args.bound_seconds == 0 and any(r.measure == "bound_ratio" for r in requirements):
        raise SettingsError(
            "bound_ratio needs the limits that --bound-seconds 0 skips",
            found="--bound-seconds 0",
            expected="--bound-seconds above 0, or no requirement on bound_ratio",
        )
    rates = _rates(args)
    if args.resume is not None:
        results, game_name = _resumed(args, workers), option_values.moved(args)
        regressions = option_values.regressions(results.game, requirements) if results.complete else []
    else:
        if not args.levels:
            raise SettingsError(
                "no levels are named",
                expected="persona-evo playtest LEVELS..., or --resume FOLDER",
                hint="persona-evo level list shows those that ship",
            )
        game = option_values.game_of(args)
        from persona_evo.playtest.bounds import limited

        players = players_of(args, game)
        levels = option_values.levels_of(args, game, args.levels)
        _check_rates(args, rates, [v.name for v in levels])
        if not limited(game) and any(r.measure == "bound_ratio" for r in requirements):
            raise SettingsError(
                "bound_ratio needs limits, which two-player games and games of chance do not have",
                found=game.name,
                expected="a requirement on win_rate, utility or a metric",
            )
        for requirement in requirements:
            requirement.check_names([p.label for p in players], [v.name for v in levels], game.symbols)
        _check_ranges(args, game, levels, requirements)
        more = [f"and-{len(levels) - 1}-more"] if len(levels) > 1 else []
        folder = args.out or option_values.new_folder(ROOT, [levels[0].name, *more])
        regressions = option_values.regressions(game, requirements)
        results, game_name = play(args, game, levels, players, folder, workers), args.game
    option_values.report_findings(results.game)
    if not results.complete:
        return interrupted(results, _wanted(args))
    results.accepted = accepted
    results.failures = [*regressions, *results.failures]
    if args.resume is not None:
        _check_rates(args, rates, [v.name for v in results.levels])
    results.rates = rates
    analysis = finish(args, results, game_name, workers)
    return 0 if analysis.passed else 1


def players_of(args: argparse.Namespace, game: Game) -> list[Player]:
    """Return the players: each persona, at each named level of skill."""
    from persona_evo.playtest.players import check_ladder, with_skills

    check_ladder(args.skill, game)
    return with_skills(option_values.players_of(args, game), args.skill, game)


def _rates(args: argparse.Namespace) -> dict[str, float]:
    """Return the given pass rates, none without any."""
    from persona_evo.playtest.calibration import read_rates

    return {} if args.calibrate is None else read_rates(args.calibrate)


def _check_rates(args: argparse.Namespace, rates: dict[str, float], levels: list[str]) -> None:
    """Check that a calibration has enough levels, and name the levels of the file that are not played."""
    from persona_evo.playtest.calibration import check_rates

    if args.calibrate is not None:
        both = check_rates(rates, levels, str(args.calibrate))
        left = [name for name in rates if name not in both]
        if left:
            note(f"{args.calibrate}: no playthroughs of {', '.join(left)}")


def _check_ranges(
    args: argparse.Namespace, game: Game, levels: Sequence[Level], requirements: Sequence[Requirement]
) -> None:
    """Refuse requirements that no result can meet, and warn of those that every result meets."""
    from persona_evo.playtest import ranges

    longest = max((game.horizon_of(level) for level in levels), default=0) if game.planned and not args.agent else 0
    known = ranges.Known(game.metrics, args.trials, len(levels), longest)
    for warning in filter(None, (ranges.check(r, known) for r in requirements)):
        note(warning)


def play(
    args: argparse.Namespace,
    game: Game,
    levels: list[Level],
    players: list[Player],
    folder: Path | None,
    workers: Workers,
) -> Results:
    """Play everything and show the progress."""
    from persona_evo.api.results import as_results
    from persona_evo.games import registry
    from persona_evo.games.level_text import LevelText
    from persona_evo.playtest import appraisals, batch
    from persona_evo.playtest.players import check_lists

    seed, league = option_values.seed_of(args), option_values.league_of(args, game, players[0].persona)
    budget = option_values.budget_of(args, league)
    if league is not None and args.search is not None:
        raise SettingsError(
            "agents that play move by move have search settings of their own",
            found=f"--search {args.search}",
            hint="leave --search out, or name another --agent",
        )
    rules = option_values.rules_of(args, game, league)
    check_lists([p.policy for p in players if p.agent is None], rules, "" if league is None else league.agent.name)
    if folder is not None and args.seed is None:
        seed = _seed_of(folder, seed)
    note(
        f"{counted(len(players), 'player')}, {counted(len(levels), 'level')}, {counted(args.trials, 'trial')}, "
        f"{_effort(budget, players, league)}, seed {seed}" + (f", into {folder}" if folder is not None else "")
    )
    if league is not None:
        _note_league(league, players, args.trials)
    elif game.planned:
        option_values.note_left_out(game, levels[0], [p for p in players if not errs(p.skill)], rules)
    questions = [appraisals.LevelQuestion(LevelText.of(level), False) for level in levels]
    if folder is not None:
        appraisals.recall(folder, game, questions)
    begun = appraisals.appraisals(game, appraisals.open_questions(game, questions), workers)
    results = as_results(
        batch.playtest(
            game,
            levels,
            players,
            args.trials,
            seed=seed,
            budget=budget,
            settings=rules,
            league=league,
            continuation=args.continuation,
            workers=workers,
            then=begun,
            folder=folder,
            progress=teller(),
            game_name=registry.address(game),
        )
    )
    results.command, results.begun = option_values.typed(args, seed), begun
    return results


def _effort(budget: Budget, players: Sequence[Player], league: League | None) -> str:
    """Describe how much the players search."""
    limit = ", ".join(f"{v:g} {k}" for k, v in budget.to_dict().items() if v is not None)
    if league is not None:
        return f"{limit} a move"
    each = {
        **{name: f"{skill.iterations} iterations for each legal move ({name})" for name, skill in LADDER.items()},
        FULL_SIGHT.name: f"{FULL_SIGHT.iterations} iterations a move ({FULL_SIGHT.name})",
    }
    planned = f"{limit} a playthrough"
    return ", ".join(dict.fromkeys(each.get(p.skill, planned) for p in players))


def _note_league(league: League, players: list[Player], trials: int) -> None:
    """Print who the opponents are, or in single-player games who plays."""
    from persona_evo.playtest.duels import meeting, met
    from persona_evo.playtest.players import movers

    if not league.opponents:
        who = movers(players, league)
        note(f"{', '.join(who)} {plural(len(who), 'plays', 'play')} move by move")
        return
    names = [o.name for o in league.opponents]
    note(f"against {', '.join(met(names, trials))}")
    if left := meeting(names, trials):
        note(left)


def _resumed(args: argparse.Namespace, workers: Workers) -> Results:
    if args.levels or args.out is not None or args.skill:
        raise SettingsError(
            "levels, --out and --skill do not go with --resume", hint="a resumed playtest takes them from its folder"
        )
    from persona_evo.api.results import as_results
    from persona_evo.playtest import batch

    options.accept(args, args.resume)
    played = batch.resume(args.resume, workers=workers, progress=teller(), game_name=option_values.moved(args))
    note(
        f"{counted(len(played.players), 'player')}, {counted(len(played.levels), 'level')}, "
        f"{counted(played.trials, 'trial')}, seed {played.seed}"
    )
    results = as_results(played)
    results.command = option_values.typed(args, played.seed)
    return results


def teller() -> Callable[[Progress], None]:
    """Return a function that shows the progress of the playthroughs."""
    line = StatusLine()

    def tell(p: Progress) -> None:
        made = f"{p.done}/{p.total} {plural(p.total, 'playthrough')}"
        line.show(f"{made}, {p.what}{to_go(p.eta)}", last=p.done == p.total)

    return tell


def _wanted(args: argparse.Namespace) -> list[str]:
    """Return the options, as typed, for output that the folder does not record."""
    words = [f"--{name}" for name in ("no-pictures", "no-replays") if getattr(args, name.replace("-", "_"))]
    if args.bound_seconds != BOUND_SECONDS:
        words += ["--bound-seconds", f"{args.bound_seconds:g}"]
    words += ["--accept", str(args.accept)] if args.accept is not None else []
    words += [] if args.calibrate is None else ["--calibrate", str(args.calibrate)]
    return words + [word for text in args.require for word in ("--require", text)] + ci.words(args)


def interrupted(results: Results, wanted: Sequence[str] = ()) -> int:
    """Print what is kept after Ctrl-C, and how to continue; return the exit code.

    Args:
        wanted: further options for the command that continues.
    """
    from persona_evo.games.commands import command

    if results.folder is None:
        note(f"stopped after {counted(len(results.records), 'playthrough')}, not kept")
    else:
        note(f"stopped; kept in {results.folder}: {counted(len(results.records), 'playthrough')}")
        note(f"resume with: {command(results.game, 'playtest', '--resume', results.folder, *wanted)}")
    return 130


def finish(args: argparse.Namespace, results: Results, game_name: str | None, workers: Workers) -> Analysis:
    """Compute bounds, analyse, write the folder and print the summary."""
    from persona_evo.api.results import add_bounds
    from persona_evo.playtest.bounds import limited
    from persona_evo.report.text import summary_text

    if args.bound_seconds > 0 and limited(results.game):
        line = StatusLine()
        add_bounds(
            results,
            args.bound_seconds,
            workers=workers,
            then=results.begun,
            game_name=game_name,
            progress=lambda done, total: line.show(f"limits: {done}/{total}", last=done == total),
        )
    look = StatusLine()
    results.look(lambda done, total: look.show(f"level analysis: {done}/{total}", last=done == total), workers)
    line = StatusLine()
    line.show(f"analysing {counted(len(results.records), 'playthrough')}")
    analysis = results.check(*args.require)
    folder = results.folder or Path()
    page = results.write(
        folder,
        analysis=analysis,
        pictures=not args.no_pictures,
        replays=not args.no_replays,
        workers=workers,
        progress=line.show,
    )
    StatusLine.done_with_line()
    say(summary_text(analysis))
    if ci.wanted(args):
        _write_ci(args, results, analysis, page)
    say(f"\nseed {results.seed}; everything is in {folder}, start with {page}")
    return analysis


def _write_ci(args: argparse.Namespace, results: Results, analysis: Analysis, page: Path) -> None:
    """Write the files of --junit and --summary. Levels are test cases if a requirement is on findings."""
    from persona_evo.playtest import require
    from persona_evo.report.ci import level_cases, requirement_cases

    cases = requirement_cases(analysis.checks)
    if any(r.counts for r in (require.parse_all(args.require) if args.require else ())):
        cases += level_cases({level.name: level.source for level in results.levels}, analysis.findings)
    facts = {"page": str(page), "seed": str(results.seed), **({"command": results.command} if results.command else {})}
    ci.write(args, results.title, cases, analysis.checks, analysis.findings, facts)


def _seed_of(folder: Path, otherwise: int) -> int:
    """Return the seed of the playtest in a folder, so that the same command continues it."""
    from persona_evo.playtest import journal

    return journal.reopen(folder).seed if (folder / journal.CONFIG).is_file() else otherwise
