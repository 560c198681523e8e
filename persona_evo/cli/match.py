"""`persona-evo match GAME A B ...`: agents of a two-player game play each other, and what came of it.

  persona-evo match colosseum                              the agents that come with a game
  persona-evo match colosseum two_ply random --swap        let agents play, into a new folder with a page
  persona-evo match replay FOLDER --number 3               draw a game of a match again

Each pair meets `--games` times on each level, or each `--size`. Agents are named by the game's own names, or
FILE.toml#NAME, or as programs of others, FILE.py; NAME:KEY=VALUE,... changes numbers of one; LABEL=... its name.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.cli import option_values, options
from persona_evo.cli.agent_list import list_agents
from persona_evo.cli.parser import Commands, filled, number, path, whole
from persona_evo.cli.say import StatusLine, duration, note, say, to_go
from persona_evo.errors import Place, SettingsError
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level
    from persona_evo.jobs.progress import Progress
    from persona_evo.jobs.workers import Workers
    from persona_evo.matches.job import Match, PlayedMatch

ROOT = Path("runs") / "matches"
"""The folder of matches without a named folder."""

MOVES = 30
"""Assumed number of moves of a game until some have been played."""

REPLAY = "replay"
"""The word in place of a game that draws a game of a finished match."""

LONG = 180.0
"""Seconds from which a match is long enough for an estimate of its duration."""

PROGRAMS = """\
programs of others (FILE.py), as for the course COMP 424; a class needs no base, the course's frame is understood:

  def step(chess_board, my_pos, adv_pos, max_step):
      ...                                    # chess_board[row, column, side]: walls, sides 0 to 3 = N, E, S, W
      return (row, column), side             # where to walk, and which side of that cell to wall

  class StudentAgent:
      def step(self, chess_board, my_pos, adv_pos, max_step): ...

  They run in processes of their own with --limit seconds a move and --memory; what they print, and the tracebacks of
  what they raise, are in FOLDER/programs/NAME.log. A program that is late is ended with all that it has started, and
  loaded anew for its next move: what it kept in memory in that game is gone. An example is in the game's README.
