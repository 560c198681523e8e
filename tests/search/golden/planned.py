"""Cases of the search with one tree: policies, presets, single settings, budgets, horizons and open lists."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from persona_evo import personas
from persona_evo.formula import Formula, parse
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Level
from persona_evo.personas.lists import OpenList
from persona_evo.search.plan import Plan, Planner, plan
from persona_evo.search.settings import PRESETS, Budget, SearchSettings
from persona_evo.search.tree_policy import UCB1_FORMULA, TreePolicy
from tests.examples import corridor
from tests.search.golden import Cases, Record

POLICIES = Path(__file__).resolve().parents[3] / "policies"
"""Folder of the policies that come with the project."""

SEARCHING = (
    "R",
    "RMAX",
    "R - RSD",
    "-D",
    "R + 0.01 * D",
    UCB1_FORMULA,
    "R + sqrt(log(P) / N)",
    "sqrt(log(P) / N)",
    "R + RSD * sqrt(log(P) / N)",
    "0.5 * R + 0.5 * RMAX + 0.2 * sqrt(P) / N",
    "log(N) - R / D",
    "RMAX - 0.5 * RSD * D / (N + P)",
    "if(RSD, R, 1) + exp(-N / P)",
)
"""Policies of the search's own variables, for any game."""

OF_MINIDUNGEONS = (
    "R + 0.5 * MS + 0.3 * PE - 0.2 * DEAD - HL",
    "R + 0.5 * MS + 0.3 * PE - 0.2 * DEAD + HL",
    "R + MS + PE - DEAD + sqrt(2 * log(P) / N)",
    "MS + PE - 0.1 * NM - 0.01 * ST",
    "0.7 * MS + 0.3 * PE - 5 * DEAD",
    "if(MS, R, PE) + max(HL, 0.2) - min(NE, NT) * exp(-ST)",
    "log(1 + MS) * sqrt(abs(NM - NE)) - exp(0.01 * ST)",
    "min(NT, NP) * R - max(D, N) / (1 + P)",
    "R - 0.05 * DT + TU * JT - MTK / N",
    "IC * IC - TS + PD / (TO - 0.5)",
)
"""Policies of metrics of MiniDungeons 2 and the search's variables."""

CHANGES: Mapping[str, tuple[Any, ...]] = {
    "stop": ("first_win", "budget"),
    "terminal": ("revisit", "cut_off"),
    "expansion": ("ordered", "random"),
    "transpositions": ("off", "prune", "merge"),
    "value": ("mixed", "mean"),
    "selection": ("child", "leaf"),
    "watch": ("tree", "ends", "all"),
    "rollout": (0, 5, 10, 40),
    "horizon": (1, 6, 25),
    "finish": (0.0, 0.1, 0.5),
}
"""Single settings that are varied, all else being that of a preset."""

SMALL = (
    "ucb1",
    "R + 0.5 * MS + 0.3 * PE - 0.2 * DEAD - HL",
    "R + MS + PE - DEAD + sqrt(2 * log(P) / N)",
    "MS + PE - 0.1 * NM - 0.01 * ST",
    "R + RSD * sqrt(log(P) / N)",
)
"""The policies with which settings are varied: one of each kind that the engine tells apart."""


def moves(actions: Iterable[object]) -> str:
    """Actions or their names as one text."""
    return " ".join(map(str, actions))


def record(found: Plan) -> Record:
    """Return what is kept of a plan: `plan` is what it is worth, `search` what the search did."""
    kept: Record = {
        "plan": [moves(found.actions), found.utility.hex(), found.outcome],
        "search": [found.iterations, found.nodes, found.stopped, found.proven, found.upper.hex()],
    }
    if found.best_actions != found.actions:
        kept["best"] = [moves(found.best_actions), found.best_utility.hex()]
    return kept


def policy_of(text: str, game: Game) -> TreePolicy:
    """UCB1 by its name, or a formula."""
    return TreePolicy.ucb1() if text == "ucb1" else TreePolicy.of(text, game)


def levels_of(game: Game, *names: str, **options: Any) -> list[Level]:
    """Return levels that come with the project."""
    return mapsets.resolve(game, names, options)


def utility_of(name: str, game: Game) -> Formula:
    """Return what a persona wants."""
    return personas.load(name, game).utility


def policies() -> Cases:
    """Every policy under every preset in MiniDungeons 2."""
    game = registry.get("minidungeons2")
    goal = utility_of("monster_killer", game)
    for level, text in itertools.product(
        levels_of(game, "train01", "train04", "test06"), ("ucb1", *SEARCHING, *OF_MINIDUNGEONS)
    ):
        for preset, seed in itertools.product(PRESETS, (1, 2)):
            found = plan(game, level, goal, policy_of(text, game), Budget(500), SearchSettings.preset(preset), seed)
            yield f"{level.name}, {text}, {preset}, seed {seed}", record(found)


