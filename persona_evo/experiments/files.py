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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from persona_evo.errors import InputError, Place, SettingsError, has_control, unknown
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
from persona_evo.games import registry, textfile
from persona_evo.games.tomlplaces import Places
from persona_evo.search.tree_policy import UCB1_CONSTANT

MAX_BYTES = 2**20
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
    text = textfile.read_text(path, MAX_BYTES, SettingsError)
    values = textfile.toml(text, str(path), SettingsError, 'lines such as game = "its_alive"')
    return ExperimentReader(Places(text, str(path)), values, path.resolve().parent).experiment(path.stem)


def placed(error: InputError, experiment: Experiment, cell: Cell) -> InputError:
    """Return an error that a cell's level or goal caused, with the name of the cell and its place in the file."""
    place = error.place
    if experiment.file and (place is None or not Path(place.source).exists()):
        place = _place_of(experiment.file, cell, error)
    what = f"{cell.label}: {error.what}"
    return type(error)(what, place=place, found=error.found, expected=error.expected, hint=error.hint)


def _place_of(file: str, cell: Cell, error: InputError) -> Place:
    """Find the value that an error is about: what was found, or the goal, in the cell's tables or above them."""
    text = textfile.read_text(Path(file), MAX_BYTES, SettingsError)
    values = textfile.toml(text, file, SettingsError, "an experiment")
    for wanted in (error.found, cell.score, cell.persona, cell.level):
        for tables in (("players", cell.player), ("variants", cell.variant), ("settings",), ()):
            table: Any = values
            for name in tables:
                table = table.get(name, {})
            for key, value in table.items():
                if wanted and str(value) == wanted:
                    return Places(text, file).value(*tables, key)
    return Place(file)


