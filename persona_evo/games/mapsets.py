"""Finds the levels that a user names, by the same rules for every command.

| name | meaning |
|---|---|
| `train`, `test`, `all` | a set of the levels that ship with the game |
| `train03` | one of these levels |
| `my/level.txt`, `my/level` | a file, whose suffix may be left out |
| `my/levels` | a folder: all its level files, `map2` before `map10` |
| `my/*.txt`, `my/**/a?.txt` | all level files that match, even if the shell does not expand the pattern |
| `sets.toml#train` | the array `train` of a TOML file |
| `sets.toml` | all arrays of that file, one after the other |
| `train01,train02` | several of these, if there is no file of that name |
| `train01-04`, `train01@11-14` | ranges of levels or of seeds, likewise (see `level_ranges`) |

Arrays are at the top level of a TOML file or in its table `[sets]`.

A level file has one of the game's own suffixes, or one that an `Importer` of another package reads. Folders, patterns
and names without a suffix stand for files in the game's own format; files to import are used only if there are none.

Shipped names take precedence, so that `test` means the same in every folder; write `./test` for a folder of that name.
An entry of a TOML array is the name of another array of the file, a file relative to the TOML file's folder, or a
shipped name, in this order. A level that is named twice is used once, at its first position.
"""

from __future__ import annotations

import functools
import glob
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.errors import InputError, LevelError, Place, SettingsError, has_control, nearest
from persona_evo.games import importers, level_ranges, textfile
from persona_evo.games.level_files import (
    entries,
    existing,
    fold,
    home,
    is_level,
    level_files,
    natural,
    once,
    with_suffix,
)
from persona_evo.games.level_ranges import LevelEntry, LevelRange

if TYPE_CHECKING:
    from persona_evo.games.core import Game, Level

SETS_FILE = "sets.toml"
"""The file in a game's folder of shipped levels that names its sets; its table `about` has a line on each level."""

MAX_BYTES = 16 * 2**20
"""The largest level file or set file that is read, in bytes."""
MOST_LOOKED_AT = 200_000
"""The total number of files and folders that the patterns of a command may look at."""

MAX_DEPTH = 50
"""The largest nesting depth of sets."""

_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Shipped:
    """Holds the levels that ship with a game: name -> file, set name -> level names, level name -> a line about it."""

    levels: Mapping[str, Path] = field(default_factory=dict)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)


def resolve(game: Game, names: Sequence[str], options: Mapping[str, Any] | None = None, **more: Any) -> list[Level]:
    """Load the levels that `names` stand for.

    Args:
        game: the game, whose `load` reads the levels.
        names: names of levels (see the table of this module).
        options: passed to `game.load`; they may also be given as keywords.

    Raises:
        SettingsError: a name stands for nothing, a folder, pattern or set is empty, or a set file is damaged.
        LevelError: a file is not a level.
        GameError: the game is a Python class that breaks its contract (a quick check, see `check.glance`).
    """
    settings = {**(options or {}), **more}
    if game.outside is not None:
        return [game.load(text, text, **settings) for text in game.outside.levels(names)]
    sources = find(game, names)
    return [
        load(game, source, name, settings)
        for name, source in zip(level_ranges.level_names(sources), sources, strict=True)
    ]


def load(game: Game, source: LevelEntry, name: str, options: Mapping[str, Any]) -> Level:
    """Load the level in a file.

    Raises:
        SettingsError, LevelError, GameError: as in `resolve`.
    """
    text = source.seeded(read_text(source.path))
    level = importers.load(game, source.path, text, name, {**options, **dict(source.options)})
    if not game.compiled:
        from persona_evo.games.check import glance

        glance(game, level)
    return level


def count(game: Game, names: Sequence[str]) -> int:
    """Return the number of levels that `names` stand for.

    Raises:
        SettingsError: as in `resolve`.
    """
    return len(find(game, names) if game.outside is None else game.outside.levels(names))


