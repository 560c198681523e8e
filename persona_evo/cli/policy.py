"""List, show, export, simplify and install tree policies: shipped ones, your own, and those of runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import formula, option_values, options
from persona_evo.cli.parser import Commands, filled
from persona_evo.cli.say import note, say
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Game
    from persona_evo.store.policies import Policy


MOST_LEVELS, SHOWN = 12, 3
"""The largest number of levels that are all shown; of more, how many of the lowest and of the highest utility are."""
LEAST_FORMULA = 30
"""The fewest columns for a formula in the list of policies."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("policy", description=__doc__)
    parts = parser.add_subparsers(dest="command_policy", metavar="list|show|export|simplify|install", required=True)
    listing = parts.add_parser("list", help="list the policies that commands find by name, and their files")
    options.add_game(listing)
    listing.set_defaults(run=run_list)
    what = "a policy's name or file, or the folder of a run"
    show = parts.add_parser("show", help="show a policy's formula, what it seeks and avoids, and where it comes from")
    show.add_argument("policy", type=filled, metavar="POLICY", help=what)
    options.add_game(show)
    show.set_defaults(run=run_show)
    export = parts.add_parser("export", help="write a policy's formula in another language")
    export.add_argument("policy", type=filled, metavar="POLICY", help=what)
    formula.add_export(export)
    next(a for a in export._actions if a.dest == "to").choices = (*formula.KINDS, "json")
    export.add_argument(
        "--raw", action="store_true", help="export the formula as it was evolved, not the simplified one"
    )
    options.add_game(export)
    export.set_defaults(run=run_export)
    simplify = parts.add_parser("simplify", help="simplify the formula of a policy file, for as long as it takes")
    simplify.add_argument("policy", type=filled, metavar="FILE", help="a policy's file, or the folder of a run")
    options.add_game(simplify)
    simplify.set_defaults(run=run_simplify)
    install = parts.add_parser("install", help="copy a run's policy into ./policies, where commands find it by name")
    install.add_argument("policy", type=filled, metavar="RUN", help=what)
    install.add_argument(
        "--name", type=filled, metavar="NAME", help="name to install it under (default: the persona's)"
    )
    install.add_argument("--force", action="store_true", help="overwrite an installed policy of this name")
    options.add_game(install)
    install.set_defaults(run=run_install)


def run_list(args: argparse.Namespace) -> int:
    """Print one line per policy; the file is on it where the terminal is wide enough."""
    from persona_evo.report.layout import GAP, columns, terminal_width
    from persona_evo.report.tables import Table
    from persona_evo.store import policy_library

    game = option_values.game_of(args)
    rows: list[list[str]] = []
    found = policy_library.available(game.name)
    if all(p.kind != "ucb1" for p in found):
        rows.append(["ucb1", "–", "UCB1", "for every game"])
    for p in found:
        name = Path(p.file).stem
        of = f" ({p.persona})" if p.persona and p.persona not in name else ""
        rows.append([name + of, "–" if p.mean is None else f"{p.mean:.3f}", _rounded(p.text), p.file])
    for error in policy_library.damaged(game.name):
        note(f"warning: a policy is skipped: {error}")
        source = error.place.source if error.place else ""
        rows.append([Path(source).stem, "–", "damaged", source])
    names, files = (max(columns(row[k]) for row in rows) for k in (0, 3))
    room = terminal_width() - names - len("utility") - 2 * GAP
    wide = room - GAP - files >= LEAST_FORMULA
    most = max(LEAST_FORMULA, room - (GAP + files) * wide)
    for row in rows:
        row[2] = row[2] if len(row[2]) <= most else row[2][: most - 3] + "..."
    count = 4 if wide else 3
    heads = ["policy", "utility", "formula", "file"][:count]
    say(Table("", heads, [row[:count] for row in rows], left=frozenset({2, 3})).render())
    if not wide:
        folders = dict.fromkeys(str(Path(p.file).parent) for p in found)
        note("files: " + ", ".join(str(Path(folder) / "POLICY.json") for folder in folders))
    return 0


