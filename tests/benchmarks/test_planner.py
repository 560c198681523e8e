"""The planner's benchmark: its levels match their description, its statistics are correct, its table is complete."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.benchmarks import planner, small_levels
from tests.benchmarks.__main__ import main
from tests.benchmarks.contest import PERSONAS, PLANNER, SINGLE, UCB1, Result, contenders
from tests.benchmarks.standings import Best, Standings, fewer


def result(player: str = PLANNER, seed: int = 0, utility: float = 0.5, won: bool = True, **more: object) -> Result:
    """Make a playthrough of the monster killer."""
    values = {
        "group": "g",
        "level": "a",
        "persona": "monster_killer",
        "iterations": 300,
        "proven": False,
        "cpu": 0.1,
        "steps": 9.0,
        "slain": 0.4,
        "opened": 0.0,
        "consumed": 0.2,
        **more,
    }
    return Result(player=player, seed=seed, utility=utility, won=won, **values)  # type: ignore[arg-type]


def test_small_levels_are_small() -> None:
    grids = [small_levels.small(2, number).facts["grid"] for number in range(50)]
    assert {grid.width - 2 for grid in grids} == {grid.height - 2 for grid in grids} == {3, 4, 5}
    assert max(len(grid.objects) for grid in grids) <= 9


def test_a_share_is_of_the_best_known_or_its_distance_from_it() -> None:
    assert Best(0.8, True, False).share(0.6) == pytest.approx(0.75)
    assert Best(0.05, True, False).share(-0.05) == pytest.approx(0.9)
    assert Best(-4.0, False, False).share(-4.0) == 1.0


def test_fewer_wins_are_told_apart_from_luck() -> None:
    assert fewer(0, 20, 20, 20) < 1e-9 and fewer(18, 20, 20, 20) > 0.2 and fewer(20, 20, 0, 20) == 1.0
    ours = [result(seed=k, won=k < 2) for k in range(8)]
    theirs = [result(UCB1, k) for k in range(8)]
    assert Standings(ours + theirs).behind("g", PLANNER, 300) == (("a", "monster_killer"),)
    assert Standings(ours[:2] + theirs[:2]).behind("g", PLANNER, 300) is None


def test_a_proof_that_something_better_contradicts_is_told() -> None:
    wrong = result(proven=True)
    assert Standings([wrong, result(SINGLE, utility=0.6)]).contradicted == [wrong]
    assert Standings([wrong, result(SINGLE, utility=0.5)]).contradicted == []


def test_a_mean_counts_each_level_once_and_another_with_more_is_named() -> None:
    results = [
        result(utility=1.0),
        result(seed=1, utility=1.0),
        result(level="b", utility=0.5, won=False),
        result(SINGLE, level="b", utility=1.0, cpu=0.2),
        result(persona="completionist", slain=0.9),
    ]
    standings = Standings(results)
    standing = standings.standing("g", PLANNER, 300)
    assert standing is not None and standing.shares["monster_killer"] == pytest.approx(0.75)
    assert standing.wins == pytest.approx(2 / 3) and standing.cpu_ratio == pytest.approx(0.5)
    assert ("monster_killer", "completionist") in standings.overtaken("g", PLANNER, 300)
    assert standings.worst("g", PLANNER, 300, 5) == [(("g", "b", "monster_killer"), 0.5)]


def test_the_ablation_leaves_out_each_list_once() -> None:
    whole, *others = contenders()
    without = [c for c in others if c.name.startswith("without")]
    assert len(without) == len(whole.settings.lists) == len({c.name for c in without})
    assert all(len(c.settings.lists) == len(whole.settings.lists) - 1 for c in without)


def test_a_small_run_prints_and_writes_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        "planner",
        "--levels",
        "generated",
        "held_out",
        "--count",
        "1",
        "--budgets",
        "300",
        "--seeds",
        "1",
        "--reference",
        "500",
        "--jobs",
        "1",
        "--personas",
        "runner",
        "completionist",
    ]
    assert main([*given, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.strip() == (tmp_path / "README.md").read_text(encoding="utf-8").strip()
    assert printed.index("## Levels never tuned on") < printed.index("## Generated caves")
    rows = list(csv.DictReader((tmp_path / "pairs.csv").open(encoding="utf-8")))
    players = {c.name for c in contenders()}
    assert {row["player"] for row in rows} - {"reference"} == players
    assert len([row for row in rows if row["player"] in players]) == 2 * 2 * len(players)
    assert all(float(row["share"]) <= 1 + 1e-6 for row in rows)


def test_the_budgets_and_seeds_of_the_goals_are_played_in_full() -> None:
    args = planner.options(["--full"])
    assert args.seeds == 20 and set(args.budgets) >= set(planner.REACH) and set(args.personas) == set(PERSONAS)