def find(game: Game, names: Sequence[str]) -> list[LevelEntry]:
    """Return the levels that `names` stand for, without repeats, in the order named; do not read their files.

    Raises:
        SettingsError: as in `resolve`.
    """
    if game.outside is not None:
        raise SettingsError(
            "levels of a connected game are not files",
            found=", ".join(map(str, names)),
            hint="the game itself reads its maps",
        )
    if not names:
        raise SettingsError(
            "no levels are named",
            expected="at least one file, folder, pattern, level or set",
            hint=_known(shipped(game)),
        )
    finder = _Finder(game)
    return level_ranges.distinct(source for name in names for source in finder.name(str(name)))


def shipped(game: Game) -> Shipped:
    """Return the levels, sets and descriptions that ship with the game; empty if there are none."""
    if game.outside is not None:
        return Shipped(sets=game.outside.sets)
    if not game.levels or not (folder := Path(game.levels)).is_dir():
        return Shipped()
    stamps = [
        (s.st_mtime_ns, s.st_size) for path in (folder, folder / SETS_FILE) if path.exists() and (s := path.stat())
    ]
    return _shipped(folder, tuple(game.level_suffixes), tuple(stamps))


@functools.lru_cache(maxsize=8)
def _shipped(folder: Path, suffixes: tuple[str, ...], stamps: tuple[tuple[int, int], ...]) -> Shipped:
    """Return what a folder of shipped levels holds; `stamps` are times and sizes that differ once it has changed."""
    data = _read_toml(folder / SETS_FILE) if (folder / SETS_FILE).is_file() else {}
    sets = {key: tuple(value) for key, value in data.items() if isinstance(value, list)}
    return Shipped({path.stem: path for path in level_files(folder, suffixes)}, sets, data.get("about", {}))


def read_text(path: Path) -> str:
    """Return the content of a text file without a byte order mark.

    Raises:
        LevelError: it is missing, not a regular file, unreadable, too large, binary, or not UTF-8 (with its place).
    """
    return textfile.read_text(path, MAX_BYTES, LevelError)


