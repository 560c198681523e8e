"""Tests the search over prefixes: the same result however it is played, correct to the last choice, saved and read."""

import dataclasses
import math
import os
import signal

import numpy as np
import pytest

from persona_evo.connect.tree import PARENT, STATUS, PrefixTree
from persona_evo.errors import ConnectError, FormulaError, GameError, RunError
from persona_evo.formula import parse
from persona_evo.games import mapsets
from persona_evo.games.core import WON
from persona_evo.search.plan import PlanJob, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import SLOT
from persona_evo.search.tree_policy import TreePolicy
from tests.connect.driving import describe, faulty, game, none_left

ANYTIME = SearchSettings.anytime()


def searched(file, level="default@3", policy=None, budget=300, seed=4, settings=ANYTIME, tell=None, utility="SCORE"):
    """(search, samples, plan) of one search in processes of its own."""
    found, running = game(file)
    samples = []

    def both(sample):
        samples.append(sample)
        if tell is not None:
            tell(sample, running)

    try:
        (loaded,) = mapsets.resolve(found, [level])
        planner = planner_for(found, loaded, settings, 100_000)
        chosen = policy(found) if policy else TreePolicy.ucb1()
        search = planner.search(parse(utility, found.symbols), chosen, seed, both)
        search.spend(Budget(budget), 0.0)
        return search, samples, planner.plan_of(search, seed, 0.0)
    finally:
        running.close()


def nothing_is_pending(search):
    """Return whether no link of the tree waits for a rollout."""
    tree = search.engine.work.search.tree
    return not tree.links[tree.nodes[: search.tree.nodes, SLOT], 2 * tree.columns.pending].any()


def same(a, b):
    """Return whether two searches made the same tree, count and plan."""
    return (
        a[1] == b[1]
        and a[2] == dataclasses.replace(b[2], seconds=a[2].seconds)
        and np.array_equal(a[0].tree.links, b[0].tree.links)
    )


def test_a_tiny_game_is_explored_to_its_end_and_proven(tmp_path):
    search, samples, plan = searched(faulty(tmp_path, ""), "default", budget=1000)
    assert plan.proven and plan.stopped == "exhausted"
    assert plan.utility == 15 and plan.actions == (1, 1, 1, 1)
    assert search.tree.nodes == 31 and search.tree.explored
    assert {s.utility for s in samples} == set(range(16))
    ends = [n for n in search.tree.walk() if n.count == 0]
    assert len(ends) == 16 and all(n.status == "done" and len(n.choices) == 4 for n in ends)


@pytest.mark.parametrize(
    "policy",
    [
        None,
        lambda g: TreePolicy.of("HEIGHT - 0.1 * TURN + R + sqrt(log(P) / N)", g),
        lambda g: TreePolicy.of("HEIGHT", g),
    ],
)
def test_every_policy_proves_a_small_game(tmp_path, policy):
    _, _, plan = searched(describe(tmp_path), "short@5", policy, budget=2000)
    assert plan.proven and plan.utility == 3


def test_the_number_and_speed_of_workers_change_nothing(tmp_path):
    def file(name, top):
        return faulty(tmp_path / name, "slow", top, "")

    one = searched(file("a", "workers = 1"), "default", budget=60)
    four = searched(file("b", "workers = 4"), "default", budget=60)
    eight = searched(file("c", "workers = 8\nslots = 8"), "default", budget=60)
    assert same(one, four) and same(one, eight)
    other = searched(file("d", "workers = 1\nslots = 2"), "default", budget=60)
    assert not same(one, other)


def test_eight_workers_lose_nothing(tmp_path):
    search, samples, plan = searched(describe(tmp_path, top="workers = 8\nslots = 16"), "long@1", budget=400)
    assert [s.number for s in samples] == list(range(400))
    one, alone, _ = searched(describe(tmp_path / "one", top="workers = 1\nslots = 16"), "long@1", budget=400)
    assert alone == samples and one.lost == 0
    assert plan.iterations == 400 and search.lost == 0
    assert search.tree.node(0).visits == 400
    assert nothing_is_pending(search)
    assert none_left(tmp_path)


