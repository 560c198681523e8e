"""Write the description of a connected game to start from, and a game if wanted: `connect new`."""

from __future__ import annotations

import argparse
from pathlib import Path

from persona_evo.cli.parser import Commands, filled, path
from persona_evo.cli.say import say
from persona_evo.cli.template_file import write_template
from persona_evo.connect import game_template
from persona_evo.errors import ConnectError, Place
from persona_evo.jobs.windows import program

TEMPLATE = """\
name = "{name}"
game = "{game}"    # from this file's folder: a program, a .app, an .exe, a Python file, a build's folder
workers = 2                      # game processes
# arguments = []
# slots = 8                      # rollouts under way at once; results depend on it, and not on the workers
# logs = "logs"                  # worker-N.log; else in --out, or a temporary folder, if the game fails
# rollout = "weights"            # choose at random by the weights that the game gives
# constant = "inside"            # UCB1 as in the original Monte Carlo: the constant inside the root
# widening = 16                  # choices from which a decision is searched by some of its choices first; 0 for never
# deterministic = false          # the seed decides what players cannot know, such as dice: search with other seeds
# seeds = 8                      # how many of them; a persona may name another number, 0 for none
# scores = "raw"                 # UCB1 takes utilities as they are, and does not divide them by their range
# film = ["best", "worst"]       # film strips in reports, if the game sends pictures; by default also "median"
# personas = ["personas/*.toml"]
# game = "gymnasium:Taxi"        # an environment of Gymnasium, whose settings are those of gymnasium.make
# game = "gymnasium:mine:Room"   # MODULE:ID, where importing the module registers the environment
# arguments = ["--grid", "4"]    # for such an environment: the observation is a cell of a grid with 4 columns

# [timeouts]                     # seconds, 0 for no limit; these are the defaults
# connect = 60                   # from the start of a process to its connection
# handshake = 5                  # from there to what it says of itself
# rollout = 30                   # for one game to its end; one that takes longer is ended and started again

# [restarts]                     # of processes that ended or hung, before the game is given up
# a_minute = 3
# in_all = 10

[settings]                       # passed to the game as they are
{settings}
{variant:<33}# a design variant, with settings of its own: level default:hard, or default:hard@3
{harder}

[maps]                           # sets of levels, each MAP:VARIANT@SEED
train = ["default@1-3"]
test = ["default@4-8"]

[outcome]                        # formulas over the game's metrics; above 0 means yes
{won}
{lost}
"""

PROGRAMS = ("", ".exe", ".py", ".x86_64", ".app")
"""What the names of programs end in."""


LANGUAGES = ("python",)
"""Languages in which a game can be written to start from."""


def text_for(name: str, folder: Path) -> str:
    """Return the description of a game: of a program of its name in the folder, if there is one."""
    found = (f"{name}{end}" for end in PROGRAMS if (folder / f"{name}{end}").exists())
    return TEMPLATE.format(
        name=name,
        game=next(found, f"Build/{name}.x86_64"),
        settings="",
        variant="# [variants.hard]",
        harder="# gravity = 20",
        won='# won = "GOAL"',
        lost='# lost = "DEAD"',
    )


def _of_python(name: str, game: str) -> str:
    """Return the description of the game in Python that is written with it."""
    return TEMPLATE.format(name=name, game=game, **game_template.DESCRIBED)


def add(parts: Commands) -> None:
    """Add the command and its options."""
    new = parts.add_parser("new", help="write a description to start from, and a game in Python if wanted")
    new.add_argument("name", type=filled, metavar="NAME", help="letters, digits, _ and -")
    new.add_argument("--language", choices=LANGUAGES, help="write a small game in this language, too")
    new.add_argument("-o", "--out", type=path, metavar="FILE", help="file to write (default: NAME.toml)")
    new.add_argument("--force", action="store_true", help="overwrite existing files")
    new.set_defaults(run=run_new)


def run_new(args: argparse.Namespace) -> int:
    """Write a game's description, and the game itself in a language."""
    target: Path = args.out or Path(f"{args.name}.toml")
    script = target.with_suffix(".py") if args.language else None
    if script is not None and script.exists() and not args.force:
        raise ConnectError(
            "the file already exists",
            place=Place(str(script)),
            hint="connect new without --language describes this game; --force overwrites it",
        )

    def text(name: str) -> str:
        return text_for(name, target.parent) if script is None else _of_python(name, script.name)

    write_template(args, "a game", ".toml", text, ConnectError)
    if script is not None:
        script.write_text(game_template.python_game(args.name), encoding="utf-8", newline="\n")
    wrote, them = (target, "it") if script is None else (f"{script} and {target}", "them")
    say(f"wrote {wrote}; edit {them}, then  {program('doctor', '--game', target)}")
    return 0
