"""What a game tells those who make levels for it: an optional module `guide` beside the one that draws.

| name | what |
|---|---|
| LEGEND | the level format in words |
| TILES | a name for each character, where a level is a map |
| EXAMPLE | a small level that can be played as it is |
| ACTIONS | how moves are shown |
| AIMED | first parts of the names of moves that go on with a column and a row, both from 0 |
| EVENTS | kind of event -> words; a kind with a colon at its end stands for all that begin so, and {} for their rest |
| MEANINGS | what each number of the level's structure is |
| SIGNS | what states in characters show that levels do not have |

All of them are optional.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from persona_evo.games.core import Game
from persona_evo.games.findings import where


@dataclass(frozen=True)
class Guide:
    """Words on a game's levels; empty where the game has none."""

    legend: str = ""
    example: str = ""
    actions: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    tiles: Mapping[str, str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    aimed: Collection[str] = ()
    signs: str = ""

    def action(self, name: str) -> str:
        """A move as people read it, with its place as row:column from 1 ("J,14,6" -> "J@7:15")."""
        head, *rest = name.split(",")
        if head not in self.aimed or len(rest) != 2:
            return name
        return f"{head}@{where((int(rest[0]), int(rest[1])))}"

    def event(self, kind: str) -> str:
        """A kind of event in words."""
        start, colon, rest = kind.partition(":")
        words = self.events.get(kind) or self.events.get(start + colon, f"{start} {rest}".rstrip())
        return words.format(rest)


def guide(game: Game) -> Guide:
    """What there is for this game."""
    package = (game.draw or "").partition(":")[0].rpartition(".")[0]
    name = f"{package}.guide"
    if not package or importlib.util.find_spec(name) is None:
        return Guide()
    module = importlib.import_module(name)
    return Guide(
        getattr(module, "LEGEND", ""),
        getattr(module, "EXAMPLE", ""),
        getattr(module, "ACTIONS", ""),
        getattr(module, "MEANINGS", {}),
        getattr(module, "TILES", {}),
        getattr(module, "EVENTS", {}),
        getattr(module, "AIMED", ()),
        getattr(module, "SIGNS", ""),
    )
