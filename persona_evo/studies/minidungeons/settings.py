"""The settings of a reproduction, and the file in its folder that holds them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, RunError, SettingsError, unknown
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import json_text
from persona_evo.jobs.folder import JobFolder
from persona_evo.search.settings import PRESETS, Budget, SearchSettings
from persona_evo.studies import keeping
from persona_evo.studies.minidungeons.published import Published
from persona_evo.studies.minidungeons.published import load as load_published

STAND_IN = "train"
"""The set of the project's own levels that stand in for the publication's maps."""


@dataclass(frozen=True)
class Cross:
    """Budgets of the cross tables.

    Attributes:
        trials: playthroughs of each player in each level.
        times: multiples of the budget with which UCB1 plays.
        evolution: settings of the evolution of policies on a single map.
        iterations: iterations of a playthrough in this evolution.
    """

    trials: int
    times: tuple[int, ...]
    evolution: EvolutionSettings
    iterations: int


@dataclass(frozen=True)
class DungeonSettings:
    """The settings of a reproduction.

    Attributes:
        study: the name of the publication.
        protocol: the preset of the evolution, which also decides the rules of its search.
        seed: everything random follows from it.
        runs: independent evolutions of each persona.
        trials: playthroughs of each player in each level.
        evolution: settings of the evolution.
        iterations: iterations of the search in the evolution.
        playtest_iterations: iterations of the search in the playtests.
        bound_seconds: seconds of the solver for limits that are unknown.
        cross: budgets of the cross tables; None for no cross tables.
        quick: whether budgets that were not given are those of a first look.
        playing: preset of the search in the playtests, "" for that of the evolution.
    """

    study: str
    protocol: str
    seed: int
    runs: int
    trials: int
    evolution: EvolutionSettings
    iterations: int
    playtest_iterations: int
    bound_seconds: float
    cross: Cross | None = None
    quick: bool = False
    playing: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "playing", self.playing or self.search.preset_name)
        if not isinstance(self.playing, str) or self.playing not in PRESETS:
            expected, hint = unknown(str(self.playing), PRESETS)
            raise SettingsError("no such search preset", found=str(self.playing), expected=expected, hint=hint)
        for name in ("runs", "trials", "iterations", "playtest_iterations"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise SettingsError(
                    f"{name} is out of range", found=repr(value), expected="a whole number of at least 1"
                )

    @classmethod
    def of(
        cls,
        study: str,
        protocol: str = "paper",
        *,
        quick: bool = False,
        cross: bool = False,
        seed: int = 1,
        runs: int | None = None,
        trials: int | None = None,
        generations: int | None = None,
        population: int | None = None,
        iterations: int | None = None,
        playtest_iterations: int | None = None,
        bound_seconds: float | None = None,
    ) -> DungeonSettings:
        """Return the settings of a protocol, or with `quick` of a first look at it; given values replace single ones.

        Raises:
            SettingsError: there is no such study or protocol, or a value is out of range.
        """
        load_published(study)
        modern = protocol == "modern"
        changes: dict[str, Any] = dict(_QUICK if quick else {})
        for name, value in (("generations", generations), ("population", population)):
            if value is not None:
                changes[name] = value
        evolution = EvolutionSettings.of(protocol, **changes)
        usual = (1, 4, 300, 1500) if quick else (3, 50, 10_000, 60_000 if modern else 10_000)
        given = (runs, trials, iterations, playtest_iterations)
        r, t, i, p = (u if g is None else g for g, u in zip(given, usual, strict=True))
        b = (0.3 if quick else 10.0) if bound_seconds is None else bound_seconds
        return cls(
            study,
            protocol,
            seed,
            r,
            t,
            evolution,
            i,
            p,
            b,
            _cross(protocol, quick, t, i) if cross else None,
            quick,
            "anytime" if modern else "paper",
        )

    @property
    def search(self) -> SearchSettings:
        """The rules of the search in the evolution."""
        return SearchSettings.paper() if self.protocol == "paper" else SearchSettings.single()

    @property
    def playtest_search(self) -> SearchSettings:
        """The rules of the search in the playtests."""
        return SearchSettings.preset(self.playing)

    @property
    def budget(self) -> Budget:
        """The budget of a playthrough in the evolution."""
        return Budget(self.iterations)

    @property
    def playtest_budget(self) -> Budget:
        """The budget of a playthrough in the playtests."""
        return Budget(self.playtest_iterations)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `from_dict` reads them back.

        `playing` is left out if the playtests search as the evolution does, as in folders without this setting.
        """
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        values["evolution"] = self.evolution.to_dict()
        if self.playing == self.search.preset_name:
            del values["playing"]
        if self.cross is not None:
            values["cross"] = {
                "trials": self.cross.trials,
                "times": list(self.cross.times),
                "evolution": self.cross.evolution.to_dict(),
                "iterations": self.cross.iterations,
            }
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> DungeonSettings:
        """Return the settings that plain values describe.

        Raises:
            KeyError, TypeError: the values do not describe settings.
        """
        plain = dict(values)
        plain["evolution"] = EvolutionSettings.from_dict(plain["evolution"])
        cross = plain.get("cross")
        if cross is not None:
            plain["cross"] = Cross(
                cross["trials"],
                tuple(cross["times"]),
                EvolutionSettings.from_dict(cross["evolution"]),
                cross["iterations"],
            )
        return cls(**plain)


