"""A publication's numbers and maps, from the TOML file beside this module."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import SettingsError, unknown
from persona_evo.games.core import Game, Level
from persona_evo.personas import Persona
from persona_evo.playtest.metrics import Bound

EVOLVED, BASELINE = "evolved", "baseline"
"""The two kinds of players of the tables."""

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PublishedRow:
    """A row of the tables: its name there, a shorter one, the key of our measure, and whether low values are good."""

    name: str
    short: str
    key: str
    lower: bool = False


@dataclass(frozen=True)
class Named:
    """A correlation that the publication names."""

    persona: str
    result: str
    structure: str
    r: float
    words: str


@dataclass(frozen=True)
class Published:
    """What a publication says.

    personas: names, in the order of all lists below. training: numbers (from 1) of the maps evolved on. compared: the
    two maps of the figures. converged: generation from which fitness is said to change little. printed: policies with
    the formulas as printed. table2: kind -> measure -> (mean, half interval) of each persona, percent and seconds.
    table3: measure -> (maps higher, maps lower) of each persona. table4: kind -> measure -> rows of counts, -1 where
    the count is not known. digests: of the maps' files. limits: map -> (utility, turns) of the best plan of each
    persona; won: metrics that all of these plans end with, turns: the metric that counts their turns. objects: numbers
    of the structure that figure 3 shows.
    """

    name: str
    game: str
    title: str
    source: str
    personas: tuple[str, ...]
    training: tuple[int, ...]
    compared: tuple[str, ...]
    converged: int
    printed: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    table2: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]
    table3: Mapping[str, Sequence[Sequence[int]]]
    table4: Mapping[str, Mapping[str, Sequence[Sequence[int]]]]
    correlations: tuple[Named, ...]
    digests: Mapping[str, str]
    limits: Mapping[str, Sequence[Sequence[float]]]
    won: Mapping[str, float]
    turns: str
    objects: tuple[str, ...]

    @property
    def maps(self) -> tuple[str, ...]:
        """Names of the maps, in their order."""
        return tuple(self.digests)

    def differing(self, levels: Sequence[Level]) -> list[str]:
        """Why these are not the publication's maps; [] if they are."""
        names = [level.name for level in levels]
        if names != list(self.maps):
            return [f"the levels are {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}"]
        return [f"{v.name} is another map" for v in levels if digest(v.text) != self.digests[v.name]]


@functools.cache
def load(name: str) -> Published:
    """The publication called `name`.

    Raises:
        SettingsError: there is none.
    """
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if name not in known:
        expected, hint = unknown(name, known)
        raise SettingsError("there is no such reproduction", found=name, expected=expected, hint=hint)
    data: dict[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return Published(
        name=name,
        game=data["game"],
        title=data["title"],
        source=data["source"],
        personas=tuple(data["personas"]),
        training=tuple(data["training"]),
        compared=tuple(data["compared"]),
        converged=data["converged"],
        printed=tuple(data["printed"]),
        rows=tuple(PublishedRow(**row) for row in data["measures"]),
        table2=data["table2"],
        table3=data["table3"],
        table4=data["table4"],
        correlations=tuple(Named(**row) for row in data["correlations"]),
        digests={key: value["digest"] for key, value in data["maps"].items()},
        limits={key: value["limit"] for key, value in data["maps"].items()},
        won={key: float(value) for key, value in data["won"].items()},
        turns=data["turns"],
        objects=tuple(data["objects"]),
    )


def digest(text: str) -> str:
    """What a map's file is recognised by, whatever its line ends."""
    lines = "\n".join(text.splitlines()).rstrip("\n") + "\n"
    return hashlib.blake2b(lines.encode(), digest_size=8).hexdigest()


def proven(published: Published, game: Game, personas: Sequence[Persona]) -> dict[tuple[str, str], Bound]:
    """The proven limits of the publication's maps by (map, persona), with what is known of the plans' metrics.

    All plans win, so where a utility holds one metric beside those of winning, that metric follows from the utility.
    """
    found = {}
    for name, limits in published.limits.items():
        for persona, (utility, turns) in zip(personas, limits, strict=True):
            told = {**published.won, published.turns: float(turns)}
            end = {**dict.fromkeys(game.symbols, 0.0), **told}
            if persona.priority not in told:
                at = [persona.utility.evaluate({**end, persona.priority: share}) for share in (0.0, 1.0)]
                end[persona.priority] = (utility - at[0]) / (at[1] - at[0])
            known = {symbol: end[symbol] for symbol in (*told, persona.priority)}
            found[name, persona.name] = Bound(float(utility), True, known)
    return found
