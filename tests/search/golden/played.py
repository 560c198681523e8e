"""Cases of play move by move, of searches without a tree, and of the search by prefixes."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from persona_evo.agents.agent import Agent
from persona_evo.agents.agent_files import load_agents
from persona_evo.agents.agent_seat import AgentSeat
from persona_evo.agents.contest import contest
from persona_evo.agents.continuation import play_on
from persona_evo.agents.duel import Duel, Solo
from persona_evo.agents.skill import LADDER
from persona_evo.agents.skilled_player import SkilledPlayer
from persona_evo.connect.local_pool import LocalPool
from persona_evo.connect.ordering import Ordering
from persona_evo.connect.search import ConnectedSearch
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.search import bounds
from persona_evo.search.actor import Actor, play_game
from persona_evo.search.baselines import exhaustive, flat, random_games
from persona_evo.search.lookahead import METHODS, Allowance, Lookahead
from persona_evo.search.outlook import outlook
from persona_evo.search.problem import Problem
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import stream
from tests.examples import coin, corridor, lanes, nim
from tests.search.golden import Cases, Record
from tests.search.golden.planned import levels_of, moves, policy_of, record, utility_of

RAVE = "R + sqrt(20/(3*P + 20))*(AR - R) + 0.4*sqrt(log(P)/N) + 0.001*AN"
"""A policy that reads what only play move by move has."""


def _moves_policy(text: str, game: Game) -> TreePolicy:
    return TreePolicy.ucb1(0.7) if text == "ucb1" else TreePolicy.of(text, game, moves=True)


def _thought(actor: Actor, state: Any) -> Record:
    """Return what an actor thinks of a state: its choice, its tree and all options."""
    move = actor.think(state)
    return {
        "move": [move.action, move.iterations, move.nodes, move.kept, move.full],
        "options": [[o.action, o.visits, o.mean.hex(), o.max.hex()] for o in move.options],
    }


def _walked(game: Game, level: Level, actor: Actor, count: int) -> Record:
    """Return what an actor thinks in a game's first moves, which it makes itself."""
    state, thoughts = game.start(level, 1), []
    for _ in range(count):
        if game.over(level, state):
            break
        thoughts.append(_thought(actor, state))
        action = int(thoughts[-1]["move"][0])  # type: ignore[index]
        game.rules().step(level.tables, state, action, stream(9))
        actor.follow(action)
    return {"thoughts": thoughts}


def actors() -> Cases:
    """Single moves with all options, in games for one, for two and of chance; the tree goes on with the game."""
    md2, colosseum = registry.get("minidungeons2"), registry.get("colosseum")
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"rollout": 0},
        {"value": "mean"},
        {"expansion": "random"},
        {"horizon": 9},
        {"selection": "child"},
    )
    for text, change in itertools.product(("ucb1", "R - 0.1 * HL", "R + NM * 0.01 - RSD / N", RAVE), changes):
        (level,) = levels_of(md2, "train05")
        actor = Actor(
            md2,
            level,
            utility_of("monster_killer", md2),
            _moves_policy(text, md2),
            Budget(150),
            replace(SearchSettings.single(), **change),
            seed=3,
        )
        yield f"minidungeons2, {text}, {change}", _walked(md2, level, actor, 4)
    level = colosseum.load("random 6 seed 2", "six")
    for text, choose in itertools.product(
        ("ucb1", "R - 0.02 * WA + 0.3 * sqrt(log(P) / N)", RAVE), ("visits", "mean", "max", "R*N/(N + 2)")
    ):
        given = SearchSettings(rollout=200, value="mean")
        answer = parse(choose) if "/" in choose else choose
        actor = Actor(
            colosseum,
            level,
            parse("WIN - LOSS"),
            _moves_policy(text, colosseum),
            Budget(120),
            given,
            choose=answer,
            seed=4,
        )
        yield f"colosseum, {text}, {choose}", _walked(colosseum, level, actor, 3)
    few = Actor(md2, levels_of(md2, "train05")[0], utility_of("runner", md2), budget=Budget(None, nodes=60), seed=5)
    yield "minidungeons2, 60 nodes", _walked(md2, few.level, few, 3)
    small: tuple[tuple[Game, str, str], ...] = (
        (coin.GAME, "0.4 1", "PRIZE"),
        (lanes.GAME, "", "LEAD"),
        (nim.GAME, "9", "GAIN"),
    )
    for game, text, goal in small:
        for policy, seed in itertools.product(("ucb1", "R + 0.5 * sqrt(log(P) / N)", RAVE), (1, 2)):
            level = game.load(text, "level")
            actor = Actor(
                game,
                level,
                parse(goal, game.symbols),
                _moves_policy(policy, game),
                Budget(80),
                SearchSettings(rollout=20, value="mean"),
                seed=seed,
            )
            yield f"{game.name}, {policy}, seed {seed}", _walked(game, level, actor, 3)
    game, level = corridor.GAME, corridor.GAME.load("$..@..$..D", "level")
    actor = Actor(game, level, parse("COINS + OUT - 0.01 * ST"), budget=Budget(60), seed=1)
    played = play_game(game, level, [actor], moves=12)
    yield "corridor, whole game", {"game": moves(played.actions), "outcome": played.outcome}


