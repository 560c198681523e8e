"""A connected game in Python: climb or rest for as many turns as the map has, and do not fall.

Each turn has three choices (two on even rungs), of which one climbs. Its chance comes from the game seed, so a seed is
a level. It reports HEIGHT, TURN and FELL. With the argument `pictures` it sends pictures of the way so far.
"""

import sys

from persona_evo.connect.client import Client
from persona_evo.connect.pictures import png
from persona_evo.connect.protocol import MetricInfo

METRICS = (
    MetricInfo("height climbed", "HEIGHT", 0.0, None),
    MetricInfo("turns", "TURN", 0.0, None),
    MetricInfo("1 after a fall", "FELL", 0.0, 1.0),
)
TURNS = {"": 6, "short": 3, "long": 40}


SKY, WAY, CLIMBER = (214, 232, 246), (150, 110, 60), (200, 40, 40)


def picture(way, turns):
    """The heights so far, a column of cells for each turn."""
    cells = [[SKY] * (turns + 1) for _ in range(turns + 1)]
    for turn, height in enumerate(way):
        for y in range(height + 1):
            cells[turns - y][turn] = CLIMBER if turn == len(way) - 1 and y == height else WAY
    rows = [b"".join(bytes(colour) * 8 for colour in row) * 8 for row in cells]
    return png(8 * (turns + 1), 8 * (turns + 1), b"".join(rows))


def play(client):
    """Play one rollout."""
    turns = TURNS[client.map]
    height, fell, way = 0, 0, []
    client.draw = lambda: picture([*way, height], turns)
    good = [client.random.below(2) for _ in range(turns)]
    loose = client.random.below(turns) if client.variant == "loose" else -1
    for turn in range(turns):
        client.report_metric("TURN", turn)
        client.report_metric("HEIGHT", height)
        chosen = client.select(2 + height % 2, [1.0] * (2 + height % 2) if turn % 2 else None)
        way.append(height)
        height += chosen == good[turn]
        if chosen == 2 and turn == loose:
            fell = 1
            break
    client.report_metric("TURN", turns)
    client.report_metric("HEIGHT", height)
    client.report_metric("FELL", fell)
    client.supply_outcome(height - 10 * fell)


def main():
    """Serve the driver, with the capabilities that the command line adds."""
    able = ("seed", "weights", "lookahead", "maps", *sys.argv[1:])
    Client("ladder", "1", metrics=METRICS, max_decisions=50, capabilities=able).run(play)


if __name__ == "__main__":
    sys.exit(main())
