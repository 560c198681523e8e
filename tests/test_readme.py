"""Commands of README and tutorials run as they stand there, with small budgets added; those of other pages parse."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

import persona_evo
from persona_evo.api import studies
from persona_evo.cli.main import main, parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "pages"
README = ROOT / "README.md"
QUICK = "--trials 1 --iterations 50 --no-pictures --bound-seconds 0 --seed 1"
SMALL = {
    README: {"demo": "--generations 2 --population 8 --trials 3 --iterations 100 --jobs 1"},
    PAGES / "tutorials" / "designers.md": {
        "persona new": "",
        "persona check": "",
        "level new": "",
        "level check": "",
        "playtest my_levels/": "--trials 2 --iterations 200 --no-pictures --jobs 1 --bound-seconds 0 --seed 1",
        "runs list": "",
        "compare before.txt": "--trials 2 --iterations 200 --jobs 1 --seed 1",
        "solve after.txt": "--seconds 1",
        "compare old_levels": "--personas runner --trials 1 --iterations 50 --jobs 1 --seed 1",
        "compare train01@": "--personas thesis --trials 1 --iterations 20 --jobs 1 --seed 1",
        "level generate": "--count 2",
        "evolve --persona": "--levels generate:4 --held-out 2 --generations 2 --population 10 --islands 2 "
        "--iterations 100 --jobs 1 --set final_trials=1 --set levels_a_generation=0",
        "evolve --resume": "--jobs 1",
        "policy list": "",
        "policy show": "",
        "policy export": "",
    },
    PAGES / "tutorials" / "researchers.md": {
        "match colosseum": "--games 2 --size 6 --iterations 20 --jobs 1",
        "experiment new": "",
        "experiment playstyles.toml": "--replicates 2 --rollouts 20 --jobs 1",
        "reproduce minidungeons": "--generations 1 --population 10 --iterations 30 --playtest-iterations 60 --trials 2 "
        "--jobs 1 --bound-seconds 0",
        "reproduce puyo": "--games 1 --drops 10 --generations 1 --population 10 --iterations 20 --jobs 1",
        "reproduce colosseum": "--games 2 --iterations 10 --seconds 0.01 --jobs 1",
        "reproduce evolution": "--setting planner-300 --persona runner --runs 1 --playthroughs 60 --jobs 1",
        "reproduce montecarlo": "--replicates 2 --rollouts 10 --jobs 1",
    },
    PAGES / "tutorials" / "unity.md": {
        "connect new": "",
        "doctor --game": "",
        "connect search": "--iterations 100 --seed 1",
        "connect replay": "--no-screen",
        "playtest test --game": QUICK,
    },
    PAGES / "own_games.md": {
        "game new orchard": "",
        "game check orchard.py": "--seed 1",
        "persona new gardener": "",
        "playtest orchard.txt": QUICK,
        "level generate": "--count 2",
        "evolve --game": "--generations 1 --population 10 --islands 2 --iterations 20 --jobs 1 --set final_trials=1 "
        "--set final_candidates=1",
        "game new meadow": "",
        "game check meadow.py": "--seed 1",
    },
}
"""Page -> what is added to each of its commands. A command that is not here fails the test."""
SHOWN = [README, ROOT / "CONTRIBUTING.md", *PAGES.rglob("*.md"), *ROOT.glob("persona_evo/**/README.md")]


def commands(page: Path) -> list[str]:
    """Return the commands in a page's shell blocks, in its order."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^(?: *|.*/)persona-evo (.+)$", "\n".join(blocks), flags=re.MULTILINE)


def test_the_site_shows_pages_as_the_repository_does() -> None:
    for page in {*SHOWN, *(ROOT / "unity_support").rglob("*.md")}:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(?m)^ {1,3}```", text), f"{page}: 4 spaces, or a block interrupts its numbered list"
        assert not re.search(r"(?m)^#+ .*[^#\s]#$", text), f"{page}: the # at the end of a heading is lost"


STUDIES = "reproduce"
SLOW = (STUDIES, "evolve --game tests/examples/museum.py")
"""Commands that take long. The tests of each study run it with smaller numbers; others evolve in a Python class."""


@pytest.mark.usefixtures("unsimplified")
@pytest.mark.parametrize("page", SMALL, ids=lambda page: page.name)
def test_every_command_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = commands(page)
    assert len(lines) == len(SMALL[page])
    all_run(page, [line for line in lines if not line.startswith(SLOW)], tmp_path, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.usefixtures("unsimplified")
def test_an_evolution_in_generated_levels_of_a_class_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGES / "own_games.md"
    lines = [line for line in commands(page) if "museum" in line]
    assert len(lines) == 2
    all_run(page, lines, tmp_path, monkeypatch, capsys, {"level generate": "--count 12"})


@pytest.mark.slow
@pytest.mark.skipif(not studies.installed(), reason="there are no studies")
@pytest.mark.usefixtures("unsimplified")
def test_every_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = PAGES / "tutorials" / "researchers.md"
    lines = [line for line in commands(page) if line.startswith(STUDIES)]
    assert len(lines) == len(studies.installed())
    all_run(page, lines, tmp_path, monkeypatch, capsys)


def all_run(
    page: Path,
    lines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changes: Mapping[str, str] | None = None,
) -> None:
    """Run commands of a page in an empty folder with levels and examples, with what is added to each.

    Args:
        changes: what differs from SMALL.
    """
    levels = ROOT / "persona_evo" / "games" / "catalog" / "minidungeons2" / "levels"
    for folder in ("my_levels", "old_levels", "new_levels"):
        (tmp_path / folder).mkdir()
    files = {"my_levels/one": "test01", "before": "test01", "after": "test03"}
    files |= {
        "old_levels/one": "test01",
        "old_levels/two": "test02",
        "new_levels/one": "test03",
        "new_levels/two": "test02",
    }
    for target, source in files.items():
        text = (levels / f"{source}.txt").read_text(encoding="utf-8")
        (tmp_path / f"{target}.txt").write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "tests" / "examples", tmp_path / "tests" / "examples")
    monkeypatch.chdir(tmp_path)
    small = {**SMALL[page], **(changes or {})}
    for line in lines:
        name = next(k for k in small if line.startswith(k))
        words = [*shlex.split(line), *small[name].split()]
        if name == "evolve --resume":
            (run,) = (tmp_path / "runs").glob("*-collector-*")
            words[words.index("--resume") + 1] = str(run)
        code = main(words)
        said = capsys.readouterr()
        assert code in ((0, 1) if "--require" in words else (0,)), f"{line}\n{said.out}\n{said.err}"
        assert said.out.strip()


@pytest.mark.quick
@pytest.mark.parametrize("page", SHOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_has_the_options_that_it_is_shown_with(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line)
        assert parser(words[:1]).parse_args(words), line


@pytest.mark.quick
def test_python_of_the_tutorial_is_that_of_the_package() -> None:
    text = (PAGES / "tutorials" / "researchers.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert block is not None
    inside = [line.strip() for line in (persona_evo.__doc__ or "").splitlines()]
    assert all(line.strip() in inside for line in block[1].splitlines() if line)


@pytest.mark.quick
def test_ci_does_what_the_second_command_does() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert 'install -q -e ".[test]" && .venv/bin/python -m pytest' in README.read_text(encoding="utf-8")
    assert 'install --quiet -e ".[test]"' in script and ".venv/bin/python -m pytest\n" in script
