"""`persona-evo solve`: the best plan that can be found for a persona in a level, and whether a better one can exist."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from persona_evo.cli import options
from persona_evo.cli.parser import filled, number, whole
from persona_evo.cli.say import SOLVER, Progress, compiling, note, say
from persona_evo.errors import SettingsError
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level
    from persona_evo.search.bounds import Solution

METHODS = ("auto", "bfs", "dfs", "exhaustive", "random", "flat")
SEEDED = ("auto", "random", "flat")
"""Methods whose results follow from a seed."""
ITERATIONS = 2_000_000


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("solve", help="the best known plan for a persona in a level", description=__doc__)
    parser.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    parser.add_argument("--persona", required=True, type=filled, metavar="PERSONA", help=options.PERSONA)
    parser.add_argument("--method", choices=METHODS, default="auto",
                        help="auto: the planner, up to a proof; the others to compare with (default: %(default)s)")
    parser.add_argument("--iterations", type=whole(1, options.MOST_ITERATIONS), metavar="N",
                        help=f"of auto: iterations of the search for each level at most (default: {ITERATIONS:,})")
    parser.add_argument("--states", type=whole(1, options.MOST_ITERATIONS), metavar="N",
                        help="of the other methods: states that they make at most (default: the solver's)")
    parser.add_argument("--seconds", type=number(0, options.MOST_SECONDS, above=True), metavar="S",
                        help="time for each level at most; results then depend on the machine (default: no limit)")
    parser.add_argument("--seed", type=whole(0, options.SEEDS), default=0, metavar="N",
                        help="everything random follows from it (default: %(default)s)")
    options.add_level_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve each level and print what was found."""
    from persona_evo.games.guides import guide
    from persona_evo.personas import load

    limits = _limits(args)
    game = options.game_of(args)
    persona = load(args.persona, game)
    compiling(SOLVER, game)  # what is imported from here on is
    from persona_evo.playtest.bounds import warm_up
    from persona_evo.search.bounds import solve

    levels = options.levels_of(args, game, args.levels)
    warm_up(game, levels[0])
    if args.method in SEEDED:
        note(f"seed {args.seed}")
    line = Progress()
    for level in levels:
        tell = _teller(line, level.name)
        solution = solve(
            game, level, persona.utility, method=args.method, seconds=args.seconds, seed=args.seed,
            lists=persona.lists, progress=tell, **limits,
        )
        Progress.done_with_line()
        show(game, level, solution)
    legend = guide(game).actions
    if legend:
        say(f"moves: {legend}")
    return 0


def _limits(args: argparse.Namespace) -> dict[str, int]:
    """How much the method may search, by the solver's name for it.

    Raises:
        SettingsError: a limit that the method does not have.
    """
    if args.method == "auto":
        if args.states is not None:
            raise SettingsError("the planner counts iterations", found=f"--states {args.states}",
                                expected="--iterations N, or --states with another --method")  # fmt: skip
        return {"iterations": args.iterations or ITERATIONS}
    if args.iterations is not None:
        raise SettingsError(f"the method {args.method} counts states", found=f"--iterations {args.iterations}",
                            expected="--states N, or --iterations with --method auto")  # fmt: skip
    return {} if args.states is None else {"states": args.states}


def _teller(line: Progress, name: str) -> Callable[[str], None]:
    return lambda text: line.show(f"{name}: {text}")


def show(game: Game, level: Level, solution: Solution) -> None:
    """A solution in words."""
    from persona_evo.report.layout import terminal_width, wrapped
    from persona_evo.search.bounds import at_most

    states = game.replay(level, solution.actions)
    names = [game.action_name(level, s, a) for s, a in zip(states, solution.actions, strict=False)]
    ending = ("not over", "won", "lost", "ended")[solution.outcome]
    proof = "proven: no plan is better" if solution.proven else f"best known, not proven; {at_most(solution.upper)}"
    how = f"by {solution.method} in {solution.seconds:.1f} s"
    say(f"{level.name}: utility {solution.utility:.6g} ({proof}), {ending} in {counted(len(names), 'move')}, {how}")
    for words in (names, [f"{k}={v:.4g}" for k, v in solution.metrics.items()]):
        say("\n".join(wrapped("  " + " ".join(words), terminal_width(), "  ")))
