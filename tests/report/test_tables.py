"""Tests tables for terminals and CSV files."""

from __future__ import annotations

import csv
import dataclasses
import io
from pathlib import Path

import pytest

from persona_evo.games.core import Metric
from persona_evo.games.findings import Finding
from persona_evo.intervals import Interval, wilson
from persona_evo.playtest import compare, compare_versions
from persona_evo.playtest.correlations import correlations
from persona_evo.playtest.metrics import EVERY, Bound, Measure
from persona_evo.playtest.requirement import Check
from persona_evo.playtest.summaries import summarise
from persona_evo.report import between, csv_rows, layout, tables
from persona_evo.report.plots import main_charts
from persona_evo.report.tables import Table
from tests.playtest.makers import INFOS, drawn, group, played

pytestmark = pytest.mark.quick

RECORDS = group("one", "runner", 10, 10) + group("one", "collector", 4, 10) + group("two", "runner", 5, 10)
SUMMARIES = summarise(RECORDS, INFOS, {("one", "runner"): Bound(1.0, True)})


def test_columns_line_up_in_any_script() -> None:
    text = Table("t", ["name", "n"], [["迷宮", "1"], ["a\u0301b", "22"], ["long name", "333"]]).render()
    widths = {layout.columns(line) for line in text.splitlines()[1:]}
    assert widths == {len("long name  333")}


def test_a_wide_table_goes_on_below_with_the_first_column_again() -> None:
    table = Table("t", ["what", "aaaa", "bbbb", "cccc"], [["row", "1", "2", "3"]])
    lines = table.render(width=16).splitlines()
    assert all(len(line) <= 16 for line in lines)
    assert [line for line in lines if line.startswith("what")] == ["what  aaaa  bbbb", "what  cccc"]
    assert "3" in lines[-1]
    assert table.render(width=5).count("what") == 3


