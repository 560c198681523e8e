"""Show versions, cores and the cache of compiled code; with --game, check a game.

A game that runs in this program is loaded and, with --level, checked in random games.

A connected game plays twice with the same seeds, and then replays its choices. It passes if it gives the same results
each time and does not fail; otherwise the exit code is 1. If only its pictures are wrong, it passes without them.
"""

from __future__ import annotations

import argparse

from persona_evo import __version__
from persona_evo.cli.parser import Commands, filled, whole
from persona_evo.cli.say import StatusLine, say
from persona_evo.errors import Place, SettingsError
from persona_evo.jobs.windows import program
from persona_evo.words import counted, figure

OPTIONAL = ("distributed", "ray")
PACKAGES = ("numba", "llvmlite", "numpy", "deap", "joblib", "sympy", "scipy", "jinja2", "pillow", *OPTIONAL)


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("doctor", description=__doc__)
    parser.add_argument(
        "--clear-cache", action="store_true", help="delete compiled code; it is compiled again when needed"
    )
    parser.add_argument(
        "--game", type=filled, metavar="GAME", help="FILE.toml of a connected game, FILE.py:GAME, or a name"
    )
    parser.add_argument(
        "--level",
        type=filled,
        metavar="LEVEL",
        help="level to play; for a connected game MAP:VARIANT@SEED (default: default)",
    )
    parser.add_argument(
        "--rollouts",
        type=whole(1, 1_000_000),
        default=2000,
        metavar="N",
        help="number of rollouts to time, within 5 s (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what is installed and whether anything is compiled."""
    if args.game is not None:
        return _examine(args) if args.game.endswith(".toml") else _check(args)
    import importlib.metadata
    import platform

    from persona_evo.compiling import cache
    from persona_evo.jobs.workers import cores

    if args.clear_cache:
        gone, left = cache.clear()
        say(f"deleted {counted(gone, 'file')} of compiled code in {cache.chosen().folder or cache.cache_root()}")
        if left:
            raise SettingsError(
                "compiled code cannot be deleted",
                place=Place(str(left[0])),
                found=counted(len(left), "file"),
                hint="check the permissions, or set PERSONA_EVO_CACHE to another folder",
            )
        return 0
    say(
        f"persona-evo {__version__}, Python {platform.python_version()} on {platform.platform()}, "
        f"{counted(cores(), 'core')}"
    )
    for package in PACKAGES:
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed" + (" (optional)" if package in OPTIONAL else "")
        say(f"  {package:<12} {version}")
    _say_what_is_compiled()
    return 0


def _say_what_is_compiled() -> None:
    """Print where compiled code is kept, who owns it, and how much of it can be used here."""
    from persona_evo.compiling import INTERPRET, cache
    from persona_evo.compiling.machine import host, mark

    if INTERPRET:
        say("nothing is compiled, because PERSONA_EVO_INTERPRET is set")
        return
    choice, kept = cache.chosen(), cache.state(mark())
    state = "the engine is compiled" if kept.here else "the engine will be compiled at its first use"
    say(f"{state}: {choice.folder or 'in memory, by each process'}")
    if choice.trouble:
        say(f"  {choice.trouble}")
    if choice.folder is not None:
        say(f"  the folder belongs to {cache.owner(choice.folder)}" + ("" if cache.is_kept() else " and is only read"))
    say(f"  {counted(kept.here, 'file')} for this processor ({host()[0]}) and these versions")
    if kept.others:
        say(f"  {counted(kept.others, 'file')} for other processors or versions")
    if kept.damaged:
        say(f"  {counted(kept.damaged, 'file')} damaged; what is needed of them is compiled again")


def _check(args: argparse.Namespace) -> int:
    """Load a game that runs in this program, and check it on a level if one is named."""
    from persona_evo.cli import option_values
    from persona_evo.games import mapsets, registry
    from persona_evo.games.check import check_game

    game = option_values.game_of(args)
    say(f"{game.title}, version {game.version}, {'compiled rules' if game.compiled else 'a Python class'}")
    for m in game.metrics:
        say(f"  metric {m.symbol:<12} {m.name}")
    if args.level is None:
        say(
            f"the game can be loaded; now check its rules:  {program('game', 'check', registry.address(game), 'LEVEL')}"
        )
        return 0
    levels = mapsets.resolve(game, [args.level])
    looked = check_game(game, levels)
    say(f"{counted(looked, 'state')} of random games on {counted(len(levels), 'level')}, nothing wrong")
    return 0


def _examine(args: argparse.Namespace) -> int:
    """Play a connected game and say whether it is fit to be searched."""
    from pathlib import Path

    from persona_evo.cli import option_values
    from persona_evo.connect.description_file import read

    option_values.check_outside(args.game)
    from persona_evo.connect.doctor import examine
    from persona_evo.connect.session import Session
    from persona_evo.personas.template import range_of
    from persona_evo.report.game_pictures import strip_picture

    about = read(Path(args.game))
    session, line = Session(about), StatusLine(every=0.0)
    try:
        level = args.level or "default"
        levels = session.named([level])
        found = examine(session, levels[0], rollouts=args.rollouts, decode=strip_picture, progress=line.show)
        failures = session.findings()
        if failures:
            shrink = program("connect", "shrink", args.game, session.findings_file)
            failures.append(f"  {shrink} finds the choices that matter")
    finally:
        StatusLine.done_with_line()
        session.close()
    hello = found.hello
    said = ", ".join(hello.capabilities) or "none"
    say(f"{' '.join(hello.game)}, {hello.library}, protocol {'.'.join(map(str, hello.protocol))}")
    say(f"  capabilities {said}; at most {counted(hello.max_decisions, 'decision')}")
    for m in hello.metrics:
        bounds = range_of(m.low, m.high)
        say(f"  metric {m.symbol:<12} {m.name}" + (f", {bounds}" if bounds else ""))
    if found.rollouts:
        say(
            f"{found.level}: {found.rate:,.0f} rollouts/s with {counted(found.workers, 'worker')} "
            f"({found.rate * found.decisions:,.0f} decisions/s), {found.decisions:.1f} decisions each, scores "
            f"{figure(found.scores[0])} to {figure(found.scores[1])}"
        )
    if len(levels) > 1:
        found.notes.append(f"{level} stands for {len(levels)} levels, of which {found.level} was played")
    for text in found.notes:
        say(f"note: {text}")
    for text in failures:
        say(text)
    for text in (*found.faults, *found.unfilmed):
        say(f"FAULT: {text}")
    again = (
        ""
        if not found.restarted
        else (f", but {counted(found.restarted, 'process')} ended or hung and had to be restarted")
    )
    say("the game cannot be searched" if found.faults else f"the same choices lead to the same end: fine{again}")
    if found.unfilmed:
        say("there will be no film strips")
    return 1 if found.faults else 0
