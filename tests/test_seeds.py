"""The random numbers: the same compiled and not, and told by nobody's warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from persona_evo.compiling import callback
from persona_evo.compiling.arrays import IntRow
from persona_evo.errors import SettingsError
from persona_evo.seeds import below, check_weights, draw, stream

pytestmark = pytest.mark.quick

WORD = 0xFFFFFFFF


def by_hand(a: int, b: int, count: int) -> list[int]:
    """Return the generator in 32-bit arithmetic, written down from its description."""

    def turned(x: int, k: int) -> int:
        return ((x << k) | (x >> (32 - k))) & WORD

    found = []
    for _ in range(count):
        found.append(turned(a * 0x9E3779BB & WORD, 5) * 5 & WORD)
        b ^= a
        a, b = (turned(a, 26) ^ b ^ (b << 9)) & WORD, turned(b, 13)
    return found


@pytest.mark.parametrize("state", [(1, 0), (0, 1), (WORD, WORD), (0x80000000, 0x7FFFFFFF), tuple(stream(7).tolist())])
def test_compiled_and_plain_draws_are_the_generators(state: tuple[int, int]) -> None:
    wanted = by_hand(*state, 200)
    fast, slow, found = np.array(state, dtype=np.int64), np.array(state, dtype=np.int64), np.zeros(200, dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [int(draw(slow)) for _ in range(200)] == wanted
    assert drawn(fast, found) == 200 and found.tolist() == wanted
    assert (fast == slow).all()


@callback()
def drawn(rng: IntRow, found: IntRow) -> int:
    for k in range(len(found)):
        found[k] = draw(rng)
    return len(found)


def test_nothing_is_warned_of_where_the_engine_is_plain_python() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rolls = [below(stream(seed), 6) for seed in range(300)]
    assert set(rolls) == set(range(6))


@pytest.mark.parametrize("weight", [10**400, -1, float("nan"), float("inf")])
def test_a_weight_that_no_finite_float_holds_is_out_of_range(weight):
    with pytest.raises(SettingsError, match="a weight is out of range"):
        check_weights([1.0, weight])
