"""A publication's numbers and maps, read from the TOML file beside this module."""

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
"""The two kinds of players in the tables."""

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PublishedRow:
    """A row of the tables.

    Attributes:
        name: its name in the publication.
        short: a shorter name.
        key: the key of our measure.
        lower: whether low values are good.
    """

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
    """The contents of a publication.

    Attributes:
        name: the name of the study.
        game: the name of the game.
        title: the title of the publication.
        source: where it appeared.
        personas: names of the personas, in the order of all lists below.
        training: numbers (from 1) of the maps that policies are evolved on.
        compared: the two maps of the figures.
        converged: generation from which fitness is said to change little.
        printed: policies with the formulas as printed.
        rows: the rows of the tables.
        table2: (mean, half interval) of each persona by kind and measure, in percent and seconds.
        table3: (maps higher, maps lower) of each persona by measure.
        table4: rows of counts by kind and measure; -1 if a count is unknown.
        correlations: the named correlations.
        digests: digests of the maps' files.
        limits: (utility, turns) of the best plan of each persona by map.
        won: metrics with which all of these plans end.
        turns: the metric that counts their turns.
        objects: numbers of the structure that figure 3 shows.
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
        """The names of the maps in their order."""
        return tuple(self.digests)

    def differing(self, levels: Sequence[Level]) -> list[str]:
        """Return why levels are not the publication's maps; [] if they are."""
        names = [level.name for level in levels]
        if names != list(self.maps):
            return [f"the levels are {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}"]
        return [f"{v.name} is another map" for v in levels if digest(v.text) != self.digests[v.name]]


@functools.cache
def load(name: str) -> Published:
    """Load the publication called `name`.

    Raises:
        SettingsError: there is no such publication.
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
    """Return a digest of a map's file that does not depend on its line endings."""
    lines = "\n".join(text.splitlines()).rstrip("\n") + "\n"
    return hashlib.blake2b(lines.encode(), digest_size=8).hexdigest()


def proven(published: Published, game: Game, personas: Sequence[Persona]) -> dict[tuple[str, str], Bound]:
    """Return the proven limits of the publication's maps by (map, persona), with the known metrics of the plans.

    All plans win. So if a utility has one metric besides those of winning, this metric follows from the utility.
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
