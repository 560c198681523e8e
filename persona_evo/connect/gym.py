"""Runs Gymnasium environments as connected games; they are replayed from `reset(seed)`, so they must be deterministic.

    name = "lake"
    game = "gymnasium:FrozenLake-v1"    # or gymnasium:MODULE:ID, where importing MODULE registers the environment
    arguments = ["--grid", "4"]         # the observation is the number of a cell in a grid with 4 columns

    [settings]                          # arguments of gymnasium.make
    is_slippery = true
    max_episode_steps = 60

A level's seed is the seed of `reset`, so a slippery lake is a level whose ice is the same in every game. A decision is
an action of the action space, which has to be Discrete. If `info` contains an `action_mask`, the choices are the
actions that it allows, in their order. A mask that allows none ends the game, which then counts as truncated. The score
is the return. The metrics are RETURN, REWARD (of the last step), STEPS, DONE (terminated), CUT (truncated) and the
observation: OBS if it is one number, otherwise OBS0, OBS1, ... for its first 32 numbers, in the order of the space.
Parts of varying length (Sequence, Graph, Text) have no metrics. With `--grid COLUMNS` the observation is the number of
a cell, counted row by row; X and Y are its column and row, which heatmaps are drawn from. The hash covers all
observations and rewards.

Each process has one environment, which is made again if a variant changes the settings. If the environment can be
copied, or its state be restored, faster than its steps can be repeated, a game begins at the last known state on its
way (see `gym_states`). The extra `gym` installs the package `gymnasium`; what else an environment needs is described in
its own manual.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from persona_evo.connect import gym_spaces
from persona_evo.connect.client import Client
from persona_evo.connect.driver_connection import settings_in
from persona_evo.connect.gym_states import KnownStates
from persona_evo.connect.protocol import MetricInfo
from persona_evo.errors import ConnectError, PersonaEvoError
from persona_evo.words import counted

MOST_STEPS = 1000
"""The number of steps after which a game is cut short if the environment has no limit of its own."""

OWN = (
    MetricInfo("return so far", "RETURN", None, None),
    MetricInfo("reward of the last step", "REWARD", None, None),
    MetricInfo("steps so far", "STEPS", 0, None),
    MetricInfo("1 once it has terminated", "DONE", 0, 1),
    MetricInfo("1 where it was truncated", "CUT", 0, 1),
)
_FINITE = 1e308
_RETURNED = {"reset": "observation, info (a dict)", "step": "observation, reward, terminated, truncated, info (a dict)"}


class _Moment(NamedTuple):
    """Holds what is reported about a state.

    Attributes:
        values: the values of the metrics.
        allowed: the actions that may be chosen.
        over: whether the game is over.
        whole: the hash of all observations and rewards so far.
    """

    values: tuple[float, ...]
    allowed: Sequence[int]
    over: bool
    whole: Any


class Environment:
    """A Gymnasium environment that is played by a driver.

    Args:
        name: the first argument of `gymnasium.make`.
        settings: its further arguments, and `map` and `variant` as the driver sends them.
        map_key: the argument that receives a level's map; "" for none.
        most: the largest number of steps; 0 for the environment's own limit.
        grid: the number of columns, if the observation is the number of a cell; 0 if it is not.
        masked: whether to respect an `action_mask`.

    Raises:
        ConnectError: there is no such environment, or its actions are not Discrete.
    """

    def __init__(
        self,
        name: str,
        settings: Mapping[str, Any],
        *,
        map_key: str = "",
        most: int = 0,
        grid: int = 0,
        masked: bool = True,
    ) -> None:
        self.name, self.map_key, self.grid, self.masked = name, map_key, grid, masked
        self.environment = _make(name, self._arguments(settings))
        self._made_with = json.dumps(settings, sort_keys=True)
        space, spec = self.environment.action_space, self.environment.spec
        if type(space).__name__ != "Discrete":
            raise ConnectError(
                f"the actions of {name} are not a numbered list", found=str(space)[:200], expected="Discrete"
            )
        self.first, self.actions = int(space.start), int(space.n)
        self.most = most or getattr(spec, "max_episode_steps", None) or MOST_STEPS
        self.parts = list(gym_spaces.parts(self.environment.observation_space, ""))[: gym_spaces.MOST_NUMBERS]
        if grid and len(self.parts) != 1:
            raise ConnectError("--grid is for an observation that is one number", found=f"{len(self.parts)} numbers")
        self.symbols = [m.symbol for m in self.metrics]
        self.states: KnownStates[tuple[_Moment, ...]] = KnownStates(self.environment, self.first, self._allowed)

    @property
    def metrics(self) -> tuple[MetricInfo, ...]:
        """The metrics that are reported."""
        single = len(self.parts) == 1
        seen = [
            MetricInfo(f"observation{where}", "OBS" if single else f"OBS{i}", _bound(low), _bound(high))
            for i, (where, low, high) in enumerate(self.parts)
        ]
        cell = [MetricInfo("column", "X", 0, None), MetricInfo("row", "Y", 0, None)] if self.grid else []
        return (*OWN, *seen, *cell)

    def fit(self, settings: Mapping[str, Any]) -> None:
        """Make the environment again if the settings have changed.

        Raises:
            ConnectError: with these settings it is a different game.
        """
        if json.dumps(settings, sort_keys=True) == self._made_with:
            return
        before = self.metrics, self.actions
        self.environment.close()
        self.__init__(  # type: ignore[misc]
            self.name,
            settings,
            map_key=self.map_key,
            most=self.most,
            grid=self.grid,
            masked=self.masked,
        )
        if (self.metrics, self.actions) != before:
            raise ConnectError(
                f"{self.name} has other actions or observations with other settings",
                hint="write a separate description for it",
            )

    def play(self, client: Client) -> None:
        """Play one game to its end, from `reset` or from a known state."""
        self.fit({**client.settings, "variant": client.variant, "map": client.map})
        seed, planned = client.game_seed, client.planned
        moments = list(self.states.begin(seed, planned) or ())
        if not moments:
            moments.append(self._first(seed))
        for moment in moments[:-1]:
            self._tell(client, moment)
            client.select(len(moment.allowed))
        while True:
            moment, made = moments[-1], len(moments) - 1
            self._tell(client, moment)
            if moment.over:
                return client.supply_outcome(moment.values[0])
            if made == len(planned):
                self.states.keep(seed, planned, tuple(moments))
            action = moment.allowed[client.select(len(moment.allowed))]
            moments.append(self._next(moment, action))

    def _first(self, seed: int) -> _Moment:
        """Begin an episode; if the last one could not begin, the environment is made again."""
        if self.states.spoilt:
            with contextlib.suppress(Exception):
                self.environment.close()
            self.environment = _make(self.name, self._arguments(json.loads(self._made_with)))
            self.states.environment, self.states.spoilt = self.environment, False
        try:
            begun = self.states.environment.reset(seed=seed)
        except Exception:
            self.states.spoilt = True
            raise
        seen, info = _returned("reset", begun)
        return self._moment((0.0, 0.0, 0, False, False), seen, info, hashlib.blake2b(digest_size=8))

    def _next(self, moment: _Moment, action: int) -> _Moment:
        """Make a step."""
        total, _, steps, _, _ = moment.values[: len(OWN)]
        seen, given, done, cut, info = _returned("step", self.states.environment.step(self.first + action))
        try:
            reward = float(given)
        except (TypeError, ValueError) as e:
            raise ConnectError("the reward of a step is not a number", found=repr(given)[:200]) from e
        return self._moment((total + reward, reward, int(steps) + 1, done, cut), seen, info, moment.whole.copy())

    def _moment(
        self, own: tuple[float, float, int, bool, bool], seen: Any, info: Mapping[str, Any], whole: Any
    ) -> _Moment:
        """Return what is reported about a state, and add the state to the hash.

        Args:
            own: the values of OWN.
            seen: the observation.
            info: the environment's additional information.
            whole: the hash before this state, which is updated.
        """
        total, reward, steps, done, cut = own
        allowed = () if done or cut else self._allowed(info)
        cut = cut or not (done or allowed)
        numbers = [v for part in self._read(seen) for v in part[: gym_spaces.MOST_NUMBERS].tolist()][
            : gym_spaces.MOST_NUMBERS
        ]
        cell = divmod(int(numbers[0]), self.grid)[::-1] if self.grid else ()
        gym_spaces.digest(whole, self.environment.observation_space, seen)
        whole.update(repr(reward).encode())
        return _Moment((total, reward, steps, done, cut, *numbers, *cell), allowed, bool(done or cut), whole)

    def _tell(self, client: Client, moment: _Moment) -> None:
        """Report a state to the driver."""
        for symbol, value in zip(self.symbols, moment.values, strict=True):
            client.report_metric(symbol, float(value))
        client.report_score(moment.values[0])
        client.report_hash(int.from_bytes(moment.whole.digest(), "little"))

    def _allowed(self, info: Mapping[str, Any]) -> Sequence[int]:
        """Return the actions that may be chosen; none if the mask allows none."""
        import numpy as np

        mask = info.get("action_mask") if self.masked else None
        if mask is None:
            return range(self.actions)
        try:
            flags = np.asarray(mask)
            fits = flags.shape == (self.actions,) and flags.dtype.kind in "biuf" and bool(np.isfinite(flags).all())
        except ValueError:
            fits = False
        if not fits:
            expected = f"{counted(self.actions, 'number')}, one for each action"
            raise ConnectError(
                f"the action_mask of {self.name} does not fit", found=repr(mask)[:200], expected=expected
            )
        return [int(a) for a in np.flatnonzero(flags)]

    def _read(self, seen: Any) -> list[Any]:
        """Return the numbers of an observation.

        Raises:
            ConnectError: the observation is not in the observation space.
        """
        space = self.environment.observation_space
        try:
            parts = list(gym_spaces.numbers(space, seen))
            count = min(gym_spaces.MOST_NUMBERS, sum(len(part) for part in parts))
            fits = count == len(self.parts) and all(part.dtype.kind in "biuf" for part in parts)
        except (KeyError, IndexError, TypeError, ValueError):
            fits = False
        if not fits:
            raise ConnectError(
                f"{self.name} returns an observation that is not in its observation_space",
                found=repr(seen)[:200],
                expected=str(space)[:200],
            )
        return parts

    def _arguments(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments for `gymnasium.make`."""
        arguments = {k: v for k, v in settings.items() if k not in ("map", "variant")}
        if settings.get("map"):
            if not self.map_key:
                raise ConnectError(
                    "a map is given, but no argument of the environment to pass it to",
                    found=str(settings["map"]),
                    hint='arguments = ["--map", "map_name"]',
                )
            arguments[self.map_key] = settings["map"]
        return arguments


