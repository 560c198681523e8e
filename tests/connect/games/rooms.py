"""A game that can go on from states that it kept: 12 doors, one of 3 each, and treasure by luck of the game's own."""

import sys

from persona_evo.connect.client import Client

DOORS = 12
client = Client(
    "rooms",
    metrics=["GOLD", "LAST"],
    max_decisions=DOORS,
    capabilities=["seed", "snapshot"] if "on" in sys.argv else ["seed"],
)
doors = restored = 0


def report(state):
    """Report the metrics and the score of a state."""
    client.report_metric("GOLD", state["gold"])
    client.report_metric("LAST", state["last"])
    client.report_score(state["gold"])


def play(client):
    """Play one rollout from the start, or from a state that was kept."""
    global doors, restored
    state = client.restored()
    restored += state is not None
    state = state or {"gold": 0, "last": 0, "way": []}
    while len(state["way"]) < DOORS:
        report(state)
        choice = client.select(3, state=state)
        state["last"] = client.random.below(4) * choice
        state["gold"] += state["last"]
        state["way"].append(choice)
        doors += 1
    report(state)
    client.supply_outcome(state["gold"])


client.run(play)
print(f"doors {doors} restored {restored}")
