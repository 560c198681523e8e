"""Tests that the search inside a C# game equals the one that its policy was evolved for: same visits, same plan.

With rollouts by weights, `paths.cs` has no luck in them. Uniform rollouts, ties, and a random order of expansion draw
random numbers, which are the same on both sides, too.
"""

import subprocess
import time
from dataclasses import replace

import pytest

from persona_evo.connect.description_file import read
from persona_evo.connect.game import of
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
    """The game of a description with these lines."""
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
