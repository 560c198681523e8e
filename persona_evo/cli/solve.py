"""Find the best plan for a persona in a level and, if possible, prove that no plan is better."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled, number, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.errors import Place, SettingsError
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level
    from persona_evo.search.bounds import Solution

METHODS = ("auto", "bfs", "dfs", "exhaustive", "random", "flat")
SEEDED = ("auto", "random", "flat")
"""Methods whose results depend on the seed."""
ITERATIONS = 2_000_000


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("solve", description=__doc__)
    parser.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    parser.add_argument("--persona", required=True, type=filled, metavar="PERSONA", help=options.PERSONA)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="auto is the planner, which runs until it "
        "has a proof; the others are for comparison (default: %(default)s)",
    )
    parser.add_argument(
        "--iterations",
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help=f"with auto: maximum number of search iterations for each level (default: {ITERATIONS:,})",
    )
    parser.add_argument(
        "--states",
        type=whole(1, options.MOST_ITERATIONS),
        metavar="N",
        help="with other methods: maximum number of states (default: the method's own limit)",
    )
    parser.add_argument(
        "--seconds",
        type=number(0, options.MOST_SECONDS, above=True),
        metavar="S",
        help="time limit for each level in seconds; results then depend on the machine (default: no limit)",
    )
    parser.add_argument(
        "--seed",
        type=whole(0, options.SEEDS),
        default=0,
        metavar="N",
        help="seed of all random choices (default: %(default)s)",
    )
    parser.add_argument(
        "--draw",
        type=filled,
        metavar="FILE",
        help="draw the plan: FILE.png shows its steps on the map, FILE.gif plays it; with several levels, "
        "each gets a file of its own, FILE-LEVEL.png",
    )
    options.add_level_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve each level and print the results."""
    from persona_evo import api
    from persona_evo.games.guides import guide

    limits = _limits(args)
    game = option_values.game_of(args)
    if args.draw:
        _check_drawing(args.draw, game)
    persona = api.load_persona(args.persona, game)
    levels = option_values.levels_of(args, game, args.levels)
    if args.method in SEEDED:
        note(f"seed {args.seed}")
    line = StatusLine()
    for level in levels:
        solution = api.solve(
            level,
            persona,
            game=game,
            method=args.method,
            seconds=args.seconds,
            seed=args.seed,
            progress=_teller(line, level.name),
            **limits,
        )
        StatusLine.done_with_line()
        show(game, level, solution)
        if args.draw:
            _draw(game, level, solution, _file(args.draw, level.name if len(levels) > 1 else ""))
    legend = guide(game).actions
    if legend:
        say(f"moves: {legend}")
    return 0


def _limits(args: argparse.Namespace) -> dict[str, int]:
    """Return the limit of the search as an argument of the solver.

    Raises:
        SettingsError: the method does not have this limit.
    """
    if args.method == "auto":
        if args.states is not None:
            raise SettingsError(
                "the planner counts iterations",
                found=f"--states {args.states}",
                expected="--iterations N, or --states with another --method",
            )
        return {"iterations": args.iterations or ITERATIONS}
    if args.iterations is not None:
        raise SettingsError(
            f"the method {args.method} counts states",
            found=f"--iterations {args.iterations}",
            expected="--states N, or --iterations with --method auto",
        )
    return {} if args.states is None else {"states": args.states}


def _check_drawing(file: str, game: Game) -> None:
    """Check before the search that a plan can be drawn.

    Raises:
        SettingsError: the file is of another kind, or the game cannot be drawn in this way.
    """
    suffix = Path(file).suffix.lower()
    if suffix not in (".png", ".gif"):
        raise SettingsError("a plan is drawn as a picture", found=f"--draw {file}", expected="FILE.png or FILE.gif")
    if suffix == ".png" and game.locate is None:
        raise SettingsError(
            f"{game.title} does not tell where the avatar is, so a plan cannot be drawn on the map",
            found=f"--draw {file}",
            expected="FILE.gif" if game.draw else "no --draw",
        )
    if suffix == ".gif" and not game.draw:
        raise SettingsError(
            f"{game.title} does not draw its states, so a plan cannot be animated",
            found=f"--draw {file}",
            expected="FILE.png" if game.locate else "no --draw",
        )


def _file(name: str, level: str) -> Path:
    """Return the file of a level's plan; `level` is "" if there is only one."""
    path = Path(name)
    safe = re.sub(r"[^\w.+-]+", "_", level)
    return path.with_name(f"{path.stem}-{safe}{path.suffix}") if safe else path


def _draw(game: Game, level: Level, solution: Solution, path: Path) -> None:
    """Draw a plan and print the name of the file.

    Raises:
        SettingsError: the file cannot be written.
    """
    from persona_evo.report import maps, replay

    states = game.replay(level, solution.actions)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".gif":
            replay.save_gif(replay.film(game, level, states, solution.actions, _captions(game, level, solution)), path)
        else:
            places = [game.locate(level, state) for state in states] if game.locate is not None else []
            maps.plan(game, level, [place for place in places if place is not None], path)
    except OSError as e:
        raise SettingsError("the picture cannot be written", place=Place(str(path)), found=str(e)) from e
    say(f"  drawn: {path}")


def _captions(game: Game, level: Level, solution: Solution) -> list[str]:
    """Return a caption for each state of a plan."""
    names = _names(game, level, solution)
    return ["start", *(f"{k}/{len(names)} {name}" for k, name in enumerate(names, 1))]


def _names(game: Game, level: Level, solution: Solution) -> list[str]:
    """Return the names of a plan's moves for people."""
    from persona_evo.games.guides import guide

    words, states = guide(game), game.replay(level, solution.actions)
    return [words.action(game.action_name(level, s, a)) for s, a in zip(states, solution.actions, strict=False)]


def _teller(line: StatusLine, name: str) -> Callable[[str], None]:
    return lambda text: line.show(f"{name}: {text}")


def show(game: Game, level: Level, solution: Solution) -> None:
    """Print a solution."""
    from persona_evo.games.core import RUNNING
    from persona_evo.report.layout import terminal_width, wrapped

    names = _names(game, level, solution)
    made, end = counted(len(names), "move"), ("not over", "won", "lost", "ended")[solution.outcome]
    ending = f"{end} in {made}"
    if solution.outcome == RUNNING and len(names) >= game.horizon_of(level):
        ending = f"not over at the game's horizon of {made}"
    proof = "proven: no plan is better" if solution.proven else f"best known, not proven; {solution.at_most}"
    how = f"by {solution.method} in {solution.seconds:.1f} s"
    say(f"{level.name}: utility {solution.utility:.6g} ({proof}), {ending}, {how}")
    for words in (names, [f"{k}={v:.4g}" for k, v in solution.metrics.items()]):
        say("\n".join(wrapped("  " + " ".join(words), terminal_width(), "  ")))
