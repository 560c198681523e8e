"""Runs one search for the best score, with the parameter names of the thesis."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.arguments import checked, checked_fields
from persona_evo.connect.ordering import Ordering
from persona_evo.connect.search import INSIDE, OUTSIDE
from persona_evo.connect.traces import Trace
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import SettingsError, unknown
from persona_evo.experiments.subject import ExperimentLevel, Source, open_stage
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.words import counted, figure

MOST_ROLLOUTS = 100_000_000
MOST_WORKERS = 256
TERMINAL = ("cut_off", "revisit")
CONSTANT = (OUTSIDE, INSIDE)
TREE, BEST = "tree.npz", "best.json"
_PATHS = 64
"""Number of whole traces for which a tree has room besides its rollouts."""

Growth = list[tuple[int, float]]
"""(rollout from 1, score) of each rollout that scored more than all before it."""

INTERRUPTED = "Ctrl-C"
"""Why a search ended that was interrupted."""


@dataclass(frozen=True)
class SearchSpec:
    """The settings of a search.

    Attributes:
        rollouts: maximum number; fewer are made once everything is known.
        workers: rollouts in progress at once.
        uct_constant: close to the score of a moderately good player, since scores are not scaled.
        constant: OUTSIDE the root, as in the text of the thesis, or INSIDE it, as in the first code of the thesis,
            where 1000 weighs as much as 31.6 does outside.
        terminal: whether known ends are cut off or revisited.
        save_best_path: whether each new best rollout is added to the tree as a whole.
    """

    rollouts: int = 30_000
    workers: int = 1
    uct_constant: float = 1000.0
    constant: str = OUTSIDE
    terminal: str = "cut_off"
    save_best_path: bool = False

    def __post_init__(self) -> None:
        for name, most in (("rollouts", MOST_ROLLOUTS), ("workers", MOST_WORKERS)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise SettingsError(
                    f"{name} is out of range", found=repr(value), expected=f"a whole number from 1 to {most}"
                )
        c = self.uct_constant
        if isinstance(c, bool) or not isinstance(c, (int, float)) or not 0 <= c <= 1e12:
            raise SettingsError("uct_constant is out of range", found=repr(c), expected="a number from 0 to 1e12")
        for name, known in (("constant", CONSTANT), ("terminal", TERMINAL)):
            value = getattr(self, name)
            if value not in known:
                expected, hint = unknown(str(value), known)
                raise SettingsError(f"no such {name}", found=repr(value), expected=expected, hint=hint)
        if not isinstance(self.save_best_path, bool):
            raise SettingsError(
                "save_best_path is neither true nor false", found=repr(self.save_best_path), expected="true or false"
            )


@checked_fields()
@dataclass(repr=False)
class Run:
    """The result of a search. It unpacks to (tree, growth).

    Attributes:
        tree: the tree that was built, to be walked.
        growth: growth of the best score.
        best: the best way to play, from start to end.
        rollouts, lost: rollouts played to an end, and those in which the game failed.
        stopped: budget, exhausted, memory, or Ctrl-C, which ends a search early.
        proven: whether no way to play scores more.
        seconds: duration.
        findings: what made a connected game fail.
    """

    tree: PrefixTree
    growth: Growth
    best: Trace
    rollouts: int
    lost: int
    stopped: str
    proven: bool
    seconds: float
    seed: int
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        how = f"interrupted by {INTERRUPTED}" if self.stopped == INTERRUPTED else self.stopped
        return (
            f"{self.best.level} of {self.best.game}: best score {figure(self.score)}{' (proven)' * self.proven} "
            f"after {counted(self.rollouts, 'rollout')} ({how}), seed {self.seed}"
        )

    def __repr__(self) -> str:
        return f"<Run of {self}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook."""
        return f"<p>Search of {html.escape(str(self))}</p>"

    def __iter__(self) -> Iterator[Any]:
        return iter((self.tree, self.growth))

    @property
    def score(self) -> float:
        """The best score seen."""
        return self.best.utility

    @checked
    def save(self, folder: str | Path) -> Path:
        """Write tree.npz and best.json into a new or existing folder; `PrefixTree.load` and `traces.load` read them."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.tree.save(folder / TREE)
        self.best.save(folder / BEST)
        return folder


@checked
def run(
    factory: Source,
    num_samples: int = 30_000,
    num_workers: int = 1,
    callback: Callable[[PrefixTree], object] | None = None,
    uct_constant: float = 1000.0,
    terminal_treatment: str = "cut_off",
    save_best_path: bool = False,
    settings: Mapping[str, Any] | str | None = None,
    seed: int = 0,
    *,
    level: str = "",
    score: str = "",
    persona: str = "",
    constant: str = OUTSIDE,
) -> Run:
    """Search a level of a game for the best score.

    Args:
        factory: a game of the catalog, a connected game's file, a program, or a function that starts a game:
            factory(address, port, nonce) -> Popen, with the environment of `connect.launch.variables`.
        num_samples: number of rollouts.
        num_workers: rollouts in progress at once (with virtual loss). Connected games run in as many processes; games
            of the catalog run in this process and give the same result.
        callback: called with the tree after every 256 rollouts, and at the end.
        uct_constant, terminal_treatment, save_best_path, constant: see `SearchSpec`; CUT_OFF is cut_off.
        settings: passed to the game: options of a level of the catalog; a text names the variant of a connected game.
        seed: determines all random choices of the search.
        level: a name or file of the game's levels, MAP:VARIANT@SEED for connected games (default: the game's first).
        score, persona: a goal other than the game's own score: a formula over its metrics, or a persona.

    Returns:
        The result; after Ctrl-C, that of the rollouts made so far.

    Raises:
        PersonaEvoError: no such game, level or setting; or the game fails.
        KeyboardInterrupt: Ctrl-C was pressed before the first rollout ended.
    """
    how = SearchSpec(num_samples, num_workers, uct_constant, constant, str(terminal_treatment).lower(), save_best_path)
    stage = open_stage(factory, level, settings, num_workers)
    try:
        return search(stage, how, seed, score=score, persona=persona, tell=callback, partly=True)
    finally:
        stage.close()


def search(
    stage: ExperimentLevel,
    how: SearchSpec,
    seed: int,
    *,
    score: str = "",
    persona: str = "",
    tell: Callable[[PrefixTree], object] | None = None,
    progress: Callable[[int], object] | None = None,
    partly: bool = False,
) -> Run:
    """Search an open level (arguments as for `run`).

    Args:
        progress: called with the number of rollouts made.
        partly: whether Ctrl-C gives the result of the rollouts made so far.
    """
    utility = stage.utility(score, persona)
    rules = SearchSettings(
        terminal=how.terminal, expansion="random", value="mean", selection="child", finish=0.0, lists=()
    )
    ordering = Ordering(how.workers, inside=how.constant == INSIDE, whole=how.save_best_path)
    most = how.rollouts + how.workers + 1 + how.save_best_path * _PATHS * stage.game.horizon
    began = time.perf_counter()
    made = stage.search(utility, TreePolicy.ucb1(float(how.uct_constant)), rules, ordering, seed, most)

    def told(done: int) -> None:
        if tell is not None:
            tell(made.tree)
        if progress is not None:
            progress(done)

    try:
        made.spend(Budget(how.rollouts), began, told)
    except KeyboardInterrupt:
        if not partly or made.best is None:
            raise
        made.stopped = INTERRUPTED
    if tell is not None:
        tell(made.tree)
    best = made.best
    assert best is not None
    trace = Trace(stage.game.name, stage.name, best.utility, best.score, best.metrics, best.trace)
    findings = [str(f) for f in made.pool.findings]
    return Run(
        made.tree,
        made.growth,
        trace,
        made.iterations,
        made.lost,
        made.stopped,
        made.proven,
        time.perf_counter() - began,
        seed,
        findings,
    )


def best_at(growth: Growth, rollout: int) -> float:
    """Return the best score after this many rollouts, NaN before the first. The notebooks draw curves with it."""
    found = math.nan
    for number, value in growth:
        if number > rollout:
            break
        found = value
    return found
