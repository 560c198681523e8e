"""Small files that ask for a great deal: refused with their place, before they cost time or memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from persona_evo.cli.say import say
from persona_evo.connect import description, description_file, level_names
from persona_evo.errors import ConnectError, InputError, SettingsError
from persona_evo.formula.core import Formula, Token
from persona_evo.formula.export import KINDS, export
from persona_evo.formula.primitives import TABLE, Primitive
from persona_evo.games import mapsets, registry, textfile
from persona_evo.matches import names
from persona_evo.report.csv_rows import write_csv


def connected(folder: Path, maps: str) -> description.Description:
    file = folder / "game.toml"
    file.write_text(f'game = "game.x86_64"\n[maps]\n{maps}', encoding="utf-8")
    return description_file.read(file)


def test_sets_that_double_are_refused(tmp_path: Path) -> None:
    doubling = "".join(f's{n} = ["s{n + 1}", "s{n + 1}"]\n' for n in range(40))
    about = connected(tmp_path, doubling + 's40 = ["cave"]\n')
    with pytest.raises(SettingsError, match="too many levels") as raised:
        about.levels(["s0"])
    assert "game.toml" in str(raised.value.place) and "100,000" in str(raised.value)
    assert [str(level) for level in about.levels(["s30"])] == ["cave"]
    with pytest.raises(SettingsError, match="several levels"):
        about.level("s0", sets=True)


def test_many_ranges_of_seeds_are_refused(tmp_path: Path) -> None:
    about = connected(tmp_path, "all = [" + ", ".join(f'"m{n}@0-99999"' for n in range(2_000)) + "]\n")
    tracemalloc.start()
    with pytest.raises(SettingsError, match="too many levels"):
        about.levels(["all"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6
    assert len(about.levels(["m1@0-99999"])) == level_names.MOST_LEVELS


def test_deeply_nested_sets_are_refused(tmp_path: Path) -> None:
    about = connected(tmp_path, "".join(f's{n} = ["s{n + 1}"]\n' for n in range(2_000)) + 's2000 = ["cave"]\n')
    with pytest.raises(SettingsError, match="nested too deep") as raised:
        about.levels(["s0"])
    assert raised.value.place is not None and raised.value.place.line == 3 + level_names.MOST_NESTED
    assert [str(level) for level in about.levels(["s1990"])] == ["cave"]


@pytest.mark.parametrize(
    "key", ["a" + ".a" * 20_000, '"a"' + " . 'b'" * 5_000, "[" + "a." * 20_000 + "a]", "x = {" + "a." * 60 + "a = 1}"]
)
def test_keys_of_many_parts_are_refused(key: str) -> None:
    with pytest.raises(ConnectError, match="too many parts") as raised:
        textfile.toml(f"x = 1\n{key} = 1\n", "game.toml", ConnectError, "a hint")
    place = raised.value.place
    assert place is not None and place.line == 2 and raised.value.hint == "a hint" and len(str(raised.value)) < 300


def test_texts_with_many_dots_are_no_keys() -> None:
    given = f'a.b = "{"... " * 100}{"Words end. " * 100}"\n'
    assert textfile.toml(given, "x.toml", InputError, "")["a"]["b"].startswith("... ...")


def test_patterns_that_search_everything_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapsets, "MOST_LOOKED_AT", 100)
    for n in range(30):
        (tmp_path / f"d{n}").mkdir()
        (tmp_path / f"d{n}" / "notes.md").write_text("x")
    (tmp_path / "around").symlink_to(tmp_path)  # glob follows it again and again
    game = registry.get("minidungeons2")
    (tmp_path / "many.toml").write_text(f'every = ["{tmp_path}/**/*.txt"]\n', encoding="utf-8")
    for name in (f"{tmp_path}/**/*.txt", f"{tmp_path}/many.toml#every"):
        with pytest.raises(SettingsError, match="search too many files") as raised:
            mapsets.resolve(game, [name])
        assert "more than 100" in str(raised.value) and raised.value.hint is not None
    assert str(raised.value.place) == f"{tmp_path / 'many.toml'}:1"
    with pytest.raises(SettingsError, match="no level files"):
        mapsets.resolve(game, [f"{tmp_path}/d1*/*.txt"])


def test_text_from_files_does_not_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("notes \x1b[2J\x1b]0;title\x07 and \x9b31m\ta tab\nMädchen ± 3 – 日本")
    assert capsys.readouterr().out == r"notes \x1b[2J\x1b]0;title\x07 and \x9b31m" + "\ta tab\nMädchen ± 3 – 日本\n"


def test_cells_and_headers_that_a_spreadsheet_would_compute_are_text(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", [{"=level": '=HYPERLINK("x")', "@who": "+1", "ok": "-2.5", "n": -3}])
    header, row = (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()
    assert header == "'=level,'@who,ok,n" and row == '"\'=HYPERLINK(""x"")",\'+1,-2.5,-3'


@pytest.mark.parametrize("primitive", TABLE, ids=lambda p: p.name)
def test_exports_of_nested_operations_grow_no_faster_than_the_formula(primitive: Primitive) -> None:
    times = 1_000 // primitive.arity
    for at in range(primitive.arity):
        before: tuple[Token, ...] = ("R",) * at
        after: tuple[Token, ...] = ("R",) * (primitive.arity - 1 - at)
        nested = Formula(before * times + ("R",) + (*after, primitive.name) * times)
        for kind in KINDS:
            assert len(export(nested, kind)) < 150 * nested.size + 3_000


@pytest.mark.parametrize(
    "text", ['name = "x"\nname = "y"\n', "[a]\n[a]\n", "a = {b = 1, b = 2}\n"], ids=["key", "table", "inline"]
)
def test_what_stands_twice_in_toml_is_told_as_that(text: str) -> None:
    with pytest.raises(SettingsError, match="not TOML: a name is defined twice") as refused:
        textfile.toml(text, "twice.toml", SettingsError, "put text in quotes")
    assert refused.value.hint == "remove one of the two, or rename it" and refused.value.place is not None


def test_dates_of_toml_are_shown_as_they_are_written() -> None:
    values = textfile.toml("a = 1979-05-27T07:32:00\nb = 07:32:00\nc = 1979-05-27", "dates.toml", SettingsError, "")
    assert [textfile.shown(value) for value in values.values()] == ["1979-05-27T07:32:00", "07:32:00", "1979-05-27"]


def test_a_file_of_agents_without_any_is_told(tmp_path: Path) -> None:
    file = tmp_path / "none.toml"
    file.write_text("")
    with pytest.raises(SettingsError, match="the file has no agents") as refused:
        names.agent(registry.get("colosseum"), f"{file}#best")
    assert str(refused.value.place) == str(file)
