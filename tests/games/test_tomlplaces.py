"""Tests places in TOML texts against what `tomllib` reads there."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from persona_evo.errors import FormulaError
from persona_evo.games.tomlplaces import Places

pytestmark = pytest.mark.quick

TEXT = '''\
# a comment = [not, a] table
top = "a # \\"b\\" c"   # after it
"odd \\u006bey".inner = 'literal \\ '
numbers = [1, -2.5, # one
  [3, "]"], 07:32:00, {a = "}", b.c = [true]},
]
day = 1979-05-27 07:32:00

[table . "sub"]
text = """
one\\ttwo \\
   three ""quoted"" \\u00e9
"""
raw = \'\'\'
x\\n\'\'y\'\'\'

[[list]]
name = "first"
[[list]]
name = "second"
[[list.deeper]]
value = {}
[list.also]
value = []
'''


def leaves(data: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Every key and element of an array with its value."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    found = [((*path, k), v) for k, v in items]
    return found + [leaf for k, v in found for leaf in leaves(v, k)]


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n")])
def test_every_value_is_found_where_it_stands(text: str) -> None:
    places, seen = Places(text, "f.toml"), 0
    lines = text.split("\n")
    for path, value in leaves(tomllib.loads(text)):
        span = places._found.values.get(path)
        if span is None:
            assert isinstance(value, (dict, list)), path
            continue
        seen += 1
        assert tomllib.loads(f"x = {text[span[0] : span[1]]}")["x"] == value, path
        place = places.value(*path)
        assert lines[place.line - 1][place.column - 1 :].startswith(text[span[0]]), path
        if isinstance(path[-1], str):
            key = places.key(*path)
            name = lines[key.line - 1][key.column - 1 :].lstrip("\"'")
            assert name[0] == path[-1][0], path
        if isinstance(value, str):
            for k, char in enumerate(value):
                at = places.within(path, k)
                shown = lines[at.line - 1][at.column - 1 :]
                assert char in '\t\n"é' or shown.startswith(char), (path, k, shown)
    assert seen == 20


def test_what_is_missing_is_where_it_would_be() -> None:
    places = Places(TEXT, "f.toml")
    asked = (("none",), ("table", "sub", "none"), ("list", 1, "none"), ("list",))
    assert [str(places.key(*path)) for path in asked] == ["f.toml:1", "f.toml:9:1", "f.toml:19:1", "f.toml:17:1"]


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ('"A + WRONG"', "f.toml:2:10"),
        ("'A + WRONG'", "f.toml:2:10"),
        ('"\\u0041 + WRONG"', "f.toml:2:15"),
        ('"A +\\n WRONG"', "f.toml:2:12"),
        ('"""\nA +\n  WRONG"""', "f.toml:4:3"),
        ('"""A + \\\n   WRONG"""', "f.toml:3:4"),
        ('""', "f.toml:2:6"),
        ('"A +"', "f.toml:2:9"),
    ],
)
def test_a_formula_names_the_character_in_the_file(value: str, at: str) -> None:
    text = f"[t]\nu = {value}\n"
    with pytest.raises(FormulaError) as caught:
        Places(text, "f.toml").formula(tomllib.loads(text)["t"]["u"], ("A",), "t", "u")
    assert str(caught.value.place) == at