def _rounded(formula: str) -> str:
    """Return a formula for a list, with constants rounded to four digits."""
    import re

    return re.sub(r"\d+\.\d{5,}", lambda m: f"{float(m.group()):.4g}", formula)


def run_show(args: argparse.Namespace) -> int:
    """Print the contents of a policy's file for people."""
    from persona_evo.api.policies import describe_policy

    policy, game = _load(args)
    described = describe_policy(policy, game)
    for label, text in described.facts:
        _tell(f"{label:<15} ", text)
    say("\nin words")
    tell_words(described.words)
    if described.meanings:
        say("\nwhat its symbols mean")
        width = max(map(len, described.meanings))
        for symbol, meaning in described.meanings.items():
            _tell(f"  {symbol:<{width}}  ", meaning)
    if policy.fitness:
        where = "of its validation set" if "validation" in policy.run else "it was trained on"
        say(f"\nmean utility in the levels {where}, on fresh seeds")
        tell_levels(policy)
    for line in described.comparison:
        say(line)
    return 0


def _tell(label: str, text: str) -> None:
    """Print a text beside its label, in lines that fit the terminal."""
    from persona_evo.report.layout import terminal_width, wrapped

    for number, line in enumerate(wrapped(text, terminal_width() - len(label))):
        say((" " * len(label) if number else label) + line)


def tell_levels(policy: Policy) -> None:
    """Print the mean utility of each level; of many, those with the lowest and the highest."""
    rows = list(policy.fitness.items())
    if len(rows) > MOST_LEVELS:
        rows.sort(key=lambda row: row[1])
        say(f"  (the lowest and the highest of {counted(len(rows), 'level')})")
        rows = [*rows[:SHOWN], *rows[-SHOWN:]]
    width = max(len(level) for level, _ in rows)
    for level, value in rows:
        say(f"  {level:<{width}}  {value:.4f}")


def tell_formulas(policy: Policy) -> None:
    """Print the formula that scores states, and the result of its simplification."""
    if policy.formula:
        say(f"formula     {policy.formula}")
        if policy.simplified:
            say(f"simplified  {policy.simplified}")
    for number, one in enumerate(policy.lists, 1):
        say(f"list {number:<6} {one.text}")
    say(f"            {policy.simplification}")


def tell_words(words: Sequence[str]) -> None:
    """Print what a formula seeks, avoids and saves, one line each."""
    for line in words:
        group, _, rest = line.partition(": ")
        say(f"  {group:<9} {rest}" if rest else f"  {group}")


def tell_comparison(policy: Policy) -> None:
    """Print the comparison of a policy with others, if its file has one."""
    from persona_evo.api.policies import comparison_lines

    for line in comparison_lines(policy):
        say(line)


def run_simplify(args: argparse.Namespace) -> int:
    """Simplify a policy's formula without a time limit, and write the file again."""
    from persona_evo.api.policies import simplify_policy

    done, file = simplify_policy(args.policy, _game(args))
    tell_formulas(done)
    tell_words(done.words)
    say(f"wrote {file}")
    return 0


def run_export(args: argparse.Namespace) -> int:
    """Print or write a policy's formula in another language."""
    from persona_evo.api.policies import export_policy

    return formula.put(export_policy(_load(args)[0], args.to, args.name, raw=args.raw), args)


def run_install(args: argparse.Namespace) -> int:
    """Copy a policy to the place where it is found by name."""
    from persona_evo.api.policies import install_policy
    from persona_evo.games.commands import command

    policy, game = _load(args)
    target = install_policy(policy, args.name or "", force=args.force)
    say(f"wrote {target}")
    play = command(game, "playtest", "YOUR_LEVELS", "--personas", policy.persona or "all", "--policy", target.stem)
    say(f"playtest with it: {play}")
    return 0


def _load(args: argparse.Namespace) -> tuple[Policy, Game]:
    """Return the named policy and its game; without --game, a file's policy is one of its own game."""
    from persona_evo.api.policies import found_policy

    return found_policy(args.policy, _game(args))


def _game(args: argparse.Namespace) -> Game | None:
    """Return the game of --game; None if it is not given."""
    from persona_evo.games import registry

    return None if args.game == registry.DEFAULT else option_values.game_of(args)
