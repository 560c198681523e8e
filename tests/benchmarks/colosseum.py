"""Colosseum Survival!: speed compared with the course's own program, and the table of a students' report.

    python -m tests.benchmarks.colosseum            speed, and the table at 1.8 s and at equal iterations
    python -m tests.benchmarks.colosseum --short    the same with fewer and shorter searches

Seconds are CPU time of this process, as in the recorded figures, so that other work on the machine matters less.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from persona_evo.agents.agent import Agent
from persona_evo.agents.agent_files import load_agents
from persona_evo.agents.agent_seat import AgentSeat
from persona_evo.games import registry
from persona_evo.games.catalog.colosseum.rules import walks
from persona_evo.seeds import stream
from tests.shared import shared

COURSE = {6: 611, 8: 286, 10: 163, 12: 85}
"""Random games per second of the course's program, the faster of two runs (README of the recorded cases)."""

NODES = {6: 700, 12: 36}
"""Nodes of the published program's trees in 1.8 s of CPU time at the first move, about the recorded median."""

REPORT = {
    6: (104.71, 2.86),
    7: (99.08, 2.42),
    8: (43.17, 1.5),
    9: (36.25, 1.17),
    10: (19.29, 1),
    11: (13, 1),
    12: (8.6, 1),
}
"""Table 1 of the report of `uct_walls`: mean over games of the largest breadth and depth in a game."""

GAME = registry.get("colosseum")
SIZES = range(6, 13)


def games_a_second(size: int, seconds: float) -> float:
    """Return the games per second of two random players of the course, compiled."""
    level, rng = GAME.load(f"random {size}", "random"), stream(1)
    starts = [GAME.start(level, seed) for seed in range(40)]
    played, actions = np.zeros(3000, dtype=np.int64), np.zeros(level.max_actions, dtype=np.int64)
    seen, made, began = np.zeros((1, len(GAME.metrics))), 0, time.process_time()
    while time.process_time() - began < seconds:
        for start in starts:
            walks(level.tables, start.copy(), actions, played, 3000, rng, seen, 0)
        made += len(starts)
    return made / (time.process_time() - began)


def first_search(agent: Agent, size: int, seconds: float, seed: int) -> tuple[int, int, int, int]:
    """Return iterations, nodes, breadth and depth of a search from a start with this CPU time."""
    level = GAME.load(f"random {size}", "random")
    probe = AgentSeat(agent.with_budget(500, None), GAME, level, seed)
    state = GAME.start(level, seed)
    probe.choose(state)
    probe = AgentSeat(agent.with_budget(500, None), GAME, level, seed)
    began = time.process_time()
    probe.choose(state)
    rate = 500 / (time.process_time() - began)
    mind = AgentSeat(agent.with_budget(max(1, int(rate * seconds)), None), GAME, level, seed)
    began = time.process_time()
    mind.choose(state)
    scale = seconds / (time.process_time() - began)
    iterations, nodes, breadth, depth = mind.thought
    return int(iterations * scale), int(nodes * scale), breadth, depth


def game_shape(agent: Agent, size: int, seed: int) -> tuple[float, float]:
    """Return the largest breadth and depth of an agent's trees in a game against the random player."""
    from persona_evo.agents.contest import contest

    level = GAME.load(f"random {size}", "random")
    other = Agent("random", "random")
    found = contest(GAME, level, [AgentSeat(agent, GAME, level, seed), AgentSeat(other, GAME, level, seed)], seed, seed)
    rows = found.thoughts[0]
    return max(r[2] for r in rows), max(r[3] for r in rows)


def recorded() -> dict[int, dict[str, Any]]:
    """Return the recorded trees of the published program."""
    text = shared("cases/colosseum/peer_uct.jsonl").read_text(encoding="utf-8")
    return {row["size"]: row for row in map(json.loads, text.splitlines())}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.8)
    args = parser.parse_args()
    agent, peers = load_agents(Path(GAME.agents), GAME)["uct_walls"], recorded()
    starts = 1 if args.short else 5
    print("random games a second (course: the faster of two runs on another day)")
    for size, course in COURSE.items():
        here = games_a_second(size, 0.3 if args.short else 2)
        print(f"  {size:>2} x {size:<2} {here:>9.0f}   course {course:>4}   {here / course:>6.0f} times")
    print(f"\nuct_walls, first move, {args.seconds} s of CPU: nodes (median), and those of its published program")
    for size in SIZES:
        nodes = float(np.median([first_search(agent, size, args.seconds, seed)[1] for seed in range(starts)]))
        peer = float(np.median(peers[size]["first_move_nodes"]))
        print(f"  {size:>2} x {size:<2} {nodes:>9.0f}   published {peer:>4.0f}   {nodes / peer:>6.0f} times")
    print("\ntable 1, mean over games of the largest breadth and depth: report | published program as recorded | here")
    for size in SIZES:
        equal = max(2, math.ceil(peers[size]["mean_nodes"]))
        rows = []
        for chosen in (agent.with_budget(equal, None), agent.with_budget(None, 0.3 if args.short else args.seconds)):
            rows.append(np.mean([game_shape(chosen, size, seed) for seed in range(starts)], axis=0))
        peer = peers[size]["mean_of_game_max_breadth"], peers[size]["mean_of_game_max_depth"]
        print(
            f"  {size:>2}   breadth {REPORT[size][0]:>7.2f} | {peer[0]:>7.2f} | {rows[0][0]:>7.1f} with {equal} "
            f"iterations, {rows[1][0]:>8.1f} by time;  depth {REPORT[size][1]:>4.2f} | {peer[1]:>4.2f} | "
            f"{rows[0][1]:>4.1f}, {rows[1][1]:>5.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
