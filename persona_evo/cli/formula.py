"""Simplify formulas, and export them to other languages."""

from __future__ import annotations

import argparse

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled, number, path
from persona_evo.cli.say import say

KINDS = ("text", "latex", "python", "numpy", "csharp")


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("formula", description=__doc__)
    parts = parser.add_subparsers(dest="command_formula", metavar="simplify|export", required=True)
    simplify = parts.add_parser("simplify", help="simplify a formula and check that its values stay the same")
    simplify.add_argument("formula", type=filled, metavar="FORMULA", help='such as "0.5*MS + 0.5*MS"')
    simplify.add_argument(
        "--timeout",
        type=number(0, 3600, above=True),
        metavar="S",
        help="time limit in seconds (default: no time limit, only a limit on the work that is the same on "
        "every machine)",
    )
    options.add_game(simplify)
    simplify.set_defaults(run=run_simplify)
    export = parts.add_parser("export", help="write a formula as text, LaTeX, Python, NumPy or C#")
    export.add_argument("formula", type=filled, metavar="FORMULA")
    add_export(export)
    options.add_game(export)
    export.set_defaults(run=run_export)


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add --to, --name and -o."""
    parser.add_argument("--to", default="text", choices=KINDS, help="language (default: %(default)s)")
    parser.add_argument(
        "--name", default="score", type=filled, metavar="NAME", help="name of the function (default: score)"
    )
    parser.add_argument("-o", "--out", type=path, metavar="FILE", help="file to write (default: standard output)")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")


def run_simplify(args: argparse.Namespace) -> int:
    """Print the raw and the simplified formula and the steps of the simplification."""
    from persona_evo.api.formulas import policy_formula, simplify_formula

    game = option_values.game_of(args)
    formula = policy_formula(args.formula, game)
    result = simplify_formula(formula, game, args.timeout)
    say(f"raw         {formula.text}")
    say(f"simplified  {result.formula.text}")
    say(f"            {result.reason}")
    return 0


def run_export(args: argparse.Namespace) -> int:
    """Print or write the formula in another language."""
    from persona_evo.api.formulas import policy_formula
    from persona_evo.formula.export import export

    formula = policy_formula(args.formula, option_values.game_of(args))
    return put(export(formula, args.to, args.name), args)


def put(text: str, args: argparse.Namespace) -> int:
    """Print a text, or write it to a file that does not exist yet (with --force, replace it)."""
    from persona_evo.errors import Place, SettingsError
    from persona_evo.jobs import files

    text = text.rstrip("\n")
    if args.out is None:
        say(text)
        return 0
    if args.out.is_file() and not args.force:
        raise SettingsError("the file already exists", place=Place(str(args.out)), hint="--force overwrites it")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    files.write_atomically(args.out, text + "\n")
    say(f"wrote {args.out}")
    return 0
