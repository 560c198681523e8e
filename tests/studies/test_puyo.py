"""`reproduce puyo` as a user runs it, with the smallest budgets: whole, torn and resumed; what it says of the prose."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.games import mapsets, registry
from persona_evo.search.lookahead import Lookahead
from persona_evo.studies.puyo import games as puyo
from persona_evo.studies.puyo.cells import FLAT, PuyoCell, PuyoSettings, cells
from tests.cli.tool import run

TINY = (
    "--quick",
    "--games",
    "2",
    "--drops",
    "20",
    "--generations",
    "1",
    "--population",
    "10",
    "--iterations",
    "20",
    "--jobs",
    "1",
    "--seed",
    "5",
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.usefixtures("unsimplified")
def test_whole_then_torn_and_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    done = run(capsys, "reproduce", "puyo", "--out", out, *TINY)
    assert done.code == 0, done.err
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "exhaustive search to depth 3 ends at nearly 70,000" in page
    assert "nothing here confirms or refutes it" in page
    _whole(out)
    kept = (out / puyo.GAMES).read_bytes()
    pages = {p: p.read_bytes() for p in (out / "index.html", out / "tables" / "figure6.csv", out / "replay.gif")}

    (out / puyo.GAMES).write_bytes(kept[: len(kept) // 2 + 7])
    again = run(capsys, "reproduce", "puyo", "--resume", out, "--jobs", "1")
    assert again.code == 0 and (out / puyo.GAMES).read_bytes() == kept
    assert {p: p.read_bytes() for p in pages} == pages

    other = run(capsys, "reproduce", "puyo", "--out", out, *TINY, "--drops", "30")
    assert other.code == 2 and "the folder holds another reproduction" in other.err and "drops 20" in other.err
    (out / puyo.GAMES).write_text("{}\n", encoding="utf-8")
    damaged = run(capsys, "reproduce", "puyo", "--resume", out)
    assert damaged.code == 2 and "a game cannot be read" in damaged.err and f"{puyo.GAMES}:1" in damaged.err


def test_folders_from_before_the_planner_plan_with_one_list() -> None:
    settings = PuyoSettings.of(quick=True)
    assert settings.planning == "anytime" and PuyoSettings(**settings.to_dict()) == settings
    old = {k: v for k, v in settings.to_dict().items() if k != "planning"}
    assert PuyoSettings(**old).planning == "single" and PuyoSettings(**old).to_dict() == old
    with pytest.raises(SettingsError, match="no such search preset"):
        PuyoSettings(planning="anytme")


def _whole(out: Path) -> None:
    """Every figure has its data, drawn and linked, and the data are those of the games."""
    page = (out / "index.html").read_text(encoding="utf-8")
    for number in range(2, 7):
        assert f'id="figure{number}"' in page and rows(out / "tables" / f"figure{number}.csv")
    for name in ("figure2", "figure3", "figure4", "figure5", "figure6_clock10", "budgets"):
        assert (out / "figures" / f"{name}.svg").stat().st_size > 2_000
    assert page.count("<svg") >= 7
    assert "replay.gif" in page and (out / "best_chain.png").is_file()
    games = [json.loads(line) for line in (out / puyo.GAMES).read_text(encoding="utf-8").splitlines()]
    best = [g["scores"] for g in games if g["cell"] == "exhaustive 3, all"]
    assert len(best) == 2
    for row in rows(out / "tables" / "figure2.csv"):
        at = [scores[int(row["drop"]) // 10 - 1] for scores in best]
        assert (float(row["lowest"]), float(row["highest"])) == (min(at), max(at))
        assert float(row["mean"]) == sum(at) / 2 and row["games"] == "2"
    game = registry.get("puyo")
    (level,) = mapsets.resolve(game, ["position02"])
    _effects(out, games)
    for kept in [g for g in games if g["game"] == 1 and "iterations a level" not in g["cell"]][::9]:
        names = kept["actions"].split()
        end = game.measure(level, game.replay(level, [game.parse_action(level, level.start, n) for n in names])[-1])
        assert (end["SC"], end["DR"], end["LC"]) == (kept["scores"][-1], kept["drops"], kept["longest"])


def _effects(out: Path, games: list[dict[str, Any]]) -> None:
    """Searches are compared in pairs of games from the same position; a lost game counts nothing."""
    found = {(r["a"], r["b"]): r for r in rows(out / "tables" / "comparisons.csv")}
    assert len(found) == 2 * 8 + 2 * 3
    row = found["Monte Carlo, depth 4, 100 drops a row", "exhaustive, depth 3, all"]
    first, second = (
        [g["scores"][-1] * (g["drops"] >= 20) for g in games if g["cell"] == cell]
        for cell in ("flat 4, 100 drops a row", "exhaustive 3, all")
    )
    changes = [a - b for a, b in zip(first, second, strict=True)]
    assert float(row["difference"]) == sum(changes) / 2
    assert float(row["share_a_higher"]) == sum((c > 0) + (c == 0) / 2 for c in changes) / 2
    assert float(row["p_holm"]) >= float(row["p"])


def test_the_clock_is_the_time_that_a_pair_falls() -> None:
    game = registry.get("puyo")
    (level,) = mapsets.resolve(game, ["buried01"])
    limit = puyo.allowance(PuyoCell(FLAT, 3, "clock", 50))
    assert limit.most_steps(level.start) == 50 * 6
    tower = game.replay(level, [4 * 5] * 4)[-1]
    assert game.measure(level, tower)["HC"] == 13 and limit.most_steps(tower) == 50
    look = Lookahead(game, level, game_score(), 3, FLAT, limit).think(level.start)
    assert 300 <= look.steps < 303


def game_score() -> Formula:
    return parse(puyo.SCORE, registry.get("puyo").symbols)


def test_every_cell_has_a_name_of_its_own() -> None:
    for settings in (PuyoSettings(), PuyoSettings.of(quick=True, clock=7)):
        found = cells(settings)
        assert len({c.name for c in found}) == len(found) > 30
    assert PuyoSettings.of(quick=True, clock=7).clocks == (7, 100, 10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--games 11", "from 1 to 10"),
        ("--drops 5", "from 10 to 150"),
        ("--clock 0", "from 1 to"),
        ("--resume nowhere", "not the folder of a reproduction"),
        ("--resume nowhere --games 3", "--games cannot be combined with --resume"),
        ("--resume nowhere --quick", "--quick cannot be combined with --resume"),
        ("--quick --out taken", "cannot be made"),
    ],
)
def test_bad_commands(
    arguments: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file", encoding="utf-8")
    done = run(capsys, "reproduce", "puyo", *arguments.split())
    assert done.code == 2 and said in done.err and "Traceback" not in done.err
