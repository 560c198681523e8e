"""Decisions with many choices, searched from outside: a game of 4 decisions with 400 choices each."""

from pathlib import Path
from statistics import mean

import pytest

from persona_evo.errors import GameError, PersonaEvoError, ProtocolError
from persona_evo.seeds import SplitMix64
from tests.cli.tool import run
from tests.connect.driving import describe
from tests.connect.test_search import same, searched
from tests.examples import towers
from tests.examples.towers import SIZE, TOWERS, Towers

ROLLOUTS, LEVELS = 700, range(1, 5)


def by_chance(level, weighted):
    """The best score of as many playthroughs by chance alone."""
    random, best = SplitMix64(1), 0.0
    for _ in range(ROLLOUTS):
        game = Towers(level)
        while game.built < TOWERS:
            weights = [0.1 + gain for gain in game.gains]
            game.build(random.weighted(weights) if weighted else random.below(SIZE * SIZE))
        best = max(best, game.score())
    return best


def found(folder, *lines):
    """The mean of the best scores that searches of all levels come to."""
    file = folder / "towers.toml"
    file.write_text("\n".join((f'game = "{Path(towers.__file__).as_posix()}"', *lines)), encoding="utf-8")
    plans = [searched(file, f"default@{level}", budget=ROLLOUTS, seed=1)[2] for level in LEVELS]
    return mean(plan.utility for plan in plans)


@pytest.mark.parametrize("rollout", ["uniform", "weights"])
def test_the_default_search_beats_chance_where_there_are_400_choices(tmp_path, rollout):
    line = f'rollout = "{rollout}"'
    default, full = found(tmp_path, line), found(tmp_path, line, "widening = 0")
    chance = mean(by_chance(level, rollout == "weights") for level in LEVELS)
    assert default > chance and default > full
    assert rollout == "uniform" or default > found(tmp_path, line, "priors = false") + 0.02
    assert rollout == "uniform" or default == found(tmp_path, line, "workers = 3")


def test_a_playtest_is_not_continued_with_another_widening(tmp_path, capsys):
    file, out = describe(tmp_path), tmp_path / "out"
    words = ("default@3", "--personas", "score", "--policy", "ucb1", "--iterations", 20, "--seed", 1, "--out", out)
    assert run(capsys, "playtest", "--game", file, *words, "--trials", 2).code == 0
    traces = out / "traces.jsonl"
    traces.write_bytes(traces.read_bytes().splitlines(keepends=True)[0])
    kept = traces.read_bytes()
    file.write_text("widening = 3\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    for again in (("playtest", "--resume", out, "--trust"), ("playtest", "--game", file, *words, "--trials", 2)):
        refused = run(capsys, *again)
        assert refused.code == 2 and traces.read_bytes() == kept, refused.err
        assert "the rules of the game have changed" in refused.err or "another playtest" in refused.err, refused.err


def test_a_crash_while_the_driver_asks_for_weights_changes_nothing(tmp_path):
    top, select = 'workers = 1\nslots = 2\nwidening = 2\nrollout = "weights"', "        chosen = client.select("
    whole = searched(describe(tmp_path / "whole", top=top), budget=120, seed=1)
    file, mark = describe(tmp_path / "dies", top=top), tmp_path / "died"
    dies = f"if client._order.mode == 3 and turn == 3 and not os.path.exists({str(mark)!r}):\n"
    dies = f"        {dies}            open({str(mark)!r}, 'w').close(); os._exit(1)\n"
    source = file.with_name("ladder.py")
    text = source.read_text(encoding="utf-8").replace("import sys\n", "import os\nimport sys\n", 1)
    source.write_text(text.replace(select, dies + select), encoding="utf-8")
    broken = searched(file, budget=120, seed=1)
    assert mark.exists() and broken[0].pool.restarted == 1 and same(whole, broken)


WRONG = {
    'asked["weights"] = [10**400] * asked["count"]': (ProtocolError, "a weight is out of range"),
    'asked["weights"] = [-1.0] * asked["count"]': (ProtocolError, "a weight is out of range"),
    'asked["depth"] += 1': (ProtocolError, "DECIDE's 'depth' is not valid"),
    'asked["depth"] = True': (ProtocolError, "DECIDE's 'depth' is not valid"),
    'asked["id"] += 1': (ProtocolError, "DECIDE's 'id' is not valid"),
    'asked["count"] = 10**400': (ProtocolError, "DECIDE's 'count' is not valid"),
    'asked["metrics"] = [10**400] * 3': (ProtocolError, "DECIDE's 'metrics' is not valid"),
    'del asked["metrics"]': (ProtocolError, "DECIDE's 'metrics' is not valid"),
    "asked.update(count=1, weights=None)": (ProtocolError, "RESULT's trace differs from what DECIDE and CHOICE said"),
}


def search_error(folder, old, new):
    """The error of a search by weights after a change of the game's source, which must not be a traceback."""
    file = describe(folder, top='workers = 1\nslots = 2\nwidening = 2\nrollout = "weights"')
    source = file.with_name("ladder.py")
    text = source.read_text(encoding="utf-8")
    assert old in text
    source.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PersonaEvoError) as caught:
        searched(file, budget=120, seed=1)
    return caught.value


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_decide_is_an_error_of_the_protocol(tmp_path, fault):
    new = f"""import json
from persona_evo.connect import client as c
encode = c.encode_decide
def wrong(*given):
    asked = json.loads(encode(*given)[5:])
    {fault}
    text = json.dumps(asked).encode()
    return c.p.HEAD.pack(len(text), c.p.Kind.DECIDE) + text
c.encode_decide = wrong
METRICS = ("""
    error = search_error(tmp_path, "METRICS = (", new)
    kind, text = WRONG[fault]
    assert type(error) is kind and text in error.what and error.found and error.expected, error


@pytest.mark.parametrize("count", [1, 60])
def test_a_game_that_offers_other_choices_when_it_is_asked_for_weights_is_not_deterministic(tmp_path, count):
    old = "client.select(2 + height % 2, [1.0] * (2 + height % 2) if turn % 2 else None)"
    error = search_error(tmp_path, old, f"client.select(n := {count} if client._order.mode == 3 else 2, [1.0] * n)")
    assert isinstance(error, GameError)
    assert f"at decision 0 it offered 2 choices once and {count} choice" in str(error)
