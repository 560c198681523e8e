"""Tests whole commands with tiny budgets: what they print, what they write, and their exit codes."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from html import escape
from math import fsum
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from persona_evo.cli.main import main
from persona_evo.statistics import wilcoxon
from tests.cli.tool import command, environment, run, typed
from tests.shared import ROOT, hear_ctrl_c

EVOLVE = (
    "evolve",
    "--persona",
    "monster_killer",
    "--levels",
    "train01",
    "--generations",
    2,
    "--population",
    8,
    "--islands",
    2,
    "--set",
    "elites=1",
    "--set",
    "migrants=1",
    "--set",
    "final_trials=2",
    "--iterations",
    60,
    "--jobs",
    1,
    "--seed",
    7,
)
PLAY = ("--trials", 3, "--iterations", 100, "--jobs", 1, "--seed", 5)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run, made as a user does."""
    folder = tmp_path_factory.mktemp("evolved")
    ran = typed(folder, *EVOLVE)
    assert ran.code == 0, ran
    assert "seed 7" in ran.err and "formula " in ran.out and "kept as it" in ran.out and "train01" in ran.out
    assert "generation 2/2" in ran.err and "starts from: " in ran.err
    assert ran.err.count("UCB1 does not join the first population") == 1
    (made,) = (folder / "runs").iterdir()
    assert f"{made}/policy.json".endswith(next(x for x in ran.out.split() if x.endswith("policy.json")))
    return made


def test_a_persona_from_nothing_to_an_explanation(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "persona", "new", "speedy").code == 0
    assert (here / "speedy.toml").is_file()
    again = run(capsys, "persona", "new", "speedy")
    assert again.code == 2 and "--force" in again.err
    assert run(capsys, "persona", "new", "speedy", "--force").code == 0
    explained = run(capsys, "persona", "check", "speedy.toml", "--levels", "train01")
    assert explained.code == 0
    for part in ("best case", "utility", "train01", "at the start", "random game", "DEAD"):
        assert part in explained.out
    assert "monster_killer" in run(capsys, "persona", "list").out


def test_a_staged_persona_shows_its_stages(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "persona", "check", "looter_then_runner")
    assert ran.code == 0 and "until TO >= 0.5" in ran.out and "stage" in ran.out


def test_levels_are_checked_all_of_them(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "good.txt").write_text("XXXXXX\nXH T e\nXXXXXX\n")
    (here / "bad.txt").write_text("XXXXXX\nXH ? e\nXXXXXX\n")
    ran = run(capsys, "level", "check", ".")
    assert ran.code == 2 and "bad.txt:2:4" in ran.err and "1 of 2 levels cannot be read" in ran.out
    fine = run(capsys, "level", "check", "good.txt", "train01")
    assert fine.code == 0 and "2 levels without problems, 1 notice" in fine.out
    assert "train01" in run(capsys, "level", "list").out


def test_an_unreachable_exit_is_a_finding(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "shut.txt").write_text("XXXXXX\nXH X e\nXXXXXX\n")
    checked = run(capsys, "level", "check", "shut.txt")
    assert checked.code == 1 and "the level has 1 problem" in checked.out
    assert "The exit at 2:6 cannot be reached" in checked.out
    assert run(capsys, "level", "check", "shut.txt", "--allow-unreachable") == checked


def test_a_run_is_resumed_shown_exported_and_installed(
    run_folder: Path, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "180")
    journal = (run_folder / "journal.jsonl").read_text()
    longer = run(capsys, "evolve", "--resume", run_folder, "--generations", 3, "--jobs", 1)
    assert longer.code == 0 and "generation 3/3" in longer.err
    assert (run_folder / "journal.jsonl").read_text().startswith(journal)
    shorter = run(capsys, "evolve", "--resume", run_folder, "--generations", 1, "--jobs", 1)
    assert shorter.code == 2 and "cannot be shortened" in shorter.err
    shown = run(capsys, "policy", "show", run_folder)
    assert shown.code == 0 and "monster_killer" in shown.out and "what its symbols mean" in shown.out
    for kind, part in (("latex", ""), ("python", "def score"), ("csharp", "Evaluate"), ("json", '"schema": 1')):
        assert part in run(capsys, "policy", "export", run_folder, "--to", kind).out
    exported = run(capsys, "policy", "export", run_folder, "--to", "python", "-o", "code/score.py")
    assert exported.code == 0 and compile((here / "code/score.py").read_text(), "score.py", "exec")
    assert run(capsys, "policy", "install", run_folder).code == 0
    assert json.loads((here / "policies/minidungeons2/monster_killer.json").read_text())["persona"] == "monster_killer"
    assert run(capsys, "policy", "install", run_folder).code == 2
    listed = run(capsys, "policy", "list")
    assert "paper_runner" in listed.out and str(Path("policies/minidungeons2/monster_killer.json")) in listed.out


