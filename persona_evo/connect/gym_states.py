"""Saves and restores states of a Gymnasium environment, so that a game can skip the first steps of an earlier one.

A search plays a game from its start to a state that it knows, and on from there. An environment that can be copied, or
whose state can be saved and restored, can skip these first steps. Three methods are tried: the environment's own
`clone_state` and `restore_state` (Atari has them), its own `get_state` and `set_state`, and `copy.deepcopy`. A method
is used if episodes continue after it as they did before, and if it is faster than repeating the steps.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, Generic, TypeVar

MOST = 256
"""The largest number of states that are kept; the least recently used one is dropped first."""
DEPTHS, STEPS, TRIALS = (0, 2, 5), 8, 16
"""The test of a method: steps before each saved state, steps that are compared after it, and number of trials."""
TEST_SECONDS = 10.0
"""The time that the tests of all methods may take together; a game has to connect within a minute."""
GAIN = 2.0
"""A state is kept only if repeating its steps takes at least this many times as long as restoring it."""

P = TypeVar("P")
Take = Callable[[], Any]
Put = Callable[[Any], Any]
Begin = tuple[int, tuple[int, ...]]
"""The seed of an episode and its first decisions."""


class KnownStates(Generic[P]):
    """The states that recent games reached after the decisions given by the driver, each with what was reported there.

    Args:
        environment: the result of `gymnasium.make`, before its first episode.
        first: the number of its first action.
        allowed: allowed(info) returns the actions that may be chosen, counted from the first one.

    Attributes:
        way: how states are saved: "clone_state", "get_state", "deepcopy", or "" if they are not.
        spoilt: whether an exception may have damaged the environment, which then has to be made again.
        environment: the environment to continue with; restoring a deep copy replaces it.
    """

    def __init__(self, environment: Any, first: int, allowed: Callable[[Mapping[str, Any]], Sequence[int]]) -> None:
        self.environment, self.way, self.spoilt = environment, "", False
        self._first, self._allowed = first, allowed
        self._kept: OrderedDict[Begin, tuple[Any, P]] = OrderedDict()
        self._reset = self._step = self._copy = math.inf
        self._until = time.monotonic() + TEST_SECONDS
        for name, take, put in self._ways():
            try:
                if self._goes_on(take, put):
                    self.way, self._take, self._put = name, take, put
                    self._copy = min(self._seconds(take, put) for _ in range(3))
                    break
            except Exception:  # it may raise anything
                self.spoilt = True
        self.environment = environment

    def begin(self, seed: int, decisions: Sequence[int]) -> P | None:
        """Restore the last known state of an episode, and return the data that was kept with it.

        Args:
            seed: the seed of the episode.
            decisions: its first decisions.

        Returns:
            The data, or None if no state of the episode is known, not even its start.
        """
        for count in range(len(decisions), -1, -1):
            begin = (seed, tuple(decisions[:count]))
            if begin in self._kept:
                self._kept.move_to_end(begin)
                state, known = self._kept[begin]
                self._put(state)
                return known
        return None

    def keep(self, seed: int, decisions: Sequence[int], known: P) -> None:
        """Keep the current state of the environment if that saves time.

        Args:
            seed: the seed of the episode.
            decisions: all decisions that were made in it.
            known: the data to return with the state.
        """
        begin = seed, tuple(decisions)
        if not self.way or begin in self._kept or GAIN * self._copy >= self._reset + len(decisions) * self._step:
            return
        self._kept[begin] = self._take(), known
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def _ways(self) -> Iterator[tuple[str, Take, Put]]:
        """Yield the methods that may save and restore states, the best one first."""
        inner = self.environment.unwrapped
        for name, back in (("clone_state", "restore_state"), ("get_state", "set_state")):
            take, put = getattr(inner, name, None), getattr(inner, back, None)
            if callable(take) and callable(put) and not _is_sticky(inner):
                if "include_rng" in _parameters(take):
                    take = partial(take, include_rng=True)
                yield name, self._with_wrappers(take), self._to_wrappers(put)
        yield "deepcopy", self._deep_copy, self._use_copy

    def _deep_copy(self) -> Any:
        return copy.deepcopy(self.environment, _shared(self.environment))

    def _use_copy(self, kept: Any) -> None:
        self.environment = copy.deepcopy(kept, _shared(kept))

    def _with_wrappers(self, take: Take) -> Take:
        def taken() -> Any:
            return take(), [copy.deepcopy(_own(one), _shared(one)) for one in _wrappers(self.environment)]

        return taken

    def _to_wrappers(self, put: Put) -> Put:
        def restored(kept: Any) -> None:
            state, owns = kept
            put(state)
            for one, own in zip(_wrappers(self.environment), owns, strict=True):
                vars(one).update(copy.deepcopy(own, _shared(one)))

        return restored

    def _goes_on(self, take: Take, put: Put) -> bool:
        """Return whether episodes continue from restored states as they did before; also measure resets and steps.

        A method fails if no state can be taken, or if the time is up. Other steps are made before each state is
        restored, because only then does it show if a method restores too little.
        """
        points: list[tuple[Any, Mapping[str, Any], list[str]]] = []
        for steps in DEPTHS:
            if time.monotonic() > self._until:
                return False
            began = time.perf_counter()
            _, info = self.environment.reset(seed=1)
            self._reset = min(self._reset, time.perf_counter() - began)
            _, info = self._steps(info, steps)
            try:
                kept = take()
            except Exception:  # an environment that lacks this method may raise anything
                return False
            points.append((kept, info, self._steps(info, STEPS)[0]))
        rng = Random(0)
        for _ in range(TRIALS):
            if time.monotonic() > self._until:
                return False
            kept, info, _ = rng.choice(points)
            put(kept)
            self._steps(info, rng.randint(1, STEPS), rng)
            kept, info, expected = rng.choice(points)
            put(kept)
            began = time.perf_counter()
            found, _ = self._steps(info, STEPS)
            self._step = min(self._step, (time.perf_counter() - began) / max(1, len(found)))
            if found != expected:
                return False
        return True

    def _steps(
        self, info: Mapping[str, Any], count: int, rng: Random | None = None
    ) -> tuple[list[str], Mapping[str, Any]]:
        """Make steps until `count` is reached or the episode ends.

        Args:
            info: the environment's information about the current state.
            count: the largest number of steps.
            rng: chooses the actions; without it they are taken in turn.

        Returns:
            The result of each step, and the last information.
        """
        found: list[str] = []
        while len(found) < count and (actions := self._allowed(info)):
            action = rng.choice(actions) if rng is not None else actions[len(found) % len(actions)]
            seen, reward, done, cut, info = self.environment.step(self._first + action)
            found.append(repr((_plain(seen), float(reward), bool(done), bool(cut))))
            if done or cut:
                break
        return found, info

    @staticmethod
    def _seconds(take: Take, put: Put) -> float:
        began = time.perf_counter()
        put(take())
        return time.perf_counter() - began


def _is_sticky(inner: Any) -> bool:
    """Return whether an Atari game repeats actions at random, because its saved states do not include that."""
    with contextlib.suppress(Exception):
        return bool(inner.ale.getFloat("repeat_action_probability") > 0)
    return False


def _parameters(function: Any) -> Sequence[str]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _wrappers(environment: Any) -> Iterator[Any]:
    """Yield the wrappers around an environment, the outermost one first."""
    while environment is not environment.unwrapped:
        yield environment
        environment = environment.env


def _own(wrapper: Any) -> dict[str, Any]:
    """Return the attributes of a wrapper except the environment inside."""
    return {name: value for name, value in vars(wrapper).items() if name != "env"}


def _shared(environment: Any) -> dict[int, Any]:
    """Return what copies of an environment share with it because no step changes it, as a memo for `copy.deepcopy`."""
    found: dict[int, Any] = {}
    for one in (*_wrappers(environment), environment.unwrapped):
        for name in ("spec", "_spec", "observation_space", "action_space", "_observation_space", "_action_space"):
            value = vars(one).get(name)
            if value is not None:
                found[id(value)] = value
    return found


def _plain(seen: Any) -> Any:
    """Return an observation with its arrays as bytes, so that all numbers can be compared."""
    if isinstance(seen, dict):
        return {key: _plain(value) for key, value in seen.items()}
    if isinstance(seen, (list, tuple)):
        return [_plain(value) for value in seen]
    return seen.tobytes() if hasattr(seen, "tobytes") else seen
