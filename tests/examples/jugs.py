"""A game as a Python class without `key`: measure out water with jugs, by filling, emptying and pouring."""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class


class Jugs:
    """Jugs of some sizes, and the amount of water that the first one should hold."""

    metrics = (
        Metric("MOVES", "moves", "moves so far", better="lower", clock=True),
        Metric("OFF", "off", "how far the first jug is from the amount wanted", better="lower"),
        Metric("SPILT", "spilt", "water poured away", better="lower"),
        Metric("WATER", "water", "in all jugs"),
    )

    def __init__(self, wanted, sizes, amounts, spilt=0):
        self.wanted, self.sizes, self.amounts, self.spilt = wanted, sizes, amounts, spilt
        self.moves = 0

    @classmethod
    def from_text(cls, text):
        wanted, *sizes = map(int, text.split())
        return cls(wanted, tuple(sizes), (0,) * len(sizes))

    def legal(self):
        n = len(self.sizes)
        fill = [k for k in range(n) if self.amounts[k] < self.sizes[k]]
        empty = [n + k for k in range(n) if self.amounts[k] > 0]
        pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
        pour = [2 * n + i for i, (a, b) in enumerate(pairs) if self.amounts[a] and self.amounts[b] < self.sizes[b]]
        return fill + empty + pour

    def apply(self, action):
        n, amounts = len(self.sizes), list(self.amounts)
        if action < n:
            amounts[action] = self.sizes[action]
        elif action < 2 * n:
            self.spilt += amounts[action - n]
            amounts[action - n] = 0
        else:
            a, b = [(a, b) for a in range(n) for b in range(n) if a != b][action - 2 * n]
            moved = min(amounts[a], self.sizes[b] - amounts[b])
            amounts[a], amounts[b] = amounts[a] - moved, amounts[b] + moved
        self.amounts, self.moves = tuple(amounts), self.moves + 1

    def over(self):
        return "won" if self.amounts[0] == self.wanted else None

    def measure(self):
        off = abs(self.amounts[0] - self.wanted)
        return {"MOVES": self.moves, "OFF": off, "SPILT": self.spilt, "WATER": sum(self.amounts)}


GAME = from_class(Jugs, title="Jugs", max_actions=20)
