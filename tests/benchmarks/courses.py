"""Colosseum Survival! on one core, compared with the course's program and a published agent, as rows of the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from persona_evo.agents.agent_files import load_agents

from .colosseum import COURSE, GAME, NODES, first_search, games_a_second
from .report import Row, judge

SECONDS = 1.8
"""Seconds of a move of the published agent."""

TIMES = 10
"""The required speed of a compiled game relative to one in Python."""


def measure(quick: bool) -> list[Row]:
    """Measure random games per second and nodes of a first move, on the smallest and the largest board."""
    seconds, starts = (0.2, 1) if quick else (3.0, 5)
    agent = load_agents(Path(GAME.agents), GAME)["uct_walls"]
    rows = []
    for size in (6, 12):
        here, course = games_a_second(size, seconds), COURSE[size]
        rows.append(
            judge(
                f"Colosseum {size} x {size}, games of the course's random player/s, one core",
                f"{TIMES} times the course's program",
                f"{here:,.0f}/s, course {course}/s",
                here / course,
                TIMES,
            )
        )
    for size in (6, 12):
        thought = SECONDS / 6 if quick else SECONDS
        found = [first_search(agent, size, thought, seed)[1] * SECONDS / thought for seed in range(starts)]
        nodes = float(np.median(found))
        rows.append(
            judge(
                f"Colosseum {size} x {size}, nodes of uct_walls in {SECONDS} s of CPU, first move",
                f"{TIMES} times the published program",
                f"{nodes:,.0f}, published {NODES[size]}",
                nodes / NODES[size],
                TIMES,
            )
        )
    return rows
