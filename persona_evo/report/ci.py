"""Results for continuous integration: JUnit XML, and a summary in Markdown.

JUnit has a suite for the requirements. If findings affect the outcome, it has a second suite for them with a test case
per level. Each requirement and each level is one test case, with at most one failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from persona_evo.games.findings import Finding
from persona_evo.playtest.requirement import Check
from persona_evo.words import counted, plural

NOTICES = 10
"""Maximum number of notices in a summary, which lists all problems."""

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]#|!~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class Case(NamedTuple):
    """One test case.

    Attributes:
        suite: "requirements" or "findings".
        name: the requirement, or the level.
        failure: what is wrong, one or more lines; "" if the test passed.
        error: why there is no result; "" if there is one.
        file: the level's file, "" if it has none.
    """

    suite: str
    name: str
    failure: str = ""
    error: str = ""
    file: str = ""


def requirement_cases(checks: Iterable[Check]) -> list[Case]:
    """Return a test case for each requirement."""
    return [Case("requirements", c.text, "" if c.passed else f"failed: {_value(c)}") for c in checks]


def level_cases(
    levels: Mapping[str, str], findings: Sequence[Finding], errors: Mapping[str, str] | None = None
) -> list[Case]:
    """Return a test case for each level, which fails if the level has a problem.

    Args:
        levels: name -> file, "" for none.
        findings: the findings of all levels.
        errors: name -> why the level cannot be read.
    """
    cases = []
    for name, file in levels.items():
        own = [f for f in findings if f.severity == "problem" and name in (f.level, *f.level.split(", "))]
        text = "\n".join(f"{f.kind}: {f.text}" for f in own)
        cases.append(Case("findings", name, text, (errors or {}).get(name, ""), file))
    return cases


def junit(cases: Sequence[Case], name: str = "persona-evo") -> str:
    """Return the test cases as JUnit XML, by suite in order of appearance."""
    root = ElementTree.Element("testsuites", _totals(name, cases))
    for suite in dict.fromkeys(c.suite for c in cases):
        own = [c for c in cases if c.suite == suite]
        parent = ElementTree.SubElement(root, "testsuite", _totals(suite, own))
        for case in own:
            known = {"classname": f"{name}.{suite}", "name": _plain(case.name), "time": "0"}
            known |= {"file": _plain(case.file)} if case.file else {}
            made = ElementTree.SubElement(parent, "testcase", known)
            for kind, text in (("error", case.error), ("failure", "" if case.error else case.failure)):
                if text:
                    first = text.splitlines()[0]
                    ElementTree.SubElement(made, kind, {"message": _plain(first), "type": suite}).text = _plain(text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def summary(
    title: str, verdict: str, checks: Sequence[Check], findings: Sequence[Finding], facts: Mapping[str, str]
) -> str:
    """Return a page of Markdown: the verdict, the requirements, the findings, and where to find the rest."""
    parts = [f"## {escaped(title)}", f"**{escaped(verdict)}**"]
    if checks:
        rows = [
            " | ".join(["| passed" if c.passed else "| **FAILED**", escaped(c.text), f"{escaped(_value(c))} |"])
            for c in checks
        ]
        parts.append("\n".join(["| | requirement | measured |", "|---|---|---|", *rows]))
    problems = [f for f in findings if f.severity == "problem"]
    notices = [f for f in findings if f.severity != "problem"]
    told = [f"- **{f.severity}**, {escaped(f.level)}: {escaped(f.text)}" for f in [*problems, *notices[:NOTICES]]]
    more = len(notices) - NOTICES
    told += [f"- and {counted(more, 'more notice')}"] if more > 0 else []
    parts.append("\n".join(["### Findings", "", *(told or ["none"])]))
    parts.append("\n".join(f"- {escaped(name)}: {_code(value)}" for name, value in facts.items()))
    return "\n\n".join(parts) + "\n"


def verdict(checks: Sequence[Check], findings: Sequence[Finding]) -> str:
    """Return one line: how many requirements hold, and how many problems there are."""
    held = sum(c.passed for c in checks)
    problems = sum(f.severity == "problem" for f in findings)
    said = f"{held} of {len(checks)} requirements {plural(held, 'holds', 'hold')}, " if checks else ""
    return f"{said}{counted(problems, 'problem')}, {counted(len(findings) - problems, 'notice')}"


def _value(check: Check) -> str:
    """Return the value that a requirement was checked against."""
    value = "no value" if check.value is None else f"{check.value:.4g}"
    return ", ".join(filter(None, (f"{value} ({check.where})" if check.where else value, check.reason)))


def _totals(name: str, cases: Sequence[Case]) -> dict[str, str]:
    errors = sum(bool(c.error) for c in cases)
    failures = sum(bool(c.failure) and not c.error for c in cases)
    return {"name": name, "tests": str(len(cases)), "failures": str(failures), "errors": str(errors), "time": "0"}


def _plain(text: str) -> str:
    return _NO_XML.sub("?", text)


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def escaped(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged, on one line, also within a table."""
    safe = _MARKDOWN.sub(r"\\\1", _line(text))
    return "".join(_ENTITIES.get(c, c) for c in safe)


def _code(text: str) -> str:
    """Format a text as code, fenced by more backticks than it contains."""
    line = _line(text)
    ticks = "`" * (max((len(m) for m in re.findall("`+", line)), default=0) + 1)
    return f"{ticks} {line} {ticks}" if "`" in line else f"`{line}`"
