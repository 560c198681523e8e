"""Makes playthroughs for tests of what is computed from them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from persona_evo.games.core import Metric
from persona_evo.jobs.journal import Journal
from persona_evo.playtest.journal import LINES
from persona_evo.playtest.records import Playthrough

INFOS = (
    Metric("ST", "steps taken", "", "steps", better="lower", clock=True),
    Metric("TO", "treasures opened", "", high=1, better="higher", ratio=True),
    Metric("TU", "teleports used", "", "times"),
    Metric("WON", "won", "", high=1, better="higher"),
)


def played(level: str = "one", player: str = "runner", outcome: str = "won", **changes: Any) -> Playthrough:
    """Return one playthrough; `treasure` and `teleports` are its metrics, everything else a field."""
    steps = int(changes.pop("steps", 10))
    metrics = {
        "ST": float(steps),
        "TO": float(changes.pop("treasure", 0.5)),
        "TU": float(changes.pop("teleports", 0)),
        "WON": float(outcome == "won"),
    }
    fields: dict[str, Any] = {"persona": player.split("/")[0], "utility": metrics["WON"] - 0.01 * steps, **changes}
    return Playthrough(level=level, player=player, outcome=outcome, steps=steps, metrics=metrics, **fields)


def group(level: str, player: str, wins: int, trials: int, seed: int = 0, **changes: Any) -> list[Playthrough]:
    """`trials` playthroughs of which the first `wins` are won, the others lost to an ogre; treasure and steps vary."""
    rng = random.Random(f"{level} {player} {seed}")
    treasure, steps = changes.pop("treasure", 0.5), changes.pop("steps", 20)
    return [
        played(
            level,
            player,
            "won" if trial < wins else "lost",
            trial=trial,
            cause="" if trial < wins else "ogre",
            treasure=min(1.0, max(0.0, rng.gauss(treasure, 0.1))),
            steps=max(1, round(rng.gauss(steps, 2))),
            **changes,
        )
        for trial in range(trials)
    ]


def drawn(level: str, player: str, trials: int, source: int = 0, **changes: Any) -> list[Playthrough]:
    """`trials` of which the first `source` searched and proved nothing, the next one proved its plan, and the others
    are routes of it, a little less good and one to three steps longer."""
    rng = random.Random(f"{level} {player}")
    best = changes.pop("best", 0.9)
    found = [played(level, player, "lost", trial=t, utility=best / 2, cause="ogre", **changes) for t in range(source)]
    for trial in range(source, trials):
        first = trial == source
        route = {"search": None if first else source, "utility": best - (0.0 if first else 0.005)}
        found.append(
            played(
                level,
                player,
                trial=trial,
                proven=True,
                best_utility=best,
                **{"steps": 10 if first else 10 + rng.randint(1, 3), **changes},
                **route,
            )
        )
    return found


def reading(path: Path) -> list[Playthrough]:
    """Return the playthroughs of a file."""
    return Journal(path, LINES).read()
