"""A small connected game in Python, to start from: `connect new --language python`."""

from __future__ import annotations

_NAME = "cellar"

_GAME = '''\
"""Four doors in each of six rooms: behind one is gold, behind another a spider.

The description of this game is cellar.toml. `python cellar.py` plays one game by chance.
"""

import sys

from persona_evo.connect.client import Client
from persona_evo.connect.protocol import MetricInfo

ROOMS, DOORS, MOST_HEALTH = 6, 4, 9

METRICS = [
    MetricInfo("gold found", "GOLD", 0, ROOMS),
    MetricInfo("hit points", "HP", 0, MOST_HEALTH),
    MetricInfo("1 after the last room", "OUT", 0, 1),
]


def play(client: Client) -> None:
    """Play one game from its start to its end. All chance comes from client.random."""
    if client.map:
        raise ValueError(f"there is no map {client.map!r}")
    hp = int(client.settings.get("hp", 2))  # a setting of cellar.toml; there is none without a driver
    gold = 0
    for _ in range(ROOMS):
        treasure, spider = client.random.below(DOORS), client.random.below(DOORS)
        report(client, gold, hp)
        door = client.select(DOORS)
        gold += door == treasure
        hp -= door == spider
        if hp == 0:
            break
    report(client, gold, hp, out=hp > 0)
    score = gold if hp > 0 else 0
    client.supply_outcome(score)
    if not client.is_driver_present:
        print(f"score {score}")


def report(client: Client, gold: int, hp: int, out: bool = False) -> None:
    """Report all metrics: before each decision, and at the end."""
    client.report_metric("GOLD", gold)
    client.report_metric("HP", hp)
    client.report_metric("OUT", out)


if __name__ == "__main__":
    client = Client("cellar", "1", metrics=METRICS, max_decisions=ROOMS, capabilities=["seed", "maps"])
    sys.exit(client.run(play))
'''

DESCRIBED = {
    "settings": "hp = 2\n",
    "variant": "[variants.hard]",
    "harder": "hp = 1",
    "won": 'won = "OUT"',
    "lost": 'lost = "HP < 1"',
}
"""Lines of the game's description: settings, a harder variant, and when the game is won and lost."""


def python_game(name: str) -> str:
    """Return the text of a whole game of this name."""
    return _GAME.replace(_NAME, name)
