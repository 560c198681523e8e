"""Tests names of levels: files, folders, patterns, shipped levels and sets, TOML files, and all mistakes."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.errors import LevelError, SettingsError
from persona_evo.games import level_files, level_ranges, mapsets
from persona_evo.games.core import Game, Level
from persona_evo.games.level_ranges import LevelEntry, level_names
from persona_evo.games.registry import get
from tests.shared import shared

LEVEL = "XXXX\nXHeX\nXXXX\n"


def load(text: str, name: str, source: str = "", **options: Any) -> Level:
    row = np.zeros(1, dtype=np.uint16)
    return Level("toy", name, text, row, row, 4, source, options)


@pytest.fixture
def game(tmp_path: Path) -> Game:
    """Return a game whose two shipped levels and two sets stand in a folder of their own."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    for name in ("train01", "train02", "test01"):
        (folder / f"{name}.txt").write_text(f"{name}\n")
    (folder / "sets.toml").write_text(
        'train = ["train01", "train02"]\ntest = ["test01"]\n[about]\ntrain01 = "the first"\n'
    )
    real = get("minidungeons2")
    return dataclasses.replace(real, name="toy", load=load, levels=str(folder), level_suffixes=(".txt", ".lvl"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with some levels whose names are not easy."""
    folder = tmp_path / "here"
    (folder / "my levels" / "deep").mkdir(parents=True)
    for name in ("map10.txt", "map2.txt", "Map1.txt", "Höhle.lvl", ".hidden.txt", "notes.md"):
        (folder / "my levels" / name).write_text(LEVEL)
    (folder / "my levels" / "deep" / "map2.txt").write_text(LEVEL)
    (folder / "a[1].txt").write_text(LEVEL)
    monkeypatch.chdir(folder)
    return folder


def names(game: Game, *what: str) -> list[str]:
    return [level.name for level in mapsets.resolve(game, what)]


def named(*paths: str) -> list[str]:
    return level_names([LevelEntry(Path(path)) for path in paths])


def wrong(game: Game, *what: str) -> str:
    with pytest.raises(SettingsError) as e:
        mapsets.resolve(game, what)
    return str(e.value)


def test_shipped_levels_and_sets(game: Game, here: Path) -> None:
    assert names(game, "train") == ["train01", "train02"]
    assert names(game, "test01", "train") == ["test01", "train01", "train02"]
    assert names(game, "Train02") == ["train02"]
    known = mapsets.shipped(game)
    assert known.sets == {"train": ("train01", "train02"), "test": ("test01",)}
    assert known.about == {"train01": "the first"}


def test_a_shipped_name_means_the_same_in_every_folder(game: Game, here: Path) -> None:
    (here / "test").mkdir()
    (here / "test" / "mine.txt").write_text(LEVEL)
    assert names(game, "test") == ["test01"]
    assert names(game, "./test") == ["mine"]


def test_files_with_and_without_suffix_and_from_other_systems(game: Game, here: Path) -> None:
    assert names(game, "my levels/map2.txt") == ["map2"]
    assert names(game, "my levels/map2") == ["map2"]
    assert names(game, "my levels\\map2.txt") == ["map2"]
    assert names(game, "MY levels/MAP2.TXT") == ["map2"]
    assert names(game, "my levels/Ho\u0308hle.lvl") == ["Höhle"]
    assert names(game, "a[1].txt") == ["a[1]"]
    assert names(game, str(here / "my levels" / "map10.txt")) == ["map10"]
    assert names(game, "my levels/notes.md") == ["notes"]


def test_a_folder_is_sorted_as_people_count(game: Game, here: Path) -> None:
    assert names(game, "my levels") == ["Höhle", "Map1", "map2", "map10"]
    assert names(game, "my levels/") == ["Höhle", "Map1", "map2", "map10"]


def test_patterns_are_expanded_here_too(game: Game, here: Path) -> None:
    assert names(game, "my levels/map*.txt") in (["map2", "map10"], ["Map1", "map2", "map10"])
    assert names(game, "my levels/*") == ["Höhle", "Map1", "map2", "map10"]
    assert names(game, "my levels\\map1?.txt") == ["map10"]
    assert names(game, "**/map2.txt") == ["deep/map2", "my levels/map2"]


def test_levels_named_twice_are_taken_once(game: Game, here: Path) -> None:
    assert names(game, "my levels/map10.txt", "my levels", "./my levels/map2") == ["map10", "Höhle", "Map1", "map2"]
    assert names(game, "train02", "train") == ["train02", "train01"]


def test_ranges_of_levels(game: Game, here: Path) -> None:
    assert names(game, "train01-02") == ["train01", "train02"]
    for number in (8, 9, 10):
        (here / f"room{number}.txt").write_text(LEVEL)
    assert names(game, "room8-10", "room9.txt") == ["room8", "room9", "room10"]
    assert names(game, "room9-10.txt,train01") == ["room9", "room10", "train01"]
    (here / "room8-9.txt").write_text(LEVEL)
    assert names(game, "room8-9") == ["room8-9"], "a file of that name goes first"
    assert "found: train03" in wrong(game, "train02-03") and "did you mean" in wrong(game, "train02-03")
    assert "found: room9-8" in wrong(game, "room9-8") and "found: room1-999999999" in wrong(game, "room1-999999999")


def test_all_seeds_of_a_range_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def once(paths: Iterable[Path]) -> list[Path]:
        given = list(paths)
        looked.append(len(given))
        return level_files.once(given)

    monkeypatch.setattr(level_ranges, "once", once)
    assert mapsets.count(get("roguelike2d"), ["train01@1-300", "train02@5"]) == 301
    assert len(looked) == 2, "one look at the file of 299 seeds, and one for the seed that two files have"


def test_shipped_levels_are_read_again_when_they_change(tmp_path: Path) -> None:
    game = dataclasses.replace(get("minidungeons2"), levels=str(tmp_path))
    (tmp_path / "one.txt").write_text(LEVEL)
    assert list(mapsets.shipped(game).levels) == ["one"]
    assert mapsets.shipped(game) is mapsets.shipped(game)
    (tmp_path / "two.txt").write_text(LEVEL)
    (tmp_path / "sets.toml").write_text('few = ["two"]\n')
    found = mapsets.shipped(game)
    assert list(found.levels) == ["one", "two"] and found.sets == {"few": ("two",)}
    (tmp_path / "sets.toml").write_text('few = ["one", "two"]\n')
    assert mapsets.shipped(game).sets == {"few": ("one", "two")}


def test_ranges_of_seeds_and_options() -> None:
    game = get("roguelike2d")
    levels = mapsets.resolve(
        game, ["train01:high_stakes@11-12", "train01@11", "train01:player=factored", "train01@11-11"]
    )
    assert [(level.name, level.options) for level in levels] == [
        ("train01:high_stakes@11", {"variant": "high_stakes"}),
        ("train01:high_stakes@12", {"variant": "high_stakes"}),
        ("train01@11", {}),
        ("train01:player=factored", {"player": "factored"}),
    ]
    assert [level.text.splitlines()[0] for level in levels] == ["seed = 11", "seed = 12", "seed = 11", "seed = 1001"]
    assert mapsets.count(game, ["train01@1-20", "train01@20"]) == 20
    assert "found: high" in wrong(game, "train01:high@1") and "found: color" in wrong(game, "train01:color=red@1")
    assert "found: train01@2-1" in wrong(game, "train01@2-1") and "found: train9" in wrong(game, "train9@1")
    md2 = get("minidungeons2")
    assert "not drawn from a seed" in wrong(md2, "train01@3") and "have no variants" in wrong(md2, "train01:hard")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_is_the_file_it_points_at(game: Game, here: Path) -> None:
    (here / "link.txt").symlink_to(here / "a[1].txt")
    assert names(game, "link.txt", "a[1].txt") == ["link"]


def test_equal_names_are_told_apart(game: Game, here: Path) -> None:
    assert names(game, "my levels/map2.txt", "my levels/deep/map2.txt", "train01") == [
        "my levels/map2",
        "deep/map2",
        "train01",
    ]
    assert named("a/x/m.txt", "b/x/m.txt") == ["a/x/m", "b/x/m"]
    assert named("m.txt", "m.lvl") == ["m.txt", "m.lvl"]


def test_set_files(game: Game, here: Path) -> None:
    (here / "my levels" / "sets.toml").write_text(
        'train = ["map2", "deep\\\\map2.txt", "train01"]\ntest = ["map1*.txt", "./Höhle"]\nboth = ["train", "test"]\n'
        "[about]\nmap2 = 'x'\n",
        encoding="utf-8",
    )
    one = ["my levels/map2", "deep/map2", "train01"]
    assert names(game, "my levels/sets.toml#train") == one
    assert names(game, "my levels\\sets.toml#train") == one
    assert names(game, "my levels/sets.toml#test")[-1] == "Höhle"
    assert names(game, "my levels/sets.toml") == names(game, "my levels/sets.toml#both")
    assert len(names(game, "my levels/sets.toml")) >= 5


def test_a_file_beside_the_set_file_goes_before_a_shipped_level(game: Game, here: Path) -> None:
    (here / "train01.txt").write_text("mine\n")
    (here / "s.toml").write_text('train = ["train01"]')
    assert [level.text for level in mapsets.resolve(game, ["s.toml"])] == ["mine\n"]


def test_options_reach_the_game(game: Game) -> None:
    by_mapping = mapsets.resolve(game, ["train01"], {"rules": "paper"})
    by_keyword = mapsets.resolve(game, ["train01"], rules="paper")
    assert by_mapping[0].options == by_keyword[0].options == {"rules": "paper"}
    assert by_mapping[0].source == str(Path(game.levels or "") / "train01.txt")


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("trian01", ["did you mean 'train01'?", "train02", "a set (train, test)"]),
        ("my levels/mpa2.txt", ["did you mean 'my levels", "map2.txt'?"]),
        ("nowhere/map2.txt", ["there is no folder 'nowhere'"]),
        ("", ["no such level"]),
        ("empty", ["no level files", ".txt or .lvl"]),
        ("my levels/*.png", ["matches no level files", "nothing"]),
        ("my levels/*.md", ["matches no level files", "1 other"]),
        ("none.toml#train", ["no such level, file"]),
    ],
)
def test_names_that_stand_for_nothing(game: Game, here: Path, what: str, words: list[str]) -> None:
    (here / "empty").mkdir()
    message = wrong(game, what)
    for word in words:
        assert word in message


def test_no_names_at_all(game: Game) -> None:
    assert "no levels are named" in wrong(game)


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ('train = ["map02"', "s.toml", ["s.toml:1", "not TOML"]),
        ("a = 1\n\ntrain = 3", "s.toml", ["s.toml:1", "'a' is not a set"]),
        ('train = ["x", 3]', "s.toml", ["'train' is not a set", 'train = ["map01", "map02"]']),
        ("", "s.toml", ["no sets"]),
        ("train = []", "s.toml", ["'train' is empty"]),
        ('train = ["train01"]', "s.toml#trian", ["no set 'trian'", "did you mean 'train'?"]),
        ('train = ["train01",\n "trian02"]', "s.toml", ["s.toml:2", "did you mean 'train02'?"]),
        ('a = ["b"]\nb = ["a"]', "s.toml#a", ["s.toml:2", "cycle: a -> b -> a"]),
    ],
)
def test_damaged_set_files(game: Game, here: Path, text: str, name: str, words: list[str]) -> None:
    (here / "s.toml").write_text(text)
    message = wrong(game, name)
    for word in words:
        assert word in message


def test_a_set_file_that_is_not_text(game: Game, here: Path) -> None:
    (here / "s.toml").write_bytes(b'train = ["\xff"]')
    with pytest.raises(LevelError, match=r"s\.toml:1:11: the file is not UTF-8"):
        mapsets.resolve(game, ["s.toml"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(game: Game, here: Path) -> None:
    (here / "a[1].txt").chmod(0)
    with pytest.raises(LevelError, match="cannot be read"):
        mapsets.resolve(game, ["a[1].txt"])


def test_large_files_are_refused_before_they_are_read(game: Game, here: Path) -> None:
    with (here / "big.txt").open("wb") as f:
        f.truncate(mapsets.MAX_BYTES + 1)
    with pytest.raises(LevelError, match="too large"):
        mapsets.resolve(game, ["big.txt"])


def test_a_shipped_set_without_its_level(game: Game) -> None:
    (Path(game.levels or "") / "test01.txt").unlink()
    assert "the shipped set 'test' names a level that does not exist" in wrong(game, "test")
    assert names(game, "train") == ["train01", "train02"]


def test_natural_order() -> None:
    words = ["map10", "Map2", "map02b", "10", "9", "map"]
    assert sorted(words, key=level_files.natural) == ["9", "10", "map", "Map2", "map02b", "map10"]


def test_minidungeons2_ships_its_sets() -> None:
    game = get("minidungeons2")
    known = mapsets.shipped(game)
    assert len(known.sets["train"]) >= 11 and len(known.sets["test"]) >= 6
    assert known.sets["all"] == known.sets["train"] + known.sets["test"]
    assert set(known.levels) == set(known.sets["all"]) == set(known.about)
    assert [level.name for level in mapsets.resolve(game, ["all"])] == list(known.sets["all"])


def test_minidungeons_1_files_load_with_what_was_mapped() -> None:
    (level,) = mapsets.resolve(get("minidungeons2"), [str(shared("levels/md1/map03.txt"))])
    assert any("'r' -> 'T'" in warning for warning in level.warnings)
    assert level.facts["grid"].hero == (10, 12)


def test_sets_may_stand_in_a_table_of_their_own(game: Game, here: Path) -> None:
    (here / "s.toml").write_text('[sets]\nnight = ["train01", "my levels/map2"]\n[about]\nx = "y"\n')
    assert names(game, "s.toml#night") == ["train01", "map2"] == names(game, "s.toml")
    (here / "bad.toml").write_text("[sets]\nnight = 3\n")
    assert "'night' is not a set of levels" in wrong(game, "bad.toml")
    assert "FILE.toml#NAME" in wrong(game, "nigth")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('train = ["self.toml"]', "cycle: train -> train"),
        ('train = ["a"]\na = ["train"]', "cycle: train -> a -> train"),
        ('train = ["' + "9" * 6000 + '"]\nn = ' + "9" * 6000, "a value cannot be read"),
        ("train = " + "[" * 20000, "nested too deep"),
        ('"a\\u001b" = ["train01"]', "not a name for a set"),
        ("n = 0x" + "f" * 9000, "not a set of levels"),
    ],
)
def test_sets_without_end_or_measure(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "self.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        mapsets.find(get("minidungeons2"), [str(file)])


def test_links_pipes_devices_and_users_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    for name in (tmp_path / "loop.txt", "~nosuchuser/x.txt", "a\0b"):
        with pytest.raises(SettingsError, match=r"leads nowhere|no such level"):
            mapsets.find(get("minidungeons2"), [str(name)])
    for name in (tmp_path / "pipe.txt", "/dev/zero"):
        with pytest.raises(LevelError, match="not a regular file"):
            mapsets.resolve(get("minidungeons2"), [str(name)])


def test_names_of_levels_can_be_shown() -> None:
    assert named("a\x1b[2J.txt", "b\udcff.txt") == ["a\\x1b[2J", "b\\udcff"]


def test_a_pattern_in_a_set_that_matches_nothing_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('mine = ["test01"]\nnone = [\n  "nothing*.txt",\n]\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="the pattern matches no level files") as raised:
        mapsets.resolve(get("minidungeons2"), [f"{file}#none"])
    assert str(raised.value.place) == f"{file}:3"
