"""The best way to play that was found, in a file, and its replay. The file is read by `store.traces`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from persona_evo.connect import protocol as p
from persona_evo.connect.description import Description, LevelName, read
from persona_evo.connect.findings import changed
from persona_evo.connect.session import Session
from persona_evo.errors import GameError
from persona_evo.jobs import checksum, schema

FORMAT = 1


@dataclass(frozen=True)
class Trace:
    """A whole game. pairs: choice and count of every decision. metrics: at its end, by symbol."""

    game: str
    level: str
    utility: float
    score: float
    metrics: dict[str, float]
    pairs: tuple[tuple[int, int], ...]

    def save(self, path: Path) -> None:
        """Write it as JSON with a checksum."""
        value = {
            "format": FORMAT,
            "game": self.game,
            "level": self.level,
            "utility": self.utility,
            "score": self.score,
            "metrics": self.metrics,
            "choices": [c for c, _ in self.pairs],
            "counts": [n for _, n in self.pairs],
        }
        schema.write_atomically(path, checksum.sealed(json.dumps(value)) + "\n")


def replay(
    description: Path | Description, trace: Trace, *, screen: bool = True, delay: float | None = None
) -> p.Result:
    """Let the game play a trace, with its window open, and take as long as it likes.

    delay: seconds before each decision, which the game then asks for one by one; None to give it the whole trace.

    Raises:
        GameError: it came to another end.
    """
    about = read(description) if isinstance(description, Path) else description
    about = replace(about, workers=1, slots=1, timeouts=replace(about.timeouts, rollout=None))
    session = Session(about, screen)
    try:
        level: LevelName = about.level(trace.level)
        if delay is None:
            result = session.play(level, p.pack(trace.pairs))
        else:
            result = session.watch(level, [choice for choice, _ in trace.pairs], delay)
        symbols = [m.symbol for m in session.hello().metrics]
    finally:
        session.close()
    wrong = changed(trace.pairs, trace.metrics, trace.score, result, symbols)
    if wrong:
        raise GameError(f"{trace.game} came to another end than when {trace.level} was searched: " + "; ".join(wrong))
    return result
