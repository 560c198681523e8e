"""The description of a connected game in a TOML file: what is started, with which settings, and the level names.

    name = "tower"                      # the game's name in personas and policies (default: the file's name)
    game = "Build/Tower.app"            # the build, relative to this file's folder; or a program in PATH, such as
                                        # "node"; or "gymnasium:ID" (see `connect.gym`)
    arguments = ["--fast"]              # "{here}" in an argument stands for this file's folder
    cwd = "Build"                       # the game's working directory, relative to this file's folder (default: that
                                        # of the command)
    workers = 4                         # the number of game processes
    slots = 8                           # rollouts under way at once; results depend on it (default: 8, or the number
                                        # of workers if that is larger)
    rollout = "uniform"                 # or "weights": by the weights that the game gives its choices; or "policy"
    policy = "HP - 0.1 * WAY"           # for "policy": the choice with the highest value of this formula after it is
                                        # played (capability lookahead)
    widening = 16                       # with so many choices or more, a decision is searched by some of them first,
                                        # drawn as rollouts draw; 0 for never (default: 16)
    deterministic = true                # false: the level's seed decides what the player cannot know, such as dice and
                                        # hidden traps, so searches play with other seeds (capability seed)
    seeds = 8                           # with deterministic = false: how many seeds a search averages over
    constant = "outside"                # UCB1's constant: outside the root, or "inside" as in Monte Carlo's first code
    scores = "normalised"               # UCB1 without a constant of one's own divides utilities by the range of those
                                        # seen; "raw": it does not
    personas = ["personas/*.toml"]      # files and patterns, relative to this file's folder
    logs = "logs"                       # folder for worker-N.log (default: if the game fails, logs in --out, else a
                                        # temporary one)
    cases = "skirmish.cases.jsonl"      # regression cases: `connect shrink` adds to them, and playtests that require
                                        # crashes == 0 replay them first (default: the file's name with .cases.jsonl)
    film = ["best", "median", "worst"]  # which playthroughs of each player a playtest shows as film strips, if the game
                                        # sends pictures (capability pictures; default: all three); [] for none
    horizon = 100                       # depth of the deepest node of a search (default: the game's own value)
    port = 0                            # 0: the system chooses a port; else worker N listens on port + N

    [timeouts]                          # seconds; 0 for none
    connect = 60
    handshake = 5
    rollout = 30

    [restarts]                          # limits on restarts of failed processes; one does not count if its
                                        # rollout succeeds when repeated (at most one in ten rollouts)
    a_minute = 3
    in_all = 10

    [limits]                            # 0 for none
    memory = 0                          # megabytes of a game process and everything that it has started (Linux)
    rollouts = 0                        # a process is replaced by a new one after this many rollouts
    log = 10                            # megabytes of a worker's log, of which the beginning and the end are kept

    [environment]                       # variables of the game's process; "{here}" works as in arguments
    DOTNET_gcServer = "0"

    [settings]                          # passed to the game unchanged
    gravity = 9.81

    [variants.hard]                     # a design variant, with settings of its own
    gravity = 20

    [maps]                              # sets of levels
    train = ["default", "cave@1-10", "cave:hard@3"]

    [outcome]                           # when a finished game counts as won or lost: formulas over its metrics
    won = "GOAL"
    lost = "DEAD"

    [[metrics]]                         # details of a metric that the game does not report
    symbol = "GOAL"
    meaning = "1 once the goal is reached"
    unit = ""
    better = "higher"

    [[metrics]]
    symbol = "X"                        # X and Y of a game that reports both say where the avatar stands: evolved
    place = false                       # formulas and comparisons leave them out unless `place` is false

A level is written `MAP:VARIANT@SEED`. Each part may be left out; `default` is the game's own map. `cave@1-10` names ten
levels, `cave@1` to `cave@10`.
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
from persona_evo.connect.scores import NORMALISED
from persona_evo.errors import ConnectError, Place, SettingsError, has_control, nearest, unknown
from persona_evo.games import textfile
from persona_evo.games.outside import FILMED

MAX_BYTES = 2**20
MOST_LEVELS = 100_000
"""The largest total number of levels that names and sets may stand for. A level counts every time it is named."""
MOST_NESTED = 50
"""The largest nesting depth of sets."""
MOST_SLOTS, MOST_SEEDS = 4096, 256
WIDENING = 16
"""The default number of choices from which a decision is searched by some of its choices first."""
SEEDS = 8
"""The default number of game seeds that searches average over where a game's seed decides what a player cannot know."""
SLOTS = 8
"""The default number of rollouts under way. It is the same for 1 to 8 workers, so their results are the same, and it is
large enough that the process of a fast game does not wait between two orders."""
HERE = "{here}"
"""The placeholder for the file's folder in arguments and environment variables."""
GAME_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
CASES = ".cases.jsonl"
"""The suffix of the file of regression cases beside the description, which may name another file."""
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


@dataclass(frozen=True)
class MetricWords:
    """Holds what the file says about a metric (see `persona_evo.games.core.Metric`).

    `place` counts for X and Y alone.
    """

    symbol: str
    name: str = ""
    meaning: str = ""
    unit: str = ""
    better: str = "neutral"
    place: bool = True


@dataclass(frozen=True)
class Description:
    """Holds the content of a description file; the module's docstring explains the keys.

    Attributes:
        source: the file.
        folder: the game's working directory (`cwd` in the file); None for that of the command.
        outcome: the formulas `won` and `lost`; "" for one that is not given.
        factory: starts the game where a program, not a file, describes it.
        attachment: how to reach a game that runs already; None for one that is started.
    """

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
    widening: int
    deterministic: bool
    seeds: int
    constant: str
    scores: str
    personas: tuple[Path, ...]
    logs: Path | None
    cases: Path
    film: tuple[str, ...]
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

    @property
    def worlds(self) -> int:
        """The number of game seeds that searches average over; 0 if they play with the level's own."""
        return 0 if self.deterministic else self.seeds

    def settings_for(self, variant: str) -> dict[str, Any]:
        """Return the settings of a variant: those of the game, overridden by the variant's own."""
        return {**self.settings, **self.variants.get(variant, {})}

    def placed(self, text: str) -> str:
        """Return an argument or a variable with this file's folder in place of `{here}`."""
        return text.replace(HERE, str(self.source.parent))

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


def plain(game: Path, factory: Factory | None = None) -> Description:
    """Return a description with the defaults, for a program that has none.

    Args:
        game: the program; only a name where a factory starts the game.
        factory: starts the game, if given.
    """
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
        widening=WIDENING,
        deterministic=True,
        seeds=SEEDS,
        constant="outside",
        scores=NORMALISED,
        personas=(),
        logs=None,
        cases=game.with_suffix(CASES),
        film=FILMED,
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
    """Return the position of a key within its table, or at the top level; only the file if the key is not found."""
    pattern = re.compile(rf"\s*(?:\[+\s*(?:[\w.-]+\.)?)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
    inside = not table
    for i, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[+\s*{re.escape(table)}\b", line) and table:
            inside = True
        if inside and pattern.match(line):
            return Place(source, i, len(line) - len(line.lstrip()) + 1)
    return Place(source)
