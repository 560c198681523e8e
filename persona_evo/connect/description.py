"""A connected game in a TOML file: what is started, with what, and what its levels are called.

    name = "tower"                      # as personas and policies call it (default: the file's name)
    game = "Build/Tower.app"            # the build, from this file's folder; or a program in PATH, such as "node"; or
                                        # "gymnasium:ID" (see `connect.gym`)
    arguments = ["--fast"]              # "{here}" in one stands for this file's folder
    cwd = "Build"                       # folder that the game runs in, from this file's folder (default: that of the
                                        # command)
    workers = 4                         # game processes
    slots = 8                           # rollouts under way at once; results depend on it (default: 8, or workers
                                        # if there are more)
    rollout = "uniform"                 # or "weights": by the weights that the game gives its choices; or "policy"
    policy = "HP - 0.1 * WAY"           # with "policy": the choice after which this is highest (capability lookahead)
    constant = "outside"                # UCB1's constant: outside the root, or "inside" as in Monte Carlo's first code
    personas = ["personas/*.toml"]      # files and patterns, from this file's folder
    logs = "logs"                       # folder for worker-N.log (default: if the game fails, logs in --out, else a
                                        # temporary one)
    horizon = 100                       # deepest node of a search (default: what the game says)
    port = 0                            # 0: the system's choice; else worker N listens on port + N

    [timeouts]                          # seconds; 0 for none
    connect = 60
    handshake = 5
    rollout = 30

    [restarts]                          # of processes that failed, but for those whose rollout went well when it was
                                        # repeated, one in ten rollouts at most
    a_minute = 3
    in_all = 10

    [limits]                            # 0 for none
    memory = 0                          # megabytes of a game process and all that it has started (Linux)
    rollouts = 0                        # after so many a process is replaced by a new one
    log = 10                            # megabytes of a worker's log, of which the beginning and the end are kept

    [environment]                       # variables of the game's process; "{here}" as in arguments
    DOTNET_gcServer = "0"

    [settings]                          # passed to the game as they are
    gravity = 9.81

    [variants.hard]                     # a design variant, with settings of its own
    gravity = 20

    [maps]                              # sets of levels
    train = ["default", "cave@1-10", "cave:hard@3"]

    [outcome]                           # what counts as won and lost at a game's end, as formulas over its metrics
    won = "GOAL"
    lost = "DEAD"

    [[metrics]]                         # more about a metric than the game says
    symbol = "GOAL"
    meaning = "1 once the goal is reached"
    unit = ""
    better = "higher"

A level is `MAP:VARIANT@SEED`, each part of which may be left out: `default` is the game's own map. `cave@1-10` names
ten levels, `cave@1` to `cave@10`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.connect.process_start import Attachment, Factory, Limits, Timeouts
from persona_evo.connect.restarts import Restarts
from persona_evo.errors import ConnectError, Place, SettingsError, has_control, nearest, unknown
from persona_evo.games import textfile

MAX_BYTES = 2**20
MOST_LEVELS = 100_000
"""Levels that names and sets may stand for in all, each counted every time it is named."""
MOST_NESTED = 50
"""Sets within each other."""
MOST_SLOTS = 4096
SLOTS = 8
"""Rollouts under way unless a file says otherwise: the same for 1 to 8 workers, whose results are then the same, and
enough that a fast game's process does not wait between two orders."""
HERE = "{here}"
"""What stands for the file's folder in arguments and variables."""
GAME_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LEVEL = re.compile(r"(?P<map>[^:@]*)(?::(?P<variant>[^:@]*))?(?:@(?P<seed>[0-9]+)(?:-(?P<last>[0-9]+))?)?")
_SEEDS = 2**63


@dataclass(frozen=True, order=True)
class LevelName:
    """A level of a connected game: map and variant ("" for the game's own) and the game's seed."""

    map: str = ""
    variant: str = ""
    seed: int = 0

    def __str__(self) -> str:
        variant = f":{self.variant}" if self.variant else ""
        seed = f"@{self.seed}" if self.seed else ""
        return f"{self.map or 'default'}{variant}{seed}"


@dataclass(frozen=True)
class MetricWords:
    """What the file says of a metric."""

    symbol: str
    name: str = ""
    meaning: str = ""
    unit: str = ""
    better: str = "neutral"


