"""The README's commands run as they stand there, with small budgets added, and its Python is that of the package."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

import persona_evo
from persona_evo.api import studies
from persona_evo.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SMALL = {
    "persona new": "",
    "persona check": "",
    "level new": "",
    "level check": "",
    "level generate": "--count 2",
    "evolve --persona": "--levels generate:4 --held-out 2 --generations 2 --population 10 --islands 2 --iterations 100 "
    "--jobs 1 --set final_trials=1",
    "evolve --resume": "--jobs 1",
    "policy list": "",
    "policy show": "",
    "policy export": "",
    "playtest my_levels/": "--trials 2 --iterations 200 --no-pictures --jobs 1 --bound-seconds 0 --seed 1",
    "runs list": "",
    "compare before.txt": "--trials 2 --iterations 200 --jobs 1 --seed 1",
    "solve after.txt": "--seconds 1",
    "match colosseum": "--games 2 --size 6 --iterations 20 --jobs 1",
    "game new": "",
    "game check": "--seed 1",
    "connect new": "",
    "doctor --game": "",
    "connect search": "--iterations 100 --seed 1",
    "connect replay": "--no-screen",
    "playtest test --game": "--trials 1 --iterations 50 --no-pictures --bound-seconds 0 --seed 1",
    "reproduce minidungeons": "--generations 1 --population 10 --iterations 30 --playtest-iterations 60 --trials 2 "
    "--jobs 1 --bound-seconds 0",
    "reproduce puyo": "--games 1 --drops 10 --generations 1 --population 10 --iterations 20 --jobs 1",
    "reproduce colosseum": "--games 2 --iterations 10 --seconds 0.01 --jobs 1",
    "reproduce evolution": "--setting planner-300 --persona runner --runs 1 --playthroughs 60 --jobs 1",
    "experiment new": "",
    "experiment playstyles.toml": "--replicates 2 --rollouts 20 --jobs 1",
    "reproduce montecarlo": "--replicates 2 --rollouts 10 --jobs 1",
}
"""What is added to each command; a command of the README that is not here fails the test."""


def commands() -> list[str]:
    """The README's commands, in its order."""
    return re.findall(r"^ *persona-evo (.+)$", TEXT, flags=re.MULTILINE)


@pytest.mark.usefixtures("unsimplified")
def test_every_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = ROOT / "persona_evo" / "games" / "catalog" / "minidungeons2" / "levels"
    (tmp_path / "my_levels").mkdir()
    for source, target in (("test01", "my_levels/one"), ("test01", "before"), ("test03", "after")):
        text = (levels / f"{source}.txt").read_text(encoding="utf-8")
        (tmp_path / f"{target}.txt").write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "tests" / "examples", tmp_path / "tests" / "examples")
    monkeypatch.chdir(tmp_path)
    lines = [line for line in commands() if studies.installed() or not line.startswith("reproduce")]
    assert not studies.installed() or len(lines) == len(SMALL)
    for line in lines:
        name = next(k for k in SMALL if line.startswith(k))
        words = [*shlex.split(line), *SMALL[name].split()]
        if name == "evolve --resume":
            (run,) = (tmp_path / "runs").iterdir()
            words[words.index("--resume") + 1] = str(run)
        code = main(words)
        said = capsys.readouterr()
        assert code in ((0, 1) if "--require" in words else (0,)), f"{line}\n{said.out}\n{said.err}"
        assert said.out.strip()


def test_python_of_the_readme_is_that_of_the_package() -> None:
    block = re.search(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert block is not None
    inside = [line.strip() for line in (persona_evo.__doc__ or "").splitlines()]
    assert all(line.strip() in inside for line in block[1].splitlines() if line)


def test_ci_does_what_the_second_command_does() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert 'install -q -e ".[test]" && .venv/bin/python -m pytest' in TEXT
    assert 'install --quiet -e ".[test]"' in script and ".venv/bin/python -m pytest\n" in script
