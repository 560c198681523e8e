"""Let agents of a two-player game play each other, and report the results.

  persona-evo match colosseum                              list the agents that come with a game
  persona-evo match colosseum two_ply random --swap        play a match, and write its page into a new folder
  persona-evo match replay FOLDER --number 3               draw a game of a match

Each pair of agents plays --games games on each level, or on each board of --size. An agent is a name from the game's
own list, FILE.toml#NAME, a policy, or an external program, FILE.py. NAME:KEY=VALUE,... changes values of an agent,
and LABEL=AGENT gives it another name.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled, number, path, whole
from persona_evo.cli.say import StatusLine, duration, note, say, teller
from persona_evo.errors import SettingsError
from persona_evo.jobs.windows import command_line
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.api.matches import MatchResults
    from persona_evo.jobs.progress import Progress
    from persona_evo.jobs.workers import Workers
    from persona_evo.matches.job import Match

ROOT = Path("runs") / "matches"
"""The folder of matches without a named folder."""

MOVES = 30
"""Assumed number of moves of a game until some have been played."""

REPLAY = "replay"
"""The word in place of a game that draws a game of a finished match."""

LONG = 180.0
"""Seconds from which a match is long enough for an estimate of its duration."""

PROGRAMS = """\
external programs (FILE.py), with the interface of the course COMP 424; a class needs no base class:

  def step(chess_board, my_pos, adv_pos, max_step):
      ...                                    # chess_board[row, column, side]: walls, sides 0 to 3 = N, E, S, W
      return (row, column), side             # where to walk, and which side of that cell to wall

  class StudentAgent:
      def step(self, chess_board, my_pos, adv_pos, max_step): ...

  Programs run in processes of their own, limited by --limit (seconds per move) and --memory. Their output and their
  tracebacks are in FOLDER/programs/NAME.log. A program that exceeds the time limit is killed together with the
  processes that it started, and is loaded again for its next move; it loses what it kept in memory. The game's README
  has an example.
"""

_SIZES = re.compile(r"(\d{1,3})(?:\.\.(\d{1,3}))?")


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("match", description=__doc__, epilog=PROGRAMS)
    parser.add_argument(
        "game", type=filled, metavar="GAME|replay", help='a two-player game, "module:object" for your own, or replay'
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
        help="search iterations of each agent for a move (default: each agent's own budget)",
    )
    parser.add_argument(
        "--seconds",
        type=number(0, 3600, above=True),
        metavar="S",
        help="seconds of each agent for a move; results then depend on the machine",
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
        help="with replay: number of the game on the page (default: the closest game)",
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
            "--number is only for replay",
            found=f"--number {args.number}",
            expected="persona-evo match replay FOLDER --number N",
        )
    if not args.agents:
        return _list_agents(args.game)
    options.check_backend(args)
    pairs = len(args.agents) * (len(args.agents) - 1) // 2
    searches = pairs * args.games * MOVES
    with option_values.workers_of(args, "persona_evo.matches.job", option_values.thought(args, searches)) as workers:
        return _run(args, workers)


def _list_agents(name: str) -> int:
    """Print the names and descriptions of the agents that come with a game."""
    from persona_evo.api.agent_list import agents_of
    from persona_evo.games import registry

    for agent, about in agents_of(registry.get(name)).items():
        say(f"{agent:<20} {about}")
    return 0


def _run(args: argparse.Namespace, workers: Workers) -> int:
    from persona_evo.api.matches import play_match
    from persona_evo.games import registry

    told = _Teller(option_values.jobs_of(args))
    show = teller(lambda p: f"{p.done}/{p.total} {plural(p.total, 'game')}")

    def progress(p: Progress) -> None:
        told.expect(p)
        show(p)

    played = play_match(
        args.game,
        args.agents,
        args.levels,
        games=args.games,
        sizes=args.size,
        swap=args.swap,
        iterations=args.iterations,
        seconds=args.seconds,
        limit=args.limit,
        memory=args.memory,
        seed=args.seed,
        folder=args.out or option_values.new_folder(ROOT, [registry.get(args.game).name, *map(_short, args.agents)]),
        workers=workers,
        progress=progress,
        begun=told.begin,
    )
    StatusLine.done_with_line()
    return _finish(args, played)


def _short(agent: str) -> str:
    """Return an agent's name, or its file's, as a part of the folder's name."""
    label, mark, _ = agent.partition("=")
    if mark and ":" not in label:
        return label
    return Path(agent.partition(":")[0].rpartition("#")[2]).stem


