"""Tests that games written as Python classes work with everything that compiled games work with."""

from __future__ import annotations

import dataclasses
import enum
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.errors import GameError, LevelError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.check import check_game
from persona_evo.games.core import Game, Level, Metric
from persona_evo.games.python_game import from_class
from persona_evo.games.python_game import novelty as novel
from persona_evo.games.python_game.contents import number_of
from persona_evo.search.bounds import solve
from persona_evo.search.plan import Planner, plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from tests.examples import corridor

FILE = Path(corridor.__file__)
GAME = corridor.GAME
LEVEL = GAME.load("$..$@....D", "c")
UTILITY = parse("0.7*COINS + 0.3*OUT - 0.001*ST", GAME.symbols)
BEST = (0,) * 4 + (1,) * 9


@pytest.mark.parametrize("settings", [SearchSettings.anytime(), SearchSettings(terminal="revisit", horizon=14)])
@pytest.mark.parametrize("policy", ["", "R + COINS + 0.3*sqrt(log(P)/N)"])
def test_the_same_search_plays_it(settings: SearchSettings, policy: str) -> None:
    chosen = TreePolicy.of(policy, GAME) if policy else TreePolicy.ucb1()
    found = plan(GAME, LEVEL, UTILITY, chosen, Budget(600), settings, seed=3)
    assert found.actions == BEST and found.utility == pytest.approx(0.987)
    assert found.metrics == {"ST": 13, "COINS": 1, "OUT": 1} and found.outcome == 1
    assert found.proven == (settings == SearchSettings.anytime())


def test_the_solver_proves_it() -> None:
    found = solve(GAME, LEVEL, UTILITY)
    assert found.actions == BEST and found.proven
    assert solve(GAME, LEVEL, UTILITY, method="dfs", horizon=5).utility == pytest.approx(0.7 - 0.004)


def test_states_are_not_shared() -> None:
    planner = Planner(GAME, LEVEL, SearchSettings.paper(), 500)
    before = LEVEL.start[0]
    first = planner.plan(UTILITY, TreePolicy.ucb1(), Budget(200), seed=1)
    states = [id(s) for s in planner.memory.states[: first.nodes, 0]]
    assert len(set(states)) == len(states)
    assert LEVEL.start[0] is before and (before.at, before.steps) == (4, 0)
    again = Planner(GAME, LEVEL, SearchSettings.paper(), 500).plan(UTILITY, TreePolicy.ucb1(), Budget(200), seed=1)
    assert (again.actions, again.nodes, again.utility) == (first.actions, first.nodes, first.utility)


def test_personas_and_evolutions_fitness_take_it(tmp_path: Path) -> None:
    from persona_evo.evolve.fitness import Fitness
    from persona_evo.evolve.fitness_spec import FitnessSpec
    from persona_evo.evolve.records import Request
    from persona_evo.jobs.workers import Workers
    from persona_evo.personas.core import load

    file = tmp_path / "collector.toml"
    file.write_text(
        'game = "corridor"\ndescription = "Collects coins."\npriority = "COINS"\n'
        'utility = "0.7*COINS + 0.3*OUT - 0.001*ST"\n',
        encoding="utf-8",
    )
    game = registry.get(str(FILE))
    persona = load(file, game)
    assert persona.utility == UTILITY
    spec = FitnessSpec.of(
        registry.address(game), [game.load(LEVEL.text, "c")], persona.utility, SearchSettings.anytime(), Budget(60)
    )
    with Workers(1) as workers:
        ((score,),) = Fitness(spec, workers)([Request("COINS + R", ((1, 2),))])
    assert score == pytest.approx(0.987)


