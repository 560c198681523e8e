"""Reads an experiment from a TOML file.

    title = "Does collecting early pay?"
    game = "its_alive"                  # a game of the catalog, FILE.py:GAME, or a connected game's FILE.toml
    level = "small01"                   # MAP:VARIANT@SEED for a connected game (default: the game's first level); or
                                        # several, such as "small01@1-20": each is searched by each combination, and
                                        # combinations are compared in pairs of levels
    replicates = 20
    rollouts = 30000
    workers = 8                         # rollouts in progress at once; processes of a connected game
    uct_constant = 1000                 # close to the score of a moderately good player (the default for a score in a
                                        # game of the catalog); for a connected game or a persona, the default is
                                        # UCB1's own, 1.41, as in playtests: a connected search then divides
                                        # utilities by the range of those it has seen
    constant = "outside"                # the root; or "inside"
    terminal = "cut_off"                # or "revisit"
    save_best_path = false
    score = "PT"                        # a formula over the metrics; or persona = "..." (default: the game's own score)
    seed = 1

    [settings]                          # options of the level, or values passed to a connected game
    choices = "factored"

    [variants.tenacious]                # each variant is played by each player
    design = "tenacious"

    [players.lazy]                      # settings, and any key above except game, replicates, seed and title
    player = "lazy"
    uct_constant = 500

A variant with the same name as a variant of a connected game (`[variants.NAME]` in its description) plays that one.
`variant = "hard"` in a table selects another one. Two combinations that differ only in their names are an error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from persona_evo.errors import InputError, Place, SettingsError, unknown
from persona_evo.experiments.design import (
    KEYS,
    MOST_REPLICATES,
    SEARCH_KEYS,
    Cell,
    Experiment,
    check,
    identical,
    is_connected,
)
from persona_evo.experiments.run import SearchSpec
from persona_evo.experiments.subject import level_names
from persona_evo.formula import parse
from persona_evo.games import registry, textfile
from persona_evo.games.toml_table import TomlTable
from persona_evo.personas import load as load_persona
from persona_evo.search.tree_policy import UCB1_CONSTANT

TOP = ("title", "game", "replicates", "seed", *KEYS, "settings", "variants", "players")
_NAME = re.compile(r"[\w][\w .,=+-]{0,60}")
_SEEDS = 2**63

TEMPLATE = """\
title = "{name}"
game = "its_alive"               # a catalog game, FILE.py:GAME, or a connected game's FILE.toml (from this folder)
level = "small01"                # for a connected game: MAP:VARIANT@SEED; or several levels, as in "small01@1-20"
replicates = 20                  # number of searches of each variant by each player, in each level
rollouts = 30000                 # rollouts of each search
workers = 8                      # rollouts under way at once; results depend on it
uct_constant = 1000              # near the score of a moderately good player; leave it out for a connected game or a
                                 # persona: the search then uses UCB1's 1.41, as playtests do
# constant = "inside"            # inside the root, as in the thesis' first code; 1000 there is 31.6 outside
# terminal = "revisit"           # play known ends again (default: cut_off)
# save_best_path = true          # add each new best rollout to the tree as a whole
# score = "PT"                   # the score to search for, a formula over metrics (default: the game's score)
# persona = "scorer"             # or search for what a persona wants
seed = 1

[settings]                       # options of the level; for a connected game, the settings that it gets
choices = "factored"

[variants.regular]               # each player plays each variant; leave out what you do not compare
design = "regular"

[variants.monochromester]
design = "monochromester"

[players.greedy]                 # settings, and any of the keys from rollouts to persona above
player = "greedy"

[players.lazy]
player = "lazy"
"""


def read(path: Path) -> Experiment:
    """Read the experiment in a file.

    Raises:
        SettingsError: a value is wrong; the message gives line and column.
    """
    return ExperimentReader(_table(path), path.resolve().parent).experiment(path.stem)


def _table(path: Path) -> TomlTable:
    return TomlTable.read(path, SettingsError, 'lines such as game = "its_alive"')


def placed(error: InputError, experiment: Experiment, cell: Cell) -> InputError:
    """Return an error that a cell's level or goal caused, with the name of the cell and its place in the file."""
    place = error.place
    if experiment.file and (place is None or not Path(place.source).exists()):
        place = _place_of(experiment.file, cell, error)
    return error.moved(place, f"{cell.label}: {error.what}")


def _place_of(file: str, cell: Cell, error: InputError) -> Place:
    """Find the value that an error is about: what was found, or the goal, in the cell's tables or above them."""
    top = _table(Path(file))
    for wanted in (error.found, cell.score, cell.persona, cell.level):
        for tables in (("players", cell.player), ("variants", cell.variant), ("settings",), ()):
            table: Any = top.values
            for name in tables:
                table = table.get(name, {})
            for key, value in table.items():
                if wanted and str(value) == wanted:
                    return top.places.value(*tables, key)
    return Place(file)


