"""Tests AN and AR (all moves as first) against a search in plain Python that stores every iteration."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.agents.agent_files import load_agents
from persona_evo.agents.agent_seat import AgentSeat
from persona_evo.errors import FormulaError, SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.search.actor import Actor
from persona_evo.search.layout import NODES
from persona_evo.search.plan import plan
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, DEPTH, NOBODY, PARENT, SLOT, TOTAL, VISITS
from persona_evo.search.tree_policy import TreePolicy, variables
from persona_evo.seeds import below, derive, stream
from tests.examples import lanes

LANES, COLOSSEUM = lanes.GAME, registry.get("colosseum")
RAVE = "R + sqrt(20/(3*P + 20))*(AR - R) + 0.4*sqrt(log(P)/N) + 0.001*AN"
WITH_PARTS = f"{RAVE} - 0.01*WA*R - 0.02*OWA + sqrt(P)*0.01/N"
RULES = SearchSettings(rollout=200, value="mean")


class Node:
    """A node that remembers each iteration through it: (moves from here on, utility of each player)."""

    def __init__(self, state: Any, action: int = -1, parent: Node | None = None) -> None:
        self.state, self.action, self.parent = state, action, parent
        self.children: list[Node] = []
        self.untried: list[int] | None = None
        self.through: list[tuple[list[tuple[int, int]], list[float]]] = []
        self.born = len(parent.through) if parent else 0

    def later(self, player: int) -> list[float]:
        """What iterations through the parent were worth in which it made this node's move, since there is this node."""
        assert self.parent is not None
        return [u[player] for moves, u in self.parent.through[self.born :] if (player, self.action) in moves]


def reference(game: Game, level: Level, utility: Formula, policy: Formula, iterations: int, seed: int) -> Node:
    """Return the whole search again, slowly: same stream of random numbers, same order of untried moves."""
    rules, tables = game.rules(costly=True), level.tables
    rng, out = stream(derive(seed, "move", 1)), np.zeros(len(game.metrics))
    actions, played = np.zeros(level.max_actions, dtype=np.int64), np.zeros(1, dtype=np.int64)
    root = Node(game.start(level))

    def measured(state: Any, player: int) -> dict[str, float]:
        rules.measure(tables, state, player, out)
        return dict(zip(game.symbols, map(float, out), strict=True))

    def worth(child: Node, depth: int) -> float:
        parent = child.parent
        assert parent is not None
        player = int(rules.mover(tables, parent.state))
        us = [u[player] for _, u in child.through]
        later = child.later(player)
        n, mean = len(us), sum(us) / len(us)
        values = {
            "R": mean,
            "N": n,
            "P": len(parent.through),
            "D": depth,
            "RMAX": max(us),
            "RSD": 0.0,
            "AN": len(later),
            "AR": sum(later) / len(later),
        }
        return policy.evaluate(measured(child.state, player) | values)

    for _ in range(iterations):
        node, depth = root, 0
        while rules.over(tables, node.state) == RUNNING:
            if node.untried is None:
                node.untried = [int(a) for a in actions[: rules.legal(tables, node.state, actions)]]
            depth += 1
            if node.untried:
                state, action = node.state.copy(), node.untried.pop(0)
                rules.step(tables, state, action, rng)
                child = Node(state, action, node)
                node.children.insert(0, child)
                node = child
                break
            scores = [worth(c, depth) for c in node.children]
            best = [c for c, s in zip(node.children, scores, strict=True) if s == max(scores)]
            node = best[below(rng, len(best))] if len(best) > 1 else best[0]
        state, rolled = node.state.copy(), []
        while rules.over(tables, state) == RUNNING:
            player = int(rules.mover(tables, state))
            rules.rollout(tables, state, actions, played, 1, rng, np.zeros((1, len(game.metrics))), 0)
            rolled.append((player, int(played[0])))
        utilities = [utility.evaluate(measured(state, p)) for p in range(game.players)]
        moves: list[tuple[int, int]] = rolled
        node.through.append((moves, utilities))
        while node.parent is not None:
            moves = [(int(rules.mover(tables, node.parent.state)), node.action), *moves]
            node = node.parent
            node.through.append((moves, utilities))
    return root