def test_a_game_is_found_by_its_file_and_then_by_its_name(tmp_path: Path) -> None:
    copy = tmp_path / "walk.py"
    text = FILE.read_text(encoding="utf-8").replace("class Corridor", "class Walk").replace("Corridor(", "Walk(")
    copy.write_text(text.replace("from_class(Corridor, title", "from_class(Walk, title"), encoding="utf-8")
    game = registry.get(f"{copy}:GAME")
    assert game.name == "walk" and registry.get(str(copy)) is game is registry.get("walk")
    assert registry.address(game) == f"{copy}:GAME"
    assert registry.address(registry.get("minidungeons2")) == "minidungeons2"
    assert registry.get("tests.examples.corridor:GAME") is GAME
    other = tmp_path / "later" / "walk.py"
    other.parent.mkdir()
    other.write_bytes(copy.read_bytes())
    later = registry.get(str(other))
    assert later is not game and registry.get("walk") is later
    assert registry.address(later) == f"{other}:GAME" and registry.address(game) == f"{copy}:GAME"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be loaded"),
        ("x = 1", "cannot be loaded"),
        ("GAME = 3", "is a int"),
        ("def", "cannot be loaded"),
    ],
)
def test_files_without_a_game_are_told(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "broken.py"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises((SettingsError, GameError), match=message):
        registry.get(str(file))


def solved(level: Level) -> tuple[int, ...]:
    game = registry.get(f"{FILE}")
    return plan(game, level, UTILITY, TreePolicy.ucb1(), Budget(200), seed=1).actions


def test_levels_go_to_other_processes_as_their_text() -> None:
    level = registry.get(str(FILE)).load(LEVEL.text, "c")
    back = pickle.loads(pickle.dumps(level))
    assert back.start[0].key() == level.start[0].key() and back.start[0] is not level.start[0]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(solved, [level, LEVEL]) == [BEST, BEST]


def test_keys_are_the_same_in_every_process() -> None:
    code = (
        "from persona_evo.games.python_game.contents import number_of as n;"
        "print(n((1, 'a', 2.5)), n({'b': {3, 4}, 'a': [None, True]}), n(frozenset('xyz')))"
    )
    lines = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(lines) == 1 and len(lines.pop().split()) == 3


def test_keys_tell_contents_apart() -> None:
    class Holder:
        __slots__ = ("board", "items")

        def __init__(self, items: Any, board: Any) -> None:
            self.items, self.board = items, board

    values = [
        0,
        1,
        -1,
        "1",
        1.0,
        (1,),
        (1, 2),
        (2, 1),
        {1: 2},
        {2: 1},
        {1, 2},
        None,
        Holder([1], np.zeros(2)),
        Holder([1], np.ones(2)),
        Holder([2], np.zeros(2)),
        2**70,
    ]
    numbers = [number_of(v) for v in values]
    assert len(set(numbers)) == len(values) and all(0 <= n < 2**63 for n in numbers)
    assert number_of(Holder([1], np.zeros(2))) == number_of(Holder([1], np.zeros(2)))
    assert number_of({"a": 1, "b": 2}) == number_of({"b": 2, "a": 1})
    with pytest.raises(GameError, match="method `key`"):
        number_of({"f": iter([])})


def test_states_without_key_are_compared_by_what_they_hold() -> None:
    keyless = type("Keyless", (corridor.Corridor,), {"key": None, "copy": None})
    game = from_class(keyless)
    found = solve(game, game.load("$.@.D", "c"), UTILITY, horizon=8)
    assert found.proven and found.utility == pytest.approx(0.994)


METRIC = (Metric("A", "a", "a number"),)


class Broken:
    actions = ("go",)
    metrics = METRIC
    answers: Any = ("go",)
    said: Any = None
    measured: Any = {"A": 0}  # noqa: RUF012

    @classmethod
    def from_text(cls, text: str) -> Broken:
        if not text:
            raise ValueError("an empty level")
        return cls()

    def legal(self) -> Any:
        return self.answers

    def apply(self, action: str) -> None:
        pass

    def over(self) -> Any:
        return self.said

    def measure(self) -> Any:
        return self.measured


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"answers": ["go", "go"]}, "gives 2 actions, max_actions is 1"),
        ({"answers": ["stop"]}, "'stop', its `actions` are go"),
        ({"said": True}, "over gives True"),
        ({"said": "lose"}, "over gives 'lose'"),
        ({"said": 9}, "over gives 9"),
        ({"measured": {"B": 1}}, "measure lacks 'A'"),
    ],
)
def test_what_a_class_does_wrong_is_told(attributes: dict[str, Any], message: str) -> None:
    game = from_class(type("Broken", (Broken,), attributes))
    with pytest.raises(GameError, match=message):
        plan(game, game.load("x", "x"), parse("A"), TreePolicy.ucb1(), Budget(20))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"metrics": ()}, "no metrics"),
        ({"legal": None}, "lacks the methods legal"),
        ({"actions": ()}, "set max_actions"),
    ],
)
def test_what_a_class_lacks_is_told(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError, match=message):
        from_class(type("Broken", (Broken,), attributes))


def test_a_level_that_is_none_is_told_with_its_place() -> None:
    with pytest.raises(LevelError, match=r"levels/empty.txt: Broken cannot read the level: an empty level"):
        from_class(Broken).load("", "empty", "levels/empty.txt")


def test_actions_have_names_that_are_read_again() -> None:
    assert [GAME.action_name(LEVEL, LEVEL.start, a) for a in (0, 1)] == ["left", "right"]
    assert GAME.parse_action(LEVEL, LEVEL.start, "right") == 1
    with pytest.raises(SettingsError, match="no such action"):
        GAME.parse_action(LEVEL, LEVEL.start, "up")


