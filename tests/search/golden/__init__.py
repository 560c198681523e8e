"""Golden files: results of searches from before the engine was rewritten, which have to be found again bit by bit.

Each file `NAME.json` holds the results of the function NAME in `planned` or `played`, by the name of the case, with
numbers as hexadecimal floats. `python -m tests.search.golden` writes all files anew, `python -m tests.search.golden X`
writes that of X. Do that only where results are meant to change, and say why in the commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

Record = dict[str, object]
"""What a case gives: plain values that JSON can hold."""

Cases = Iterator[tuple[str, Record]]
"""Names of cases and what they give, made one after the other."""

FOLDER = Path(__file__).parent


def groups() -> dict[str, Callable[[], Cases]]:
    """Return the functions that make the cases, by the name of their file."""
    from tests.search.golden import planned, played

    return {name: function for module in (planned, played) for name, function in module.GROUPS.items()}


def read(name: str) -> dict[str, Record]:
    """Return what a file holds."""
    found: dict[str, Record] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write(name: str) -> int:
    """Write a file with the results of today's engine.

    Returns:
        How many cases it holds.
    """
    cases: dict[str, Record] = {}
    for case, record in groups()[name]():
        if case in cases:
            raise ValueError(f"two cases are called {case!r}")
        cases[case] = record
    lines = (f"{json.dumps(case)}: {json.dumps(record, separators=(',', ':'))}" for case, record in cases.items())
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return len(cases)
