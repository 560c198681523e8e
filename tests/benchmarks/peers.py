"""Other people's tree searches on the same game, with the same compiled rules, beside ours."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from persona_evo.games.core import WON, Level
from persona_evo.search.plan import Budget, Planner, TreePolicy
from persona_evo.seeds import stream

from .levels import game, maps, which
from .rates import LONGEST, to_the_end, utility
from .report import Row, judge, skipped
from .timing import best_times

TIMES = 25
ROLLOUT = 10


class Position:
    """A state as the package `mcts` wants it; moves are made by the compiled rules."""

    def __init__(self, level: Level, row: Any, steps: int = 0) -> None:
        self.level, self.row, self.steps = level, row, steps

    def getPossibleActions(self) -> list[int]:
        """The legal actions."""
        return _legal(self.level, self.row)

    def takeAction(self, action: int) -> Position:
        """The state after an action; this one stays."""
        row = self.row.copy()
        game().rules().step(self.level.tables, row, action, _rng)
        return Position(self.level, row, self.steps + 1)

    def isTerminal(self) -> bool:
        """Won, lost or at the horizon."""
        return self.steps >= LONGEST or game().rules().over(self.level.tables, self.row) != 0

    def getReward(self) -> float:
        """The persona's utility."""
        return _value(self.level, self.row)


_rng = stream(1)
_goal = utility()


def _legal(level: Level, row: Any) -> list[int]:
    actions = np.empty(level.max_actions, dtype=np.int64)
    return actions[: game().rules().legal(level.tables, row, actions)].tolist()  # type: ignore[no-any-return]


def _value(level: Level, row: Any) -> float:
    """The utility in plain Python from the compiled metrics, as somebody would write it into a State class."""
    out = np.empty(len(game().metrics))
    game().rules().measure(level.tables, row, 0, out)
    return 0.7 * float(out[4]) + 0.3 * float(out[1]) - 5.0 * float(out[11])


def _ten_random_moves(position: Position) -> float:
    """The same rollout as ours: ten random moves with the compiled rules, then the utility."""
    level, row, rules = position.level, position.row.copy(), game().rules()
    actions = np.empty(level.max_actions, dtype=np.int64)
    for _ in range(min(ROLLOUT, LONGEST - position.steps)):
        if rules.over(level.tables, row):
            break
        count = rules.legal(level.tables, row, actions)
        rules.step(level.tables, row, actions[random.randrange(count)], _rng)
    return _value(level, row)


def _pypi(level: Level, iterations: int) -> Callable[[], object]:
    library: Any = importlib.import_module("mcts")

    def work() -> object:
        search = library.mcts(iterationLimit=iterations, explorationConstant=1.0, rolloutPolicy=_ten_random_moves)
        return search.search(Position(level, level.start.copy()))

    return work


def _open_spiel(level: Level, iterations: int) -> Callable[[], object]:
    spiel: Any = importlib.import_module("pyspiel")
    algorithm: Any = importlib.import_module("open_spiel.python.algorithms.mcts")
    description = spiel_game(spiel, level)

    class TenMoves(algorithm.Evaluator):  # type: ignore[misc]
        """Rolls out as we do."""

        def evaluate(self, state: Any) -> list[float]:
            return [_ten_random_moves(Position(level, state.row, state.steps))]

        def prior(self, state: Any) -> list[tuple[int, float]]:
            legal = state.legal_actions()
            return [(a, 1.0 / len(legal)) for a in legal]

    def work() -> object:
        luck = np.random.RandomState(1)
        bot = algorithm.MCTSBot(description, 2**0.5, iterations, TenMoves(), solve=False, random_state=luck)
        return bot.step(description.new_initial_state())

    return work


