"""A connected game of 4 decisions with 400 choices each: build four towers on a field of 20 by 20.

A tower guards what is at most 3 cells away from it in each direction. The level's seed scatters 60 villages of unequal
worth. The score is the share of their worth that is guarded. The game's weights are what a tower adds at each place.
"""

import sys
from functools import cache

from persona_evo.connect.client import Client
from persona_evo.connect.protocol import MetricInfo
from persona_evo.seeds import SplitMix64

SIZE, TOWERS, VILLAGES, RANGE = 20, 4, 60, 3


@cache
def villages_of(seed):
    """The villages of a level as (worth, places that guard it), the villages that each place guards, and what for."""
    random, villages = SplitMix64(seed), []
    for _ in range(VILLAGES):
        x, y, worth = random.below(SIZE), random.below(SIZE), 1 + random.below(9)
        near = [p for p in range(SIZE * SIZE) if abs(p % SIZE - x) <= RANGE and abs(p // SIZE - y) <= RANGE]
        villages.append((worth, near))
    reach = [[i for i, (_, near) in enumerate(villages) if p in near] for p in range(SIZE * SIZE)]
    return villages, reach, [sum(villages[i][0] for i in guards) for guards in reach]


class Towers:
    """What is guarded so far, and what a tower at each place would add."""

    def __init__(self, seed):
        self.villages, self.reach, gains = villages_of(seed)
        self.gains, self.guarded, self.built = list(gains), set(), 0

    def build(self, place):
        for i in set(self.reach[place]) - self.guarded:
            worth, near = self.villages[i]
            for other in near:
                self.gains[other] -= worth
        self.guarded.update(self.reach[place])
        self.built += 1

    def score(self):
        return sum(self.villages[i][0] for i in self.guarded) / sum(worth for worth, _ in self.villages)


def play(client):
    """One game from its start to its end."""
    game = Towers(client.game_seed)
    while game.built < TOWERS:
        client.report_metric("GUARDED", game.score())
        game.build(client.select(SIZE * SIZE, [0.1 + gain for gain in game.gains]))
    client.report_metric("GUARDED", game.score())
    client.supply_outcome(game.score())


if __name__ == "__main__":
    guarded = MetricInfo("share of the worth guarded", "GUARDED", 0.0, 1.0)
    client = Client("towers", "1", metrics=[guarded], max_decisions=TOWERS, capabilities=("seed", "weights"))
    sys.exit(client.run(play))
