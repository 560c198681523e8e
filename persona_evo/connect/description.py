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
    priors = true                       # with rollout = "weights", such a decision is searched in the order of the
                                        # game's weights; false: in the order in which rollouts draw
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

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.connect.level_names import LevelNames
from persona_evo.connect.process_start import Attachment, Factory, Limits, Timeouts
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.scores import NORMALISED
from persona_evo.games.outside import FILMED

MOST_SLOTS = 4096
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
class Description(LevelNames):
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
    priors: bool
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

    def uses_priors(self, capabilities: Collection[str]) -> bool:
        """Return whether searches with the level's seed try the choices of wide decisions by their weights."""
        return self.priors and self.widening > 0 and self.rollout == "weights" and "weights" in capabilities

    def settings_for(self, variant: str) -> dict[str, Any]:
        """Return the settings of a variant: those of the game, overridden by the variant's own."""
        return {**self.settings, **self.variants.get(variant, {})}

    def placed(self, text: str) -> str:
        """Return an argument or a variable with this file's folder in place of `{here}`."""
        return text.replace(HERE, str(self.source.parent))


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
        priors=True,
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
