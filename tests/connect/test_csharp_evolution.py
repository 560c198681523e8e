"""Tests evolution and playtests of the C# game over TCP: the same policy for any number of workers, and resumed."""

import json
import shutil
import subprocess
import sys

import pytest

from persona_evo.store import policies
from tests.cli.tool import run
from tests.connect.driving import none_left
from tests.shared import ROOT

GAME = ROOT / "unity_support" / "games" / "roguelike2d" / "forward.toml"
BUILD = ROOT / "unity_support" / "build.py"
EVOLVE = (
    "--persona",
    "forager",
    "--levels",
    "default@1001-1002",
    "--iterations",
    12,
    "--population",
    6,
    "--islands",
    1,
    "--seed",
    5,
    "--set",
    "final_trials=2",
    "--set",
    "final_candidates=2",
    "--jobs",
    1,
)


@pytest.fixture
def described(tmp_path):
    """From a number of processes to the shipped description with so many, in a folder of its own."""
    if not BUILD.is_file():
        pytest.skip("the C# games are not here (they stand in the repository, not in the package)")
    if shutil.which("mcs") is None or shutil.which("mono") is None:
        pytest.skip("Mono is not installed (on Debian: apt-get install mono-mcs mono-runtime)")
    built = tmp_path / "built"
    done = subprocess.run([sys.executable, BUILD, "roguelike2d", "--out", built], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    personas = ROOT / "persona_evo" / "personas" / "catalog"

    def describe(workers):
        folder = tmp_path / f"with{workers}"
        folder.mkdir()
        shutil.copy(personas / "forager.toml", folder)
        lines = [
            line
            for line in GAME.read_text(encoding="utf-8").splitlines()
            if "persona_evo/personas" not in line and not line.startswith("slots")
        ]
        text = "\n".join(lines).replace("../../build/roguelike2d.exe", str(built / "roguelike2d.exe"))
        file = folder / "roguelike2d.toml"
        file.write_text(
            f'workers = {workers}\nslots = 2\npersonas = ["forager.toml"]\nlogs = "logs"\n{text}\n', encoding="utf-8"
        )
        return file

    yield describe
    assert none_left(tmp_path)


def evolved(folder):
    """What a run came to: its generations and its policy, without times."""
    (made,) = folder.iterdir()
    journal = [json.loads(line) for line in (made / "journal.jsonl").read_text(encoding="utf-8").splitlines()]
    best = json.loads((made / "hall_of_fame.json").read_text(encoding="utf-8"))
    return [(g.get("generation"), g.get("best"), g.get("mean"), g.get("formula")) for g in journal], best


@pytest.mark.usefixtures("unsimplified")
def test_a_policy_evolves_over_tcp_and_plays(described, tmp_path, capsys):
    files = {workers: described(workers) for workers in (1, 2)}
    found = {}
    for workers, file in files.items():
        out = tmp_path / f"runs{workers}"
        generations = 2 if workers == 1 else 1
        done = run(
            capsys,
            "evolve",
            "--game",
            file,
            *EVOLVE,
            "--generations",
            generations,
            "--out",
            out,
        )
        assert done.code == 0, done.err
        if workers == 2:
            (unfinished,) = out.iterdir()
            done = run(capsys, "evolve", "--resume", unfinished, "--generations", 2, "--jobs", 1)
            assert done.code == 0, done.err
        found[workers] = evolved(out)
    assert found[1] == found[2] and len(found[1][0]) >= 2
    (made,) = (tmp_path / "runs1").iterdir()
    policy = next(iter(made.glob("*policy*.json")), made)
    assert policies.read(policy).connected == {
        **{"rollout": "weights", "policy": "", "slots": 2, "constant": "outside"},
        **{"widening": 16, "priors": True, "scores": "normalised", "horizon": 29_900, "max_decisions": 29_900},
    }
    played = tmp_path / "played"
    done = run(
        capsys,
        "playtest",
        "default@2001-2002",
        "--game",
        files[1],
        "--personas",
        "forager",
        "--policy",
        policy,
        "--baseline",
        "ucb1",
        "--trials",
        2,
        "--iterations",
        25,
        "--seed",
        1,
        "--no-replays",
        "--jobs",
        1,
        "--out",
        played,
    )
    assert done.code == 0, done.err
    traces = [json.loads(line) for line in (played / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    walks = [t["positions"] for t in traces if t.get("positions")]
    assert len(walks) == 8 and all(walk[0] == [0, 7] for walk in walks)
    assert list(played.rglob("*default_2001*.png")), sorted(played.rglob("*"))
