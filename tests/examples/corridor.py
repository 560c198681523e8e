"""A game as an ordinary Python class: walk along a corridor, pick up coins, leave by the door."""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class


class Corridor:
    """A row of tiles, a coin on some of them, and a door at one end."""

    actions = ("left", "right")
    metrics = (
        Metric("ST", "steps", "moves so far", better="lower", clock=True),
        Metric("COINS", "coins", "share of the coins picked up", high=1, better="higher"),
        Metric("OUT", "out", "1 when through the door", high=1, better="higher"),
    )

    def __init__(self, tiles, at, coins, steps=0):
        self.tiles, self.at, self.coins, self.steps = tiles, at, coins, steps

    @classmethod
    def from_text(cls, text):
        tiles = text.strip()
        return cls(tiles, tiles.index("@"), frozenset(i for i, c in enumerate(tiles) if c == "$"))

    def copy(self):
        return Corridor(self.tiles, self.at, self.coins, self.steps)

    def legal(self):
        return [a for a, to in (("left", self.at - 1), ("right", self.at + 1)) if 0 <= to < len(self.tiles)]

    def apply(self, action):
        self.at = min(max(self.at + (1 if action == "right" else -1), 0), len(self.tiles) - 1)
        self.coins, self.steps = self.coins - {self.at}, self.steps + 1

    def over(self):
        return "won" if self.tiles[self.at] == "D" else None

    def measure(self):
        total = self.tiles.count("$") or 1
        return {"ST": self.steps, "COINS": 1 - len(self.coins) / total, "OUT": float(self.tiles[self.at] == "D")}

    def key(self):
        return self.at, *sorted(self.coins)

    def reach(self, moves):
        total = self.tiles.count("$") or 1
        most = sum(abs(coin - self.at) > moves for coin in self.coins)
        return {"COINS": (1 - len(self.coins) / total, 1 - most / total)}

    def novelty(self):
        return self.at, *(i in self.coins for i, tile in enumerate(self.tiles) if tile == "$")


GAME = from_class(Corridor, title="Corridor")