"""

_SIZES = re.compile(r"(\d{1,3})(?:\.\.(\d{1,3}))?")


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("match", description=__doc__, epilog=PROGRAMS)
    parser.add_argument(
        "game", type=filled, metavar="GAME|replay", help='a two-player game, or "module:object" of your own, or replay'
    )
    parser.add_argument(
        "agents",
        nargs="*",
        type=filled,
        metavar="AGENT|FOLDER",
        help="two or more agents; without any, the game's own agents are listed. With replay: the folder of a match",
    )
    parser.add_argument(
        "--games",
        type=whole(1, 100_000),
        default=50,
        metavar="N",
        help="games of each pair on each level (default: %(default)s)",
    )
    parser.add_argument("--levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    parser.add_argument(
        "--size",
        type=sizes,
        metavar="N[..M]",
        help="board sizes instead of the levels' own, for games whose loader has an option size",
    )
    parser.add_argument("--swap", action="store_true", help="play each board twice, with the sides exchanged")
    parser.add_argument(
        "--iterations",
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="search iterations of each agent per move (default: each agent's own budget)",
    )
    parser.add_argument(
        "--seconds",
        type=number(0, 3600, above=True),
        metavar="S",
        help="seconds of each agent per move; results then depend on the machine",
    )
    parser.add_argument(
        "--limit",
        type=number(0, 3600, above=True),
        metavar="S",
        help="time limit of a move in seconds; a move that exceeds it is replaced and counted "
        "(default: 2 for programs, otherwise none)",
    )
    parser.add_argument(
        "--memory",
        type=whole(0, 1_000_000),
        default=500,
        metavar="MB",
        help="memory limit of a program, 0 for none (default: %(default)s)",
    )
    options.add_jobs(parser)
    options.add_backend(parser)
    options.add_seed(parser)
    parser.add_argument("--no-pictures", action="store_true", help="omit pictures of games from the page")
    parser.add_argument(
        "-o",
        "--out",
        type=path,
        metavar="PATH",
        help="folder for everything; one that holds the "
        "beginning of the same match is continued (default: a new one below runs/matches/). With "
        "replay: the picture's file, a GIF",
    )
    parser.add_argument(
        "--number",
        type=whole(1, 100_000_000),
        metavar="N",
        help="replay: number of the game on the page (default: the closest game)",
    )
    options.add_trust(parser)
    parser.set_defaults(run=run)


def sizes(text: str) -> list[int]:
    """Convert N or N..M to a list of sizes."""
    found = _SIZES.fullmatch(text.strip())
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if low > high or low == 0:
        raise argparse.ArgumentTypeError(f"expected a size or a range such as 6..12, found {text!r}")
    return list(range(low, high + 1))


def run(args: argparse.Namespace) -> int:
    """Play and report, or draw a game again; return the exit code, 130 after Ctrl-C."""
    if args.game == REPLAY:
        return _replay(args)
    if args.number is not None:
        raise SettingsError(
            "--number goes with replay",
            found=f"--number {args.number}",
            expected="persona-evo match replay FOLDER --number N",
        )
    options.check_backend(args)
    _cheap(args)
    pairs = len(args.agents) * (len(args.agents) - 1) // 2
    searches = pairs * args.games * MOVES
    with option_values.workers_of(args, "persona_evo.matches.job", option_values.thought(args, searches)) as workers:
        return _run(args, workers)


def _run(args: argparse.Namespace, workers: Workers) -> int:
    from persona_evo.games import registry

    game = registry.get(args.game)
    if game.players != 2 and args.agents and game.agents:
        raise SettingsError(
            "a match needs a two-player game",
            found=f"{game.name}, for {counted(game.players, 'player')}",
            expected="such as colosseum",
            hint="persona-evo playtest is for single-player games",
        )
    if not args.agents:
        return list_agents(game)
    return _match(args, game, workers)


def _cheap(args: argparse.Namespace) -> None:
    """Refuse wrong options before anything is read or compiled."""
    from persona_evo.matches.records import even

    if len(args.agents) == 1:
        raise SettingsError(
            "a match needs at least two agents",
            found=args.agents[0],
            hint=f"persona-evo match {args.game} lists those of the game",
        )
    even(args.games, args.swap)
    for word in args.agents:
        label, mark, rest = word.partition("=")
        file = rest if mark and ":" not in label else word
        if file.endswith(".py"):
            from persona_evo.agents.program import is_file

            is_file(Path(file), file)


def _match(args: argparse.Namespace, game: Game, workers: Workers) -> int:
    from persona_evo.matches import job as play

    match = match_of(args, game)
    folder = args.out or option_values.new_folder(ROOT, [game.name, *(a.name.partition(":")[0] for a in match.agents)])
    line, told = StatusLine(), _Teller(match, option_values.jobs_of(args))

    def begun(there: int, total: int) -> None:
        what = f"{len(match.agents)} agents, {counted(len(match.levels), 'level')}"
        note(
            f"{what}, {counted(match.games, 'game')} a pair and level, seed {match.seed}, into {folder}"
            + (f", where {there} of {total} games are" if there else "")
        )

    def progress(p: Progress) -> None:
        told.expect(p)
        line.show(f"{p.done}/{p.total} {plural(p.total, 'game')}{to_go(p.eta)}", last=p.done == p.total)

    played = play.play(match, workers=workers, folder=folder, progress=progress, begun=begun)
    StatusLine.done_with_line()
    return _finish(args, played, folder)


class _Teller:
    """Prints the expected duration of a long match once, before the first game."""

    def __init__(self, match: Match, jobs: int) -> None:
        self._match, self._jobs, self._said = match, jobs, False

    def expect(self, p: Progress) -> None:
        """Take note of progress; the first call comes before the first game."""
        said, self._said = self._said, True
        if said or p.eta is None or p.eta < LONG:
            return
        match = self._match
        budgets = sorted({a.budget.seconds for a in match.agents if a.kind == "search" and a.budget.seconds})
        why = (
            [f"agents think {' to '.join(dict.fromkeys(f'{s:g}' for s in (budgets[0], budgets[-1])))} s a move"]
            if budgets
            else []
        )
        if any(a.kind == "program" for a in match.agents):
            why.append(f"programs may take {match.program_seconds:g} s a move, which is not counted here")
        note(
            f"{counted(p.total - p.done, 'game')} take about {duration(p.eta)} on {counted(self._jobs, 'core')}"
            + (f": {'; '.join(why)}" if why else "")
            + ". Fewer with --games, shorter moves with --iterations 500 or "
            "--seconds 0.1; Ctrl-C keeps what is played"
        )


def _finish(args: argparse.Namespace, played: PlayedMatch, folder: Path) -> int:
    """Print the tables and write the page; return the exit code."""
    from persona_evo.jobs.files import writing_in
    from persona_evo.report import match as report
    from persona_evo.report import match_tables as tables

    match, records = played.match, played.records
    names, levels = [a.name for a in match.agents], [v.name for v in match.levels]
    if not played.complete:
        if records:
            for table in tables.shown(records, names, levels, match.seed):
                say(table.render() + "\n")
        note(
            f"stopped after {counted(len(records), 'game')}, which are kept in {folder}; the same command continues"
            + ("" if args.out else f" with --out {folder}")
        )
        return 130
    line = StatusLine()
    with writing_in(folder):
        written = report.write(
            match,
            records,
            folder,
            option_values.typed(args, match.seed),
            not args.no_pictures,
            lambda text: line.show(f"drawing {text}"),
        )
    StatusLine.done_with_line()
    say(written.text + "\n")
    if tied := tables.only_ties(records, match.game):
        note(tied)
    _say_faults(played, folder)
    say(f"seed {match.seed}" + ("" if match.reproducible else "; agents have time limits, so another run may differ"))
    say(f"everything is in {folder}, start with {written.page}")
    return 0


def _replay(args: argparse.Namespace) -> int:
    """Draw a game of a finished match."""
    if len(args.agents) != 1:
        raise SettingsError(
            "replay needs the folder of one match",
            found=" ".join(args.agents) or "none",
            expected="persona-evo match replay FOLDER --number N",
        )
    folder = Path(args.agents[0])
    options.check_gif(args.out)
    from persona_evo.jobs.files import writing_in
    from persona_evo.matches import reopening
    from persona_evo.report import match as report

    options.accept(args, folder)
    kept = reopening.reopen(folder)
    if not kept.records:
        raise SettingsError(
            "no game has been played yet",
            place=Place(str(folder)),
            found="no game",
            expected="at least one",
            hint="play the match first",
        )
    closest = min(range(len(kept.records)), key=lambda i: (abs(kept.records[i].margin), -kept.records[i].plies))
    number = args.number or closest + 1
    with writing_in(folder):
        target = args.out or report.picture_of(folder, number)
        said, drawn = report.draw(kept, number, target)
    say(said)
    say(kept.records[number - 1].actions)
    say(f"wrote {drawn}" if drawn else f"{kept.game} does not draw its games")
    return 0


def match_of(args: argparse.Namespace, game: Game) -> Match:
    """Return the match that the options describe."""
    from persona_evo.agents.program import MOVE_SECONDS, try_out
    from persona_evo.games import registry
    from persona_evo.games.level_text import LevelText
    from persona_evo.matches import job as play
    from persona_evo.matches import names, records

    agents = [a.with_budget(args.iterations, args.seconds) for a in names.agents(game, args.agents)]
    levels = levels_of(args, game)
    for agent in agents:
        if agent.kind == "program":
            try_out(game, levels[0], Path(agent.program))
    seed = option_values.seed_of(args)
    if args.out is not None and args.seed is None:
        known = records.seed_in(args.out)
        seed = seed if known is None else known
    return play.Match(
        registry.address(game),
        tuple(LevelText.of(level) for level in levels),
        tuple(agents),
        args.games,
        args.swap,
        seed,
        args.limit,
        args.limit or MOVE_SECONDS,
        args.memory,
    )


def levels_of(args: argparse.Namespace, game: Game) -> list[Level]:
    """Return the named levels, or the game's own, in each requested size."""
    import inspect

    from persona_evo.games import mapsets

    shipped = mapsets.shipped(game).sets
    named = args.levels or [next((s for s in ("train", "all") if s in shipped), "")]
    if not named[0]:
        raise SettingsError(f"{game.name} has no levels of its own", expected="--levels LEVEL ...")
    sized = "size" in inspect.signature(game.load).parameters
    if args.size is None:
        try:
            return mapsets.resolve(game, named)
        except SettingsError as e:
            if not sized or " " not in (e.found or "") or not e.what.startswith("no such level"):
                raise
            raise SettingsError(
                e.what,
                place=e.place,
                found=e.found,
                expected=e.expected,
                hint="the text of a level is in a file (persona-evo level new NAME --game "
                f"{args.game}); other random boards in each game: --size 8 or --size 6..12",
            ) from e
    if not sized:
        raise SettingsError(f"boards of {game.name} have a fixed size", found="--size")
    (base, *more) = mapsets.resolve(game, named[:1] if args.levels is None else named)
    if more and args.levels is not None:
        raise SettingsError("--size goes with one level", found=", ".join(args.levels))
    loaded: Any = game.load
    return [loaded(base.text, f"size{n}", base.source, size=n) for n in args.size]


def _say_faults(played: PlayedMatch, folder: Path) -> None:
    """Print each kind of fault once, with its number and an example."""
    from persona_evo.matches.records import log_of
    from persona_evo.report.match_tables import faults

    for name, kind, moves, games, where, what in faults(played.records).rows:
        lost = f"{counted(int(moves), 'move')} lost ({kind}) in {counted(int(games), 'game')}"
        say(f"{name}: {lost}, such as {where}: {what}")
    for agent in played.match.agents:
        if agent.kind == "program" and log_of(folder, agent.name).is_file():
            say(f"{agent.name}: its output and tracebacks are in {log_of(folder, agent.name)}")