class _Finder:
    """Looks up names for one game: `name` for what users type, `entry` for the entries of a TOML array."""

    def __init__(self, game: Game) -> None:
        self.game, self.suffixes = game, game.level_suffixes
        self.shipped = shipped(game)
        self._open: list[tuple[Path, str]] = []
        self._known: dict[tuple[Path, str], list[Path]] = {}
        self._looked_at = 0

    def name(self, name: str) -> list[LevelEntry]:
        parts = [part.strip() for part in name.split(",")]
        several = len(parts) > 1 and all(parts)
        try:
            found = None if "\0" in name else self._shipped(name) or self._on_disk(name, Path())
        except SettingsError:  # a pattern without matches
            if not several:
                raise
            found = None
        if found is not None:
            return [LevelEntry(path) for path in found]
        ranged = LevelRange.parse(name)
        if several:
            return [source for part in parts for source in self.name(part)]
        if ranged is not None:
            return ranged.sources([source.path for source in self.name(ranged.level)], self.game)
        numbered = level_ranges.numbered(name)
        if not numbered:
            raise self._unknown(name, Path())
        return [source for part in numbered for source in self.name(part)]

    def entry(self, entry: str, toml: Path, data: Mapping[str, Any], within: str) -> list[Path]:
        """Return what an entry of the array `within` stands for; the array's own name means a file or shipped name."""
        if entry in data and entry != within:
            return self._array(entry, toml, data)
        place = _line_of(entry, toml) if _GLOB.search(entry) else None
        found = self._on_disk(entry, toml.parent, place) or self._shipped(entry)
        if found is None:
            raise self._unknown(entry, toml.parent, _line_of(entry, toml))
        return found

    def _shipped(self, name: str) -> list[Path] | None:
        sets = {fold(key): key for key in self.shipped.sets}
        levels = {fold(key): key for key in self.shipped.levels}
        if fold(name) in sets:
            return [self._member(member, sets[fold(name)]) for member in self.shipped.sets[sets[fold(name)]]]
        return [self.shipped.levels[levels[fold(name)]]] if fold(name) in levels else None

    def _member(self, member: str, of: str) -> Path:
        if member not in self.shipped.levels:
            raise SettingsError(
                f"the shipped set {of!r} names a level that does not exist",
                found=member,
                expected="one of " + ", ".join(self.shipped.levels),
                hint=f"repair {SETS_FILE} of the game, or reinstall the game",
            )
        return self.shipped.levels[member]

    def _on_disk(self, name: str, base: Path, place: Place | None = None) -> list[Path] | None:
        from persona_evo.games.generating import GENERATE

        path = existing(base, name)
        if path is None:
            path = with_suffix(base, name, self.suffixes) or with_suffix(base, name, self._imported)
        if path is not None:
            return self._path(path)
        file, mark, key = name.rpartition("#")
        if mark and file.lower().endswith(".toml"):
            toml = existing(base, file)
            return None if toml is None else self._toml(toml, key)
        if name.startswith(GENERATE):
            raise SettingsError(
                "only evolve generates levels",
                place=place,
                found=name,
                expected="existing levels",
                hint="persona-evo level generate --count N --seed S --out FOLDER writes them; then name FOLDER",
            )
        return self._glob(name, base, place or Place(name)) if _GLOB.search(name) else None

    @property
    def _imported(self) -> tuple[str, ...]:
        """The suffixes of files that other packages import."""
        return importers.suffixes(self.game)

    def _path(self, path: Path) -> list[Path]:
        if not path.is_dir():
            return self._toml(path) if path.suffix.lower() == ".toml" else [path]
        files = level_files(path, self.suffixes) or level_files(path, self._imported)
        if not files:
            raise SettingsError(
                "the folder has no level files",
                place=Place(str(path)),
                expected="files that end in " + " or ".join((*self.suffixes, *self._imported)),
                hint="subfolders are not searched; a pattern with ** includes them",
            )
        return files

    def _glob(self, name: str, base: Path, place: Place) -> list[Path]:
        hits: list[str] = []
        for pattern in dict.fromkeys((name, name.replace("\\", "/"))):
            if not hits:
                self._look(place, base / home(pattern))
            hits = hits or glob.glob(str(Path(glob.escape(str(base))) / home(pattern)), recursive=True)
        files = [Path(hit) for hit in hits if is_level(Path(hit), self.suffixes)]
        if hits and not files:
            files = [Path(hit) for hit in hits if is_level(Path(hit), self._imported)]
        if not files:
            found = f"{len(hits)} other files or folders" if hits else "nothing"
            raise SettingsError(
                "the pattern matches no level files",
                place=place,
                found=found,
                expected="files that end in " + " or ".join((*self.suffixes, *self._imported)),
                hint="patterns are relative to the current folder (to the file's folder in a TOML file)",
            )
        return sorted(files, key=lambda file: natural(str(file)))

    def _look(self, place: Place, pattern: Path) -> None:
        """Count the files and folders that a pattern has to look at.

        Raises:
            SettingsError: together with all earlier patterns, there are at least MOST_LOOKED_AT.
        """
        parts = pattern.parts
        first = next((i for i, part in enumerate(parts) if _GLOB.search(part)), len(parts))
        depth = sys.maxsize if any("**" in part for part in parts) else len(parts) - first
        self._looked_at += entries(Path(*parts[:first]), depth, MOST_LOOKED_AT - self._looked_at)
        if self._looked_at >= MOST_LOOKED_AT:
            raise SettingsError(
                "the patterns search too many files",
                place=place,
                found=f"more than {MOST_LOOKED_AT:,} files and folders",
                hint="name a folder closer to the levels, or use fewer patterns",
            )

    def _toml(self, path: Path, key: str | None = None) -> list[Path]:
        data = {k: v for k, v in _read_toml(path).items() if isinstance(v, list)}
        if key is not None and key not in data:
            near = nearest(key, data)
            raise SettingsError(
                f"the file has no set {key!r}",
                place=Place(str(path)),
                expected="one of " + ", ".join(data) if data else 'an array such as train = ["map01", "map02"]',
                hint=f"did you mean {near!r}?" if near else None,
            )
        if not data:
            raise SettingsError(
                "the file has no sets", place=Place(str(path)), expected='an array such as train = ["map01", "map02"]'
            )
        return once(p for k in ([key] if key else data) for p in self._array(k, path, data))

    def _array(self, key: str, toml: Path, data: Mapping[str, Any]) -> list[Path]:
        entries, here = data[key], (toml.resolve(), key)
        if here in self._known:
            return self._known[here]
        if here in self._open or len(self._open) >= MAX_DEPTH:
            start = self._open.index(here) if here in self._open else 0
            chain = [k if f == here[0] else f"{f.name}#{k}" for f, k in (*self._open[start:], here)]
            around = "a set of levels contains itself" if here in self._open else "sets of levels are nested too deeply"
            raise SettingsError(
                around,
                place=_line_of(key, toml),
                hint="delete one of these entries",
                found=("cycle: " if here in self._open else "") + " -> ".join(chain),
            )
        if not entries:
            raise SettingsError(f"the set {key!r} is empty", place=Place(str(toml)), expected="at least one level")
        self._open.append(here)
        found = [path for entry in entries for path in self.entry(entry, toml, data, key)]
        self._open.pop()
        self._known[here] = list(dict.fromkeys(found))
        return self._known[here]

    def _unknown(self, name: str, base: Path, place: Place | None = None) -> InputError:
        names = [*self.shipped.sets, *self.shipped.levels]
        folder = (base / home(name.replace("\\", "/"))).parent
        looks_like_path = any(sep in name for sep in "/\\") or name.lower().endswith((*self.suffixes, ".toml"))
        files = [path.name for path in level_files(folder, self.suffixes)] if folder.is_dir() else []
        near = nearest(Path(name.replace("\\", "/")).name, files) if looks_like_path else nearest(name, names)
        if near and looks_like_path:
            near = str(Path(name.replace("\\", "/")).parent / near)
        missing = f"there is no folder {str(folder)!r}; " if looks_like_path and not folder.is_dir() else ""
        return SettingsError(
            "no such level, file, folder or set",
            place=place,
            found=name,
            expected="a file, folder or pattern, a set as FILE.toml#NAME, or " + _known(self.shipped),
            hint=missing + (f"did you mean {near!r}?" if near else "check the spelling and the current folder"),
        )


