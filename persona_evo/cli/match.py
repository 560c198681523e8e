"""`persona-evo match GAME A B ...`: agents of a game for two play each other, and what came of it.

Each pair meets `--games` times on each level, or each `--size`. Agents are named by the game's own names, or
FILE.toml#NAME, or as programs of others, FILE.py; NAME:KEY=VALUE,... changes numbers of one; LABEL=... its name.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from persona_evo.cli import options
from persona_evo.cli.parser import filled, number, path, whole
from persona_evo.cli.say import Progress, compiling, duration, note, say
from persona_evo.errors import SettingsError
from persona_evo.words import counted, plural

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level
    from persona_evo.playtest.match.play import Match, Played
    from persona_evo.report.tables import Table

_SIZES = re.compile(r"(\d{1,3})(?:\.\.(\d{1,3}))?")


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("match", help="agents of a game for two against each other", description=__doc__)
    parser.add_argument("game", type=filled, metavar="GAME", help='a game for two, or "module:object" of your own')
    parser.add_argument("agents", nargs="*", type=filled, metavar="AGENT",
                        help="two or more; none lists the game's own")
    parser.add_argument("--games", type=whole(1, 100_000), default=50, metavar="N",
                        help="games of each pair on each level (default: %(default)s)")
    parser.add_argument("--levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    parser.add_argument("--size", type=sizes, metavar="N[..M]",
                        help="board sizes instead of the levels' own, for games whose loader has an option size")
    parser.add_argument("--swap", action="store_true", help="play each board twice, the sides exchanged")
    parser.add_argument("--iterations", type=whole(1, options.MOST_ITERATIONS), metavar="N",
                        help="search iterations of each agent for a move (default: each agent's own budget)")
    parser.add_argument("--seconds", type=number(0, 3600, above=True), metavar="S",
                        help="seconds of each agent for a move; results then depend on the machine")
    parser.add_argument("--limit", type=number(0, 3600, above=True), metavar="S",
                        help="a move that took longer is replaced and counted (default: 2 for programs, else none)")
    parser.add_argument("--memory", type=whole(0, 1_000_000), default=500, metavar="MB",
                        help="what a program may take for itself, 0 for any (default: %(default)s)")
    options.add_jobs(parser)
    options.add_backend(parser)
    options.add_seed(parser)
    parser.add_argument("--out", type=path, metavar="FOLDER",
                        help="keep each game there; the same command goes on where it stopped")
    parser.set_defaults(run=run)


def sizes(text: str) -> list[int]:
    """A kind of value: N or N..M."""
    found = _SIZES.fullmatch(text.strip())
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if low > high or low == 0:
        raise argparse.ArgumentTypeError(f"expected a size or a range such as 6..12, found {text!r}")
    return list(range(low, high + 1))


def run(args: argparse.Namespace) -> int:
    """Play and print; 130 after Ctrl-C."""
    from persona_evo.games import registry
    from persona_evo.playtest.match import play

    options.check_backend(args)
    game = registry.get(args.game)
    if not args.agents:
        return list_agents(game)
    match = match_of(args, game)
    line = Progress()
    each = (f"{counted(len(match.agents), 'agent')}, {counted(len(match.levels), 'level')}, "
            f"{counted(args.games, 'game')} a pair and level")  # fmt: skip
    note(f"{each}, seed {match.seed}" + (f", into {args.out}" if args.out else ""))
    played = play.play(
        match, jobs=options.jobs_of(args), backend=args.backend, address=args.address, folder=args.out,
        progress=lambda p: line.show(f"{p.done}/{p.total} {plural(p.total, 'game')}, {duration(p.eta)} to go",
                                     last=p.done == p.total),
    )  # fmt: skip
    Progress.done_with_line()
    if played.records:
        for table in tables(played):
            say(table.render() + "\n")
        _say_faults(played)
    say(f"seed {match.seed}" + ("" if match.reproducible else "; agents with limits of time: another run may differ"))
    if not played.complete:
        kept = f"kept in {args.out}; the same command goes on" if args.out else "not kept (--out FOLDER keeps them)"
        note(f"stopped after {counted(len(played.records), 'game')}, {kept}")
    return 0 if played.complete else 130


def list_agents(game: Game) -> int:
    """The agents that come with the game."""
    from pathlib import Path

    from persona_evo.search.agents import load_agents

    if not game.agents:
        raise SettingsError(f"{game.name} comes without agents", expected="FILE.toml#NAME or FILE.py, two or more")
    for agent in load_agents(Path(game.agents), game).values():
        say(f"{agent.name:<20} {agent.about}")
    return 0


def match_of(args: argparse.Namespace, game: Game) -> Match:
    """What was asked for."""
    from pathlib import Path

    from persona_evo.connect.program import MOVE_SECONDS, try_out
    from persona_evo.evolve.fitness import LevelText
    from persona_evo.games import registry
    from persona_evo.playtest.match import names, play, records

    agents = [a.with_budget(args.iterations, args.seconds) for a in names.agents(game, args.agents)]
    if len(agents) < 2:
        raise SettingsError("a match needs two agents at least", found=args.agents[0],
                            hint=f"persona-evo match {args.game} lists those of the game")  # fmt: skip
    compiling()
    levels = levels_of(args, game)
    for agent in agents:
        if agent.kind == "program":
            try_out(game, levels[0], Path(agent.program))
    seed = options.seed_of(args)
    if args.out is not None and args.seed is None:
        known = records.seed_in(args.out)
        seed = seed if known is None else known
    return play.Match(
        registry.address(game), tuple(LevelText.of(level) for level in levels), tuple(agents), args.games, args.swap,
        seed, args.limit, args.limit or MOVE_SECONDS, args.memory,
    )  # fmt: skip


def levels_of(args: argparse.Namespace, game: Game) -> list[Level]:
    """The levels named, or the game's own; in each size that was asked for."""
    import inspect

    from persona_evo.games import mapsets

    shipped = mapsets.shipped(game).sets
    named = args.levels or [next((s for s in ("train", "all") if s in shipped), "")]
    if not named[0]:
        raise SettingsError(f"{game.name} comes without levels", expected="--levels LEVEL ...")
    if args.size is None:
        return mapsets.resolve(game, named)
    if "size" not in inspect.signature(game.load).parameters:
        raise SettingsError(f"boards of {game.name} have no size that can be chosen", found="--size")
    (base, *more) = mapsets.resolve(game, named[:1] if args.levels is None else named)
    if more and args.levels is not None:
        raise SettingsError("--size goes with one level", found=", ".join(args.levels))
    loaded: Any = game.load
    return [loaded(base.text, f"size{n}", base.source, size=n) for n in args.size]


