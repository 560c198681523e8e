"""Tests the files for continuous integration: JUnit XML and summaries in Markdown."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.games.findings import Finding
from persona_evo.playtest.requirement import Check
from persona_evo.report import ci

pytestmark = pytest.mark.quick

CHECKS = [
    Check("runner.win_rate >= 95%", 1.0, True, "runner"),
    Check("deaths == 0", 3.0, False, "runner", "2 of 4 fail"),
]
FINDINGS = [
    Finding("unreachable_exit", "problem", "b", "no way leads to the exit (3:8)"),
    Finding("shortcut", "notice", "a", "x"),
]


def test_each_requirement_and_each_level_is_a_test_case() -> None:
    levels = {"a": "maps/a.txt", "b": "", "c": ""}
    cases = [*ci.requirement_cases(CHECKS), *ci.level_cases(levels, FINDINGS, {"c": "torn"})]
    root = ElementTree.fromstring(ci.junit(cases))
    assert root.tag == "testsuites" and (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "2", "1")
    assert [s.get("name") for s in root.findall("testsuite")] == ["requirements", "findings"]
    found = {case.get("name"): case for case in root.iter("testcase")}
    assert list(found["runner.win_rate >= 95%"]) == [] and found["a"].get("file") == "maps/a.txt"
    failure = found["deaths == 0"].find("failure")
    assert failure is not None and failure.get("message") == "failed: 3 (runner), 2 of 4 fail"
    assert "unreachable_exit: no way leads to the exit" in (found["b"].findtext("failure") or "")
    assert found["c"].findtext("error") == "torn" and found["c"].find("failure") is None


@given(st.text(), st.text(min_size=1))
def test_any_name_gives_xml_that_can_be_read_and_is_the_name(name: str, why: str) -> None:
    ranges = ("\t\t", "\n\n", "\r\r", " \ud7ff", "\ue000\ufffd", "\U00010000\U0010ffff")
    safe = "".join(c if any(low <= c <= high for low, high in ranges) else "?" for c in name)
    root = ElementTree.fromstring(ci.junit([ci.Case("findings", name, why)]))
    case = next(root.iter("testcase"))
    assert case.get("name") == safe and case.find("failure") is not None


def test_the_summary_says_what_failed_and_escapes_what_levels_are_called() -> None:
    hostile = Finding("shortcut", "notice", "<img src=x>|`*a*`\n# b", "[link](http://x)")
    text = ci.summary(
        "Playtest of a|b",
        ci.verdict(CHECKS, [*FINDINGS, hostile]),
        CHECKS,
        [*FINDINGS, hostile],
        {"page": "out/`x`.html"},
    )
    assert "**1 of 2 requirements holds, 1 problem, 2 notices**" in text
    assert "| **FAILED** | deaths == 0 | 3 (runner), 2 of 4 fail |" in text
    assert "| passed | runner.win\\_rate &gt;= 95% | 1 (runner) |" in text
    assert text.index("**problem**, b") < text.index("**notice**, a")
    assert "&lt;img src=x&gt;\\|\\`\\*a\\*\\` \\# b: \\[link\\](http://x)" in text and "\n# b" not in text
    assert "`` out/`x`.html ``" in text
    many = ci.summary("t", "v", [], [Finding("deaths", "notice", "l", f"n{i}") for i in range(15)], {})
    assert "and 5 more notices" in many and "n9" in many and "n10" not in many
    assert "### Findings\n\nnone" in ci.summary("t", "v", [], [], {})
