"""Tests JSON files: every message has a place, and writes are atomic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_evo.errors import InputError, PolicyError, RunError
from persona_evo.jobs import files, json_text, schema

TEXT = '{\n  "name": "a",\n  "list": [1, {"deep": true}],\n  "o": {"k": 5}\n}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1,\n  "b": }', "f.json:3:8: not valid JSON"),
        ('{"a": 1', "f.json:1:8: not valid JSON"),
        ('{"a": "b\nc"}', "f.json:1:9: not valid JSON: Invalid control character\n  found: '\\n'"),
        ('{"a": "b', "f.json:1:7: not valid JSON: Unterminated string\n  found: '\"b'"),
        ("", "f.json:1:1: not valid JSON"),
        ("[1]", "f.json:1:1: not a JSON object"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{\n "a": NaN}', "f.json:2:7: the file contains a number that is not finite"),
        ('{"a": -Infinity}', "f.json:1:7"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_damage_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(RunError) as e:
        json_text.parse(text, "f.json", RunError)
    assert said in str(e.value)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), "f:1:1"),
        (("name",), "f:2:11"),
        (("list", 0), "f:3:12"),
        (("list", 1, "deep"), "f:3:24"),
        (("o", "k"), "f:4:14"),
        (("o", "missing"), "f:4:8"),
        (("list", 7), "f:3:11"),
        (("name", "x"), "f:2:11"),
    ],
)
def test_values_are_located(path: tuple[str | int, ...], place: str) -> None:
    assert str(json_text.locate(TEXT, path, "f")) == place


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(data=st.dictionaries(st.text(max_size=6), values, max_size=5))
def test_what_is_dumped_reads_back_and_every_key_is_found(data: dict[str, object]) -> None:
    text = json_text.dump(data)
    assert json_text.parse(text, "f", RunError) == data
    lines = text.split("\n")
    for key, value in data.items():
        place = json_text.locate(text, (key,), "f")
        rest = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line :]])
        assert json.JSONDecoder().raw_decode(rest)[0] == value


def test_readers_say_path_line_found_and_expected() -> None:
    data = json_text.parse(TEXT, "f", PolicyError)
    reader = schema.Reader(data, TEXT, "f", PolicyError)
    with pytest.raises(PolicyError) as e:
        reader.object("o").text_of("k")
    assert str(e.value).startswith("f:4:14: .o.k: has the wrong type") and "found: 5" in str(e.value)
    with pytest.raises(PolicyError, match="'missing' is missing"):
        reader.number("missing")
    with pytest.raises(PolicyError, match=r"f:3:12: \.list\[0\]"):
        reader.texts("list")
    with pytest.raises(PolicyError, match="did you mean 'names'"):
        reader.only(["names", "list", "o"])


def test_true_is_no_number() -> None:
    reader = schema.Reader({"n": True}, '{"n": true}', "f", RunError)
    with pytest.raises(RunError, match="wrong type"):
        reader.whole("n")


def test_migrations_go_up_step_by_step_and_the_future_is_refused() -> None:
    migrations = {1: lambda d: {**d, "b": d["a"] + 1}, 2: lambda d: {**d, "c": d["b"] + 1}}
    data = schema.migrate({"schema": 1, "a": 1}, '{"schema": 1, "a": 1}', "f", RunError, 3, migrations)
    assert data == {"schema": 3, "a": 1, "b": 2, "c": 3}
    for text in ('{"schema": 4}', '{"schema": 0}', "{}", '{"schema": "1"}'):
        with pytest.raises(RunError, match="schema"):
            schema.migrate(json.loads(text), text, "f", RunError, 3, migrations)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "b.json"
    binary.write_bytes(b'{"a": "\xff"}')
    marked = tmp_path / "bom.json"
    marked.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    with pytest.raises(RunError, match="no such file"):
        schema.read(tmp_path / "missing.json", RunError)
    with pytest.raises(RunError, match="not UTF-8"):
        schema.read(binary, RunError)
    with pytest.raises(RunError, match="cannot be read"):
        schema.read(tmp_path, RunError)
    assert schema.read(marked, RunError)[0] == {"a": 1}


def test_an_atomic_write_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    files.write_atomically(path, "one")
    files.write_atomically(path, "two ä")
    assert path.read_text(encoding="utf-8") == "two ä"
    assert [p.name for p in tmp_path.iterdir()] == ["f.json"]


def test_a_write_that_fails_leaves_the_old_file_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    files.write_atomically(path, "old\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"UTF-8.*\n.*ud800"):
        files.write_atomically(path, ["new", "\ud800"])
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"a\.json"):
        files.write_atomically(path, "new\n")
    assert path.read_text() == "old\n" and [p.name for p in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(OSError, match=r"a\.json"):
        files.append_lines(path, ["more"])


def test_what_is_no_file_is_written_into_and_a_link_stays_one(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_text("old")
    link.symlink_to(target)
    files.write_atomically(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    files.write_atomically(Path("/dev/null"), "gone")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1e999", "too large"),
        ("-1e999", "too large"),
        ("1" + "0" * 400, "too large"),
        ("9" * 5000, "too large"),
        (str(2**64), "too large"),
        (r'"a\ud800"', "contains half a character"),
        (r'"\udc00"', "contains half a character"),
        (r'{"\ud800x": 1}', "contains half a character"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_values_that_nothing_could_hold_are_refused(value: str, said: str) -> None:
    with pytest.raises(RunError, match=f"f.json.*{said}"):
        json_text.parse(f'{{"a": {value}}}', "f.json", RunError)


def test_whole_characters_and_64_bits_are_fine() -> None:
    read = json_text.parse(r'{"a": "\ud83d\ude00", "b": 18446744073709551615, "c": "\\ud800"}', "f.json", RunError)
    assert read == {"a": "\U0001f600", "b": 2**64 - 1, "c": r"\ud800"}