def facts(game: Game, level: Level, state: Any = None) -> list[int]:
    """Return the variables of a state, the start if none is given."""
    assert game.novelty is not None
    function, count = game.novelty(level)
    out = np.full(count, -7, dtype=np.int64)
    written = function(level.tables, level.start if state is None else state, out)
    return [int(v) for v in out[:written]]


class Keys:
    """A player strikes three of 25 keys at a time."""

    metrics = (Metric("SUM", "sum", "of all keys struck", high=1000),)

    def __init__(self, sum: int = 0) -> None:
        self.sum = sum

    @classmethod
    def from_text(cls, text: str) -> Keys:
        return cls()

    def legal(self) -> list[str]:
        return list(self.actions)

    actions = tuple(f"{a}-{b}-{c}" for a in range(25) for b in range(25) for c in range(25))

    def apply(self, action: str) -> None:
        self.sum += sum(map(int, action.split("-")))

    def over(self) -> str | None:
        return "won" if self.sum > 500 else None

    def measure(self) -> dict[str, float]:
        return {"SUM": self.sum}


@pytest.mark.parametrize("settings", [SearchSettings.paper(), SearchSettings.single(), SearchSettings.anytime()])
def test_the_same_many_actions_are_looked_up_once(settings: SearchSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    game = from_class(Keys, horizon=20)
    asked = list[str]()

    class Numbers(dict[str, int]):
        def __getitem__(self, action: str) -> int:
            asked.append(action)
            return super().__getitem__(action)

    plain = game.rules().step.__self__  # type: ignore[attr-defined]
    monkeypatch.setattr(plain, "number", Numbers(plain.number))
    utility = parse("SUM", game.symbols)
    found = plan(game, game.load("", "l"), utility, TreePolicy.utility(utility), Budget(20), settings, seed=1)
    assert found.iterations == 20 and len(Keys.actions) <= len(asked) < 2 * len(Keys.actions)


@pytest.mark.parametrize("actions", [(*Keys.actions[:-1], "a"), (*Keys.actions[:-1], "0-0-0")])
def test_one_of_many_actions_that_is_none_is_told(actions: tuple[str, ...]) -> None:
    class Wrong(Keys):
        def legal(self) -> list[str]:
            return list(Keys.actions if self.sum == 0 else actions)

    game = from_class(Wrong, horizon=20)
    with pytest.raises(GameError, match="after 1 move"):
        plan(game, game.load("", "l"), parse("SUM", game.symbols), TreePolicy.ucb1(), Budget(20), seed=1)


def test_a_class_says_what_can_still_be_reached() -> None:
    level = GAME.load("$..@.$.D", "c")
    assert GAME.reach is not None
    out = np.zeros(6)
    GAME.reach()(level.tables, level.start, 2, out)
    assert out.tolist() == [0, 0, 0, np.inf, 0.5, 1]
    GAME.reach()(level.tables, level.start, 3, out)
    assert out[4] == 1
    found = solve(GAME, LEVEL, UTILITY)
    without = solve(dataclasses.replace(GAME, reach=None), LEVEL, UTILITY)
    assert found.proven and found.actions == without.actions and found.states <= without.states


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3, r"Broken.reach gives 3 at the start, expected \(lowest, highest\) of metrics: \{A\}"),
        ({"B": (0, 1)}, r"Broken.reach names 'B' at the start, expected .*A"),
        ({"A": 1}, r"gives 1 at the start, expected two numbers, \(lowest, highest\), for A"),
        ({"A": ("0", 1)}, "expected two numbers"),
        ({"A": (2, 1)}, "expected the lowest first and then the highest for A"),
        ({"A": (float("nan"), 1)}, "expected the lowest first"),
    ],
)
def test_limits_that_are_none_are_told(answer: Any, message: str) -> None:
    game = from_class(type("Broken", (Broken,), {"reach": lambda self, moves: answer}))
    assert game.reach is not None
    with pytest.raises(GameError, match=message):
        game.reach()(np.empty(0), game.load("x", "x").start, 1, np.zeros(2))


def test_an_exception_of_reach_and_novelty_has_its_line() -> None:
    wrong = {"reach": lambda self, moves: 1 / 0, "novelty": lambda self: 1 / 0}
    game = from_class(type("Broken", (Broken,), wrong))
    level = game.load("x", "x")
    assert game.reach is not None and game.novelty is not None
    with pytest.raises(GameError, match=r"test_python_game.py:\d+: Broken.reach raises ZeroDivisionError"):
        game.reach()(level.tables, level.start, 1, np.zeros(2))
    with pytest.raises(GameError, match=r"test_python_game.py:\d+: Broken.novelty raises ZeroDivisionError"):
        game.novelty(level)


