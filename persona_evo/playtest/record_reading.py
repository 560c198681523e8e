"""Reads playthroughs from plain values; errors name the place of the problem."""

from __future__ import annotations

from typing import Any, NoReturn

from persona_evo.errors import Place, RunError
from persona_evo.games.core import Event
from persona_evo.limits import is_finite
from persona_evo.playtest.records import ENDS, NUMBERS, OUTCOMES, SCHEMA, SIDES, End, Playthrough, ended

_WHOLE = ("trial", "seed", "steps", "iterations", "nodes")
_TEXTS = ("level", "player", "persona", "policy", "outcome", "cause", "stopped", "opponent", "side", "skill")
_REQUIRED = ("level", "player", "outcome", "metrics", "utility", "steps")


def from_dict(row: Any, place: Place | None = None) -> Playthrough:
    """Create the playthrough that a dictionary of `to_dict` describes.

    Raises:
        RunError: it is not an object, has another schema, or a field is missing or of the wrong type.
    """
    if not isinstance(row, dict):
        _wrong("a playthrough is not an object", place, type(row).__name__, "an object with named fields")
    if row.get("schema") != SCHEMA:
        hint = "a newer version wrote it" if _newer(row.get("schema")) else "play again to write the file anew"
        _wrong("a playthrough has another schema", place, repr(row.get("schema")), f"schema {SCHEMA}", hint)
    missing = [name for name in _REQUIRED if name not in row]
    if missing:
        _wrong(f"a playthrough has no {missing[0]!r}", place, ", ".join(map(str, row)), ", ".join(_REQUIRED))
    fields: dict[str, Any] = {}
    for name in (*_TEXTS, *_WHOLE, *NUMBERS, "proven"):
        if name in row:
            fields[name] = _plain(name, row[name], place)
    if fields["outcome"] not in OUTCOMES:
        _wrong("no such outcome", place, repr(fields["outcome"]), "one of " + ", ".join(OUTCOMES))
    if fields.get("opponent") and fields.get("side") not in SIDES:
        _wrong("no such side", place, repr(fields.get("side", "")), "one of " + ", ".join(SIDES))
    fields["stopped"] = ended(fields.get("stopped", ""), fields.get("proven", False))
    record = Playthrough(
        **fields,
        metrics=_metrics(row["metrics"], place),
        actions=_actions("actions", row, place),
        best_actions=_actions("best_actions" if "best_actions" in row else "actions", row, place),
        search=_search(row, place),
        positions=_positions(row.get("positions", []), place),
        events=_events(row.get("events", []), place),
        end=_end(row.get("end"), place),
        hit_points=_hit_points(row.get("hit_points", []), place),
    )
    if record.positions and len(record.positions) != len(record.actions) + 1:
        _wrong(
            "positions and actions do not fit",
            place,
            f"{len(record.positions)} positions",
            f"{len(record.actions) + 1} for {len(record.actions)} actions",
        )
    return record


def _newer(version: Any) -> bool:
    return isinstance(version, int) and version > SCHEMA


def _wrong(what: str, place: Place | None, found: str, expected: str, hint: str | None = None) -> NoReturn:
    raise RunError(what, place=place, found=found, expected=expected, hint=hint)


def _is_whole(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**64


def _plain(name: str, value: Any, place: Place | None) -> Any:
    if name in _TEXTS:
        fits, expected = isinstance(value, str), "a text"
    elif name in _WHOLE:
        fits, expected = _is_whole(value), "a whole number"
    elif name in NUMBERS:
        fits, expected = is_finite(value), "a finite number"
    else:
        fits, expected = isinstance(value, bool), "true or false"
    if not fits:
        _wrong(f"{name!r} of a playthrough has the wrong type", place, repr(value), expected)
    return float(value) if name in NUMBERS else value


def _metrics(value: Any, place: Place | None) -> dict[str, float]:
    if not isinstance(value, dict) or not all(is_finite(v) for v in value.values()):
        _wrong("metrics of a playthrough have the wrong type", place, repr(value)[:120], "symbols and finite numbers")
    return {symbol: float(v) for symbol, v in value.items()}


def _actions(name: str, row: dict[str, Any], place: Place | None) -> list[str]:
    value = row.get(name, [])
    if not isinstance(value, list) or not all(isinstance(a, str) for a in value):
        _wrong(f"{name!r} of a playthrough have the wrong type", place, repr(value)[:120], "a list of texts")
    return list(value)


def _search(row: dict[str, Any], place: Place | None) -> int | None:
    """Read the trial that a route was drawn from; lines of older versions do not have it."""
    value = row.get("search")
    if value is None:
        return None
    if not _is_whole(value) or not 0 <= value < row.get("trial", 0):
        _wrong("'search' of a playthrough is no earlier trial", place, repr(value), "the number of an earlier trial")
    return int(value)


def _positions(value: Any, place: Place | None) -> list[tuple[int, int]]:
    if not isinstance(value, list) or not all(
        isinstance(p, list) and len(p) == 2 and all(_is_whole(n) for n in p) for p in value
    ):
        _wrong("positions of a playthrough have the wrong type", place, repr(value)[:120], "a list of [x, y]")
    return [(p[0], p[1]) for p in value]


def _hit_points(value: Any, place: Place | None) -> list[float]:
    if not isinstance(value, list) or not all(is_finite(v) for v in value):
        _wrong("hit points of a playthrough have the wrong type", place, repr(value)[:120], "a list of numbers")
    return [float(v) for v in value]


def _end(row: Any, place: Place | None) -> End | None:
    """Read how the game ended; lines of older versions do not have it."""
    if row is None:
        return None
    if not isinstance(row, dict) or row.get("outcome") not in ENDS:
        _wrong(
            "the end of a playthrough has the wrong type",
            place,
            repr(row)[:120],
            "an object with an outcome, one of " + ", ".join(ENDS),
        )
    if not is_finite(row.get("utility")) or not _is_whole(row.get("turn")) or not isinstance(row.get("cause"), str):
        _wrong(
            "the end of a playthrough has the wrong type",
            place,
            repr(row)[:120],
            "an object with utility, turn and cause",
        )
    spot = row.get("place")
    return End(
        row["outcome"],
        float(row["utility"]),
        row["turn"],
        row["cause"],
        None if spot is None else _positions([spot], place)[0],
        _actions("actions", row, place),
        _positions(row.get("positions", []), place),
        _events(row.get("events", []), place),
    )


def _events(value: Any, place: Place | None) -> list[Event]:
    found: list[Event] = []
    for event in value if isinstance(value, list) else [value]:
        fits = isinstance(event, dict) and isinstance(event.get("kind"), str)
        if not fits or not all(_is_whole(event.get(name)) for name in ("step", "x", "y")):
            _wrong(
                "an event of a playthrough has the wrong type",
                place,
                repr(event)[:120],
                "an object with step, kind, x and y",
            )
        found.append(Event(event["step"], event["kind"], event["x"], event["y"]))
    return found
