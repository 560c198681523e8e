"""Tests the random numbers of connected games against the vectors that the C# side also replays."""

import json
from pathlib import Path

import pytest

from persona_evo.seeds import SplitMix64

pytestmark = pytest.mark.quick

GOLDEN = json.loads((Path(__file__).parent / "golden_random.json").read_text(encoding="utf-8"))


def drawn(kind, draw):
    """Draw for every vector of a kind, and compare with what it expects."""
    assert GOLDEN[kind]
    for vector in GOLDEN[kind]:
        rng = SplitMix64(int(vector["seed"]))
        assert draw(rng, vector) == vector["expected"], vector


def test_next():
    drawn("next", lambda rng, v: [str(rng.next()) for _ in v["expected"]])


def test_below():
    drawn("below", lambda rng, v: [rng.below(n) for n in v["n"]])


def test_unit():
    drawn("unit", lambda rng, v: [rng.unit() for _ in v["expected"]])


def test_weighted():
    drawn("weighted", lambda rng, v: [rng.weighted(v["weights"]) for _ in v["expected"]])


def test_shuffle():
    drawn("shuffle", lambda rng, v: (lambda items: (rng.shuffle(items), items)[1])(list(range(len(v["expected"])))))


def test_all_vectors_are_replayed():
    assert set(GOLDEN) - {"about"} == {"next", "below", "unit", "weighted", "shuffle"}


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [float("nan")], [float("inf")]])
def test_weights_that_are_none_are_refused(weights):
    from persona_evo.errors import PersonaEvoError

    with pytest.raises((PersonaEvoError, ValueError)):
        SplitMix64(1).weighted(weights)
