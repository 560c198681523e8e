"""Tests that `reproduce` finds studies by entry points: those that ship, others, and none."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import persona_evo as pe
from persona_evo.api import studies
from tests.cli.tool import run
from tests.shared import ROOT

Capture = pytest.CaptureFixture[str]

OWN = """
from pathlib import Path
from persona_evo.api.studies import Reproduction, Study
from persona_evo.report.figures import Drawing
from persona_evo.report.charts import Bars
from persona_evo.intervals import Interval


def add_arguments(parser):
    parser.add_argument("--times", type=int, default=1)


def run(args):
    print("coin " * args.times)
    return 0


def resume(folder, *, times=1):
    return Reproduction(folder / "index.html", "coin " * times)


def drawings(folder):
    yield Drawing(("coin",), Bars("heads", [("coin", Interval(0.5, 0.4, 0.6, 100))]))


STUDY = Study("a coin is tossed", "Tosses a coin.", add_arguments, run, resume=resume, drawings=drawings)
"""


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package from elsewhere with a study, one that cannot be loaded, and one of a folder that has been deleted."""
    (tmp_path / "coin_study.py").write_text(OWN)
    info = tmp_path / "coins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{studies.GROUP}]\ncoin = coin_study:STUDY\nwrong = coin_study:OWN\nplain = coin_study:run\n"
        f"gone = {studies.GROUP}.gone.command:STUDY\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    studies.installed.cache_clear()
    yield tmp_path
    studies.installed.cache_clear()


def test_a_study_from_outside_is_a_command(outside: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        run(capsys, "reproduce", "--help")
    shown = capsys.readouterr().out
    assert "a coin is tossed" in shown and shown.count("cannot be loaded") == 2 and "gone" not in shown
    ran = run(capsys, "reproduce", "coin", "--times", 2)
    assert (ran.code, ran.out) == (0, "coin coin \n")
    wrong = run(capsys, "reproduce", "wrong", "--quick", "--out", outside)
    assert wrong.code == 2 and "the study 'wrong' cannot be loaded" in wrong.err and "OWN" in wrong.err
    plain = run(capsys, "reproduce", "plain")
    assert plain.code == 2 and "is a function" in plain.err and "expected: a persona_evo.api.studies.Study" in plain.err


def test_a_study_from_outside_in_python_and_its_figures(outside: Path, capsys: Capture) -> None:
    folder = outside / "again"
    folder.mkdir()
    (folder / studies.CONFIG).write_text(json.dumps({"schema": 1, "study": "coin", "seed": 1}))
    assert str(pe.resume_reproduction(folder, times=2)) == "coin coin "
    with pytest.raises(pe.PersonaEvoError, match="only be run from the command line"):
        pe.reproduce("coin")
    drawn = run(capsys, "runs", "show", folder, "--figures", outside / "figures", "--format", "svg")
    assert drawn.code == 0 and [f.name for f in (outside / "figures").iterdir()] == ["coin.svg"], drawn.err


REFUSED = ("reproduce", "reproduce puyo --quick", "runs show again --figures pictures")
"""Commands that need a study."""
DONE = {
    "runs list": "study puyo",
    "runs show again": "study puyo",
    "status": "",
    "persona list": "runner",
    "policy list": "paper_runner",
    "level check test01": "test01",
    "solve test01 --persona runner --seconds 1": "0.",
    "playtest test01 --trials 1 --iterations 20 --bound-seconds 0 --no-pictures --jobs 1": "test01",
}
"""Commands that need none, and what they say."""
SCRIPT = """
import contextlib, importlib, io, json, pkgutil, sys
import persona_evo
from persona_evo.cli.main import main

for module in pkgutil.walk_packages(persona_evo.__path__, "persona_evo."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)

def ran(line):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(line.split())
    return code, out.getvalue(), err.getvalue()

found = {line: ran(line) for line in sys.argv[1:]}
try:
    persona_evo.reproduce()
except persona_evo.PersonaEvoError as e:
    found["in Python"] = str(e)
found["loaded"] = [name for name in sys.modules if name.startswith("persona_evo.studies")]
print(json.dumps(found))
"""
"""Runs in a copy of the package: imports all modules, then runs commands."""


def test_the_product_needs_no_studies(tmp_path: Path) -> None:
    """In a copy of the package without its studies, all modules can be imported and commands work.

    The tests of the product pass without them, too: `rm -r persona_evo/studies tests/studies`, then `pytest`.
    """
    package = tmp_path / "copy" / "persona_evo"
    shutil.copytree(ROOT / "persona_evo", package, ignore=shutil.ignore_patterns("__pycache__", "studies"))
    shutil.copytree(ROOT / "policies", package.parent / "policies")
    folder = tmp_path / "runs" / "again"
    folder.mkdir(parents=True)
    (folder / studies.CONFIG).write_text(json.dumps({"schema": 1, "study": "puyo", "seed": 4}))
    there = {**os.environ, "PYTHONPATH": str(package.parent)}
    process = [sys.executable, "-c", SCRIPT, *REFUSED, *DONE]
    done = subprocess.run(process, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["in Python"].startswith("no studies are installed") and found["loaded"] == []
    for line in REFUSED:
        code, _, err = found[line]
        assert code == 2 and "no studies are installed" in err, line
    for line, says in DONE.items():
        code, out, err = found[line]
        assert code == 0 and says in out, f"{line}: {err}"


def test_nothing_of_the_product_names_a_study() -> None:
    """Neither the product's modules nor its tests import from the package of studies."""
    inside = [*(ROOT / "persona_evo").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    product = [file for file in inside if not {"studies", "__pycache__"} & set(file.parent.parts)]
    assert len(product) > 300
    named = re.compile(r"^\s*(from|import) (persona_evo|tests)\.studies\b", re.MULTILINE)
    assert [str(file) for file in product if named.search(file.read_text(encoding="utf-8"))] == []


def test_entry_points_are_those_of_the_folders() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    shipped = studies._shipped()
    if not shipped:
        pytest.skip("the studies that ship are not here")
    assert known[studies.GROUP] == {name: studies.installed()[name].value for name in shipped}