def kept(actor: Actor) -> dict[tuple[int, ...], tuple[float, ...]]:
    """By path: visits and total of each node, AN and total behind AR."""
    tree, counts = actor._engine.work.tree, actor._engine.work.buffers.counts
    at = tree.columns.moves
    found = {}
    for i in range(1, int(counts[NODES])):
        slot = tree.nodes[i, SLOT]
        row = map(float, tree.values[slot, [TOTAL, at, at + 1]])
        found[tuple(tree.path(i))] = (float(tree.links[slot, VISITS]), *row)
    return found


def wanted(game: Game, level: Level, root: Node) -> dict[tuple[int, ...], tuple[float, ...]]:
    """Return the same of the reference."""
    found, waiting = {}, [((), root)]
    for path, node in waiting:
        player = int(game.rules().mover(level.tables, node.state))
        for child in node.children:
            own = [u[player] for _, u in child.through]
            later = child.later(player)
            found[*path, child.action] = (float(len(own)), sum(own), float(len(later)), sum(later))
            waiting.append(((*path, child.action), child))
    return found


@pytest.mark.parametrize(
    ("game", "text", "utility", "iterations"),
    [(LANES, RAVE, "LEAD", 300), (COLOSSEUM, RAVE, "WIN", 400), (COLOSSEUM, WITH_PARTS, "WIN", 400)],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_all_is_as_in_plain_python(game: Game, text: str, utility: str, iterations: int, seed: int) -> None:
    level = game.load("random 5 seed 8", "tiny")
    policy, goal = TreePolicy.of(text, game, moves=True), parse(utility, game.symbols)
    actor = Actor(game, level, goal, policy, Budget(iterations), RULES, seed=seed)
    actor.think(game.start(level))
    assert policy.formula is not None
    root = reference(game, level, goal, policy.formula, iterations, seed)
    found, expected = kept(actor), wanted(game, level, root)
    assert found.keys() == expected.keys()
    for path, row in expected.items():
        assert found[path] == pytest.approx(row), path
    assert sum(row[2] > row[0] for row in found.values()) > len(found) / 10, "moves are made later, too"


def test_statistics_stay_with_the_part_of_the_tree_that_is_kept() -> None:
    level = COLOSSEUM.load("random 6 seed 1", "six")
    policy = TreePolicy.of(WITH_PARTS, COLOSSEUM, moves=True)
    actor = Actor(COLOSSEUM, level, parse("WIN"), policy, Budget(600), RULES, seed=1)
    state = COLOSSEUM.start(level)
    action = actor.choose(state)
    before = {path[1:]: row for path, row in kept(actor).items() if path[0] == action and len(path) > 1}
    actor.follow(action)
    assert before and kept(actor) == before
    COLOSSEUM.rules().step(level.tables, state, action, stream(1))
    move = actor.think(state)
    assert move.kept == len(before) + 1
    assert all(n <= an for n, _, an, _ in kept(actor).values())


def test_the_answer_alone_may_read_them() -> None:
    level = COLOSSEUM.load("random 6 seed 1", "six")
    start, goal = COLOSSEUM.start(level), parse("WIN")
    plain = Actor(COLOSSEUM, level, goal, None, Budget(500), RULES, seed=3)
    told = Actor(COLOSSEUM, level, goal, None, Budget(500), RULES, choose=parse("AR + 0*AN"), seed=3)
    move = told.think(start)
    rows = {path[0]: row for path, row in kept(told).items() if len(path) == 1}
    assert rows[move.action][3] / rows[move.action][2] == max(total / n for _, _, n, total in rows.values())
    assert plain.think(start).iterations == move.iterations == 500
    widths = [actor._engine.work.tree.columns.width for actor in (plain, told)]
    assert widths[0] + 2 == widths[1], "no room is taken where nobody reads them"


def test_with_chance_too() -> None:
    game, goal = lanes.WINDY, parse("LEAD")
    level = game.load("", "windy")
    policy = TreePolicy.of("R + 0.3*sqrt(log(P)/N) + 0.1*AR", game, moves=True)
    actor = Actor(game, level, goal, policy, Budget(300), SearchSettings(value="mean"), seed=1)
    actor.think(game.start(level))
    work, rows = actor._engine.work, kept(actor)
    tree, nodes = work.tree, work.tree.nodes
    assert any(an > n for n, _, an, _ in rows.values())
    for n, _, an, _ in rows.values():
        assert an >= n
    for i in range(1, int(work.buffers.counts[NODES])):
        assert nodes[i, PARENT] != NOBODY and nodes[i, DEPTH] >= 1 and nodes[i, ACTION] >= 0
        assert rows[tuple(tree.path(i))][2] <= tree.links[nodes[nodes[i, PARENT], SLOT], VISITS]


def test_they_are_no_part_of_other_searches() -> None:
    game = registry.get("minidungeons2")
    assert not {"AN", "AR"} & set(variables(game)) and variables(game, moves=True)[-2:] == ("AN", "AR")
    with pytest.raises(FormulaError, match="AR"):
        TreePolicy.of("R + AR", game)
    level = game.load("XXXX\nXHeX\nXXXX", "tiny")
    with pytest.raises(SettingsError, match="AR"):
        plan(game, level, parse("PE"), TreePolicy.of("R + AR", game, moves=True), Budget(10))


def test_a_game_keeps_its_own_names() -> None:
    renamed = dataclasses.replace(
        COLOSSEUM, metrics=(dataclasses.replace(COLOSSEUM.metrics[0], symbol="AN"), *COLOSSEUM.metrics[1:])
    )
    assert variables(renamed, moves=True) == variables(renamed)
    policy = TreePolicy.of("R + sqrt(log(P)/N) + 0*AN", renamed, moves=True)
    actor = Actor(renamed, COLOSSEUM.load("random 5", "r"), parse("WIN"), policy, Budget(50), RULES)
    assert not actor._amaf


def test_the_agent_plays_the_same_from_the_same_seed() -> None:
    level = COLOSSEUM.load("random 6", "six")
    agents = load_agents(Path(COLOSSEUM.agents), COLOSSEUM)
    rave = agents["uct_rave"].with_budget(200, None)
    minds = [AgentSeat(rave, COLOSSEUM, level, seed) for seed in (1, 1, 2)]
    trees = []
    for mind in minds:
        mind.choose(COLOSSEUM.start(level, 4))
        assert mind._actor is not None and mind._actor._amaf
        trees.append(kept(mind._actor))
    assert trees[0] == trees[1] != trees[2]


def test_random_games_that_are_one_piece_have_no_moves_of_their_own() -> None:
    """Of the variant `unswapped` each move asked for by itself would be the other player's, and be put down to me."""
    level, goal = COLOSSEUM.load("random 6 seed 1", "six"), parse("WIN")
    policy = TreePolicy.of("R + 0.1*AR", COLOSSEUM, moves=True)
    for settings, variant in ((RULES, "unswapped"), (dataclasses.replace(RULES, variant="unswapped"), "")):
        with pytest.raises(SettingsError, match="do not keep AR"):
            Actor(COLOSSEUM, level, goal, policy, Budget(50), settings, variant=variant)
        with pytest.raises(SettingsError, match="do not keep AN and AR"):
            Actor(COLOSSEUM, level, goal, None, Budget(50), settings, choose=parse("AR*AN"), variant=variant)
        assert Actor(COLOSSEUM, level, goal, None, Budget(50), settings, variant=variant).think(level.start).iterations


@pytest.mark.parametrize("variant", sorted(COLOSSEUM.variants))
def test_the_games_that_are_one_piece_are_those_that_are_declared_so(variant: str) -> None:
    """ObjectSpace for one by one, random moves of a variant are those of the whole game, made by whom `mover` says."""
    level, rules = COLOSSEUM.load("random 7", "seven"), COLOSSEUM.variants[variant]()
    actions, seen = np.zeros(level.max_actions, dtype=np.int64), np.zeros((1, len(COLOSSEUM.metrics)))
    same = []
    for seed in range(5):
        whole, played = COLOSSEUM.start(level, seed), np.zeros(12, dtype=np.int64)
        made = rules.rollout(level.tables, whole, actions, played, 12, stream(seed), seen, 0)
        state, luck, one, moves = COLOSSEUM.start(level, seed), stream(seed), np.zeros(1, dtype=np.int64), []
        for _ in range(made):
            rules.rollout(level.tables, state, actions, one, 1, luck, seen, 0)
            moves.append(int(one[0]))
        same.append(moves == played[:made].tolist() and bool((state == whole).all()))
    assert all(same) == (variant not in COLOSSEUM.whole_games)
