"""Write, generate, import, check and list levels."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from persona_evo.cli import ci, level_generate, option_values, options
from persona_evo.cli.parser import Commands, filled, path
from persona_evo.cli.say import note, say
from persona_evo.cli.template_file import write_template
from persona_evo.errors import LevelError
from persona_evo.words import counted, enumerated, plural

if TYPE_CHECKING:
    from persona_evo.games.acceptance import Sorted
    from persona_evo.games.core import Game, Level
    from persona_evo.games.findings import Finding

CHECKED = """\
Findings are problems (the level cannot be played as intended) and notices (worth a look). Places are row:column,
counted from 1.
The exit code is 0 if there are no problems, 1 if there is one, and 2 if a file cannot be read.
docs/pages/findings.md lists all kinds of findings.

"""

IMPORTED = """\
Convert levels to level files of the game, so that you can edit them. Formats that an installed importer reads can also
be used directly wherever a level is named. `persona-evo level list` shows the importers.
"""

FORMAT = """\
Each game has a format of its own: `persona-evo level list --game GAME` explains it, and
`persona-evo level new NAME --game GAME` writes a template.
A TOML file can define sets of levels as arrays, such as  night = ["maps/a.txt", "train01"]; the name of this set is
FILE.toml#night.
"""


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("level", description=f"{__doc__}\n\n{FORMAT}")
    parser.appendix = _legend
    parts = parser.add_subparsers(dest="command_level", metavar="new|generate|import|check|list", required=True)
    new = parts.add_parser("new", help="write a small level as a template, and explain its characters")
    options.add_new(new, "txt")
    new.set_defaults(run=run_new)
    level_generate.add(parts)
    imported = parts.add_parser(
        "import", help="convert levels of another format to the game's own", description=IMPORTED
    )
    imported.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    options.add_level_options(imported)
    imported.add_argument("--out", type=path, required=True, metavar="FOLDER", help="folder for the new files")
    imported.add_argument("--force", action="store_true", help="replace files that exist")
    imported.set_defaults(run=run_import)
    check = parts.add_parser("check", help="find faults in levels without playing them", description=CHECKED + FORMAT)
    check.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    options.add_level_options(check)
    options.add_accept(check)
    check.add_argument(
        "--structure",
        action="store_true",
        help="also print a table of the numbers of each level: walls, monsters, path length and so on",
    )
    check.add_argument("--json", action="store_true", help="print the findings as JSON, in the form of findings.json")
    ci.add(check)
    check.set_defaults(run=run_check)
    listing = parts.add_parser("list", help="list the levels and sets that ship with a game, and explain their format")
    options.add_game(listing)
    listing.set_defaults(run=run_list)


def _legend() -> str:
    """Return the meaning of the characters in a level of the default game."""
    from persona_evo.games import registry
    from persona_evo.games.guides import guide

    return guide(registry.get(registry.DEFAULT)).legend


def run_new(args: argparse.Namespace) -> int:
    """Write a level that can be played as it is, and print the meaning of its characters."""
    from persona_evo.games.commands import command
    from persona_evo.games.guides import guide

    game = option_values.game_of(args)
    words = guide(game)
    if not words.example:
        raise LevelError(
            f"{game.title} has no level to start from",
            hint="its levels are not files: they are named MAP:VARIANT@SEED"
            if game.outside is not None
            else "a level of a game of your own is text that its from_text reads",
        )
    target = write_template(args, "a level", game.level_suffixes[0], lambda _: words.example, LevelError, digits=True)
    say(f"wrote {target}\n\n{words.example}\n{words.legend}\n")
    say(f"next: edit it, then  {command(game, 'level', 'check', target)}")
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Read levels and write the text of each under its name."""
    from persona_evo.names import file_name

    game = option_values.game_of(args)
    levels = option_values.levels_of(args, game, args.levels)
    for level in levels:
        target = args.out / f"{file_name(level.name)}{game.level_suffixes[0]}"
        level_generate.write(target, level.text, args.force)
        say(f"wrote {target}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Read every level, even after a wrong one; exit code 2 if one cannot be read, 1 if one has a problem."""
    from persona_evo.games import level_ranges, mapsets
    from persona_evo.games.acceptance import accept
    from persona_evo.games.diagnosis import diagnose
    from persona_evo.games.options import for_check

    game = option_values.game_of(args)
    accepted = option_values.accepted_of(args)
    given = {**for_check(game), **option_values.options_of(args, game)}
    sources = mapsets.find(game, args.levels)
    ci.check(args)
    levels: list[Level] = []
    errors: dict[str, str] = {}
    names = level_ranges.level_names(sources)
    for name, source in zip(names, sources, strict=True):
        try:
            levels.append(mapsets.load(game, source, name, given))
        except LevelError as e:
            errors[name] = str(e)
            note(f"{name}: error: {e}")
    told = accept(diagnose(game, levels), accepted, [level.name for level in levels])
    found = told.left
    wrong = {name for f in found if f.severity == "problem" for name in f.level.split(", ")}
    if args.json:
        import json

        from persona_evo.games.findings import to_json

        say(json.dumps(to_json(found, told.accepted), indent=2, ensure_ascii=False))
    else:
        _tell(game, levels, told)
        if args.structure:
            _structure(game, levels)
        say(_outcome(len(sources), found, len(wrong), len(errors)))
    if ci.wanted(args):
        files = {name: str(source.path) for name, source in zip(names, sources, strict=True)}
        _write_ci(args, files, found, errors)
    if errors:
        return 2
    return 1 if wrong else 0


def _write_ci(
    args: argparse.Namespace, files: Mapping[str, str], found: Sequence[Finding], errors: Mapping[str, str]
) -> None:
    """Write the files of --junit and --summary with a test case for each level."""
    from persona_evo.report.ci import level_cases

    facts = {f"{name} cannot be read": error for name, error in errors.items()}
    title = f"Check of {enumerated(list(files)) if len(files) < 5 else counted(len(files), 'level')}"
    ci.write(args, title, level_cases(files, found, errors), (), found, facts)


def _tell(game: Game, levels: list[Level], told: Sorted) -> None:
    """Print findings level by level; accepted findings come apart from the others."""
    from persona_evo.games.acceptance import no_longer
    from persona_evo.games.diagnosis import has_analysis, unknown_in
    from persona_evo.games.findings import lines
    from persona_evo.report import tables

    found = told.left
    shut = {f.level for f in found if f.kind == "unreachable_exit"}
    for level in levels:
        for warning in level.warnings:
            if level.name not in shut or "the exit cannot be reached" not in warning:
                note(f"{level.name}: {warning}")
    for level in levels:
        if limits := unknown_in(game, level):
            say(f"{level.name}: {limits}.\n")
    if not has_analysis(game):
        say(f"{game.title} has no level analysis: its levels are read, but their layout is not checked.\n")
    for name in dict.fromkeys(f.level for f in found):
        say(name)
        for finding in found:
            if finding.level == name:
                _tell_one(finding)
        say()
    apart = [*lines((), told.accepted), *(no_longer(entry) for entry in told.gone)]
    if apart:
        say(tables.told(apart) + "\n")


def _outcome(levels: int, found: Sequence[Finding], wrong: int, unread: int) -> str:
    """Return the last line of a check.

    Args:
        levels: number of levels that were checked.
        found: the findings.
        wrong: number of levels with problems.
        unread: number of levels that cannot be read.
    """
    problems = sum(f.severity == "problem" for f in found)
    if not wrong and not unread:
        if found:
            return f"{counted(levels, 'level')} without problems, {counted(len(found), 'notice')}"
        return f"{counted(levels, 'level')} {plural(levels, 'is', 'are')} fine"
    if levels == 1:
        return "the level cannot be read" if unread else f"the level has {counted(problems, 'problem')}"
    rest = f"{unread} cannot be read" if unread else ""
    if not wrong:
        return f"{unread} of {levels} levels cannot be read"
    return f"{wrong} of {levels} levels {plural(wrong, 'has', 'have')} problems{f', and {rest}' if rest else ''}"


def _tell_one(finding: Finding) -> None:
    """Print a finding, wrapped to the terminal's width."""
    from persona_evo.report.layout import terminal_width, wrapped

    for text in filter(None, (f"  {finding.severity} ({finding.kind}): {finding.text}", finding.look)):
        start = "" if text.startswith("  ") else "    "
        say("\n".join(wrapped(start + text, terminal_width(), "    ")))


def _structure(game: Game, levels: list[Level]) -> None:
    """Print a table of the structural numbers of the levels."""
    from persona_evo.games.guides import guide
    from persona_evo.report.tables import Table

    rows = {level.name: game.structure(level) for level in levels} if game.structure else {}
    measures = list(dict.fromkeys(key for row in rows.values() for key in row))
    if not measures:
        return
    said = guide(game).meanings
    body = [
        [key, *(f"{row[key]:.4g}" if key in row else "–" for row in rows.values()), said.get(key, "")]
        for key in measures
    ]
    say(Table("structure", ["", *rows, "meaning"], body, left=frozenset({len(rows) + 1})).render())


def run_list(args: argparse.Namespace) -> int:
    """Print sets, then levels with a line on each, then the format of a level."""
    from persona_evo.games import importers, mapsets
    from persona_evo.games.guides import guide

    game = option_values.game_of(args)
    known = mapsets.shipped(game)
    for name, members in known.sets.items():
        say(f"{name}: {', '.join(members)}")
    width = max(map(len, known.levels), default=0)
    for name in known.levels:
        say(f"{name:<{width}}  {known.about.get(name, '')}".rstrip())
    if legend := guide(game).legend:
        say(f"\n{legend}")
    found, broken = importers.available(game)
    for key, importer in found.items():
        say(f"imports {', '.join(importer.suffixes)} ({key}): {importer.help}".removesuffix(": "))
    for error in broken:
        note(str(error))
    if not known.levels and game.outside is not None:
        note("levels of a connected game are named MAP:VARIANT@SEED, each part of which may be left out")
    elif not known.levels:
        note("no levels ship with this game: name files or folders")
    return 0
