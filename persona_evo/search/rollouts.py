"""Rollout policies from other packages: compiled functions that play a rollout from a new node.

A rollout policy takes the place of the game's random moves. It is compiled once for each game, with the game's own
functions in the places of `legal`, `step`, `over` and `measure`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import ClassVar

from persona_evo import extensions
from persona_evo.arguments import checked_fields
from persona_evo.compiling import Callback, with_names
from persona_evo.compiling.marks import is_marked
from persona_evo.errors import SettingsError
from persona_evo.extensions import Extension
from persona_evo.games.core import Game, Rollout, Rules

RANDOM = "random"
"""The name of the game's own rollouts."""

_nothing: Callable[..., int] = int
legal = step = over = measure = _nothing
"""The rules of the game, for a rollout policy to call (see the table in `persona_evo.games.core`)."""


@checked_fields()
@dataclass(frozen=True)
class RolloutPolicy(Extension):
    """A rollout policy that another package adds; its name is a value of `SearchSettings.rollout_policy`.

    Attributes:
        play: a function that is marked with `compiled` and has the parameters of `persona_evo.games.core.play_out`. It
            makes up to `length` moves and returns how many it made. It calls `legal`, `step`, `over` and `measure`,
            which it imports from this module by these names, and draws random numbers only from `rng`.
        help: one line that says how it plays.

    Raises:
        SettingsError: the function is not marked.
    """

    group: ClassVar[str] = "persona_evo.rollout_policies"
    noun: ClassVar[str] = "rollout policy"

    play: Callable[..., int]
    help: str = ""

    def __post_init__(self) -> None:
        if not is_marked(self.play):
            found = getattr(self.play, "__name__", type(self.play).__name__)
            raise SettingsError("a rollout policy is not compiled", found=found, hint="write @compiled above it")


def with_rollouts(game: Game, rules: Rules, name: str) -> Rules:
    """Return the rules of a game with the rollouts of a policy.

    Raises:
        SettingsError: the policy cannot be loaded, or the game is not compiled.
    """
    if name == RANDOM:
        return rules
    if not game.compiled:
        raise SettingsError(
            f"{game.title} plays its own rollouts",
            found=f"rollout policy {name!r}",
            expected="a game with compiled rules",
            hint="persona-evo game new NAME --compiled shows how to write them",
        )
    play = extensions.load(RolloutPolicy, name).play
    return rules._replace(rollout=_bound(play, rules.legal, rules.step, rules.over, rules.measure))


@cache
def _bound(play: Callable[..., int], *functions: Callback) -> Callback:
    """Return a policy's function that calls the rules of a game; the same object each time."""
    assert isinstance(play, FunctionType)
    rules = {of: one.plain for of, one in zip(("legal", "step", "over", "measure"), functions, strict=True)}
    return Callback(with_names(play, **rules), Rollout)
