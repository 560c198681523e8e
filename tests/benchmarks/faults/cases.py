"""Cases: levels, the fault that is planted in them, and the expected findings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

Spot = tuple[int, int]

FAULT, ALIKE, SOUND, HAND = "fault", "look-alike", "sound", "by hand"
"""Roles of cases; HAND stands for faults of other kinds, drawn by hand."""


@dataclass(frozen=True)
class Case:
    """Levels that are diagnosed together, and the correct diagnosis.

    Attributes:
        name: a unique name within a run, from which the names of the levels are made.
        game: the value of `--game`.
        role: FAULT, ALIKE, SOUND or HAND.
        fault: the fault that is planted or looked like; of a sound level the source of the level.
        texts: the level, or the two levels of a pair, the original first.
        kinds: kinds of findings that name the fault.
        places: (x, y) from 0, of which at least one has to be named; empty if any place or none will do.
        words: words of which one has to be in the sentence; empty if any sentence will do.
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
        """Whether there is a fault to be found."""
        return self.role in (FAULT, HAND)

    @property
    def level_names(self) -> tuple[str, ...]:
        """The names of the levels."""
        return (self.name,) if len(self.texts) == 1 else (f"{self.name}-a", f"{self.name}-b")


def kept(folder: Path, what: str, made: Callable[[], Iterable[Case]]) -> list[Case]:
    """Read cases from a file in `folder`, or make and write them, since proofs take minutes.

    The file is made again if `what` differs, or any module that makes cases.
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
    """Convert the value of a field back from JSON."""
    if isinstance(value, list):
        return frozenset(map(tuple, value)) if name == "places" else tuple(value)
    return value
