"""Tests files that are not persona files, and personas with the same name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from persona_evo.errors import PersonaError
from persona_evo.personas import load, resolve

pytestmark = pytest.mark.quick

RUNNER = 'name = "runner"\ngame = "minidungeons2"\npriority = "MS"\nutility = "MS"\n'


@pytest.mark.parametrize("name", ["runner", "Runner"])
def test_two_personas_of_one_name_are_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "name2.toml"
    file.write_text(RUNNER.replace('"runner"', f'"{name}"'), encoding="utf-8")
    with pytest.raises(PersonaError, match=r"two personas have the name.*\n.*runner\.toml and .*name2\.toml"):
        resolve(["runner", str(file)], "minidungeons2")
    assert len(resolve([str(file), str(tmp_path / "." / "name2.toml")], "minidungeons2")) == 1
    assert len(resolve(["runner", "R", "runner"], "minidungeons2")) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (RUNNER.encode("utf-16"), "UTF-16 byte order mark"),
        (b"a = " + b"[" * 20000, "nested too deep"),
        (b"a = " + b"9" * 6000, "a value cannot be read"),
        (RUNNER.encode() + b"#" * 2**20, "too large"),
        (RUNNER.encode() + b'title = "a\\u001b[2J"', "title contains a control character"),
        (RUNNER.replace('utility = "MS"', 'utility = ""').encode(), r":4:\d+: utility is empty"),
        (RUNNER.replace('utility = "MS"', 'utility = ""').encode(), r":4:\d+: utility is empty"),
        (RUNNER.encode() + b"title = 0x" + b"f" * 9000, "title is not text"),
        (b"\xef\xbb\xbfa = '\xff'", r":1:6: the file is not UTF-8"),
    ],
)
def test_files_that_are_no_personas(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "p.toml"
    file.write_bytes(content)
    with pytest.raises(PersonaError, match=message):
        load(str(file))


def test_pipes_and_names_that_cannot_be(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.toml")
    with pytest.raises(PersonaError, match="not a regular file"):
        load(str(tmp_path / "p.toml"))
    with pytest.raises(PersonaError, match="no such persona"):
        load("a\0b")
