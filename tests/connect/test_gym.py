"""Tests Gymnasium environments as connected games: the adapter, and searches that find the goal."""

import json
import os
from itertools import pairwise
from types import SimpleNamespace

import pytest

from persona_evo.connect import doctor, gym_spaces
from persona_evo.connect.client import Client
from persona_evo.connect.description_file import read
from persona_evo.connect.game import of
from persona_evo.connect.gym import Environment
from persona_evo.connect.gym_spaces import MOST_NUMBERS
from persona_evo.connect.session import Session
from persona_evo.errors import ConnectError
from persona_evo.games import mapsets
from tests.cli.tool import run
from tests.connect.driving import none_left
from tests.shared import ROOT

gymnasium = pytest.importorskip("gymnasium", reason='gymnasium is not installed: pip install "persona-evo[gym]"')
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

LAKE = """
name = "lake"
game = "gymnasium:FrozenLake-v1"
arguments = ["--grid", "4", "--map", "map_name"]
workers = 2
slots = 2
logs = "logs"
[settings]
is_slippery = false
[variants.slippery]
is_slippery = true
[outcome]
won = "RETURN"
"""
UNFIT = '''
"""Environments of this test: one whose chance is not the seed's, and one whose actions are no numbers."""
import random
import gymnasium
from gymnasium import spaces


class Dice(gymnasium.Env):
    action_space, observation_space = spaces.Discrete(2, start=5), spaces.Dict(
        {"face": spaces.Box(0, 1, (40,)), "pair": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2)))})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return self.seen(), {}

    def seen(self):
        luck = random.SystemRandom().random()
        return {"face": [luck] * 40, "pair": (1, [0, 1])}

    def step(self, action):
        assert action in (5, 6)
        self.left -= 1
        return self.seen(), 1.0, self.left == 0, False, {}


class Rudder(Dice):
    action_space = spaces.Box(-1, 1, (1,))


class Wheel(gymnasium.Env):
    """A Dict whose observations have another order than the space, a Sequence, and a mask."""
    action_space = spaces.Discrete(3)
    observation_space = spaces.Dict({"angle": spaces.Box(-9, 9, (1,), float), "speed": spaces.Discrete(9),
                                     "trail": spaces.Sequence(spaces.Discrete(9))})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.turns = 0
        return self.seen(), {"action_mask": [0, 1, 1]}

    def seen(self):
        return {"speed": self.turns, "trail": tuple(range(self.turns)), "angle": [-0.5 * self.turns]}

    def step(self, action):
        assert action
        self.turns += 1
        return self.seen(), 1.0, False, False, {"action_mask": [0, self.turns < 4, self.turns < 3]}


gymnasium.register("Wheel-v0", Wheel)
gymnasium.register("Dice-v0", Dice)
gymnasium.register("Rudder-v0", Rudder)
'''
TAXI = 'name = "taxi"\ngame = "gymnasium:Taxi"\nlogs = "logs"\n'


