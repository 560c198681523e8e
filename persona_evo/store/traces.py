"""Reads the files of `connect.traces`: the best way to play that a search found."""

from __future__ import annotations

from pathlib import Path

from persona_evo.connect import protocol as p
from persona_evo.connect.traces import FORMAT, Trace
from persona_evo.errors import ProtocolError, RunError
from persona_evo.jobs import schema

_RESTORE = "restore the file from a copy, or search again"


def load(path: Path) -> Trace:
    """The trace in a file.

    Raises:
        RunError: there is none, or it is damaged; with line and column.
    """
    reader = schema.Reader(*schema.read(path, RunError), str(path), RunError)
    if "choices" not in reader.data:
        raise reader.fail(
            "this is no file with a trace",
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
            "has another length than the choices",
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
