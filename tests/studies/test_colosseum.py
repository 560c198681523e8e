"""`reproduce colosseum` as a user runs it, with the smallest budgets: whole, torn and resumed; how it judges."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from persona_evo.jobs.progress import Progress
from persona_evo.matches.records import GameRecord
from persona_evo.studies.colosseum import findings as colosseum_findings
from persona_evo.studies.colosseum import matches as colosseum
from persona_evo.studies.colosseum import report
from persona_evo.studies.colosseum.findings import NO, ROUGHLY, WEAK, YES
from persona_evo.studies.colosseum.matches import CONSTANTS, ColosseumGames, ColosseumSettings, _Ahead, matches, study
from tests.cli.tool import run

TINY = ("--quick", "--games", "2", "--iterations", "10", "--seconds", "0.01", "--jobs", "1", "--seed", "5")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def games(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """By match, without times; matches under a limit of seconds are left out."""
    found = {}
    for path in sorted((folder / "runs").glob("*/games.jsonl")):
        if not path.parent.name.endswith(("short", "seconds")):
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found[path.parent.name] = [
                {k: v for k, v in r.items() if k not in ("seconds", "slowest", "crc")} for r in lines
            ]
    return found


def test_whole_then_torn_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    out = tmp_path / "out"
    done = run(capsys, "reproduce", "colosseum", "--out", out, *TINY)
    assert done.code == 0, done.err
    assert "uct_walls wins all of 50 games" in done.out and "nothing here confirms or refutes" in done.out
    assert "(too few games)" in done.out and not re.search(r"^(first|second) +(yes|no|the direction)", done.out, re.M)
    page = (out / "index.html").read_text(encoding="utf-8")
    for name in ("claims", "trees", "random", "agents", "heuristics", "c", "rave", "early", "made"):
        assert f'id="{name}"' in page
    assert (out / "figures" / "c.svg").stat().st_size > 3_000 and page.count("<svg") == 1
    said = rows(out / "tables" / "claims.csv")
    assert len(said) == len(study().claims) and {r["so_here"] for r in said} == {"(too few games)"}
    trees = rows(out / "tables" / "trees.csv")
    assert {(r["size"], r["report_breadth"]) for r in trees} >= {("6", "104.71"), ("12", "8.6")}
    pairs = rows(out / "tables" / "pairs.csv")
    every = rows(out / "tables" / "games.csv")
    assert len(every) == sum(int(row["games"]) for row in pairs) and {"start", "result"} <= every[0].keys()
    for r in pairs:
        assert int(r["wins"]) + int(r["ties"]) + int(r["losses"]) == int(r["games"]) > 0
    assert sum(r["match"] == "all" for r in pairs) == 36 and sum(r["match"].startswith("c-") for r in pairs) == 18

    kept, first = games(out), (out / "runs" / "all" / "games.jsonl").read_bytes()
    (out / "runs" / "all" / "games.jsonl").write_bytes(first[: len(first) // 2 + 7])
    for folder in (out / "runs").glob("rave-*"):
        shutil.rmtree(folder)
    again = run(capsys, "reproduce", "colosseum", "--resume", out, "--jobs", "1")
    assert again.code == 0 and games(out) == kept
    torn = first[: len(first) // 2].rpartition(b"\n")[0]
    assert (out / "runs" / "all" / "games.jsonl").read_bytes().startswith(torn), "games that are there are not replayed"

    other = run(capsys, "reproduce", "colosseum", "--out", out, *TINY, "--games", "4")
    assert other.code == 2 and "the folder holds another reproduction" in other.err and "games 2" in other.err
    strange = run(capsys, "reproduce", "puyo", "--resume", out)
    assert strange.code == 2 and "another study" in strange.err and "reproduce colosseum" in strange.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--games 3", "the number of games is even"),
        ("--games 1", "from 2 to"),
        ("--iterations 9", "from 10 to"),
        ("--seconds 0", "above 0"),
        ("--resume nowhere", "not the folder of a reproduction"),
        ("--resume nowhere --seconds 1", "--seconds cannot be combined with --resume"),
        ("--resume nowhere --seed 1", "--seed cannot be combined with --resume"),
        ("--address localhost:1", "no such option"),
        ("--quick --out taken", "cannot be made"),
    ],
)
def test_bad_commands(
    arguments: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file", encoding="utf-8")
    done = run(capsys, "reproduce", "colosseum", *arguments.split())
    assert done.code == 2 and said in done.err and "Traceback" not in done.err


def test_all_pairs_of_a_match_meet_at_equal_iterations() -> None:
    found = matches(ColosseumSettings())
    for name, match in found.items():
        searching = [a for a in match.agents if a.kind == "search"]
        assert len({(a.iterations, a.seconds) for a in searching}) == 1
        assert match.reproducible != name.endswith(("short", "seconds"))
    nodes = {row.size: row.nodes for row in study().trees}
    assert {n: found[f"trees-{n}"].agents[0].iterations for n in nodes} == nodes
    assert len({match.seed for match in found.values()}) == 1, "all pairs play on the same boards"


def made(first: str, second: str, won: int, lost: int, size: int = 6, depth: float = 2.0) -> list[GameRecord]:
    """Return games of which the first agent won and lost so many, with trees of one depth."""
    search = [5, 600.0, 600.0, 100.0, depth, 100, depth]
    return [
        GameRecord(
            first,
            second,
            f"size{size}",
            i,
            i,
            float(i < won),
            0.0,
            10,
            "",
            [],
            [1.0, 1.0],
            [0.1, 0.1],
            [search, search],
        )
        for i in range(won + lost)
    ]


def judged(key: str, **played: list[GameRecord]) -> str:
    material = ColosseumGames(Path(), ColosseumSettings(), {k.replace("_", "-", 1): v for k, v in played.items()})
    return colosseum_findings._judged(material, key)[1]


def test_sentences_are_judged_by_the_games() -> None:
    assert judged("walls_random", all=made("uct_walls", "random", 50, 0)) == YES
    assert judged("walls_random", all=made("uct_walls", "random", 40, 10)) == colosseum_findings.ROUGHLY
    assert judged("walls_random", all=made("uct_walls", "random", 20, 30)) == NO
    assert judged("two_ply_random", all=made("two_ply", "random", 46, 4)) == YES
    assert judged("two_ply_random", all=made("two_ply", "random", 50, 0)) == colosseum_findings.ROUGHLY
    for won, kind in ((40, YES), (28, WEAK), (20, NO)):
        assert judged("walls_two_ply", all=made("uct_walls", "two_ply", won, 50 - won)) == kind
    field = "potential_field", "killer_moves"
    for won, kind in ((13, YES), (30, colosseum_findings.ROUGHLY), (46, WEAK), (60, NO)):
        assert judged("field_6", field_6=made(*field, won, 100 - won)) == kind


def test_the_best_c_is_that_which_wins_most() -> None:
    for best, won, kind in ((0.4, 90, YES), (0.4, 60, NO), (0.1, 90, NO)):
        played = {
            f"c-{other}-{c}": made("c", other, won if c == best else 50, 100 - won if c == best else 50)
            for other in colosseum.OPPONENTS
            for c in CONSTANTS
        }
        verdict = colosseum_findings._judged(ColosseumGames(Path(), ColosseumSettings(), played), "best_c")
        assert verdict[1] == kind and f"best c = {best:g}:" in verdict[0]


@pytest.mark.parametrize(("factor", "kind"), [(1.0, YES), (1.2, YES), (2.0, ROUGHLY), (0.5, ROUGHLY)])
def test_trees_of_another_size_are_the_direction_alone(factor: float, kind: str) -> None:
    played = {
        f"trees-{row.size}": made("uct_walls", "random", 2, 0, row.size, factor * row.depth) for row in study().trees
    }
    _, found, explained = colosseum_findings._judged(ColosseumGames(Path(), ColosseumSettings(), played), "depth")
    assert found == kind and explained == (factor == 2.0), "a slower machine explains larger trees, not smaller ones"


def test_one_rule_for_the_best_of_several() -> None:
    for won, kind in ((50, NO), (56, NO), (62, NO), (75, YES)):
        played = {
            f"rave-{k}-{n}": made("rave", "uct_walls", won if k == 100 else 40, 100 - won if k == 100 else 60, n)
            for k in colosseum.EQUIVALENCE
            for n in (6, 8)
        }
        _, found, explained = colosseum_findings._judged(ColosseumGames(Path(), ColosseumSettings(), played), "rave")
        assert found == kind and explained == (kind == NO)
    assert not colosseum_findings.stands_out(0.02, 8) and colosseum_findings.stands_out(0.006, 8)


def test_a_reason_is_told_only_for_what_came_out() -> None:
    def told(won: int, settings: ColosseumSettings = ColosseumSettings()) -> str:  # noqa: B008 (frozen)
        material = ColosseumGames(Path(), settings, {"all": made("two_ply", "random", won, 50 - won)})
        claim = next(c for c in study().claims if c.key == "two_ply_random")
        verdict = colosseum_findings.ReportVerdict(claim, *colosseum_findings._judged(material, claim.key))
        return report.details(material, [verdict])[0]

    assert "It looks at all moves here" in told(50), "better here than in the report"
    assert f": {ROUGHLY}" in told(35) and "It looks at all moves" not in told(35), "worse here than in the report"
    quick = ColosseumSettings.of(quick=True)
    assert ": (too few games)." in told(50, quick) and "It looks" not in told(50, quick)


def test_a_reproduction_weighs_its_matches() -> None:
    class Fixed:
        def __init__(self, costs: list[float]) -> None:
            self.cost = costs

        def jobs(self) -> list[float]:
            return self.cost

        def costs(self, jobs: list[float]) -> list[float]:
            return jobs

    def played(games: int) -> Any:
        return SimpleNamespace(records=[None] * games)

    told: list[tuple[str, int, int, float]] = []
    found: dict[str, Any] = {"cheap": Fixed([0.001] * 90), "there": Fixed([1e6] * 3), "dear": Fixed([60.0] * 10)}
    ahead = _Ahead(found, 2, lambda p: told.append((p.what, p.done, p.total, p.eta or 0.0)))
    ahead.begun("cheap", played(0))
    ahead.progress(Progress(90, 90, 0.0))
    ahead.begun("there", played(3))
    ahead.begun("dear", played(4))
    ahead.progress(Progress(4, 10, 0.0))
    ahead.progress(Progress(5, 10, 0.0))
    assert [t[:3] for t in told] == [("cheap", 90, 103), ("dear", 97, 103), ("dear", 98, 103)]
    assert told[1][3] > 100, "though nine games of ten are played, the dear ones are not"
