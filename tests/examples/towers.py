"""A connected game of 4 decisions with 400 choices each: build four towers on a field of 20 by 20.

A tower guards what is at most 3 cells away from it in each direction. The level's seed scatters 60 villages of different worth; the
score is the share of their worth that is guarded. The game's weights are what a tower would add at each place.
"""

import sys

from persona_evo.connect.client import Client
from persona_evo.connect.protocol import MetricInfo
from persona_evo.seeds import SplitMix64

SIZE, TOWERS, VILLAGES, RANGE = 20, 4, 60, 3


class Towers:
    """The villages, what each place guards, and what is guarded so far."""

    def __init__(self, seed):
        random = SplitMix64(seed)
        villages = [(random.below(SIZE), random.below(SIZE), 1 + random.below(9)) for _ in range(VILLAGES)]
        self.total = sum(worth for _, _, worth in villages)
        self.reach = [
            {v for v in villages if abs(v[0] - place % SIZE) <= RANGE and abs(v[1] - place // SIZE) <= RANGE}
            for place in range(SIZE * SIZE)
        ]
        self.guarded, self.built = set(), 0

    def gains(self):
        """What a tower at each place would add."""
        return [sum(worth for _, _, worth in reach - self.guarded) for reach in self.reach]

    def build(self, place):
        self.guarded |= self.reach[place]
        self.built += 1

    def score(self):
        return sum(worth for _, _, worth in self.guarded) / self.total


def play(client):
    """One game from its start to its end."""
    game = Towers(client.game_seed)
    while game.built < TOWERS:
        client.report_metric("GUARDED", game.score())
        game.build(client.select(SIZE * SIZE, [0.1 + gain for gain in game.gains()]))
    client.report_metric("GUARDED", game.score())
    client.supply_outcome(game.score())


if __name__ == "__main__":
    guarded = MetricInfo("share of the worth guarded", "GUARDED", 0.0, 1.0)
    client = Client("towers", "1", metrics=[guarded], max_decisions=TOWERS, capabilities=("seed", "weights"))
    sys.exit(client.run(play))