def contests() -> Cases:
    """Whole games between the agents of the catalog."""
    game = registry.get("colosseum")
    agents = load_agents(Path(game.agents), game)
    (level,) = levels_of(game, "random06")
    rival = agents["random"]
    for name, agent in agents.items():
        one = agent.with_budget(40, None)
        if one.kind == "program":
            continue
        minds = [AgentSeat(one, game, level, 1), AgentSeat(rival, game, level, 2)]
        found = contest(game, level, minds, 3, 4)
        yield (
            f"{name} and random",
            {
                "game": moves(found.actions),
                "outcome": found.outcome,
                "thoughts": [list(map(list, of)) for of in found.thoughts],
            },
        )
    duels = Duel(game, level, agents["evolver"], agents["two_ply"].with_budget(10, None))
    goal = utility_of("duelist", game)
    for text, side in itertools.product(("ucb1", "R + -0.07 * sqrt(R / sqrt(R / OTE))", RAVE), (0, 1)):
        found_plan = duels.plan(goal, _moves_policy(text, game), Budget(40), 6, side)
        yield f"duel, {text}, side {side}", record(found_plan)
    puyo = registry.get("puyo")
    for name, agent in load_agents(Path(puyo.agents), puyo).items():
        (short,) = levels_of(puyo, "short02")
        if agent.kind == "search":
            of = Solo(puyo, short, agent)
            for text in ("ucb1", "R + (R + R * sqrt(R / N)) * sqrt(R / N)", "LC + 0.02 * CP"):
                found_plan = of.plan(utility_of("chain_builder", puyo), _moves_policy(text, puyo), Budget(60), 7)
                yield f"puyo, {name}, {text}", record(found_plan)
        else:
            mind = AgentSeat(replace(agent, utility="LC - 5 * DEAD").with_budget(60, None), puyo, short, 5)
            found = contest(puyo, short, [mind], 1, 1)
            yield f"puyo, {name}", {"game": moves(found.actions), "outcome": found.outcome}
    greedy = Agent("greedy", "greedy", utility="NM - ONM")
    minds = [AgentSeat(greedy, game, level, 1), AgentSeat(greedy, game, level, 2)]
    found = contest(game, level, minds, 3, 4)
    yield "greedy and greedy", {"game": moves(found.actions), "outcome": found.outcome}


def lookaheads() -> Cases:
    """Moves chosen by looking so many moves ahead, and the baselines that look for one plan."""
    for name, levels, goal in (
        ("puyo", ("stairs01", "buried01"), "SC - 1000000 * DEAD"),
        ("minidungeons2", ("train01", "test03"), "MS + 0.3 * PE - DEAD"),
    ):
        game = registry.get(name)
        for level, method, ties in itertools.product(levels_of(game, *levels), METHODS, ("random", "first")):
            one = Lookahead(game, level, parse(goal, game.symbols), 3, method, Allowance(90, 700), ties=ties, seed=2)
            for turn in range(2):
                look = one.think(level.start)
                yield (
                    f"{name}, {level.name}, {method}, {ties}, turn {turn}",
                    {
                        "look": [look.action, look.steps, look.playouts, look.whole],
                        "values": [[a, v.hex()] for a, v in look.values.items()],
                    },
                )
        for level in levels_of(game, *levels):
            problem = Problem.of(game, level, parse(goal, game.symbols), 20)
            for method in ("auto", "bfs", "dfs", "random", "flat"):
                found = bounds.solve(
                    game, level, problem.utility, method=method, iterations=400, states=3_000, horizon=20, seed=3
                )
                yield (
                    f"{name}, {level.name}, solved by {method}",
                    {
                        "plan": [moves(found.actions), found.utility.hex(), found.outcome],
                        "search": [found.states, found.stopped, found.proven, found.upper.hex()],
                    },
                )
            yield f"{name}, {level.name}, all plans of 3 moves", record(exhaustive(problem, 3))
            drawn = random_games(problem, 50, seed=4)
            yield (
                f"{name}, {level.name}, 50 random games",
                record(drawn.plan) | {"games": [drawn.games, drawn.mean.hex(), drawn.deviation.hex()]},
            )
            first = flat(problem, 50, seed=4)
            yield (
                f"{name}, {level.name}, 50 flat games",
                record(first.plan) | {"moves": [[a, v.hex()] for a, v in first.scores.items()]},
            )


