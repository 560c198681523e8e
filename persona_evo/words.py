"""Numbers of things in English, as messages and reports say them."""

from __future__ import annotations

from collections.abc import Mapping


def listed(values: Mapping[str, object]) -> str:
    """Names with their values, without those that are empty: "stop budget, horizon 100, 6 lists"."""
    shown = {k: v for k, v in values.items() if v is not None and v not in ("", [], ())}
    return ", ".join(f"{len(v)} {k}" if isinstance(v, (list, tuple)) else f"{k} {v}" for k, v in shown.items())


def counted(n: int, thing: str, several: str = "") -> str:
    """A number of things: 1 level, 3 levels, 0 levels; thousands with commas, as in 12,000 games.

    several: the plural where it is not the singular with an s ("policies").
    """
    return f"{n:,} {plural(n, thing, several)}"


def plural(n: int, thing: str, several: str = "") -> str:
    """The word alone, for numbers that stand elsewhere in the sentence."""
    return thing if n == 1 else several or f"{thing}s"
