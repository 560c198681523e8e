"""List, show, export, simplify and install tree policies: shipped ones, your own, and those of runs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import formula, option_values, options
from persona_evo.cli.parser import Commands, filled
from persona_evo.cli.say import note, say
from persona_evo.errors import Place, PolicyError
from persona_evo.names import is_name
from persona_evo.words import counted, listed

if TYPE_CHECKING:
    from persona_evo.store.policies import Policy


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
    """Print one line per policy."""
    from persona_evo.report.tables import Table
    from persona_evo.store import policy_library

    game = option_values.game_of(args)
    rows = []
    found = policy_library.available(game.name)
    if all(p.kind != "ucb1" for p in found):
        rows.append(["ucb1", "anyone", "–", "UCB1", "for every game"])
    for p in found:
        text = _rounded(p.text)
        rows.append(
            [
                Path(p.file).stem,
                p.persona or "anyone",
                "–" if p.mean is None else f"{p.mean:.3f}",
                text if len(text) <= 60 else text[:57] + "...",
                p.file,
            ]
        )
    for error in policy_library.damaged(game.name):
        note(f"warning: a policy is skipped: {error}")
        rows.append(
            [
                Path(error.place.source if error.place else "").stem,
                "",
                "–",
                "damaged",
                error.place.source if error.place else "",
            ]
        )
    table = Table("", ["policy", "persona", "utility", "formula", "file"], rows, left=frozenset({1, 3, 4}))
    say(table.render())
    return 0


_NAMED = 12
"""Largest number of training levels that are named; of more, the first ones and the total number are shown."""


def _trained_on(levels: Sequence[str]) -> str:
    if len(levels) <= _NAMED:
        return ", ".join(levels)
    return f"{counted(len(levels), 'level')}: {', '.join(levels[:3])}, ..."


def _rounded(formula: str) -> str:
    """Return a formula for a list, with constants rounded to four digits."""
    import re

    return re.sub(r"\d+\.\d{5,}", lambda m: f"{float(m.group()):.4g}", formula)


def run_show(args: argparse.Namespace) -> int:
    """Print the contents of a policy's file for people."""
    policy = _load(args)
    from persona_evo.evolve.explanation import meanings, of_policy
    from persona_evo.formula import parse

    for label, text in _facts(policy):
        if text:
            say(f"{label:<15} {text}")
    game = option_values.game_of(args)
    say("\nin words")
    tell_words(of_policy(policy, game))
    formulas = [*([parse(policy.best)] if policy.best else []), *(one.score for one in policy.lists)]
    if formulas:
        say("\nwhat its symbols mean")
        for symbol, meaning in meanings(formulas, game).items():
            say(f"  {symbol:<7} {meaning}")
    if policy.fitness:
        where = "of its validation set" if "validation" in policy.run else "it was trained on"
        say(f"\nmean utility in the levels {where}, on fresh seeds")
        for level, value in policy.fitness.items():
            say(f"  {level:<12} {value:.4f}")
    tell_comparison(policy)
    return 0


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
    from persona_evo.evolve.rivals import of_policy

    comparison = of_policy(policy)
    for line in comparison.lines() if comparison else []:
        say(line)


def run_simplify(args: argparse.Namespace) -> int:
    """Simplify a policy's formula without a time limit, and write the file again."""
    import contextlib
    import dataclasses

    from persona_evo.jobs.lock import Lock
    from persona_evo.store import policies, policy_library, runs

    file = policy_library.file_of(args.policy)
    if file is None:
        raise PolicyError(
            "only a policy in a file of its own can be simplified",
            found=args.policy,
            expected="a policy file, or the folder of a run",
        )
    policy = _load(args)
    if policy.kind == "ucb1":
        raise PolicyError("this policy has no formula", place=Place(str(file)), found=policy.kind)
    game = option_values.game_of(args)
    from persona_evo.evolve.simplification import simplify_policy

    with Lock(file.parent) if (file.parent / runs.CONFIG).is_file() else contextlib.nullcontext():
        done = simplify_policy(policy, game)
        policies.write(dataclasses.replace(done, file="", digest=policy.digest if policy.edited else ""), file)
    tell_formulas(done)
    tell_words(done.words)
    say(f"wrote {file}")
    return 0


