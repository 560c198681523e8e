"""A game as a Python class: a hiker whose strength runs out, food, gems, mud, and ledges that go one way only.

`#` rock, `.` path, `@` start, `G` hut (the goal), `*` gem, `f` food (6 strength), `~` mud (3 strength instead of 1),
`^ > v <` ledges, which are entered and left only in the direction shown. The hiker starts with a strength of 15.
"""

from __future__ import annotations

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class

STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
LEDGES = {"^": "north", ">": "east", "v": "south", "<": "west"}
STRENGTH, FOOD, MUD = 15, 6, 3


class Trail:
    actions = tuple(STEPS)
    metrics = (
        Metric("ST", "steps", "moves so far", better="lower", clock=True),
        Metric("STR", "strength", "strength left", better="higher"),
        Metric("GEMS", "gems", "share of the gems picked up", high=1, better="higher", ratio=True),
        Metric("ATE", "food eaten", "portions eaten"),
        Metric("WON", "won", "1 when in the hut", high=1, better="higher"),
    )
    care = "STR"

    def __init__(self, tiles, at, strength=STRENGTH, gone=frozenset(), steps=0):
        self.tiles, self.at, self.strength, self.gone, self.steps = tiles, at, strength, gone, steps

    @classmethod
    def from_text(cls, text):
        tiles = {(x, y): c for y, row in enumerate(text.splitlines()) for x, c in enumerate(row)}
        starts = [spot for spot, c in tiles.items() if c == "@"]
        if len(starts) != 1 or set(tiles.values()) - set("#.@G*f~^>v<"):
            raise ValueError("a trail has one @ and otherwise # . G * f ~ ^ > v <")
        return cls(tiles, starts[0])

    def copy(self):
        return Trail(self.tiles, self.at, self.strength, self.gone, self.steps)

    def beside(self, action):
        (x, y), (dx, dy) = self.at, STEPS[action]
        return x + dx, y + dy

    def legal(self):
        on = LEDGES.get(self.tiles[self.at])
        found = []
        for action in self.actions:
            c = self.tiles.get(self.beside(action), "#")
            if c != "#" and LEDGES.get(c, action) == action and on in (None, action):
                found.append(action)
        return found

    def apply(self, action):
        self.at, self.steps = self.beside(action), self.steps + 1
        c = self.tiles[self.at]
        self.strength -= MUD if c == "~" else 1
        if c in "*f" and self.at not in self.gone:
            self.gone |= {self.at}
            self.strength += FOOD if c == "f" else 0

    def over(self):
        if self.tiles[self.at] == "G":
            return "won"
        return "lost" if self.strength <= 0 else None

    def measure(self):
        gems = [spot for spot, c in self.tiles.items() if c == "*"]
        taken = sum(spot in self.gone for spot in gems) / max(1, len(gems))
        ate = sum(self.tiles[spot] == "f" for spot in self.gone)
        return {
            "ST": self.steps,
            "STR": max(0, self.strength),
            "GEMS": taken,
            "ATE": ate,
            "WON": float(self.over() == "won"),
        }

    def key(self):
        return self.at, self.strength, *sorted(self.gone)

    def position(self):
        return self.at


GAME = from_class(Trail, title="Trail", horizon=60)
