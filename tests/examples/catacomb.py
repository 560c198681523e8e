"""A catacomb with a hidden curse and dice, as a connected game.

A thief passes 8 halls. In each hall there is a door with a sun, one with a moon and one with a star. The doors of one
sign are cursed in the whole catacomb: behind them the thief finds nothing and loses as many hit points as a die shows.
Behind the other doors are 2 pieces of gold and as many as the die shows. The stairs are safe and have 1 piece of gold.
The guardian pays 12 pieces of gold to who throws a 4, 5 or 6, and costs the others 3 hit points. Who finds a 6 behind
a door finds a potion there, too, which can be drunk in place of going on. A thief who dies keeps no gold.

The seed decides which sign is cursed and what the dice show. The thief knows neither.
"""

import sys

from persona_evo.connect.client import Client
from persona_evo.seeds import SplitMix64

SUN, MOON, STAR, STAIRS, GUARDIAN, DRINK = range(6)
HALLS, HEALTH = 8, 10
METRICS = ("HP", "GOLD", "POTIONS", "HALL")


class Catacomb:
    """Hit points, gold, potions and the hall where the thief is; the cursed sign and the dice come from the seed."""

    def __init__(self, seed):
        self.dice = SplitMix64(seed)
        self.cursed = self.dice.below(3)
        self.hp, self.gold, self.potions, self.hall = HEALTH, 0, 0, 0

    def choices(self):
        """The number of choices; to drink is the last one, as long as there is a potion."""
        return 6 if self.potions else 5

    def choose(self, choice):
        die = 1 + self.dice.below(6)
        if choice == DRINK:
            self.hp, self.potions = min(HEALTH, self.hp + 4), self.potions - 1
            return
        self.hall += 1
        if choice == STAIRS:
            self.gold += 1
        elif choice == GUARDIAN and die > 3:
            self.gold += 12
        elif choice == GUARDIAN:
            self.hp -= 3
        elif choice == self.cursed:
            self.hp -= die
        else:
            self.gold, self.potions = self.gold + 2 + die, self.potions + (die == 6)
        if self.hp <= 0:
            self.hp = self.gold = 0

    def over(self):
        return self.hall == HALLS or self.hp == 0

    def measure(self):
        return dict(zip(METRICS, (self.hp, self.gold, self.potions, self.hall), strict=True))


def play(client):
    """One game for the driver."""
    catacomb = Catacomb(client.game_seed)
    while not catacomb.over():
        report(client, catacomb)
        catacomb.choose(client.select(catacomb.choices()))
    report(client, catacomb)
    client.supply_outcome(catacomb.gold)


def report(client, catacomb):
    """Report all metrics to the driver."""
    for symbol, value in catacomb.measure().items():
        client.report_metric(symbol, value)


if __name__ == "__main__":
    sys.exit(Client("catacomb", "1", metrics=METRICS, max_decisions=20, capabilities=("seed",)).run(play))