def players() -> Cases:
    """Yield players of limited skill, continuations of plans, and whether levels can be won."""
    game = registry.get("minidungeons2")
    for level, wish in itertools.product(levels_of(game, "train02", "test05"), ("runner", "completionist")):
        goal = utility_of(wish, game)
        for (name, skill), text in itertools.product(LADDER.items(), ("ucb1", "R - 0.1 * HL", goal.text)):
            player = SkilledPlayer(game, level, goal, policy_of(text, game), skill)
            yield f"{level.name}, {wish}, {name}, {text}", record(player.play(1))
    (level,) = levels_of(game, "test05")
    goal = utility_of("monster_killer", game)
    for seed in (1, 2):
        found = play_on(game, level, (), goal, Budget(1_000), SearchSettings.anytime(), seed)
        yield f"played on, seed {seed}", {"plan": [moves(found.actions), found.utility.hex(), found.stuck]}
    for name in ("train01", "train09", "test02"):
        (level,) = levels_of(game, name)
        seen = outlook(game, level, iterations=1_500, states=2_000)
        yield (
            f"outlook of {name}",
            {"found": [seen.possible, moves(seen.actions), seen.iterations, seen.states, seen.longest]},
        )
    prize = parse("PRIZE", coin.GAME.symbols)
    level = coin.GAME.load("0.4 1", "coin")
    player = SkilledPlayer(coin.GAME, level, prize, TreePolicy.ucb1(), LADDER["casual"])
    yield "coin", record(player.play(2))


PREFIXES: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one at a time": ({}, {}),
    "four under way": ({"slots": 4}, {}),
    "the constant inside": ({"inside": True}, {}),
    "whole paths": ({"whole": True, "slots": 2}, {}),
    "revisit": ({"slots": 3}, {"terminal": "revisit"}),
    "random order": ({"slots": 2}, {"expansion": "random"}),
    "mean": ({}, {"value": "mean"}),
    "horizon": ({"slots": 4}, {"horizon": 3}),
}
"""Orderings and settings of the search by prefixes."""


def prefixes() -> Cases:
    """Yield the search by prefixes on games of the catalog in this process."""
    for name, names, wish in (
        ("its_alive", ("small01", "train01"), "collector"),
        ("puyo", ("short01",), "survivor"),
        ("roguelike2d", ("long01",), "thesis"),
    ):
        game = registry.get(name)
        goal = utility_of(wish, game)
        for level in levels_of(game, *names):
            for (how, (ordering, change)), text in itertools.product(
                PREFIXES.items(),
                ("ucb1", "R + sqrt(log(P) / N)", "RMAX + 0.1 * D - RSD", goal.text, "R + 2 * sqrt(P) / N - 0.1 * D"),
            ):
                given = replace(SearchSettings.anytime(), **change)
                search = ConnectedSearch(
                    game, LocalPool(game, level), 0, goal, policy_of(text, game), given, Ordering(**ordering), 5, 200
                )
                search.spend(Budget(250), 0.0)
                yield f"{name}, {level.name}, {text}, {how}", _searched(search)


def _searched(search: ConnectedSearch) -> Record:
    """Return what a search by prefixes did, with a digest of its whole tree."""
    digest = hashlib.sha256()
    for node in search.tree.walk():
        digest.update(f"{node.choices} {node.visits} {node.status} {node.mean.hex()} {node.best.hex()}\n".encode())
    best = search.best
    return {
        "search": [search.iterations, search.tree.nodes, search.stopped, search.tree.explored],
        "best": None if best is None else [best.utility.hex(), best.number, moves(c for c, _ in best.trace)],
        "growth": [[i, u.hex()] for i, u in search.growth],
        "tree": digest.hexdigest(),
    }


GROUPS: Mapping[str, Callable[[], Cases]] = {f.__name__: f for f in (actors, contests, lookaheads, players, prefixes)}
"""By the name of its file, what makes its cases."""
