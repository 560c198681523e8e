"""Tests Puyo-Puyo against golden vectors (fields, placements, whole games), and its levels, events and pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from persona_evo.errors import LevelError, SettingsError
from persona_evo.games import mapsets
from persona_evo.games.catalog.puyo import GAME, HIDDEN, links, tables
from persona_evo.games.catalog.puyo.draw import between, state_image
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


def level(text: str = "seed = 1", name: str = "here") -> Level:
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


def test_a_chain_taken_apart_is_the_one_that_is_resolved() -> None:
    count = 0
    for case in (*lines("resolve.jsonl"), *lines("resolve_ghost_garbage.jsonl")):
        wanted = case.get("tsu", case)
        state = with_field(case["field"], level())
        found = links.chain(tables.cells(state))
        points = sum(link.points for link in found)
        assert (len(found), points) == (wanted["chain"], wanted["score"]), case["id"]
        last = found[-1].after if found else tables.cells(state)
        assert "".join(tables.LETTERS[c] for row in last for c in row) == wanted["final"], case["id"]
        for link, step in zip(found, case.get("steps", []), strict=False):
            assert sorted(map(len, link.groups)) == sorted(step["groups"]) and link.points == step["score"], case["id"]
            count += 1
    assert count > 500


@pytest.mark.parametrize("game", [GAME, HIDDEN])
def test_what_is_drawn_between_two_states_leads_from_one_to_the_other(game: Any) -> None:
    """The pair placed, then two pictures a link; the last has the field and the points of the state after the drop."""
    of, pick, luck, chains = game.load("seed = 5\ncolours = 3", "three"), stream(2), stream(3), 0
    state = game.start(of)
    for number in range(1, 61):
        options = game.legal(of, state)
        action, before = options[int(below(pick, len(options)))], state.copy()
        game.rules().step(of.tables, state, action, luck)
        found = between(of, before, action, state, scale=12, number=number)
        links_made = int(state[tables.CHAIN])
        assert len(found) == (1 + 2 * links_made if links_made else 0)
        assert all(0 < ms < 300 and picture.size == (12 * 8, found[0][0].size[1]) for picture, ms in found)
        if found:
            chains += links_made > 1
            field, last = (np.asarray(p)[: 13 * 12] for p in (found[-1][0], state_image(of, state, scale=12)))
            assert (field == last).all()
            glowing = [(np.asarray(p)[: 13 * 12] == (0xFF, 0xF3, 0xB0)).all(axis=2).any() for p, _ in found]
            assert glowing == [False] + [True, False] * links_made
        if game.over(of, state) != RUNNING:
            state = game.start(of)
    assert chains >= 1


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
        for number, (long, points) in enumerate(case["results"]):
            before, after = states[number], states[number + 1]
            assert actions[number] in GAME.legal(of, before)
            measured = GAME.measure(of, after)
            assert (measured["CH"], measured["LS"]) == (long, points), (case["id"], number)
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
    step, measure, legal = (f.plain for f in (compiled.step, compiled.measure, compiled.legal))
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
            assert compiled.key(of.tables, one) == compiled.key.plain(of.tables, two)


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


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        ("", "the level is empty", "1:1"),
        ("\n\n", "the level is empty", "1:1"),
        ("# colours = 4\n", "the level is empty", "1:1"),
        ("colours = 6", "colours is out of range", "1:11"),
        ("seed = 1\ndrops = 1.5", "drops is not a whole number", "2:9"),
        ("seed = 1\n  colors = 4", "did you mean 'colours'", "2:3"),
        ("drops = [1, 2", "not TOML", "1"),
        ("seed = 1\npairs = 3", "pairs is not text", "2:9"),
        ('pairs = "RG PX"', "not a pair", "1:13"),
        ('pairs = "RG RX"', "not a pair", "1:14"),
        ('pairs = "RGB"', "not a pair", "1:12"),
        ('pairs = """\nRG\n  G"""', "not a pair", "3:4"),
        ('seed = 2\nfield = """\nR..\n"""', "this row has the wrong length", "3:4"),
        ('seed = 2\nfield = """\n\n  R.....\nR......\n"""', "this row has the wrong length", "5:7"),
        ('field = """\n  R.....\n......\n"""', "a puyo floats", "2:3"),
        ('field = """\n......\n....R.\n\n......"""', "this row has the wrong length", "4:1"),
        ('field = """\n.R....\nRR....\n.R....\n"""', "a puyo floats", "3:1"),
        ('field = """\n.R....\nRR....\nGR....\n"""', "complete group before the first drop", "2:2"),
        ("field = '.R....\\n'", "no such cell", "1:16"),
        ('field = "RR....\\nR.#.Q."', "no such cell", "1:22"),
        ('field = """\n..Q...\n"""', "no such cell", "2:3"),
        ('field = """\n' + "..#...\n" * 12 + '"""', "over before it begins", "2:3"),
        ('field = """\n' + "......\n" * 14 + '"""', "too many rows", "15:1"),
    ],
)
def test_broken_levels_name_line_and_column_and_what_to_do(text: str, said: str, place: str) -> None:
    for game in (GAME, HIDDEN):
        with pytest.raises(LevelError) as caught:
            game.load(text, "broken", "broken.txt")
        assert said in str(caught.value) and str(caught.value).startswith(f"broken.txt:{place}: "), str(caught.value)
        assert caught.value.found and caught.value.hint
        assert caught.value.expected or "not TOML" in said


@pytest.mark.parametrize("text", ["0U", "7U", "3X", "6R", "1L", ""])
def test_what_is_no_placement(text: str) -> None:
    with pytest.raises(SettingsError, match="no such placement"):
        GAME.parse_action(level(), level().start, text)


def test_the_drops_made_and_the_field_are_told_apart() -> None:
    """A key in which the drops were mixed into the first column's lowest cells took such states for one."""
    one, two = (with_field(EMPTY[:72] + letters, level()) for letters in (".R....", "RR...."))
    one[tables.DROPPED], two[tables.DROPPED] = 2, 3
    assert GAME.rules().key(level().tables, one) != GAME.rules().key(level().tables, two)
