"""A game for two as a Python class: take one to three matches; who takes the last one wins."""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class


class Nim:
    """A heap of matches; whoever takes the last one wins."""

    actions = ("one", "two", "three")
    metrics = (Metric("GAIN", "gain", "1 for who took the last match, -1 for the other", low=-1, high=1),)

    def __init__(self, matches, turn=0):
        self.matches, self.turn = matches, turn

    @classmethod
    def from_text(cls, text):
        return cls(int(text))

    def copy(self):
        return Nim(self.matches, self.turn)

    def legal(self):
        return self.actions[: self.matches]

    def apply(self, action):
        self.matches -= self.actions.index(action) + 1
        self.turn = 1 - self.turn

    def over(self):
        return "ended" if self.matches <= 0 else None

    def mover(self):
        return self.turn

    def measure(self, player):
        if self.matches > 0:
            return {"GAIN": 0}
        return {"GAIN": -1 if self.turn == player else 1}

    def key(self):
        return self.matches, self.turn


GAME = from_class(Nim, players=2)
