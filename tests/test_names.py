"""Names that people write fit on one line: line endings and control characters are refused, with the place."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import persona_evo as pe
from persona_evo.agents.agent import Agent
from persona_evo.errors import InputError
from persona_evo.store import policies
from tests.cli.tool import run
from tests.examples.corridor import Corridor

pytestmark = pytest.mark.quick

BAD = ("two\nlines", "\x1b[31mred", "bell\a", "\u202eright to left", "tab\t")


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(
    "make",
    [
        lambda name: dataclasses.replace(pe.load_persona("runner"), name=name),
        lambda name: dataclasses.replace(pe.load_persona("runner"), title=name),
        lambda name: pe.player("runner", "ucb1", label=name),
        lambda name: pe.Metric("A", name, "a"),
        lambda name: pe.from_class(Corridor, name=name),
        lambda name: pe.from_class(Corridor, title=name),
        lambda name: pe.load_game().load("XXXX\nXHeX\nXXXX\n", name, ""),
        lambda name: Agent(name, "random"),
        lambda name: pe.Policy(name, "minidungeons2"),
        lambda name: pe.install_policy(pe.load_policy("runner"), name),
        lambda name: pe.play_match("colosseum", ["random", f"{name}=random"], games=1),
    ],
)
def test_names_of_the_api(make: Callable[[str], object], name: str) -> None:
    with pytest.raises(InputError):
        make(name)


@pytest.mark.parametrize("key", ["name", "game", "persona", "priority"])
@pytest.mark.parametrize("name", BAD)
def test_names_in_policy_files(key: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({**pe.load_policy("runner").to_dict(), key: name}, indent=1), encoding="utf-8")
    with pytest.raises(pe.PersonaEvoError) as refused:
        policies.read(path)
    error: Any = refused.value
    assert error.place.line > 1 and error.place.column and f".{key}: is not on one line" in str(error)
    assert error.found and error.expected and "\x1b" not in str(error)


@pytest.mark.parametrize(
    ("file", "words", "text"),
    [
        ("p.toml", ("persona", "check"), 'title = "a\\nb"\ngame = "minidungeons2"\nutility = "TO"\npriority = "TO"\n'),
        ("p.toml", ("persona", "check"), 'short = "a\\nb"\ngame = "minidungeons2"\nutility = "TO"\npriority = "TO"\n'),
        ("e.toml", ("experiment",), 'title = "a\\nb"\ngame = "its_alive"\nlevel = "train01"\n'),
        ("e.toml", ("experiment",), 'game = "its_alive"\nlevel = "train01"\n[variants."a\\nb"]\n'),
        ("g.toml", ("doctor", "--game"), 'game = "x.py"\n[variants."a\\nb"]\nx = 1\n'),
        ("g.toml", ("doctor", "--game"), 'game = "x.py"\n[maps]\n"a\\nb" = ["m"]\n'),
        ("g.toml", ("doctor", "--game"), 'game = "x.py"\nwon = "a\\nb"\n'),
    ],
)
def test_names_in_files_that_people_write(
    file: str, words: tuple[str, ...], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    (tmp_path / "x.py").write_text("", encoding="utf-8")
    refused = run(capsys, *words, path)
    assert refused.code == 2 and f"{path}:" in refused.err and "expected:" in refused.err, refused.err


def test_the_name_of_a_file_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "a\nb.txt"
    path.write_text("XXXX\nXHeX\nXXXX\n", encoding="utf-8")
    assert pe.load_level(path).name == "a\\nb"
