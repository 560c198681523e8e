"""Tests what commands announce and recommend: compiling, baselines, and commands that the user can run next."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from persona_evo.api import players
from persona_evo.api.players import with_baseline
from persona_evo.cli import say
from persona_evo.compiling import Work
from persona_evo.games import registry, trust
from persona_evo.personas import load
from persona_evo.playtest.players import Player, same_policy
from persona_evo.search.tree_policy import UCB1_FORMULA, TreePolicy
from persona_evo.store import policies, runs
from persona_evo.store.policies import Policy
from tests.cli.tool import environment, run

GAME = registry.get("minidungeons2")


@pytest.mark.parametrize(
    "command",
    [
        "match colosseum",
        "policy list",
        "policy show monster_killer",
        "policy show chain_builder --game puyo",
        "level list",
        "level check test01",
        "persona list",
    ],
)
def test_what_lists_and_shows_loads_no_engine(command: str, tmp_path: Path) -> None:
    """The engine is compiled when it is imported."""
    program = (
        "import sys; from persona_evo.cli.main import main; code = main(sys.argv[1:]); "
        "sys.exit(code or ('persona_evo.search.mcts' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split()],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_has_to_be_compiled_is_announced_once(capsys: pytest.CaptureFixture[str]) -> None:
    tell = say.Compiling()
    whole, part = Work("puyo.rules.step", 12.4), Work("puyo.rules.over", 2.0, depth=1)
    for work in (whole, part, replace(part, done=True), replace(whole, done=True)):
        tell(work)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "compiling for this machine, once: about 12 s ..."
    assert len(told) == 2 and told[1].startswith("compiling puyo.rules.over, ")
    tell(whole)
    assert "once" not in capsys.readouterr().err


def test_a_first_start_says_what_it_does_and_a_warm_one_nothing(tmp_path: Path) -> None:
    env = {**environment(), "PERSONA_EVO_CACHE": str(tmp_path / "cache")}
    words = [sys.executable, "-m", "persona_evo", "level", "check", "--game", "roguelike2d", "train01"]
    usual = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True, "timeout": 300, "check": False}
    first, second = (subprocess.run(words, **usual) for _ in range(2))  # type: ignore[call-overload]
    assert first.returncode == second.returncode == 0, first.stderr
    said = first.stderr.splitlines()
    assert said[0] == "starting the compiler ..." and said[1].startswith("compiling for this machine, once: about ")
    assert second.stderr == "" and second.stdout == first.stdout


def test_a_policy_is_not_its_own_baseline() -> None:
    noticed: list[str] = []
    runner = load("runner", GAME)
    base = Player(runner, TreePolicy.ucb1(), "runner/ucb1")
    own = Player(runner, TreePolicy.ucb1(), "runner", "runner/ucb1")
    assert [p.label for p in with_baseline(own, base, True, noticed.append)] == ["runner"]
    assert len(noticed) == 1 and "the baseline is the policy itself" in noticed[0]
    other = Player(runner, TreePolicy.ucb1(0.5), "runner", "runner/ucb1")
    assert with_baseline(other, base, True, noticed.append) == [other, base]
    text = Player(runner, TreePolicy.of(UCB1_FORMULA, GAME), "runner")
    assert same_policy(text, base, mean=True) and not same_policy(text, base), "R is not the mean in every search"


def test_a_playtest_leaves_out_the_baseline_that_is_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        capsys,
        "playtest",
        "test01",
        "--personas",
        "runner",
        "--policy",
        "ucb1",
        "--baseline",
        "--trials",
        2,
        "--iterations",
        30,
        "--seed",
        1,
        "--jobs",
        1,
        "--bound-seconds",
        0,
        "--no-pictures",
        "--out",
        "p",
    )
    assert done.code == 0 and "the baseline is the policy itself" in done.err and "runner/ucb1" not in done.out


def test_a_file_tells_the_game_of_its_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    policies.write(Policy("chain", "puyo", formula="R"), Path("chain.json"))
    done = run(capsys, "policy", "show", "chain.json")
    assert done.code == 0 and "puyo" in done.out
    other = run(capsys, "policy", "show", "chain_builder")
    assert other.code == 2 and "add --game puyo" in other.err
    wrong = run(capsys, "policy", "show", "chain.json", "--game", "colosseum")
    assert wrong.code == 2 and "belongs to another game" in wrong.err and "add --game puyo" in wrong.err


def test_a_run_tells_the_game_of_its_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run of a game that is not listed: the run knows its file, and a policy file alone says what is missing."""
    corridor = Path(__file__).parents[1] / "examples" / "corridor.py"
    monkeypatch.chdir(tmp_path)
    own = Path(shutil.copy(corridor, "corridor.py")).resolve()
    address = f"{own}:GAME"
    config = {"game": address, "persona": {"name": "walker"}, "seed": 1, "target": 1, **trust.code_of(address)}
    with runs.RunFolder.create(Path("runs"), config) as made:
        policies.write(Policy("walker", "corridor", persona="walker", formula="R"), made.folder / "policy.json")
    shown = run(capsys, "policy", "show", made.folder)
    assert shown.code == 0 and "corridor" in shown.out, shown.err
    assert run(capsys, "policy", "export", made.folder / "policy.json").out == "R\n"
    assert run(capsys, "policy", "install", made.folder).code == 0
    alone = run(capsys, "policy", "show", "policies/corridor/walker.json")
    assert alone.code == 2 and "does not say where the game" in alone.err and "FILE.toml" in alone.err
    own.write_text(own.read_text() + "# changed\n")
    changed = run(capsys, "policy", "show", made.folder)
    assert changed.code == 2 and "--game FILE accepts it" in changed.err
    assert run(capsys, "policy", "show", made.folder, "--game", address).code == 0


def test_the_match_that_evolve_recommends_has_its_budget_and_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        capsys,
        "evolve",
        "--game",
        "colosseum",
        "--persona",
        "duelist",
        "--levels",
        "random06",
        "--league",
        "random",
        "evolver",
        "--generations",
        1,
        "--population",
        4,
        "--islands",
        1,
        "--iterations",
        5,
        "--jobs",
        1,
        "--seed",
        1,
        "--set",
        "final_candidates=1",
        "--set",
        "final_trials=1",
    )
    assert done.code == 0, done.err
    words = shlex.split(next(line for line in done.out.splitlines() if line.startswith("play:")).partition(":")[2])
    assert words[:3] == ["persona-evo", "match", "colosseum"] and words[4:6] == ["random", "evolver"]
    assert words[words.index("--iterations") + 1] == "5" and int(words[words.index("--games") + 1]) < 10
    words[words.index("--levels") + 1] = "random06"
    played = run(capsys, *words[1:], "--games", "2", "--jobs", "1", "--seed", "1", "--no-pictures")
    assert played.code == 0, played.err


@pytest.mark.quick
@pytest.mark.parametrize(
    ("policy", "label"),
    [
        ("ucb1:0.1", "ucb1:0.1"),
        ("ucb1:0.25", "ucb1:0.25"),
        ("runs/best.json", "best"),
        ("v1.5.json", "v1.5"),
        ("formula:R+0.5", "formula"),
        ("ucb1", "ucb1"),
    ],
)
def test_a_policy_is_labelled_as_it_is_written(policy, label):
    assert players.short(policy) == label