def spiel_game(spiel: Any, level: Level) -> Any:
    """A level as a game of OpenSpiel, with the compiled rules behind its State."""
    kind = spiel.GameType(
        short_name=f"minidungeons2_{level.name}", long_name="MiniDungeons 2",
        dynamics=spiel.GameType.Dynamics.SEQUENTIAL, chance_mode=spiel.GameType.ChanceMode.DETERMINISTIC,
        information=spiel.GameType.Information.PERFECT_INFORMATION, utility=spiel.GameType.Utility.GENERAL_SUM,
        reward_model=spiel.GameType.RewardModel.TERMINAL, max_num_players=1, min_num_players=1,
        provides_information_state_string=False, provides_information_state_tensor=False,
        provides_observation_string=False, provides_observation_tensor=False, parameter_specification={},
    )  # fmt: skip
    facts = spiel.GameInfo(
        num_distinct_actions=len(level.start) + 1000, max_chance_outcomes=0, num_players=1, min_utility=-5.0,
        max_utility=1.0, utility_sum=None, max_game_length=LONGEST,
    )  # fmt: skip

    class State(spiel.State):  # type: ignore[misc]
        """A state of the game."""

        def __init__(self, owner: Any) -> None:
            super().__init__(owner)
            self.row, self.steps = level.start.copy(), 0

        def current_player(self) -> Any:
            return spiel.PlayerId.TERMINAL if self.is_terminal() else 0

        def _legal_actions(self, player: int) -> list[int]:
            return sorted(_legal(level, self.row))

        def _apply_action(self, action: int) -> None:
            game().rules().step(level.tables, self.row, action, _rng)
            self.steps += 1

        def is_terminal(self) -> bool:
            return self.steps >= LONGEST or game().rules().over(level.tables, self.row) != 0

        def returns(self) -> list[float]:
            return [_value(level, self.row)]

        def __deepcopy__(self, _: Any) -> Any:
            other = State(self.get_game())
            other.row, other.steps = self.row.copy(), self.steps
            return other

        def clone(self) -> Any:
            """A copy (without replaying the history)."""
            return self.__deepcopy__(None)

        def __str__(self) -> str:
            return f"{self.steps}: {'won' if game().rules().over(level.tables, self.row) == WON else self.row[0]}"

    class Game(spiel.Game):  # type: ignore[misc]
        """The level."""

        def __init__(self, parameters: Any = None) -> None:
            super().__init__(kind, facts, parameters or {})

        def new_initial_state(self) -> Any:
            return State(self)

    return Game()


PEERS: dict[str, tuple[str, Callable[[Level, int], Callable[[], object]]]] = {
    "PyPI mcts": ("mcts", _pypi),
    "OpenSpiel's Python MCTSBot": ("pyspiel", _open_spiel),
}
"""What it is called, and the module it needs."""


def measure(iterations: int, repeats: int) -> list[Row]:
    """Iterations per second of each peer and of ours: same game, same rollouts, same number of iterations."""
    rows = []
    policy, budget = TreePolicy.ucb1(), Budget(iterations=iterations)
    for name, (module, make) in PEERS.items():
        what = f"{name}: UCB1, 10-move rollouts, {iterations} iterations, the same compiled step, mean of {which()}"
        reach = f"at least {TIMES} times its iterations/s"
        try:
            importlib.import_module(module)
        except ImportError as e:
            rows.append(skipped(what, reach, f"not installed ({e})"))
            continue
        works: dict[tuple[str, str], Callable[[], object]] = {}
        for level in maps():
            planner = Planner(game(), level, to_the_end(), iterations + 1)
            works["ours", level.name] = lambda p=planner: p.plan(_goal, policy, budget, 3)  # type: ignore[misc]
            works["theirs", level.name] = make(level, iterations)
        times = best_times(works, repeats)
        ours, theirs = (
            sum(iterations / t for (who, _), t in times.items() if who == side) / len(maps())
            for side in ("ours", "theirs")
        )
        measured = f"ours {ours / 1e3:.0f} k/s, theirs {theirs / 1e3:.2f} k/s"
        rows.append(judge(what, reach, measured, ours / theirs, TIMES))
    return rows