def tables(played: Played) -> list[Table]:
    """Pairs by level, then ratings where there are more than two agents, then how all of them thought."""
    from persona_evo.report.tables import Table

    match, records = played.match, played.records
    names, levels = [a.name for a in match.agents], [level.name for level in match.levels]
    found = [Table("games", ["", "level", "games", "won", "95 %", "ties", "lost", "p", "margin", "faults"],
                   _pairs(records, names, levels), left=frozenset({1}), keys=2)]  # fmt: skip
    if len(names) > 2:
        found.append(_ratings(records, names, match.seed))
    rows = _thinking(records, names, levels)
    headers = ["", "level", "s/move", "slowest", "iterations", "nodes", "breadth", "depth", "most broad", "deepest"]
    found.append(Table("thinking, means over games", headers, rows, left=frozenset({1}), keys=2))
    return found


def _pairs(records: Sequence[Any], names: Sequence[str], levels: Sequence[str]) -> list[list[str]]:
    from persona_evo.playtest.match import standings

    rows = []
    for a, b in itertools.combinations(names, 2):
        for level in [*levels, *([""] if len(levels) > 1 else [])]:
            p = standings.pair(records, a, b, level)
            if not p.games:
                continue
            margin = "–" if p.margin is None else f"{p.margin.value:+.3f} ± {p.margin.half:.3f}"
            rows.append([
                f"{a} – {b}", level or "all", str(p.games), f"{p.rate.value:.1%}",
                f"{p.rate.low:.1%} to {p.rate.high:.1%}", str(p.ties), str(p.games - p.wins - p.ties), f"{p.p:.2g}",
                margin, f"{p.faults[0]}, {p.faults[1]}",
            ])  # fmt: skip
    return rows


def _ratings(records: Sequence[Any], names: Sequence[str], seed: int) -> Table:
    from persona_evo.playtest.match import standings
    from persona_evo.report.tables import Table

    rows = [
        [r.name, f"{r.points:+.0f}", r.interval, f"{r.score:.1%}", str(r.games)]
        for r in standings.ratings(records, names, seed)
    ]
    title = "ratings (Bradley-Terry, 400 points are odds of 10 to 1)"
    return Table(title, ["", "points", "95 %", "score", "games"], rows)


def _thinking(records: Sequence[Any], names: Sequence[str], levels: Sequence[str]) -> list[list[str]]:
    from persona_evo.playtest.match import standings

    rows = []
    for name in names:
        for level in levels:
            t = standings.thinking(records, name, level)
            trees = (t.iterations, t.nodes, t.breadth, t.depth, t.breadth_most, t.depth_most)
            if t.games:
                shown = [f"{v:.4g}" if t.searches else "–" for v in trees]
                rows.append([name, level, f"{t.seconds:.3f}", f"{t.slowest:.3f}", *shown])
    return rows


def _say_faults(played: Played) -> None:
    """Each kind of fault once, with how often it happened and an example."""
    seen: dict[tuple[str, str], list[str]] = {}
    for r in played.records:
        for who, move, kind, what in r.faults:
            where = f"{r.level}, game {r.number}, move {move}: {what}"
            seen.setdefault(((r.first, r.second)[who], kind), []).append(where)
    for (name, kind), cases in seen.items():
        say(f"{name}: {counted(len(cases), 'move')} lost ({kind}), such as {cases[0]}")
