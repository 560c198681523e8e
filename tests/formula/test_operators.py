"""An operator that another package adds to formulas."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from persona_evo.errors import FormulaError
from persona_evo.formula import MAX_NODES, Operator

PLUGIN = """\
from persona_evo import Operator

CLAMP = Operator("clamp", ("x", "low", "high"), "min(max(x, low), high)", "x, brought between low and high")
SIGMOID = Operator("sigmoid", ("x",), "1 / (1 + exp(-x))")
"""

PERSONA = """\
game = "minidungeons2"
title = "Half a killer"
priority = "MS"
short = "HK"
utility = "clamp(MS, 0, 0.5) + 0.1 * TO"
"""

PROGRAM = """\
import persona_evo as pe
from persona_evo.formula.intervals import span
from persona_evo.formula.native import formula_on_row
import numpy as np

f = pe.parse("2 * clamp(a + 1, 0, sigmoid(b) * 4) ^ 2 - clamp", ["a", "b", "clamp"])
point = {"a": 0.5, "b": 0.0, "clamp": 1.0}
assert f.evaluate(point) == 2 * 1.5 ** 2 - 1, f.evaluate(point)
assert f == pe.parse("2 * min(max(a + 1, 0), 1 / (1 + exp(-b)) * 4) ^ 2 - clamp")
assert span(f, {"a": (0, 9), "b": (-9, 9), "clamp": (0, 0)})[1] <= 32.0
assert formula_on_row(f, ("a", "b", "clamp"))(np.array([0.5, 0.0, 1.0])) == f.evaluate(point)
for text in ("clamp(a, 0)", "clump(a, 0, 1)"):
    try:
        pe.parse(text)
    except pe.PersonaEvoError as error:
        print(error)
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Return the environment in which a package with two operators is installed."""
    (tmp_path / "more_operators.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "more_operators-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more-operators\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[persona_evo.operators]\nclamp = more_operators:CLAMP\nsigmoid = more_operators:SIGMOID\n", encoding="utf-8"
    )
    root = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), root))}


def output(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, encoding="utf-8", timeout=300
    )


def test_an_operator_is_added_by_an_entry_point(installed: dict[str, str]) -> None:
    done = output(installed, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert "clamp has the wrong number of arguments" in done.stdout and "clamp(x, low, high)" in done.stdout
    assert "unknown function" in done.stdout and "did you mean 'clamp'" in done.stdout


def test_the_operator_serves_on_the_command_line(installed: dict[str, str], tmp_path: Path) -> None:
    persona = tmp_path / "careful.toml"
    persona.write_text(PERSONA, encoding="utf-8")
    command = ("-m", "persona_evo", "persona", "check", str(persona))
    done = output(installed, *command)
    assert done.returncode == 0 and "min(max(MS, 0), 0.5)" in done.stdout, done.stdout + done.stderr
    installed["PYTHONPATH"] = installed["PYTHONPATH"].split(os.pathsep)[1]
    done = output(installed, *command)
    assert done.returncode == 2 and "unknown function" in done.stderr and "clamp" in done.stderr


@pytest.mark.parametrize(
    ("name", "parameters", "formula"),
    [
        ("min", ("x",), "x"),
        ("two words", ("x",), "x"),
        ("f", ("x", "x"), "x"),
        ("f", (), "1"),
        ("f", ("exp",), "1"),
        ("f", ("x",), "x + y"),
        ("f", ("x",), "f(x)"),
        ("f", ("x",), "x +"),
    ],
)
def test_a_wrong_definition_is_refused(name: str, parameters: tuple[str, ...], formula: str) -> None:
    with pytest.raises(FormulaError):
        Operator(name, parameters, formula)


def test_a_definition_that_grows_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from persona_evo.formula import operators, parse

    cube = Operator("cube", ("x",), "x ^ 3")
    monkeypatch.setattr(operators, "operators", lambda: {"cube": cube})
    assert parse("cube(a + b)") == parse("(a + b) ^ 3")
    text = "a"
    for _ in range(8):
        text = f"cube({text})"
    with pytest.raises(FormulaError, match=str(MAX_NODES)):
        parse(text)
