"""A connected game in its own process, here in Python: climb a ladder of which some rungs are loose.

Each turn the climber may rest, climb one rung, or jump two. The game seed decides which rungs break when they are
jumped to; after a fall the game is over. Any language does: see unity_support/PROTOCOL.md.
"""

import sys

from persona_evo.connect.client import Client
from persona_evo.connect.protocol import MetricInfo

TURNS = 8
METRICS = (
    MetricInfo("rungs climbed", "HEIGHT", 0.0, None),
    MetricInfo("turns", "TURN", 0.0, None),
    MetricInfo("1 after a fall", "FELL", 0.0, 1.0),
)


def play(client: Client) -> None:
    """One game from its start to its end."""
    loose = [client.random.below(3) == 0 for _ in range(2 * TURNS + 1)]
    height, fell, turn = 0, 0, 0

    def report() -> None:
        client.report_metric("HEIGHT", height)
        client.report_metric("TURN", turn)
        client.report_metric("FELL", fell)

    while turn < TURNS and not fell:
        report()
        jump = client.select(3)
        height, turn = height + jump, turn + 1
        fell = int(jump == 2 and loose[height])
    report()
    client.supply_outcome(0 if fell else height)


if __name__ == "__main__":
    sys.exit(Client("ladder", "1", metrics=METRICS, max_decisions=TURNS, capabilities=("seed", "maps")).run(play))
