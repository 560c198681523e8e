"""The publication's claims, the settings of a Puyo-Puyo reproduction, and all searches that it compares."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import SettingsError, unknown
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.search.settings import PRESETS

PLANNED = "planned"
EVERY = 10
"""Number of drops between two points of a figure."""

FLAT, RANDOM, BFS, DFS, EXHAUSTIVE, UCB1, EVOLVED = "flat", "random", "bfs", "dfs", "exhaustive", "ucb1", "evolved"
NAMES = {
    FLAT: "Monte Carlo",
    RANDOM: "random",
    BFS: "breadth first",
    DFS: "depth first",
    EXHAUSTIVE: "exhaustive",
    UCB1: "tree, UCB1",
    EVOLVED: "tree, evolved policy",
}


class PuyoClaim(NamedTuple):
    """A claim of the publication about one of its figures."""

    key: str
    figure: int
    says: str


class PuyoPublication(NamedTuple):
    """The publication: its title, where it appeared, and its claims."""

    title: str
    source: str
    claims: tuple[PuyoClaim, ...]


@cache
def study() -> PuyoPublication:
    """Return the contents of `puyo.toml`."""
    data = tomllib.loads(Path(__file__).with_name("puyo.toml").read_text(encoding="utf-8"))
    return PuyoPublication(data["title"], data["source"], tuple(PuyoClaim(**claim) for claim in data["claims"]))


@dataclass(frozen=True)
class PuyoSettings:
    """The settings of a reproduction.

    Attributes:
        seed: everything random follows from it.
        games: number of starting positions.
        drops: drops of a game.
        clocks: drops that a search may make for each free row; the first value is that of figures 3 to 5.
        playouts: fixed budgets, in playouts per move.
        deepest: largest depth limit of Monte Carlo search.
        persona: the persona whose tree policy is evolved.
        generations, population: size of its evolution.
        iterations: iterations of a playthrough in its evolution.
        compared: playouts per move in the persona's games.
        compared_depth: depth limit in the persona's games.
        quick: whether these are the settings of a first look.
        planning: preset of the search that plans whole levels; folders without this setting use one open list.
    """

    seed: int = 1
    games: int = 10
    drops: int = 150
    clocks: tuple[int, ...] = (100, 30, 10)
    playouts: tuple[int, ...] = (3, 11, 22, 100, 220)
    deepest: int = 6
    persona: str = "chain_builder"
    generations: int = 20
    population: int = 60
    iterations: int = 2_000
    compared: int = 220
    compared_depth: int = 4
    quick: bool = False
    planning: str = "single"

    def __post_init__(self) -> None:
        for name, low, high in (("games", 1, 10), ("drops", EVERY, 150), ("deepest", 4, 12)):
            if not low <= getattr(self, name) <= high:
                raise SettingsError(
                    f"{name} is out of range", found=str(getattr(self, name)), expected=f"from {low} to {high}"
                )
        if self.planning not in PRESETS:
            expected, hint = unknown(str(self.planning), PRESETS)
            raise SettingsError("no such search preset", found=str(self.planning), expected=expected, hint=hint)
        if not self.clocks or min(self.clocks) < 1:
            raise SettingsError(
                "the clock stands still",
                found=str(min(self.clocks, default=0)),
                expected="at least one drop for each row",
            )

    @classmethod
    def of(cls, *, quick: bool = False, clock: int | None = None, **given: int | None) -> PuyoSettings:
        """Return the usual settings or those of a first look; given values replace single ones."""
        small: dict[str, Any] = {
            "games": 3,
            "drops": 60,
            "clocks": (100, 10),
            "playouts": (11, 100),
            "generations": 3,
            "population": 20,
            "iterations": 200,
        }
        usual = cls(**small, quick=True, planning="anytime") if quick else cls(planning="anytime")
        values: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        if clock is not None:
            values["clocks"] = tuple(dict.fromkeys((clock, *usual.clocks)))
        return dataclasses.replace(usual, **values)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; `planning` is left out if it has the value of folders without this setting."""
        values = dataclasses.asdict(self)
        return {k: v for k, v in values.items() if k != "planning" or v != "single"}

    @property
    def clock(self) -> int:
        """The clock of figures 3 to 5."""
        return self.clocks[0]

    @property
    def evolution(self) -> EvolutionSettings:
        """The settings of the evolution of the persona's policy."""
        elites = max(1, self.population // 20)
        return EvolutionSettings.of(
            "modern",
            generations=self.generations,
            population=self.population,
            elites=elites,
            migrants=elites,
            final_candidates=4,
            final_trials=4,
        )


class PuyoCell(NamedTuple):
    """One search that is compared.

    Attributes:
        method: the kind of search.
        depth: the depth limit.
        kind: the unit of the limit: "clock", "playouts", "planned", or "" for no limit.
        limit: drops for each free row (clock), playouts per move (playouts), or iterations of one plan for a whole
            level of the test set, at any depth (planned).
        persona: the persona whose utility is used, "" for the score.
    """

    method: str
    depth: int
    kind: str = ""
    limit: int = 0
    persona: str = ""

    @property
    def budget(self) -> str:
        """The budget in words."""
        words = {"clock": "drops a row", "playouts": "playouts", PLANNED: "iterations a level"}
        return f"{self.limit} {words[self.kind]}" if self.kind else "all"

    @property
    def name(self) -> str:
        """The name of the row in files."""
        who = f", {self.persona}" if self.persona else ""
        return f"{self.method} {self.depth}, {self.budget}{who}"


def cells(s: PuyoSettings) -> list[PuyoCell]:
    """Return all searches that are compared, each once."""
    found = [PuyoCell(EXHAUSTIVE, d) for d in (1, 2, 3)]
    for clock in s.clocks:
        depths = (1, 2, 3) if clock == s.clock else (3,)
        found += [PuyoCell(m, d, "clock", clock) for m in (BFS, DFS, RANDOM) for d in depths]
        first = 1 if clock == s.clock else 3
        found += [PuyoCell(FLAT, d, "clock", clock) for d in range(first, s.deepest + 1)]
    found += [PuyoCell(FLAT, d, "playouts", n) for n in s.playouts for d in range(3, s.deepest + 1)]
    found += [PuyoCell(UCB1, d, "playouts", max(s.playouts)) for d in range(3, s.deepest + 1)]
    found += [PuyoCell(m, s.compared_depth, "playouts", s.compared, s.persona) for m in (FLAT, UCB1, EVOLVED)]
    found += [PuyoCell(m, 0, PLANNED, s.iterations, s.persona) for m in (FLAT, UCB1, EVOLVED)]
    return list(dict.fromkeys(found))
