"""Tests agents as data, their ways of searching, and contests between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from persona_evo.agents.agent import Agent, policy_of
from persona_evo.agents.agent_files import load_agents, load_league
from persona_evo.agents.agent_seat import AgentSeat, random_move, warm_up
from persona_evo.agents.contest import Fault, contest
from persona_evo.errors import FormulaError, SettingsError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.catalog.colosseum.levels import board_of
from persona_evo.games.core import RUNNING
from persona_evo.search.actor import Actor
from persona_evo.search.layout import NODES
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree import ACTION, NODE
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import stream

GAME = registry.get("colosseum")
SIX = GAME.load("random 6", "six")
AGENTS = load_agents(Path(GAME.agents), GAME)
TRAP = """\
+-+-+-+-+-+
|1|       |
+ + + + + +
|         |
+ + + + + +
|    0    |
+ + + + + +
|         |
+ + + + + +
|         |
+-+-+-+-+-+
"""


def quick(name: str, iterations: int = 150) -> Agent:
    return AGENTS[name].with_budget(iterations, None)


def some_states(count: int, size: int = 7) -> list[tuple[Any, Any]]:
    level, found, luck = GAME.load(f"random {size}", "s"), [], stream(1)
    for seed in range(count):
        state = GAME.start(level, seed)
        for _ in range(seed % 5):
            GAME.rules().step(level.tables, state, -1, luck)
        if GAME.over(level, state) == RUNNING:
            found.append((level, state))
    return found


def listed(variant: str, level: Any, state: Any) -> list[int]:
    actions = np.zeros(level.max_actions, dtype=np.int64)
    return [int(a) for a in actions[: GAME.variants[variant]().legal(level.tables, state, actions)]]


@pytest.mark.parametrize("name", sorted(set(AGENTS) - {"random"}))
def test_every_agent_beats_the_random_one(name: str) -> None:
    wins = 0.0
    for game in range(4):
        seats = [AgentSeat(quick(name), GAME, SIX, game), AgentSeat(AGENTS["random"], GAME, SIX, game)]
        played = contest(GAME, SIX, seats[:: 1 if game % 2 else -1], game, game)
        wins += played.metrics[0 if game % 2 else 1]["WIN"]
        assert not played.faults
    assert wins >= 3, "four of four are usual"


def test_same_seed_same_game() -> None:
    games = [
        contest(
            GAME,
            SIX,
            [AgentSeat(quick("uct_walls"), GAME, SIX, s), AgentSeat(quick("killer_moves"), GAME, SIX, 9)],
            4,
            1,
        )
        for s in (1, 1, 2)
    ]
    assert games[0].actions == games[1].actions and games[0].thoughts == games[1].thoughts
    assert games[0].actions != games[2].actions or games[0].thoughts != games[2].thoughts


def test_narrow_leaves_the_twenty_moves_with_most_own_moves_afterwards() -> None:
    for level, state in some_states(12):
        all_moves, left = GAME.legal(level, state), listed("narrow", level, state)
        me = int(GAME.rules().mover(level.tables, state))
        if len(left) == 1:
            continue

        def after(action: int, level: Any = level, state: Any = state, me: int = me) -> tuple[float, bool]:
            end = state.copy()
            GAME.rules().step(level.tables, end, action, stream(1))
            found = GAME.measure(level, end, me)
            return found["NM"], found["WA"] == 4

        values = {a: after(a) for a in all_moves}
        safe = [v for v, enclosed in values.values() if not enclosed]
        expected = sorted(safe or [v for v, _ in values.values()], reverse=True)[:20]
        assert [values[a][0] for a in left] == expected and len(set(left)) == len(left)


def test_a_killer_move_is_taken_at_once_and_in_random_games() -> None:
    level = GAME.load(TRAP, "trap")
    assert [GAME.action_name(level, level.start, a) for a in listed("killers", level, level.start)] == ["1,0,N"]
    assert len(listed("killer_games", level, level.start)) > 20
    played, rng = np.zeros(1, dtype=np.int64), stream(2)
    GAME.variants["killer_games"]().rollout(
        level.tables,
        level.start.copy(),
        np.zeros(level.max_actions, dtype=np.int64),
        played,
        1,
        rng,
        np.zeros((1, len(GAME.metrics))),
        0,
    )
    assert GAME.action_name(level, level.start, int(played[0])) == "1,0,N"
    assert AgentSeat(quick("killer_moves", 30), GAME, level, 1).choose(level.start) == int(played[0])


def test_wide_and_blind_leave_out_one_heuristic_each() -> None:
    level = GAME.load(TRAP, "trap")
    assert listed("wide", level, level.start) == listed("narrow", level, level.start)
    assert len(listed("blind", level, level.start)) == 20
    sizes = set()
    for level, state in some_states(12):
        narrow, wide, blind = (set(listed(v, level, state)) for v in ("narrow", "wide", "blind"))
        everything, luck = set(GAME.legal(level, state)), stream(1)
        me = int(GAME.rules().mover(level.tables, state))
        if len(wide) > 1:
            for action in everything:
                end = state.copy()
                GAME.rules().step(level.tables, end, action, luck)
                assert (GAME.measure(level, end, me)["WA"] < 4) == (action in wide)
            assert narrow <= wide
        assert len(blind) == min(20, len(everything))
        sizes |= {len(narrow), len(wide), len(blind)}
    assert max(sizes) > 20


def test_calm_leaves_the_five_cells_with_fewest_walls_nearby() -> None:
    for level, state in some_states(8):
        board, n = board_of(level, state), 7

        def danger(cell: int, board: Any = board, n: int = n) -> int:
            y, x = divmod(cell, n)
            near = ((r, c) for r in range(max(0, y - 2), min(n, y + 3)) for c in range(max(0, x - 2), min(n, x + 3)))
            return sum((3 - max(abs(r - y), abs(c - x))) * board.walls[r][c].bit_count() for r, c in near)

        cells = list(dict.fromkeys(a // 4 for a in GAME.legal(level, state)))
        expected = sorted(cells, key=lambda c: (danger(c), c))[:5]
        assert {a // 4 for a in listed("calm", level, state)} == set(expected)


def test_the_published_variant_never_changes_the_mover_in_its_tree() -> None:
    actor = Actor(
        GAME,
        SIX,
        parse("WIN - LOSS"),
        budget=Budget(200),
        variant="unswapped",
        seed=1,
        settings=SearchSettings(rollout=2000),
    )
    start = GAME.start(SIX, 1)
    actor.think(start)
    tree, counts = actor._engine.work.tree, actor._engine.work.buffers.counts
    assert {int(s[2]) for s in tree.states[: counts[NODES]]} == {int(start[2])}
    first = tree.links[tree.children(0)[-1], NODE]
    assert tree.nodes[first, ACTION] == GAME.legal(SIX, start)[-1], "the last move is tried first"


def test_the_answer_can_be_a_formula_over_the_children() -> None:
    start, budget = GAME.start(SIX, 5), Budget(400)
    settings = SearchSettings(rollout=2000, value="mean")
    by_name = {
        c: Actor(GAME, SIX, parse("WIN"), budget=budget, settings=settings, choose=c, seed=3).think(start)
        for c in ("visits", "mean")
    }
    for name, text in (("visits", "N"), ("mean", "R")):
        told = Actor(GAME, SIX, parse("WIN"), budget=budget, settings=settings, choose=parse(text), seed=3).think(start)
        best = max(o.visits if text == "N" else o.mean for o in told.options)
        chosen = next(o for o in told.options if o.action == told.action)
        assert (chosen.visits if text == "N" else chosen.mean) == best and told.options == by_name[name].options
    walls = Actor(GAME, SIX, parse("WIN"), budget=budget, settings=settings, choose=parse("-WA + 0*RSD"), seed=3)
    move = walls.think(start)
    ends = {o.action: GAME.measure(SIX, GAME.replay(SIX, [o.action], seed=5)[-1], 0)["WA"] for o in move.options}
    assert ends[move.action] == min(ends.values())
    assert walls.shape()[0] >= len(move.options) and walls.shape()[1] >= 1
    with pytest.raises(FormulaError, match="NOTHING"):
        Actor(GAME, SIX, parse("WIN"), choose=parse("NOTHING"))


def test_the_penalty_of_walls_is_so_many_lost_games() -> None:
    """The score of a child with three walls equals that of one with 20 more visits and no win in them."""
    policy = policy_of(AGENTS["uct_walls"], GAME)
    assert policy.formula is not None
    values = dict.fromkeys((*GAME.symbols, "D", "RMAX", "RSD"), 0.0)
    free = policy.formula.evaluate({**values, "R": 0.2, "N": 30, "P": 100, "WA": 2})
    walled = policy.formula.evaluate({**values, "R": 0.6, "N": 10, "P": 100, "WA": 3})
    assert free == pytest.approx(walled) == pytest.approx(0.2 + 0.1 * np.sqrt(np.log(100) / 30))


def test_two_ply_takes_the_move_with_most_own_moves() -> None:
    for level, state in some_states(4):
        me = int(GAME.rules().mover(level.tables, state))
        values = {}
        for a in GAME.legal(level, state):
            end = state.copy()
            GAME.rules().step(level.tables, end, a, stream(1))
            values[a] = GAME.measure(level, end, me)["NM"]
        assert values[AgentSeat(AGENTS["two_ply"], GAME, level, 1).choose(state)] == max(values.values())


def test_games_without_a_random_player_of_their_own_get_a_uniform_one() -> None:
    from tests.examples import nim

    of = nim.GAME.load("9", "nim")
    drawn = [random_move(nim.GAME, of, nim.GAME.start(of), np.random.default_rng(s)) for s in range(60)]
    assert set(drawn) == {0, 1, 2}
    played = contest(
        nim.GAME,
        of,
        [
            AgentSeat(Agent("u", "search", utility="GAIN", iterations=300), nim.GAME, of, 1),
            AgentSeat(Agent("r", "random"), nim.GAME, of, 1),
        ],
        0,
        1,
    )
    assert played.metrics[0]["GAIN"] == 1


class WildSeat:
    """A player whose every move is a fault: it fails, or names an action that does not exist."""

    thought = (0, 0, 0, 0)

    def prepare(self) -> None: ...

    def choose(self, state: Any) -> int:
        if state[3] % 4 == 0:
            raise Fault("error", "no idea")
        return 10**6

    def follow(self, action: int) -> None: ...

    def close(self) -> None: ...


def test_players_that_fail_or_answer_nonsense_lose_the_move() -> None:
    played = contest(GAME, SIX, [WildSeat(), WildSeat()], 1, 1)
    kinds = [(f.player, f.move, f.kind) for f in played.faults]
    assert kinds[:2] == [(0, 0, "error"), (1, 1, "invalid")] and len(kinds) == len(played.actions)


def test_a_move_over_the_limit_is_replaced() -> None:
    seats = [AgentSeat(AGENTS["uct"].with_budget(None, 0.2), GAME, SIX, 1), AgentSeat(AGENTS["random"], GAME, SIX, 1)]
    played = contest(GAME, SIX, seats, 1, 1, [0.01, None])
    assert {f.kind for f in played.faults} == {"time"} and len(played.faults) == (len(played.actions) + 1) // 2


def test_a_budget_takes_the_place_of_another_where_there_is_one() -> None:
    search, random = Agent("one", "search", iterations=5), Agent("two", "random")
    for budget in ((7, None), (None, 0.5), (7, 0.5)):
        found = search.with_budget(*budget)
        assert (found.iterations, found.seconds) == budget and random.with_budget(*budget) == random
    assert search.with_budget(None, None) == search


def test_random_moves_follow_from_the_generator() -> None:
    rng, other, moves = np.random.default_rng(8), np.random.default_rng(8), []
    actions, seen = np.zeros(SIX.max_actions, dtype=np.int64), np.zeros((1, len(GAME.metrics)))
    for _ in range(5):
        luck, played = other.integers(1, 2**32, 2).astype(np.int64), np.zeros(1, dtype=np.int64)
        GAME.variants["random"]().rollout(SIX.tables, SIX.start.copy(), actions, played, 1, luck, seen, 0)
        moves.append(int(played[0]))
    assert [random_move(GAME, SIX, SIX.start, rng) for _ in range(5)] == moves and len(set(moves)) > 1


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"kind": "random"}, True),
        ({"kind": "search", "iterations": 5}, True),
        ({"kind": "greedy"}, True),
        ({"kind": "flat", "iterations": 5, "seconds": 1.0}, False),
        ({"kind": "search", "seconds": 1.0}, False),
        ({"kind": "program", "program": "mine.py"}, False),
    ],
)
def test_agents_are_reproducible_without_clocks_and_programs(fields: dict[str, Any], same: bool) -> None:
    assert Agent("one", **fields).reproducible == same


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("[a", "not TOML", "1"),
        ("a = 1", "not an agent", "1:1"),
        ("[b]\nkind = 'random'\n['9']\nkind = 'random'", "not an agent", "3:1"),
        ("[a]\nkind = 'clever'", "no such kind", "2:8"),
        ("[a]\nkind = 'search'\n  kin = 'random'", "no such field", "3:3"),
        ("[b]\nkind = 'random'\n[a]\n\nutility = 3", "wrong type", "5:11"),
        ("[a]\nutility = 'WIN'\niterations = '5'", "wrong type", "3:14"),
        ("[a]\nutility = 'WIN'\nsearch = 'fast'", "wrong type", "3:10"),
        ("[a]\nutility = 'WIN'\nseconds = true", "wrong type", "3:11"),
        ("[a]\nkind = 'greedy'", "no utility", "1:1"),
        ("[a]\nutility = 'WIN'\nvariant = 'kilers'", "does not have this variant", "3:11"),
        ("[a]\nutility = 'WIN'\nsearch.variant = 'kilers'", "does not have this variant", "3:18"),
        ("[a]\nutility = 'WIN'\npolicy = 'ucb1:x'", "constant cannot be read", "3:10"),
        ("[a]\nutility = 'WIN'\nsearch = { rolout = 3 }", "no such field in search settings", "3:21"),
        ("[a]\nutility = 'WIN'\n[a.search]\nrollout = 3\nhorizon = -2", "search setting 'horizon'", "5:11"),
        ("[a]\nutility = 'WIN'\nconstants = { C = 1, WIN = 3 }", "a constant needs a new name", "3:28"),
        ("[a]\nutility = 'WIN'\nconstants = { C = nan }", "finite number", "3:19"),
        ("[a]\nutility = 'WIN'\nconstants = { sqrt = 1 }", "a constant needs a new name", "3:22"),
        ("[a]\nutility = 'WIN'\nseconds = -1", "out of range", "3:11"),
        ("[a]\nutility = 'WIN'\niterations = 0", "out of range", "3:14"),
        ("[a]\nkind = 'flat'\nutility = 'WIN'\nsearch = { horizon = 3 }", "single-player games", "2:8"),
        ("[a]\nvariant = 'unswapped'\nutility = 'WIN'\npolicy = 'R + AR'", "do not keep AR", "4:10"),
        ("[a]\nvariant = 'unswapped'\nutility = 'WIN'\nanswer = 'AN'", "do not keep AN", "4:10"),
    ],
)
def test_wrong_files_of_agents_name_the_fields_line_and_column(
    tmp_path: Path, text: str, message: str, place: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message) as caught:
        load_agents(path, GAME)
    assert str(caught.value).startswith(f"{path}:{place}: "), str(caught.value)
    assert caught.value.expected or caught.value.hint
    if "wrong type" in message:
        assert caught.value.found and caught.value.expected and caught.value.hint


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "found", "place"),
    [
        ("[a]\nutility = 'WIN + WINS'\n", "WINS", "2:18"),
        ("[a]\nutility = 'WIN'\nconstants = { LONG = 0.123456 }\npolicy = 'R + LONG*sqrt(P) + NEW'", "NEW", "4:30"),
        ('[a]\nutility = "WIN"\nanswer = """\n  R +\n   -*N"""', "*", "5:5"),
        ('[a]\nutility = "WIN"\nanswer = "\\u0052 + Q"', "Q", "3:20"),
        ("[a]\nutility = 'WIN'\nanswer = ''", "", "3:11"),
    ],
)
def test_a_wrong_formula_of_an_agent_names_the_character_in_the_file(
    tmp_path: Path, text: str, found: str, place: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormulaError) as caught:
        load_agents(path, GAME)
    assert str(caught.value.place) == f"{path}:{place}" and (caught.value.found or "") == found


@pytest.mark.quick
def test_formulas_that_come_from_no_file_name_none() -> None:
    """A constant's value is longer than its name, and still the column is that of what was written."""
    agent = replace(AGENTS["uct"], policy="R + C*sqrt(log(P)) + FOO")
    with pytest.raises(FormulaError) as caught:
        policy_of(agent, GAME)
    assert str(caught.value.place) == "a formula of uct:1:22" and caught.value.found == "FOO"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('league = "random"', "1:10"),
        ('league = ["random",\n  3]', "2:3"),
        ('league = ["random", ""]', "1:21"),
    ],
)
def test_a_wrong_league_names_the_entry(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="not a list of agents") as caught:
        load_league(path)
    assert str(caught.value.place) == f"{path}:{place}"


