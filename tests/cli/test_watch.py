"""Tests `watch` as a user works with it: save a level, read what changed, break it, repair it, stop."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from persona_evo.api import latest
from persona_evo.cli import option_values, watch
from persona_evo.cli.main import parser
from persona_evo.errors import RunError
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.live import LivePlaytest
from persona_evo.search.settings import Budget
from persona_evo.store import folders
from tests.cli.test_runs import DEADLY, OPEN, PLAY
from tests.cli.tool import command, environment, run
from tests.shared import hear_ctrl_c

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


class Watched:
    """A watch in a process of its own, and the lines that it prints."""

    def __init__(self, folder: Path, *words: object) -> None:
        self.process = subprocess.Popen(
            command("watch", *words),
            cwd=folder,
            env=environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=hear_ctrl_c,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, words: str, seconds: float = 180.0) -> str:
        """Return the first line from now on that has these words."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                line = self._lines.get(timeout=0.2)
            except queue.Empty:
                assert self.process.poll() is None, self.seen
                continue
            self.seen.append(line)
            if words in line:
                return line
        raise AssertionError(f"no {words!r} in {self.seen}")


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    (tmp_path / "room.txt").write_text(OPEN)
    child = Watched(
        tmp_path,
        "room.txt",
        "--personas",
        "runner",
        "--trials",
        4,
        "--iterations",
        200,
        "--jobs",
        1,
        "--seed",
        5,
        "--no-pictures",
    )
    yield child
    if child.process.poll() is None:
        child.process.kill()
    child.process.wait()


def test_a_save_is_answered_a_mistake_is_told_and_ctrl_c_ends_it(tmp_path: Path, watched: Watched) -> None:
    room = tmp_path / "room.txt"
    watched.until("watching 1 level with 1 player, seed 5")
    watched.until("first look")
    watched.until("win rates: runner 100 %")
    room.write_text(DEADLY)
    assert "4 trials of each player" in watched.until("room.txt saved, answered after")
    watched.until("+ appeared problem")
    watched.until("win rates: runner 100 % -> 0 %")
    room.write_text("XXXX\nXH?X\n")
    assert "room.txt:2:3" in watched.until("cannot be played")
    other = tmp_path / "other"
    other.write_text(OPEN)
    other.replace(room)
    watched.until("room.txt saved, answered after")
    watched.until("- gone     problem")
    watched.until("win rates: runner 0 % -> 100 %")
    status = folders.read(tmp_path / "runs" / "latest")
    assert status is not None and status.kind == "watch" and status.state == "running"
    assert status.pid == watched.process.pid
    wait_for(tmp_path / "runs" / "latest" / "traces.jsonl", '"trial":3')
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(30) == 130
    watched.until("the last report is in runs/latest")
    left = folders.read(tmp_path / "runs" / "latest")
    assert left is not None and left.state == "complete" and left.done == 4
    assert not (tmp_path / "runs" / "latest" / latest.NEW).exists()


def wait_for(page: Path, words: str) -> None:
    end = time.monotonic() + 120
    while not (page.is_file() and words in page.read_text(encoding="utf-8")):
        assert time.monotonic() < end, sorted(p.name for p in page.parent.iterdir())
        time.sleep(0.2)


def snapshot(folder: Path, stamp: str) -> latest.Snapshot:
    """Return what a playtest's folder holds, as a version of a watch."""
    config = json.loads((folder / "playtest.json").read_text())
    lines = (folder / "traces.jsonl").read_text().splitlines()
    return latest.Snapshot(config, tuple(lines), stamp, "persona-evo watch", pictures=False)


def test_a_version_takes_the_place_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("open", OPEN), ("deadly", DEADLY)):
        (tmp_path / f"{name}.txt").write_text(text)
        assert run(capsys, "playtest", f"{name}.txt", *PLAY, "--out", name).code == 0
    folder = tmp_path / "latest"
    folder.mkdir()
    latest.claim(folder, {"game": "minidungeons2", "levels": ["open.txt"], "trials": 2, "seed": 5})
    latest.publish(folder, snapshot(tmp_path / "open", "1.000"))
    (folder / "duels.csv").write_text("of an older version")
    (folder / "notes.csv").write_text("of the designer")
    first = (folder / "index.html").read_text(encoding="utf-8")
    assert "open" in first and '"1.000"' in first and (folder / "stamp.js").read_text() == 'stamped("1.000");\n'
    latest.publish(folder, snapshot(tmp_path / "deadly", "2.000"))
    assert (folder / "notes.csv").read_text() == "of the designer"
    assert not (folder / "duels.csv").exists() and not (folder / latest.NEW).exists()
    assert (folder / "traces.jsonl").read_bytes() == (tmp_path / "deadly" / "traces.jsonl").read_bytes()
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "deadly" in page and '"2.000"' in page and "script-src" in page and page.count("<script>") == 1
    shown = run(capsys, "runs", "show", folder, "--trace", 1)
    assert shown.code == 0 and "in deadly" in shown.out
    shutil.copytree(tmp_path / "open", tmp_path / "other")
    with pytest.raises(RunError, match="holds something else"):
        latest.claim(tmp_path / "other", {})


class Published:
    """Takes versions in place of the process that writes them."""

    def __init__(self) -> None:
        self.versions: list[latest.Snapshot] = []

    def publish(self, version: latest.Snapshot) -> None:
        self.versions.append(version)


def test_a_persona_s_file_is_watched_too_and_the_other_trials_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(watch, "PATIENCE", 0.0)
    (tmp_path / "room.txt").write_text(OPEN)
    persona = tmp_path / "mine.toml"
    text = 'name = "mine"\ngame = "minidungeons2"\npriority = "PE"\nutility = "{}"\n'
    persona.write_text(text.format("PE"))
    args = parser().parse_args(
        [
            "watch",
            "room.txt",
            "--personas",
            "mine.toml",
            "--policy",
            "utility",
            "--trials",
            "3",
            "--iterations",
            "200",
            "--seed",
            "5",
            "--jobs",
            "1",
            "--no-replays",
        ]
    )
    game = option_values.game_of(args)
    players = option_values.players_of(args, game)
    published = Published()
    with Workers(1) as workers:
        live = LivePlaytest(game, 3, seed=5, workers=workers, budget=Budget(200))
        live.begin(option_values.levels_of(args, game, args.levels), players)
        own = watch.LevelWatch(args, game, live, published, "persona-evo watch", players, ())  # type: ignore[arg-type]

        def played() -> str:
            while not own.finished:
                own._play()
            return capsys.readouterr().out

        first = played()
        assert "first look, answered after" in first and "1 of 3 trials of each player, the others follow" in first
        assert "first look: now all 3 trials" in first and "findings: unchanged" in first
        assert [v.config["trials"] for v in published.versions] == [1, 3]
        persona.write_text(text.format("1 - PE"))
        own._load([Path("mine.toml")])
        assert "mine.toml saved" in played()
        assert published.versions[-1].config["players"][0]["utility"] == "1 - PE"
        persona.write_text(text.format("1 - QQ"))
        own._load([Path("mine.toml")])
        assert own.finished and "mine.toml cannot be played" in capsys.readouterr().err
        persona.write_text(text.format("PE"))
        own._load([Path("mine.toml")])
        again = played()
        assert "all 3 trials of each player" in again and again.count("saved") == 1, "what was played is known"