@dataclass(frozen=True)
class Description:
    """What a file says (see the module). source: the file. outcome: `won` and `lost`, "" where not given. factory: what
    starts the game where a program, not a file, says so."""

    source: Path
    name: str
    game: Path
    arguments: tuple[str, ...]
    folder: Path | None
    environment: Mapping[str, str]
    workers: int
    slots: int
    rollout: str
    policy: str
    constant: str
    personas: tuple[Path, ...]
    logs: Path | None
    horizon: int
    port: int
    timeouts: Timeouts
    restarts: Restarts
    limits: Limits
    settings: Mapping[str, Any]
    variants: Mapping[str, Mapping[str, Any]]
    maps: Mapping[str, tuple[str, ...]]
    outcome: tuple[str, str]
    metrics: tuple[MetricWords, ...]
    factory: Factory | None = None
    attachment: Attachment | None = None

    def settings_for(self, variant: str) -> dict[str, Any]:
        """The settings of a variant."""
        return {**self.settings, **self.variants.get(variant, {})}

    def placed(self, text: str) -> str:
        """An argument or a variable with this file's folder in place of `{here}`."""
        return text.replace(HERE, str(self.source.parent))

    def levels(self, names: Sequence[str]) -> list[LevelName]:
        """The levels that names, ranges of seeds and sets stand for, each once, in the order named.

        Raises:
            SettingsError: a name is no level, a set holds itself, or there are more than MOST_LEVELS.
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
        """The level of a name that stands for one. sets: the name may be that of a set with one level."""
        found = list(itertools.islice(self._levels(name, () if sets else tuple(self.maps)), 2))
        if len(found) != 1:
            raise SettingsError("this names several levels", found=name, expected="one level")
        return found[0]

    def unchecked(self, levels: Sequence[LevelName]) -> list[str]:
        """What of these levels the file says nothing of, so that the game alone can tell whether it is there."""
        named = [self._parts(e)[0] for entries in self.maps.values() for e in entries if e not in self.maps]
        known, found = {name or "default": None for name in ["", *named]}, []
        for map_ in dict.fromkeys(level.map for level in levels):
            if map_ and map_ not in known:
                near = nearest(map_, known)
                found.append(
                    f"{self.source.name} names no map {map_} in [maps], so the game alone can tell whether "
                    "there is one" + (f"; did you mean {near!r}?" if near else "")
                )
        for variant in dict.fromkeys(level.variant for level in levels):
            if variant and variant not in self.variants:
                found.append(
                    f"{self.source.name} has no [variants.{variant}], so the game alone can tell whether "
                    "there is such a variant"
                )
        return found

    def place(self, key: str, table: str = "") -> Place:
        """Where a key stands in the file."""
        return key_place(textfile.read_text(self.source, MAX_BYTES, ConnectError), str(self.source), key, table)

    def _levels(self, name: str, within: tuple[str, ...]) -> Iterator[LevelName]:
        """The levels of a name, one by one. within: the sets that it stands in, which it cannot mean."""
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
        """Map, variant and seeds of a name that is no set's.

        Raises:
            SettingsError: it is none.
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
        """Refuse entries of sets that are no levels.

        Raises:
            ConnectError: with the set's place.
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
    """The seed that is spelled; one that is out of range for so many digits that nobody needs to read them."""
    return int(digits) if len(digits) < 40 else _SEEDS


def plain(game: Path, factory: Factory | None = None) -> Description:
    """A description of a program that has none, with the defaults; `game` is just a name where a factory starts it."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", game.stem)
    return Description(
        source=game,
        name=name if GAME_NAME.fullmatch(name) else f"game_{name}",
        game=game,
        arguments=(),
        folder=None,
        environment={},
        workers=1,
        slots=1,
        rollout="uniform",
        policy="",
        constant="outside",
        personas=(),
        logs=None,
        horizon=0,
        port=0,
        timeouts=Timeouts(),
        restarts=Restarts(),
        limits=Limits(),
        settings={},
        variants={},
        maps={},
        outcome=("", ""),
        metrics=(),
        factory=factory,
    )


def key_place(text: str, source: str, key: str, table: str = "") -> Place:
    """Where a key stands: within its table, or at the top; the file alone where it is not found."""
    pattern = re.compile(rf"\s*(?:\[+\s*(?:[\w.-]+\.)?)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
    inside = not table
    for i, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[+\s*{re.escape(table)}\b", line) and table:
            inside = True
        if inside and pattern.match(line):
            return Place(source, i, len(line) - len(line.lstrip()) + 1)
    return Place(source)
