"""Tests that the search inside a C# game equals the one that its policy was evolved for: same visits, same plan.

Rollouts, ties, a random order of expansion, the errors of players of limited skill, and the seeds that stand for what a
player cannot know draw random numbers, which are the same on both sides.
"""

import subprocess
import time
from dataclasses import replace

import pytest

from persona_evo.agents.agent import Agent
from persona_evo.agents.duel import Solo, plain
from persona_evo.agents.skill import FULL_SIGHT, LADDER, skill_to_dict
from persona_evo.agents.skilled_player import Skilled
from persona_evo.connect.description_file import read
from persona_evo.connect.game import of
from persona_evo.connect.search import ConnectedSearch
from persona_evo.connect.session import Session
from persona_evo.formula import parse
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import policies
from tests.connect.driving import GAMES
from tests.connect.test_csharp import BUILD, needs_mono
from tests.shared import ROOT

pytestmark = needs_mono
CORE = ROOT / "unity_support" / "package" / "Runtime" / "Core"
MIXED = "R + 0.5 * sqrt(log(P) / N) + 0.0001 * KEY"
ALL = "RMAX - 0.2 * RSD + 0.3 * R + sqrt(P) / N + 0.01 * D + SCORE - 0.0002 * KEY"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The game of `paths.cs`."""
    if not BUILD.is_file():
        pytest.skip("the C# client is not here (it stands in the repository, not in the package)")
    target = tmp_path_factory.mktemp("paths") / "paths.exe"
    shown = subprocess.run(
        ["mcs", "-langversion:6", f"-out:{target}", GAMES / "paths.cs", *sorted(CORE.glob("*.cs"))],
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    return target


def described(program, folder, top):
    """The game of a description with these lines, with a hidden coin if it is not deterministic."""
    if "deterministic" in top:
        top = f'arguments = ["hidden"]\n{top}'
    file = folder / "paths.toml"
    file.write_text(f'game = "{program}"\nlogs = "logs"\n{top}\n', encoding="utf-8")
    session = Session(read(file))
    return of(session), session


@pytest.mark.parametrize(
    ("top", "policy", "utility", "settings"),
    [
        ('slots = 1\nrollout = "weights"', {"formula": MIXED}, "KEY", {}),
        ('slots = 3\nrollout = "weights"', {"formula": MIXED}, "SCORE - 0.01 * ST", {}),
        ('slots = 8\nrollout = "weights"', {"formula": ALL}, "SCORE", {"value": "mean", "terminal": "revisit"}),
        ('slots = 2\nrollout = "policy"\npolicy = "0 - KEY"', {"formula": ALL}, "KEY", {"horizon": 3}),
        ('slots = 1\nrollout = "weights"\nhorizon = 4', {"kind": "ucb1", "c": 300.0}, "KEY", {}),
        ('slots = 2\nrollout = "weights"', {"kind": "ucb1"}, "300 * KEY", {}),
        ('slots = 3\nrollout = "weights"\nwidening = 2\npriors = false', {"kind": "ucb1"}, "300 * KEY", {}),
        ('slots = 3\nrollout = "weights"\nwidening = 2', {"kind": "ucb1"}, "300 * KEY", {}),
        ('slots = 1\nrollout = "weights"\nwidening = 3', {"kind": "ucb1", "c": 300.0}, "KEY", {"terminal": "revisit"}),
        ('slots = 4\nrollout = "weights"\nwidening = 2', {"formula": MIXED}, "SCORE - 0.01 * ST", {"horizon": 4}),
        ('slots = 2\nrollout = "weights"\nwidening = 3\npriors = false', {"formula": MIXED}, "SCORE - 0.01 * ST", {}),
        ('slots = 2\nrollout = "weights"', {"kind": "ucb1"}, "0.001 * KEY", {"horizon": 4}),
        ('slots = 1\nrollout = "uniform"', {"kind": "ucb1", "c": 300.0}, "KEY", {}),
        ('slots = 8\nrollout = "uniform"', {"formula": MIXED}, "SCORE - 0.01 * ST", {"expansion": "random"}),
        ('slots = 3\nrollout = "uniform"\nwidening = 3', {"kind": "ucb1"}, "300 * KEY", {"terminal": "revisit"}),
        ('slots = 2\nrollout = "uniform"', {"formula": "R + sqrt(log(P) / N)"}, "KEY > 500", {"expansion": "random"}),
        (
            'slots = 4\nrollout = "weights"\nconstant = "inside"',
            {"kind": "ucb1", "c": 3000.0},
            "KEY",
            {"terminal": "revisit"},
        ),
    ],
)
def test_the_search_in_the_game_is_the_drivers(program, tmp_path, top, policy, utility, settings):
    game, session = described(program, tmp_path, top)
    try:
        assert game.outside is not None
        rules = replace(SearchSettings.single(), **settings)
        own = policies.Policy(
            "paths", "paths", utility=utility, search=rules.to_dict(), connected=game.outside.ordering, **policy
        )
        file = policies.write(own, tmp_path / "policy.json")
        assert policies.read(file).connected == game.outside.ordering
        level = game.load("default@1", "one")
        tree_policy = policies.read(file).tree_policy(game)
        for iterations in (1, 7, 60, 250):
            planner = game.outside.planner(game, level, rules, 10_000)
            search = planner.search(parse(utility, game.symbols), tree_policy, seed=iterations + 5)
            search.spend(Budget(iterations=iterations), time.perf_counter())
            root = search.tree.node(0)
            visits = [0] * root.count
            for child in map(search.tree.node, root.children):
                visits[child.choices[-1]] = child.visits
            plan = [choice for choice, _ in search.best.trace]
            said = subprocess.run(
                ["mono", program, "search", file, str(iterations), str(iterations + 5)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            assert said[:3] == [str(search.iterations), ",".join(map(str, visits)), ",".join(map(str, plan))]
            assert float(said[3]) == pytest.approx(search.best.utility, rel=1e-12)
    finally:
        session.close()


@pytest.fixture
def thoughts(monkeypatch):
    """What the driver's searches for moves find: for each move the visits of all choices that were tried."""
    found = []
    original = ConnectedSearch.options

    def options(self):
        known = original(self)
        assert len({option.action for option in known}) == len(known), "no choice is tried twice"
        found.append({option.action: option.visits for option in known if option.visits})
        return known

    monkeypatch.setattr(ConnectedSearch, "options", options)
    return found


