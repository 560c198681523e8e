"""A game as a Python class with most of what a dungeon has: find the way out of a vault.

| character | what |
|---|---|
| `#` | wall |
| `@`, `>` | start, way out |
| `$` | coin |
| `^` | trap, costs 1 of 3 hit points |
| `k`, `D` | key, door that a key opens |
| `O` | pit that nobody climbs out of |
| `+` | 5 more light; each move uses 1 of what the first line says, 0 for daylight |
"""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class

MOVES = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}


class Vault:
    """A vault with coins, keys, doors and the dark."""

    actions = tuple(MOVES)
    health = "HP"
    metrics = (
        Metric("COINS", "coins", "share of the coins picked up", high=1, better="higher", ratio=True),
        Metric("HP", "hit points", "hit points left", high=3, better="higher"),
        Metric("KEYS", "keys", "keys in hand"),
        Metric("LIGHT", "light", "moves before it is dark, 0 in daylight", better="higher"),
        Metric("OUT", "out", "1 when out", high=1, better="higher"),
    )

    def __init__(self, rows, at, things, doors, light, dark, hp=3, keys=0):
        self.rows, self.at, self.things, self.doors = rows, at, things, doors
        self.light, self.dark, self.hp, self.keys = light, dark, hp, keys

    @classmethod
    def from_text(cls, text):
        first, *rows = text.splitlines()
        cells = {(x, y): c for y, row in enumerate(rows) for x, c in enumerate(row)}
        (start,) = (p for p, c in cells.items() if c == "@")
        things = frozenset(p for p, c in cells.items() if c in "$k+")
        doors = frozenset(p for p, c in cells.items() if c == "D")
        return cls(tuple(rows), start, things, doors, int(first), int(first) > 0)

    def copy(self):
        return Vault(self.rows, self.at, self.things, self.doors, self.light, self.dark, self.hp, self.keys)

    def tile(self, at):
        return self.rows[at[1]][at[0]]

    def legal(self):
        return self.actions

    def apply(self, action):
        to = (self.at[0] + MOVES[action][0], self.at[1] + MOVES[action][1])
        self.light -= self.dark
        if self.tile(self.at) == "O" or self.tile(to) == "#" or (to in self.doors and not self.keys):
            return
        self.at, char = to, self.tile(to)
        if to in self.doors:
            self.doors, self.keys = self.doors - {to}, self.keys - 1
        if to in self.things:
            self.things, self.keys = self.things - {to}, self.keys + (char == "k")
            self.light += 5 * (char == "+")
        self.hp -= char == "^"

    def over(self):
        if self.tile(self.at) == ">":
            return "won"
        return "lost" if self.hp == 0 or (self.dark and self.light <= 0) else None

    def measure(self):
        total = sum(row.count("$") for row in self.rows) or 1
        left = sum(self.tile(p) == "$" for p in self.things)
        return {
            "COINS": 1 - left / total,
            "HP": self.hp,
            "KEYS": self.keys,
            "LIGHT": max(0, self.light),
            "OUT": float(self.over() == "won"),
        }

    def key(self):
        return self.at, tuple(sorted(self.things)), tuple(sorted(self.doors)), self.light, self.hp, self.keys

    def position(self):
        return self.at


GAME = from_class(Vault)
