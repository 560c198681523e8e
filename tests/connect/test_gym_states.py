"""Tests environments whose states are kept: games begin at known states, and nothing else changes."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from persona_evo.connect import gym_states
from persona_evo.connect.gym import Environment

gymnasium = pytest.importorskip("gymnasium", reason='gymnasium is not installed: pip install "persona-evo[gym]"')
from gymnasium import spaces  # noqa: E402


class Slow(gymnasium.Env):  # type: ignore[misc,name-defined]
    """A walk with two dice per step, with slow steps and any number of them."""

    action_space, observation_space = spaces.Discrete(3), spaces.Box(0, 1e9, (2,), float)
    made = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[list[float], dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.before = 0.0, 0
        return [0.0, 0.0], {}

    def step(self, action: int) -> tuple[list[float], float, bool, bool, dict[str, Any]]:
        Slow.made += 1
        time.sleep(0.002)
        self.place += action + float(self.np_random.integers(6)) + (7 if action == self.before else 0)
        self.before = action
        return [self.place, float(action)], float(action), self.place > 200, False, {}


class Saved(Slow):
    """An environment whose state can be saved and restored, but that cannot be copied."""

    def get_state(self) -> Any:
        return self.place, self.before, self.np_random.bit_generator.state

    def set_state(self, state: Any) -> None:
        self.place, self.before, self.np_random.bit_generator.state = state

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("no copies")


class Forgetful(Saved):
    """An environment whose saved state omits the last action, which matters."""

    def get_state(self) -> Any:
        return self.place, 0, self.np_random.bit_generator.state

    def set_state(self, state: Any) -> None:
        self.place, _, self.np_random.bit_generator.state = state


class FirstStep(Saved):
    """The first step of an episode is worth more, and a saved state does not say whether it has been made."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[list[float], dict[str, Any]]:
        self.fresh = True
        return super().reset(seed=seed, options=options)

    def step(self, action: int) -> tuple[list[float], float, bool, bool, dict[str, Any]]:
        seen, reward, *rest = super().step(action)
        reward, self.fresh = reward + 5.0 * self.fresh, False
        return seen, reward, *rest


class Foreign(gymnasium.Env):  # type: ignore[misc,name-defined]
    """An environment whose observations are not in its space, which Gymnasium says at the first reset only."""

    action_space, observation_space = spaces.Discrete(3), spaces.Dict({"a": spaces.Discrete(3)})

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, int], dict[str, Any]]:
        return {"a": 1, "b": 1}, {}


KINDS = (Slow, Saved, Forgetful, FirstStep, Foreign)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Registers the environments of this module for a test."""
    for kind in KINDS:
        gymnasium.register(f"Test{kind.__name__}-v0", entry_point=kind, max_episode_steps=30)
    yield
    for kind in KINDS:
        del gymnasium.registry[f"Test{kind.__name__}-v0"]


class Order:
    """A client that plays one game: it makes the decisions that are given and further ones at random."""

    settings: dict[str, Any] = {"variant": "", "map": ""}  # noqa: RUF012
    variant = map = ""

    def __init__(self, planned: Sequence[int], more: int, seed: int) -> None:
        self.planned, self.left, self.game_seed = tuple(planned), more, 3
        self.rng, self.path, self.told = random.Random(seed), list[int](), list[float]()

    def report_metric(self, symbol: str, value: float) -> None:
        self.told.append(value)

    def report_score(self, value: float) -> None:
        self.told.append(value)

    def report_hash(self, value: int) -> None:
        self.told.append(value)

    supply_outcome = report_score

    def select(self, count: int) -> int:
        if len(self.path) >= len(self.planned) + self.left:
            raise StopIteration
        made = len(self.path)
        self.path.append(self.planned[made] if made < len(self.planned) else self.rng.randrange(count))
        return self.path[-1]


def played(game: Environment, games: int = 40) -> list[list[float]]:
    """What was told in games, each of which begins as an earlier one did, one decision further."""
    rng, paths, told = random.Random(1), [list[int]()], []
    for number in range(games):
        begun = rng.choice(paths[-8:])
        order = Order(begun, 3, number)
        with contextlib.suppress(StopIteration):
            game.play(order)  # type: ignore[arg-type]
        told.append(order.told)
        if len(order.path) > len(begun):
            paths.append(order.path[: len(begun) + 1])
    return told


@pytest.mark.parametrize(("name", "way"), [("TestSlow-v0", "deepcopy"), ("TestSaved-v0", "get_state")])
def test_games_begin_at_known_states_and_tell_the_same(name: str, way: str) -> None:
    settings = {"variant": "", "map": ""}
    known, replayed = (Environment(name, settings) for _ in range(2))
    assert known.states.way == way
    replayed.states.way = ""
    steps = []
    told = []
    for game in (known, replayed):
        before = Slow.made
        told.append(played(game))
        steps.append(Slow.made - before)
    assert told[0] == told[1]
    assert steps[0] < 0.6 * steps[1]


@pytest.mark.parametrize("name", ["TestForgetful-v0", "TestFirstStep-v0"])
def test_a_state_that_leaves_something_out_is_not_used(name: str) -> None:
    game = Environment(name, {"variant": "", "map": ""})
    assert game.states.way == ""
    assert len(played(game, 3)) == 3


@pytest.mark.parametrize("name", ["TestSlow-v0", "TestSaved-v0"])
def test_the_test_of_a_slow_environment_ends_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gym_states, "TEST_SECONDS", 0.02)
    before = Slow.made
    game = Environment(name, {"variant": "", "map": ""})
    assert game.states.way == "" and 1 <= Slow.made - before < 40
    assert len(played(game, 3)) == 3


def test_each_game_tells_what_the_environment_raises_first() -> None:
    game = Environment("TestForeign-v0", {"variant": "", "map": ""})
    for _ in range(2):
        with pytest.raises(AssertionError, match="observation keys is not same"):
            played(game, 1)
