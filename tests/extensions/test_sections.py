"""A report section from another package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tool import run
from tests.extensions.conftest import Install
from tests.extensions.examples import examples

Capture = pytest.CaptureFixture[str]

MORE = """

def fail(page):
    raise KeyError("<nothing>")


FAILING = pe.ReportSection(fail)
WRONG = pe.ReportSection(lambda page: "text")
"""
POINTS = {
    "persona_evo.report_sections": {
        "time": "sections:TIME",
        "failing": "sections:FAILING",
        "wrong": "sections:WRONG",
        "gone": "sections:NOWHERE",
    }
}


def test_the_page_has_the_section(install: Install, tmp_path: Path, capsys: Capture) -> None:
    install("sections", examples()["budget_section"] + MORE, POINTS)
    little = ("--trials", 2, "--iterations", 50, "--bound-seconds", 0, "--no-pictures", "--jobs", 1, "--seed", 1)
    played = ("playtest", "test01", "--personas", "runner", "--policy", "ucb1", *little, "--out", tmp_path / "run")
    done = run(capsys, *played)
    assert done.code == 0, done.err
    page = (tmp_path / "run" / "index.html").read_text(encoding="utf-8")
    assert 'id="added-time"' in page and "Time of the searches" in page and 'href="#added-time"' in page
    assert "The report section &#39;failing&#39; fails at" in page and "&lt;nothing&gt;" in page
    assert "expected a Section, found str" in page and "the report section &#39;gone&#39; cannot be loaded" in page
    assert page.index('id="added-time"') < page.index('id="made"')
