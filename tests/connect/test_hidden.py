"""Games whose seed decides what the player cannot know: searches play with other seeds, and average over them."""

import json
from collections import Counter
from pathlib import Path

import pytest

from persona_evo.connect import protocol as p
from persona_evo.connect.worlds import Observation, WorldRollout, Worlds
from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.playtest import versions
from persona_evo.report import replay_text
from persona_evo.search.plan import planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import SplitMix64
from tests.cli.tool import run
from tests.connect.driving import game, none_left
from tests.connect.test_search import nothing_is_pending
from tests.examples import catacomb
from tests.examples.catacomb import Catacomb


def describe(folder, *lines):
    """A description of the catacomb, with lines of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "catacomb.py").write_text(Path(catacomb.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    file = folder / "catacomb.toml"
    file.write_text("\n".join(('game = "catacomb.py"', *lines)), encoding="utf-8")
    return file


class Orders:
    """Records what a pool is ordered to play."""

    def __init__(self, pool):
        self._pool, self.orders = pool, []

    def __getattr__(self, name):
        return getattr(self._pool, name)

    def submit(self, order):
        self.orders.append(order)
        return self._pool.submit(order)


HIDDEN = ("deterministic = false", "seeds = 4")


def played(file, level=3, rollouts=150):
    """A search of a level, and the orders that it gave."""
    found, running = game(file)
    try:
        (loaded,) = mapsets.resolve(found, [f"default@{level}"])
        planner = planner_for(found, loaded, SearchSettings.single(), 1_000)
        search = planner.search(parse("SCORE", found.symbols), TreePolicy.ucb1(), 1)
        search.pool = source = Orders(search.pool)
        search.spend(Budget(rollouts), 0.0)
        return search, source.orders
    finally:
        running.close()


def test_a_search_looks_at_the_level_and_plays_with_other_seeds(tmp_path):
    search, orders = played(describe(tmp_path, *HIDDEN))
    level = Catacomb(3)
    for choice, count in search.best.trace:
        assert count == level.choices()
        level.choose(choice)
    assert level.over() and search.best.utility == level.gold
    looks = [order for order in orders if order.game_seed == 3]
    decisions = len(search.best.trace)
    assert [len(order.choices) // p.PAIR for order in looks] == [*range(decisions + 1), decisions]
    assert len(orders) <= search.spent <= 150 and search.misfits > len(looks)
    assert len({order.game_seed for order in orders[1:17]}) >= 4 and nothing_is_pending(search)


@pytest.mark.parametrize("lines", [("workers = 2",), ("workers = 1", "widening = 4")])
def test_a_resumed_search_comes_to_what_it_would_have_come_to(tmp_path, capsys, lines):
    file, words = describe(tmp_path / "game", *HIDDEN, *lines), ("--level", "default@2", "--seed", 1, "--iterations")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run(capsys, "connect", "search", file, *words, 100, "--out", whole).code == 0
    rows = (whole / "rollouts.jsonl").read_bytes().splitlines(keepends=True)
    assert run(capsys, "connect", "search", file, *words, 100, "--out", parts).code == 0
    (parts / "rollouts.jsonl").write_bytes(b"".join(rows[:40]))
    again = run(capsys, "connect", "search", file, *words, 100, "--out", parts)
    assert again.code == 0 and "resumed: 40 rollouts" in again.err, again.err
    assert all(
        (parts / n).read_bytes() == (whole / n).read_bytes() for n in ("best.json", "tree.npz", "rollouts.jsonl")
    )
    assert none_left(tmp_path)


def test_playtests_play_move_by_move_and_say_with_how_many_seeds(tmp_path, capsys):
    file, out = describe(tmp_path, *HIDDEN, "[outcome]", 'won = "GOLD - 29"'), tmp_path / "out"
    words = ("default@1-2", "--personas", "score", "--policy", "ucb1", "--trials", 2)
    skilled = ("--skill", "perfect,novice", "--iterations", 60, "--seed", 1, "--jobs", 1)
    played = run(capsys, "playtest", "--game", file, *words, *skilled, "--out", out)
    assert played.code == 0, played.err
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "searched with 4 seeds other than the level" in page and none_left(tmp_path)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("seeds = 4",), "catacomb.toml:2:9: a deterministic game is searched with its own seed alone"),
        (("deterministic = 1",), "catacomb.toml:2:17: deterministic is not true or false"),
        ((*HIDDEN[:1], "seeds = 0"), "catacomb.toml:3:9: seeds is out of range"),
    ],
)
def test_wrong_descriptions_are_refused_with_their_place(tmp_path, capsys, lines, message):
    refused = run(capsys, "connect", "search", describe(tmp_path, *lines), "--iterations", 10)
    assert refused.code == 2 and message in refused.err, refused.err


def test_personas_and_options_say_with_how_many_seeds_to_search(tmp_path, capsys):
    file, out = describe(tmp_path), tmp_path / "out"
    for name, seeds in (("knows", 0), ("guesses", 4)):
        text = f'game = "catacomb"\npriority = "GOLD"\nutility = "GOLD"\nseeds = {seeds}\n'
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    who = [tmp_path / "knows.toml", tmp_path / "guesses.toml"]
    words = ("default@1-3", "--game", file, "--policy", "ucb1", "--trials", 1, "--iterations", 150, "--seed", 1)
    played = run(capsys, "playtest", *words, "--personas", f"{who[0]},{who[1]}", "--jobs", 1, "--out", out)
    assert played.code == 0, played.err
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "searched with 0 (knows), 4 (guesses) seeds other than the level" in page, played.err
    records = [json.loads(line) for line in (out / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    gold = {name: sum(r["utility"] for r in records if r["persona"] == name) for name in ("knows", "guesses")}
    assert gold["knows"] > gold["guesses"] + 10, gold
    one = ("connect", "search", file, "--iterations", 100, "--seed", 1, "--persona", who[0])
    assert "best known" in run(capsys, *one).out
    assert "moves searched with 4 other seeds" in run(capsys, *one, "--seeds", 4).out
    refused = run(capsys, "playtest", "test01", "--personas", "runner", "--seeds", 4)
    assert refused.code == 2 and "seeds are for connected games" in refused.err and none_left(tmp_path), refused.err


def test_a_game_without_seeds_is_refused(tmp_path, capsys):
    file = describe(tmp_path, *HIDDEN)
    source = tmp_path / "catacomb.py"
    source.write_text(source.read_text().replace('capabilities=("seed",)', "capabilities=()"))
    refused = run(capsys, "connect", "search", file, "--iterations", 10)
    assert refused.code == 2 and "catacomb.toml:2:1: the game does not take seeds" in refused.err, refused.err
    file.write_text('game = "catacomb.py"', encoding="utf-8")
    refused = run(capsys, "connect", "search", file, "--iterations", 10, "--seeds", 2)
    assert refused.code == 2 and "the game does not take seeds" in refused.err, refused.err


class Played:
    """A rollout of two choices a decision, with the metrics before each and at the end."""

    score = hash = 0

    def __init__(self, choices, rows):
        self.trace, self.rows, self.decisions = p.pack((c, 2) for c in choices), rows, len(choices)

    def count(self, i):
        return 2

    def row(self, i):
        return (float(self.rows[i]),)

    def last(self):
        return self.row(self.decisions)


def test_seeds_that_do_not_agree_are_replaced_and_at_last_the_closest_are_taken():
    worlds, seen = Worlds(2, SplitMix64(1)), Observation(p.pack([(1, 2)]), ((0.0,), (5.0,)), 2)
    worlds.look(seen, failures=2)
    first, second = worlds.next(), worlds.next()
    assert worlds.begin_probe(first) and worlds.begin_probe(second) and worlds.next() is None
    assert worlds.accept(WorldRollout(0, 0, 1, world=first), Played([1, 0], [0, 5, 9])) and worlds.next() == first
    tried = []
    for choices, rows in (([1, 0], [0, 6, 9]), ([0, 0], [0, 5, 9]), ([1, 0], [0, 9, 9])):
        assert not worlds.second_best()
        tried.append(worlds.seeds[second])
        assert not worlds.accept(WorldRollout(0, 0, 1, world=second), Played(choices, rows))
        worlds.begin_probe(second)
    assert len({*tried}) == 3
    ((order, result),) = worlds.second_best()
    assert (order.world, result.rows, worlds.seeds[second]) == (second, [0, 6, 9], tried[0])
    assert {worlds.next(), worlds.next()} == {first, second}


def test_playthroughs_in_which_the_game_fails_count_as_failed_and_are_reported(tmp_path, capsys):
    file, out = describe(tmp_path, *HIDDEN, "workers = 1"), tmp_path / "out"
    source, chosen = tmp_path / "catacomb.py", "catacomb.choose(client.select(catacomb.choices()))\n"
    failing = f"{chosen}        if catacomb.hall == 4: raise ValueError('no hall 4')\n"
    source.write_text(source.read_text(encoding="utf-8").replace(chosen, failing), encoding="utf-8")
    words = ("default@1-2", "--personas", "score", "--policy", "ucb1", "--trials", 1, "--iterations", 40, "--jobs", 1)
    played = run(capsys, "playtest", "--game", file, *words, "--require", "crashes == 0", "--out", out)
    assert played.code == 1, played.err
    records = [json.loads(line) for line in (out / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(records) == 2 and (records[0]["outcome"], records[0]["stopped"]) == ("running", "failed")
    found = [f for f in json.loads((out / "findings.json").read_bytes())["findings"] if f["kind"] == "crashes"]
    assert [f["level"] for f in found] == ["default@1", "default@2"] and "2 findings, first: " in played.out
    assert all(f"connect replay {file} {out / 'logs' / 'findings.jsonl'}:" in f["look"] for f in found), found
    again = run(capsys, "connect", "replay", file, f"{out / 'logs' / 'findings.jsonl'}:1", "--no-screen")
    assert "no hall 4" in again.out, again.err
    shown = run(capsys, "runs", "show", out, "--trace", 1, "--game", file)
    assert shown.code == 0 and "the game failed after" in shown.out, shown.err


def test_a_choice_with_which_the_game_fails_in_every_world_is_given_up(tmp_path):
    file, source = describe(tmp_path, *HIDDEN, "slots = 3"), tmp_path / "catacomb.py"
    chosen = "catacomb.choose(client.select(catacomb.choices()))\n"
    failing = "choice = client.select(catacomb.choices())\n        if choice == 1: raise ValueError('no moon')\n"
    text = source.read_text(encoding="utf-8").replace(chosen, f"{failing}        catacomb.choose(choice)\n")
    source.write_text(text, encoding="utf-8")
    search, orders = played(file)
    assert search.stopped == "budget" and 1 not in [choice for choice, _ in search.best.trace]
    tried = Counter(tuple(c for c, _ in p.unpack(order.choices)) for order in orders if order.game_seed != 3)
    failing = [number for choices, number in tried.items() if choices[-1:] == (1,)]
    assert failing and max(failing) <= 4, tried  # two tries in each of two searches for moves
    assert nothing_is_pending(search) and none_left(tmp_path)


FRAGILE = """
import sys
from persona_evo.connect.client import Client

