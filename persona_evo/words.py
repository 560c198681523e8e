"""Numbers of things and lists in English, for messages and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def listed(values: Mapping[str, object]) -> str:
    """List names with their values, without those that are empty: "stop budget, horizon 100, 6 lists"."""
    shown = {k: v for k, v in values.items() if v is not None and v not in ("", [], ())}
    return ", ".join(f"{len(v)} {k}" if isinstance(v, (list, tuple)) else f"{k} {v}" for k, v in shown.items())


def counted(n: int, thing: str, several: str = "") -> str:
    """Write a number of things: 1 level, 3 levels, 0 levels; thousands have commas, as in 12,000 games.

    Args:
        several: the plural if it is not the singular with an s, or with es after ch ("policies").
    """
    return f"{n:,} {plural(n, thing, several)}"


def interrupted(done: int, total: int, thing: str) -> str:
    """Say that a job was interrupted: "interrupted: 12 of 40 games"; "" if everything is done."""
    return "" if done >= total else f"interrupted: {done:,} of {counted(total, thing)}"


def listed_few(names: Sequence[str], most: int = 6) -> str:
    """Join names with commas; of many names, only the first are listed."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def plural(n: int, thing: str, several: str = "") -> str:
    """Return the singular or plural of a word, for a number elsewhere in the sentence."""
    return thing if n == 1 else several or f"{thing}{'es' if thing.endswith('ch') else 's'}"


def enumerated(names: Sequence[str], most: int = 0) -> str:
    """List names as in a sentence: "a", "a and b", "a, b and c"; with at most 2 of them, "a, b and 1 more".

    Args:
        most: largest number of names to show; 0 for all.
    """
    if most and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share from 0 to 1 in percent, with a space as in 25 %."""
    return f"{100 * share:.{digits}f} %"


def figure(value: float) -> str:
    """Write a number with up to 6 digits; what a rounding error leaves of a zero is written as 0."""
    return f"{0.0 if abs(value) < 1e-12 else value:.6g}"


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Write a text as a sentence, with a capital letter and a full stop."""
    return f"{capital(text)}{'' if text.endswith(('.', '?', '!')) else '.'}"


def aligned(pairs: Mapping[str, str], start: str = "  ") -> list[str]:
    """Write terms and their meanings one below the other, with the meanings in a column."""
    width = max(map(len, pairs), default=0)
    return [f"{start}{term:<{width}}  {meaning}" for term, meaning in pairs.items()]


def duration(seconds: float) -> str:
    """Write a time as people say it: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{max(0.0, seconds):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
