"""Tests `runs` and `status` with one small run of each kind, damaged runs, and what cleaning must keep."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from persona_evo.api.studies import CONFIG
from persona_evo.cli.main import main
from persona_evo.connect.traces import Trace
from persona_evo.jobs.lock import Lock
from persona_evo.store import folders
from tests.cli.test_commands import EVOLVE
from tests.cli.tool import command, environment, run

Capture = pytest.CaptureFixture[str]

DEADLY = "XXXXXXXXXXXXXXXX\nXHttttttttttt eX\nX XXXXXXXXXXXXXX\nXT             X\nXXXXXXXXXXXXXXXX\n"
OPEN = "XXXXXXXX\nXH    eX\nX XXXXXX\nXT    MX\nXXXXXXXX\n"
PLAY = (
    "--personas",
    "runner,treasure_collector",
    "--trials",
    2,
    "--iterations",
    200,
    "--jobs",
    1,
    "--seed",
    5,
    "--bound-seconds",
    0,
    "--no-pictures",
)


@contextlib.contextmanager
def within(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which one run of each kind was made."""
    home = tmp_path_factory.mktemp("home")
    (home / "deadly.txt").write_text(DEADLY)
    (home / "open.txt").write_text(OPEN)
    commands: list[tuple[object, ...]] = [
        ("playtest", "deadly.txt", *PLAY, "--out", "runs/playtests/first"),
        ("playtest", "open.txt", *PLAY, "--out", "runs/playtests/second"),
        EVOLVE,
        ("match", "colosseum", "two_ply", "random", "--size", 5, "--games", 2, "--seed", 3, "--jobs", 1),
        ("experiment", "new", "mine"),
        ("experiment", "mine.toml", "--rollouts", 30, "--replicates", 1, "--jobs", 1),
    ]
    with within(home):
        for words in commands:
            assert main([str(w) for w in words]) == 0, words
        Path("runs/again").mkdir()
        Path("runs/again", CONFIG).write_text(json.dumps({"schema": 1, "study": "minidungeons", "seed": 4}))
        found = Path("runs/found")
        found.mkdir()
        (found / "samples.csv").write_text("sample,utility,SC,decisions,rollout_seed,hash\n1,2.0,2.0,1,5,aa\n")
        Trace("ladder", "long@3", 2.0, 2.0, {"SC": 2.0}, ((0, 2),)).save(found / "best.json")
    return home


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def copy(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the folder of runs so that a test can damage it; nothing in it has changed recently."""
    target = tmp_path / "copy"
    shutil.copytree(home, target)
    for path in target.rglob("*"):
        os.utime(path, (1.5e9, 1.5e9))
    monkeypatch.chdir(target)
    return target


def test_all_kinds_are_in_one_list(here: Path, capsys: Capture) -> None:
    listed = json.loads(run(capsys, "runs", "list", "--json").out)["runs"]
    assert sorted(e["kind"] for e in listed) == [
        "evolution",
        "experiment",
        "match",
        "playtest",
        "playtest",
        "reproduction",
        "search",
    ]
    by_kind = {e["kind"]: e for e in listed}
    assert by_kind["playtest"]["done"] == by_kind["playtest"]["total"] == 4
    assert by_kind["evolution"]["seed"] == 7 and by_kind["evolution"]["done"] == 2
    assert by_kind["match"]["total"] == 2 and by_kind["experiment"]["total"] == 4
    assert by_kind["reproduction"]["state"] == "interrupted" and by_kind["search"]["game"] == "ladder"
    assert {e["state"] for e in listed} == {"complete", "interrupted"}


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_list_fits_the_terminal(here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = run(capsys, "runs", "list").out
    assert max(map(len, text.splitlines())) <= width
    assert "first" in text and "second" in text


def test_each_kind_is_shown(here: Path, capsys: Capture) -> None:
    for kind, words in {
        "first": "treasure_collector",
        "minidungeons2-monster_killer": "hall of fame",
        "colosseum": "two_ply",
        "mine": "regular / greedy",
        "again": "study minidungeons",
        "found": "best utility 2",
    }.items():
        shown = run(capsys, "runs", "show", kind)
        assert shown.code == 0 and words in shown.out, shown
    assert run(capsys, "runs", "show", "latest").code == 0


def test_a_playthrough_is_played_as_text_and_as_a_gif(here: Path, tmp_path: Path, capsys: Capture) -> None:
    text = run(capsys, "runs", "show", "second", "--trace", 1).out
    record = json.loads((here / "runs/playtests/second/traces.jsonl").read_text().splitlines()[0])
    moves = [*record["actions"], *record["end"]["actions"]]
    assert text.startswith("runner in open, trial 0") and "0/5 start  10 hit points" in text
    assert [f"{n}/{len(moves)} {move}" in text for n, move in enumerate(moves, 1)] == [True] * len(moves)
    assert "XH    eX" in text and "exit reached at 2:7" in text and f"won after {len(moves)} moves" in text
    gif = tmp_path / "one.gif"
    drawn = run(capsys, "runs", "show", "second", "--trace", 1, "--gif", gif)
    assert drawn.code == 0 and gif.read_bytes().startswith(b"GIF8")
    for words in (("--trace", 99), ("--gif", gif), ("--trace", 1, "--gif", "one.png")):
        assert run(capsys, "runs", "show", "second", *words).code == 2
    assert "match replay" in run(capsys, "runs", "show", "colosseum", "--trace", 1).err


def test_the_moves_after_the_plan_are_marked(here: Path, capsys: Capture) -> None:
    lines = (here / "runs/playtests/first/traces.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    number = next(n for n, r in enumerate(records, 1) if r["end"]["actions"])
    record = records[number - 1]
    text = run(capsys, "runs", "show", "first", "--trace", number).out
    before, _, after = text.partition("--- the plan ends here")
    made = len(record["actions"])
    assert f"{made}/{record['end']['turn']} " in before and f"{made + 1}/{record['end']['turn']} " in after


def test_two_playtests_and_two_evolutions_are_compared(here: Path, capsys: Capture) -> None:
    said = run(capsys, "runs", "compare", "first", "second")
    assert said.code == 0 and "win rate, A -> B" in said.out and "utility, A -> B" in said.out
    assert "runner" in said.out and ("appeared" in said.out or "gone" in said.out)
    same = run(capsys, "runs", "compare", "first", "first")
    assert "findings: no change" in same.out
    evolutions = run(capsys, "runs", "compare", "monster_killer", "monster_killer")
    assert evolutions.code == 0 and "formula" in evolutions.out and "B - A over 1 level: +0.0000" in evolutions.out
    assert "cannot be compared" in run(capsys, "runs", "compare", "first", "colosseum").err


def test_an_evolution_has_a_page(here: Path, capsys: Capture) -> None:
    (page,) = here.glob("runs/*monster_killer*/index.html")
    text = page.read_text(encoding="utf-8")
    assert "Hall of fame" in text and "Diversity" in text and text.count("<svg") == 5 and "island 2" in text
    page.unlink()
    shown = run(capsys, "runs", "show", "monster_killer", "--page")
    assert shown.code == 0 and page.read_text(encoding="utf-8") == text


def test_names_are_parts_that_one_run_has(here: Path, capsys: Capture) -> None:
    assert "several runs" in run(capsys, "runs", "show", "playtests").err
    assert "did you mean first" in run(capsys, "runs", "show", "firts").err
    assert "no such folder" in run(capsys, "runs", "show", "x", "--root", here / "nothing").err
    assert run(capsys, "runs", "show", "./runs").code == 2
    assert run(capsys, "runs", "list", "nowhere").code == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("playtests/first/playtest.json", "{"),
        ("playtests/first/playtest.json", '{"schema": 9, "players": []}'),
        ("playtests/first/playtest.json", "[" * 5000),
        ("playtests/first/traces.jsonl", "x\n" * 99),
        ("playtests/first/traces.jsonl", "[1]\n"),
        ("*monster_killer*/checkpoint.json", "\x00"),
        ("*monster_killer*/config.json", '{"schema": 1, "evolution": 3}'),
        ("*monster_killer*/journal.jsonl", "{}\n"),
        ("matches/*/match.json", '{"schema": 1, "game": 1, "agents": 2}'),
        ("again/reproduction.json", '{"schema": "x"}'),
        ("found/best.json", "{}"),
    ],
)
def test_a_damaged_run_is_a_line_and_breaks_nothing(copy: Path, capsys: Capture, name: str, content: str) -> None:
    (path,) = (copy / "runs").glob(name)
    path.write_text(content)
    listed = json.loads(run(capsys, "runs", "list", "--json").out)["runs"]
    assert len(listed) == 7
    (damaged,) = [e for e in listed if e["state"] == "unreadable"]
    assert damaged["problem"] and path.parent.name in damaged["folder"]
    assert damaged["problem"] in run(capsys, "runs", "list").out
    shown = run(capsys, "runs", "show", str(path.parent))
    assert shown.code == 2 and "cannot be read" in shown.err
    cleaned = run(capsys, "runs", "clean", "--yes")
    assert cleaned.code == 0 and path.parent.is_dir()


def test_a_torn_line_is_no_damage(copy: Path, capsys: Capture) -> None:
    path = copy / "runs/playtests/first/traces.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    assert run(capsys, "runs", "show", "first").code == 0
    (entry,) = [e for e in folders.find([Path("runs")]) if e.folder.name == "first"]
    assert entry.state == "interrupted" and entry.done == 3
    assert path.read_bytes() == content[:-20], "who looks changes nothing"


def test_clean_lists_and_with_yes_deletes_what_is_finished(copy: Path, capsys: Capture) -> None:
    names = {e.folder for e in folders.find([Path("runs")])}
    dry = run(capsys, "runs", "clean")
    assert dry.code == 0 and "nothing was deleted" in dry.err and dry.out.count("would be deleted") == 6
    assert {e.folder for e in folders.find([Path("runs")])} == names
    assert "1 run of 7 can be deleted" in run(capsys, "runs", "clean", "--keep", 1).out
    assert "0 runs of 7" in run(capsys, "runs", "clean", "--older-than", "100000d").out
    (copy / "runs/playtests/second/mine.txt").write_text("notes")
    os.utime(copy / "runs/playtests/second/mine.txt", (1.5e9, 1.5e9))
    os.utime(copy / "runs/playtests/second", (1.5e9, 1.5e9))
    with Lock(copy / "runs/playtests/first"):
        held = run(capsys, "runs", "clean", "first", "--yes")
        done = run(capsys, "runs", "clean", "--yes")
    assert "in use by process" in held.out and "in use by process" in done.out
    assert done.code == 0 and "mine.txt" in done.out and "unfinished" in done.out
    assert sorted(e.folder.name for e in folders.find([Path("runs")])) == ["again", "first", "second"]
    named = run(capsys, "runs", "clean", "again", "--yes")
    assert named.code == 0 and not (copy / "runs/again").exists()
    assert not list(copy.rglob("*.deleted"))


def test_what_changed_a_moment_ago_is_kept(copy: Path, capsys: Capture) -> None:
    (copy / "runs/playtests/first/index.html").touch()
    assert "last 10 minutes" in run(capsys, "runs", "clean", "--yes").out
    assert (copy / "runs/playtests/first").is_dir()


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (
            "playtest",
            ["deadly-hit_points", "deadly-map-runner", "deadly-outcomes", "deadly-utility", "deadly-win_rate"],
        ),
        ("evolution", ["Best_fitness", "Diversity", "Mean_fitness", "Size", "fitness", "hall_of_fame"]),
        ("match", ["all-games_won"]),
        ("experiment", ["growth", "scores"]),
    ],
)
def test_every_kind_of_run_has_figures(
    here: Path, tmp_path: Path, capsys: Capture, kind: str, wanted: list[str]
) -> None:
    entry = next(e for e in folders.find([Path("runs")]) if e.kind == kind and e.folder.name != "second")
    shown = run(capsys, "runs", "show", entry.folder, "--figures", tmp_path)
    assert shown.code == 0, shown.err
    files = sorted(tmp_path.iterdir())
    assert [f"wrote {f}" for f in files] == sorted(shown.out.splitlines())
    assert set(wanted) <= {f.stem for f in files} and all(f.read_bytes().startswith(b"%PDF") for f in files)
    before = {f: f.read_bytes() for f in files}
    assert run(capsys, "runs", "show", entry.folder, "--figures", tmp_path).code == 0
    assert {f: f.read_bytes() for f in files} == before, "the same run gives the same files"


def test_figures_of_other_formats_and_of_runs_without_any(here: Path, tmp_path: Path, capsys: Capture) -> None:
    for form, head in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        assert run(capsys, "runs", "show", "mine", "--figures", tmp_path, "--format", form).code == 0
        assert (tmp_path / f"growth.{form}").read_bytes().startswith(head)
    (tmp_path / "taken").write_text("")
    for words, said in (
        (("mine", "--figures", tmp_path / "taken" / "x"), "--figures"),
        (("mine", "--format", "png"), "--figures FOLDER"),
        (("mine", "--figures", tmp_path, "--format", "gif"), "one of pdf, png, svg"),
        (("found", "--figures", tmp_path), "no figures"),
    ):
        refused = run(capsys, "runs", "show", *words)
        assert refused.code == 2 and said in refused.err, refused.err


def test_status_follows_until_nothing_is_under_way(copy: Path, capsys: Capture) -> None:
    (copy / "runs/playtests/first/traces.jsonl").write_text("")
    lock = Lock(copy / "runs/playtests/first").acquire()
    timer = threading.Timer(0.5, lock.release)
    timer.start()
    followed = run(capsys, "status", "--follow", "--every", 0.1)
    timer.join()
    assert followed.code == 0 and followed.out.count("state     running") == 1
    assert "0 of 4 playthroughs, 0 %" in followed.out and "no run is in progress" in followed.out.splitlines()[-1]


def test_status_tells_another_process_how_far_a_run_is(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "open.txt").write_text(OPEN)
    assert "no run is in progress" in run(capsys, "status", tmp_path).out
    words = command(
        "playtest",
        "open.txt",
        "--personas",
        "runner",
        "--policy",
        "ucb1",
        "--search",
        "paper",
        "--trials",
        3000,
        "--iterations",
        20_000,
        "--jobs",
        1,
        "--seed",
        5,
        "--out",
        "runs/long",
    )
    child = subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        text = ""
        while time.monotonic() < end and "to go" not in text:
            time.sleep(0.3)
            text = run(capsys, "status", tmp_path / "runs").out
        assert f"running (process {child.pid}" in text and "of 3,000 playthroughs" in text
        assert "playing" in text and "runner in open: " in text and "seed      5" in text
        kept = run(capsys, "runs", "clean", "long", "--root", tmp_path / "runs", "--yes")
        assert "in use" in kept.out
    finally:
        child.kill()
        child.wait()
    after = run(capsys, "status", tmp_path / "runs")
    assert "no run is in progress" in after.out, "a lock goes with its process"
    (entry,) = folders.find([tmp_path / "runs"])
    assert entry.state == "interrupted"
