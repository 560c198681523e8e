"""Describe, search and replay games that run outside this program, written in any language.

A TOML file describes a connected game, and commands such as evolve, playtest and persona new take this file as --game.
`search` searches for the best playthrough of a level, for a persona or for the game's own score, and can keep it with
the search tree; `replay` shows it in the game. `persona-evo doctor --game FILE.toml` checks whether a game is suitable.

An environment of Gymnasium needs no program: game = "gymnasium:ID", or "gymnasium:MODULE:ID" if importing MODULE
registers it. With arguments = ["--grid", "COLUMNS"] its observation is a cell of a grid;
`python -m persona_evo.connect.gym --help` shows all arguments.

The exit code of a search is 1 if the game failed in a rollout (a crash, an exception or a timeout) and failed again
when the rollout was repeated, or if the best playthrough ended differently when it was replayed. Results are kept in
either case. A rollout that succeeds when it is repeated is reported, but does not change the exit code.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import connect_new, option_values, options
from persona_evo.cli.parser import Commands, filled, number, path, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.errors import GameError, PersonaEvoError, Place, SettingsError
from persona_evo.jobs.windows import program
from persona_evo.words import counted, figure

if TYPE_CHECKING:
    from persona_evo.connect.search import ConnectedSearch
    from persona_evo.games.core import Game, Level

TREE, BEST, SAMPLES, ROLLOUTS = "tree.npz", "best.json", "samples.csv", "rollouts.jsonl"

FAILURES = """\
Search for the best playthrough of a level. The exit code is 1 if the game failed in a rollout (a crash, an exception
or a timeout) and failed again when the rollout was repeated, or if the best playthrough ended differently when it was
replayed. Results are kept in either case.
"""

PORT = 5730
"""The default port on which `connect attach` waits for a game."""

ATTACH = """\
Search as `connect search` does, in a game that you start yourself: in Play Mode, or in a debugger. The command prints
the variables that the game needs and waits. There is no time limit for a rollout, so breakpoints work.
"""

SHRINK = """\
Shorten a rollout that made the game fail: leave out choices as long as the game still fails in the same way, and print
those that are left. They are added to the game's file of regression cases (`cases` in its description). `connect replay
FILE.toml CASES.jsonl` replays all cases; its exit code is 1 if the game still fails in one of them. `playtest --require
'crashes == 0'` replays them, too, before it plays anything else.
"""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("connect", description=__doc__)
    parser.elsewhere = dict.fromkeys(("doctor", "check"), "persona-evo doctor --game FILE.toml checks a game")
    parts = parser.add_subparsers(dest="command_connect", metavar="new|search|attach|replay|shrink", required=True)
    connect_new.add(parts)
    search = parts.add_parser("search", help="search for the best playthrough of a level", description=FAILURES)
    _add_search(search)
    options.add_watch(search)
    search.set_defaults(run=run_search, port=0)
    attach = parts.add_parser("attach", help="search in a game that you start yourself", description=ATTACH)
    _add_search(attach)
    attach.add_argument(
        "--port",
        type=whole(1, 65535),
        default=PORT,
        metavar="N",
        help="port of 127.0.0.1 on which the command waits for the game (default: %(default)s)",
    )
    attach.set_defaults(run=run_search, watch=None)
    replay = parts.add_parser("replay", help="replay a playthrough in the game's window")
    replay.add_argument("game", type=filled, metavar="FILE.toml", help="the game's description")
    replay.add_argument(
        "trace",
        type=path,
        metavar="TRACE",
        help=f"{BEST} of a search; findings.jsonl, to replay all of its failures; or findings.jsonl:N, to replay one",
    )
    replay.add_argument(
        "--delay",
        type=number(0, 3600),
        metavar="S",
        help="seconds before each decision (default: no delay)",
    )
    replay.add_argument("--no-screen", action="store_true", help="do not open the game's window")
    replay.set_defaults(run=run_replay)
    shrink = parts.add_parser("shrink", help="find the few choices that make the game fail", description=SHRINK)
    shrink.add_argument("game", type=filled, metavar="FILE.toml", help="the game's description")
    shrink.add_argument("finding", type=filled, metavar="findings.jsonl[:N]", help="the failure (default: the first)")
    shrink.add_argument(
        "-o",
        "--out",
        type=path,
        metavar="FILE",
        help="file of cases to which the result is added (default: NAME.cases.jsonl beside the description)",
    )
    shrink.add_argument(
        "--tries",
        type=whole(1, 1_000_000),
        default=300,
        metavar="N",
        help="maximum number of rollouts; a crash restarts the game (default: %(default)s)",
    )
    shrink.set_defaults(run=run_shrink)


def _add_search(search: argparse.ArgumentParser) -> None:
    """Add the options of a search."""
    search.add_argument("game", type=filled, metavar="FILE.toml", help="the game's description")
    search.add_argument(
        "--level",
        default="default",
        type=filled,
        metavar="LEVEL",
        help="MAP:VARIANT@SEED; MAP is any text that the game understands (default: the game's own level)",
    )
    search.add_argument(
        "--persona",
        default="score",
        type=filled,
        metavar="PERSONA",
        help=f"{options.PERSONA} (default: the game's score)",
    )
    search.add_argument(
        "--policy",
        default="ucb1",
        type=filled,
        metavar="POLICY",
        help="ucb1, ucb1:C, a policy's name or file, formula:TEXT (default: %(default)s)",
    )
    search.add_argument(
        "--terminal",
        choices=("cut_off", "revisit"),
        default="cut_off",
        help="whether the search may select finished playthroughs again (default: %(default)s)",
    )
    options.add_seeds(search)
    options.add_budget(search)
    options.add_seed(search)
    options.add_out(
        search,
        f"folder for {BEST}, {TREE}, {SAMPLES} and {ROLLOUTS}; a search there is resumed (default: nothing is kept)",
    )


def run_search(args: argparse.Namespace) -> int:
    """Search one level; if the search ends early, the results so far are kept."""

    kept: list[str] = []
    try:
        return _search(args, kept)
    except (PersonaEvoError, KeyboardInterrupt):
        if kept:
            logs = sorted(str(f.name) for f in args.out.glob("logs*") if f.is_dir())
            note(f"what was found so far is in {args.out}: {', '.join([*kept, *logs])}")
        raise


def _search(args: argparse.Namespace, kept: list[str]) -> int:
    """Search one level; the names of written files are added to `kept`."""
    from contextlib import ExitStack

    if not args.port:
        option_values.check_outside(args.game)
    from persona_evo import api
    from persona_evo.api.playtests import planner_of
    from persona_evo.api.search_rules import budget_of, search_of
    from persona_evo.connect.planner import ConnectedPlanner
    from persona_evo.connect.search_folder import RecordedSource, SearchFolder, search_values
    from persona_evo.games import mapsets
    from persona_evo.games.outside import closing_outside
    from persona_evo.jobs.files import writing_in

    game = _attached(args) if args.port else _started(args)
    assert game.outside is not None
    line = StatusLine()
    with ExitStack() as stack:
        stack.enter_context(closing_outside(game))
        (level,) = mapsets.resolve(game, [args.level])
        persona = api.load_persona(args.persona, game)
        policy = api.tree_policy(args.policy, persona, game)
        seed, budget = _seed(args), budget_of(None, args.iterations, args.seconds)
        note(f"searching {level.name} for the {persona.name} by {policy.text}, seed {seed}")
        seeds = persona.seeds if args.seeds is None else args.seeds
        rules = search_of({"preset": "single", "terminal": args.terminal, "seeds": seeds})
        planner = planner_of(game, level, policy, rules, budget)
        assert isinstance(planner, ConnectedPlanner)
        tell, folder = None, None
        if args.out is not None:
            stack.enter_context(writing_in(args.out))
            values = search_values(planner, persona.utility, policy, seed, budget)
            folder = stack.enter_context(SearchFolder(args.out, values, game, level))
            kept += [ROLLOUTS, SAMPLES]
            game.outside.keep_in(args.out)
            tell = folder.record
        began = time.perf_counter()
        search = planner.search(persona.utility, policy, seed, tell)
        if folder is not None:
            search.pool = source = RecordedSource(search.pool, folder)
        try:
            with option_values.watching(args, game):
                search.spend(budget, began, lambda n: line.show(counted(n, "rollout")))
        except BaseException as e:
            search.stopped = "Ctrl-C" if isinstance(e, KeyboardInterrupt) else "an error"
            raise
        finally:
            line.done_with_line()
            if folder is not None:
                folder.flush()
                if source.resumed:
                    note(f"resumed: {counted(source.resumed, 'rollout')} came from {args.out}")
            if search.best is not None:
                kept += _told(args, game, level, search, time.perf_counter() - began)
        planner.advise(search)
        try:
            wrong = planner.confirm(search)
        finally:
            option_values.report_findings(game)
        if wrong:
            say("FAULT: replaying the same choices led to a different end: " + "; ".join(wrong))
        if search.lost:
            played = counted(search.spent, "rollout")
            say(f"FAULT: the game failed in {search.lost:,} of {played}, and again when they were repeated")
    return 1 if wrong or search.lost else 0


def _started(args: argparse.Namespace) -> Game:
    """Start the game with all of its processes."""
    from persona_evo.connect.game import started

    if not args.game.endswith(".toml"):
        raise SettingsError("this is not a connected game", found=args.game, expected="a description, FILE.toml")
    return started(Path(args.game), args.level)


def _attached(args: argparse.Namespace) -> Game:
    """Wait for the game that the user starts."""
    import secrets

    from persona_evo.connect.description_file import read
    from persona_evo.connect.game import attached
    from persona_evo.connect.process_start import Attachment

    read(Path(args.game)).level(args.level, sets=True)  # refused before anyone starts the game
    token = secrets.token_hex(16)
    say(f"waiting for the game: PE_ADDR=127.0.0.1 PE_PORT={args.port} PE_NONCE={token}")
    return attached(Path(args.game), Attachment(args.port, token, lambda error: note(f"refused: {error.what}")))


def _seed(args: argparse.Namespace) -> int:
    """Return the given seed, that of the search in the folder, or a new one."""
    from persona_evo.connect.search_folder import SearchFolder

    known = SearchFolder.seed(args.out) if args.seed is None and args.out is not None else None
    return option_values.seed_of(args) if known is None else known


def _told(args: argparse.Namespace, game: Game, level: Level, search: ConnectedSearch, seconds: float) -> list[str]:
    """Print the results of a search and write the requested files; return their names."""
    from persona_evo.connect.search_folder import is_whole, why_ended
    from persona_evo.connect.traces import Trace

    best = search.best
    assert best is not None
    proof = "proven: no way to play is better" if search.proven else "best known"
    if search.ordering.worlds:
        proof = f"moves searched with {counted(search.ordering.worlds, 'other seed')}"
    say(
        f"{level.name}: utility {figure(best.utility)} ({proof}), {counted(len(best.trace), 'decision')}, "
        f"{why_ended(search.stopped)}; {counted(search.spent, 'rollout')} in {seconds:.1f} s, "
        f"{counted(search.tree.nodes, 'node')}"
    )
    say("  " + " ".join(str(choice) for choice, _ in best.trace))
    say("  " + " ".join(f"{k}={figure(v)}" for k, v in best.metrics.items()))
    if args.out is None:
        return []
    search.tree.save(args.out / TREE)
    if not is_whole(search.stopped):
        return [TREE]
    Trace(game.name, level.text, best.utility, best.score, best.metrics, best.trace).save(args.out / BEST)
    say(f"kept in {args.out}; watch it:  {program('connect', 'replay', args.game, args.out / BEST)}")
    return [BEST, TREE]


def run_replay(args: argparse.Namespace) -> int:
    """Show a trace."""
    from persona_evo.connect import traces
    from persona_evo.connect.findings_file import case_of
    from persona_evo.connect.traces import load

    if args.trace.is_dir() or args.trace.suffix == ".npz":
        folder = args.trace if args.trace.is_dir() else args.trace.parent
        beside = (folder / BEST).is_file()
        raise SettingsError(
            "a folder is not a playthrough"
            if args.trace.is_dir()
            else "this is the tree of a search, not a playthrough",
            place=Place(str(args.trace)),
            expected=f"the file {BEST} of a search",
            hint=f"name {folder / BEST}" if beside else f"there is no {BEST} there: search again with --out",
        )
    file, number = case_of(str(args.trace))
    if file.suffix == ".jsonl":
        return _replay_cases(args.game, file, number)
    trace = load(args.trace)
    result = traces.replay(Path(args.game), trace, screen=not args.no_screen, delay=args.delay)
    say(f"{trace.level}: {counted(result.decisions, 'decision')}, score {figure(result.score)}, as in the search")
    return 0


def _replay_cases(game: str, file: Path, number: int | None) -> int:
    """Play failures again; return 1 if one still makes the game fail or cannot be played."""
    from persona_evo.connect.cases import UNPLAYABLE, CasePlayer
    from persona_evo.connect.description_file import read
    from persona_evo.connect.findings_file import read_cases

    cases, failed, lost = read_cases(file, number), 0, 0
    with CasePlayer(read(Path(game))) as player:
        for line, case in enumerate(cases, number or 1):
            try:
                found = player.play(case)
            except GameError as e:
                lost += 1
                say(f"{file}:{line}: {UNPLAYABLE}: {str(e).splitlines()[0]}")
                continue
            failed += found is not None
            say(f"{file}:{line}: " + ("the game does not fail any more" if found is None else f"FAULT: {found}"))
    unplayed = f"; {lost} cannot be played" if lost else ""
    say(f"{failed} of {counted(len(cases), 'case')} made the game fail{unplayed}")
    return 1 if failed or lost else 0


def run_shrink(args: argparse.Namespace) -> int:
    """Reduce a failure to the choices that are necessary for it."""
    from persona_evo.connect.cases import CasePlayer
    from persona_evo.connect.description_file import read
    from persona_evo.connect.findings_file import add_case, case_of, check_target, read_cases

    file, number = case_of(args.finding)
    (case,) = read_cases(file, number or 1)
    line, about = StatusLine(), read(Path(args.game))
    check_target(out := args.out or about.cases)
    with CasePlayer(about) as player:
        try:
            found = player.shrink(case, args.tries, line.show)
        finally:
            line.done_with_line()
        say(f"{counted(len(found.prefix), 'choice')} left after {counted(player.played, 'rollout')}: {found}")
    add_case(out, found)
    say(f"added to {out}; play it again:  {program('connect', 'replay', args.game, out)}")
    if out.resolve() == about.cases.resolve():
        say("  persona-evo playtest --require 'crashes == 0' plays these cases first")
    return 0