def run_export(args: argparse.Namespace) -> int:
    """Print or write a policy's formula in another language."""
    from persona_evo.formula import parse
    from persona_evo.search.tree_policy import UCB1_FORMULA

    policy = _load(args)
    if args.to == "json":
        return formula.put(json.dumps(policy.to_dict(), indent=2, ensure_ascii=False), args)
    if policy.kind == "lists":
        raise PolicyError(
            "open lists are not a single formula",
            place=Place(policy.file or policy.name),
            found=counted(len(policy.lists), "list"),
            expected="a policy of the kind formula or ucb1",
            hint="--to json writes them; formula export writes one score at a time",
        )
    text = policy.formula if args.raw else policy.best
    if policy.kind == "ucb1":
        text = UCB1_FORMULA.replace("1.4142135623730951", repr(policy.c))
    about = f"tree policy {policy.name} for {policy.game}" + (f", persona {policy.persona}." if policy.persona else ".")
    return formula.write(parse(text), args, about)


def run_install(args: argparse.Namespace) -> int:
    """Copy a policy to the place where it is found by name."""
    import dataclasses

    from persona_evo.games.commands import command
    from persona_evo.store import policies, policy_library

    policy = _load(args)
    name = args.name or policy.persona or policy.name
    if not is_name(name, digits=True, more="."):
        raise PolicyError(
            "not a name for a policy", found=repr(name), expected="letters of any script, digits, _ . and -"
        )
    target = Path(policy_library.FOLDER) / policy.game / f"{name}.json"
    if target.exists() and not args.force:
        raise PolicyError(
            "a policy of this name already exists", place=Place(str(target)), hint="--force overwrites it"
        )
    policies.write(dataclasses.replace(policy, name=name), target)
    say(f"wrote {target}")
    play = command(
        option_values.game_of(args), "playtest", "YOUR_LEVELS", "--personas", policy.persona or "all", "--policy", name
    )
    say(f"playtest with it: {play}")
    return 0


def _load(args: argparse.Namespace) -> Policy:
    """Return the named policy; without --game, a file's policy is one of its own game."""
    from persona_evo.games import registry
    from persona_evo.store import policies, policy_library

    file = policy_library.file_of(args.policy)
    if file is not None and args.game == registry.DEFAULT:
        policy = policies.read(file)
        args.game = policy.game if policy.game in registry.names() else args.game
    return policy_library.load(args.policy, option_values.game_of(args).name)


def _facts(policy: Policy) -> list[tuple[str, str]]:
    from persona_evo.evolve.setting import in_words

    run = policy.run
    evolution = policy.evolution
    facts = [
        ("policy", policy.name),
        ("game", policy.game + (f", rules version {policy.game_version}" if policy.game_version else "")),
        ("persona", policy.persona),
        ("utility", policy.utility),
        ("priority", policy.priority),
        (
            "formula" if policy.kind != "lists" else "own score",
            f"mean + {policy.c:.6g} sqrt(ln P / N)" if policy.kind == "ucb1" else policy.formula,
        ),
        ("simplified", policy.simplified),
        ("", policy.simplification),
        *((f"list {number}", one.text) for number, one in enumerate(policy.lists, 1)),
        ("mean utility", "" if policy.mean is None else f"{policy.mean:.4f}"),
        ("trained on", _trained_on(policy.levels)),
        ("evolved by", f"preset {evolution['preset']}, seed {policy.seed}" if evolution.get("preset") else ""),
        ("run", ", ".join(f"{k} {v}" for k, v in run.items() if not isinstance(v, dict))),
        ("evolved for", in_words({"budget": policy.budget, "skill": policy.skill}) if policy.skill else ""),
        ("search", "" if policy.skill else listed(policy.search)),
        ("rollouts", listed(policy.connected)),
        ("budget", ", ".join(f"{v:g} {k}" for k, v in policy.budget.items() if v is not None and not policy.skill)),
        ("versions", ", ".join(f"{k} {v}" for k, v in policy.versions.items())),
        ("notes", policy.notes),
        ("source", policy.source),
        ("file", policy.file),
        ("edited", "since it was evolved: its formula, lists or settings have changed" if policy.edited else ""),
    ]
    return facts
