"""Records games, so that a change of the rules is noticed.

    python -m tests.games.recording GAME

plays the recorded game of the catalog again, or a random one if there is none, and writes it to `recorded/GAME.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import GameError, InputError
from persona_evo.games import mapsets, registry
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.seeds import below, stream

RECORDED = Path(__file__).parent / "recorded"
MOST_MOVES, SEEDS = 80, 10
"""The longest random game that is recorded, and the number of seeds of which the longest game is taken."""


@dataclass(frozen=True)
class Recording:
    """One game on one level, kept as a file: what the actions led to when it was recorded.

    Attributes:
        metrics: one row for each state, the start first.
        outcomes: the result of `over` for each state.
    """

    game: str
    version: int
    level: str
    text: str
    options: dict[str, Any]
    seed: int
    actions: list[str]
    outcomes: list[int]
    metrics: list[dict[str, float]]


def record(game: Game, level: Level, actions: Sequence[int], seed: int = 0) -> Recording:
    """Play some actions, and return what happens."""
    states = game.replay(level, actions, stream(seed), seed)
    names = [game.action_name(level, s, a) for s, a in zip(states, actions, strict=False)]
    return Recording(
        game.name,
        game.version,
        level.name,
        level.text,
        dict(level.options),
        seed,
        names,
        [game.over(level, s) for s in states],
        [game.measure(level, s) for s in states],
    )


def write_recording(path: Path, recording: Recording) -> None:
    """Write a recording as JSON, one state a line."""
    head = {k: v for k, v in vars(recording).items() if k != "metrics"}
    rows = ",\n  ".join(json.dumps(row) for row in recording.metrics)
    body = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in head.items())
    path.write_text(f'{{\n{body},\n "metrics": [\n  {rows}\n ]\n}}\n', encoding="utf-8")


def check_recording(game: Game, path: Path) -> int:
    """Replay a recorded game, and return how many moves it has.

    Raises:
        GameError: there is no such file, it cannot be read, it is of another version, or something is different now.
    """
    try:
        kept = Recording(**json.loads(path.read_text(encoding="utf-8")))
        level = game.load(kept.text, kept.level, str(path), **kept.options)
        actions = _parsed(game, level, kept)
    except OSError as e:
        raise GameError(f"{game.name} has no recorded game: {e}") from e
    except (ValueError, TypeError, RecursionError, InputError) as e:
        raise GameError(f"{path} cannot be replayed: {e}") from e
    if kept.version != game.version:
        raise GameError(
            f"{path} was recorded with version {kept.version}, but {game.name} is version {game.version}: "
            "record it again"
        )
    now = record(game, level, actions, kept.seed)
    for i, (was, is_now) in enumerate(zip(kept.metrics, now.metrics, strict=True)):
        changed = [s for s in is_now if was.get(s) != is_now[s]]
        if changed or set(was) != set(is_now) or kept.outcomes[i] != now.outcomes[i]:
            what = ", ".join(f"{s} {was.get(s)} -> {is_now[s]}" for s in changed) or "the outcome or the set of metrics"
            raise GameError(
                f"{path}: after move {i} it differs: {what}; if the change is intended, raise the game's version"
            )
    return len(actions)


def random_actions(game: Game, level: Level, seed: int, most: int) -> list[int]:
    """Return the actions of a random game."""
    state, rng, actions = game.start(level, seed), stream(seed), []
    while game.over(level, state) == RUNNING and len(actions) < most:
        legal = game.legal(level, state)
        actions.append(legal[int(below(rng, len(legal)))])
        game.rules().step(level.tables, state, actions[-1], rng)
    return actions


def record_again(game: Game, path: Path) -> Recording:
    """Record the moves of a recorded game with the present rules, or a random game in the first level."""
    if path.is_file():
        kept = Recording(**json.loads(path.read_text(encoding="utf-8")))
        level = game.load(kept.text, kept.level, str(path), **kept.options)
        return record(game, level, _parsed(game, level, kept), kept.seed)
    level = mapsets.resolve(game, ["all"])[0]
    seeds = (random_actions(game, level, seed, MOST_MOVES) for seed in range(SEEDS))
    longest = max(enumerate(seeds), key=lambda found: len(found[1]))
    return record(game, level, longest[1], longest[0])


def _parsed(game: Game, level: Level, kept: Recording) -> list[int]:
    state, rng, actions = game.start(level, kept.seed), stream(kept.seed), []
    for name in kept.actions:
        actions.append(game.parse_action(level, state, name))
        game.rules().step(level.tables, state, actions[-1], rng)
    return actions


if __name__ == "__main__":
    name = sys.argv[1]
    file = RECORDED / f"{name}.json"
    write_recording(file, record_again(registry.get(name), file))
