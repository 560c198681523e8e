"""States of an environment of Gymnasium that games were in before, so that a game that begins alike starts there.

A search plays a game from its start to a state that it knows, and on from there. An environment that can be copied, or
whose state can be saved and restored, need not make the first steps again. Three ways are tried: the environment's own
`clone_state` and `restore_state` (such as Atari's), its own `get_state` and `set_state`, and `copy.deepcopy`. A way is
used if episodes go on after it as they did before, and if it takes less time than the steps that it saves.
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
"""States that are kept at most; the ones unused for longest go first."""
DEPTHS, STEPS, TRIALS = (0, 2, 5), 8, 16
"""Steps to the states that are restored for a test, steps that are compared after each, and number of tests."""
GAIN = 2.0
"""How many times longer the steps take that are saved."""

P = TypeVar("P")
Take = Callable[[], Any]
Put = Callable[[Any], Any]
Begin = tuple[int, tuple[int, ...]]
"""The seed of an episode and its first decisions."""


class KnownStates(Generic[P]):
    """The states that the last games were in after the decisions that the driver gave them, with what was told there.

    Args:
        environment: as `gymnasium.make` returns it, before the first episode.
        first: number of its first action.
        allowed: allowed(info) gives the actions that may be chosen, counted from the first one.

    Attributes:
        way: how states are kept: "clone_state", "get_state", "deepcopy", or "" if they are not.
        environment: the one to go on with, which is another one after a deep copy.
    """

    def __init__(self, environment: Any, first: int, allowed: Callable[[Mapping[str, Any]], Sequence[int]]) -> None:
        self.environment, self.way = environment, ""
        self._first, self._allowed = first, allowed
        self._kept: OrderedDict[Begin, tuple[Any, P]] = OrderedDict()
        self._reset = self._step = self._copy = math.inf
        for name, take, put in self._ways():
            with contextlib.suppress(Exception):  # an environment without this way raises whatever it likes
                if self._goes_on(take, put):
                    self.way, self._take, self._put = name, take, put
                    self._copy = min(self._seconds(take, put) for _ in range(3))
                    break
        self.environment = environment

    def begin(self, seed: int, decisions: Sequence[int]) -> P | None:
        """Put the environment into the last known state of an episode, and return what was kept with it.

        Args:
            seed: of the episode.
            decisions: the first ones of it.

        Returns:
            None where no state of it is known, not even the first one.
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
        """Keep the state that the environment is in, if that saves time.

        Args:
            seed: of the episode.
            decisions: all that were made in it.
            known: what is returned with the state.
        """
        begin = seed, tuple(decisions)
        if not self.way or begin in self._kept or GAIN * self._copy >= self._reset + len(decisions) * self._step:
            return
        self._kept[begin] = self._take(), known
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def _ways(self) -> Iterator[tuple[str, Take, Put]]:
        """What could save and restore states, the best way first."""
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
        """Return whether episodes go on from restored states as they did before; this times resets and steps, too.

        What a way leaves out shows only if something else happened before the state is restored.
        """
        points: list[tuple[Any, Mapping[str, Any], list[str]]] = []
        for steps in DEPTHS:
            began = time.perf_counter()
            _, info = self.environment.reset(seed=1)
            self._reset = min(self._reset, time.perf_counter() - began)
            _, info = self._steps(info, steps)
            kept = take()
            points.append((kept, info, self._steps(info, STEPS)[0]))
        rng = Random(0)
        for _ in range(TRIALS):
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
        """Make some steps, fewer at the end of the episode.

        Args:
            info: where the episode is.
            count: of the steps.
            rng: chooses the actions; they take turns without it.

        Returns:
            What each step gave, and the last info.
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
    """Return whether an Atari game repeats the last action by chance, which its saved states do not hold."""
    with contextlib.suppress(Exception):
        return bool(inner.ale.getFloat("repeat_action_probability") > 0)
    return False


def _parameters(function: Any) -> Sequence[str]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def _wrappers(environment: Any) -> Iterator[Any]:
    """The wrappers around an environment, the outermost first."""
    while environment is not environment.unwrapped:
        yield environment
        environment = environment.env


def _own(wrapper: Any) -> dict[str, Any]:
    """What a wrapper holds beside the environment in it."""
    return {name: value for name, value in vars(wrapper).items() if name != "env"}


def _shared(environment: Any) -> dict[int, Any]:
    """What copies of an environment share with it, as `copy.deepcopy` takes it: what no step changes."""
    found: dict[int, Any] = {}
    for one in (*_wrappers(environment), environment.unwrapped):
        for name in ("spec", "_spec", "observation_space", "action_space", "_observation_space", "_action_space"):
            value = vars(one).get(name)
            if value is not None:
                found[id(value)] = value
    return found


def _plain(seen: Any) -> Any:
    """An observation with its arrays as bytes, for a comparison of all numbers."""
    if isinstance(seen, dict):
        return {key: _plain(value) for key, value in seen.items()}
    if isinstance(seen, (list, tuple)):
        return [_plain(value) for value in seen]
    return seen.tobytes() if hasattr(seen, "tobytes") else seen