class _Teller:
    """Prints what will be played, and the expected duration of a long match once, before the first game."""

    def __init__(self, jobs: int) -> None:
        self._jobs, self._said = jobs, False
        self._match: Match | None = None

    def begin(self, played: MatchResults) -> None:
        """Print the sizes of the match, and how many of its games the folder has."""
        self._match = match = played.match
        there = len(played.records)
        what = f"{len(match.agents)} agents, {counted(len(match.levels), 'level')}"
        note(
            f"{what}, {counted(match.games, 'game')} a pair and level, seed {match.seed}, into {played.folder}"
            + (f", where {there} of {match.total} games are" if there else "")
        )

    def expect(self, p: Progress) -> None:
        """Take note of progress; the first call comes before the first game."""
        said, self._said, match = self._said, True, self._match
        if said or match is None or p.eta is None or p.eta < LONG:
            return
        budgets = sorted({a.budget.seconds for a in match.agents if a.kind == "search" and a.budget.seconds})
        why = (
            [f"agents think {' to '.join(dict.fromkeys(f'{s:g}' for s in (budgets[0], budgets[-1])))} s a move"]
            if budgets
            else []
        )
        if any(a.kind == "program" for a in match.agents):
            why.append(f"programs may take {match.program_seconds:g} s a move, which is not counted here")
        left = p.total - p.done
        note(
            f"{counted(left, 'game')} {'takes' if left == 1 else 'take'} about {duration(p.eta)} "
            f"on {counted(self._jobs, 'core')}"
            + (f": {'; '.join(why)}" if why else "")
            + ". Fewer with --games, shorter moves with --iterations 500 or "
            "--seconds 0.1; Ctrl-C keeps what is played"
        )


def _finish(args: argparse.Namespace, played: MatchResults) -> int:
    """Print the tables and write the page; return the exit code."""
    match, folder = played.match, played.folder or Path()
    if not played.complete:
        if played.records:
            say(f"{played}\n")
        note(
            f"stopped after {counted(len(played.records), 'game')}, which are kept in {folder}; the same command "
            "continues" + ("" if args.out else f" with --out {command_line([str(folder)])}")
        )
        return 130
    line = StatusLine()
    written = played.write(
        folder,
        command=option_values.typed(args, match.seed),
        pictures=not args.no_pictures,
        progress=lambda text: line.show(f"drawing {text}"),
    )
    StatusLine.done_with_line()
    say(written.text + "\n")
    if played.tied:
        note(played.tied)
    for name, kind, moves, games, where, what in played.faults.rows:
        lost = f"{counted(int(moves), 'move')} lost ({kind}) in {counted(int(games), 'game')}"
        say(f"{name}: {lost}, such as {where}: {what}")
    for name, log in played.logs.items():
        say(f"{name}: its output and tracebacks are in {log}")
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
    from persona_evo.api.matches import kept_match
    from persona_evo.jobs.files import writing_in
    from persona_evo.report import match as report

    options.accept(args, folder)
    kept = kept_match(folder)
    number = args.number or kept.closest
    with writing_in(folder):
        target = args.out or report.picture_of(folder, number)
        said, drawn = report.draw(kept, number, target)
    say(said)
    say(kept.records[number - 1].actions)
    say(f"wrote {drawn}" if drawn else f"{kept.game} does not draw its games")
    return 0
