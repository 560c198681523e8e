"""The publication's data, and its tables from playthroughs made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import RunError, SettingsError
from persona_evo.evolve.driving import FINISHED
from persona_evo.evolve.outcome import Outcome
from persona_evo.games import mapsets, registry
from persona_evo.jobs.folder import differences
from persona_evo.personas import load as load_persona
from persona_evo.playtest import batch
from persona_evo.playtest.metrics import ONE_EACH, ONE_SEARCH, Bound
from persona_evo.playtest.players import Player
from persona_evo.playtest.records import Playthrough
from persona_evo.search.configuration import comparable
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store.policies import Policy
from persona_evo.studies.keeping import CONFIG
from persona_evo.studies.minidungeons import (
    agreement,
    figures,
    magnitudes,
    paper_tables,
    provenance,
    published,
    results,
)
from persona_evo.studies.minidungeons.evolution_section import evolution_section
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.published import BASELINE, EVOLVED
from persona_evo.studies.minidungeons.report_files import ReportFolder
from persona_evo.studies.minidungeons.results import Difference
from persona_evo.studies.minidungeons.settings import (
    DungeonSettings,
    default_folder,
    levels_for,
    opened,
    reopen,
    training,
)
from persona_evo.studies.minidungeons.workload import Ledger
from tests.playtest.makers import drawn, group
from tests.shared import shared, unsealed

PAPER = published.load("minidungeons")
GAME = registry.get("minidungeons2")
LEVELS = ["test01", "test02"]


def made(level: str, player: str, trial: int, share: float, won: bool, seconds: float) -> Playthrough:
    metrics = dict.fromkeys(GAME.symbols, 0.0)
    metrics |= {"MS": share, "PD": share, "TO": share, "IC": share, "PE": float(won), "WON": float(won), "ST": 10.0}
    persona = player.partition("/")[0]
    return Playthrough(
        level, player, "won" if won else "running", metrics, share, 10, persona=persona, trial=trial, seconds=seconds
    )


def material(folder: Path, seconds: bool = True) -> DungeonResults:
    """Return two levels, three trials. In test01 each evolved persona is better than UCB1, in test02 all are alike; the
    monster killer has the most of everything."""
    personas = [load_persona(name, GAME) for name in PAPER.personas]
    records = []
    for level in LEVELS:
        for k, persona in enumerate(personas):
            high = 0.5 + 0.2 * (k == 1)
            for trial in range(3):
                noise = 0.01 * trial
                share = high + noise if level == "test01" else 0.4 + noise
                records.append(made(level, persona.name, trial, share, level == "test01", 1.0 + noise))
            for trial in range(3):
                records.append(made(level, f"{persona.name}/ucb1", trial, 0.4 + 0.01 * trial, False, 1.01))
    levels = mapsets.resolve(GAME, LEVELS)
    players = [Player(p, TreePolicy.ucb1(), label) for p in personas for label in (p.name, f"{p.name}/ucb1")]
    played = batch.BatchResults(GAME, levels, players, 3, 1, Budget(10), SearchSettings.paper(), records)
    journal: list[dict[str, Any]] = [
        {"generation": g, "island": i, "best": best, "mean": 0.1}
        for g in range(3)
        for i, best in enumerate(([0.3, 0.1], [0.3, 0.5], [0.502, 0.4])[g])
    ]
    names = [p.name for p in personas]
    outcomes = {n: [Outcome(folder / n, FINISHED, 3, None, None, 0.5, 0.4)] for n in names}
    policy = Policy("p", "minidungeons2", formula="PE + MS")
    bounds = {
        (v, p.name): Bound(0.9, v == "test01", {p.priority: 0.8, "WON": 1.0, "ST": 30.0})
        for v in LEVELS
        for p in personas
    }
    return DungeonResults(
        folder,
        DungeonSettings.of("minidungeons", quick=True, trials=3),
        PAPER,
        GAME,
        levels,
        levels[:1],
        PAPER.differing(levels),
        personas,
        outcomes,
        {n: outcomes[n][0] for n in names},
        {n: journal for n in names},
        dict.fromkeys(names, policy),
        played,
        bounds,
    )


def test_the_papers_numbers_are_whole() -> None:
    keys = [row.key for row in PAPER.rows]
    assert len(keys) == 6 and len(PAPER.maps) == 11 == len(PAPER.limits)
    for kind in (EVOLVED, BASELINE):
        assert sorted(PAPER.table2[kind]) == sorted(PAPER.table4[kind]) == sorted(keys) == sorted(PAPER.table3)
        for key in keys:
            assert [len(c) for c in PAPER.table2[kind][key]] == [2] * 4
            counts = PAPER.table4[kind][key]
            assert [len(row) for row in counts] == [4] * 4
            for i in range(4):
                for k in range(4):
                    assert counts[i][k] + counts[k][i] <= 11
    assert all(e + b <= 11 for cells in PAPER.table3.values() for e, b in cells)


def test_limits_have_the_means_that_were_proven() -> None:
    found = published.proven(PAPER, GAME, [load_persona(n, GAME) for n in PAPER.personas])
    means = [sum(found[v, p].utility for v in PAPER.maps) / 11 for p in PAPER.personas]
    assert [round(x, 3) for x in means] == [0.790, 1.000, 0.882, 0.938]
    collector = found["map04", "treasure_collector"]
    assert collector.metrics["TO"] == pytest.approx(4 / 8) and collector.metrics["ST"] == 41
    assert found["map03", "completionist"].metrics["IC"] == pytest.approx(17 / 22, abs=1e-4)


def test_the_papers_maps_are_recognised() -> None:
    folder = shared("levels/md2")
    levels = levels_for(PAPER, GAME, folder)
    assert [v.name for v in levels] == list(PAPER.maps) and PAPER.differing(levels) == []
    assert [v.name for v in training(PAPER, levels)] == ["map01", "map02", "map03", "map04", "map07", "map10"]


def test_other_levels_are_told_from_the_papers(tmp_path: Path) -> None:
    text = mapsets.resolve(GAME, ["test01"])[0].text
    for name in PAPER.maps:
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    levels = levels_for(PAPER, GAME, tmp_path)
    assert PAPER.differing(levels)[0] == "map01 is another map"
    assert len(levels_for(PAPER, GAME, None)) == 11
    assert "test01" in PAPER.differing(levels_for(PAPER, GAME, "test"))[0]
    assert published.digest("ab\r\ncd\r\n\r\n") == published.digest("ab\ncd")


def test_table_two_by_hand(tmp_path: Path) -> None:
    cells = {(s.kind, s.row.key, s.persona): s for s in results.table2(material(tmp_path))}
    own = cells[EVOLVED, "MS", "monster_killer"]
    assert own.paper == (67, 2)
    assert own.here.value == pytest.approx(100 * (0.71 + 0.41) / 2) and own.here.n == 6
    deviation = (sum((x - 56) ** 2 for x in (70, 71, 72, 40, 41, 42)) / 5) ** 0.5
    assert own.here.half == pytest.approx(2.5706 * deviation / 6**0.5, rel=1e-4)
    assert own.limit == pytest.approx(80) and not own.proven
    assert cells[EVOLVED, "win_rate", "runner"].here.value == 50 and cells[EVOLVED, "win_rate", "runner"].limit == 100
    assert cells[BASELINE, "win_rate", "runner"].here.value == 0
    assert cells[EVOLVED, "TO", "runner"].limit is None
    utility = cells[BASELINE, "utility", "runner"]
    assert utility.paper is None and utility.limit == pytest.approx(0.9) and utility.here.value == pytest.approx(0.41)


def test_tables_three_and_four_by_hand(tmp_path: Path) -> None:
    m = material(tmp_path)
    three = {(c.row.key, c.persona): c for c in results.table3(m)}
    assert three["MS", "runner"].here == (1, 0) and three["MS", "runner"].paper == (8, 1)
    assert three["win_rate", "runner"].here == (0, 0)  # 3 wins of 3 against none of 3: p = 0.1
    assert three["seconds", "runner"].here == (0, 0)
    four = {(c.kind, c.row.key, c.persona, c.other): c for c in results.table4(m)}
    assert four[EVOLVED, "MS", "monster_killer", "runner"].here == 1
    assert four[EVOLVED, "MS", "runner", "monster_killer"].here == 0
    assert four[BASELINE, "MS", "monster_killer", "runner"].here == 0
    assert four[EVOLVED, "MS", "completionist", "treasure_collector"].paper is None
    assert results.differences(m) == {"test01": 12, "test02": 0}
    assert results.compared(m) == ("test01", "test02")


def test_magnitudes_are_means_over_maps(tmp_path: Path) -> None:
    found = {(one.row.key, one.persona): one for one in magnitudes.magnitudes(material(tmp_path))}
    runner = found["MS", "runner"]
    assert runner.difference.value == pytest.approx(5.0), "10 points more in one map, the same in the other"
    assert runner.difference.n == 2 and runner.difference.half == pytest.approx(63.53, abs=0.01), "two maps, two values"
    assert runner.effect == pytest.approx(0.75), "certainly more in one map, and as likely as not in the other"
    wins = found["win_rate", "runner"]
    assert wins.difference == (50.0, -100.0, 100.0, 2, ""), "no rate differs by more than 100 points"


def test_each_persona_has_a_best_and_a_worst_map(tmp_path: Path) -> None:
    table = paper_tables.extremes_table(material(tmp_path))
    assert table.rows[0] == ["Runner", "test01", "0.510", "100 %", "test02", "0.410", "0 %"]
    assert [row[1] for row in table.rows] == ["test01"] * 4 and [row[4] for row in table.rows] == ["test02"] * 4


def test_the_convergence_of_all_personas_is_one_figure(tmp_path: Path) -> None:
    plot = figures.convergence(material(tmp_path))
    assert [s.name for s in plot.series] == ["Runner", "Monster Killer", "Treasure Collector", "Completionist"]
    assert [y for _, y in plot.series[0].points] == [pytest.approx(v) for v in (0.3 / 0.502, 0.5 / 0.502, 1.0)]


def test_an_evolution_that_ended_in_its_first_generation_is_left_out_of_convergence(tmp_path: Path) -> None:
    m = material(tmp_path)
    before = len(figures.convergence(m).series)
    m.journals["runner"] = []
    assert len(figures.convergence(m).series) == before - 1
    (tmp_path / "figures").mkdir()
    (tmp_path / "tables").mkdir()
    evolution_section(ReportFolder(tmp_path), m)
    told = (tmp_path / "tables" / "convergence.csv").read_text(encoding="utf-8")
    assert "runner" not in told and "monster_killer" in told


def test_directions_are_held_against_a_rule_that_knows_nothing(tmp_path: Path) -> None:
    m = material(tmp_path)
    rule, sizes = magnitudes.direction_words(results.table3(m))
    assert "has 22 of these 23 directions right" in rule and "14 are no more than the rule has" in rule
    cells = [Difference(row, "runner", (10, 0), (1, 1), 2, 10) for row in PAPER.rows]
    rule, sizes = magnitudes.direction_words(cells)
    assert "has 5 of these 6 directions right" in rule and "0 are no more" in rule
    assert (
        "is 100 points from the paper's in the mean of 6 comparisons; without any difference here it would be 100"
        in sizes
    )
    same = [Difference(row, "runner", (5, 0), (2, 1), 2, 10) for row in PAPER.rows]
    rule, sizes = magnitudes.direction_words(same)
    assert "6 are more than the rule has" in rule and sizes.startswith("Magnitudes: ") and " is 0 points from" in sizes
    assert magnitudes.direction_words([Difference(PAPER.rows[0], "runner", (1, 1), (0, 0), 2, 10)]) == []


def test_agreement_in_words(tmp_path: Path) -> None:
    m = material(tmp_path)
    words = agreement.agreement(m, results.table2(m), results.table3(m), results.table4(m))
    assert any("Directions alone say little" in text for text in words)
    assert words[0].startswith("Table III: 14 of the 23 comparisons")
    killer = next(w for w in words if w.startswith("Monster Killer"))
    assert "in 3 of 6" in killer and "treasures (paper 2 maps above and 5 below, here 1 and 0 of 2)" in killer
    about = "Monsters are what the Monster Killer is about: "
    assert about + "it has the most here (56.0 %), as it has in the paper" in words
    assert any("Runner 0.460 evolved and 0.410 with UCB1 of 0.900 (best known)" in w for w in words)
    assert not any("ERROR" in w for w in words)


def test_a_limit_that_is_beaten_is_an_error(tmp_path: Path) -> None:
    m = material(tmp_path)
    m.bounds["test01", "runner"] = Bound(0.45, True)
    m.bounds["test02", "runner"] = Bound(0.3, False)
    (text,) = agreement.beaten(m)
    assert text.startswith("ERROR: Runner in test01 reaches 0.5200, above the proven limit 0.4500")


def test_convergence_by_hand(tmp_path: Path) -> None:
    m = material(tmp_path)
    found = results.convergence("runner", m.journals["runner"])
    assert (found.generation, found.generations, found.final) == (2, 3, 0.502)
    flat = [{"generation": g, "island": 0, "best": 0.0} for g in range(4)]
    assert results.convergence("runner", flat).generation == 1
    rising = [{"generation": g, "island": 0, "best": float(g)} for g in range(4)]
    assert results.convergence("runner", rising).generation == 4
    assert "so few generations cannot show" in agreement.convergence_words(m, [found])[-1]
    long = results.Convergence("runner", 12, 100, 0.5)
    assert agreement.convergence_words(m, [long])[-1].endswith("here that is so for 1 of 1 persona")


def test_settings_and_their_file(tmp_path: Path) -> None:
    settings = DungeonSettings.of("minidungeons", "modern", quick=True, cross=True, trials=7)
    assert settings.playtest_iterations == 1500 and settings.trials == 7 and settings.cross is not None
    assert DungeonSettings.of("minidungeons", "modern").playtest_iterations == 60_000
    assert (
        DungeonSettings.of("minidungeons").playtest_iterations
        == DungeonSettings.of("minidungeons").iterations
        == 10_000
    )
    levels = mapsets.resolve(GAME, LEVELS)
    opened(tmp_path, settings, GAME, levels).close()
    opened(tmp_path, settings, GAME, levels).close()
    again, same = reopen(tmp_path)
    assert again == settings and [v.text for v in same] == [v.text for v in levels]
    with pytest.raises(RunError, match="holds another reproduction"):
        opened(
            tmp_path, DungeonSettings.of("minidungeons", "modern", quick=True, cross=True, trials=8), GAME, levels
        ).close()
    with pytest.raises(RunError, match="other levels"):
        opened(tmp_path, settings, GAME, levels[:1]).close()
    text = unsealed(tmp_path / CONFIG)
    (tmp_path / CONFIG).write_text(text.replace('"trials": 7', '"trial": 7'), encoding="utf-8")
    with pytest.raises(RunError, match="damaged"):
        reopen(tmp_path)
    with pytest.raises(RunError, match="not the folder of a reproduction"):
        reopen(tmp_path / "nowhere")


def test_modern_evolves_with_one_list_and_plays_with_the_planner(tmp_path: Path) -> None:
    paper, modern = (
        DungeonSettings.of("minidungeons", quick=True),
        DungeonSettings.of("minidungeons", "modern", quick=True),
    )
    assert paper.search == paper.playtest_search == SearchSettings.paper() and "playing" not in paper.to_dict()
    assert (modern.search, modern.playtest_search) == (SearchSettings.single(), SearchSettings.anytime())
    levels = mapsets.resolve(GAME, LEVELS)
    opened(tmp_path, modern, GAME, levels).close()
    assert reopen(tmp_path)[0] == modern


def test_a_reproduction_from_before_the_planner_goes_on_with_one_list(tmp_path: Path) -> None:
    settings, levels = DungeonSettings.of("minidungeons", "modern", quick=True), mapsets.resolve(GAME, LEVELS)
    opened(tmp_path, settings, GAME, levels).close()
    old = json.loads(unsealed(tmp_path / CONFIG))
    del old["playing"]
    (tmp_path / CONFIG).write_text(json.dumps(old), encoding="utf-8")
    again, _ = reopen(tmp_path)
    assert again.playtest_search == again.search == SearchSettings.single()
    opened(tmp_path, again, GAME, levels).close()
    with pytest.raises(RunError, match="playing"):
        opened(tmp_path, settings, GAME, levels).close()
    (tmp_path / CONFIG).write_text(json.dumps({**old, "playing": "anytme"}), encoding="utf-8")
    with pytest.raises(RunError, match="damaged"):
        reopen(tmp_path)


def test_an_evolution_is_recognised_by_what_its_search_comes_to() -> None:
    ours = {"search": SearchSettings.single().to_dict()}
    old = {k: v for k, v in ours["search"].items() if k not in ("preset", "lists", "hedge", "tolerance")}
    assert differences(comparable({"search": old}), comparable(ours)) is None
    assert differences(comparable({"search": SearchSettings.anytime().to_dict()}), comparable(ours)) is not None
    assert differences(comparable({"search": {"stop": 3}}), comparable(ours)) is not None


def test_what_cannot_be_reproduced() -> None:
    with pytest.raises(SettingsError, match="no such reproduction"):
        DungeonSettings.of("minidungeon")
    with pytest.raises(SettingsError, match="no such preset"):
        DungeonSettings.of("minidungeons", "papre")
    with pytest.raises(SettingsError, match="trials is out of range"):
        DungeonSettings.of("minidungeons", trials=0)


def test_the_estimate_counts_what_this_process_did() -> None:
    told: list[Any] = []
    ledger = Ledger({"a": 100.0, "b": 300.0}, told.append)
    tell = ledger.teller("a")
    tell(0.5, "resumed here")  # half of it was done by another process
    began, worked = ledger._first
    ledger._first = began - 10, worked
    assert told[-1].eta is None and told[-1].share == pytest.approx(0.125)
    tell(1.0, "")
    assert told[-1].eta == pytest.approx(60, rel=0.1) and told[-1].share == pytest.approx(0.25)
    ledger.close("a")
    ledger.teller("b")(1.0, "")
    assert told[-1].share == 1.0


def test_levels_that_are_named_have_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    levels, settings = mapsets.resolve(GAME, LEVELS), DungeonSettings.of("minidungeons", quick=True)
    plain = Path("runs/reproduction-minidungeons-paper-quick")
    assert default_folder("minidungeons", "paper", None, levels, True) == plain
    assert default_folder("minidungeons", "paper", "../md2/", levels, True) == Path(f"{plain}-md2")
    plain.mkdir(parents=True)
    opened(plain, settings, GAME, levels).close()
    assert default_folder("minidungeons", "paper", "md2", levels, True) == plain, "a folder from before is gone on with"
    assert default_folder("minidungeons", "paper", "md2", levels[:1], True) == Path(f"{plain}-md2")
    plain.rename(plain.name)
    assert default_folder("minidungeons", "paper", None, levels, True) == Path(plain.name), "begun by an older version"


def test_the_command_names_the_levels(tmp_path: Path) -> None:
    m = material(tmp_path)
    m.levels = [GAME.load(v.text, f"my{k}", str(tmp_path / "my maps" / f"my{k}.txt")) for k, v in enumerate(m.levels)]
    assert provenance.facts(m)["command"].endswith(f"--levels '{tmp_path / 'my maps'}'")


def test_an_evolved_policy_that_is_ucb1_is_told(tmp_path: Path) -> None:
    m = material(tmp_path)
    assert not any("UCB1 itself" in line for line in provenance.reservations(m))
    m.policies["runner"] = Policy("p", "minidungeons2", "ucb1")
    assert any("The evolved policy of runner is UCB1 itself" in line for line in provenance.reservations(m))


def test_studies_take_no_repeats_of_a_search_for_a_sample() -> None:
    from persona_evo.studies.minidungeons.cross import _better, mean_utility
    from persona_evo.studies.minidungeons.results import higher, mean_of

    good, bad = drawn("one", "runner", 20), drawn("one", "base", 20, best=0.8)
    assert (higher(good, bad, "utility"), higher(bad, good, "utility"), higher(good, good, "utility")) == (1, -1, 0)
    assert higher(good, group("one", "base", 5, 20), "win_rate") == 1
    assert higher(drawn("one", "runner", 20, 2), group("one", "base", 1, 20), "win_rate") == 0, "three searches only"
    assert mean_of(good, "utility").note == ONE_SEARCH and mean_of(good, "steps").known
    names = ("one", "two", "three", "four")
    evolved = [r for i, name in enumerate(names) for r in drawn(name, "runner", 20, best=0.9 - 0.1 * i)]
    plain = [r for i, name in enumerate(names) for r in drawn(name, "base", 20, 1, best=0.85 - 0.11 * i)]
    assert (_better(evolved, plain), _better(plain, evolved), _better(evolved, evolved)) == (1, -1, 0)
    assert mean_utility(evolved).note == ONE_EACH
