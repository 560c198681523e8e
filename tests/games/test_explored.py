"""Tests games of which only the rules are known: findings from exploring all states, and what must not be claimed."""

from __future__ import annotations

import pytest

from persona_evo.games import exploration, explored, registry
from persona_evo.games.catalog.roguelike2d.analysis import least_damage
from persona_evo.games.core import Game, Metric
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding, where
from persona_evo.games.python_game import from_class
from persona_evo.search.outlook import outlook
from tests.examples.corridor import GAME as CORRIDOR
from tests.examples.lanes import GAME as LANES
from tests.examples.vault import GAME as VAULT


def vault(*rows: str, light: int = 0) -> list[Finding]:
    return diagnose(VAULT, [VAULT.load("\n".join((str(light), *rows)) + "\n", "made")])


def one(*rows: str, light: int = 0) -> Finding:
    (finding,) = vault(*rows, light=light)
    return finding


def places(finding: Finding) -> list[str]:
    return [where(p) for p in finding.places]


def test_a_sound_level_has_no_findings() -> None:
    assert vault("#######", "#@ $ >#", "#  ^  #", "#######") == []
    assert vault("########", "#@kD  >#", "########") == []
    assert vault("########", "#@ ^^^>#", "#      #", "########") == [], "a way around the traps"
    assert vault("########", "#@ +  >#", "########", light=4) == [], "the light suffices with more of it"


def test_a_walled_in_exit_names_the_wall_to_open() -> None:
    finding = one("#######", "#@ $#>#", "#  ^###", "#######")
    assert finding.kind == "unreachable_exit" and places(finding) == ["2:6", "2:5"]
    assert finding.look == "Open the way at 2:5."
    door = one("########", "#@ D  >#", "########")
    assert door.kind == "unreachable_exit" and places(door) == ["2:7", "2:4"]


def test_a_walled_in_exit_is_no_lack_of_light() -> None:
    assert one("#######", "#@  #>#", "#######", light=9).kind == "unreachable_exit"
    dark = one("########", "#@    >#", "########", light=4)
    assert dark.kind == "scarce_resource" and dark.evidence["LIGHT"] == 4


def test_each_coin_is_judged_by_itself() -> None:
    finding = one("#########", "#@ $ >#$#", "#     ###", "#########")
    assert finding.kind == "unreachable_object" and places(finding) == ["2:8"]
    assert finding.evidence["most"] == 0.5 and finding.severity == "problem"


def test_traps_that_kill_and_traps_that_only_hurt() -> None:
    deadly = one("########", "#@ ^^^>#", "########")
    assert deadly.kind == "deadly_way" and places(deadly) == ["2:4", "2:5", "2:6"]
    forced = one("########", "#@ ^^ >#", "########")
    assert (forced.kind, forced.severity, places(forced)) == ("forced_hazard", "notice", ["2:4", "2:5"])
    assert forced.evidence["most_health_left"] == 1


def test_one_key_too_few() -> None:
    finding = one("########", "#@kD D>#", "########")
    assert finding.kind == "scarce_resource" and places(finding) == ["2:3"]
    shut = one("##########", "#@ D  >#k#", "##########")
    assert shut.kind == "unreachable_object" and places(shut) == ["2:9"]


def test_a_pit_is_a_place_of_no_return_and_a_dead_end_is_none() -> None:
    rows = ("########", "#@    >#", "### ####", "###O####", "########")
    finding = one(*rows)
    assert finding.kind == "no_return" and finding.severity == "problem" and places(finding) == ["4:4"]
    assert vault(*(row.replace("O", " ") for row in rows)) == []


def test_a_key_spent_on_the_wrong_door_gives_the_win_away() -> None:
    finding = one("########", "#D@kD >#", "# ######", "########")
    assert (finding.kind, finding.severity) == ("no_return", "notice") and "2:2" in places(finding)


def test_a_key_without_a_door_is_useless() -> None:
    finding = one("########", "#@k   >#", "########")
    assert (finding.kind, finding.severity, places(finding)) == ("useless_object", "notice", ["2:3"])


@pytest.mark.parametrize(
    ("game", "text", "kinds"),
    [
        (CORRIDOR, "@ $ D", set()),
        (CORRIDOR, "@ $ ", {"impossible"}),
        (LANES, "", set()),
    ],
)
def test_the_games_of_the_examples(game: Game, text: str, kinds: set[str]) -> None:
    assert {f.kind for f in diagnose(game, [game.load(text, "level")])} == kinds


class Slope:
    """Down a slope of five steps, one at a time or with one leap; at its foot the game is lost."""

    actions = ("step", "leap")
    metrics = (Metric("AT", "depth", "steps down from the top", high=5),)

    def __init__(self, left: int = 5) -> None:
        self.left = left

    @classmethod
    def from_text(cls, text: str) -> Slope:
        return cls()

    def copy(self) -> Slope:
        return Slope(self.left)

    def legal(self) -> tuple[str, ...]:
        return self.actions

    def apply(self, action: str) -> None:
        self.left = max(0, self.left - 1) if action == "step" else min(self.left, 1) - (self.left == 1)

    def over(self) -> str | None:
        return None if self.left else "lost"

    def measure(self) -> dict[str, float]:
        return {"AT": 5 - self.left}

    def key(self) -> int:
        return self.left


