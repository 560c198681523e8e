"""A game of chance as a Python class: take a sure prize, or toss a coin for a larger one.

The level is two numbers, the sure prize and the coin's: "0.4 1" makes the coin worth 0.5.
"""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class


class Coin:
    """A single decision between a sure prize and a toss for a larger one."""

    actions = ("toss", "take")
    metrics = (Metric("PRIZE", "prize", "what was won", better="higher"),)

    def __init__(self, sure, large, prize=None):
        self.sure, self.large, self.prize = sure, large, prize

    @classmethod
    def from_text(cls, text):
        sure, large = text.split()
        return cls(float(sure), float(large))

    def copy(self):
        return Coin(self.sure, self.large, self.prize)

    def legal(self):
        return self.actions

    def apply(self, action, dice):
        self.prize = self.sure if action == "take" else self.large * dice.below(2)

    def over(self):
        return None if self.prize is None else "ended"

    def measure(self):
        return {"PRIZE": self.prize or 0.0}

    def key(self):
        return self.prize


GAME = from_class(Coin, deterministic=False)
