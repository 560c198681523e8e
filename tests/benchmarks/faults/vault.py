"""A game as a Python class: a thief with a few hit points, keys, doors, spikes and guards, and gold on the way out.

`#` wall, ` ` floor, `@` start, `>` exit, `$` gold, `k` key, `D` door (takes a key for good), `^` spikes (1 hit point,
each time), `+` bandage (1 hit point), `g` guard (2 hit points, once). The thief starts with 4 hit points.
"""

from __future__ import annotations

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class

STEPS = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
HIT_POINTS = 4


class Vault:
    actions = tuple(STEPS)
    metrics = (
        Metric("ST", "steps", "moves so far", better="lower", clock=True),
        Metric("HP", "hit points", "hit points left", better="higher"),
        Metric("GOLD", "gold", "share of the gold picked up", high=1, better="higher", ratio=True),
        Metric("KEYS", "keys", "keys in hand"),
        Metric("DEAD", "dead", "1 when no hit points are left", high=1, better="lower"),
        Metric("WON", "won", "1 when out with the loot", high=1, better="higher"),
    )
    care = "HP"

    def __init__(self, tiles, at, health=HIT_POINTS, keys=0, gone=frozenset(), steps=0):
        self.tiles, self.at, self.health, self.keys, self.gone, self.steps = tiles, at, health, keys, gone, steps

    @classmethod
    def from_text(cls, text):
        tiles = {(x, y): c for y, row in enumerate(text.splitlines()) for x, c in enumerate(row)}
        starts = [spot for spot, c in tiles.items() if c == "@"]
        if len(starts) != 1 or set(tiles.values()) - set("# @>$kD^+g"):
            raise ValueError("a vault has one @ and otherwise # > $ k D ^ + g and spaces")
        return cls(tiles, starts[0])

    def copy(self):
        return Vault(self.tiles, self.at, self.health, self.keys, self.gone, self.steps)

    def char(self, spot):
        c = self.tiles.get(spot, "#")
        return " " if spot in self.gone else c

    def beside(self, action):
        (x, y), (dx, dy) = self.at, STEPS[action]
        return x + dx, y + dy

    def legal(self):
        there = {a: self.char(self.beside(a)) for a in self.actions}
        return [a for a, c in there.items() if c != "#" and (c != "D" or self.keys)]

    def apply(self, action):
        self.at, self.steps = self.beside(action), self.steps + 1
        c = self.char(self.at)
        if c in "$kD+g":
            self.gone |= {self.at}
        self.keys += {"k": 1, "D": -1}.get(c, 0)
        self.health += {"^": -1, "+": 1, "g": -2}.get(c, 0)

    def over(self):
        if self.health <= 0:
            return "lost"
        return "won" if self.tiles[self.at] == ">" else None

    def measure(self):
        gold = [spot for spot, c in self.tiles.items() if c == "$"]
        taken = sum(spot in self.gone for spot in gold) / max(1, len(gold))
        over = self.over()
        return {
            "ST": self.steps,
            "HP": max(0, self.health),
            "GOLD": taken,
            "KEYS": self.keys,
            "DEAD": float(over == "lost"),
            "WON": float(over == "won"),
        }

    def key(self):
        return self.at, self.health, self.keys, *sorted(self.gone)

    def position(self):
        return self.at


GAME = from_class(Vault, title="Vault", horizon=80)