class ExperimentReader:
    """Reads an experiment from the values of a TOML file and refuses wrong values with their place.

    Args:
        places: the places in the file.
        values: values of the table that contains the experiment.
        base: folder that the file's paths are relative to.
    """

    def __init__(self, places: Places, values: Mapping[str, Any], base: Path) -> None:
        self.places, self.values, self.base = places, values, base

    def experiment(self, name: str) -> Experiment:
        """Return the experiment, named `name`."""
        for key in self.values:
            if key not in TOP:
                expected, hint = unknown(key, TOP)
                raise self.wrong("unknown key", key, found=key, expected=expected, hint=hint)
        common = {k: v for k, v in self.values.items() if k in KEYS}
        settings = self._settings("settings", self.values.get("settings", {}), "")
        variants, players = self._named("variants"), self._named("players")
        cells = [
            self._cell(variant, player, common, settings, variants, players)
            for variant in variants or {"": {}}
            for player in players or {"": {}}
        ]
        try:
            cells = list(check(cells))
        except SettingsError as e:
            raise self.wrong(e.what, "variants", found=e.found, expected=e.expected or "") from e
        cells = [self._with_levels(cell) for cell in self._with_variants_of_the_game(cells)]
        try:
            check(cells)
        except SettingsError as e:
            raise self.wrong(e.what, "level", found=e.found, expected=e.expected or "") from e
        same = identical(cells)
        if same is not None:
            kind = "variants" if same[0].variant != same[1].variant else "players"
            name_ = same[1].variant if kind == "variants" else same[1].player
            raise self.wrong(
                f"two {kind} are the same game, played in the same way",
                name_,
                kind,
                found=f"{same[0].label} and {same[1].label} differ only in their names",
                expected="different settings, levels, scores or searches",
                hint="a variant with the name of one of the connected game's [variants] plays that one",
            )
        title = self.values.get("title", name)
        if not isinstance(title, str) or has_control(title):
            raise self.wrong("title is not text", "title", found=textfile.shown(title), expected='title = "..."')
        return Experiment(
            name,
            title,
            self._game(),
            self._whole("seed", 1, 0, _SEEDS - 1),
            self._whole("replicates", 20, 1, MOST_REPLICATES),
            tuple(cells),
            self.places.source,
        )

    def wrong(self, what: str, key: str, *tables: str, **more: Any) -> SettingsError:
        """Return an error at a key of a table."""
        return SettingsError(what, place=self.places.value(*filter(None, tables), key), **more)

    def _game(self) -> str:
        game = self.values.get("game")
        if not isinstance(game, str) or not game or has_control(game):
            raise self.wrong(
                "game is missing" if game is None else "game is not text",
                "game",
                found=None if game is None else textfile.shown(game),
                expected='game = "its_alive"',
            )
        if game in registry.names():
            return game
        file, colon, attribute = game.rpartition(":")
        file = file if colon and file.endswith(".py") else game
        if not file.endswith((".py", ".toml")) and not (self.base / file).exists():
            expected, hint = unknown(game, registry.names())
            raise self.wrong(
                "no such game",
                "game",
                found=game,
                hint=hint,
                expected=f"{expected}; FILE.py:GAME; a connected game's FILE.toml",
            )
        path = (self.base / file).resolve()
        if not path.exists():
            raise self.wrong(
                "there is no such game", "game", found=str(path), expected="a file, from this file's folder"
            )
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

    def _whole(self, key: str, default: int, low: int, high: int) -> int:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(
                f"{key} is out of range",
                key,
                found=textfile.shown(value),
                expected=f"a whole number from {low} to {high}",
            )
        return value

    def _named(self, kind: str) -> dict[str, Mapping[str, Any]]:
        found = self.values.get(kind, {})
        if not isinstance(found, dict):
            raise self.wrong(f"{kind} is not a table", kind, found=textfile.shown(found), expected=f"[{kind}.NAME]")
        for name, table in found.items():
            if not isinstance(table, dict):
                raise self.wrong(
                    f"{name} is not a table",
                    name,
                    kind,
                    found=textfile.shown(table),
                    expected=f"[{kind}.{name}] with settings below it",
                )
            if not _NAME.fullmatch(name) or "/" in name:
                raise self.wrong(
                    f"this cannot be the name of one of the {kind}",
                    name,
                    kind,
                    found=repr(name),
                    expected="letters, digits, blanks, and any of _ . , = + -",
                )
        return found

    def _settings(self, key: str, values: Any, *tables: str) -> dict[str, Any]:
        if not isinstance(values, dict):
            raise self.wrong(f"{key} is not a table", key, found=textfile.shown(values), expected=f"[{key}]")
        for name, value in values.items():
            if not isinstance(value, (str, int, float, bool, list, dict)):
                raise self.wrong(
                    "a setting cannot have this value",
                    name,
                    *(tables if tables[0] else (key,)),
                    found=textfile.shown(value),
                    expected="a text, a number, true or false",
                )
        return dict(values)

    def _cell(
        self,
        variant: str,
        player: str,
        common: Mapping[str, Any],
        settings: Mapping[str, Any],
        variants: Mapping[str, Mapping[str, Any]],
        players: Mapping[str, Mapping[str, Any]],
    ) -> Cell:
        """Create a combination: the player's values override the variant's, and those the file's top level."""
        found: dict[str, tuple[Any, tuple[str, ...]]] = {k: (v, ()) for k, v in common.items()}
        own = dict(settings)
        for kind, name, tables in (("variants", variant, variants), ("players", player, players)):
            values = tables.get(name, {})
            found.update({k: (v, (kind, name)) for k, v in values.items() if k in KEYS})
            own.update(self._settings(name, {k: v for k, v in values.items() if k not in KEYS}, kind, name))
        words = {}
        for key in ("level", "score", "persona"):
            value, where = found.get(key, ("", ()))
            if not isinstance(value, str) or has_control(value):
                raise self.wrong(
                    f"{key} is not text", key, *where, found=textfile.shown(value), expected=f'{key} = "..."'
                )
            words[key] = value
        if words["score"] and words["persona"]:
            raise self.wrong("a score and a persona", "persona", *found["persona"][1], expected="one of them")
        search = SearchSpec()
        if words["persona"] or is_connected(self._game()):
            search = dataclasses.replace(search, uct_constant=UCB1_CONSTANT)
        for key in SEARCH_KEYS:
            if key in found:
                value, where = found[key]
                try:
                    search = dataclasses.replace(search, **{key: value})
                except InputError as e:
                    raise self.wrong(e.what, key, *where, found=e.found, expected=e.expected, hint=e.hint) from e
        return Cell(variant, player, words["level"], words["score"], words["persona"], own, search)
