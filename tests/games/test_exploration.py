"""Tests that explorations by compiled code agree with the rules called one state at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from persona_evo.games import registry
from persona_evo.games.core import LOST, RUNNING, Game, Level
from persona_evo.games.exploration import explore
from persona_evo.games.following import Following
from persona_evo.games.mapsets import resolve
from tests.examples.vault import GAME as VAULT

Move = tuple[bytes, int, bytes]


def reference(game: Game, level: Level, most: int) -> tuple[list[bytes], list[int], list[tuple[int, ...]], list[Move]]:
    """States, outcomes, what follows, and all moves, by rules that Python calls one by one."""
    rules, tables, rng = game.rules(), level.tables, np.ones(2, dtype=np.int64)
    states, after, moves = [level.start.copy()], [()], []
    number = {int(rules.key(tables, level.start)): 0}
    for i in range(most):
        if i == len(states):
            break
        following = []
        for action in game.legal(level, states[i]) if game.over(level, states[i]) == RUNNING else []:
            state = states[i].copy()
            rules.step(tables, state, action, rng)
            moves.append((states[i].tobytes(), action, state.tobytes()))
            to = number.setdefault(int(rules.key(tables, state)), len(states))
            if to == len(states):
                states.append(state)
                after.append(())
            following.append(to)
        after[i] = tuple(dict.fromkeys(following))
    return [s.tobytes() for s in states], [game.over(level, s) for s in states], after, moves


@pytest.mark.parametrize(("name", "of", "most"), [("minidungeons2", "test01", 700), ("puyo", "five01", 40)])
def test_many_states_a_call_are_what_the_rules_give_one_by_one(name: str, of: str, most: int) -> None:
    game = registry.get(name)
    level = resolve(game, [of])[0]
    seen: list[Move] = []

    def tell(before: NDArray[Any], actions: NDArray[np.int64], after: NDArray[Any]) -> None:
        seen.extend((a.tobytes(), int(m), b.tobytes()) for a, m, b in zip(before, actions, after, strict=True))

    found = explore(game, level, most, tell)
    states, status, after, moves = reference(game, level, most)
    assert Following(game, level).most > 1 and found.looked == most
    assert [s.tobytes() for s in found.states] == states
    assert (found.status, found.after, seen) == (status, after, moves)


@pytest.mark.parametrize(
    ("name", "of", "limits"),
    [
        ("minidungeons2", "test04", {"until": LOST}),
        ("puyo", "five01", {"hopeless": 5}),
        ("roguelike2d", "forward01", {"held": 150}),
        ("roguelike2d", "forward01", {"most": 33}),
    ],
)
def test_an_exploration_ends_where_it_would_state_by_state(
    name: str, of: str, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = registry.get(name)
    level = resolve(game, [of])[0]
    many = explore(game, level, **{"most": 4_000, **limits})
    monkeypatch.setattr("persona_evo.games.following.ROWS", 1)
    single = explore(game, level, **{"most": 4_000, **limits})
    assert (many.looked, many.status, many.depth, many.after) == (
        single.looked,
        single.status,
        single.depth,
        single.after,
    )
    assert not many.exhausted
    assert 0 < many.looked < 4_000


def test_a_class_is_asked_for_one_state_at_a_time() -> None:
    level = VAULT.load("0\n#######\n#@ $ >#\n#######\n", "made")
    assert Following(VAULT, level).most == 1
    found = explore(VAULT, level)
    states, status, after, _ = reference(VAULT, level, 10_000)
    assert found.exhausted and len(found.states) == len(states) and (found.status, found.after) == (status, after)