def settings() -> Cases:
    """Each setting varied on its own in MiniDungeons 2."""
    game = registry.get("minidungeons2")
    goal = utility_of("monster_killer", game)
    base = {
        "paper": SearchSettings.paper(),
        "paper, on": replace(SearchSettings.paper(), stop="budget"),
        "single": SearchSettings.single(),
    }
    for level, (name, given), text in itertools.product(levels_of(game, "train01", "train07"), base.items(), SMALL):
        for key, values in CHANGES.items():
            for value in values:
                if getattr(given, key) == value:
                    continue
                found = plan(game, level, goal, policy_of(text, game), Budget(400), replace(given, **{key: value}), 3)
                yield f"{level.name}, {text}, {name}, {key} {value}", record(found)


def pairs() -> Cases:
    """Yield settings of the search with one list varied together, from both ends, with two seeds."""
    game = registry.get("minidungeons2")
    goal = utility_of("treasure_collector", game)
    (level,) = levels_of(game, "train09")
    keys = ("terminal", "expansion", "transpositions", "value", "watch")
    for values in itertools.product(*(CHANGES[key] for key in keys)):
        given = replace(SearchSettings.single(), rollout=6, **dict(zip(keys, values, strict=True)))
        for text, seed in itertools.product(("ucb1", "R + TO - NT", "TO - NT"), (1, 2)):
            found = plan(game, level, goal, policy_of(text, game), Budget(250), given, seed)
            yield f"{text}, {', '.join(values)}, seed {seed}", record(found)


def budgets() -> Cases:
    """Yield budgets of nodes, memory that is used up, long searches, and one planner used again, in MiniDungeons 2."""
    game = registry.get("minidungeons2")
    goal = utility_of("completionist", game)
    (level,) = levels_of(game, "train04")
    presets = {name: SearchSettings.preset(name) for name in PRESETS}
    presets["paper, on"] = replace(SearchSettings.paper(), stop="budget")
    for (name, given), text in itertools.product(presets.items(), SMALL):
        policy = policy_of(text, game)
        for of in (Budget(2_000, nodes=300), Budget(37), Budget(1)):
            found = plan(game, level, goal, policy, of, given, 4)
            yield f"{text}, {name}, {of.iterations} iterations, {of.nodes} nodes", record(found)
        if text == "ucb1":
            found = plan(game, level, goal, policy, Budget(None, nodes=400), given, 4)
            yield f"{text}, {name}, 400 nodes", record(found)
        again = Planner(game, level, given, 150)
        for number, seed in enumerate((1, 2, 1)):
            kept = record(again.plan(goal, policy, Budget(900), seed))
            yield f"{text}, {name}, memory for 150 nodes, search {number}", kept
        long = plan(game, level, goal, policy, Budget(3_000), given, 5)
        yield f"{text}, {name}, 3000 iterations", record(long)
    for text in ("ucb1", "R + IC - 0.1 * NP - HL", "R + IC + sqrt(log(P) / N)"):
        long = plan(game, level, goal, policy_of(text, game), Budget(20_000), presets["paper, on"], 6)
        yield f"{text}, 20000 iterations", record(long)


