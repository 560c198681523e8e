"""Rules passed by address."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from persona_evo.compiling import INTERPRET, jit
from persona_evo.games import mapsets, registry
from persona_evo.games.core import entry, entry_type
from tests.examples import corridor

GAME = registry.get("minidungeons2")
compiled_only = pytest.mark.skipif(INTERPRET, reason="everything is plain Python")


def _count(legal, tables, state, actions):  # type: ignore[no-untyped-def]
    return legal(tables, state, actions) + 100


@compiled_only
def test_compiled_code_calls_the_function_at_an_address() -> None:
    from numba import types

    row, ints = types.uint16[::1], types.int64[::1]
    count = jit(_count, types.int64(entry_type("legal"), row, row, ints), final=True)
    (of,) = mapsets.resolve(GAME, ["train01"])
    actions = np.zeros(of.max_actions, dtype=np.int64)
    found = count(GAME.rules().entries.legal, of.tables, of.start, actions)
    assert found == 100 + len(GAME.legal(of, of.start)) and list(actions[: found - 100]) == GAME.legal(of, of.start)
    with pytest.raises(TypeError):
        count(GAME.rules().entries.step, of.tables, of.start, actions)


@compiled_only
def test_types_of_addresses_travel() -> None:
    there = pickle.loads(pickle.dumps(entry_type("step")))
    assert there == entry_type("step") and there != entry_type("legal")
    assert hash(there) == hash(entry_type("step")) and there.signature == entry_type("step").signature


def test_plain_functions_are_passed_as_they_are() -> None:
    rules = corridor.GAME.rules()
    assert rules.entries == rules and entry(len) is len
