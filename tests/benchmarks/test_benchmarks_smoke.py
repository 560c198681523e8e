"""The benchmark command prints and writes its table (its figures are not tested, since machines differ)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from persona_evo.search.plan import TreePolicy
from persona_evo.seeds import stream
from tests.benchmarks import caverns, classes, cores, engine, playthroughs, studies, yardstick
from tests.benchmarks.__main__ import BENCHMARKS, Choice, main
from tests.benchmarks.levels import game
from tests.benchmarks.report import HEADINGS, REACHED, SHORT, SKIPPED, Row, compared, judge, markdown

TINY = engine.Effort(500, 50, {500: (2, 2)}, 400, (8, 24), 2)


def built() -> bool:
    try:
        yardstick.library()
    except yardstick.Unavailable:
        return False
    return True


needs_yardstick = pytest.mark.skipif(not built(), reason="the yardstick cannot be built on this machine")


def test_the_table_is_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Row("one", "", "12"), compared("two", "at least 1", "13", [0.5, 2, 3], 1)]

    def made(choice: Choice) -> list[Row]:
        return rows if choice.quick else []

    monkeypatch.setitem(BENCHMARKS, "engine", made)
    assert main(["engine", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [c.strip() for c in printed[0].strip("|").split("|")] == list(HEADINGS)
    data = json.loads((tmp_path / "benchmarks.json").read_text())
    assert len(data["rows"]) == len(printed) - 2 == 2 and data["rows"][1]["ratio"] == 2
    assert ("numba" in data["machine"]) and data["options"]["quick"]
    assert printed[3] in (tmp_path / "benchmarks.md").read_text() and "2 (1.25 to 2.5)" in printed[3]


def test_a_training_playthrough_is_measured_with_each_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playthroughs, "SEARCHES", dict.fromkeys(playthroughs.SEARCHES, 20))
    rows = playthroughs.measure(quick=True)
    assert len(rows) == 4 and all(row.ratio is not None and 0 < row.ratio < 1 for row in rows)


@needs_yardstick
def test_the_engine_is_measured_beside_the_yardstick() -> None:
    rows = [*engine.measure_turns(TINY), *engine.measure_ucb1(TINY), *engine.measure_sizes(TINY)]
    assert [row.ratio is not None and row.spread is not None for row in rows] == [True, True, True, False]
    assert all("equal" in row.measured for row in rows[:3]) and "too large for the yardstick" in rows[3].measured
    assert cores.gain_of_yardstick(1_000) > 0


@needs_yardstick
def test_both_sides_play_the_same_games_and_find_the_same_plans() -> None:
    for field in (*engine.fields()[2:5], *engine.caverns((16,))):
        assert engine.first_difference(field, 500, 11) is None
        policies = {yardstick.UCB1: TreePolicy.ucb1()}
        policies |= {kind: TreePolicy.of(text, game()) for kind, text in engine.FORMULAS.values()}
        for kind, policy in policies.items():
            pair = engine.Pair(field, 2_000, kind, policy)
            plan = pair.ours()
            assert engine.same(plan, pair.theirs()), (field.name, policy.text)
            assert plan.nodes > engine.SEARCHING * 2_000, (field.name, policy.text)


@needs_yardstick
def test_a_difference_between_both_sides_is_found() -> None:
    one, other = engine.fields()[:2]
    mixed = engine.Field("mixed", one.level, other.text)
    assert engine.first_difference(mixed, 200, 1) is not None
    ours = engine.Pair(one, 300, yardstick.UCB1, TreePolicy.ucb1())
    assert not engine.same(ours.ours(), ours.searcher.search(yardstick.METRICS, 300, stream(engine.SEED)))
    with pytest.raises(yardstick.Unavailable, match="254 tiles"):
        yardstick.Map(engine.caverns((24,))[0].text, 200)


def test_without_a_yardstick_a_row_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardstick.platform, "machine", lambda: "aarch64")
    yardstick.library.cache_clear()
    try:
        (row,) = engine.measure(TINY)
        assert row.verdict == SKIPPED and "aarch64" in row.measured
    finally:
        yardstick.library.cache_clear()


def test_searches_of_others_are_measured_on_the_same_class_or_left_out() -> None:
    rows = classes.measure(40, 1)
    assert len(rows) == len(classes.PEERS)
    assert all((row.verdict == SKIPPED) == ("not installed" in row.measured) for row in rows)


def test_levels_of_any_size_are_drawn_from_a_seed() -> None:
    for side in (8, 13, 40):
        text = caverns.cavern(side, 3)
        level = game().load(text, "made")
        assert text == caverns.cavern(side, 3) != caverns.cavern(side, 4)
        assert [len(row) for row in text.splitlines()] == [side] * side
        assert 0 < game().measure(level, level.start)["PE"] < 1, "the exit can be reached"


def test_a_game_for_two_is_measured_beside_the_course(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["colosseum", "--quick"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 4 and all("Colosseum" in row for row in rows)
    assert ["course 611/s" in rows[0], "course 85/s" in rows[1], "published 36 " in rows[3]] == [True] * 3


def test_an_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["engin"])
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert all(name in said for name in BENCHMARKS)


def test_a_ratio_below_the_goal_is_called_short() -> None:
    assert judge("w", "r", "m", 0.59, 0.6).verdict == SHORT
    assert judge("w", "r", "m", 0.6, 0.6).verdict == REACHED
    assert markdown([Row("what", "goal", "12", 0.1234)]).splitlines()[2].split("|")[4].strip() == "0.123"


def test_a_study_writes_its_table_as_it_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert studies.main(["search", "--quick", "--trials", "1", "--out", str(tmp_path)]) == 0
    rows = list(csv.DictReader((tmp_path / "search.csv").open(encoding="utf-8")))
    assert len(rows) == len(capsys.readouterr().out.splitlines()) == 2 * 2 * 4
    assert {r["what"] for r in rows} == {"everything", "anytime"}
    for row in rows[8:]:
        base = next(r for r in rows[:8] if (r["persona"], r["of"]) == (row["persona"], row["of"]))
        assert float(row["difference"]) == pytest.approx(float(row["utility"]) - float(base["utility"]), abs=2e-4)
    with pytest.raises(SystemExit):
        studies.main(["serch"])