@pytest.fixture
def play(tmp_path, monkeypatch):
    """From a description to its game and session; processes find this package and the environments above."""
    (tmp_path / "unfit_environments.py").write_text(UNFIT, encoding="utf-8")
    paths = (str(ROOT), str(tmp_path), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    running = []

    def start(text):
        file = tmp_path / "described.toml"
        file.write_text(text, encoding="utf-8")
        running.append(Session(read(file)))
        return of(running[-1]), running[-1]

    yield start
    for session in running:
        session.close()
    assert none_left(tmp_path)


def search(game, level, iterations, seed=1):
    """The best that a search for the game's own score finds."""
    from persona_evo import api
    from persona_evo.personas import catalog
    from persona_evo.search.plan import planner_for
    from persona_evo.search.settings import Budget, SearchSettings

    (persona,) = catalog(game)
    (found,) = mapsets.resolve(game, [level])
    planner = planner_for(game, found, SearchSettings.anytime(), 10_000)
    return planner.plan(persona.utility, api.tree_policy("ucb1", persona, game), Budget(iterations=iterations), seed)


@pytest.mark.parametrize("level", ["default@3", "default:slippery@5"])
def test_a_search_crosses_the_lake_and_its_way_can_be_walked_again(play, level):
    game, _ = play(LAKE)
    plan = search(game, level, 500)
    assert plan.utility == 1 and plan.metrics["DONE"] == 1 and plan.metrics["OBS"] == 15
    (found,) = mapsets.resolve(game, [level])
    lake = gymnasium.make("FrozenLake-v1", is_slippery="slippery" in level)
    seen, _ = lake.reset(seed=int(level.partition("@")[2]))
    walked = [seen, *(lake.step(action)[0] for action in plan.actions)]
    measured = [game.measure(found, state) for state in game.replay(found, plan.actions)]
    assert [m["OBS"] for m in measured] == walked
    assert [(m["X"], m["Y"]) for m in measured] == [(cell % 4, cell // 4) for cell in walked]
    assert measured[-1]["SCORE"] == measured[-1]["RETURN"] == 1


def test_a_slippery_lake_is_another_one_for_each_seed_and_the_same_for_one(play):
    game, session = play(LAKE)
    for level in ("default:slippery@1", "default:slippery@2"):
        report = doctor.examine(session, session.about.level(level), rollouts=20)
        assert not report.faults and report.rollouts == 20
    seen = []
    for level in mapsets.resolve(game, ["default:slippery@1-8"]):
        states = game.replay(level, [0] * 3)
        seen.append(tuple(game.measure(level, state)["OBS"] for state in states))
    assert len(set(seen)) > 1
    with pytest.raises(ConnectError, match="8x9"):
        game.measure(*(lambda level: (level, game.start(level)))(mapsets.resolve(game, ["8x9"])[0]))


def test_a_search_brings_the_passenger_home(play):
    game, _ = play(TAXI)
    plan = search(game, "default@1", 150)
    assert plan.metrics["REWARD"] == 20 and plan.metrics["DONE"] == 1
    assert plan.utility == plan.metrics["RETURN"] == 21 - plan.metrics["STEPS"]


def test_chance_that_is_not_the_seeds_is_told(play):
    _, session = play('name = "dice"\ngame = "gymnasium:unfit_environments:Dice-v0"\nlogs = "logs"\n')
    report = doctor.examine(session, session.about.level("default@1"), rollouts=5)
    assert report.faults and "metric OBS0" in report.faults[0]
    symbols = [m.symbol for m in report.hello.metrics]
    assert symbols[5:] == [f"OBS{i}" for i in range(MOST_NUMBERS)]


@pytest.mark.parametrize(
    "game, arguments, told",
    [
        ("gymnasium:unfit_environments:Rudder-v0", "[]", "are not a numbered list"),
        ("gymnasium:NoSuchLake-v1", "[]", "cannot make"),
        ("gymnasium:FrozenLake-v1", '["--grid", "x"]', "'x' is not a whole number of at least 1"),
        ("gymnasium:FrozenLake-v1", '["--grid", "-2"]', "'-2' is not a whole number of at least 1"),
        ("gymnasium:unfit_environments:Dice-v0", '["--grid", "4"]', "one number"),
        ("gymnasium:", "[]", "no environment is named"),
    ],
)
def test_what_cannot_be_played_is_told_in_words(play, game, arguments, told):
    with pytest.raises(ConnectError, match=told):
        play(f'name = "unfit"\ngame = "{game}"\narguments = {arguments}\nlogs = "logs"\n')


def test_a_mask_holds_unless_it_is_not_to():
    bare = {"map": "", "variant": ""}
    counts = {}
    for masked in (True, False):
        game = Environment("Taxi", bare, masked=masked)
        client = Client("taxi", metrics=game.metrics, environ={})
        counts[masked] = set()

        def choose(client, count, weights, seen=counts[masked]):
            seen.add(count)
            return 0

        client.choose = choose
        client.begin()
        game.play(client)
    assert counts[False] == {6} and max(counts[True]) < 6


def test_a_lake_is_playtested_by_the_command_line(play, tmp_path, capsys):
    file = tmp_path / "lake.toml"
    file.write_text(LAKE, encoding="utf-8")
    done = run(
        capsys,
        "playtest",
        "default@1",
        "--game",
        file,
        "--trials",
        2,
        "--iterations",
        60,
        "--policy",
        "ucb1",
        "--seed",
        1,
        "--no-replays",
        "--out",
        tmp_path / "played",
    )
    assert done.code == 0, done.err
    traces = [json.loads(line) for line in (tmp_path / "played" / "traces.jsonl").read_text().splitlines()]
    walks = [t["positions"] for t in traces if "positions" in t]
    assert len(walks) == 2 and all(walk[0] == [0, 0] and len(walk) > 1 for walk in walks)
    assert all(abs(x - u) + abs(y - v) <= 1 for walk in walks for (x, y), (u, v) in pairwise(walk))
    assert list((tmp_path / "played").rglob("*.png"))


class Told:
    """Records what an environment reports, without a driver; the last choice is always taken."""

    settings, variant, map, game_seed = {"variant": "", "map": "", "disable_env_checker": True}, "", "", 0
    planned: tuple[int, ...] = ()

    def __init__(self):
        self.counts, self.metrics, self.hashes = [], {}, []

    def select(self, count):
        self.counts.append(count)
        return count - 1

    def report_metric(self, symbol, value):
        self.metrics.setdefault(symbol, []).append(value)

    def report_score(self, score):
        self.score = score

    def report_hash(self, state):
        self.hashes.append(state)

    def supply_outcome(self, score):
        self.score = score


def test_observations_are_read_by_name_and_a_mask_of_zeros_ends_the_game(tmp_path, monkeypatch):
    (tmp_path / "unfit_environments.py").write_text(UNFIT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    told = Told()
    wheel = Environment("unfit_environments:Wheel-v0", told.settings)
    assert [(m.symbol, m.name) for m in wheel.metrics[-2:]] == [
        ("OBS0", "observation angle[0]"),
        ("OBS1", "observation speed"),
    ]
    wheel.play(told)
    assert told.metrics["OBS0"] == [0, -0.5, -1, -1.5, -2] and told.metrics["OBS1"] == [0, 1, 2, 3, 4]
    assert told.counts == [2, 2, 2, 1] and told.score == 4
    assert told.metrics["RETURN"] == [0, 1, 2, 3, 4] and told.metrics["REWARD"] == [0, 1, 1, 1, 1]
    assert told.metrics["CUT"] == [0, 0, 0, 0, 1] and told.metrics["DONE"] == [0] * 5
    assert len(set(told.hashes)) == 5


def test_an_observation_that_does_not_fit_its_space_is_refused(tmp_path, monkeypatch):
    (tmp_path / "unfit_environments.py").write_text(UNFIT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    wheel = Environment("unfit_environments:Wheel-v0", Told.settings)
    bare = wheel.environment.unwrapped
    for seen in ({"angle": [0.0]}, {"angle": [0.0, 1.0], "speed": 1, "trail": ()}, {"angle": ["x"], "speed": 1}):
        bare.seen = lambda seen=seen: seen
        with pytest.raises(ConnectError, match="observation"):
            wheel.play(Told())


@pytest.mark.parametrize("mask", [[1], 5, "011", [0, float("nan"), 1], [[0, 1, 1]], [0, [1], 1]])
def test_a_mask_that_does_not_fit_is_refused(tmp_path, monkeypatch, mask):
    (tmp_path / "unfit_environments.py").write_text(UNFIT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    wheel = Environment("unfit_environments:Wheel-v0", Told.settings)
    bare = wheel.environment.unwrapped
    bare.reset = lambda seed=None, options=None: ({"angle": [0], "speed": 0, "trail": ()}, {"action_mask": mask})
    bare.turns = 0
    with pytest.raises(ConnectError, match="action_mask") as refused:
        wheel.play(Told())
    assert refused.value.expected == "3 numbers, one for each action"


SEEN = {"angle": [0], "speed": 0, "trail": ()}


@pytest.mark.parametrize(
    "method, found, message",
    [
        ("reset", SEEN, "reset does not return what Gymnasium demands"),
        ("reset", (SEEN, None), "reset does not return what Gymnasium demands"),
        ("step", None, "step does not return what Gymnasium demands"),
        ("step", (SEEN, 1.0, False, {}), "step does not return what Gymnasium demands"),
        ("step", (SEEN, "x", False, False, {}), "the reward of a step is not a number"),
    ],
)
def test_an_environment_that_returns_something_else_is_told_in_words(tmp_path, monkeypatch, method, found, message):
    (tmp_path / "unfit_environments.py").write_text(UNFIT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    wheel = Environment("unfit_environments:Wheel-v0", Told.settings)
    returned = {"reset": (SEEN, {}), method: found}
    methods = {name: lambda *_, answer=answer, **__: answer for name, answer in returned.items()}
    wheel.states.environment = SimpleNamespace(**methods)
    with pytest.raises(ConnectError, match=message):
        wheel.play(Told())


def test_names_of_parts_fit_on_one_line():
    space = gymnasium.spaces.Dict({"a\nb\x1b": gymnasium.spaces.Discrete(3)})
    assert [where for where, _, _ in gym_spaces.parts(space, "")] == [" a b\\x1b"]


def test_the_help_says_how_an_environment_is_named(capsys):
    with pytest.raises(SystemExit):
        run(capsys, "connect", "--help")
    told = capsys.readouterr().out
    assert '"gymnasium:MODULE:ID"' in told and '"--grid", "COLUMNS"' in told
