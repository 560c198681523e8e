"""A game for two as a Python class: players claim lanes in turn; some lanes give another turn. More points win."""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class

WORTH = (1, 2, 3, 5, 8)
AGAIN = 1
"""Who claims this lane moves once more."""


class Lanes:
    """Five lanes that two players take in turn."""

    actions = ("a", "b", "c", "d", "e")
    metrics = (Metric("LEAD", "lead", "own points less the other's", low=-19, high=19),)

    def __init__(self, owners=(None,) * 5, turn=0):
        self.owners, self.turn = owners, turn

    @classmethod
    def from_text(cls, text):
        return cls()

    def copy(self):
        return Lanes(self.owners, self.turn)

    def legal(self):
        return tuple(a for a, owner in zip(self.actions, self.owners, strict=True) if owner is None)

    def apply(self, action):
        lane = self.actions.index(action)
        self.owners = (*self.owners[:lane], self.turn, *self.owners[lane + 1 :])
        self.turn = self.turn if lane == AGAIN else 1 - self.turn

    def over(self):
        return None if None in self.owners else "ended"

    def mover(self):
        return self.turn

    def measure(self, player):
        mine = sum(w for w, owner in zip(WORTH, self.owners, strict=True) if owner == player)
        return {"LEAD": 2 * mine - sum(w for w, owner in zip(WORTH, self.owners, strict=True) if owner is not None)}

    def key(self):
        return self.owners, self.turn


class Windy(Lanes):
    """Who moves next is left to chance."""

    def copy(self):
        return Windy(self.owners, self.turn)

    def apply(self, action, dice):
        super().apply(action)
        self.turn = dice.below(2)


GAME, WINDY = from_class(Lanes, players=2), from_class(Windy, players=2, deterministic=False)
