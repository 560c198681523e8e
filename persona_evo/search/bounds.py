"""The best that can be reached in a level, as well as it can be found, and whether it is proven that nothing is better.

Beams with different guides are tried in turn, each leaving out what cannot beat the best plan so far. What the utility
can be at most is known from the ranges of the metrics, from what the game says can still be reached (`Game.reach`) and
from the states that a beam had to leave out; when the best plan is worth that much it is proven. What is left is
searched in whole layers, as far as the limit on states allows.

All limits but `seconds` count states, so a result does not depend on the machine. Proofs take two states for the same
when their 63-bit hashes agree (a chance of one in a million among five million states).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

from persona_evo.errors import SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Game, Level
from persona_evo.search.beam import CEILING, SECURED, Found, Layers
from persona_evo.search.problem import Problem

METHODS = ("auto", "beam", "bfs", "dfs", "random", "flat", "exhaustive")
"""How `solve` can be told to search: `auto` is beams and then whole layers."""

WIDTH = 1_000
STATES = 2_000_000
"""States kept in a layer of a beam; states made by one beam, and by the search in whole layers, at most."""

BOUNDLESS = 1e100
"""Utilities from here on come from metrics that have no highest value."""

WEIGHTS = (0.1, 0.3, 1.0)
"""What a distance of 1 is worth to a guide, beside utilities of the order of 1."""


def at_most(upper: float) -> str:
    """An upper bound in words; a metric without a highest value leaves a utility without one."""
    return f"at most {upper:.6g}" if upper < BOUNDLESS else "without a known upper bound"


@dataclass(frozen=True)
class Solution:
    """A plan, and how good any plan can be.

    actions: from the start. utility, metrics, outcome: of the last state. upper: no plan within the horizon is worth
    more. proven: this plan is worth as much. method: what found it. states: states made by all searches together.
    seconds: what it took.
    """

    actions: tuple[int, ...]
    utility: float
    upper: float
    proven: bool
    method: str
    metrics: dict[str, float]
    outcome: int
    states: int
    seconds: float


def solve(
    game: Game,
    level: Level,
    utility: Formula,
    *,
    method: str = "auto",
    seconds: float | None = None,
    width: int = WIDTH,
    horizon: int = 0,
    states: int = STATES,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """The best plan that can be found from the level's start.

    Args:
        utility: over the game's metrics, of the plan's last state.
        method: one of METHODS; all but `auto` are single searches (see `baselines`).
        seconds: wall clock at most, None for no limit; under it a result can depend on the machine.
        width: states kept in a layer of a beam.
        horizon: moves at most, 0 for the game's own.
        states: states made by a single search at most.
        seed: of random and flat.
        progress: told what was tried, the best utility so far and what it can be at most.

    Raises:
        SettingsError: not a deterministic game for one player, no such method, or a limit out of range.
        FormulaError: the utility names something that is no metric of the game.
    """
    if method not in METHODS:
        expected, hint = unknown(method, METHODS)
        raise SettingsError("no such method", found=method, expected=expected, hint=hint)
    for name, value, most in (("width", width, 10_000_000), ("states", states, 2_000_000_000)):
        if not 1 <= value <= most:
            raise SettingsError(f"the solver's {name} are out of range", found=str(value), expected=f"1 to {most:,}")
    if seconds is not None and not seconds > 0:
        raise SettingsError("the solver's seconds are out of range", found=str(seconds), expected="more than 0")
    utility = parse(utility.text, game.symbols)
    problem = Problem.of(game, level, utility, horizon)
    if method in ("auto", "beam"):
        return _Solver(problem, width, states, seconds, progress).run(whole=method == "auto")
    from persona_evo.search import baselines

    began = time.perf_counter()
    plan = baselines.by_name(method, problem, states, seconds, seed)
    upper = plan.utility if plan.proven else problem.ceiling()
    return _solution(problem, plan.actions, method, upper, plan.nodes, began)


class _Solver:
    """One call of `solve`: the best plan so far, and what no plan can be worth more than."""

    def __init__(
        self, problem: Problem, width: int, states: int, seconds: float | None, progress: Callable[[str], None] | None
    ) -> None:
        self.problem, self.width, self.states, self.seconds, self.progress = problem, width, states, seconds, progress
        self.began = time.perf_counter()
        self.best: Found | None = None
        self.method = ""
        self.upper = float("inf")
        self.made = 0

    @property
    def settled(self) -> bool:
        """Whether nothing better exists; a plan that is as good as any but no win is still compared with others."""
        return self.best is not None and self.best.utility >= self.upper

    def run(self, whole: bool) -> Solution:
        costly = frozenset(m.symbol for m in self.problem.game.metrics if m.costly)
        beams = Layers(self.problem, self.width, self.states, costly)
        for name, guide in guides(self.problem):
            self._take(f"beam ({name})", beams, guide)
            if self.settled or self._left() == 0.0:
                break
        if whole and not self.settled and self._left() != 0.0:
            self._take("whole layers", Layers(self.problem, self.states, self.states), None)
        assert self.best is not None
        return _solution(self.problem, self.best.actions, self.method, self.upper, self.made, self.began)

    def _left(self) -> float | None:
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - (time.perf_counter() - self.began))

    def _take(self, name: str, layers: Layers, guide: Formula | None) -> None:
        found = layers.search(guide, self._left(), known=self.best)
        if self.best is None or found.actions != self.best.actions:
            self.method = name
        self.best = found
        self.upper = min(self.upper, found.upper)
        self.made += found.made
        if self.progress is not None:
            self.progress(f"{name}: {found.utility:.6g}, {at_most(self.upper)}")


def guides(problem: Problem) -> Iterator[tuple[str, Formula]]:
    """Formulas that decide which states a beam keeps, by name, the most promising first.

    What is secured and what can still be had come before all else; among equal states those nearer to something are
    kept, by every way to a target (see `Game.targets`): all together, each alone, and the nearest.
    """
    game, utility = problem.game, problem.utility
    reaching = game.reach is not None and problem.rises is not None
    worth = f"4 * {CEILING} + {SECURED}" if reaching else utility.text
    if not reaching or not problem.constant:
        yield "utility", parse(f"{worth} + 0.01 * ({utility.text})" if reaching else worth)
    distances = list(game.targets)
    if not distances:
        if reaching and problem.constant:
            yield "utility", parse(f"{worth} + 0.01 * ({utility.text})")
        return
    ways = {d: d for d in distances}
    if len(distances) > 1:
        there = [f"if({d}, {d}, 1000)" for d in distances]
        some = reduce(lambda a, b: f"max({a}, {b})", distances)
        nearest = f"if({some}, {reduce(lambda a, b: f'min({a}, {b})', there)}, 0)"
        ways = {"all distances": f"({' + '.join(distances)}) / {len(distances)}", **ways, "nearest": nearest}
    for weight in WEIGHTS:
        for name, way in ways.items():
            yield f"{name}, {weight:g}", parse(f"{worth} - {weight} * {way} + if({way}, 0, {utility.text})")


def _solution(
    problem: Problem, actions: tuple[int, ...], method: str, upper: float, states: int, began: float
) -> Solution:
    game, level = problem.game, problem.level
    end = game.replay(level, actions)[-1]
    metrics = game.measure(level, end)
    utility = problem.utility.evaluate(metrics)
    return Solution(
        actions, utility, max(upper, utility), utility >= upper, method, metrics, game.over(level, end), states,
        time.perf_counter() - began,
    )  # fmt: skip