def test_limits_of_a_class_that_do_not_hold_are_found() -> None:
    timid = type("Timid", (corridor.Corridor,), {"copy": None, "reach": lambda self, moves: {"OUT": (0, 0)}})
    game = from_class(timid)
    with pytest.raises(GameError, match=r"(?s)level short, after .*found: OUT 1\n  expected: 0 to 0"):
        check_game(game, [game.load("@.D", "short")], seed=1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3, "gives 3 at the start, expected a tuple of whole numbers"),
        ((1, 0.5), "gives .1, 0.5. at the start, expected a tuple of whole numbers"),
        (("a",), "expected a tuple of whole numbers"),
    ],
)
def test_novelty_that_is_none_is_told(answer: Any, message: str) -> None:
    game = from_class(type("Broken", (Broken,), {"novelty": lambda self: answer}))
    with pytest.raises(GameError, match=message):
        facts(game, game.load("x", "x"))


def test_a_class_says_what_makes_a_state_new() -> None:
    level = GAME.load("$..@.$.D", "c")
    assert facts(GAME, level) == [3, 1, 1]
    assert facts(GAME, level, GAME.replay(level, [1, 1])[-1]) == [5, 1, 0]
    large = from_class(type("Large", (Broken,), {"novelty": lambda self: (2**70, -(2**63), True)}))
    first, *others = facts(large, large.load("x", "x"))
    assert 0 <= first < 2**63 and others == [-(2**63), 1]


class Knight:
    """A state without `key` and `novelty`."""

    actions = ("wait", "rest", "take")
    metrics = METRIC

    def __init__(self) -> None:
        self.turns, self.left = 0, 9
        self.where, self.items, self.bag = [2, 3], frozenset({"sword", "apple"}), {"gold": 1}
        self.mood: Any = Mood.CALM
        self.friends: list[Any] = [None, 2.5]

    @classmethod
    def from_text(cls, text: str) -> Knight:
        return cls()

    def legal(self) -> Any:
        return self.actions

    def apply(self, action: str) -> None:
        self.turns, self.left = self.turns + 1, self.left - 1
        if action == "take":
            self.items, self.bag = self.items - {"apple"}, {**self.bag, "apple": 1}
            self.mood = Mood.GLAD

    def over(self) -> Any:
        return None

    def measure(self) -> Any:
        return {"A": 0}


class Mood(enum.Enum):
    CALM, GLAD = range(2)


def test_without_novelty_every_attribute_counts_but_those_that_count_moves() -> None:
    game = from_class(Knight)
    level = game.load("x", "x")
    start = facts(game, level)
    mood, gold, none, half, apple, sword, x, y = start
    assert (gold, apple, sword, x, y) == (1, 1, 1, 2, 3) and len({mood, none, half}) == 3
    assert facts(game, level, game.replay(level, [0, 1, 0])[-1]) == start
    after = facts(game, level, game.replay(level, [0, 2])[-1])
    assert after[0] != mood and after[1] == 1 and after[3:] == [none, half, 0, 1, 2, 3]


def test_members_without_an_order_are_ordered_by_their_contents() -> None:
    def numbers(items: list[Any]) -> list[int]:
        found = novel.NumberFacts()
        found.add(set(items), set(items))
        found.add({item: k for k, item in enumerate(items)}, {item: k for k, item in enumerate(items)})
        return [found._place(item) for item in sorted(set(items), key=found._place)]

    items = [frozenset({f"{a}{b}" for b in range(9)}) for a in range(9)]
    assert numbers(items) == numbers(items[::-1]) and len(set(numbers(items))) == 9
    assert all("frozenset" not in place for place in numbers(items)), "the text of a set hangs on the process"


def test_without_novelty_the_elements_of_a_key_count() -> None:
    plain = type("Plain", (corridor.Corridor,), {"copy": None, "novelty": None})
    game = from_class(plain)
    level = game.load("$..@.$.D", "c")
    assert facts(game, level) == [3, 0, 5] and facts(game, level, game.replay(level, [1, 1])[-1]) == [5, 0]


def test_what_does_not_fit_is_left_out_and_a_state_that_holds_itself_is_no_harm() -> None:
    class Growing(Broken):
        def __init__(self) -> None:
            self.board: list[Any] = [0] * 5000
            self.me = [self]

        def key(self) -> int:
            return 0

    game = from_class(Growing)
    level = game.load("x", "x")
    assert len(facts(game, level)) == 4096
    assert check_game(game, [level], games=1, moves=3) == 4


@pytest.mark.parametrize("care", ["B", "A +", 3, ("A",)])
def test_care_is_a_formula_over_the_metrics(care: Any) -> None:
    with pytest.raises(
        GameError, match=r"(?s)Broken.care is not a formula over the class's metrics\n  found: .*hint: "
    ):
        from_class(type("Broken", (Broken,), {"care": care}))
    assert from_class(type("Broken", (Broken,), {"care": "2 * A"})).care == "2 * A"
