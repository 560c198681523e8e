"""A small tactics game: two heroes against three orcs on a field of 6 by 6, as a Python class and as a connected game.

Each turn every living hero acts once: it moves up to two cells and may then strike an orc beside it. Then the orcs do
the same by a fixed rule. The level's seed decides where everybody stands, how strong they are, and which cells are
rocks. The score is from 0 to 1: three quarters for hit points taken from the orcs, a quarter for those that the heroes
keep if all orcs have fallen.
"""

import sys

from persona_evo.connect.client import Client
from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class
from persona_evo.seeds import SplitMix64

SIZE, TURNS, REACH = 6, 7, 2
CELLS = range(SIZE * SIZE)
DISTANCE = [[abs(a % SIZE - b % SIZE) + abs(a // SIZE - b // SIZE) for b in CELLS] for a in CELLS]
BESIDE = [[b for b in CELLS if DISTANCE[a][b] == 1] for a in CELLS]
HP, FORCE, CELL = range(3)


class Tactics:
    """Hit points, force and cells of heroes and orcs, whose turn it is, and how many turns have passed."""

    actions = tuple(map(str, range(4 * len(CELLS))))
    metrics = (
        Metric("SCORE", "score", "0 to 1, as the game is at the end", high=1, better="higher"),
        Metric("ORCS", "orcs", "hit points of the orcs", better="lower"),
        Metric("HEROES", "heroes", "hit points of the heroes", better="higher"),
        Metric("NEAR", "nearness", "cells from the hero who acted last to the nearest orc", better="lower"),
    )

    def __init__(self, seed):
        random = SplitMix64(seed)
        cells = list(CELLS)
        random.shuffle(cells)
        self.rocks = frozenset(cells[:4])
        south, north = [c for c in cells[4:] if c >= 24], [c for c in cells[4:] if c < 12]
        self.heroes = [[8 + random.below(3), 2 + random.below(2), cell] for cell in south[:2]]
        self.orcs = [[4 + random.below(4), 1 + random.below(3), cell] for cell in north[:3]]
        self.most = [sum(unit[HP] for unit in side) for side in (self.orcs, self.heroes)]
        self.turn = self.acting = self.near = 0

    @classmethod
    def from_text(cls, text):
        return cls(int(text))

    def copy(self):
        other = object.__new__(Tactics)
        other.__dict__.update(self.__dict__)
        other.heroes, other.orcs = [[*one] for one in self.heroes], [[*one] for one in self.orcs]
        return other

    def key(self):
        return (self.turn, self.acting, *(n for unit in (*self.heroes, *self.orcs) for n in unit))

    def reach(self, unit):
        """The cells that a unit can move to, its own first."""
        closed = {other[CELL] for other in (*self.heroes, *self.orcs) if other[HP]} | self.rocks
        found, edge = [unit[CELL]], [unit[CELL]]
        for _ in range(REACH):
            edge = [cell for at in edge for cell in BESIDE[at] if cell not in closed and not closed.add(cell)]
            found += edge
        return found

    def legal(self):
        """Cell and target of each order: the cells in reach, to strike nobody (0) or the orc 1, 2 or 3 beside them."""
        targets = [(i, DISTANCE[orc[CELL]]) for i, orc in enumerate(self.orcs, 1) if orc[HP]]
        return [
            str(4 * cell + target)
            for cell in self.reach(self.heroes[self.acting])
            for target in (*(i for i, far in targets if far[cell] == 1), 0)
        ]

    def apply(self, action):
        cell, target = divmod(int(action), 4)
        hero = self.heroes[self.acting]
        hero[CELL] = cell
        if target:
            orc = self.orcs[target - 1]
            orc[HP] = max(0, orc[HP] - hero[FORCE])
        self.near = min((DISTANCE[cell][orc[CELL]] for orc in self.orcs if orc[HP]), default=0)
        self.acting += 1
        self.skip_fallen()
        if self.acting == len(self.heroes) and any(orc[HP] for orc in self.orcs):
            self.orcs_act()
            self.turn, self.acting = self.turn + 1, 0
            self.skip_fallen()

    def skip_fallen(self):
        while self.acting < len(self.heroes) and not self.heroes[self.acting][HP]:
            self.acting += 1

    def orcs_act(self):
        """Each orc goes for the weaker of the heroes that it can get at, or for the nearer one, and strikes."""
        for orc in self.orcs:
            prey = [hero for hero in self.heroes if hero[HP]]
            if not orc[HP] or not prey:
                continue
            far = DISTANCE[orc[CELL]]
            aim = min(prey, key=lambda hero: (far[hero[CELL]] > REACH + 1, hero[HP], far[hero[CELL]]))
            away = DISTANCE[aim[CELL]]
            orc[CELL] = min(self.reach(orc), key=lambda cell: (away[cell], cell))
            if away[orc[CELL]] == 1:
                aim[HP] = max(0, aim[HP] - orc[FORCE])

    def over(self):
        if not any(orc[HP] for orc in self.orcs):
            return "won"
        return "lost" if self.turn >= TURNS or not any(hero[HP] for hero in self.heroes) else None

    def measure(self):
        orcs, heroes = (sum(unit[HP] for unit in side) for side in (self.orcs, self.heroes))
        score = 0.75 * (1 - orcs / self.most[0]) + (0 if orcs else 0.25 * heroes / self.most[1])
        return {"SCORE": score, "ORCS": orcs, "HEROES": heroes, "NEAR": self.near}


GAME = from_class(Tactics, name="tactics_class")


def play(client):
    """One game for the driver."""
    game = Tactics(client.game_seed)
    while not game.over():
        report(client, game)
        orders = game.legal()
        game.apply(orders[client.select(len(orders), [4.0 if int(order) % 4 else 1.0 for order in orders])])
    report(client, game)
    client.supply_outcome(game.measure()["SCORE"])


def report(client, game):
    """Report all metrics but the score to the driver."""
    for symbol, value in game.measure().items():
        if symbol != "SCORE":
            client.report_metric(symbol, value)


if __name__ == "__main__":
    symbols = [metric.symbol for metric in Tactics.metrics if metric.symbol != "SCORE"]
    sys.exit(Client("tactics", "1", metrics=symbols, max_decisions=20, capabilities=("seed", "weights")).run(play))
