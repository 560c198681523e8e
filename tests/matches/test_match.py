"""Tests matches: all games, any number of cores, resuming, and standings against figures computed by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo import intervals
from persona_evo.cli.main import main
from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.games import registry
from persona_evo.games.level_text import LevelText
from persona_evo.matches import job as play
from persona_evo.matches import names, records, standings
from persona_evo.matches.job import Match
from persona_evo.matches.records import GameRecord
from tests.shared import unsealed

GAME = registry.get("colosseum")
LEVELS = tuple(LevelText.of(GAME.load("random 6", f"size{n}", size=n)) for n in (5, 6))


def match(*typed: str, games: int = 4, swap: bool = True, **more: Any) -> Match:
    agents = tuple(a.with_budget(30, None) for a in names.agents(GAME, typed))
    return Match("colosseum", LEVELS, agents, games, swap, 7, **more)


def stable(found: list[GameRecord]) -> list[GameRecord]:
    return [replace(r, seconds=[], slowest=[]) for r in found]


@pytest.mark.quick
def test_every_pair_meets_on_the_same_boards_from_both_sides() -> None:
    m = match("random", "two_ply", "uct")
    jobs = m.jobs()
    assert len(jobs) == 3 * 2 * 4
    for level in (0, 1):
        boards = [
            [j.start for j in jobs if j.level == level and {j.first, j.second} == pair]
            for pair in ({0, 1}, {0, 2}, {1, 2})
        ]
        assert boards[0] == boards[1] == boards[2] and boards[0][0] == boards[0][1] != boards[0][2]
    assert [(j.first, j.second) for j in jobs[:4]] == [(0, 1), (1, 0)] * 2
    assert all((j.first, j.second) == (0, 1) for j in match("random", "uct", swap=False).jobs())


def test_a_folder_does_not_say_where_the_agents_were_read(tmp_path: Path) -> None:
    m, copy = match("two_ply", "killer_moves"), tmp_path / "mine.toml"
    copy.write_bytes(Path(GAME.agents).read_bytes())
    moved = match(f"{copy}#two_ply", f"{copy}#killer_moves")
    assert moved.config(1) == m.config(1) and ".toml" not in json.dumps(m.config(1))


def test_boards_do_not_depend_on_where_the_level_lies(tmp_path: Path) -> None:
    m = match("random", "two_ply")
    moved = replace(m, levels=tuple(level._replace(source="/somewhere/else.txt") for level in m.levels))
    assert moved.jobs() == m.jobs()
    made = play.play(replace(m, levels=m.levels[:1]), folder=tmp_path)
    again = play.play(replace(moved, levels=moved.levels[:1]), folder=tmp_path)
    assert again.records == made.records, "the same match, its folder may be gone on with"
    other = replace(m, levels=(m.levels[0]._replace(text="random 5\n"), m.levels[1]))
    assert other.jobs()[0].start != m.jobs()[0].start and other.jobs()[-1] == m.jobs()[-1]


def test_a_match_is_the_same_on_one_core_on_two_and_resumed(tmp_path: Path) -> None:
    m = match("two_ply", "killer_moves")
    alone = play.play(m, folder=tmp_path / "m")
    assert len(alone.records) == 8 and alone.complete
    assert stable(play.play(m, jobs=2).records) == stable(alone.records)
    path = tmp_path / "m" / records.GAMES
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    again = play.play(m, folder=tmp_path / "m")
    assert again.records[:3] == alone.records[:3] and stable(again.records) == stable(alone.records)
    assert records.seed_in(tmp_path / "m") == 7
    for r in alone.records:
        level = GAME.load("random 6", r.level, size=int(r.level[4:]))
        state = GAME.start(level, r.start)
        for text in r.actions.split():
            GAME.rules().step(level.tables, state, GAME.parse_action(level, state, text), np.ones(2, dtype=np.int64))
        assert GAME.measure(level, state)["WIN"] == r.result and GAME.measure(level, state)["MG"] == r.margin


def test_a_folder_of_another_match_or_damaged_is_refused(tmp_path: Path) -> None:
    m = match("random", "two_ply")
    play.play(m, folder=tmp_path)
    with pytest.raises(RunError, match=r"other seed 7\n.*expected: seed 8"):
        play.play(replace(m, seed=8), folder=tmp_path)
    with pytest.raises(RunError, match=r"other agents two_ply: iterations 30\n.*two_ply: iterations 40"):
        play.play(replace(m, agents=(m.agents[0], m.agents[1].with_budget(40, None))), folder=tmp_path)
    with pytest.raises(RunError, match=r"other agents random, two_ply\n.*agents random, uct"):
        play.play(replace(match("random", "uct")), folder=tmp_path)
    config = unsealed(tmp_path / records.CONFIG)
    (tmp_path / records.CONFIG).write_text(config.replace('"schema": 1', '"schema": 99'))
    with pytest.raises(RunError, match="hint: the folder comes from another version of persona-evo: name another"):
        play.play(m, folder=tmp_path)
    (tmp_path / records.CONFIG).write_text(config)
    path = tmp_path / records.GAMES
    good = unsealed(path)
    second = json.loads(good.splitlines()[1])
    for moves, said in (("", "has not come to an end"), ("9,9,N", "move 1 cannot be read")):
        bad = good.splitlines()[0] + "\n" + json.dumps({**second, "actions": moves}) + "\n"
        path.write_text(bad)
        with pytest.raises(RunError, match=f"{records.GAMES}:2: game 2 of the match does not replay: .*{said}"):
            play.play(m, folder=tmp_path)
    path.write_text(good.replace('"start": ', '"start": 1', 1))
    with pytest.raises(RunError, match=f"{records.GAMES}:1: a game did not begin where the match's seed says"):
        play.play(m, folder=tmp_path)
    path.write_text(good.replace('"result"', '"rsult"', 1))
    with pytest.raises(RunError, match=f"{records.GAMES}:1") as caught:
        play.play(m, folder=tmp_path)
    assert "no result; unknown rsult" in str(caught.value) and "plays these games again" in str(caught.value)
    path.write_text(good.replace("{", "{,", 1))
    with pytest.raises(RunError, match=f"{records.GAMES}:1:2: a game of the match cannot be read"):
        play.play(m, folder=tmp_path)
    path.write_text("".join(reversed(good.splitlines(keepends=True))))
    with pytest.raises(RunError, match="does not belong here"):
        play.play(m, folder=tmp_path)


def test_another_text_of_a_program_is_another_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bot = tmp_path / "bot.py"
    text = "def step(b, m, a, k):\n    return m, [d for d in range(4) if not b[m[0], m[1], d]][0]\n"
    bot.write_text(text)
    m = match("random", str(bot), games=2)
    small = replace(m, levels=m.levels[:1])
    known = play.play(small, folder=tmp_path / "m").match.programs
    bot.write_text(text + "# changed\n")
    with pytest.raises(RunError, match=f"other programs bot {known[0][1]}\n(.|\n)*put the old one back") as caught:
        play.play(small, folder=tmp_path / "m")
    assert f"programs bot {play.digest(str(bot))}" in str(caught.value.expected)
    played = play.play_one

    def edited(*task: Any) -> Any:
        bot.write_text(text)
        return played(*task)

    monkeypatch.setattr(play, "play_one", edited)
    with pytest.raises(RunError, match="the program of bot was changed during the match"):
        play.play(small, folder=tmp_path / "n")
    assert not (tmp_path / "n" / records.GAMES).exists(), "a game that may be of both is not kept"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("first", 3),
        ("plies", -1),
        ("result", 0.7),
        ("margin", "x"),
        ("margin", None),
        ("faults", [[2, 0, "time", ""]]),
        ("faults", 3),
        ("seconds", [1]),
        ("searches", [[], [1, 2]]),
        ("start", True),
        ("actions", None),
    ],
)
def test_a_field_of_the_wrong_kind_is_told(field: str, value: Any) -> None:
    row = {**json.loads(game("a", "b", 1.0).to_json()), field: value}
    with pytest.raises(RunError, match=f"f:4: {field} of a game of the match is not valid"):
        records.from_row(row, Place("f", 4))


def test_a_programs_log_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_LOG", 1000)
    for number in range(1, 9):
        records.log(tmp_path, number, game("a b", "c", 1.0), {"a b": "\x1b[31m" + "y" * 300, "c": ""})
    text = (tmp_path / "programs" / "a_b.log").read_text()
    assert list((tmp_path / "programs").iterdir()) == [tmp_path / "programs" / "a_b.log"]
    assert 1000 < len(text) < 1500 and text.endswith("nothing is added from here on\n") and "\x1b" not in text


@pytest.mark.quick
def test_what_makes_no_match_is_told() -> None:
    with pytest.raises(SettingsError, match="at least two agents"):
        play.play(match("random"))
    with pytest.raises(SettingsError, match="must be even"):
        play.play(match("random", "two_ply", games=3))
    with pytest.raises(SettingsError, match="two-player game"):
        play.play(replace(match("random", "two_ply"), game="minidungeons2"))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("uct_wals", "did you mean 'uct_walls'"),
        ("uct:C", "cannot be read"),
        ("uct:C=big", "must be a number"),
        ("uct:CC=1", "no field of this name"),
        ("uct:variant=none", "does not have this variant of its rules"),
        ("uct:iterations=0.5", "must be a number"),
        ("uct:iterations=nan", "expected: a whole number"),
        ("uct:iterations=1e400", "expected: a whole number"),
        ("uct:seconds=nan", "the number of seconds is out of range"),
        (".", "no such agent"),
        ("nowhere.py", "no such program"),
        ("nowhere.toml#x", "no such file"),
    ],
)
def test_names_of_agents_that_stand_for_nothing_are_told(typed: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        names.agents(GAME, [typed])


@pytest.mark.quick
def test_names_of_agents() -> None:
    found = names.agents(GAME, ["uct", "uct:C=0.1,rollout=20", "other=uct"])
    assert [a.name for a in found] == ["uct", "uct:C=0.1,rollout=20", "other"]
    assert found[1].constants == {"C": 0.1} and found[1].search["rollout"] == 20
    with pytest.raises(SettingsError, match="same name"):
        names.agents(GAME, ["uct", "uct"])


@pytest.mark.parametrize(
    "words",
    [
        ["match", "colosseum", "random", "other="],
        ["match", "colosseum", "random", ":C=1"],
        ["playtest", "test", "--game", "colosseum", "--personas", "duelist", "--policy", "agent:"],
        ["playtest", "test", "--game", "colosseum", "--personas", "duelist", "--baseline", "agent:"],
        ["evolve", "--game", "colosseum", "--persona", "duelist", "--agent", ":C=1"],
    ],
)
def test_an_agent_without_a_name_is_told_with_those_there_are(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "an agent without a name" in said and "killer_moves" in said
    assert ("FILE.py" in said) == (words[0] == "match"), "no program plays in a league"


def game(first: str, second: str, result: float, number: int = 0, start: int = 1, **more: Any) -> GameRecord:
    plain = {
        "margin": 0.0,
        "plies": 9,
        "actions": "",
        "faults": [],
        "seconds": [1.0, 2.0],
        "slowest": [0.5, 0.9],
        "searches": [[], []],
    }
    return GameRecord(first, second, "size6", number, start, result, **{**plain, **more})


@pytest.mark.quick
def test_pairs_count_from_both_sides() -> None:
    some = [
        game("a", "b", 1.0, margin=0.5),
        game("b", "a", 0.0, 1, margin=-0.3, faults=[[1, 2, "time", "late"]]),
        game("a", "b", 0.5, 2),
        game("a", "b", 0.0, 3, margin=-0.2, faults=[[1, 2, "time", "late"]]),
    ]
    found = standings.pair(some, "a", "b")
    assert (found.games, found.wins, found.ties, found.faults) == (4, 2, 1, (1, 1))
    assert found.margin is not None and found.margin.value == pytest.approx((0.5 + 0.3 - 0.2) / 4)
    assert standings.pair(some, "b", "a").wins == 1 and found.p == 1.0
    assert found.rate.value == 0.5 and 0.1 < found.rate.low < found.rate.high < 0.9


@pytest.mark.quick
def test_the_effect_size_is_for_other_starts() -> None:
    """Both games from one start have the same winner here, so they tell as much as one game."""
    some = [game("a", "b", result, start=k // 2) for k, result in enumerate([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0])]
    found = standings.pair(some, "a", "b")
    assert found.effect == intervals.score(0.75, 4) and standings.pair(some, "b", "a").effect.value == 0.25
    assert found.difference[:2] == (0.5, 2 * found.effect.low - 1)
    assert standings.pair([game("a", "b", 0.5)], "a", "b").effect == intervals.score(0.5, 1)


def test_the_sign_test_by_hand() -> None:
    assert standings.sign_test(5, 0) == 2 / 32 and standings.sign_test(0, 0) == 1
    assert standings.sign_test(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)


@pytest.mark.parametrize(("wins", "losses"), [(3, 9), (600, 500), (1023, 1), (5000, 4900)])
def test_the_sign_test_takes_any_number_of_games(wins: int, losses: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(wins, wins + losses).pvalue
    assert standings.sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_ratings_find_the_odds_that_games_were_made_with() -> None:
    rng, strength = np.random.default_rng(1), {"a": 0.0, "b": 100.0, "c": 300.0}
    some = []
    for i in range(3000):
        one, two = rng.choice(list(strength), 2, replace=False)
        chance = 1 / (1 + 10 ** ((strength[two] - strength[one]) / 400))
        some.append(game(one, two, float(rng.random() < chance), i))
    found = {r.name: r for r in standings.ratings(some, list(strength))}
    middle = sum(strength.values()) / 3
    for name, r in found.items():
        assert r.points == pytest.approx(strength[name] - middle, abs=25) and r.low < r.points < r.high
    assert list(found) == ["c", "b", "a"]


def test_who_wins_all_games_has_a_rating() -> None:
    found = standings.ratings([game("a", "b", 1.0, i) for i in range(10)], ["a", "b"])
    assert found[0].name == "a" and found[0].points - found[1].points == pytest.approx(400 * math.log10(10.5 / 0.5))


def test_the_command_plays_prints_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("def step(b, m, a, k):\n    raise ValueError('no')\n", encoding="utf-8")
    words = [
        "match",
        "colosseum",
        "two_ply",
        "random",
        str(tmp_path / "mine.py"),
        "--size",
        "5..6",
        "--games",
        "2",
        "--swap",
        "--iterations",
        "20",
        "--jobs",
        "1",
        "--seed",
        "3",
        "--no-pictures",
        "--out",
        str(tmp_path / "m"),
    ]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "two_ply – random" in out and "ratings" in out and "mine: " in out and "lost (error)" in out
    config = json.loads((tmp_path / "m" / records.CONFIG).read_text())
    assert config["seed"] == 3 and [level["name"] for level in config["levels"]] == ["size5", "size6"]
    assert main(words) == 0 and capsys.readouterr().out == out, "all games were there"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["match", "colosseum", "uct"], "at least two agents"),
        (["match", "colosseum", "uct", "random", "--size", "12..6"], "expected a size or a range"),
        (["match", "colosseum", "uct", "random", "--size", "0"], "expected a size or a range"),
        (["match", "colosseum", "uct", "random", "--size", "3"], "size is out of range"),
        (["match", "minidungeons2", "a", "b"], "has no agents of its own"),
        (["match", "minidungeons2"], "has no agents of its own"),
        (["match", "colosseum", "uct", "random", "--levels", "random x"], "--size 8 or --size 6..12"),
        (["match", "colosseum", "uct", "rondam"], "did you mean 'random'"),
        (["match", "colosseum", "uct", "random", "--out", __file__], "is a file: name another folder with --out"),
        (["match", "colosseum", "uct", "random", "--out", __file__ + "/x"], "test_match.py is a file: name another"),
        (["match", "colosseum", "uct", "random", "--games", "3", "--swap"], "must be even"),
        (["match", "colosseum", "uct", "random", "--levels", "nope"], "check the spelling and the current folder"),
        (["match", "colosseum", "uct", str(Path(__file__).parent) + "/x.py"], "there is no such program"),
        (["match", "colosseum", "uct", "random", "--levels", "all", "--size", "6"], "replace the size of one level"),
    ],
)
def test_wrong_commands_are_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert said in told and "games a pair" not in told, "what will be played is said once nothing is wrong"


def test_the_command_lists_the_games_own_agents(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "colosseum"]) == 0
    assert "killer_moves" in capsys.readouterr().out


@pytest.mark.quick
def test_margins_of_few_games_have_no_interval() -> None:
    from persona_evo.report import match_tables

    def shown(games: int) -> str:
        records = [
            GameRecord("a", "b", "x", i, i, 1.0, (-1.0) ** i, 10, "", [], [1.0, 1.0], [0.1, 0.1], [[], []])
            for i in range(games)
        ]
        return match_tables.pairs(records, ["a", "b"], ["x"]).rows[0][8]

    assert shown(2) == "+0.000" and shown(1) == "+1.000", "± 12.7 of a share within -1 and 1"
    assert "±" in shown(6)
