"""Tests that a command loads only the modules that it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from persona_evo.cli.main import COMMANDS, parser
from tests.cli.tool import environment


def loaded(folder: Path, *command: str) -> set[str]:
    """Return the modules that a process has loaded when a command is done."""
    program = (
        "import sys; from persona_evo.cli.main import main\n"
        "try: code = main(sys.argv[1:])\n"
        "except SystemExit as e: code = e.code\n"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        cwd=folder,
        env=environment(),
        timeout=300,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_help_loads_no_command_and_no_numpy(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "--help")
    assert not modules & {"numpy", *(f"persona_evo.cli.{name}" for name in COMMANDS)}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_alone_has_the_help_that_it_has_among_all(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for wanted in (COMMANDS, [name]):
        with pytest.raises(SystemExit):
            parser(wanted).parse_args([name, "--help"])
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] and "options:" in told[0] and len(told[0].splitlines()) > 5


def test_a_playtest_with_all_on_disk_loads_no_compiler_and_no_scipy(tmp_path: Path) -> None:
    command = [
        "playtest",
        "test01",
        "--personas",
        "runner",
        "--policy",
        "ucb1",
        "--trials",
        "1",
        "--iterations",
        "100",
        "--jobs",
        "1",
        "--seed",
        "1",
        "--no-pictures",
        "--out",
    ]
    loaded(tmp_path, *command, "first")  # compiles what is not on disk yet
    modules = loaded(tmp_path, *command, "again")
    assert "persona_evo.search.mcts" in modules
    assert not modules & {"numba", "scipy", "sympy", "deap", "matplotlib"}
