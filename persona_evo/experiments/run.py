"""One search for the best score, with the names of the thesis' interface."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.connect.search import INSIDE, OUTSIDE, Ordering
from persona_evo.connect.traces import Trace
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import SettingsError, unknown
from persona_evo.experiments.subject import ExperimentLevel, Source, open_stage
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

MOST_ROLLOUTS = 100_000_000
MOST_WORKERS = 256
TERMINAL = ("cut_off", "revisit")
CONSTANT = (OUTSIDE, INSIDE)
TREE, BEST = "tree.npz", "best.json"
_PATHS = 64
"""Whole traces for which a tree has room beside its rollouts."""

Growth = list[tuple[int, float]]
"""(rollout from 1, score) of each rollout that was better than all before it."""


@dataclass(frozen=True)
class SearchSpec:
    """How a search is made.

    rollouts: at most; fewer where everything is known before. workers: rollouts under way at once. uct_constant: near
    the score of a moderately good player, since scores are not scaled. constant: it stands outside the root, as in the
    thesis' text, or inside, as in its first code, where 1000 weighs as much as 31.6 does outside. terminal: known ends
    are cut off or revisited. save_best_path: each new best rollout comes into the tree whole.
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
                "save_best_path is not a truth value", found=repr(self.save_best_path), expected="true or false"
            )


@dataclass
class Run:
    """What a search came to. Unpacked, it is (tree, growth).

    tree: to be walked. growth: of the best score. best: the best way to play, whole. rollouts, lost: played to an end,
    and those in which the game failed. stopped: budget, exhausted, memory. proven: no way to play scores more. seconds:
    it took. findings: what made a connected game fail.
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

    def __iter__(self) -> Iterator[Any]:
        return iter((self.tree, self.growth))

    @property
    def score(self) -> float:
        """The best one seen."""
        return self.best.utility

    def save(self, folder: str | Path) -> Path:
        """Write tree.npz and best.json into a folder, which is made. `PrefixTree.load` and `traces.load` read them."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.tree.save(folder / TREE)
        self.best.save(folder / BEST)
        return folder


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
        factory: a game of the catalog, a connected game's file, a program, or what starts one: factory(address, port,
            nonce) -> Popen, with the environment of `connect.launch.variables`.
        num_samples: rollouts.
        num_workers: rollouts under way at once (with virtual loss), of connected games in as many processes; games of
            the catalog are played in this process and give the same result.
        callback: called with the tree after every 256 rollouts, and at the end.
        uct_constant, terminal_treatment, save_best_path, constant: see Search; CUT_OFF is cut_off.
        settings: passed to the game: options of a level of the catalog; a text names the variant of a connected game.
        seed: of all random choices of the search.
        level: a name or file of the game's levels, MAP:VARIANT@SEED for connected games (default: the game's first).
        score, persona: what is searched for instead of the game's own score: a formula over its metrics, or a persona.

    Raises:
        PersonaEvoError: no such game, level or setting; or the game fails.
    """
    how = SearchSpec(num_samples, num_workers, uct_constant, constant, str(terminal_treatment).lower(), save_best_path)
    stage = open_stage(factory, level, settings, num_workers)
    try:
        return search(stage, how, seed, score=score, persona=persona, tell=callback)
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
) -> Run:
    """Search a level that is ready (arguments as for `run`). progress: told now and then how many rollouts are made."""
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

    made.spend(Budget(how.rollouts), began, told)
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
    """The best score after so many rollouts, NaN before the first."""
    found = math.nan
    for number, value in growth:
        if number > rollout:
            break
        found = value
    return found