def _make(name: str, arguments: Mapping[str, Any]) -> Any:
    """Call `gymnasium.make`, and turn its various errors into a ConnectError."""
    try:
        import gymnasium
    except ImportError as e:
        raise ConnectError(
            "the package gymnasium is not installed", found=str(e), hint='pip install "persona-evo[gym]"'
        ) from e
    try:
        return gymnasium.make(name, **arguments)
    except (gymnasium.error.Error, ImportError, TypeError, ValueError, LookupError, AssertionError) as e:
        given = ", ".join(f"{k} = {v!r}" for k, v in arguments.items())
        raise ConnectError(f"gymnasium cannot make {name}: {type(e).__name__}: {e}", found=given or None) from e


def _returned(method: str, found: Any) -> Any:
    """Return what `reset` or `step` returned.

    Raises:
        ConnectError: it is not what Gymnasium demands.
    """
    expected = _RETURNED[method]
    if isinstance(found, tuple) and len(found) == len(expected.split(",")) and isinstance(found[-1], Mapping):
        return found
    raise ConnectError(
        f"{method} does not return what Gymnasium demands", found=repr(found)[:200], expected=f"a tuple: {expected}"
    )


def _bound(value: float) -> float | None:
    return value if abs(value) <= _FINITE else None


def _above_0(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an environment as a connected game."""
    parser = argparse.ArgumentParser(prog="gymnasium", description="A Gymnasium environment as a connected game.")
    parser.add_argument("name", help="the environment's ID, or MODULE:ID")
    parser.add_argument("--map", default="", help="argument of the environment that is given a level's map")
    parser.add_argument(
        "--most",
        type=_above_0,
        default=0,
        help=f"most steps of an episode (default: the environment's own limit, or {MOST_STEPS})",
    )
    parser.add_argument(
        "--grid",
        type=_above_0,
        default=0,
        help="number of columns of the grid, if the observation is the number of a cell",
    )
    parser.add_argument("--no-mask", action="store_true", help="allow all actions, whatever action_mask says")
    given = parser.parse_args(arguments)
    try:
        settings = settings_in(os.environ)
        game = Environment(
            given.name,
            {"variant": "", "map": "", **settings},
            map_key=given.map,
            most=given.most,
            grid=given.grid,
            masked=not given.no_mask,
        )
        import gymnasium

        Client(
            given.name,
            f"gymnasium {gymnasium.__version__}",
            metrics=game.metrics,
            max_decisions=game.most,
            capabilities=("seed", "maps", "hash"),
        ).run(game.play)
    except PersonaEvoError as e:
        print(f"gymnasium: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