def shipped() -> Cases:
    """Yield the policies that come with the project, for what they were evolved for."""
    for file in sorted(POLICIES.glob("*/*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        game = registry.get(data["game"])
        if game.players > 1 or not data["formula"]:
            continue
        goal, policy = parse(data["utility"], game.symbols), TreePolicy.of(data["formula"], game)
        names = {
            "minidungeons2": ("train02", "train05", "train10"),
            "puyo": ("short01", "five01"),
            "roguelike2d": ("train01", "forward01"),
        }[game.name]
        for level, preset, seed in itertools.product(levels_of(game, *names), PRESETS, (1, 2)):
            found = plan(game, level, goal, policy, Budget(600), SearchSettings.preset(preset), seed)
            yield f"{file.stem}, {level.name}, {preset}, seed {seed}", record(found)


GAMES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "its_alive": (
        ("tiny01", "train01", "lazy01"),
        ("collector", "builder"),
        ("R + PR - 0.01 * PL", "LM + 0.1 * CP - 0.001 * ST", "RMAX + MC * sqrt(log(P) / N) - LOST"),
    ),
    "puyo": (
        ("short01", "buried01", "stairs01"),
        ("chain_builder", "survivor"),
        ("R + 0.1 * LC - PU", "LC + 0.02 * CP - 0.001 * DR", "R + (R + R * sqrt(R / N)) * sqrt(R / N) - DEAD"),
    ),
    "roguelike2d": (
        ("test01", "train01", "forward01"),
        ("forager", "sprinter"),
        ("R + PR - DS", "PR + 0.1 * EA - HT - 0.001 * ST", "R + NX * sqrt(log(P) / N) - WD"),
    ),
}
"""By game: levels, personas, and policies of its metrics."""


def games() -> Cases:
    """Yield the other games of the catalog for one player."""
    for name, (levels, wishes, formulas) in GAMES.items():
        game = registry.get(name)
        for level, wish in itertools.product(levels_of(game, *levels), wishes):
            for text, preset in itertools.product(("ucb1", "R", "R - RSD + 0.01 * D", *formulas), PRESETS):
                given = SearchSettings.preset(preset)
                found = plan(game, level, utility_of(wish, game), policy_of(text, game), Budget(300), given, 1)
                yield f"{name}, {level.name}, {wish}, {text}, {preset}", record(found)
    game = registry.get("its_alive")
    for level in levels_of(game, "small01", choices="factored"):
        for preset in PRESETS:
            found = plan(
                game,
                level,
                utility_of("scorer", game),
                TreePolicy.ucb1(),
                Budget(300),
                SearchSettings.preset(preset),
                2,
            )
            yield f"its_alive, {level.name}, factored choices, {preset}", record(found)


def lists() -> Cases:
    """Open lists: the defaults with every persona, lists of one's own, and the settings that belong to them."""
    game = registry.get("minidungeons2")
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"hedge": 0.3},
        {"tolerance": 0.05},
        {"finish": 0.0},
        {"finish": 0.4},
        {"horizon": 12},
        {"rollout": 0},
        {"stop": "first_win"},
        {"value": "mean"},
        {"expansion": "random"},
        {"terminal": "revisit"},
        {"transpositions": "off"},
        {"variant": "informed"},
    )
    for level, wish in itertools.product(levels_of(game, "train03", "train09"), ("runner", "completionist")):
        goal = utility_of(wish, game)
        for change, seed in itertools.product(changes, (1, 2)):
            found = plan(
                game,
                level,
                goal,
                TreePolicy.utility(goal),
                Budget(1_000),
                replace(SearchSettings.anytime(), **change),
                seed,
            )
            yield f"{level.name}, {wish}, {change}, seed {seed}", record(found)
    (level,) = levels_of(game, "test01")
    own = TreePolicy(
        "lists",
        lists=tuple(
            OpenList(parse(score), weight, novel)
            for score, weight, novel in (
                ("UTILITY - 0.01 * D", 2.0, False),
                ("CEILING", 1.0, True),
                ("NEAR", 1.0, False),
            )
        ),
    )
    static = replace(policy_of("TO - 0.1 * NT", game), lists=own.lists)
    goal = utility_of("treasure_collector", game)
    for policy, most in itertools.product((own, static), (100, 1_500)):
        planner = Planner(game, level, replace(SearchSettings.anytime(), tolerance=0.1), most)
        found = planner.plan(goal, policy, Budget(2_000), 7)
        yield f"{policy.kind} of one's own, {most} nodes", record(found)
        for seed in range(3):
            yield f"{policy.kind} of one's own, {most} nodes, route {seed}", record(planner.another(found, seed))


def variants() -> Cases:
    """Yield searches with a variant of the rules."""
    game = registry.get("minidungeons2")
    goal = utility_of("monster_killer", game)
    for level, text in itertools.product(levels_of(game, "train06", "train11"), SMALL):
        for preset in ("paper", "single"):
            given = replace(SearchSettings.preset(preset), variant="informed")
            found = plan(game, level, goal, policy_of(text, game), Budget(400), given, 2)
            yield f"{level.name}, {text}, {preset}, informed", record(found)


def classes() -> Cases:
    """Yield a game that is a Python class."""
    game = corridor.GAME
    goal = parse("COINS + OUT - 0.01 * ST", game.symbols)
    for text, steps in (("$..@..$..D", 16), ("D$@", 6)):
        level = game.load(text, text)
        for policy, preset, seed in itertools.product(
            ("ucb1", "R + 0.1 * COINS", "COINS + OUT - 0.01 * ST", "RMAX + sqrt(log(P) / N) + 0.01 * D"),
            PRESETS,
            (1, 2),
        ):
            given = replace(SearchSettings.preset(preset), horizon=steps)
            found = plan(game, level, goal, policy_of(policy, game), Budget(200), given, seed)
            yield f"{text}, {policy}, {preset}, seed {seed}", record(found)


GROUPS: Mapping[str, Callable[[], Cases]] = {
    f.__name__: f for f in (policies, settings, pairs, budgets, shipped, games, lists, variants, classes)
}
"""By the name of its file, what makes its cases."""
