"""Levels that are searched by their choices alone: of a connected game, or of the catalog, played in this process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from persona_evo import limits
from persona_evo.connect import description, description_file, traces
from persona_evo.connect.description import Description
from persona_evo.connect.game import opened
from persona_evo.connect.hidden_play import search_for
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.local_pool import LocalPool
from persona_evo.connect.ordering import Ordering
from persona_evo.connect.process_start import Factory
from persona_evo.connect.search import ConnectedSearch
from persona_evo.connect.session import Session
from persona_evo.connect.traces import Trace
from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Level
from persona_evo.personas import load as load_persona
from persona_evo.search.settings import SearchSettings
from persona_evo.search.tree_policy import TreePolicy

Source: TypeAlias = "str | Path | Game | Description | Factory"
"""A source of levels.

It is a game of the catalog or of the user (its name, "module:object", or the game itself), a connected game (its
description, the file of one, or a program), or a function that starts a program: factory(address, port, nonce) ->
Popen.
"""


class ExperimentLevel:
    """A level of the catalog, or of a game of the user, in this process.

    Args:
        game, level: as loaded.
    """

    def __init__(self, game: Game, level: Level) -> None:
        self.game, self.level = game, level

    @property
    def name(self) -> str:
        """The level's name."""
        return self.level.name

    def utility(self, score: str = "", persona: str = "") -> Formula:
        """Return the goal of the search: a formula, a persona's utility, or the game's own score.

        Raises:
            FormulaError, PersonaError: it cannot be read.
            SettingsError: the game has no score of its own.
        """
        if score:
            return parse(score, self.game.symbols)
        if persona:
            return load_persona(persona, self.game).utility
        return self._own()

    def _own(self) -> Formula:
        if self.game.score is None:
            raise SettingsError(
                f"{self.game.title} has no score of its own",
                expected="a score, as a formula over " + ", ".join(self.game.symbols),
                hint="or name a persona",
            )
        return parse(self.game.score(self.level), self.game.symbols)

    def search(
        self, utility: Formula, policy: TreePolicy, settings: SearchSettings, ordering: Ordering, seed: int, most: int
    ) -> ConnectedSearch:
        """Create a search that has not begun."""
        within = LocalPool(self.game, self.level)
        return ConnectedSearch(self.game, within, 0, utility, policy, settings, ordering, seed, most)

    def replay(self, trace: Trace, screen: bool = True, delay: float | None = None) -> None:
        """Play a trace again so that it can be watched.

        Raises:
            SettingsError: it cannot be watched: the game has no window.
        """
        raise SettingsError(
            f"{self.game.title} has no window",
            expected="a connected game",
            hint="persona-evo experiment replay draws it into a GIF",
        )

    def keep_in(self, folder: Path) -> None:
        """Set the folder for logs of a game that fails; no logs are written here."""

    def close(self) -> None:
        """Do nothing, since no processes run here."""


class Connected(ExperimentLevel):
    """A level of a connected game, whose processes run until `close`.

    Args:
        about: the game's description.
        level: MAP:VARIANT@SEED.

    Raises:
        ConnectError: the game does not start.
        SettingsError: no such level.
    """

    def __init__(self, about: Description, level: str) -> None:
        self.about = about
        self._name: LevelName = about.level(level, sets=True)
        self._session = Session(about)
        self.game = opened(self._session)

    @property
    def name(self) -> str:
        """The level as MAP:VARIANT@SEED."""
        return str(self._name)

    def _own(self) -> Formula:
        return parse("SCORE", self.game.symbols)

    def search(
        self, utility: Formula, policy: TreePolicy, settings: SearchSettings, ordering: Ordering, seed: int, most: int
    ) -> ConnectedSearch:
        """Create a search that has not begun."""
        ordering = dataclasses.replace(
            ordering, mode=self._session.mode, worlds=self.about.worlds, scores=self.about.scores
        )
        pool = self._session.pool(self._name)
        return search_for(ordering)(self.game, pool, self._name.seed, utility, policy, settings, ordering, seed, most)

    def replay(self, trace: Trace, screen: bool = True, delay: float | None = None) -> None:
        """Let the game play a trace in its window.

        Raises:
            GameError: the trace ends differently.
        """
        traces.replay(self.about, trace, screen=screen, delay=delay)

    def keep_in(self, folder: Path) -> None:
        """Set the folder for logs and findings of a game that fails (see `Session.keep_in`)."""
        self._session.keep_in(folder)

    def close(self) -> None:
        """End the game's processes."""
        self._session.close()


