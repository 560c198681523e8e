"""Decisions with many choices, searched from outside: a game of 4 decisions with 400 choices each."""

import re
from pathlib import Path

import pytest

from persona_evo.seeds import SplitMix64
from tests.cli.tool import typed
from tests.examples import towers
from tests.examples.towers import SIZE, TOWERS, Towers

ROLLOUTS, LEVEL = 700, 3


def by_chance(weighted):
    """The best score of as many playthroughs by chance alone."""
    random, best = SplitMix64(1), 0.0
    for _ in range(ROLLOUTS):
        game = Towers(LEVEL)
        while game.built < TOWERS:
            weights = [0.1 + gain for gain in game.gains]
            game.build(random.weighted(weights) if weighted else random.below(SIZE * SIZE))
        best = max(best, game.score())
    return best


def searched(folder, *lines):
    """The score that a search with the defaults comes to."""
    file = folder / "towers.toml"
    file.write_text("\n".join((f'game = "{Path(towers.__file__).as_posix()}"', *lines)), encoding="utf-8")
    words = ("connect", "search", file, "--level", f"default@{LEVEL}", "--iterations", ROLLOUTS, "--seed", 1)
    ran = typed(folder, *words)
    assert ran.code == 0, ran.err
    return float(re.search(r"utility ([0-9.]+)", ran.out)[1])


@pytest.mark.parametrize("rollout", ["uniform", "weights"])
def test_the_default_search_beats_chance_where_there_are_400_choices(tmp_path, rollout):
    found = searched(tmp_path, f'rollout = "{rollout}"')
    assert found > by_chance(rollout == "weights")
    assert found > searched(tmp_path, f'rollout = "{rollout}"', "widening = 0")
