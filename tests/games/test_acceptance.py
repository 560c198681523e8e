"""Tests files of accepted findings: what they accept, what they do not, and messages about mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import SettingsError
from persona_evo.games.acceptance import accept, no_longer, read
from persona_evo.games.findings import Finding, to_json

pytestmark = pytest.mark.quick

CORRIDOR = """\
# intended
[[accept]]
kind = "forced_hazard"
level = "map03"
places = ["8:5", "8:6"]
reason = "the corridor teaches that traps hurt"

[[accept]]
kind = "no_choice"
level = "*"
reason = "tutorials have one path"

[[accept]]
kind = "unreachable_object"
level = "map04"
place = "2:3"
reason = "the treasure is for show"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "meant.toml"
    path.write_text(text, encoding="utf-8")
    return path


def found(kind: str, level: str, *places: tuple[int, int]) -> Finding:
    return Finding(kind, "problem", level, f"{kind} in {level}.", places)


def test_accepted_findings_are_told_apart(tmp_path: Path) -> None:
    entries = read(written(tmp_path, CORRIDOR))
    corridor, path = found("forced_hazard", "map03", (4, 7), (5, 7)), found("no_choice", "map09", (1, 1), (2, 1))
    other = found("deadly_way", "map03", (4, 7))
    told = accept([corridor, other, path], entries, ["map03", "map09"])
    assert told.left == [other] and told.gone == []
    assert told.accepted == [(corridor, "the corridor teaches that traps hurt"), (path, "tutorials have one path")]
    plain: Any = to_json(told.left, told.accepted)
    assert [f["reason"] for f in plain["accepted"]] == [reason for _, reason in told.accepted]
    assert "accepted" not in to_json(told.left)


def test_one_more_place_is_not_accepted_with_the_others(tmp_path: Path) -> None:
    entries = read(written(tmp_path, CORRIDOR))
    more = found("forced_hazard", "map03", (4, 7), (6, 7))
    told = accept([more], entries, ["map03"])
    assert told.left == [more] and not told.accepted
    assert [e.kind for e in told.gone] == ["no_choice"], "the other occurs, beside another place"
    nowhere = found("forced_hazard", "map03")
    assert accept([nowhere], entries, ["map03"]).left == [nowhere]
    assert accept([found("forced_hazard", "map05", (4, 7))], entries, ["map05"]).accepted == []


def test_what_no_longer_occurs_is_told_of_levels_that_were_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path, CORRIDOR)
    told = accept([], read(path), ["map03"])
    assert [(e.kind, e.level) for e in told.gone] == [("forced_hazard", "map03"), ("no_choice", "*")]
    assert no_longer(told.gone[0]) == (f"no longer found: forced_hazard in map03 at 8:5, 8:6 (accepted in {path}:2:1)")
    assert no_longer(told.gone[1]).startswith("no longer found: no_choice in any level (")


def test_several_entries_accept_a_finding_together(tmp_path: Path) -> None:
    one = '[[accept]]\nkind = "deaths"\nlevel = "a"\nplace = "1:1"\nreason = "x"\n'
    entries = read(written(tmp_path, one + one.replace("1:1", "1:2").replace('"x"', '"y"')))
    both = found("deaths", "a", (0, 0), (1, 0))
    assert accept([both], entries, ["a"]).accepted == [(both, "x; y")]


ENTRY = '[[accept]]\nkind = "deaths"\nlevel = "a"\nreason = "x"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[accepted]]\n", ":1:1: unknown key"),
        ("accept = 3\n", "accept is not a list of tables"),
        (ENTRY + 'where = "1:1"\n', ":5:1: unknown key"),
        (ENTRY.replace("deaths", "death"), ":2:8: no such kind of finding"),
        (ENTRY.replace("deaths", "death"), "did you mean 'deaths'"),
        (ENTRY.replace('reason = "x"\n', ""), ":1:1: reason is missing"),
        (ENTRY.replace('"x"', '" "'), ":4:10: reason is empty"),
        (ENTRY.replace('"a"', "7"), ":3:9: level is not text"),
        (ENTRY + 'place = "7;10"\n', ":5:9: no place"),
        (ENTRY + 'places = ["7:10", "0:3"]\n', ":5:19: no place"),
        (ENTRY + "places = [[7, 10]]\n", "no place"),
        (ENTRY + 'place = "1:1"\nplaces = ["1:1"]\n', ":5:1: both place and places"),
        (ENTRY + "reason = 'again'\n", "not TOML"),
        (ENTRY.replace('"x"', '"x\\u0007"'), "control character"),
    ],
)
def test_faults_are_told_with_their_places(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as told:
        read(written(tmp_path, text))
    assert said in str(told.value) and "meant.toml" in str(told.value)


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        read(tmp_path / "none.toml")
    assert read(written(tmp_path, "")) == []
