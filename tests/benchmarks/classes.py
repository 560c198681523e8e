"""A game as a Python class: our search and other packages' searches on the same class, with the same rollouts."""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from persona_evo.formula import parse
from persona_evo.search.plan import Budget, Planner, TreePolicy
from tests.examples.corridor import GAME, Corridor

from .engine import LONGEST, ROLLOUT, to_the_end
from .report import Row, compared, skipped
from .timing import interleaved

TEXT = "..$...@....$..........$......D\n"
TIMES = 1.5
"""The required speed relative to the package `mcts`."""

UTILITY = "COINS + OUT - 0.01 * ST"


def worth(state: Corridor) -> float:
    """Return the utility of a state."""
    metrics = state.measure()
    return metrics["COINS"] + metrics["OUT"] - 0.01 * metrics["ST"]  # type: ignore[no-any-return]


def over(state: Corridor) -> bool:
    """Return whether a state is final."""
    return state.steps >= LONGEST or state.over() is not None


def rolled_out(state: Corridor) -> float:
    """Return the utility after random moves."""
    state = state.copy()
    for _ in range(ROLLOUT):
        if over(state):
            break
        state.apply(random.choice(state.legal()))
    return worth(state)


class Position:
    """A state in the form that the package `mcts` needs."""

    def __init__(self, state: Corridor) -> None:
        self.state = state

    def getPossibleActions(self) -> list[str]:
        """Return the legal actions."""
        return self.state.legal()  # type: ignore[no-any-return]

    def takeAction(self, action: str) -> Position:
        """Return the state after an action; this one does not change."""
        after = self.state.copy()
        after.apply(action)
        return Position(after)

    def isTerminal(self) -> bool:
        """Return whether the game is won or at the horizon."""
        return over(self.state)

    def getReward(self) -> float:
        """Return the utility."""
        return worth(self.state)


def _pypi(iterations: int) -> Callable[[], object]:
    library: Any = importlib.import_module("mcts")

    def work() -> object:
        search = library.mcts(
            iterationLimit=iterations,
            explorationConstant=1.0,
            rolloutPolicy=lambda position: rolled_out(position.state),
        )
        return search.search(Position(Corridor.from_text(TEXT)))

    return work


def _open_spiel(iterations: int) -> Callable[[], object]:
    spiel: Any = importlib.import_module("pyspiel")
    algorithm: Any = importlib.import_module("open_spiel.python.algorithms.mcts")
    description = spiel_game(spiel)

    class Rollouts(algorithm.Evaluator):  # type: ignore[misc]
        """Evaluates states by the same rollouts as ours."""

        def evaluate(self, state: Any) -> list[float]:
            return [rolled_out(state.inside)]

        def prior(self, state: Any) -> list[tuple[int, float]]:
            legal = state.legal_actions()
            return [(a, 1.0 / len(legal)) for a in legal]

    def work() -> object:
        luck = np.random.RandomState(1)
        bot = algorithm.MCTSBot(description, math.sqrt(2), iterations, Rollouts(), solve=False, random_state=luck)
        return bot.step(description.new_initial_state())

    return work


def spiel_game(spiel: Any) -> Any:
    """Return the class as a game of OpenSpiel."""
    kind = spiel.GameType(
        short_name="corridor",
        long_name="Corridor",
        dynamics=spiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=spiel.GameType.ChanceMode.DETERMINISTIC,
        utility=spiel.GameType.Utility.GENERAL_SUM,
        information=spiel.GameType.Information.PERFECT_INFORMATION,
        parameter_specification={},
        reward_model=spiel.GameType.RewardModel.TERMINAL,
        max_num_players=1,
        min_num_players=1,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
    )
    facts = spiel.GameInfo(
        num_distinct_actions=2,
        max_chance_outcomes=0,
        num_players=1,
        min_utility=-5.0,
        max_utility=2.0,
        utility_sum=None,
        max_game_length=LONGEST,
    )

    class State(spiel.State):  # type: ignore[misc]
        """A state of the game."""

        def __init__(self, owner: Any) -> None:
            super().__init__(owner)
            self.inside = Corridor.from_text(TEXT)

        def current_player(self) -> Any:
            return spiel.PlayerId.TERMINAL if self.is_terminal() else 0

        def _legal_actions(self, player: int) -> list[int]:
            return [Corridor.actions.index(a) for a in self.inside.legal()]

        def _apply_action(self, action: int) -> None:
            self.inside.apply(Corridor.actions[action])

        def is_terminal(self) -> bool:
            return over(self.inside)

        def returns(self) -> list[float]:
            return [worth(self.inside)]

        def __deepcopy__(self, _: Any) -> Any:
            other = State(self.get_game())
            other.inside = self.inside.copy()
            return other

        def clone(self) -> Any:
            """Return a copy (without replaying the history)."""
            return self.__deepcopy__(None)

        def __str__(self) -> str:
            return f"{self.inside.at} after {self.inside.steps}"

    class Game(spiel.Game):  # type: ignore[misc]
        """The level."""

        def __init__(self, parameters: Any = None) -> None:
            super().__init__(kind, facts, parameters or {})

        def new_initial_state(self) -> Any:
            return State(self)

    return Game()


PEERS: dict[str, tuple[str, float, Callable[[int], Callable[[], object]]]] = {
    "PyPI mcts": ("mcts", TIMES, _pypi),
    "OpenSpiel's Python MCTSBot": ("pyspiel", 0.0, _open_spiel),
}
"""By package: the module that it needs, the goal, and a function that makes a search."""


def measure(iterations: int, rounds: int) -> list[Row]:
    """Measure iterations per second of our search and each peer, with the same class, iterations and rollouts."""
    level = GAME.load(TEXT, "corridor")
    planner = Planner(GAME, level, to_the_end(), iterations + 1)
    goal, budget = parse(UTILITY, GAME.symbols), Budget(iterations=iterations)
    works: dict[str, Callable[[], object]] = {"ours": partial(planner.plan, goal, TreePolicy.ucb1(), budget, 3)}
    missing = {}
    for name, (module, _, make) in PEERS.items():
        try:
            importlib.import_module(module)
        except ImportError as e:
            missing[name] = f"not installed ({e})"
            continue
        works[name] = make(iterations)
    for work in works.values():
        work()
    times = interleaved(works, rounds)
    ours = np.array(times["ours"])
    rows = []
    for name, (_, least, _) in PEERS.items():
        what = f"a Python class beside {name}: UCB1, {iterations:,} iterations, 10-move rollouts"
        reach = f"at least {least} times its iterations/s" if least else ""
        if name in missing:
            rows.append(skipped(what, reach, missing[name]))
            continue
        theirs = np.array(times[name])
        rates = (iterations / np.median(t) / 1e3 for t in (ours, theirs))
        measured = "{:.1f} k/s, theirs {:.1f} k/s".format(*rates)
        rows.append(compared(what, reach, measured, (theirs / ours).tolist(), least))
    return rows