_QUICK = {
    "generations": 5,
    "population": 20,
    "elites": 1,
    "migrants": 1,
    "final_candidates": 4,
    "final_trials": 4,
}


def _cross(protocol: str, quick: bool, trials: int, iterations: int) -> Cross:
    small: dict[str, Any] = (
        {**_QUICK, "generations": 2, "population": 10}
        if quick
        else {
            "generations": 15,
            "population": 50,
            "elites": 1,
            "migrants": 2,
            "final_candidates": 5,
            "final_trials": 10,
        }
    )
    times = (2, 4) if quick else (2, 4, 8)
    return Cross(
        min(trials, 2 if quick else 10),
        times,
        EvolutionSettings.of(protocol, **small),
        min(iterations, 200 if quick else 2000),
    )


def training(published: Published, levels: Sequence[Level]) -> list[Level]:
    """Return the levels to evolve on: those with the publication's numbers, or the first half if there are fewer."""
    if len(levels) >= max(published.training):
        return [levels[n - 1] for n in published.training]
    return list(levels[: (len(levels) + 1) // 2])


def levels_for(published: Published, game: Game, named: str | Path | None) -> list[Level]:
    """Return the levels of a folder or another name for levels, or those that stand in.

    If a folder has the publication's maps, the other levels in it are left out.
    """
    if named is None:
        return mapsets.resolve(game, [STAND_IN])
    folder = Path(named)
    if folder.is_dir():
        files = [next(folder.glob(f"{name}.*"), None) for name in published.maps]
        if all(files):
            return mapsets.resolve(game, [str(f) for f in files])
    return mapsets.resolve(game, [str(named)])


def default_folder(study: str, protocol: str, named: str | Path | None, levels: Sequence[Level], quick: bool) -> Path:
    """Return the folder of a reproduction without a named one.

    The name ends with that of the levels if they were named, so that their folder is not that of the stand-ins. A
    folder without this end that holds these very levels is continued.

    Args:
        named: the name of the levels, None for those that stand in.
    """
    plain = keeping.usual_folder(study, protocol, "quick" * quick)
    if named is None or _holds(plain, levels):
        return plain
    words = re.sub(r"[^A-Za-z0-9_.]+", "_", Path(named).resolve().stem).strip("_.") or "levels"
    return plain.with_name(f"{plain.name}-{words}")


def _holds(folder: Path, levels: Sequence[Level]) -> bool:
    try:
        known = [(level.name, level.text) for level in reopen(folder)[1]]
    except RunError:
        return False
    return known == [(level.name, level.text) for level in levels]


def opened(folder: Path, settings: DungeonSettings, game: Game, levels: Sequence[Level]) -> JobFolder:
    """Make or resume the folder of a reproduction, and lock it (see `keeping.opened`)."""
    texts = [LevelText.of(v).to_dict() for v in levels]
    return keeping.opened(folder, settings.study, {"game_version": game.version, **settings.to_dict(), "levels": texts})


def reopen(folder: Path) -> tuple[DungeonSettings, list[Level]]:
    """Return the settings and levels in a reproduction's folder.

    Raises:
        RunError: the folder is not a reproduction's, a file is damaged, or it was made with other rules of the game.
    """
    r = keeping.KIND.reader(folder)
    data, path = r.data, r.source
    try:
        rest = {k: v for k, v in data.items() if k not in ("schema", "game_version", "levels")}
        settings = DungeonSettings.from_dict(rest)
        game = registry.get(load_published(settings.study).game)
        version = data["game_version"]
        rows = [(v["text"], v["name"], v["source"], dict(v["options"])) for v in data["levels"]]
    except (KeyError, TypeError, ValueError, AttributeError, SettingsError) as e:
        raise RunError(
            "the reproduction's file is damaged",
            place=Place(path),
            found=str(e).partition("\n")[0],
            expected="a file written by this program",
            hint=json_text.RESTORE,
        ) from e
    if version != game.version:
        raise RunError(
            "the rules of the game have changed since this reproduction began",
            place=Place(path),
            found=f"version {version}",
            expected=f"version {game.version}",
            hint="start a new one",
        )
    return settings, [game.load(text, name, source, **options) for text, name, source, options in rows]