def _known(known: Shipped) -> str:
    if not known.levels:
        return "nothing else: no levels ship with this game"
    return f"a set ({', '.join(known.sets)}) or a level ({', '.join(known.levels)}) that ships with the game"


def _read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a set file: its arrays of strings, including those of its table `sets`, and its tables."""
    text = read_text(path)
    data = textfile.toml(text, str(path), SettingsError, 'lines such as train = ["map01", "map02"]')
    if isinstance(data.get("sets"), dict):
        data = {**{k: v for k, v in data.items() if k != "sets"}, **data["sets"]}
    for key, value in data.items():
        if isinstance(value, dict):
            continue
        if has_control(key) or "\n" in key:
            raise SettingsError("not a name for a set", place=Place(str(path)), found=repr(key), expected="plain text")
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise SettingsError(
                f"{key!r} is not a set of levels",
                place=Place(str(path), _line(text, re.compile(rf"^\s*[\"']?{re.escape(key)}\b", re.MULTILINE))),
                found=textfile.shown(value),
                expected=f'an array of names: {key} = ["map01", "map02"]',
            )
    return data


def _line_of(entry: str, toml: Path) -> Place:
    return Place(str(toml), _line(read_text(toml), re.compile(rf"[\"']{re.escape(entry)}[\"']")))


def _line(text: str, pattern: re.Pattern[str]) -> int:
    hit = pattern.search(text)
    return text.count("\n", 0, hit.start()) + 1 if hit else 0
