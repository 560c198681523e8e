"""CONTRIBUTING.md names files, tests and names that exist, and every room of the package."""

from __future__ import annotations

import re

import pytest

from tests.shared import ROOT

pytestmark = pytest.mark.quick
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:persona_evo|tests|docs|unity_support|policies|runs)/[\w./]*)`", TEXT)))


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_exists(path: str) -> None:
    assert (ROOT / path.replace("NAME", "minidungeons2")).exists()


def test_every_room_is_in_the_layout() -> None:
    rooms = {f"{file.parent.name}/" for file in (ROOT / "persona_evo").glob("*/__init__.py")}
    assert rooms <= set(re.findall(r"^\| `(\w+/)` \|", TEXT, re.MULTILINE))


def test_tests_and_constants_that_are_named_exist() -> None:
    code = "\n".join(
        file.read_text(encoding="utf-8")
        for room in ("persona_evo", "tests", "docs")
        for file in (ROOT / room).rglob("*.py")
    )
    names = set(re.findall(r"`(test_\w+|[A-Z_]{4,})`", TEXT)) - {"NAME"}
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", code)] == []
