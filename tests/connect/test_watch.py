"""A game in a window that shows the best playthrough of a search while that goes on."""

import json

from tests.cli.tool import run
from tests.connect.driving import describe, faulty, none_left

SHOWN = """
import json, pathlib
_select = Client.select
def select(client, count, weights=None, state=None):
    choice = _select(client, count, weights, state)
    if client._order is not None and client._order.mode == 3:
        with (pathlib.Path(__file__).parent / "shown.txt").open("a") as out:
            out.write(f"{client._made - 1} {choice}\\n")
    return choice
Client.select = select
"""


def shown(folder):
    """The playthroughs that the game was asked for choice by choice, as rows of choices."""
    rows = []
    for line in (folder / "shown.txt").read_text().splitlines():
        depth, choice = map(int, line.split())
        if depth == 0:
            rows.append([])
        rows[-1].append(choice)
    return rows


def watched(folder):
    """Write a game that shows what it was told when it is watched; return its description."""
    file, source = describe(folder), folder / "ladder.py"
    source.write_text(source.read_text().replace("\nMETRICS = (", SHOWN + "\nMETRICS = (", 1))
    return file


def test_a_search_shows_its_best_playthrough_and_finds_the_same(tmp_path, capsys):
    words = ("--level", "short@2", "--iterations", 40, "--seed", 1)
    file = watched(tmp_path)
    told = run(capsys, "connect", "search", file, *words, "--out", tmp_path / "a", "--watch", 0.01)
    assert told.code == 0, told.err
    best = json.loads((tmp_path / "a" / "best.json").read_text())
    assert shown(tmp_path)[-1] == best["choices"], "the last one shown is the best"
    plain = run(capsys, "connect", "search", file, *words, "--out", tmp_path / "b")
    assert plain.code == 0 and json.loads((tmp_path / "b" / "best.json").read_text()) == best
    assert none_left(tmp_path)


def test_a_playtest_can_be_watched_and_other_games_cannot(tmp_path, capsys):
    (tmp_path / "score.toml").write_text('name = "score"\ngame = "ladder"\nutility = "SCORE"\npriority = "SCORE"\n')
    words = ("--personas", tmp_path / "score.toml", "--policy", "ucb1", "--trials", 1, "--iterations", 20)
    words += ("--bound-seconds", 0, "--no-pictures", "--seed", 1, "--watch", 0.01)
    told = run(capsys, "playtest", "short@2", "--game", watched(tmp_path), *words, "--out", tmp_path / "out")
    assert told.code == 0, told.err
    (record,) = [json.loads(line) for line in (tmp_path / "out" / "traces.jsonl").read_text().splitlines()]
    assert shown(tmp_path)[-1] == [int(action) for action in record["actions"]]
    refused = run(capsys, "playtest", "test01", "--trials", 1, "--watch")
    assert refused.code == 2 and "only connected games can be watched" in refused.err
    assert none_left(tmp_path)


def test_a_game_that_cannot_be_watched_disturbs_nothing(tmp_path, capsys):
    told = run(capsys, "connect", "search", faulty(tmp_path, "chance"), "--iterations", 6, "--seed", 1, "--watch", 0.0)
    assert "decision" in told.out and none_left(tmp_path)