class ExperimentReader:
    """Reads an experiment from a TOML table and refuses wrong values with their place.

    Args:
        table: the table that contains the experiment.
        base: folder that the file's paths are relative to.
    """

    def __init__(self, table: TomlTable, base: Path) -> None:
        self.table, self.base = table, base

    def experiment(self, name: str) -> Experiment:
        """Return the experiment, named `name`."""
        self.table.allow(TOP)
        variants, players = self._named("variants"), self._named("players")
        tables = [self.table, *(table for named in (variants, players) for own in named.values() for table in own)]
        for table in tables:
            self._check_search(table)
        cells = [
            self._cell(variant, player, [*variants.get(variant, ()), *players.get(player, ())])
            for variant in variants or ("",)
            for player in players or ("",)
        ]
        self._check(cells, "variants")
        self._check_unused(tables, cells)
        cells = [self._with_levels(cell) for cell in self._with_variants_of_the_game(cells)]
        self._check(cells, "level")
        same = identical(cells)
        if same is not None:
            kind = "variants" if same[0].variant != same[1].variant else "players"
            raise self.table.wrong(
                f"two {kind} are the same game, played in the same way",
                kind,
                same[1].variant if kind == "variants" else same[1].player,
                found=f"{same[0].label} and {same[1].label} differ only in their names",
                expected="different settings, levels, scores or searches",
                hint="a variant with the name of one of the connected game's [variants] plays that one",
            )
        return Experiment(
            name,
            self.table.line("title", name),
            self._game(),
            self.table.whole("seed", 1, 0, _SEEDS - 1),
            self.table.whole("replicates", 20, 1, MOST_REPLICATES),
            tuple(cells),
            self.table.source,
        )

    def _check(self, cells: list[Cell], key: str) -> None:
        try:
            check(cells)
        except SettingsError as e:
            raise e.moved(self.table.places.value(*self.table.path, key)) from e

    @staticmethod
    def _check_search(table: TomlTable) -> None:
        """Check the settings of the search in a table, even if all combinations override them."""
        for key in SEARCH_KEYS:
            if key in table.values:
                try:
                    SearchSpec(**{key: table.values[key]})
                except InputError as e:
                    raise e.moved(table.places.value(*table.path, key)) from e

    def _check_unused(self, tables: list[TomlTable], cells: list[Cell]) -> None:
        """Check the levels and goals that all combinations override; `job.configuration` checks the others."""
        address = self._game()
        game = None if is_connected(address) else registry.get(address)
        symbols = None if game is None else game.symbols
        checks: dict[str, Callable[[str], object]] = {
            "level": lambda name: level_names(address, name),
            "score": lambda formula: parse(formula, symbols),
            "persona": lambda name: None if game is None else load_persona(name, game),
        }
        for table in tables:
            for key, refuse in checks.items():
                text = table.text(key, "")
                if text and all(getattr(cell, key) != text for cell in cells):
                    try:
                        refuse(text)
                    except InputError as e:
                        raise e.moved(table.places.value(*table.path, key)) from e

    def _game(self) -> str:
        game = self.table.text("game")
        if game in registry.names():
            return game
        file, colon, attribute = game.rpartition(":")
        file = file if colon and file.endswith(".py") else game
        if not file.endswith((".py", ".toml")) and not (self.base / file).exists():
            expected, hint = unknown(game, registry.names())
            expected += "; FILE.py:GAME; a connected game's FILE.toml"
            raise self.table.wrong("no such game", "game", found=game, expected=expected, hint=hint)
        path = (self.base / file).resolve()
        if not path.exists():
            expected = "a file, from this file's folder"
            raise self.table.wrong("there is no such game", "game", found=str(path), expected=expected)
        return f"{path}:{attribute}" if file != game else str(path)

    def _with_variants_of_the_game(self, cells: list[Cell]) -> list[Cell]:
        """Select the connected game's variant in cells whose variant has the same name."""
        game = self._game()
        if not game.endswith(".toml") or game in registry.names():
            return cells
        from persona_evo.connect.description_file import read

        known = read(Path(game)).variants
        return [
            dataclasses.replace(cell, settings={**cell.settings, "variant": cell.variant})
            if cell.variant in known and "variant" not in cell.settings and ":" not in cell.level
            else cell
            for cell in cells
        ]

    def _with_levels(self, cell: Cell) -> Cell:
        """Return a cell with the names of its levels, if its level stands for several.

        A wrong name is left for `job.configuration`, which opens all levels.
        """
        if not cell.level:
            return cell
        with contextlib.suppress(InputError):
            names = level_names(self._game(), cell.level)
            if len(names) > 1:
                return dataclasses.replace(cell, levels=tuple(names))
        return cell

    def _named(self, kind: str) -> dict[str, list[TomlTable]]:
        """Return the tables of variants or players by name, each alone in a list."""
        found = {}
        for name, table in self.table.table(kind).named():
            if not _NAME.fullmatch(name) or "/" in name:
                raise self.table.wrong(
                    f"this cannot be the name of one of the {kind}",
                    kind,
                    name,
                    found=repr(name),
                    expected="letters, digits, blanks, and any of _ . , = + -",
                )
            found[name] = [table]
        return found

    def _cell(self, variant: str, player: str, over: list[TomlTable]) -> Cell:
        """Create a combination.

        Args:
            variant: the name of the variant.
            player: the name of the player.
            over: their tables; values of a later one override those of an earlier one and of the file's top level.
        """
        where = {key: table for table in (self.table, *over) for key in table.values if key in KEYS}
        settings = self.table.table("settings")
        own = {name: self._setting(settings, name) for name in settings.values}
        for table in over:
            own |= {name: self._setting(table, name) for name in table.values if name not in KEYS}
        words = {key: where.get(key, self.table).text(key, "") for key in ("level", "score", "persona")}
        if words["score"] and words["persona"]:
            raise where["persona"].wrong("a score and a persona", "persona", expected="one of them")
        search = {key: where[key].values[key] for key in SEARCH_KEYS if key in where}
        if words["persona"] or is_connected(self._game()):
            search = {"uct_constant": UCB1_CONSTANT, **search}
        return Cell(variant, player, words["level"], words["score"], words["persona"], own, SearchSpec(**search))

    def _setting(self, table: TomlTable, name: str) -> Any:
        value = table.values[name]
        if not isinstance(value, (str, int, float, bool, list, dict)):
            expected = "a text, a number, true or false"
            raise table.wrong("a setting cannot have this value", name, found=textfile.shown(value), expected=expected)
        return value
