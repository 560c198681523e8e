"""Saves, loads and replays the best playthrough that a search found."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from persona_evo.connect import protocol as p
from persona_evo.connect.description import Description
from persona_evo.connect.description_file import read
from persona_evo.connect.findings import replay_differences
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.process_start import View
from persona_evo.connect.session import Session
from persona_evo.connect.stepwise import play_choices
from persona_evo.errors import GameError, ProtocolError, RunError
from persona_evo.jobs import checksum, files, schema

FORMAT = 1
_RESTORE = "restore the file from a copy, or search again"


@dataclass(frozen=True)
class Trace:
    """A complete playthrough of a level.

    Attributes:
        metrics: the metrics at the end, by symbol.
        pairs: the choice and the number of choices at every decision.
    """

    game: str
    level: str
    utility: float
    score: float
    metrics: dict[str, float]
    pairs: tuple[tuple[int, int], ...]

    def save(self, path: Path) -> None:
        """Write the trace to a file, as JSON with a checksum."""
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
        files.write_atomically(path, checksum.sealed(json.dumps(value)) + "\n")


def load(path: Path) -> Trace:
    """Read a trace from a file.

    Raises:
        RunError: the file does not exist, holds no trace, or is damaged; the error has line and column.
    """
    reader = schema.Reader(*schema.read(path, RunError), str(path), RunError)
    if "choices" not in reader.data:
        raise reader.fail(
            "this is not a file with a trace",
            said="no choices",
            expected="best.json of `connect search`",
            hint="name that file",
        )
    if reader.whole("format") != FORMAT:
        raise reader.fail(
            "this version of the file format is not known",
            "format",
            found=reader.whole("format"),
            expected=str(FORMAT),
            hint="the file comes from another version of persona-evo",
        )
    choices, counts = _numbers(reader, "choices"), _numbers(reader, "counts")
    if len(choices) != len(counts):
        raise reader.fail(
            "does not have as many entries as there are choices",
            "counts",
            said=f"{len(counts)}",
            expected=f"{len(choices)}",
            hint=_RESTORE,
        )
    pairs = tuple(zip(choices, counts, strict=True))
    try:
        p.pack(pairs)
    except ProtocolError as e:
        raise reader.fail("no game has these choices", "choices", said=e.found, hint=_RESTORE) from e
    return Trace(
        reader.text_of("game"),
        reader.text_of("level"),
        reader.number("utility"),
        reader.number("score"),
        reader.numbers("metrics"),
        pairs,
    )


def _numbers(reader: schema.Reader, key: str) -> list[int]:
    expected = "a list of whole numbers"
    values = reader.get(key, list, expected)
    for i, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int):
            raise reader.fail("has the wrong type", key, i, found=value, expected="a whole number", hint=_RESTORE)
    return list(values)


def replay(
    description: Path | Description, trace: Trace, *, screen: bool = True, delay: float | None = None
) -> p.Result:
    """Let the game play a trace, without a time limit.

    Args:
        description: the game's description, or the file with it.
        trace: the playthrough to replay.
        screen: whether the game opens its window.
        delay: seconds before each decision, which the game then asks for one by one; None to send the trace as a whole.

    Raises:
        GameError: the game reaches a different end.
    """
    about = read(description) if isinstance(description, Path) else description
    about = replace(about, workers=1, slots=1, timeouts=replace(about.timeouts, rollout=None))
    session = Session(about, View.SHOWN if screen else View.HIDDEN)
    try:
        level: LevelName = about.level(trace.level)
        if delay is None:
            result = session.play(level, p.pack(trace.pairs))
        else:
            result = play_choices(session, level, [choice for choice, _ in trace.pairs], partial(time.sleep, delay))
        symbols = [m.symbol for m in session.hello().metrics]
    finally:
        session.close()
    wrong = replay_differences(trace.pairs, trace.metrics, trace.score, result, symbols)
    if wrong:
        raise GameError(f"{trace.game} reached another end than when {trace.level} was searched: " + "; ".join(wrong))
    return result
