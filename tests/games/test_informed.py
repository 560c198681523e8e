"""Tests rollouts that walk toward objects: where they go, and that nothing else changes."""

import numpy as np
import pytest

from persona_evo.errors import SettingsError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.search.plan import Budget, SearchSettings, TreePolicy, plan, planner_for
from persona_evo.seeds import stream

GAME = registry.get("minidungeons2")


def corridor(end: str):
    """Return a long way to the right with the exit at one end and a hero in the middle."""
    rows = ["XXXXXXXXXXXXXXXXXXXXX", "Xe       H        " + end + "X", "XXXXXXXXXXXXXXXXXXXXX"]
    return GAME.load("\n".join(rows), "corridor")


def ends(variant: str, level, length=40, games=200):
    rules, out = GAME.rules_for(("NE",), variant), []
    for seed in range(games):
        state, actions = level.start.copy(), np.zeros(max(1, level.max_actions), dtype=np.int64)
        played, seen = np.zeros(length, dtype=np.int64), np.zeros((length + 1, len(GAME.metrics)))
        made = rules.rollout(level.tables, state, actions, played, length, stream(seed), seen, 1)
        assert seen[made - 1].tolist() == list(GAME.measure(level, state).values())
        again = level.start.copy()
        for action in played[:made]:
            rules.step(level.tables, again, int(action), stream(0))
        assert (again == state).all()
        out.append(GAME.measure(level, state))
    return out


def test_rollouts_reach_what_random_ones_do_not():
    level = corridor("T ")
    informed, uniform = ends("informed", level), ends("", level)
    assert np.mean([m["TO"] for m in informed]) > 0.4 > 0.2 > np.mean([m["TO"] for m in uniform])
    assert np.mean([m["PE"] == 1 for m in informed]) > 0.9


def test_a_search_with_it_finds_and_proves_the_same():
    level, utility = corridor("T "), parse("TO + 0.1*PE - 0.001*ST", GAME.symbols)
    found = [
        plan(GAME, level, utility, TreePolicy.ucb1(), Budget(20_000), SearchSettings(variant=v, rollout=30), 1)
        for v in ("", "informed")
    ]
    assert found[0].proven and found[1].proven and found[0].utility == pytest.approx(found[1].utility)


def test_games_without_it_say_so():
    with pytest.raises(SettingsError, match="does not have this variant of its rules"):
        planner_for(GAME, corridor("T "), SearchSettings(variant="informd"), 10)
    with pytest.raises(SettingsError, match="variant"):
        SearchSettings(variant=3)  # type: ignore[arg-type]
