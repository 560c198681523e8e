"""Tests games that begin from kept states: the same search, with fewer moves played."""

import re
import subprocess
import time

import pytest

from persona_evo.connect.description_file import read
from persona_evo.connect.doctor import examine
from persona_evo.connect.game import of
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.session import Session
from persona_evo.formula import parse
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from tests.connect.driving import GAMES
from tests.connect.test_csharp import BUILD, needs_mono
from tests.shared import ROOT

CORE = ROOT / "unity_support" / "package" / "Runtime" / "Core"


@pytest.fixture(scope="module")
def cave(tmp_path_factory):
    """The game of `cave.cs`."""
    if not BUILD.is_file():
        pytest.skip("the C# client is not here (it stands in the repository, not in the package)")
    target = tmp_path_factory.mktemp("cave") / "cave.exe"
    command = ["mcs", "-langversion:6", "-optimize+", f"-out:{target}", GAMES / "cave.cs", *sorted(CORE.glob("*.cs"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def searched(program, folder, word, workers, iterations=400):
    """Return the result of a search (all visits, the best playthrough), its seconds, and the games' output."""
    folder.mkdir()
    file = folder / "cave.toml"
    lines = f'game = "{program}"\narguments = ["{word}"]\nworkers = {workers}\nslots = 2\nlogs = "logs"\n'
    file.write_text(lines, encoding="utf-8")
    session = Session(read(file))
    try:
        game = of(session)
        assert game.outside is not None
        planner = game.outside.planner(game, game.load("default@1", "one"), SearchSettings.single(), 10_000)
        search = planner.search(parse("SCORE", game.symbols), TreePolicy.ucb1(1.0), seed=3)
        began = time.perf_counter()
        search.spend(Budget(iterations=iterations), began)
        spent = time.perf_counter() - began
    finally:
        session.close()
    said = "".join(log.read_text(encoding="utf-8") for log in (folder / "logs").iterdir())
    numbers = [tuple(map(int, pair)) for pair in re.findall(r"(?:steps|doors) (\d+) restored (\d+)", said)]
    found = [(node.choices, node.visits, node.mean) for node in search.tree.walk()], search.best.trace
    return found, spent, [sum(column) for column in zip(*numbers, strict=True)]


@pytest.mark.parametrize("game", [pytest.param("cave", marks=needs_mono), "rooms"])
def test_a_search_is_the_same_and_plays_less(game, tmp_path, request):
    program = GAMES / "rooms.py" if game == "rooms" else request.getfixturevalue(game)
    plain, _, (steps, restored) = searched(program, tmp_path / "off", "off", 1)
    assert restored == 0 and steps >= 400 * 12
    kept, _, (less, restored) = searched(program, tmp_path / "on", "on", 1)
    assert kept == plain
    assert restored >= 390, "only the first rollouts begin at the start"
    assert less < 0.9 * steps
    several, _, (_, restored) = searched(program, tmp_path / "several", "on", 2)
    assert several == plain and restored >= 350


@needs_mono
@pytest.mark.slow
def test_a_game_with_a_long_way_is_played_at_twice_the_rate(cave, tmp_path):
    """A tree policy that goes deep makes the way long, which is the case that save-states are for."""
    rates = {word: [] for word in ("off", "on")}
    for turn in range(3):
        for word, found in rates.items():
            _, spent, _ = searched(cave, tmp_path / f"{word}{turn}", word, 1, iterations=1500)
            found.append(1500 / spent)
    gain = sorted(rates["on"])[1] / sorted(rates["off"])[1]
    print(f"{gain:.2f} times the rate: {rates}")
    assert gain > 2


def examined(folder, source):
    """What the doctor says of a game in Python."""
    folder.mkdir()
    (folder / "rooms.py").write_text(source, encoding="utf-8")
    file = folder / "rooms.toml"
    file.write_text('game = "rooms.py"\narguments = ["on"]\nlogs = "logs"\nslots = 2\n', encoding="utf-8")
    session = Session(read(file))
    try:
        return examine(session, LevelName("", "", 3), rollouts=20)
    finally:
        session.close()


def test_the_doctor_measures_what_kept_states_gain_and_sees_those_that_are_not_whole(tmp_path):
    source = (GAMES / "rooms.py").read_text(encoding="utf-8")
    report = examined(tmp_path / "whole", source)
    assert report.faults == []
    assert any(
        re.match(r"save-states: [\d,]+ rollouts/s from 75 % of the way, [\d.]+ times", note) for note in report.notes
    )
    forgetful = source.replace("select(3, state=state)", 'select(3, state={**state, "gold": 0})')
    assert forgetful != source
    (fault,) = examined(tmp_path / "forgetful", forgetful).faults
    assert fault.startswith("a playthrough from its start, then from a kept state: metric GOLD")
