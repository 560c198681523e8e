"""Write a persona file, check a persona, or list the personas that ship with the project."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options
from persona_evo.cli.parser import Commands, filled
from persona_evo.cli.say import note, say
from persona_evo.cli.template_file import write_template
from persona_evo.errors import PersonaError
from persona_evo.words import aligned

if TYPE_CHECKING:
    from persona_evo.formula import Formula
    from persona_evo.games.core import Game, Level
    from persona_evo.personas import Persona
    from persona_evo.personas.template import SampleRow

SHOWN_LEVELS = 3
"""Number of shipped levels in which random games are played if no levels are named."""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("persona", description=__doc__)
    parts = parser.add_subparsers(dest="command_persona", metavar="new|check|list", required=True)
    new = parts.add_parser("new", help="write a persona file with comments to start from")
    options.add_new(new, "toml")
    new.set_defaults(run=run_new)
    check = parts.add_parser("check", help="explain a persona's utility with states from real games, and find mistakes")
    check.add_argument("file", type=filled, metavar="FILE", help="a TOML file, or the name of a shipped persona")
    check.add_argument(
        "--levels",
        nargs="+",
        default=[],
        type=filled,
        metavar="LEVEL",
        help="use states of these levels, and show how short searches and random games end in each",
    )
    options.add_level_options(check)
    check.set_defaults(run=run_check)
    listing = parts.add_parser("list", help="list the personas that ship with the project")
    options.add_game(listing)
    listing.set_defaults(run=run_list)


def run_new(args: argparse.Namespace) -> int:
    """Write a persona file that is valid as it is."""
    from persona_evo.games.commands import command
    from persona_evo.personas import template

    game = option_values.game_of(args)
    target = write_template(
        args, "a persona", ".toml", lambda name: template.text(name, game), PersonaError, scripts=True
    )
    say(f"wrote {target}")
    say(f"next: edit its utility, then  {command(game, 'persona', 'check', target)}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Explain a persona with states of random games, and print warnings."""
    from persona_evo.api.personas import endings, random_states, telling
    from persona_evo.personas import doubts, load, template
    from persona_evo.personas.lists import LIST_VARIABLES
    from persona_evo.personas.rates import rates

    game = option_values.game_of(args)
    persona = load(args.file, game)
    say(f"{persona.name} ({persona.title or persona.name}) for {game.title}")
    if persona.description:
        say(persona.description)
    say(f"\nutility   {persona.utility.text}")
    for stage in persona.stages:
        until = f"  until {stage.until.text}" if stage.until is not None else ""
        say(f"stage     {stage.title}: {stage.utility.text}{until}")
    if persona.always is not None:
        say(f"always    {persona.always.text}")
    if persona.stages:
        always = " + always" if persona.always is not None else ""
        say(
            f"together  (completed stages + utility of the current stage) / {len(persona.stages)}{always}, "
            "which is the utility above;\n          a later stage is worth more as long as the utility of each stage "
            "stays between 0 and 1"
        )
    for number, one in enumerate(persona.lists, 1):
        say(f"list {number:<4} {one.text}")
    say(f"priority  {persona.priority} ({_metric(game, persona.priority)})\n")
    reads = persona.utility.symbols.union(*(one.score.symbols for one in persona.lists))
    meanings = LIST_VARIABLES | {symbol: _metric(game, symbol) for symbol in game.symbols}
    ordered = [*game.symbols, *(symbol for symbol in LIST_VARIABLES if symbol not in game.symbols)]
    for line in aligned({symbol: meanings[symbol] for symbol in ordered if symbol in reads}):
        say(line)
    if persona.lists and not game.planned:
        note(f"the open lists have no effect: {game.title} is not planned as a whole in this program")
    levels = _levels(args, game)
    states = random_states(game, levels)
    if states:
        say("\n" + _table("states of random games", template.explain(persona, telling(states, persona, game.players))))
    else:
        high = ", ".join(f"{s} = {value:g}" for s, value in template.assumed(game, persona.utility).items())
        title = f"made-up states; without an upper limit, high means {high}" if high else "made-up states"
        say("\n" + _table(title, template.explain(persona, template.samples(game, persona))))
    by_level = {level.name: [s.metrics for s in states if s.level == level.name] for level in levels}
    for title, utility in _goals(persona):
        worth = rates(utility, game, {name: found for name, found in by_level.items() if found})
        if worth:
            say(f"\nexchange rates{title}")
        for line in worth:
            say(f"  {line}")
    for warning in doubts.warnings(game, persona, [s.metrics for s in states]):
        note(f"warning: {warning}")
    for level in levels if args.levels else ():
        say("\n" + _table(level.name, template.explain(persona, endings(game, level, persona))))
    return 0


def _levels(args: argparse.Namespace, game: Game) -> list[Level]:
    """Return the named levels, or some that ship with the game; a connected game has none of these."""
    from persona_evo.games import mapsets

    if args.levels:
        return option_values.levels_of(args, game, args.levels)
    known = mapsets.shipped(game)
    if not known.levels:
        return []
    names = known.sets.get("train", tuple(known.levels))[:SHOWN_LEVELS]
    return option_values.levels_of(args, game, names)


def _goals(persona: Persona) -> list[tuple[str, Formula]]:
    """Return an addition to a title and the utility, for each stage or for a persona without stages."""
    from persona_evo.formula import Formula

    if not persona.stages:
        return [("", persona.utility)]
    always = () if persona.always is None else (*persona.always.tokens, "+")
    count = float(len(persona.stages))
    return [(f" in stage {s.title!r}", Formula((*s.utility.tokens, count, "/", *always))) for s in persona.stages]


def run_list(args: argparse.Namespace) -> int:
    """List the personas of a game."""
    from persona_evo.games.commands import command
    from persona_evo.personas import catalog

    game = option_values.game_of(args)
    found = catalog(game)
    width = max((len(p.name) for p in found), default=0)
    for persona in found:
        say(f"{persona.name:<{width}}  {persona.short:<4} {persona.description or persona.title}")
        say(f"{'':<{width}}       {persona.utility.text}")
    if not found:
        note(f"no personas ship with {game.title}: write one with  {command(game, 'persona', 'new', 'NAME')}")
    return 0


def _metric(game: Game, symbol: str) -> str:
    metric = next((m for m in game.metrics if m.symbol == symbol), None)
    if metric is None:
        return symbol
    return metric.name if metric.name == metric.meaning else f"{metric.name}: {metric.meaning}"


def _table(title: str, rows: Sequence[SampleRow]) -> str:
    from persona_evo.report.tables import Table

    staged = any(row.stage for row in rows)
    body = []
    for row in rows:
        parts = "  ".join(f"{name} = {value:.4g};" for name, value in row.parts).rstrip(";")
        values = " ".join(f"{symbol}={value:.3g}" for symbol, value in row.values.items())
        body.append([row.label, f"{row.utility:.4g}", *([row.stage] if staged else []), parts, values])
    headers = ["state", "utility", *(["stage"] if staged else []), "terms", "metrics"]
    return Table(title, headers, body, left=frozenset({2, 3, 4})).render()
