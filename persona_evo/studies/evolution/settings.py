"""Settings of a study of evolution: its cells, and how policies play in each setting."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.agents.skill import FULL_SIGHT
from persona_evo.errors import SettingsError, unknown
from persona_evo.evolve import genome
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.setting import CHEAPER, SLOW
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.games.level_text import LevelText
from persona_evo.personas import Persona, catalog
from persona_evo.personas.core import PAPER
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import policy_library

SEEDED, EVOLUTION, RANDOM, HILL, UCB1, LONG = "seeded", "evolution", "random", "hill", "ucb1", "long"
METHODS = {
    SEEDED: "evolution with seeds",
    EVOLUTION: "evolution without seeds",
    RANDOM: "random search",
    HILL: "hill climbing",
    UCB1: "UCB1, C tuned",
    LONG: "one long run",
}
"""The methods that have runs, in words. The last one is a single run that was made elsewhere."""


class Setting(NamedTuple):
    """The conditions under which policies play.

    Attributes:
        search: a search preset, "" for play from move to move.
        iterations: iterations of a playthrough; from move to move, of a move.
        methods: the methods that search for policies in it.
        playthroughs: playthroughs of a run by default.
    """

    search: str
    iterations: int
    methods: tuple[str, ...]
    playthroughs: int

    @property
    def lists(self) -> bool:
        """Whether the search uses open lists."""
        return bool(self.search) and bool(SearchSettings.preset(self.search).lists)


SETTINGS = {
    "single": Setting("single", 3_000, (SEEDED, EVOLUTION, RANDOM, HILL, UCB1), 16_000),
    "planner-300": Setting("anytime", 300, (SEEDED,), 8_000),
    "planner-1000": Setting("anytime", 1_000, (SEEDED,), 18_000),
    "casual": Setting("", 200, (SEEDED,), 5_000),
}


class MethodCell(NamedTuple):
    """One method for one persona in one setting."""

    setting: str
    method: str
    persona: str


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study.

    Attributes:
        seed: everything random follows from it.
        runs: independent runs of each cell.
        playthroughs: playthroughs of each run, by setting; other settings are not part of the study.
        iterations: iterations of a playthrough, by setting.
        training, validation, held_out: number of levels in each pool.
        trials: playthroughs of each level in a measurement of a policy.
        reference_trials: playthroughs of each level by a policy that runs are compared with, from move to move. One
            death there decides more than the policy, and such a policy is measured once where runs are measured often.
        wins: trials in each level when wins are compared with those of UCB1, first and again with new seeds.
        lines: number of a persona's handwritten lines that are tuned; 0 for all.
        curves: runs of each cell whose learning curve is measured.
        budgets: iterations of the budget curves.
        evolution: the settings of an evolution by setting and method, as plain values.
        personas: the names of the personas.
        shipped: the policy of each persona that shipped when the study began.
        quick: whether the numbers are those of a first look.
    """

    seed: int = 1
    runs: int = 20
    playthroughs: Mapping[str, int] = field(default_factory=lambda: {k: s.playthroughs for k, s in SETTINGS.items()})
    iterations: Mapping[str, int] = field(default_factory=lambda: {k: s.iterations for k, s in SETTINGS.items()})
    training: int = 1_000
    validation: int = 30
    held_out: int = 500
    trials: int = 2
    reference_trials: int = 8
    wins: tuple[int, ...] = (20, 100)
    lines: int = 0
    curves: int = 5
    budgets: tuple[int, ...] = (300, 1_000, 3_000, 10_000, 60_000, 600_000)
    evolution: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    personas: tuple[str, ...] = ()
    shipped: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False

    def __post_init__(self) -> None:
        for name in ("runs", "training", "validation", "held_out", "trials", "reference_trials"):
            _whole(name, getattr(self, name))
        for values in (self.playthroughs, self.iterations):
            for name, value in values.items():
                if name not in SETTINGS:
                    expected, hint = unknown(name, SETTINGS)
                    raise SettingsError("no such setting of the study", found=name, expected=expected, hint=hint)
                _whole(name, value)

    @classmethod
    def of(
        cls,
        *,
        quick: bool = False,
        playthroughs: int | None = None,
        chosen: Sequence[str] = (),
        personas: Sequence[str] = (),
        **given: Any,
    ) -> StudySettings:
        """Return the settings of a whole study, or with `quick` of a first look; given values replace single ones.

        Args:
            quick: whether to start from the settings of a first look.
            playthroughs: playthroughs of a run, in all settings; None for the usual number of each.
            chosen: settings that are part of the study; all if empty.
            personas: personas that are part of the study; all if empty.
            given: other fields; None leaves a field as it is.
        """
        values = dict(_QUICK if quick else {}) | {k: v for k, v in given.items() if v is not None}
        usual = values.pop("each", None)
        each = playthroughs or usual
        values["playthroughs"] = {name: each or SETTINGS[name].playthroughs for name in chosen or SETTINGS}
        values["personas"] = tuple(p.name for p in _four() if p.name in (personas or (p.name,)))
        values.setdefault("shipped", {name: _shipped(name) for name in values["personas"]})
        values.setdefault(
            "evolution",
            {
                f"{name} {method}": evolution_of(name, method, quick).to_dict()
                for name in SETTINGS
                for method in (SEEDED, EVOLUTION)
            },
        )
        return cls(quick=quick, **values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `from_values` reads them back."""
        return dataclasses.asdict(self)

    def evolving(self, cell: MethodCell) -> EvolutionSettings:
        """Return the settings of an evolution in a cell; other methods search among the formulas of these settings."""
        method = SEEDED if cell.method == SEEDED else EVOLUTION
        return EvolutionSettings.from_dict(self.evolution[f"{cell.setting} {method}"])

    @property
    def chosen(self) -> dict[str, Setting]:
        """The settings that are part of the study, by their names."""
        return {name: setting for name, setting in SETTINGS.items() if name in self.playthroughs}

    def cells(self) -> list[MethodCell]:
        """Return all cells that have runs, the most informative first."""
        order = [(name, method) for name, setting in SETTINGS.items() for method in setting.methods]
        order.sort(key=lambda pair: pair[1] not in (SEEDED, EVOLUTION))
        return [
            MethodCell(name, method, persona)
            for name, method in order
            if name in self.playthroughs
            for persona in self.personas
        ]


def from_values(**values: Any) -> StudySettings:
    """Make settings from the plain values of a folder's file."""
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return StudySettings(**plain)


def evolution_of(setting: str, method: str, quick: bool = False) -> EvolutionSettings:
    """Return the settings of an evolution in a setting."""
    changes: dict[str, Any] = dict(_QUICKER if quick else {} if SETTINGS[setting].search else SLOW)
    if SETTINGS[setting].lists:
        changes["wins"] = _WINS
    changes["variables"] = "planner" if setting == "single" else "metrics"
    changes["first"] = () if method == EVOLUTION else ("utility",)
    if setting == "single":
        changes |= CHEAPER
    return EvolutionSettings.sampling(**changes)


def spec_of(settings: StudySettings, setting: str, persona: Persona, levels: tuple[LevelText, ...]) -> FitnessSpec:
    """Return the fitness of a persona in a setting: what is played."""
    return play_spec(SETTINGS[setting].search, settings.iterations[setting], persona, levels)


def play_spec(search: str, iterations: int, persona: Persona, levels: tuple[LevelText, ...]) -> FitnessSpec:
    """Return the fitness of a persona with any search and number of iterations."""
    rules = SearchSettings.preset(search or "single")
    found = FitnessSpec.of(
        study_game().name, (), persona.utility, rules, Budget(iterations), persona.priority, lists=persona.lists
    )
    return dataclasses.replace(found, levels=levels, skill=None if search else FULL_SIGHT)


@cache
def lines() -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the name of the study's game, and the handwritten policies for each persona."""
    data = tomllib.loads(Path(__file__).with_name("lines.toml").read_text(encoding="utf-8"))
    return data["game"], {persona: tuple(found) for persona, found in data["lines"].items()}


def study_game() -> Game:
    """Return the game of the study."""
    return registry.get(lines()[0])


def _four() -> list[Persona]:
    return [p for p in catalog(study_game()) if p.set == PAPER]


def _shipped(persona: str) -> str:
    """Return the text of the policy that ships for a persona; "" without one."""
    game = study_game()
    found = [p for p in policy_library.available(game.name) if p.name == persona]
    return genome.of_policy(found[0].tree_policy(game)) or "" if found else ""


def _whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SettingsError(f"{name} is out of range", found=repr(value), expected="a whole number of at least 1")


_QUICK: dict[str, Any] = {
    "runs": 2,
    "each": 60,
    "training": 8,
    "validation": 3,
    "held_out": 4,
    "trials": 1,
    "reference_trials": 2,
    "wins": (4, 6),
    "lines": 2,
    "curves": 1,
    "budgets": (300, 1_000),
}
_WINS = 0.25
"""Weight of a win in the evolution of open lists, which must not lose levels that UCB1 wins."""
_QUICKER = {"population": 8, "islands": 1, "elites": 2, "levels_a_generation": 4, "race_from": 2}
"""The settings of an evolution in a first look."""