@pytest.mark.parametrize("top", ["slots = 1", "workers = 2\nslots = 3"])
def test_searches_side_by_side_come_to_what_each_comes_to_alone(tmp_path, top):
    found, running = game(describe(tmp_path, top=top))
    try:
        jobs = []
        # "short" is another map, and is explored long before the budget is spent.
        for k, level in enumerate(mapsets.resolve(found, ["long@1-5", "short@5", "short@6", "long@6"])):
            planner = planner_for(found, level, ANYTIME, 1_000)
            policy = TreePolicy.of("HEIGHT + R", found) if k % 2 else TreePolicy.ucb1()
            jobs.append(PlanJob(planner, parse("SCORE", found.symbols), policy, Budget(100 + k), k))
        together = list(found.outside.plans(iter(jobs), None))
        alone = [planner.plan(*rest) for planner, *rest in jobs]
    finally:
        running.close()
    assert [dataclasses.replace(plan, seconds=0.0) for plan in together] == [
        dataclasses.replace(plan, seconds=0.0) for plan in alone
    ]
    assert {plan.stopped for plan in together} == {"budget", "exhausted"}
    assert len({plan.seconds for plan in together[:5]}) == 1, "levels of one map share the time that they took together"


FIRST_WIN = dataclasses.replace(ANYTIME, stop="first_win")


def test_a_search_for_a_win_ends_with_the_first_won_state_in_its_tree(tmp_path):
    file = describe(tmp_path, tables='[outcome]\nwon = "3.5 - HEIGHT"')
    search, samples, plan = searched(file, "default@3", settings=FIRST_WIN)
    assert plan.stopped == "win" and plan.outcome == WON and search.best == samples[-1]
    assert samples[-1].metrics["HEIGHT"] < 3.5 < max(sample.metrics["HEIGHT"] for sample in samples)
    assert len(samples) > len(plan.actions) == 6, "one rollout for each state on the way"


REVISIT = dataclasses.replace(ANYTIME, terminal="revisit")


def test_a_worker_killed_in_mid_run_changes_nothing(tmp_path):
    def kill(sample, running):
        if sample.number == 100:
            pool = next(iter(running._pools.values()))
            os.kill(pool.pids[2], signal.SIGKILL)
            killed.append(pool)

    killed = []
    a = searched(describe(tmp_path / "a", top="workers = 4"), "long@1", budget=400)
    b = searched(describe(tmp_path / "b", top="workers = 4"), "long@1", budget=400, tell=kill)
    assert killed[0].restarted == 1 and not any(found.again for found in killed[0].findings)
    assert len(a[1]) == 400 and same(a, b)
    assert none_left(tmp_path)


def test_seeds_count(tmp_path):
    file = describe(tmp_path)
    assert same(searched(file, seed=1), searched(file, seed=1))
    assert searched(file, seed=1)[1] != searched(file, seed=2)[1]
    assert searched(file, "default@1")[2].actions != searched(file, "default@2")[2].actions


def test_a_game_that_changes_its_mind_ends_the_search(tmp_path):
    with pytest.raises(GameError, match="not deterministic: at decision 2"):
        searched(faulty(tmp_path, "chance"), "default", budget=500)
    assert none_left(tmp_path)