@pytest.mark.quick
def test_constants_are_numbers_in_formulas() -> None:
    half = replace(AGENTS["uct"], constants={"C": 0.5})
    assert policy_of(half, GAME).text == TreePolicy.of("R + 0.5*sqrt(log(P) / N)", GAME).text


def test_agents_are_warmed_up_once_and_think_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("persona_evo.agents.agent_seat._warm", set())
    asked: list[tuple[str, Any]] = []
    choose = AgentSeat.choose

    def heard(mind: AgentSeat, state: Any) -> int:
        asked.append((mind.agent.name, mind.agent.iterations))
        return choose(mind, state)

    monkeypatch.setattr(AgentSeat, "choose", heard)
    four = [AGENTS["uct"], Agent("greedy", "greedy", utility="MG"), Agent("r", "random"), Agent("p", "program")]
    state = GAME.start(SIX, 5)
    before = AgentSeat(AGENTS["uct"].with_budget(50, None), GAME, SIX, 3).choose(state)
    for _ in range(2):
        warm_up(four, GAME, SIX)
    assert asked[1:] == [("uct", 1), ("greedy", 1), ("r", None)], "no program, and each of the others once"
    assert AgentSeat(AGENTS["uct"].with_budget(50, None), GAME, SIX, 3).choose(state) == before
