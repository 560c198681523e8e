"""The best way to play that was found, in a file, and its replay."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.connect.description import Description, LevelName, read
from persona_evo.connect.session import Session
from persona_evo.errors import GameError, Place, ProtocolError, RunError

FORMAT = 1
MAX_BYTES = 64 * 2**20


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
        """Write it as JSON."""
        value = {
            "format": FORMAT, "game": self.game, "level": self.level, "utility": self.utility, "score": self.score,
            "metrics": self.metrics, "choices": [c for c, _ in self.pairs], "counts": [n for _, n in self.pairs],
        }  # fmt: skip
        path.write_text(json.dumps(value) + "\n", encoding="utf-8")


def load(path: Path) -> Trace:
    """The trace in a file.

    Raises:
        RunError: there is none, or it is damaged.
    """
    from persona_evo.games.textfile import read_text

    try:
        value: Any = json.loads(read_text(path, MAX_BYTES, RunError))
        if value["format"] != FORMAT:
            raise ValueError(f"format {value['format']!r}, expected {FORMAT}")
        pairs = tuple(zip(value["choices"], value["counts"], strict=True))
        p.pack(pairs)
        metrics = {str(k): float(v) for k, v in value["metrics"].items()}
        return Trace(str(value["game"]), str(value["level"]), float(value["utility"]), float(value["score"]), metrics,
                     pairs)  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, ProtocolError) as e:
        raise RunError("not a file with a trace", place=Place(str(path)), found=f"{type(e).__name__}: {e}"[:300]) from e


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
    metrics = dict(zip(symbols, result.last(), strict=True))
    wrong = [f"{k} was {trace.metrics[k]:g} and is {v:g}" for k, v in metrics.items() if trace.metrics.get(k, v) != v]
    if result.decisions != len(trace.pairs):
        wrong.insert(0, f"it had {len(trace.pairs)} decisions and has {result.decisions}")
    if result.score != trace.score:
        wrong.append(f"the score was {trace.score:g} and is {result.score:g}")
    if wrong:
        raise GameError(f"{trace.game} came to another end than when {trace.level} was searched: " + "; ".join(wrong))
    return result
