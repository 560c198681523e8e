"""Tests the heap of nodes: the order of output, with nodes added and removed in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.search.heap import lot, pop, push

pytestmark = pytest.mark.quick


def before(scores: list[float], a: int, b: int) -> bool:
    return scores[a] > scores[b] if scores[a] != scores[b] else lot(a, 7) < lot(b, 7)


@given(st.lists(st.floats(-3, 3).map(lambda x: round(x, 1)), max_size=60), st.lists(st.booleans(), max_size=60))
def test_nodes_come_out_in_their_order(scores: list[float], takes: list[bool]) -> None:
    heap = np.zeros(len(scores) + 1, dtype=np.int32)
    held: list[int] = []
    for node in range(len(scores)):
        push(heap, len(held), node, before, scores)
        held.append(node)
        if node < len(takes) and takes[node]:
            best = pop(heap, len(held), before, scores)
            held.remove(best)
            assert not any(before(scores, other, best) for other in held)
    out = [pop(heap, size, before, scores) for size in range(len(held), 0, -1)]
    assert sorted(out) == sorted(held)
    assert [(-scores[n], lot(n, 7)) for n in out] == sorted((-scores[n], lot(n, 7)) for n in held)