def played(program, file, level, seed, *words):
    """The choices of the C# client, and the visits before each where it searched."""
    said = subprocess.run(
        ["mono", program, *words, "play", file, str(level), str(seed)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = [line.split() for line in said]
    visits = [{i: int(n) for i, n in enumerate(row[1].split(",")) if int(n)} for row in rows if row[1] != "-"]
    return [int(row[0]) for row in rows], visits


WEIGHED = 'slots = 3\nrollout = "weights"\nworkers = 1\n'
EVEN = 'slots = 2\nrollout = "uniform"\nworkers = 1\n'
UCB1, OF_ALL = {"kind": "ucb1"}, {"formula": ALL}


@pytest.mark.parametrize("seeds", ["", "deterministic = false\nseeds = 3\n"])
@pytest.mark.parametrize(
    ("top", "policy", "skill", "agent"),
    [
        (EVEN, UCB1, None, {}),
        (EVEN, UCB1, None, {"search": {"expansion": "random"}}),
        (WEIGHED + "widening = 2", UCB1, None, {"search": {"expansion": "random"}, "answer": "mean"}),
        (EVEN + "widening = 3", OF_ALL, None, {"search": {"value": "mean", "horizon": 2}, "answer": "max"}),
        ('slots = 4\nrollout = "policy"\npolicy = "KEY"\nworkers = 1\n', OF_ALL, None, {}),
        (WEIGHED, {"formula": "KEY"}, None, {}),
        (EVEN, OF_ALL, FULL_SIGHT, None),
        (WEIGHED + "widening = 2", UCB1, LADDER["casual"], None),
        (EVEN, {"formula": "SCORE"}, LADDER["expert"], None),
    ],
)
@pytest.mark.parametrize("iterations", [1, 50])
def test_move_by_move_the_game_plays_as_the_driver_does(
    program, tmp_path, thoughts, top, policy, skill, agent, seeds, iterations
):
    game, session = described(program, tmp_path, seeds + top)
    try:
        level, utility = game.load("default@7", "one"), parse("1000 * KEY", game.symbols)
        budget = Budget(iterations=iterations)
        per_choice = skill is not None and skill != FULL_SIGHT
        if agent is None:
            player, how = Skilled(game, level, skill, per_choice), {"skill": skill_to_dict(skill, per_choice)}
        else:
            one = Agent("searcher", "search", utility=utility.text, **agent)
            player, how = Solo(game, level, one), {"agent": plain(one)}
        own = policies.Policy(
            *("paths", "paths"),
            utility=utility.text,
            budget=budget.to_dict(),
            connected=game.outside.ordering,
            **how,
            **policy,
        )
        file = policies.write(own, tmp_path / "policy.json")
        for seed in (1, 2):
            thoughts.clear()
            plan = player.plan(utility, policies.read(file).tree_policy(game), budget, seed)
            assert played(program, file, 7, seed, *(["hidden"] if seeds else [])) == ([*plan.actions], thoughts)
            assert len(thoughts) == len(plan.actions) == 6
            most = max(sum(tried.values()) for tried in thoughts)
            kept = not seeds and agent is not None
            assert iterations == 1 or (most > 50) == (per_choice or kept), "a tree that is kept holds more"
    finally:
        session.close()


@pytest.mark.parametrize(
    ("top", "policy"), [(EVEN, UCB1), (WEIGHED + "widening = 2", UCB1), (EVEN, OF_ALL), (EVEN + "widening = 3", OF_ALL)]
)
@pytest.mark.parametrize("expansion", ["ordered", "random"])
def test_a_whole_game_with_hidden_luck_is_played_as_the_driver_does(
    program, tmp_path, thoughts, top, policy, expansion
):
    game, session = described(program, tmp_path, f"deterministic = false\nseeds = 4\n{top}")
    try:
        rules = replace(SearchSettings.single(), expansion=expansion)
        level, utility = game.load("default@3", "one"), parse("1000 * KEY", game.symbols)
        for iterations in (5, 30, 400):
            budget = Budget(iterations)
            own = policies.Policy(
                *("paths", "paths"),
                **{"utility": utility.text, "budget": budget.to_dict(), "search": rules.to_dict()},
                connected=game.outside.ordering,
                **policy,
            )
            file = policies.write(own, tmp_path / "policy.json")
            thoughts.clear()
            search = game.outside.planner(game, level, rules, 10_000).search(
                utility, policies.read(file).tree_policy(game), seed=iterations
            )
            search.spend(budget, time.perf_counter())
            choices, visits = played(program, file, 3, iterations, "hidden")
            assert choices == [choice for choice, _ in search.best.trace] and visits == thoughts
        assert len(visits) == 6
    finally:
        session.close()
