"""What a case is: levels, the fault that is planted in them, and what has to be said."""

from __future__ import annotations

from dataclasses import dataclass, field

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