def test_the_number_of_moves_is_that_of_the_longest_line_of_play() -> None:
    game = from_class(Slope)
    level = game.load("", "slope")
    found = exploration.explore(game, level)
    assert found.all_die and found.depth[-1] == 3 and found.longest == 5
    (finding,) = diagnose(game, [level])
    assert finding.kind == "lethal_start" and "is lost within 5 moves (proven)" in finding.text
    assert outlook(game, level).longest == 5


def test_harder_copies_of_a_class() -> None:
    easy = VAULT.load("0\n########\n#@    >#\n########\n", "easy")
    hard = VAULT.load("0\n########\n#@ ^  >#\n########\n", "hard")
    (finding,) = [f for f in diagnose(VAULT, [hard, easy]) if f.kind == "harder_copy"]
    assert finding.level == "easy, hard" and "1 fewer hit point (HP) at a win at best" in finding.text
    assert explored.hardness(VAULT, easy)["moves to the first win"] == 5


def test_days_of_the_roguelike_on_which_everybody_is_hit() -> None:
    game = registry.get("roguelike2d")
    level = game.load("seed = 1014\ndays = 16\nplayer = forward_only\n", "hit")
    (finding,) = diagnose(game, [level])
    assert finding.kind == "forced_hazard" and finding.evidence["days"] == [16]
    assert least_damage(level, 16) == 10 and least_damage(level, 1) == 0
    free = game.load("seed = 1014\ndays = 16\n", "free")
    assert diagnose(game, [free]) == []


def test_a_field_that_is_as_good_as_full_is_a_lethal_start() -> None:
    puyo = registry.get("puyo")
    rows = ["RG.YGB", "GB.RYR", *("RGRYGB" if k % 2 else "GBGRYR" for k in range(11))]
    level = puyo.load('drops = 20\npairs = "RG YB RG YB"\nfield = """\n' + "\n".join(rows) + '\n"""\n', "full")
    (finding,) = diagnose(puyo, [level])
    assert finding.kind == "lethal_start" and finding.evidence["proven"] is True
    assert diagnose(puyo, [puyo.load("drops = 3\n", "empty")]) == []


class Lake:
    """Gems on the ground; a tile of water ends the game. Places are (row, column), or (x, y) where `turned` is -1."""

    actions = ("up", "down", "left", "right")
    metrics = (
        Metric("ST", "steps", "moves so far", better="lower", clock=True),
        Metric("GEMS", "gems", "share of the gems picked up", high=1, better="higher"),
    )
    turned = 1

    def __init__(self, rows: list[str], at: tuple[int, int], gems: frozenset[tuple[int, int]], steps: int = 0) -> None:
        self.rows, self.at, self.gems, self.steps = rows, at, gems, steps

    @classmethod
    def from_text(cls, text: str) -> Lake:
        rows = text.split()
        cells = {(y, x): c for y, row in enumerate(rows) for x, c in enumerate(row)}
        (at,) = (p for p, c in cells.items() if c == "@")
        return cls(rows, at, frozenset(p for p, c in cells.items() if c == "*"))

    def _to(self, action: str) -> tuple[int, int]:
        dy, dx = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}[action]
        return self.at[0] + dy, self.at[1] + dx

    def _char(self) -> str:
        return self.rows[self.at[0]][self.at[1]]

    def legal(self) -> list[str]:
        return [a for a in self.actions if self.rows[self._to(a)[0]][self._to(a)[1]] != "#"]

    def apply(self, action: str) -> None:
        self.at = self._to(action)
        self.gems, self.steps = self.gems - {self.at}, self.steps + 1

    def over(self) -> str | None:
        return {"F": "won", "~": "lost"}.get(self._char())

    def measure(self) -> dict[str, float]:
        return {"ST": self.steps, "GEMS": 1 - len(self.gems) / sum(row.count("*") for row in self.rows)}

    def key(self) -> tuple[object, ...]:
        return self.at, *sorted(self.gems)

    def position(self) -> tuple[int, int]:
        return self.at[:: self.turned]  # type: ignore[return-value]


class Pond(Lake):
    """The same with places as (x, y)."""

    turned = -1


@pytest.mark.parametrize("game", [Lake, Pond])
def test_what_nobody_gets_is_what_the_metric_counts_and_no_wall(game: type) -> None:
    text = "#########\n#@..~.*.#\n#.*.~..F#\n#F..#####\n#########\n"
    lake = from_class(game, title="Lake")
    (finding,) = diagnose(lake, [lake.load(text, "lake")])
    assert places(finding) == ["2:7"] and finding.text == (
        "Nobody ever gets the '*' at 2:7: no way leads there, so gems (GEMS) cannot exceed 50 % (proven)."
    )