def play(client):
    for turn in range(3):
        client.report_metric("X", turn)
        client.report_metric("Y", 0)
        if client.select(999):
            raise ValueError("the wrong door")
    client.report_metric("X", 3)
    client.supply_outcome(1)

sys.exit(Client("fragile", "1", metrics=("X", "Y"), max_decisions=5, capabilities=("seed",)).run(play))
"""


@pytest.fixture
def fragile(tmp_path):
    """A game in which every choice but the first one of each decision raises an exception."""
    (tmp_path / "fragile.py").write_text(FRAGILE, encoding="utf-8")
    file = tmp_path / "fragile.toml"
    file.write_text('game = "fragile.py"\nworkers = 1\n', encoding="utf-8")
    found, running = game(file)
    yield found, running
    running.close()


def test_a_playthrough_is_shown_with_its_own_choices_alone(fragile):
    found, running = fragile
    (level,) = mapsets.resolve(found, ["default@4"])
    states = found.replay(level, (0, 0, 0))
    assert [found.measure(level, state)["X"] for state in states] == [0, 1, 2, 3]
    assert found.measure(level, states[-1])["SCORE"] == 1 and not running.findings()


def test_the_names_of_levels_are_neither_drawn_nor_compared(fragile):
    found, _ = fragile
    a, b = mapsets.resolve(found, ["default@4", "default@11"])
    assert found.locate(a, a.start) == (0, 0) and replay_text.picture(found, a, a.start) == []
    changes = versions.changes(found, a, b)
    assert not changes.none and not changes.words and not changes.tiles and not changes.lines
    assert versions.changes(found, a, a).none