def test_a_policy_that_ships_is_shown_and_exported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "IEEE" in run(capsys, "policy", "show", "paper_runner").out
    assert "sqrt" in run(capsys, "policy", "export", "ucb1").out
    shown = run(capsys, "policy", "show", "treasure_collector").out
    assert "the policy treasure_collector that shipped at the time" in shown, "and not itself"


def test_a_playtest_with_an_evolved_policy(run_folder: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = (
        "playtest",
        "test01",
        "test02",
        "--personas",
        "MK",
        "--policy",
        run_folder,
        "--baseline",
        "ucb1",
        *PLAY,
        "--bound-seconds",
        0.2,
        "--no-replays",
        "--out",
        "out",
    )
    ran = run(capsys, *line, "--require", "monster_killer.steps >= 1")
    assert ran.code == 0, ran.err
    for part in ("monster_killer/ucb1", "level by level", "findings", "limit", "passed", "seed 5"):
        assert part in ran.out
    page = (here / "out/index.html").read_text()
    assert f"<dd>persona-evo playtest test01 test02 --personas MK --policy {run_folder} --baseline ucb1" in page
    assert "variant ," not in page and "variant <" not in page and "None" not in page
    names = {p.name for p in (here / "out").iterdir()}
    assert {"traces.jsonl", "summary.csv", "playthroughs.csv", "index.html", "pictures", "bounds.json"} <= names
    assert (here / "out/pictures/test01-monster_killer.png").read_bytes().startswith(b"\x89PNG")
    traces = (here / "out/traces.jsonl").read_text()
    assert traces.count("\n") == 12
    wrong = run(capsys, *line[:-2], "--policy", f"MK={run_folder.parent}", "--out", "other")
    assert wrong.code == 2 and f"it holds 1 run with a policy: name {run_folder}" in wrong.err
    failed = run(capsys, *line, "--require", "monster_killer.steps < 1")
    assert failed.code == 1 and "FAILED" in failed.out
    assert (here / "out/traces.jsonl").read_text() == traces, "what was played is not played again"
    other = run(capsys, *line[:-2], "--out", "out", "--trials", 4)
    assert other.code == 2 and "another playtest" in other.err
    resumed = run(capsys, "playtest", "--resume", "out", "--bound-seconds", 0, "--no-pictures")
    assert resumed.code == 0 and "monster_killer/ucb1" in resumed.out


def test_replays_and_pictures_without_a_seed_given(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(
        capsys,
        "playtest",
        "train01",
        "--personas",
        "R",
        "--policy",
        "ucb1",
        "--trials",
        2,
        "--iterations",
        80,
        "--jobs",
        1,
        "--bound-seconds",
        0,
    )
    assert ran.code == 0, ran.err
    (folder,) = (here / "runs" / "playtests").iterdir()
    kept = json.loads((folder / "playtest.json").read_text())
    assert f"seed {kept['seed']}" in ran.err and f"seed {kept['seed']}" in ran.out
    assert f"--bound-seconds 0 --seed {kept['seed']}</dd>" in (folder / "index.html").read_text()
    gifs = list((folder / "pictures").glob("*.gif"))
    assert gifs and all(g.read_bytes().startswith(b"GIF89a") for g in gifs)


def test_levels_of_different_folders_and_a_set_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("a", "b"):
        (here / folder).mkdir()
        (here / folder / "m.txt").write_text("XXXXXX\nXH T e\nXXXXXX\n")
    (here / "sets.toml").write_text('both = ["a/m", "b/m"]\n')
    ran = run(
        capsys,
        "playtest",
        "sets.toml#both",
        "--personas",
        "TC",
        "--policy",
        "ucb1",
        *PLAY,
        "--out",
        "o",
        "--no-pictures",
        "--bound-seconds",
        0,
    )
    assert ran.code == 0, ran.err
    assert "a/m" in ran.out and "b/m" in ran.out


def test_continuous_integration_reads_the_results_also_of_a_playtest_that_fails(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a<b>.txt").write_text("XXXXXX\nXH T e\nXXXXXX\n")
    line = (
        "playtest",
        "a<b>.txt",
        "--personas",
        "R",
        *PLAY,
        "--bound-seconds",
        0,
        "--no-pictures",
        "--out",
        "o",
        "--require",
        "steps < 9",
        "--require",
        "runner.steps < 2",
    )
    ran = run(capsys, *line, "--junit", "junit.xml", "--summary", "summary.md")
    assert ran.code == 1, ran.err
    cases = list(ElementTree.parse(here / "junit.xml").getroot().iter("testcase"))
    assert [c.get("name") for c in cases if c.find("failure") is None] == ["steps < 9"] and len(cases) == 2
    text = (here / "summary.md").read_text()
    assert "1 of 2 requirements holds" in text and "Playtest of a&lt;b&gt;" in text and "seed: `5`" in text
    assert run(capsys, *line, "--junit", "no/where.xml").code == 2
    without = run(capsys, *line[:-4], "--junit", "none.xml", "--summary", "none.md")
    assert without.code == 0, without.err
    assert not list(ElementTree.parse(here / "none.xml").getroot().iter("testcase"))
    assert "Playtest of a&lt;b&gt;" in (here / "none.md").read_text()
    always = run(capsys, *line[:-4], "--require", "win_rate >= 0")
    assert always.code == 0
    assert "warning: the requirement 'win_rate >= 0' always holds: a rate is at least 0 %" in always.err


def test_two_versions_are_compared_in_five_lines_and_on_a_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = "XXXXXXXXXXXX\nXH         X\nXXXXXX XXXXX\nX  T       X\nXXXX XXXXXXX\nX         eX\nXXXXXXXXXXXX\n"
    (here / "a.txt").write_text(plain)
    (here / "b.txt").write_text(plain.replace("X         eX", "X    tttt eX"))
    line = ("compare", "a.txt", "b.txt", "--personas", "R,TC", *PLAY)
    ran = run(capsys, *line)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert sum(not line.startswith(" ") for line in lines) <= 5, "some may be broken"
    assert lines[0] == "B is harder than A for the runner and the treasure collector: 4 more traps, all forced"
    assert lines[1].startswith("damage: ") and "0 -> 4 hit points" in lines[1]
    assert "4 tiles changed: floor -> trap at 6:6 to 6:9" in lines
    assert "win rates do not differ: 100 % in both (proven)" in lines
    assert "A = a (" in ran.err and "B = b (" in ran.err
    (folder,) = (here / "runs" / "comparisons").iterdir()
    assert str(folder.relative_to(here) / "index.html") in ran.err
    page = (folder / "index.html").read_text()
    assert "<dd>persona-evo compare a.txt b.txt" in page and escape(lines[0]) in page
    assert "changed tiles are framed" in page and "<summary>All measures, one by one</summary>" in page
    assert "all levels" not in page
    with (folder / "summary_wide.csv").open(newline="") as stream:
        assert {row["level"] for row in csv.DictReader(stream)} == {"a", "b"}, "nothing is a mean over both versions"
    Path("same.txt").write_text(Path("a.txt").read_text())
    same = run(capsys, "compare", "a.txt", "same.txt", "--personas", "R", *PLAY, "--out", "s")
    assert same.code == 0 and same.out == "A and B are the same level: there is nothing to compare\n"
    assert not Path("s").exists()
    easier = run(capsys, "compare", "b.txt", "a.txt", "--personas", "R", *PLAY, "--out", "c", "--all")
    assert easier.out.startswith("B is easier than A for the runner: 4 fewer traps, all forced\n")
    assert "A and B\n" in easier.out and (here / "c/comparison.csv").is_file()
    same = run(capsys, *line, "--out", folder)
    assert same.out == ran.out and "80/80" not in same.err


def test_two_versions_of_several_levels_are_compared_in_pairs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ("compare", "train01@11-16", "train01:high_stakes@11-16", "--game", "roguelike2d", "--personas", "thesis")
    few = ("--policy", "ucb1", "--trials", 1, "--iterations", 300, "--seed", 1, "--jobs", 1, "--out", "c")
    ran = run(capsys, *line, *few, "--all")
    assert ran.code == 0, ran.err
    pairs = "6 pairs of levels, paired by seed: train01@11 with train01:high_stakes@11, "
    assert pairs in ran.err and pairs in " ".join(ran.out.split()) + " " and "Wilcoxon" in ran.out
    page = (here / "c/index.html").read_text()
    assert "Each pair of levels counts once" in page
    assert (here / "c/levels/train01_11.html").is_file()
    assert "all levels" not in page
    with (here / "c/comparison.csv").open(newline="") as stream:
        rows = {row["measure"]: row for row in csv.DictReader(stream)}
    food = rows["FG"]
    assert (food["test"], food["a_n"], food["level"]) == ("Wilcoxon", "6", "A | B")
    with (here / "c/playthroughs.csv").open(newline="") as stream:
        played = {row["level"]: float(row["FG"]) for row in csv.DictReader(stream)}
    changes = [played[f"train01:high_stakes@{n}"] - played[f"train01@{n}"] for n in range(11, 17)]
    assert float(food["p"]) == wilcoxon(changes).p and float(food["difference"]) == pytest.approx(fsum(changes) / 6)
    with (here / "c/pairs.csv").open(newline="") as stream:
        assert len({row["level"] for row in csv.DictReader(stream)}) == 6
    again = run(capsys, *line, *few, "--all")
    assert again.out == ran.out and "12/12" not in again.err, "the playthroughs are kept"
    few_pairs = run(capsys, "compare", "train01@1-2", "train01:high_stakes@1-2", *line[3:], *few[:-1], "d")
    assert "2 pairs of levels are too few to see any difference; it takes at least 6" in few_pairs.err
    for wrong, said in (
        (("train01@1-3", "train02@1-2"), "3 and 2"),
        (("train01@1-3", "train01@2-4"), "2 levels on both"),
    ):
        assert f"found: {said}" in run(capsys, "compare", *wrong, *line[3:], *few).err


def test_the_hint_for_a_game_of_chance_leads_to_a_playtest(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "coin.txt").write_text("0.4 1\n")
    (here / "fortune.toml").write_text('name = "fortune"\ngame = "coin"\nutility = "PRIZE"\npriority = "PRIZE"\n')
    (here / "agents.toml").write_text("[steady]\niterations = 50\n")
    line = ("playtest", "coin.txt", "--game", f"{ROOT / 'tests/examples/coin.py'}:GAME", "--personas", "fortune.toml")
    refused = run(capsys, *line, "--trials", 2, "--seed", 1, "--out", "refused")
    assert refused.code == 2 and "--agent FILE.toml#NAME with playtest" in refused.err
    played = run(capsys, *line, "--agent", "agents.toml#steady", "--trials", 2, "--seed", 1, "--out", "played")
    assert played.code == 0 and (here / "played" / "index.html").is_file(), played.err


def test_a_plan_is_drawn_on_the_map_or_played(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one.txt", "two.txt"):
        (here / name).write_text("XXXXXX\nXH T e\nXXXXXX\n")
    solve = ("solve", "one.txt", "--persona", "runner", "--iterations", 2_000, "--draw")
    drawn = run(capsys, *solve, "pictures/plan.png")
    assert drawn.code == 0 and "drawn: pictures/plan.png" in drawn.out
    with Image.open(here / "pictures" / "plan.png") as plan:
        assert plan.format == "PNG" and plan.width > plan.height > 100
    assert run(capsys, *solve, "plan.gif").code == 0
    with Image.open(here / "plan.gif") as film:
        assert film.format == "GIF" and film.n_frames == 5, "the start and four moves"
    both = run(capsys, "solve", "one.txt", "two.txt", *solve[2:], "plan.png")
    assert both.code == 0 and (here / "plan-one.png").is_file() and (here / "plan-two.png").is_file()
    (here / "blocked").write_text("", encoding="utf-8")
    blocked = run(capsys, *solve, "blocked/plan.png")
    assert blocked.code == 2 and "cannot be written" in blocked.err


def test_a_level_is_solved(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "tiny.txt").write_text("XXXXXX\nXH T e\nXXXXXX\n")
    ran = run(capsys, "solve", "tiny.txt", "--persona", "runner", "--iterations", 20_000)
    assert ran.code == 0, ran.err
    assert "seed 0" in ran.err and run(capsys, "solve", "tiny.txt", "--persona", "runner", "--seconds", 5).code == 0
    assert "utility 0.96" in ran.out and "won in 4 moves" in ran.out and "E E E E" in ran.out


ENDLESS = """
from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class


class Endless:
    actions = ("left", "right")
    metrics = (Metric("AT", "place", "steps to the right", low=-7, high=7),)
    at = 0

    @classmethod
    def from_text(cls, text):
        return cls()

    def legal(self):
        return ["left", "right"]

    def apply(self, action):
        self.at += 1 if action == "right" else -1

    def over(self):
        return None

    def measure(self):
        return {"AT": self.at}


GAME = from_class(Endless, horizon=7)
"""


def test_a_plan_that_goes_to_the_horizon_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "endless.py").write_text(ENDLESS)
    (here / "far.toml").write_text('game = "endless"\nutility = "AT"\npriority = "AT"\n')
    (here / "one.txt").write_text("x")
    solve = ("solve", "one.txt", "--game", "endless.py:GAME", "--persona", "far.toml")
    ran = run(capsys, *solve, "--iterations", 100)
    assert ran.code == 0 and "not over at the game's horizon of 7 moves, by" in ran.out, ran


def test_formulas_from_the_command_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "formula", "simplify", "0.5*MS + 0.5*MS")
    assert ran.code == 0 and "simplified  MS\n" in ran.out
    assert "MS" in run(capsys, "formula", "export", "MS/ST", "--to", "latex").out


def test_the_doctor(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "doctor")
    assert ran.code == 0 and "numba" in ran.out and "cores" in ran.out


def test_the_demo_in_small(here: Path) -> None:
    ran = typed(here, "demo", "--generations", 2, "--population", 8, "--trials", 3, "--iterations", 100, "--jobs", 1)
    assert ran.code == 0, ran
    assert "the formula that was found" in ran.out and "monster_killer/ucb1" in ran.out
    page = next(Path(word) for word in ran.out.split() if word.endswith("index.html"))
    assert (here / page).is_file()


def test_plain_ascii_where_the_terminal_has_nothing_else(here: Path) -> None:
    ran = typed(
        here,
        "playtest",
        "train01",
        "--personas",
        "R",
        "--policy",
        "ucb1",
        *PLAY,
        "--bound-seconds",
        0,
        "--no-pictures",
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="0",
    )
    assert ran.code == 0, ran
    assert "+-" in ran.out and ran.out.isascii() and ran.err.isascii()


def test_a_reader_that_goes_away_is_no_error(here: Path) -> None:
    process = subprocess.Popen(
        command("level", "list"), cwd=here, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == ""


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    commands = ("playtest", "evolve", "demo", "solve", "compare", "persona", "policy", "level", "formula", "doctor")
    for line in (["--version"], ["--help"], *([c, "--help"] for c in commands)):
        with pytest.raises(SystemExit) as end:
            main(line)
        assert end.value.code == 0
        assert "persona-evo" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal are another thing on Windows")
def test_ctrl_c_says_what_is_kept_and_how_to_go_on(here: Path) -> None:
    line = (
        "playtest",
        "train01",
        "--personas",
        "R",
        "--policy",
        "ucb1",
        "--trials",
        2000,
        "--iterations",
        2000,
        "--jobs",
        1,
        "--seed",
        1,
        "--out",
        "p",
        "--bound-seconds",
        0,
        "--no-pictures",
        "--require",
        "runner.steps < 9",
    )
    process = subprocess.Popen(
        command(*line),
        cwd=here,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    )
    traces = here / "p" / "traces.jsonl"
    end = time.monotonic() + 300
    while time.monotonic() < end and not (traces.exists() and traces.read_bytes().count(b"\n") > 2):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    again = (
        "resume with: persona-evo playtest --resume p --no-pictures --bound-seconds 0 --require 'runner.steps < 9'\n"
    )
    assert "kept in p: " in err and again in err and "Traceback" not in err
    assert traces.read_bytes().count(b"\n") > 2


@pytest.mark.parametrize("method", ["bfs", "dfs", "random", "flat"])
def test_other_ways_to_solve(method: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "tiny.txt").write_text("XXXXXX\nXH T e\nXXXXXX\n")
    line = ("solve", "tiny.txt", "--persona", "treasure_collector", "--method", method, "--states", 20_000, "--seed", 3)
    ran = run(capsys, *line)
    assert ran.code == 0, ran.err
    assert "tiny: utility 1 " in ran.out and "TO=1" in ran.out
    assert ("seed 3" in ran.err) == (method in ("random", "flat"))
    assert run(capsys, *line).out.split(" in ")[0] == ran.out.split(" in ")[0]


def test_a_level_from_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = run(capsys, "level", "new", "cave", "--out", "maps/cave.txt")
    assert made.code == 0 and "goblin wizard" in made.out and "level check maps/cave.txt" in made.out
    checked = run(capsys, "level", "check", "maps/cave.txt", "--structure")
    assert checked.code == 0 and checked.err == "" and "1 level is fine" in checked.out
    assert "largest distance in moves" in checked.out
    solved = run(capsys, "solve", "maps/cave.txt", "--persona", "treasure_collector", "--seconds", 3)
    assert "won in" in solved.out and "J@row:column" in solved.out
    (here / "open.txt").write_text("XXXXXX\n H T e\nXXXXXX\n")
    told = " ".join(run(capsys, "level", "check", "open.txt").out.split())
    assert "There is no wall at the edge of the board: 1 tile of floor at 2:1" in told