def test_control_characters_do_not_reach_the_terminal() -> None:
    text = Table("\x1b[2Jboo", ["a"], [["x\ny\x07"]], ["\x9b"]).render()
    assert "\x1b" not in text and "\x07" not in text and "\x9b" not in text and "x?y?" in text


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", "1 ± 2 → 迷"), ("ascii", "1 +- 2 -> \\u8ff7")])
def test_output_that_takes_only_ascii(encoding: str, expected: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    tables.put(stream, "1 ± 2 → 迷")
    stream.flush()
    assert raw.getvalue().decode(encoding) == expected + "\n"


def test_every_sign_of_the_tables_has_an_ascii_form() -> None:
    text = "\n".join(
        [
            tables.summary_table(SUMMARIES, INFOS, "one").render(),
            tables.comparison_table(compare.between_players(RECORDS, INFOS)).render(),
            tables.counts_table(compare.versus_baseline(RECORDS, [("runner", "collector")], INFOS)).render(),
        ]
    )
    assert not text.isascii() and text.translate(tables.ASCII).isascii()


def test_summary_table_of_a_level_and_of_all() -> None:
    table = tables.summary_table(SUMMARIES, INFOS, "one")
    cells = {row[0]: row[1:] for row in table.rows}
    assert table.title == "one · 10 trials" and list(table.headers) == ["", "runner", "collector"]
    assert cells["win rate"] == ["100 % (72–100)", "40 % (17–69)"]
    assert cells["deaths"] == ["none", "ogre 6"] and cells["limit"] == ["1.000 proven", "–"]
    assert cells["TO treasures opened"][0].endswith(" %") and "±" in cells["TO treasures opened"][0]
    assert "ST steps taken" in cells and "steps" not in cells
    every = tables.summary_table(SUMMARIES, INFOS)
    assert every.title == "all levels · 10–20 trials" and "limit" not in {row[0] for row in every.rows}
    assert tables.summary_table([], INFOS).rows == []
    few = tables.summary_table(summarise(group("one", "runner", 3, 4, treasure=0.95), INFOS), INFOS, "one")
    cells = {row[0]: row[1] for row in few.rows}
    assert "±" not in cells["TO treasures opened"] and tables.FEW_NOTE in few.notes
    assert tables.FEW_NOTE not in table.notes


@pytest.mark.parametrize(
    ("value", "ratio", "text"),
    [
        (Interval(0.462, 0.441, 0.483, 50), True, "46.2 ± 2.1 %"),
        (Interval(3.2, 2.9, 3.5, 50), False, "3.20 ± 0.30"),
        (Interval(0.98, 0.94, 1.0, 50), True, "98.0 % (94.0–100.0)"),
        (Interval(3.2, 2.9, 3.3, 50), False, "3.20 (2.90–3.30)"),
        (Interval(277, 271, 283, 50), False, "277 ± 6"),
        (Interval(5, 5, 5, 1), False, "5.00"),
    ],
)
def test_intervals_as_people_read_them(value: Interval, ratio: bool, text: str) -> None:
    assert tables.interval(Measure("k", "k", lambda r: 0.0, ratio=ratio), value) == text


def test_an_interval_beyond_the_range_of_its_metric_is_not_shown() -> None:
    value, wide = Interval(0.667, -0.767, 2.101, 3), Measure("k", "k", lambda r: 0.0)
    assert tables.interval(dataclasses.replace(wide, low=0, high=1), value) == "0.667"
    assert tables.interval(wide, value) == "0.667 ± 1.434"


def test_files_have_no_ends_of_an_interval_of_one_value() -> None:
    (one,) = [r for r in csv_rows.summary_rows(summarise(RECORDS[:1], INFOS)[:1]) if r["measure"] == "TO"]
    assert (one["low"], one["high"], one["n"]) == ("", "", 1)


def test_rows_without_any_variation_are_left_out() -> None:
    rows = compare_versions.compare_levels([played("a")] * 20, [played("b", treasure=0.9)] * 20, INFOS)
    assert [r.measure.key for r in rows if r.differs()] == ["TO"]
    every = tables.comparison_table(rows)
    assert [row[1] for row in every.rows] == ["treasures opened"] and "4 rows omitted" in every.notes[1]
    assert not tables.comparison_table(rows, only_differing=True).rows, "the sentence says it all"


def test_rates_show_wilsons_interval() -> None:
    measure = Measure("win_rate", "win rate", lambda r: 0.0, ratio=True, rate=True)
    assert tables.interval(measure, wilson(49, 50)) == "98 % (90–100)"


def test_tables_of_the_paper() -> None:
    rows = compare.versus_baseline(RECORDS, [("runner", "collector")], INFOS)
    counted = tables.counts_table(rows)
    assert ["win rate", "1 / 0"] in counted.rows and counted.headers[0] == "better / worse, of 1 level"
    nothing = Interval(0, 0, 0, 9)
    still = [dataclasses.replace(r, a=nothing, b=nothing) if r.measure.key == "win_rate" else r for r in rows]
    silent = tables.counts_table(still)
    assert "win rate" not in [row[0] for row in silent.rows] and silent.notes[1].startswith(
        "0 for all players: win rate, "
    )
    only = tables.comparison_table(rows, only_differing=True)
    assert len(only.rows) < len(rows) and all(row[7] == "*" for row in only.rows)


def test_players_are_compared_in_sentences() -> None:
    one = group("one", "a_runner", 50, 50) + group("one", "killer", 10, 50) + group("one", "idler", 10, 50)
    rows = compare.between_players(one, INFOS)
    said = between.sentences(rows)
    assert said[0].startswith("Win rate: a runner above killer by 80 points (95 % interval 6")
    assert "; a runner above idler by 80 points" in said[0] and "killer above idler" not in said[0]
    assert said[-2].startswith("No difference was shown in ") and "time" not in said[-2]
    assert (
        said[-1].startswith("Nearest to one is steps of a runner and killer in one: ") and "would show it" in said[-1]
    )
    assert not any("0 points" in text for text in said[1:])
    two = one + [dataclasses.replace(r, level="two") for r in one]
    assert "a runner above killer in 2 of 2 levels, by 80 points" in between.sentences(compare.between_players(two))[0]
    proven = compare.between_players(drawn("one", "x", 9) + drawn("one", "y", 9, best=0.5))
    assert "Utility: x above y by 0.4 (proven)." in between.sentences(proven)


def test_requirements_and_findings() -> None:
    checks = [Check("a.b > 1", 0.5, False, "a"), Check("c.d > 1", None, False, "", "not known"), Check("e", 2, True)]
    assert [row[0] for row in tables.check_table(checks).rows] == ["FAILED", "FAILED", "passed"]
    assert tables.check_table(checks).rows[1][2] == "–"
    assert tables.findings_text([Finding("impossible", "problem", "map\n1", "bad")]) == "problem: map?1: bad"
    assert tables.findings_text([]) == "no findings"


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_csv_keeps_every_text_and_numbers_without_noise(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert csv_rows.write_csv(path, [{"a": 'x,"y"\nz', "b": 0.1 + 0.2}, {"a": "ü", "c": 1}]) == 2
    rows = read(path)
    assert rows == [{"a": 'x,"y"\nz', "b": "0.3", "c": ""}, {"a": "ü", "b": "", "c": "1"}]
    numbers = [1e-20, 20.0, 1 / 3, float("nan"), 12345678.5, -0.0, True]
    csv_rows.write_csv(path, [{"a": n} for n in numbers])
    assert [r["a"] for r in read(path)] == ["1e-20", "20", "0.33333333", "nan", "12345678", "0", "True"]


def test_csv_has_nothing_that_a_spreadsheet_would_compute(tmp_path: Path) -> None:
    texts = ["=cmd()", "+x", "@a", "-dash", "\tb", "-0.5", "a=b", "2:3", ""]
    csv_rows.write_csv(tmp_path / "t.csv", [{"a": text, "b": 1} for text in texts])
    assert [row["a"] for row in read(tmp_path / "t.csv")] == ["'=cmd()", "'+x", "'@a", "'-dash", "'\tb", *texts[5:]]


def test_csv_of_results(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    csv_rows.write_csv(path, csv_rows.summary_rows(SUMMARIES))
    found = {(r["level"], r["player"], r["measure"]): r for r in read(path)}
    assert float(found["one", "collector", "win_rate"]["value"]) == 0.4
    assert found["one", "collector", "deaths:ogre"]["value"] == "6" and found["*", "runner", "steps"]["n"] == "20"
    assert found["one", "runner", "bound_proven"]["value"] == "1"
    assert found["two", "runner", "bound_ratio"]["value"] == ""
    csv_rows.write_csv(path, csv_rows.record_rows(RECORDS))
    assert len(read(path)) == 30 and float(read(path)[0]["TO"]) == pytest.approx(RECORDS[0].metrics["TO"], rel=1e-7)
    rows = compare.between_players(RECORDS, INFOS)
    csv_rows.write_csv(path, csv_rows.comparison_rows(rows))
    assert [float(r["p_holm"]) for r in read(path)] == pytest.approx([r.p_holm for r in rows], rel=1e-7)


def test_the_wide_table_has_one_row_for_each_level_and_player(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    csv_rows.write_csv(path, csv_rows.wide_rows(SUMMARIES))
    rows = read(path)
    assert [(r["level"], r["player"]) for r in rows] == [(s.level, s.player) for s in SUMMARIES]
    csv_rows.write_csv(path, csv_rows.summary_rows(SUMMARIES))
    for row in read(path):
        (wide,) = [r for r in rows if (r["level"], r["player"]) == (row["level"], row["player"])]
        name = row["measure"]
        assert wide[name] == row["value"] and wide.get(f"{name}_low", "") == row["low"]
        assert wide.get(f"{name}_high", "") == row["high"]
    (collector,) = [r for r in rows if (r["level"], r["player"]) == ("one", "collector")]
    assert (collector["trials"], collector["won"], collector["deaths:ogre"]) == ("10", "4", "6")


def test_correlations_are_cut_and_say_so() -> None:
    structure = {name: {"walls": float(i)} for i, name in enumerate("abcd")}
    records = [r for i, name in enumerate("abcd") for r in group(name, "x", 3 + i, 10, steps=20 + i)]
    rows = correlations(structure, records, INFOS)
    table = tables.correlation_table(rows, limit=1)
    assert len(table.rows) == 1 and table.notes[0].startswith(f"1 of {len(rows)} correlations")
    assert len(csv_rows.correlation_rows(rows)) == len(rows)


def test_a_comparison_of_one_level_keeps_player_and_measure_in_every_block() -> None:
    rows = compare_versions.compare_levels(group("a", "runner", 10, 10), group("b", "runner", 2, 10, steps=40), INFOS)
    table = tables.comparison_table(rows)
    assert "level" not in table.headers and table.keys == 2
    heads = [line for line in table.render(60).splitlines() if line.startswith("players")]
    assert len(heads) > 1 and all(line.split()[:2] == ["players", "measure"] for line in heads)


def test_what_is_always_nothing_or_said_twice_is_left_out_of_a_brief_table() -> None:
    told = [dataclasses.replace(s, repeated=frozenset({"WON"})) for s in SUMMARIES]
    brief = tables.summary_table(told, INFOS, "one", brief=True)
    assert "0 for all players: TU" in brief.notes
    labels = {row[0] for row in brief.rows}
    assert not labels & {"TU teleports used", "WON won"} and "TO treasures opened" in labels
    assert {"TU teleports used", "WON won"} <= {row[0] for row in tables.summary_table(SUMMARIES, INFOS, "one").rows}


def test_brief_tables_leave_out_what_the_plan_says_of_the_whole_game_and_what_a_level_lacks() -> None:
    infos = (Metric("HL", "health left", ""), Metric("PD", "potions drunk", "", ratio=True))
    have = [played(level, hit_points=[10.0, 4.0]) for level in ("dry", "wet")]
    for record, drunk in zip(have, (0.0, 0.8), strict=True):
        record.metrics.clear()
        record.metrics.update(HL=0.4, PD=drunk)
    summed = summarise(have, infos, absent={("dry", "PD")})
    summed = [dataclasses.replace(s, repeated=frozenset({"HL"})) for s in summed]
    rows = {
        title: {row[0]: row[1] for row in tables.summary_table(summed, infos, title, brief=True).rows}
        for title in ("dry", "wet", EVERY)
    }
    assert "HL health left" not in rows["wet"] and rows["wet"]["hit points left"] == "4.00"
    assert "PD potions drunk" not in rows["dry"] and rows[EVERY]["PD potions drunk"] == "80.0 %"
    assert "only over the levels that have such things: PD" in tables.summary_table(summed, infos, brief=True).notes
    charts = [[bar.title for bar in main_charts([s], infos)] for s in summed]
    assert "potions drunk" not in charts[0] and "potions drunk" in charts[1]


def test_where_less_is_better_the_lower_one_counts_as_better() -> None:
    quick, slow = group("one", "runner", 10, 10, steps=10), group("one", "runner/ucb1", 10, 10, steps=40)
    rows = [
        dataclasses.replace(r, b=Interval(1, 1, 1, 10)) if r.measure.better == "neutral" else r
        for r in compare.versus_baseline(quick + slow, [("runner", "runner/ucb1")], INFOS)
    ]
    table = tables.counts_table(rows)
    assert table.title == "against the baseline: ucb1" and ["steps", "1 / 0"] in table.rows
    assert any(row[0] == "teleports used (higher / lower)" for row in table.rows)


def test_places_are_explained_once() -> None:
    text = tables.findings_text([Finding("deaths", "notice", "a", "at 18:9", places=((8, 17),))] * 2)
    assert text.count("row:column") == 1


def test_what_is_proven_by_one_search_says_so_and_has_no_interval(tmp_path: Path) -> None:
    records = drawn("one", "runner", 20) + group("one", "base", 17, 20) + drawn("one", "killer", 20, best=0.5)
    summaries = summarise(records, INFOS)
    text = tables.summary_table(summaries, INFOS, "one").render(300)
    lines = {line.split("  ")[0]: line for line in text.splitlines()}
    assert "100 % (proven, one search)" in lines["win rate"] and "85 % (64–95)" in lines["win rate"]
    assert "0.900 (proven, one search)" in lines["utility"] and tables.PROVEN_NOTE in text
    assert tables.PROVEN_NOTE not in tables.summary_table(SUMMARIES, INFOS, "one").render()
    csv_rows.write_csv(tmp_path / "s.csv", csv_rows.summary_rows(summaries))
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as stream:
        rows = {(r["player"], r["level"], r["measure"]): r for r in csv.DictReader(stream)}
    known = rows["runner", "one", "utility"]
    assert (known["low"], known["high"], known["n"], known["note"]) == ("", "", "20", "proven, one search")
    assert rows["base", "one", "utility"]["low"] != "" and rows["base", "one", "utility"]["note"] == ""


def test_comparisons_without_a_p_value_show_none() -> None:
    rows = compare.compare_groups(drawn("one", "runner", 20), drawn("one", "killer", 20, best=0.5), INFOS)
    table = tables.comparison_table(rows)
    (line,) = [row for row in table.rows if row[1] == "utility"]
    assert line[4:] == ["proven", "–", "–", "*", "proven, one search each"] and tables.EXACT_NOTE in table.notes
    (cells,) = [row for row in csv_rows.comparison_rows(rows) if row["measure"] == "utility"]
    assert (cells["p"], cells["p_holm"], cells["differs"]) == ("", "", 1)
    assert tables.EXACT_NOTE in tables.counts_table(rows).notes


def test_playthroughs_name_the_search_they_are_drawn_from() -> None:
    first, second = csv_rows.record_rows(drawn("one", "runner", 2))
    assert (first["search"], second["search"]) == ("", 0)
    assert (second["utility"], second["best_utility"]) == (0.895, 0.9)
