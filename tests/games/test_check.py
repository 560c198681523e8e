"""Tests that `check_game` accepts games that keep the contract, and names the mistakes of those that do not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import pytest

from persona_evo.errors import GameError
from persona_evo.games import mapsets, registry
from persona_evo.games.check import check_game
from persona_evo.games.core import WON, Game, Metric, Rules
from persona_evo.games.python_game import from_class
from tests.examples import coin, corridor, nim
from tests.games.recording import RECORDED, check_recording, record, record_again, write_recording
from tests.shared import shared

GAME = registry.get("minidungeons2")
(LEVEL,) = mapsets.resolve(GAME, ["train01"])


@pytest.mark.parametrize("name", registry.CATALOG)
def test_every_game_of_the_catalog_keeps_the_contract(name: str) -> None:
    game = registry.get(name)
    levels = mapsets.resolve(game, ["all"])
    assert check_game(game, levels, seed=1, games=1, moves=25) > len(levels)


@pytest.mark.parametrize("name", registry.CATALOG)
def test_every_game_of_the_catalog_has_a_readme_and_a_recorded_game(name: str) -> None:
    module = registry.CATALOG[name].partition(":")[0].replace(".", "/")
    readme = Path(__file__).parents[2] / module / "README.md"
    assert readme.is_file(), f"{name} has no {readme}"
    path = RECORDED / f"{name}.json"
    assert path.is_file(), f"{name} has no recorded game: write one with python -m tests.games.recording {name}"
    assert check_recording(registry.get(name), path) >= 20


def test_both_rule_sets_of_minidungeons2_keep_the_contract() -> None:
    levels = mapsets.resolve(GAME, ["test01", "train05"], rules="paper")
    assert check_game(GAME, levels, seed=2, games=2, moves=60) > 10


def test_a_blob_that_died_stays_dead() -> None:
    """A plan once killed eleven of ten monsters: a blob died on its way, met another one and lived again."""
    path = shared("levels/md2/map03.txt")
    of = GAME.load(path.read_text(encoding="utf-8"), path.stem)
    assert check_game(GAME, [of], seed=3, games=6, moves=200) > 100
    from persona_evo.formula import parse
    from persona_evo.search.bounds import solve

    found = solve(GAME, of, parse("MS + 0.01*PE - 5*DEAD", GAME.symbols))
    assert all(GAME.measure(of, s)["MS"] <= 1 for s in GAME.replay(of, found.actions))


@pytest.mark.parametrize(("game", "text"), [(corridor.GAME, "$..$@....D"), (nim.GAME, "11"), (coin.GAME, "0.4 1")])
def test_games_written_as_classes_keep_the_contract(game: Game, text: str) -> None:
    assert check_game(game, [game.load(text, "level")], seed=4) >= 4


def changed(game: Game = GAME, **functions: Any) -> Game:
    """Return the game with some of its functions wrapped; each gets the original one first."""
    originals = {costly: game.rules(costly=costly) for costly in (False, True)}

    def rules(costly: bool = False) -> Rules:
        real = originals[costly]
        new = {k: (lambda *a, f=f, k=k: f(getattr(real, k), *a)) for k, f in functions.items()}
        return real._replace(**new)

    return dataclasses.replace(game, rules=rules)


def lost_step(step: Any, tables: Any, state: Any, action: int, rng: Any) -> int:
    raise ValueError("no such move")


def lucky_step(step: Any, tables: Any, state: Any, action: int, rng: Any) -> int:
    rng[0] += 1
    return int(step(tables, state, action, rng))


CALLS = [0]


def moody_step(step: Any, tables: Any, state: Any, action: int, rng: Any) -> int:
    CALLS[0] += 1
    return int(step(tables, state, action if CALLS[0] % 2 else -1, rng))


def greedy_legal(legal: Any, tables: Any, state: Any, actions: Any) -> int:
    n = int(legal(tables, state, actions))
    actions[n] = actions[0]
    return n + 1


def no_legal(legal: Any, tables: Any, state: Any, actions: Any) -> int:
    return 0


def many_legal(legal: Any, tables: Any, state: Any, actions: Any) -> int:
    return len(actions) + 1


def writing_over(over: Any, tables: Any, state: Any) -> int:
    state[8] += 1
    return int(over(tables, state))


def strange_over(over: Any, tables: Any, state: Any) -> int:
    return 7


def high_measure(measure: Any, tables: Any, state: Any, player: int, out: Any) -> int:
    measure(tables, state, player, out)
    out[1] = 1.5
    return 0


def lazy_measure(measure: Any, tables: Any, state: Any, player: int, out: Any) -> int:
    kept = out[12]
    measure(tables, state, player, out)
    out[12] = kept
    return 0


def late_measure(measure: Any, tables: Any, state: Any, player: int, out: Any) -> int:
    measure(tables, state, player, out)
    out[0] += 1
    return 0


def restless_key(key: Any, tables: Any, state: Any) -> int:
    CALLS[0] += 1
    return CALLS[0]


def other_mover(mover: Any, tables: Any, state: Any) -> int:
    return 1


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({"step": lost_step}, "step does not accept the legal action .*no such move"),
        ({"step": lucky_step}, "draws random numbers"),
        ({"step": moody_step}, "does not lead to the same state twice"),
        ({"legal": greedy_legal}, "names an action twice"),
        ({"legal": no_legal}, "no action is legal"),
        ({"legal": many_legal}, "max_actions is"),
        ({"over": writing_over}, "changes the state"),
        ({"over": strange_over}, "over gives 7"),
        ({"measure": high_measure}, r"PE is 1.5, its range is \[0, 1\]"),
        ({"measure": lazy_measure}, "WON is nan"),
        ({"measure": late_measure}, "ST is the clock and says 1"),
        ({"key": restless_key}, "equal states have different keys"),
        ({"mover": other_mover}, "mover gives 1"),
    ],
)
def test_broken_rules_are_found_and_placed(functions: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError, match=message) as caught:
        check_game(changed(**functions), [LEVEL], seed=5)
    assert "minidungeons2, level train01, after " in str(caught.value)


def test_broken_descriptions_are_found() -> None:
    metric = Metric("A", "a", "a number")
    for wrong, message in (
        ({"metrics": (metric, metric)}, "no duplicates"),
        ({"metrics": (Metric("A b", "a", "a number"),)}, "cannot be written in a formula"),
        ({"metrics": (Metric("A", "", ""),)}, "no name"),
        ({"metrics": (Metric("A", "a", "a number", low=2, high=1),)}, "range"),
        ({"horizon": 0}, "at least 1"),
        ({"parse_action": lambda level, state, text: 99}, "read as another action"),
    ):
        with pytest.raises(GameError, match=message):
            check_game(dataclasses.replace(GAME, **wrong), [LEVEL])
    with pytest.raises(GameError, match="no level"):
        check_game(GAME, [])


def test_a_recording_notices_a_change_of_the_rules(tmp_path: Path) -> None:
    game = corridor.GAME
    of = game.load("$.@..D", "short")
    path = tmp_path / "corridor.json"
    write_recording(path, record(game, of, [0, 0, 1, 1, 1, 1, 1]))
    assert check_recording(game, path) == 7
    before = path.read_bytes()
    write_recording(path, record_again(game, path))
    assert path.read_bytes() == before

    def generous(measure: Any, tables: Any, state: Any, player: int, out: Any) -> int:
        measure(tables, state, player, out)
        out[1] = 1.0
        return 0

    with pytest.raises(GameError, match=r"after move 0 it differs: COINS 0.0 -> 1.0"):
        check_recording(changed(game, measure=generous), path)
    with pytest.raises(GameError, match="version 1, but corridor is version 2: record it again"):
        check_recording(dataclasses.replace(game, version=2), path)
    with pytest.raises(GameError, match="no recorded game"):
        check_recording(game, tmp_path / "none.json")
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(GameError, match="cannot be replayed"):
        check_recording(game, path)


def test_the_recorded_game_shows_what_the_rules_have() -> None:
    import json

    kept = json.loads((RECORDED / "minidungeons2.json").read_text(encoding="utf-8"))
    last = kept["metrics"][-1]
    assert kept["outcomes"][-1] == WON and last["WON"] == 1
    assert all(last[symbol] > 0 for symbol in ("MTK", "JT", "TU", "TS", "PD", "TO", "MS"))


class Race(nim.Nim):
    copy = None

    def over(self) -> str | None:
        return ("lost" if self.turn == 0 else "won") if self.matches <= 0 else None


class Patience(corridor.Corridor):
    copy = None

    def over(self) -> str | None:
        return "ended" if self.steps > 2 else None


def notices(game: Game, text: str) -> list[str]:
    heard: list[str] = []
    check_game(game, [game.load(text, "level")], seed=1, notice=heard.append)
    return heard


def test_a_game_that_nobody_can_win_is_told() -> None:
    (two,) = notices(nim.GAME, "9")
    assert 'all 4 random games that came to an end are "ended"' in two and "every game of a match is a tie" in two
    assert notices(from_class(Race, players=2), "9") == []
    (one,) = notices(from_class(Patience), "@......")
    assert 'over() says "won"' in one
    assert notices(GAME, LEVEL.text) == []


class Wide:
    """A choice of one of very many actions, one of which no state may be asked to make."""

    metrics = (Metric("SUM", "sum", "of all choices"),)
    made: ClassVar[set[int]] = set()

    def __init__(self, total: int = 0, moves: int = 0) -> None:
        self.total, self.moves = total, moves

    @classmethod
    def from_text(cls, text: str) -> Wide:
        return cls()

    def copy(self) -> Wide:
        return Wide(self.total, self.moves)

    def legal(self) -> range:
        return range(2_000)

    def apply(self, action: int) -> None:
        self.made.add(action)
        self.total, self.moves = self.total + action, self.moves + 1

    def over(self) -> str | None:
        return "won" if self.moves >= 5 else None

    def measure(self) -> dict[str, float]:
        return {"SUM": self.total}

    def key(self) -> tuple[int, int]:
        return self.total, self.moves


def test_of_very_many_actions_some_are_tried_and_progress_is_told() -> None:
    Wide.made.clear()
    game, heard = from_class(Wide, max_actions=2_000), list[str]()
    assert check_game(game, [game.load("x", "wide")], seed=1, progress=heard.append) == 24
    assert 50 < len(Wide.made) <= 220, "ten a state, and others in the next"
    assert heard[0] == "checking wide, game 1 of 4, 0 moves" and heard[-1] == "checking wide, game 4 of 4, 4 moves"
