"""A museum at night as a Python class, with everything that an evolution can use: levels from a seed, ways to things.

| character | what |
|---|---|
| `#` | wall |
| `@`, `>` | start, door to the street |
| `*` | gem |
| `-`, `|` | guard who walks east and west, or south and north, and turns where a wall is in the way |

The thief moves first, then all guards. A guard who stands where the thief is, or changes places with it, catches it.
"""

import math
from collections import deque

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class

MOVES = {"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0), "wait": (0, 0)}
HEADINGS = {"-": (1, 0), "|": (0, 1)}
WIDTH, HEIGHT = 13, 9
GEMS, GUARDS, PILLARS = 6, 3, 18
"""What is drawn into a level; pillars are inner walls."""
FAR = 9
"""Moves from the start to the door at least."""


def ahead(at, heading):
    """Return the place one step ahead."""
    return at[0] + heading[0], at[1] + heading[1]


class Plan:
    """What a level fixes: where one can stand, where door and gems are, and where each guard is at each step."""

    def __init__(self, text):
        cells = {(x, y): c for y, row in enumerate(text.strip("\n").split("\n")) for x, c in enumerate(row)}
        self.free = frozenset(p for p, c in cells.items() if c != "#")
        starts = [p for p, c in cells.items() if c == "@"]
        self.doors = tuple(p for p, c in cells.items() if c == ">")
        if len(starts) != 1 or not self.doors:
            raise ValueError("a level has one @ and at least one >")
        self.start, self.gems = starts[0], tuple(p for p, c in cells.items() if c == "*")
        rounds = [self.round(p, HEADINGS[c]) for p, c in cells.items() if c in HEADINGS]
        self.period = math.lcm(*map(len, rounds))
        self.guards = [tuple(r[step % len(r)] for r in rounds) for step in range(self.period + 1)]

    def turned(self, at, heading):
        return heading if ahead(at, heading) in self.free else (-heading[0], -heading[1])

    def round(self, at, heading):
        """The places of a guard until it is where it was, and looks the same way."""
        heading = first = self.turned(at, heading)
        places = [at]
        while True:
            at = ahead(at, heading) if ahead(at, heading) in self.free else at
            heading = self.turned(at, heading)
            if (at, heading) == (places[0], first):
                return places
            places.append(at)


class Museum:
    """Take the gems, keep away from the guards, and get out."""

    actions = tuple(MOVES)
    metrics = (
        Metric("ST", "steps", "moves so far", better="lower", clock=True),
        Metric("GEMS", "gems", "share of the gems taken", high=1, better="higher", ratio=True),
        Metric("OUT", "out", "1 when out in the street", high=1, better="higher"),
        Metric("CAUGHT", "caught", "1 when caught by a guard", high=1, better="lower"),
        Metric("GD", "guard's distance", "rows and columns to the nearest guard, 10 at most", high=10, better="higher"),
    )
    ways = {"NG": "gem", "NX": "door"}  # noqa: RUF012
    homing = "-NX"

    def __init__(self, plan, at, gems, steps=0, caught=False):
        self.plan, self.at, self.gems, self.steps, self.caught = plan, at, gems, steps, caught

    @staticmethod
    def generate(rng):
        cells = {(x, y): "." for y in range(1, HEIGHT - 1) for x in range(1, WIDTH - 1)}
        places = sorted(cells)
        for place in rng.sample(places, PILLARS):
            cells[place] = "#"
        start, door, *rest = rng.sample([p for p in places if cells[p] == "."], 2 + GEMS + GUARDS)
        cells[start], cells[door] = "@", ">"
        cells.update(dict.fromkeys(rest[:GEMS], "*"))
        cells.update((p, rng.choice("-|")) for p in rest[GEMS:])
        moves, waiting = {start: 0}, deque([start])
        while waiting:
            here = waiting.popleft()
            for there in (ahead(here, heading) for heading in MOVES.values()):
                if cells.get(there, "#") != "#" and there not in moves:
                    moves[there] = moves[here] + 1
                    waiting.append(there)
        if moves.get(door, 0) < FAR or not set(rest[:GEMS]) <= moves.keys():
            return None
        return "".join("".join(cells.get((x, y), "#") for x in range(WIDTH)) + "\n" for y in range(HEIGHT))

    @classmethod
    def from_text(cls, text):
        plan = Plan(text)
        return cls(plan, plan.start, frozenset(plan.gems))

    def copy(self):
        return Museum(self.plan, self.at, self.gems, self.steps, self.caught)

    def legal(self):
        return [name for name, move in MOVES.items() if ahead(self.at, move) in self.plan.free]

    def apply(self, action):
        before, now = self.at, self.steps % self.plan.period
        self.at, self.steps = ahead(before, MOVES[action]), self.steps + 1
        if self.at in self.gems:
            self.gems = self.gems - {self.at}
        for was, to in zip(self.plan.guards[now], self.plan.guards[now + 1], strict=True):
            if to == self.at or (was == self.at and to == before):
                self.caught = True

    def over(self):
        return "lost" if self.caught else "won" if self.at in self.plan.doors else None

    def share(self):
        return 1 - len(self.gems) / len(self.plan.gems) if self.plan.gems else 1.0

    def measure(self):
        x, y = self.at
        away = [abs(a - x) + abs(b - y) for a, b in self.plan.guards[self.steps % self.plan.period]]
        return {
            "ST": self.steps,
            "GEMS": self.share(),
            "OUT": float(self.over() == "won"),
            "CAUGHT": float(self.caught),
            "GD": min([10, *away]),
        }

    def key(self):
        return (*self.at, self.steps % self.plan.period, self.caught, *(gem in self.gems for gem in self.plan.gems))

    def reach(self, moves):
        return {"GEMS": (self.share(), 1.0), "OUT": (0.0, 1.0), "CAUGHT": (float(self.caught), 1.0)}

    def position(self):
        return self.at

    def targets(self):
        return {"NG": sorted(self.gems), "NX": self.plan.doors}


GAME = from_class(Museum, horizon=60)
