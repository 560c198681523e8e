"""Tests estimates of the time of games against figures computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from persona_evo.agents.agent import Agent
from persona_evo.cli.main import main
from persona_evo.jobs.progress import Forecast
from persona_evo.matches import cost
from persona_evo.matches import job as play
from persona_evo.matches.cost import MatchPace

ONE = MatchPace(40, 1e-3)


def test_moves_take_what_their_budget_is() -> None:
    deep = Agent("a", "search", utility="WIN", iterations=100)
    assert cost.of_move(deep, ONE) == pytest.approx(0.1 + cost.ANYWAY)
    assert cost.of_move(deep.with_budget(None, 1.8), ONE) == 1.8
    assert cost.of_move(deep.with_budget(10_000, 1.8), ONE) == 1.8
    assert cost.of_move(deep.with_budget(100, 1.8), ONE) < 0.2
    assert cost.of_move(Agent("g", "greedy", utility="NM", seconds=1.5), ONE) == pytest.approx(0.1 + cost.ANYWAY)
    timed = deep.with_budget(None, 2.0)
    assert cost.of_game(timed, timed, ONE) == pytest.approx(40 * 2.0 + cost.APIECE)
    assert cost.of_game(timed, Agent("r", "random"), ONE) < 40 * 2.0 / 5


def test_a_forecast_weighs_what_is_left_and_follows_the_clock() -> None:
    ahead = Forecast([1.0] * 10 + [30.0], 2)
    assert ahead.left == pytest.approx(20)
    ahead.skip([1.0] * 2)
    assert ahead.left == pytest.approx(19)
    ahead.made([1.0] * 8, 4.0)
    assert ahead.left == pytest.approx(15), "as fast as was thought"
    slow = Forecast([100.0] * 2, 1)
    slow.made([100.0], 300.0)
    assert slow.left == pytest.approx(300, rel=0.05), "three times slower than was thought"


def test_a_long_match_says_so_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*task: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(play, "play_one", stop)
    words = ["match", "colosseum", "uct_walls", "killer_moves", "--size", "5", "--jobs", "1", "--out"]
    assert main([*words, str(tmp_path / "long"), "--games", "500"]) == 130
    said = capsys.readouterr().err
    assert "500 games take about" in said and " h " in said and "1.8 to 1.9 s a move" in said
    assert "the same command continues" in said
    assert main([*words, str(tmp_path / "short"), "--games", "2", "--iterations", "20"]) == 130
    assert "take about" not in capsys.readouterr().err
