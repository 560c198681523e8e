"""Tests `level generate`: whole files, one line for each, every single-player game, errors for impossible requests."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

import persona_evo as pe
from persona_evo.errors import SettingsError
from persona_evo.evolve import pools
from persona_evo.games import registry
from persona_evo.games.level_text import LevelText
from tests.cli.tool import command, environment, run

SMALL = ("--width", "8-9", "--height", "8-9")


def test_levels_are_written_and_told_and_the_same_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("level", "generate", "--count", 4, "--seed", 5, "--kinds", "rooms,halls", "--monsters", "1-3", *SMALL)
    made = run(capsys, *given, "--out", tmp_path / "a", "--jobs", 1)
    assert made.code == 0, made.err
    files = sorted((tmp_path / "a").iterdir())
    assert [f.name for f in files] == ["halls-5-002.txt", "halls-5-004.txt", "rooms-5-001.txt", "rooms-5-003.txt"]
    told = made.out.splitlines()[:4]
    assert told[0].startswith("rooms-5-001: width ") and all("won in " in line for line in told)
    levels = pe.load_levels(tmp_path / "a")
    structure = registry.get("minidungeons2").structure
    assert structure is not None and all(1 <= structure(level)["monsters"] <= 3 for level in levels)
    again = run(capsys, *given, "--out", tmp_path / "b", "--jobs", 2)
    assert [f.read_bytes() for f in sorted((tmp_path / "b").iterdir())] == [f.read_bytes() for f in files]
    assert again.out.splitlines()[:4] == told
    spans = {"monsters": (1, 3), "width": (8, 9), "height": (8, 9)}
    found = pe.generate_levels(2, 5, kinds=["rooms", "halls"], constraints=spans, jobs=1)
    assert [level.text for level in found] == [(tmp_path / f"a/{level.name}.txt").read_text() for level in found]


@pytest.mark.parametrize(("game", "kind"), [("its_alive", "3x5"), ("roguelike2d", "default"), ("puyo", "filled")])
def test_games_with_levels_from_a_seed_say_so(
    game: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run(
        capsys,
        "level",
        "generate",
        "--game",
        game,
        "--count",
        2,
        "--seed",
        1,
        "--kinds",
        kind,
        "--out",
        tmp_path,
        "--jobs",
        1,
    )
    assert made.code == 0 and "from a seed" in made.err and made.out.count("won in ") == 2
    assert len({f.read_text() for f in tmp_path.iterdir()}) == 2
    assert run(capsys, "level", "check", tmp_path, "--game", game).code == 0


def test_another_file_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("level", "generate", "--count", 1, "--seed", 5, "--out", tmp_path, "--jobs", 1, *SMALL)
    assert run(capsys, *given).code == 0 and run(capsys, *given).code == 0
    (file,) = tmp_path.iterdir()
    file.write_text("mine")
    refused = run(capsys, *given)
    assert refused.code == 2 and "--force" in refused.err and str(file) in refused.err and file.read_text() == "mine"
    assert run(capsys, *given, "--force").code == 0 and file.read_text() != "mine"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--kinds", "caves"], "did you mean 'cave'?"),
        (["--monsters", "3-1"], "expected the lower number first, as in 1-3"),
        (["--monsters", "-1"], "--monsters"),
        (["--width", "0"], "expected: width 4 to 100"),
        (["--width", "200-300"], "expected: width 4 to 100"),
        (["--width", "99999999"], "expected whole numbers up to 1,000,000"),
        (["--min-path", "9", "--max-path", "4"], "the higher number last"),
        (["--constraint", "ogre=1-2"], "did you mean 'ogres'?"),
        (["--monsters", "1", "--constraint", "monsters=2"], "given twice"),
        (["--min-path", "300", *SMALL], "was found in 3,000 attempts"),
        (["--game", "puyo", "--min-path", "3"], "a path to the end that can be measured"),
        (["--game", "puyo", "--monsters", "3"], "do not have this number"),
        (["--game", "colosseum"], "no level generator"),
    ],
)
def test_what_cannot_be_is_told(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = run(capsys, "level", "generate", "--count", 1, "--seed", 1, "--jobs", 1, "--out", tmp_path / "x", *given)
    assert refused.code == 2 and said in refused.err and not (tmp_path / "x").exists()


def test_a_folder_that_cannot_be_used_is_told_before_anything_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("persona_evo.api.generating.each_level", None)
    (tmp_path / "file").write_text("mine")
    refused = run(capsys, "level", "generate", "--count", 1, "--seed", 1, "--out", tmp_path / "file" / "x" / "y")
    assert refused.code == 2 and f"{tmp_path / 'file'} is not a folder" in refused.err and "rrno" not in refused.err


def test_an_interrupt_says_what_is_there_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> object:
        yield pools.Won(LevelText("one", "XXX", "", ()), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr("persona_evo.api.generating.each_level", stopped)
    monkeypatch.setattr("persona_evo.cli.level_generate.in_words", lambda *_: "a level")
    found = run(capsys, "level", "generate", "--count", 9, "--seed", 4, "--out", tmp_path)
    assert found.code == 130 and (tmp_path / "one.txt").read_text() == "XXX"
    assert f"stopped: 1 of 9 levels is in {tmp_path}; the same command with  --seed 4  writes them all" in found.err


def test_a_path_is_measured_only_where_there_is_one() -> None:
    with pytest.raises(SettingsError, match="a path to the end that can be measured"):
        pe.generate_levels(1, 1, game="its_alive", min_path=3)


def test_what_is_stopped_leaves_whole_files(tmp_path: Path) -> None:
    line = command("level", "generate", "--count", 500, "--seed", 2, "--out", "out", "--jobs", 1)
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        for _ in range(600):
            if len(list(tmp_path.glob("out/*.txt"))) >= 3:
                break
            time.sleep(0.1)
        p.kill()
    found = pe.load_levels(tmp_path / "out")
    assert 3 <= len(found) < 500


CLASS = '''
"""A corridor."""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class


class Walk:
    metrics = (Metric("AT", "place", "share of the way", high=1, better="higher"),)
    actions = ("left", "right")

    @staticmethod
    def generate(rng):
        length = rng.randint(1, 40)
        return None if length < 4 else "." * length

    @classmethod
    def from_text(cls, text):
        state = cls()
        state.at, state.length = 0, len(text)
        return state

    def copy(self):
        other = type(self)()
        other.at, other.length = self.at, self.length
        return other

    def key(self):
        return self.at

    def legal(self):
        return ["left", "right"]

    def apply(self, action):
        self.at = max(0, self.at + (1 if action == "right" else -1))

    def over(self):
        return "won" if self.at >= self.length else None

    def measure(self):
        return {"AT": min(1.0, self.at / self.length)}


GAME = from_class(Walk)
'''


def test_a_python_class_draws_levels_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "walk.py").write_text(CLASS)
    made = run(
        capsys,
        "level",
        "generate",
        "--game",
        tmp_path / "walk.py",
        "--count",
        3,
        "--seed",
        1,
        "--out",
        tmp_path / "out",
        "--jobs",
        1,
    )
    assert made.code == 0, made.err
    texts = [f.read_text() for f in (tmp_path / "out").iterdir()]
    assert len(set(texts)) == 3 and all(4 <= len(text) <= 40 for text in texts) and made.out.count("won in") == 3
