"""Puyo-Puyo against the golden vectors: single fields, placements, whole games; levels, events and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from persona_evo.compiling import interpreted
from persona_evo.errors import LevelError, SettingsError
from persona_evo.games import mapsets
from persona_evo.games.catalog.puyo import GAME, HIDDEN, tables
from persona_evo.games.catalog.puyo.draw import state_image
from persona_evo.games.catalog.puyo.rules import settle_all
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Level
from persona_evo.seeds import below, stream
from tests.shared import shared

EMPTY = "." * 78


def lines(name: str) -> Iterator[dict[str, Any]]:
    with shared(f"cases/puyo/{name}").open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def with_field(field: str, level: Level) -> Any:
    state = level.start.copy()
    tables.fill(state, [field[6 * r : 6 * r + 6] for r in range(13)])
    return state


def level(text: str = "", name: str = "here") -> Level:
    return GAME.load(text, name)


def settled(field: str) -> tuple[int, int, str]:
    """Links, points and field after resolving."""
    state = with_field(field, level())
    settle_all(level().tables, state, 0, stream(1))
    measured = GAME.measure(level(), state)
    assert measured["PU"] == sum(c != "." for c in tables.text(state))
    return int(measured["CH"]), int(measured["SC"]), tables.text(state)


def test_every_field_resolves_as_recorded() -> None:
    count = 0
    for case in lines("resolve.jsonl"):
        assert settled(case["field"]) == (case["chain"], case["score"], case["final"]), case["id"]
        count += 1
    assert count > 250


def test_garbage_in_the_ghost_row_stays() -> None:
    for case in lines("resolve_ghost_garbage.jsonl"):
        wanted = case["tsu"]
        assert settled(case["field"]) == (wanted["chain"], wanted["score"], wanted["final"]), case["id"]


def test_placements_of_tall_fields() -> None:
    for case in lines("placements.jsonl"):
        state = with_field(case["field"], level())
        found = sorted((a >> 2, a & 3) for a in GAME.legal(level(), state))
        dead = GAME.over(level(), state) == LOST
        assert dead == case["dead"], case["id"]
        if not dead:
            assert found == sorted(map(tuple, case["conservative"])), case["id"]


def test_whole_games_replay() -> None:
    drops = 0
    for case in lines("games.jsonl"):
        of = level(f'colours = {case["colors"]}\ndrops = 150\npairs = "{" ".join(case["pairs"])}"')
        actions = [4 * x + side for x, side in case["moves"]]
        states = GAME.replay(of, actions)
        for number, (links, points) in enumerate(case["results"]):
            before, after = states[number], states[number + 1]
            assert actions[number] in GAME.legal(of, before)
            measured = GAME.measure(of, after)
            assert (measured["CH"], measured["LS"]) == (links, points), (case["id"], number)
            if (number + 1) % 10 == 0:
                assert tables.text(after) == case["snapshots"][number // 10][1], (case["id"], number)
        assert tables.text(states[-1]) == case["final"]
        assert measured["SC"] == case["total_score"]
        assert measured["DEAD"] == case["dead"]
        drops += len(actions)
    assert drops > 1_000


def test_compiled_and_plain_rules_agree() -> None:
    (of,) = mapsets.resolve(GAME, ["buried01"])
    compiled, luck, pick = GAME.rules(costly=True), stream(5), stream(6)
    step, measure, legal = (interpreted(f) for f in (compiled.step, compiled.measure, compiled.legal))
    one, two = of.start.copy(), of.start.copy()
    actions = np.zeros(of.max_actions, dtype=np.int64)
    with np.errstate(all="ignore"):
        for _ in range(12):
            options = GAME.legal(of, one)
            assert legal(of.tables, two, actions) == len(options) and actions[: len(options)].tolist() == options
            action = options[int(below(pick, len(options)))]
            compiled.step(of.tables, one, action, luck)
            step(of.tables, two, action, luck)
            assert (one == two).all()
            out = np.zeros(len(GAME.metrics))
            measure(of.tables, two, 0, out)
            assert dict(zip(GAME.symbols, out.tolist(), strict=True)) == GAME.measure(of, one)
            assert compiled.key(of.tables, one) == interpreted(compiled.key)(of.tables, two)


def test_a_staircase_scores_what_its_metrics_promise() -> None:
    (of,) = mapsets.resolve(GAME, ["stairs01"])
    before = GAME.measure(of, of.start)
    assert (before["P3"], before["P2"], before["CP"]) == (4, 0, 1)
    actions = [GAME.parse_action(of, of.start, name) for name in ("6U", "1U")]
    _, waited, done = GAME.replay(of, actions)
    events = [e.kind for e in GAME.events(of, waited, done, 2)]  # type: ignore[misc]
    after = GAME.measure(of, done)
    # links of 4, 4, 4 and 4 puyos: 40 + 320 + 640 + 1280
    assert (after["LC"], after["LS"], after["SC"], events) == (4, 2280, 2280, ["chain of 4"])
    picture = state_image(of, done, caption="2/12 1U")
    assert len(picture.getcolors(100_000)) > 5


def test_a_game_is_won_by_lasting_and_lost_by_the_third_column() -> None:
    of = level("drops = 3\nseed = 8")
    states = GAME.replay(of, [GAME.parse_action(of, of.start, n) for n in ("1U", "6U", "5U")])
    assert [GAME.over(of, s) for s in states] == [RUNNING, RUNNING, RUNNING, WON]
    tower = level('pairs = "RB RB RB RB RB RB"')
    states = GAME.replay(tower, [4 * 2] * 6)
    assert GAME.over(tower, states[-1]) == LOST and GAME.legal(tower, states[-1]) == []
    assert GAME.cause is not None and GAME.cause(tower, states[-2], states[-1]) == "a full third column"


def test_hidden_pairs_come_from_the_games_own_luck() -> None:
    of = HIDDEN.load("visible = 2\nseed = 3", "hidden")
    one, two, other = (HIDDEN.replay(of, [0, 4, 8, 12, 16], stream(seed))[-1] for seed in (1, 1, 2))
    known = level("visible = 2\nseed = 3")
    assert (one == two).all() and not (one == other).all()
    sight = HIDDEN.replay(of, [0, 4], stream(1))[-1]
    assert (sight[: tables.QUEUE] == GAME.replay(known, [0, 4])[-1]).all()
    assert (HIDDEN.start(of, 1)[tables.QUEUE :] != HIDDEN.start(of, 0)[tables.QUEUE :]).any()
    assert HIDDEN.over(of, sight) not in (LOST, ENDED)


def test_positions_differ_and_their_pairs_are_uniform() -> None:
    found = mapsets.resolve(GAME, ["positions"])
    pairs = [tuple(v.tables[tables.PAIRS :].tolist()) for v in found]
    assert len(set(pairs)) == 10 and all(len(p) == 150 for p in pairs)
    counts = np.bincount([p & 7 for row in pairs for p in row], minlength=5)[1:5]
    assert abs(counts - 375).max() < 60, counts


@pytest.mark.parametrize(("text", "said", "line"), [
    ("colours = 6", "colours is out of range", 1),
    ("seed = 1\ncolors = 4", "did you mean 'colours'", 2),
    ("drops = [", "not TOML", 1),
    ('pairs = "RG PX"', "not a pair", 1),
    ('seed = 2\nfield = """\nR..\n"""', "a row of another length", 3),
    ('field = """\nR.....\n......\n"""', "a puyo floats", 2),
    ('field = """\nRR....\nRR....\n"""', "pops before the first drop", 1),
    ('field = """\n..Q...\n"""', "no such cell", 2),
    ('field = """\n' + "..#...\n" * 12 + '"""', "over before it begins", 1),
    ('field = """\n' + "......\n" * 14 + '"""', "too many rows", 1),
])  # fmt: skip
def test_broken_levels_name_their_line(text: str, said: str, line: int) -> None:
    with pytest.raises(LevelError) as caught:
        GAME.load(text, "broken", "broken.txt")
    assert said in str(caught.value) and str(caught.value).startswith(f"broken.txt:{line}")


@pytest.mark.parametrize("text", ["0U", "7U", "3X", "6R", "1L", ""])
def test_what_is_no_placement(text: str) -> None:
    with pytest.raises(SettingsError, match="no such placement"):
        GAME.parse_action(level(), level().start, text)