def open_stage(
    source: Source, level: str = "", settings: Mapping[str, Any] | str | None = None, workers: int = 1
) -> ExperimentLevel:
    """Open a level for a search.

    Args:
        source: see `Source`.
        level: a name or file of the game's levels, MAP:VARIANT@SEED for connected games; "" for the game's first level.
        settings: options of the level (catalog), or values passed to the game (connected); a text names the variant of
            a connected game.
        workers: number of processes of a connected game.

    Raises:
        PersonaEvoError: no such game, level or option.
    """
    about = _description(source)
    if about is None:
        game = source if isinstance(source, Game) else registry.get(str(source))
        if isinstance(settings, str):
            raise SettingsError(
                "a game of the catalog does not take text as its settings",
                found=settings,
                expected="options of its levels by name",
            )
        return ExperimentLevel(game, _level(game, level, settings or {}))
    if isinstance(settings, str):
        level, settings = _with_variant(level, settings), {}
    merged = {**about.settings, **(settings or {})}
    for reserved in ("map", "variant"):
        if reserved in merged:
            raise SettingsError(
                f"{reserved} is set by the level", found=str(merged[reserved]), expected="level = MAP:VARIANT@SEED"
            )
    about = dataclasses.replace(about, settings=merged, workers=workers, slots=workers)
    return Connected(about, level or "default")


def level_names(source: Source, level: str) -> list[str]:
    """Return the name of each level that a name stands for, none of which stands for several.

    Raises:
        PersonaEvoError: no such game or level.
    """
    about = _description(source)
    if about is not None:
        return [str(name) for name in about.levels([level])]
    game = source if isinstance(source, Game) else registry.get(str(source))
    shipped = set(mapsets.shipped(game).levels.values())
    return [
        (found.path.stem if found.path in shipped else str(found.path)) + found.suffix
        for found in mapsets.find(game, [level])
    ]


def _description(source: Source) -> Description | None:
    """Return the description of a connected game; None for other games."""
    if isinstance(source, Description):
        return source
    if isinstance(source, Game):
        if source.outside is not None:
            raise SettingsError(f"{source.title} is named by its file", expected="the TOML file that describes it")
        return None
    if callable(source):
        return description.plain(Path("factory"), source)
    text = limits.name(source, "a game")
    if text.endswith(".toml"):
        return description_file.read(Path(text))
    known = text in registry.names() or (":" in text and not Path(text).exists())
    return None if known or not Path(text).exists() else description.plain(Path(text).resolve())


def _with_variant(level: str, variant: str) -> str:
    """Return a level's name with another variant."""
    map_, at, seed = level.partition("@")
    return f"{map_.partition(':')[0] or 'default'}:{variant}{at}{seed}"


def _level(game: Game, name: str, options: Mapping[str, Any]) -> Level:
    if not name:
        found = mapsets.shipped(game)
        name = next(iter(found.sets.get("train", ())), "") or next(iter(found.levels), "")
        if not name:
            raise SettingsError(f"{game.title} ships no levels", expected="the name of a level's file")
    import inspect

    known = [p.name for p in inspect.signature(game.load).parameters.values() if p.kind == p.KEYWORD_ONLY]
    for key in options:
        if key not in known:
            expected, hint = unknown(key, known)
            raise SettingsError(f"{game.title} has no such option for levels", found=key, expected=expected, hint=hint)
    levels = mapsets.resolve(game, [name], options)
    if len(levels) != 1:
        raise SettingsError("this names several levels", found=name, expected="one level")
    return levels[0]
