"""The names of the levels of a connected game: `MAP:VARIANT@SEED`, ranges of seeds, and sets.

Each part may be left out; `default` is the game's own map. `cave@1-10` names ten levels, `cave@1` to `cave@10`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import ConnectError, Place, SettingsError, has_control, nearest, unknown
from persona_evo.games import textfile

MAX_BYTES = 2**20
MOST_LEVELS = 100_000
"""The largest total number of levels that names and sets may stand for. A level counts every time it is named."""
MOST_NESTED = 50
"""The largest nesting depth of sets."""
_LEVEL = re.compile(r"(?P<map>[^:@]*)(?::(?P<variant>[^:@]*))?(?:@(?P<seed>[0-9]+)(?:-(?P<last>[0-9]+))?)?")
_SEEDS = 2**63


@dataclass(frozen=True, order=True)
class LevelName:
    """The name of a level of a connected game.

    Attributes:
        map: the map; "" for the game's own.
        variant: the design variant; "" for the game's own.
        seed: the game's seed.
    """

    map: str = ""
    variant: str = ""
    seed: int = 0

    def __str__(self) -> str:
        variant = f":{self.variant}" if self.variant else ""
        seed = f"@{self.seed}" if self.seed else ""
        return f"{self.map or 'default'}{variant}{seed}"


class LevelNames:
    """Finds the levels that names stand for.

    Attributes:
        source: the file that declares variants and sets.
        variants: the settings of each variant.
        maps: the names in each set.
    """

    source: Path
    variants: Mapping[str, Mapping[str, Any]]
    maps: Mapping[str, tuple[str, ...]]

    def levels(self, names: Sequence[str]) -> list[LevelName]:
        """Return the levels that names, ranges of seeds and sets stand for, without repeats, in the order named.

        Raises:
            SettingsError: a name is not a level, sets are nested too deeply, or there are more than MOST_LEVELS levels.
        """
        found: dict[LevelName, None] = {}
        for number, level in enumerate(level for name in names for level in self._levels(name, ())):
            if number >= MOST_LEVELS:
                raise SettingsError(
                    "there are too many levels",
                    place=Place(str(self.source)),
                    found=f"more than {MOST_LEVELS:,}, each counted every time it is named",
                    expected=f"at most {MOST_LEVELS:,}",
                    hint="name fewer seeds, or fewer sets of sets",
                )
            found[level] = None
        return list(found)

    def level(self, name: str, sets: bool = False) -> LevelName:
        """Return the level of a name that stands for exactly one.

        Args:
            name: the level's name.
            sets: whether the name may also be that of a set with one level.

        Raises:
            SettingsError: the name is not a level, or stands for several.
        """
        found = list(itertools.islice(self._levels(name, () if sets else tuple(self.maps)), 2))
        if len(found) != 1:
            raise SettingsError("this names several levels", found=name, expected="one level")
        return found[0]

    def unchecked(self, levels: Sequence[LevelName]) -> list[str]:
        """Return a message for each map and variant of these levels that the file does not mention.

        Only the game can tell whether those exist.
        """
        named = [self._parts(e)[0] for entries in self.maps.values() for e in entries if e not in self.maps]
        known, found = {name or "default": None for name in ["", *named]}, []
        for map_ in dict.fromkeys(level.map for level in levels):
            if map_ and map_ not in known:
                near = nearest(map_, known)
                found.append(
                    f"{self.source.name} names no map {map_} in [maps], so only the game can tell whether "
                    "there is one" + (f"; did you mean {near!r}?" if near else "")
                )
        for variant in dict.fromkeys(level.variant for level in levels):
            if variant and variant not in self.variants:
                found.append(
                    f"{self.source.name} has no [variants.{variant}], so only the game can tell whether "
                    "there is such a variant"
                )
        return found

    def place(self, key: str, table: str = "") -> Place:
        """Return the position of a key in the file."""
        return key_place(textfile.read_text(self.source, MAX_BYTES, ConnectError), str(self.source), key, table)

    def _levels(self, name: str, within: tuple[str, ...]) -> Iterator[LevelName]:
        """Yield the levels of a name.

        Args:
            name: the name of a level or a set.
            within: the sets that the name occurs in; it cannot refer to one of them.
        """
        if name not in self.maps or name in within:
            map_, variant, seeds = self._parts(name)
            for seed in seeds:
                yield LevelName(map_, variant, seed)
            return
        if len(within) >= MOST_NESTED:
            raise SettingsError(
                "sets are nested too deeply",
                place=self.place(name, "maps"),
                found=f"{name} within {len(within)} others",
                expected=f"at most {MOST_NESTED}",
            )
        for entry in self.maps[name]:
            yield from self._levels(entry, (*within, name))

    def _parts(self, name: str) -> tuple[str, str, range]:
        """Return map, variant and seeds of a name that does not refer to a set.

        Raises:
            SettingsError: it is not the name of a level.
        """
        match = _LEVEL.fullmatch(name.strip())
        if match is None or has_control(name):
            raise SettingsError(
                "not a level of a connected game",
                found=name,
                expected="MAP:VARIANT@SEED, such as cave:hard@3 or default@1-10",
                hint=self._sets(),
            )
        variant = match["variant"] or ""
        first = _seed(match["seed"] or "0")
        last = _seed(match["last"]) if match["last"] else first
        if variant and self.variants and variant not in self.variants:
            expected, hint = unknown(variant, self.variants)
            raise SettingsError(
                "no such variant", place=Place(str(self.source)), found=variant, expected=expected, hint=hint
            )
        if not first <= last < _SEEDS or last - first >= MOST_LEVELS:
            raise SettingsError(
                "a range of seeds is out of range",
                found=name,
                expected=f"FIRST-LAST, at most {MOST_LEVELS} seeds below 2^63",
            )
        return "" if match["map"] == "default" else match["map"], variant, range(first, last + 1)

    def check_sets(self) -> None:
        """Check that every entry of a set names levels or another set.

        Raises:
            ConnectError: an entry does not; the error has the position of the set.
        """
        for name, entries in self.maps.items():
            for entry in entries:
                try:
                    if entry not in self.maps:
                        self._parts(entry)
                except SettingsError as e:
                    raise ConnectError(
                        f"the set {name}: {e.what}",
                        place=self.place(name, "maps"),
                        found=e.found,
                        expected=e.expected,
                        hint=e.hint,
                    ) from e

    def _sets(self) -> str:
        return "sets: " + ", ".join(self.maps) if self.maps else f"{self.source.name} may name sets in [maps]"


def _seed(digits: str) -> int:
    """Return the seed that these digits spell, or one that is out of range if there are 40 digits or more."""
    return int(digits) if len(digits) < 40 else _SEEDS


def key_place(text: str, source: str, key: str, table: str = "") -> Place:
    """Return the position of a key within its table, or at the top level; only the file if the key is not found."""
    pattern = re.compile(rf"\s*(?:\[+\s*(?:[\w.-]+\.)?)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
    inside = not table
    for i, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[+\s*{re.escape(table)}\b", line) and table:
            inside = True
        if inside and pattern.match(line):
            return Place(source, i, len(line) - len(line.lstrip()) + 1)
    return Place(source)
