"""Tests the results of a match: its page, games as pictures, and the same pictures again later."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from persona_evo.cli.main import main
from persona_evo.errors import RunError
from persona_evo.games import registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import json_text, schema
from persona_evo.matches import job as play
from persona_evo.matches import names, records, reopening
from persona_evo.matches import replays as again
from persona_evo.matches.job import Match
from persona_evo.report import duels, match_replay, match_tables, pages
from persona_evo.report import match as report

GAME = registry.get("colosseum")
LEVEL = GAME.load("random 5", "five", size=5)
BOT = """print('hello')
class Bot:
    def step(self, b, m, a, k):
        print('<thinking>')
        return {}['x']
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a match of three, one of them a program that raises, as the command leaves it."""
    here = tmp_path_factory.mktemp("match")
    (here / "bot.py").write_text(BOT, encoding="utf-8")
    words = [
        "match",
        "colosseum",
        "two_ply",
        "random",
        str(here / "bot.py"),
        "--size",
        "5",
        "--games",
        "2",
        "--swap",
        "--jobs",
        "1",
        "--seed",
        "3",
        "--out",
        str(here / "m"),
    ]
    assert main(words) == 0
    return here / "m"


def test_the_page_has_results_games_colours_and_lost_moves(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    kept = reopening.reopen(folder)
    for text in (
        "two_ply – random",
        "ratings",
        "moving second",
        "Wilson",
        "exact sign test",
        "(blue)",
        "(red)",
        "cells",
        "bot.py:5, in step",
        'href="programs/bot.log"',
        "(closest",
        "lost by",
    ):
        assert text in page, text
    assert page.count("data:image/gif") == len(list((folder / "pictures").iterdir())) >= 3
    assert sum(r.plies for r in kept.records) > 0 and f"{len(kept.records)} games, 1 level" in page
    rows = (folder / "games.csv").read_text().splitlines()
    assert len(rows) == 1 + 6 and len((folder / "pairs.csv").read_text().splitlines()) == 1 + 3
    log = (folder / "programs" / "bot.log").read_text()
    assert "--- game 3, five" not in log and "--- game 3, size5, against two_ply" in log
    assert log.count("hello") == 4 and "<thinking>" in log and "KeyError: 'x'" in log


def test_any_game_is_drawn_again_and_is_the_same(folder: Path, tmp_path: Path) -> None:
    kept = reopening.reopen(folder)
    first = next(p for p in sorted((folder / "pictures").iterdir()))
    number = int(first.stem.removeprefix("game-"))
    assert main(["match", "replay", str(folder), "--number", str(number), "--out", str(tmp_path / "a.gif")]) == 0
    assert (tmp_path / "a.gif").read_bytes() == first.read_bytes()
    with Image.open(first) as picture:
        assert picture.n_frames == kept.records[number - 1].plies + 1


def test_what_cannot_be_drawn_is_told(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        ([str(folder), "--number", "99"], "expected: 1 to 6"),
        ([str(tmp_path)], "not the folder of a match"),
        ([], "needs the folder of one match"),
        ([str(folder), "--out", str(tmp_path / "r.png")], "found: .png"),
    ):
        assert main(["match", "replay", *words]) == 2
        assert said in capsys.readouterr().err
    assert main(["match", "colosseum", "random", "two_ply", "--number", "1"]) == 2
    assert "is only for replay" in capsys.readouterr().err


def test_a_record_that_comes_to_another_end_is_refused(folder: Path) -> None:
    kept = reopening.reopen(folder)
    level, record = kept.level(GAME, 1), kept.records[0]
    assert len(again.positions(GAME, level, record)) == record.plies + 1
    moves = record.actions.split()
    for wrong in (
        replace(record, result=0.0 if record.result else 1.0),
        replace(record, margin=record.margin + 0.01),
        replace(record, actions=" ".join(moves[:-1])),
        replace(record, actions=" ".join(moves[:1] * 2)),
    ):
        with pytest.raises(RunError, match=r"games\.jsonl:1: game 1 of the match does not replay") as caught:
            again.positions(GAME, level, wrong, kept.place(1))
        assert caught.value.found and caught.value.expected and caught.value.hint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game_version": 99}, "match.json:4:19: .game_version: the rules of the game have changed since this match"),
        ({"games": "two"}, ".games: has the wrong type"),
        ({"seed": True}, ".seed: has the wrong type"),
        ({"agents": 3}, ".agents: has the wrong type"),
        ({"agents": [{"name": "a", "kind": "nobody"}]}, ".agents[0]: "),
        ({"game": "nope"}, ".game: no such game"),
        ({"game": "os:system"}, "match.json:3:11: .game: "),
        (
            {"levels": [{"name": "x", "text": "random 5", "source": "", "options": {"size": 1000}}]},
            ".levels[0]: the board",
        ),
        ({"schema": 99}, "a newer version of persona-evo"),
    ],
)
def test_a_damaged_match_is_told_with_its_file_and_place(
    folder: Path, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    config, _ = schema.read(folder / records.CONFIG, RunError)
    (tmp_path / records.CONFIG).write_text(json_text.dump({**config, **change}))
    with pytest.raises(RunError) as caught:
        reopening.reopen(tmp_path)
    assert said in str(caught.value) and str(tmp_path / records.CONFIG) in str(caught.value)
    assert caught.value.found and (caught.value.expected or caught.value.hint)


def test_frames_name_both_the_mover_and_lost_moves_in_its_colour(folder: Path) -> None:
    kept = reopening.reopen(folder)
    record = next(r for r in kept.records if r.faults)
    level, both = kept.level(GAME, kept.records.index(record) + 1), match_replay.sides(GAME, record)
    assert [(s.word, s.name) for s in both] == [("blue", record.first), ("red", record.second)]
    shown = match_replay.frames(GAME, level, record, both)
    red = (0xB3, 0x26, 0x1E)
    lost = {move + 1 for _, move, *_ in record.faults}
    for number, (picture, _) in enumerate(shown):
        below = picture.crop((0, picture.height - 36, picture.width, picture.height - 18))
        found = red in {colour for _, colour in below.getcolors(10_000) or []}
        assert found == (number in lost)


def test_sentences_say_who_beat_whom_as_far_as_chance_allows() -> None:
    plain = records.GameRecord("a", "b", "x", 0, 1, 1.0, 0.5, 9, "", [], [0.0, 0.0], [0.0, 0.0], [[], []])
    assert report.sentences([plain] * 6, ["a", "b"]) == [(True, "a beat b 6 : 0 (p = 0.031)")]
    assert report.sentences([replace(plain, result=0.0)] * 5, ["a", "b"]) == [
        (False, "b won more often than a, 5 : 0, which may be due to chance (p = 0.062)")
    ]
    some = [plain] * 6 + [replace(plain, second="c", result=0.5)]
    three = [text for _, text in report.sentences(some, ["a", "b", "c"])]
    assert three[0].startswith("a won more often than b, 6 : 0") and "p = 0.094 corrected" in three[0]
    assert three[1] == "a and c won equally often, 0 : 0 and 1 tie"


def test_a_long_name_takes_further_lines_of_the_legend() -> None:
    from PIL import ImageFont

    name, font = "killer_moves:C=0.5,seconds=0.25,rollout=20", ImageFont.load_default(12)
    found = duels.wrapped(name, font, 150)
    assert "".join(found) == name and len(found) > 1 and all(font.getlength(line) <= 150 for line in found)
    short, long = (
        duels.with_legend(Image.new("RGB", (170, 50)), [duels.Label(n, "", "blue", "#0000ff")], 12).height
        for n in ("uct", name)
    )
    assert long - short == (len(found) - 1) * (12 + duels.MARGIN)


def test_a_page_of_many_begins_with_ratings_and_folds_what_chance_made() -> None:
    four = ["random", "two_ply", "uct", "uct_walls"]
    plain = records.GameRecord("random", "two_ply", "five", 0, 1, 0.0, -0.5, 9, "", [], [0.0] * 2, [0.0] * 2, [[], []])
    some = [plain] * 12 + [replace(plain, first="uct"), replace(plain, first="uct", second="uct_walls", result=0.5)] * 3
    blocks = report._sentences(some, four, report.match_tables.shown(some, four, ["five"], 1)[1::-1])
    found = pages.render(pages.Document("m", "", [pages.Section("results", "Results", blocks)]))
    assert (
        found.index("ratings")
        < found.index("two_ply beat random")
        < found.index("whose difference may be due to chance")
    )
    assert "uct_walls won equally often" in found.partition("<details>")[2]


def test_telling_games() -> None:
    plain = records.GameRecord("a", "b", "x", 0, 1, 1.0, 0.5, 9, "", [], [0.0, 0.0], [0.0, 0.0], [[], []])
    some = [
        plain,
        replace(plain, margin=0.9),
        replace(plain, result=0.0, margin=-0.1, plies=30),
        replace(plain, first="b", second="a", margin=0.8),
        replace(plain, first="a", second="c", margin=0.0),
    ]
    assert [tuple(t) for t in again.telling(some, "a", "b")] == [
        (1, "first"),
        (2, "lost by b"),
        (3, "closest"),
        (4, "lost by a"),
    ]
    assert [t.number for t in again.telling(some, "a", "b", 1)] == [3]
    assert again.telling(some, "b", "c") == []


def test_a_game_that_draws_nothing_has_a_page_without_pictures(tmp_path: Path) -> None:
    nim = f"{Path(__file__).resolve().parents[1] / 'examples' / 'nim.py'}:GAME"
    game = registry.get(nim)
    (tmp_path / "a.toml").write_text('[one]\nkind = "random"\n\n[two]\nkind = "random"\n', encoding="utf-8")
    agents = names.agents(game, [f"{tmp_path / 'a.toml'}#one", f"{tmp_path / 'a.toml'}#two"])
    level = game.load("7", "seven")
    match = Match(nim, (LevelText.of(level),), tuple(agents), 3, False, 1)
    played = play.play(match, folder=tmp_path / "m")
    written = report.write(match, played.records, tmp_path / "m")
    text = written.page.read_text(encoding="utf-8")
    assert "does not draw its games" in text and "<img" not in text and "their moves" in text
    assert str(json.loads((tmp_path / "m" / records.GAMES).read_text().splitlines()[0])["actions"]) in text
    before = text
    assert report.write(match, played.records, tmp_path / "m").page.read_text(encoding="utf-8") == before


def test_a_match_without_a_winner_warns_of_rules_that_name_none() -> None:
    plain = records.GameRecord("a", "b", "x", 0, 1, 0.5, 0.0, 9, "", [], [0.0, 0.0], [0.0, 0.0], [[], []])
    won = replace(plain, result=1.0)
    warning = match_tables.only_ties([plain, plain], "duel")
    assert warning.startswith("All 2 games are ties. If duel has winners") and "game check duel" in warning
    assert match_tables.only_ties([plain], "duel") == match_tables.only_ties([plain, won], "duel") == ""
    assert match_tables.only_ties([], "duel") == ""
