"""Names that stand for several levels which differ in a number, a seed or an option.

| name | meaning |
|---|---|
| `train01-04` | `train01`, `train02`, `train03` and `train04` |
| `train01@11-14` | the level with the seeds 11 to 14 in place of the file's |
| `train01:design=lazy@11` | with an option of the game's loader, too; `:lazy` alone is its option `variant` |

Only levels whose file says `seed = N` can have other seeds. Connected games have the same notation, but there the game
itself draws the level (see `connect.description`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from persona_evo.errors import Place, SettingsError, printable
from persona_evo.games.level_files import once
from persona_evo.games.options import level_options

if TYPE_CHECKING:
    from persona_evo.games.core import Game

MOST_LEVELS = 100_000
"""The largest number of levels that a range may stand for."""

VARIANT = "variant"
"""The option that a value without a name stands for."""

_NUMBERED = re.compile(r"(?P<name>.*?)(?P<first>\d{1,9})-(?P<last>\d{1,9})(?P<suffix>\.\w+)?")
_DRAWN = re.compile(r"(?P<level>[^@]+?)(?P<options>(?::[^:@/\\]+)*)(?:@(?P<first>\d{1,19})(?:-(?P<last>\d{1,19}))?)?")
_SEED = re.compile(r"^(\s*seed\s*=\s*)\d+", re.MULTILINE)


class LevelEntry(NamedTuple):
    """A level's file, and what replaces its content.

    Attributes:
        path: the file.
        suffix: the end of the level's name, such as ":lazy@11"; "" for the level as it is.
        options: options of the game's loader, by name.
        seed: replaces the file's seed; None to keep it.
    """

    path: Path
    suffix: str = ""
    options: tuple[tuple[str, str], ...] = ()
    seed: int | None = None

    def seeded(self, text: str) -> str:
        """Return the text of the file with the seed in place of its own.

        Raises:
            SettingsError: the file has no seed.
        """
        if self.seed is None:
            return text
        changed, count = _SEED.subn(rf"\g<1>{self.seed}", text)
        if count != 1:
            raise SettingsError(
                "this level is not drawn from a seed",
                place=Place(str(self.path)),
                found=f"{self.path.stem}{self.suffix}",
                expected="a level whose file has a line seed = N",
            )
        return changed


class LevelRange(NamedTuple):
    """A level with options and a range of seeds.

    Attributes:
        level: the name of the level.
        options: the values between colons, as written.
        seeds: the seeds; None to keep the file's.
    """

    level: str
    options: tuple[str, ...]
    seeds: range | None

    @classmethod
    def parse(cls, name: str) -> LevelRange | None:
        """Return what a name means; None if it has neither options nor seeds.

        Raises:
            SettingsError: the range of seeds is empty or too long.
        """
        match = _DRAWN.fullmatch(name)
        if match is None or not (match["options"] or match["first"]):
            return None
        options = tuple(match["options"].split(":")[1:])
        seeds = _range(name, match["first"], match["last"] or match["first"]) if match["first"] else None
        return cls(match["level"], options, seeds)

    def sources(self, paths: Sequence[Path], game: Game) -> list[LevelEntry]:
        """Return the levels in some files, with each of the seeds.

        Raises:
            SettingsError: the game's loader has no such option.
        """
        options = tuple(_option(text, game) for text in self.options)
        words = "".join(f":{text}" for text in self.options)
        if self.seeds is None:
            return [LevelEntry(path, words, options) for path in paths]
        return [LevelEntry(path, f"{words}@{seed}", options, seed) for path in paths for seed in self.seeds]


def numbered(name: str) -> list[str]:
    """Return the names that a range of numbers stands for, with leading zeros as in the first; [] if it is none.

    Raises:
        SettingsError: the range is empty or too long.
    """
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return []
    numbers, width = _range(name, match["first"], match["last"]), len(match["first"])
    return [f"{match['name']}{number:0{width}}{match['suffix'] or ''}" for number in numbers]


def distinct(sources: Iterable[LevelEntry]) -> list[LevelEntry]:
    """Return the sources without those that are the same as an earlier one."""
    sources = list(dict.fromkeys(sources))
    paths: dict[str, list[Path]] = {}
    for source in sources:
        paths.setdefault(source.suffix, []).append(source.path)
    known: dict[tuple[Path, ...], set[Path]] = {}  # all seeds of a range have the same files
    first: dict[str, set[Path]] = {}
    for suffix, own in paths.items():
        files = tuple(own)
        if files not in known:
            known[files] = set(once(files))
        first[suffix] = known[files]
    return [source for source in sources if source.path in first[source.suffix]]


def level_names(sources: Sequence[LevelEntry]) -> list[str]:
    """Return a printable name for each level: its file's stem, with as many folders as tell equal stems apart."""
    paths = list(dict.fromkeys(source.path for source in sources))
    names = dict(zip(paths, _level_names(paths), strict=True))
    return [printable(names[source.path] + source.suffix).replace("\n", "\\n") for source in sources]


def _level_names(paths: Sequence[Path]) -> list[str]:
    names = [path.stem for path in paths]
    for depth in range(1, 1 + max((len(path.parts) for path in paths), default=0)):
        twice = {name for name in names if names.count(name) > 1}
        if not twice:
            break
        names = [
            "/".join((*path.parts[-1 - depth : -1], path.stem)) if name in twice else name
            for name, path in zip(names, paths, strict=True)
        ]
    return [path.name if names.count(name) > 1 else name for name, path in zip(names, paths, strict=True)]


def _range(name: str, first: str, last: str) -> range:
    low, high = int(first), int(last)
    if not low <= high < 2**63 or high - low >= MOST_LEVELS:
        raise SettingsError(
            "a range of levels is out of range",
            found=name,
            expected=f"FIRST-LAST, at most {MOST_LEVELS:,} numbers below 2^63",
        )
    return range(low, high + 1)


def _option(text: str, game: Game) -> tuple[str, str]:
    """Return the name and the value of an option."""
    name, equals, value = text.partition("=")
    parameters = inspect.signature(game.load).parameters.values()
    known = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
    if not equals and VARIANT not in known:
        raise SettingsError(
            f"levels of {game.title} have no variants",
            found=f":{text}",
            expected="LEVEL:OPTION=VALUE with one of the options " + ", ".join(known) if known else "LEVEL alone",
        )
    found = (name, value) if equals else (VARIANT, text)
    level_options(game, dict([found]))
    return found
