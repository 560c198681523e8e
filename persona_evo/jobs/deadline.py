"""Times that a user types: `--for 8h`, `--until 07:00`."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta

from persona_evo.errors import SettingsError

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0}
LONGEST = 3650 * 86400.0
"""The longest duration, in seconds. A job that is given more need not be given a limit."""
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(d|h|min|m|s)\s*")


def duration(text: str) -> float:
    """Convert a duration such as `8h`, `1h30m`, `90s` or `2.5h` to seconds; a bare number means seconds.

    Raises:
        SettingsError: the text is not a duration, or it is not above 0.
    """
    value = text.strip().lower()
    total, position = 0.0, 0
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value):
        total, position = float(value), len(value)
    while match := _PART.match(value, position):
        total += float(match.group(1)) * _UNITS[match.group(2)]
        position = match.end()
    if position != len(value) or total <= 0:
        raise SettingsError("not a duration", found=repr(text), expected="a time such as 8h, 1h30m or 90s")
    return total


def until(text: str, now: datetime | None = None) -> float:
    """Return the seconds until a time of day (today or tomorrow), or until a date and time such as 2031-05-04T07:00.

    Raises:
        SettingsError: the text is not a time, or it is in the past.
    """
    now = now or datetime.now()
    match = re.fullmatch(r"\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?\s*", text)
    try:
        if match:
            hour, minute, second = (int(g or 0) for g in match.groups())
            end = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
            end += timedelta(days=1) if end <= now else timedelta(0)
        else:
            end = datetime.fromisoformat(text.strip())
    except ValueError as e:
        raise SettingsError("not a time", found=repr(text), expected="HH:MM, or a date and time in ISO form") from e
    seconds = (end - (now if end.tzinfo is None else now.astimezone())).total_seconds()
    if seconds <= 0:
        raise SettingsError("the time to end is in the past", found=repr(text), expected="a time in the future")
    return _within(seconds, text)


def _within(seconds: float, text: str) -> float:
    """Return the seconds if they are not more than LONGEST.

    Raises:
        SettingsError: they are.
    """
    if seconds > LONGEST:
        raise SettingsError(
            "the time is too long",
            found=repr(text[:40]),
            expected="at most 3,650 days",
            hint="without a limit, the command runs until it is done",
        )
    return seconds


def deadline(for_: str | None = None, until_: str | None = None) -> float | None:
    """Return the earlier of two deadlines on the clock `time.monotonic`; None if neither is given."""
    ends = []
    if for_ is not None:
        ends.append(_within(duration(for_), for_))
    if until_ is not None:
        ends.append(until(until_))
    return time.monotonic() + min(ends) if ends else None
