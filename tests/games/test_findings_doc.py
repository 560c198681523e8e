"""Tests docs/pages/findings.md: the table has every kind, and each example level shows its kind."""

from __future__ import annotations

import re

import pytest

from persona_evo.games import registry
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import KINDS
from tests.examples.vault import GAME as VAULT
from tests.shared import ROOT

pytestmark = pytest.mark.quick

DOC = (ROOT / "docs" / "pages" / "findings.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| `(\w+)` \| (level|play|level, play) \| (.+) \|$", DOC, re.MULTILINE)
EXAMPLES = re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", DOC, re.MULTILINE | re.DOTALL)


def test_the_table_has_every_kind_in_its_order() -> None:
    assert [(kind, meaning) for kind, _, meaning in TABLE] == list(KINDS.items())


def test_every_kind_of_the_analysis_has_an_example() -> None:
    assert [kind for kind, source, _ in TABLE if "level" in source] == [kind for kind, _ in EXAMPLES]


@pytest.mark.parametrize(("kind", "section"), EXAMPLES)
def test_the_example_shows_its_kind(kind: str, section: str) -> None:
    blocks = re.findall(r"^```text ?(\w*)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    game = VAULT if blocks[0][0] == "vault" else registry.get("minidungeons2")
    options = {} if game is VAULT else {"allow_unreachable": True}
    levels = [game.load(text, f"level{i}", **options) for i, (_, text) in enumerate(blocks)]
    found = diagnose(game, levels)
    assert found, kind
    assert found[0].kind == kind, found