@pytest.mark.parametrize(("fault", "top"), [("raise", "workers = 1\nslots = 1"), ("kill", "workers = 2\nslots = 2")])
def test_a_part_of_the_game_that_fails_is_left_out_and_reported(tmp_path, fault, top):
    file = faulty(tmp_path, fault, top, "[restarts]\na_minute = 1000\nin_all = 1000\n")
    search, samples, plan = searched(file, "default", budget=1000)
    assert plan.utility == 15 and not plan.proven and plan.stopped == "exhausted"
    assert search.lost > 0 and {s.utility for s in samples} == {*range(8), *range(12, 16)}
    findings = (tmp_path / "logs" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(findings) == search.lost
    assert nothing_is_pending(search)


def test_a_game_that_always_fails_is_an_error(tmp_path):
    with pytest.raises(ConnectError, match="not be played to its end a single time"):
        source = faulty(tmp_path, "raise")
        script = tmp_path / "faulty.py"
        script.write_text(script.read_text(encoding="utf-8").replace("made == [1, 0]", "True"), encoding="utf-8")
        searched(source, "default", budget=100)


def test_negative_scores_are_searched_as_others_are(tmp_path):
    _, samples, plan = searched(describe(tmp_path), "default:loose@1", utility="-5 - HEIGHT - TURN", budget=2000)
    assert plan.utility == max(s.utility for s in samples) < -5
    assert plan.proven


def test_the_constant_inside_the_root_is_the_root_of_it_outside(tmp_path):
    inside = describe(tmp_path / "a", top='constant = "inside"\nslots = 3')
    outside = describe(tmp_path / "b", top="slots = 3")
    a = searched(inside, "long@1", lambda g: TreePolicy.ucb1(1000.0), budget=300)
    b = searched(outside, "long@1", lambda g: TreePolicy.ucb1(math.sqrt(1000.0)), budget=300)
    c = searched(outside, "long@1", lambda g: TreePolicy.ucb1(1000.0), budget=300)
    assert a[1] == b[1] and a[1] != c[1]


def test_revisit_counts_known_ends_again_and_cut_off_never(tmp_path):
    file = faulty(tmp_path, "", "slots = 1", "")
    search, samples, plan = searched(file, "default", budget=400, settings=REVISIT)
    assert plan.iterations == 400 and not plan.proven
    assert len(samples) == search.tree.nodes < 400, "no end is played again"
    assert search.tree.node(0).visits == 400
    cut, samples, _ = searched(file, "default", budget=400)
    assert len(samples) == cut.tree.node(0).visits < 60


def test_a_static_policy_that_only_sees_one_end_is_stuck_and_says_so(tmp_path):
    _, _, plan = searched(describe(tmp_path), "short@5", lambda g: TreePolicy.of("HEIGHT", g), 10_000, settings=REVISIT)
    assert plan.stopped == "stuck" and plan.iterations < 3000


def test_nodes_hold_what_the_game_reported(tmp_path):
    search, samples, _ = searched(describe(tmp_path), "default@3", budget=200)
    for node in search.tree.walk():
        if node.visits:
            depth = len(node.choices)
            below = [s for s in samples if tuple(c for c, _ in s.trace)[:depth] == node.choices]
            assert node.metrics["TURN"] == (depth if node.count else 6) and node.metrics["HEIGHT"] <= depth
            assert node.best in {s.utility for s in below} and 1 <= node.visits <= len(below)
            assert node.best >= node.mean - 1e-9 and node.metrics["SCORE"] == (0 if node.count else node.best)
    assert search.tree.node(0).visits == len(samples)
    assert search.tree.node(0).mean == pytest.approx(sum(s.utility for s in samples) / len(samples))


def test_random_expansion_and_horizon(tmp_path):
    file = describe(tmp_path, top="slots = 1")
    settings = dataclasses.replace(ANYTIME, expansion="random", horizon=2)
    search, _, plan = searched(file, "long@1", budget=500, settings=settings)
    assert plan.stopped == "exhausted" and not plan.proven
    assert max(len(n.choices) for n in search.tree.walk()) == 2
    ordered, _, _ = searched(file, "long@1", budget=10, settings=dataclasses.replace(ANYTIME, horizon=2))
    mixed, _, _ = searched(file, "long@1", budget=10, settings=settings)
    assert [n.choices for n in ordered.tree.walk()] != [n.choices for n in mixed.tree.walk()]


def test_a_full_tree_is_no_end(tmp_path):
    found, running = game(describe(tmp_path))
    try:
        (level,) = mapsets.resolve(found, ["long@1"])
        planner = planner_for(found, level, ANYTIME, 50)
        plan = planner.plan(parse("SCORE", found.symbols), TreePolicy.ucb1(), Budget(200), 1)
        assert (plan.nodes, plan.iterations, plan.stopped) == (50, 200, "memory")
        few = planner_for(found, level, ANYTIME, 50)
        assert few.plan(parse("SCORE", found.symbols), TreePolicy.ucb1(), Budget(None, None, 50), 1).stopped == "nodes"
    finally:
        running.close()


def test_the_tree_is_saved_and_read_again(tmp_path):
    search, _, _ = searched(describe(tmp_path), budget=300)
    file = tmp_path / "tree.npz"
    search.tree.save(file)
    again = PrefixTree.load(file)
    assert [*map(repr, again.walk())] == [*map(repr, search.tree.walk())]
    assert np.array_equal(again.links, search.tree.links)
    assert again.find((0, 1)).choices == (0, 1) and again.find((99,)) is None and again.find(()).number == 0
    with pytest.raises(IndexError):
        again.node(again.nodes)


@pytest.mark.parametrize("column", [PARENT, STATUS])
def test_a_damaged_tree_is_refused(tmp_path, column):
    links = np.array([[-1, -1, 0, 0, 0]])
    links[0, column] = 7
    PrefixTree(("A",), links, np.zeros((1, 3)), np.zeros((1, 1))).save(tmp_path / "tree.npz")
    with pytest.raises(RunError, match="damaged"):
        PrefixTree.load(tmp_path / "tree.npz")


@pytest.mark.parametrize("sizes", [((1, 4), (1, 1)), ((2, 3), (1, 1)), ((1, 3), (1, 2))])
def test_a_tree_with_too_many_numbers_is_refused(tmp_path, sizes):
    values, metrics = map(np.zeros, sizes)
    PrefixTree(("A",), np.array([[-1, -1, 0, 0, 0]]), values, metrics).save(tmp_path / "tree.npz")
    with pytest.raises(RunError, match="damaged"):
        PrefixTree.load(tmp_path / "tree.npz")


def test_a_tree_of_the_format_before_is_read(tmp_path):
    """Two nodes as version 1 of the file had them, with twelve columns of links."""
    links = np.array([[-1, 1, -1, 0, 2, 1, 3, 0, 0, 0, 1, 0], [0, -1, -1, 1, 0, 0, 2, 0, 1, 1, 0, 0]])
    values = np.array([[3.0, 2.0, 5.0], [3.0, 2.0, 5.0]])
    about = np.frombuffer(b'{"format": 1, "symbols": ["A"]}', dtype=np.uint8)
    np.savez(tmp_path / "tree.npz", links=links, values=values, metrics=np.zeros((2, 1)), about=about)
    root, end = PrefixTree.load(tmp_path / "tree.npz").walk()
    assert (root.count, root.visits, root.status, root.children) == (2, 3, "open", (1,))
    assert (end.choices, end.count, end.mean, end.status) == ((1,), 0, 1.5, "done")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04nothing", b"\x93NUMPY"])
def test_a_file_that_is_no_tree_is_refused(tmp_path, data):
    (tmp_path / "tree.npz").write_bytes(data)
    with pytest.raises(RunError):
        PrefixTree.load(tmp_path / "tree.npz")
    with pytest.raises(RunError):
        PrefixTree.load(tmp_path / "none.npz")


def test_a_pickle_in_a_tree_is_not_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "opened"),)

    about = np.frombuffer(b'{"format": 1, "symbols": []}', dtype=np.uint8)
    rows = np.array([Bomb()], dtype=object)
    np.savez(tmp_path / "tree.npz", links=rows, values=rows, metrics=rows, about=about)
    with pytest.raises(RunError):
        PrefixTree.load(tmp_path / "tree.npz")
    assert not (tmp_path / "opened").exists()


def test_rollouts_by_a_policy_look_one_decision_ahead(tmp_path):
    by = 'rollout = "policy"\npolicy = "{}"\nworkers = 2'
    _, climbing, _ = searched(describe(tmp_path / "a", top=by.format("HEIGHT")), "long@1", budget=8)
    assert climbing[0].score == 40 and climbing[-1].score >= 38
    _, falling, _ = searched(describe(tmp_path / "b", top=by.format("-HEIGHT")), "long@1", budget=8)
    assert falling[0].score == 0 and falling[-1].score <= 2


def test_a_policy_that_the_game_cannot_play_by_is_refused(tmp_path):
    by = 'rollout = "policy"\npolicy = "{}"'
    with pytest.raises(FormulaError, match=r"ladder.toml:\d"):
        searched(describe(tmp_path / "a", top=by.format("HEIGT")))
    with pytest.raises(ConnectError, match="cannot look ahead"):
        searched(faulty(tmp_path / "b", "", by.format("TURN")))
    assert none_left(tmp_path)
