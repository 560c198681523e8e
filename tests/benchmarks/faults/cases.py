"""What a case is: levels, the fault that is planted in them, and what has to be said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

Spot = tuple[int, int]

FAULT, ALIKE, SOUND, HAND = "fault", "look-alike", "sound", "by hand"
"""What a case is for: HAND are faults of other kinds, drawn by hand."""


@dataclass(frozen=True)
class Case:
    """Levels that are diagnosed together, and what a right diagnosis says.

    Attributes:
        name: unique within a run; the levels are called after it.
        game: as `--game` takes it.
        role: FAULT, ALIKE, SOUND or HAND.
        fault: the fault that is planted or looked like; of a sound level the source of the level.
        texts: the level, or the two levels of a pair, the original first.
        kinds: kinds of findings that name the fault.
        places: (x, y) from 0 of which at least one has to be named; empty where any place or none will do.
        words: one of these is in the sentence; empty where any sentence will do.
        proof: why it is a fault, or none.
        options: arguments of the command line for these levels.
    """

    name: str
    game: str
    role: str
    fault: str
    texts: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    places: frozenset[Spot] = field(default_factory=frozenset)
    words: tuple[str, ...] = ()
    proof: str = ""
    options: tuple[str, ...] = ()

    @property
    def faulty(self) -> bool:
        """Whether there is something to be found."""
        return self.role in (FAULT, HAND)

    @property
    def level_names(self) -> tuple[str, ...]:
        """What the levels are called."""
        return (self.name,) if len(self.texts) == 1 else (f"{self.name}-a", f"{self.name}-b")


def kept(folder: Path, what: str, made: Callable[[], Iterable[Case]]) -> list[Case]:
    """Cases out of a file in `folder`, or newly made and written there: proofs take minutes.

    The file is made anew where `what` is asked for differs, or any module that makes cases.
    """
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256(what.encode())
    for module in sorted([*here.glob("*.py"), *here.parent.glob("*.py")]):
        digest.update(module.read_bytes())
    file = folder / f"cases-{digest.hexdigest()[:12]}.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        cases = list(made())
        rows = [{**asdict(c), "places": sorted(c.places)} for c in cases]
        part = file.with_suffix(".part")
        part.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        part.replace(file)
        return cases
    rows = json.loads(file.read_text(encoding="utf-8"))
    return [Case(**{name: _read(name, value) for name, value in row.items()}) for row in rows]


def _read(name: str, value: object) -> object:
    """A field as it was."""
    if isinstance(value, list):
        return frozenset(map(tuple, value)) if name == "places" else tuple(value)
    return value
