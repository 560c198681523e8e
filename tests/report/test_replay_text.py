"""Tests playthroughs as text, for each game of the catalog and for games written as a class."""

from __future__ import annotations

import numpy as np
import pytest

from persona_evo.errors import GameError, VerificationError
from persona_evo.games import registry
from persona_evo.games.core import Game, Level, Metric
from persona_evo.games.guides import guide
from persona_evo.games.mapsets import resolve
from persona_evo.games.python_game import from_class
from persona_evo.games.python_game.levels import as_text
from persona_evo.playtest.records import End, Playthrough
from persona_evo.report.replay_text import picture, told

pytestmark = pytest.mark.quick


class Corridor:
    """Walk east until the goal."""

    metrics = (Metric("AT", "place", "how far it is"),)
    actions = ("east",)

    def __init__(self, length: int) -> None:
        self.length, self.at = length, 0

    @classmethod
    def from_text(cls, text: str) -> Corridor:
        return cls(len(text.strip()))

    def legal(self) -> list[str]:
        return ["east"]

    def apply(self, action: str) -> None:
        self.at += 1

    def over(self) -> str | None:
        return "won" if self.at == self.length - 1 else None

    def measure(self) -> dict[str, float]:
        return {"AT": self.at}

    def position(self) -> tuple[int, int]:
        return self.at, 0


PICTURES = {
    "minidungeons2": "H",
    "roguelike2d": "@",
    "colosseum": "+",
    "puyo": "......",
    "its_alive": "",
}


def playing(game: Game, level: Level, moves: int) -> tuple[list[str], list[str]]:
    """Return names of the first legal moves, and the lines of the last state."""
    state = game.start(level, 1)
    names = []
    for _ in range(moves):
        action = game.legal(level, state)[0]
        names.append(game.action_name(level, state, action))
        game.rules().step(level.tables, state, action, np.ones(2, dtype=np.int64))
    return names, picture(game, level, state)


@pytest.mark.parametrize("name", PICTURES)
def test_states_of_the_catalog_s_games_are_shown(name: str) -> None:
    game = registry.get(name)
    level = resolve(game, ["test"])[0]
    _, lines = playing(game, level, 2)
    assert bool(lines) == bool(PICTURES[name])
    assert PICTURES[name] in "\n".join(lines)
    assert len({len(line) for line in lines[name == "colosseum" and lines[0].startswith("turn") :]}) <= 1


def test_a_class_shows_itself_or_its_level_with_the_avatar() -> None:
    level = from_class(Corridor).load("..G", "c")
    silent = picture(from_class(Corridor), level, level.start)

    class Drawn(Corridor):
        def draw(self) -> str:
            return "drawn\tstate"

    class Said(Corridor):
        def __str__(self) -> str:
            return "said"

    class Broken(Corridor):
        def draw(self) -> str:
            raise KeyError("no")

    shown = [as_text(from_class(cls).load("..G", "c").start) for cls in (Corridor, Drawn, Said)]
    assert shown == ["", "drawn\tstate", "said"]
    assert picture(from_class(Drawn), level, from_class(Drawn).load("..G", "c").start) == ["drawn?state"]
    assert silent == ["@.G"]
    with pytest.raises(GameError, match=r"Broken.draw raises KeyError"):
        as_text(from_class(Broken).load("..G", "c").start)


def test_moves_and_events_have_one_kind_of_coordinates_and_words() -> None:
    words = guide(registry.get("minidungeons2"))
    assert [words.action(name) for name in ("N", "J,14,6", "-")] == ["N", "J@7:15", "-"]
    told = [words.event(kind) for kind in ("trap", "monster:wizard", "death:trap", "treasure:ogre")]
    assert told == ["trap sprung", "blows with the wizard", "killed by the trap", "treasure taken by the ogre"]
    plain = guide(registry.get("puyo"))
    assert plain.event("monster:wizard") == "monster wizard" and plain.action("J,1,2") == "J,1,2"


def test_moves_events_and_what_follows_the_plan_are_told() -> None:
    game = registry.get("minidungeons2")
    level = game.load("XXXXXXX\nXHT  eX\nXXXXXXX\n", "row", "")
    after = game.replay(level, [1])[1]
    record = Playthrough(
        "row",
        "runner",
        "running",
        game.measure(level, after),
        0.5,
        1,
        seed=0,
        actions=["E"],
        positions=[(1, 1), (2, 1)],
        end=End("won", 1.0, 4, actions=["E", "E", "E"]),
    )
    lines = list(told(game, level, record))
    text = "\n".join(lines)
    assert "0/4 start  10 hit points" in text and "4/4 E" in text and lines[-1].startswith("won after 4 moves")
    assert lines.index("X H  eX") < next(i for i, line in enumerate(lines) if "the plan ends" in line)
    assert "TO 0 -> 1" in text and "X   HeX" in text
    assert lines[1] == f"signs: {guide(game).signs}; places are row:column from the top left"
    wrong = Playthrough("row", "runner", "running", {**record.metrics, "TO": 0.0}, 0.5, 1, actions=["E"])
    with pytest.raises(VerificationError):
        list(told(game, level, wrong))
