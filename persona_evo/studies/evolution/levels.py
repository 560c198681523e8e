"""The levels of a study: pools that are generated and solved once, and named sets of levels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import Place, RunError
from persona_evo.evolve import pools
from persona_evo.evolve.pools import LevelPool
from persona_evo.games import mapsets
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.runner import Job, Runner
from persona_evo.jobs.workers import Workers
from persona_evo.personas import load as load_persona
from persona_evo.studies.evolution.settings import StudySettings, study_game
from persona_evo.studies.keeping import row_journal

FILE = "pools.jsonl"
TRAINING, VALIDATION, HELD_OUT = "train", "validation", "held out"
"""Streams of generated levels."""
CHOOSING = "choosing"
"""The name of the first training levels, on which lines and seeds are chosen."""
CHOICES = 100
"""The largest number of these levels."""
PART, FEW = "part of held out", "few of held out"
"""The names of the first held-out levels: for learning curves, budgets and wins, and for the largest budgets."""
_PARTS = {PART: 200, FEW: 50}
"""The largest numbers of these levels."""
PAPER, OTHERS = "paper", "others"
"""Sets of levels that have to be named: the maps of the paper, and levels by other designers."""


class LevelSet(NamedTuple):
    """A set of levels on which policies are measured.

    Attributes:
        name: the name of the set.
        levels: the levels.
        digest: a digest of their texts.
    """

    name: str
    levels: tuple[LevelText, ...]
    digest: str

    @classmethod
    def of(cls, name: str, levels: Sequence[LevelText]) -> LevelSet:
        """Return a set of levels with its digest."""
        texts = "".join(level.digest for level in levels)
        return cls(name, tuple(levels), hashlib.blake2b(texts.encode(), digest_size=8).hexdigest())


@dataclass
class Levels:
    """All levels of a study.

    Attributes:
        pools: the generated levels by persona and stream.
        named: the named sets by their names.
    """

    pools: dict[tuple[str, str], LevelPool]
    named: dict[str, LevelSet]

    def pool(self, persona: str, stream: str) -> LevelPool:
        """Return the levels of a stream, with the best known results of a persona.

        Raises:
            RunError: the pool does not exist yet.
        """
        if (persona, stream) not in self.pools:
            raise RunError(
                "the study does not have these levels yet", found=f"{stream}, {persona}", hint="run --stage pools first"
            )
        return self.pools[persona, stream]

    def sets(self, persona: str) -> list[LevelSet]:
        """Return the sets on which a persona's policies are measured."""
        return [self.set_of(persona, HELD_OUT), *self.named.values()]

    def set_of(self, persona: str, name: str) -> LevelSet:
        """Return a set by its name."""
        if name == CHOOSING:
            return LevelSet.of(name, self.pool(persona, TRAINING).levels[:CHOICES])
        if name in _PARTS:
            whole, count = self.pool(persona, HELD_OUT).levels, _PARTS[name]
            return LevelSet.of(name if len(whole) > count else HELD_OUT, whole[:count])
        return self.named[name] if name in self.named else LevelSet.of(name, self.pool(persona, name).levels)


def named(name: str, where: str) -> LevelSet:
    """Return a set of the levels in a folder, or of those that another name for levels stands for."""
    game = study_game()
    return LevelSet.of(name, [LevelText.of(level) for level in mapsets.resolve(game, [where])])


def make(folder: Path, settings: StudySettings, runner: Runner) -> bool:
    """Generate and solve the missing pools; return whether all exist."""
    game, counts = study_game(), _counts(settings)
    streams, best = _read(folder)

    def made(task: tuple[str, str]) -> list[dict[str, Any]]:
        stream, name = task
        if not name:
            streams[stream] = pools.winnable(game, counts[stream], settings.seed, stream, runner.workers)
            texts = [{"name": v.name, "text": v.text, "options": dict(v.options)} for v in streams[stream]]
            return [*texts, {"stream": stream, "levels": [level.digest for level in streams[stream]]}]
        persona = load_persona(name, game)
        found = pools.best_known(
            game, streams[stream], persona.utility, settings.seed, runner.workers, lists=persona.lists
        )
        return [{"stream": stream, "persona": name, "best": [round(value, 9) for value in found]}]

    wanted = [(stream, name) for stream in counts for name in ("", *settings.personas)]
    missing = [
        (stream, name) for stream, name in wanted if (name, stream) not in best and (name or stream not in streams)
    ]
    jobs = [Job(f"{stream}, {name or 'levels'}", (stream, name), counts[stream]) for stream, name in missing]
    here, journal = Runner(Workers(1), runner.end, runner.tell), row_journal(folder / FILE)
    return here.run("pools", made, jobs, journal.append, len(wanted) - len(missing))


def read(folder: Path, sets: Mapping[str, LevelSet] | None = None) -> Levels:
    """Read the pools in a study's folder.

    Args:
        folder: the folder of the study.
        sets: the named sets of levels.

    Raises:
        RunError: the file of the pools is damaged.
    """
    streams, best = _read(folder)
    found = {(name, stream): LevelPool(streams[stream], values) for (name, stream), values in best.items()}
    return Levels(found, dict(sets or {}))


def _read(
    folder: Path,
) -> tuple[dict[str, tuple[LevelText, ...]], dict[tuple[str, str], tuple[float, ...]]]:
    """Return the levels of each stream, and the best known utilities of each persona and stream."""
    texts: dict[str, LevelText] = {}
    streams: dict[str, tuple[LevelText, ...]] = {}
    best: dict[tuple[str, str], tuple[float, ...]] = {}
    for number, row in enumerate(row_journal(folder / FILE).read(), 1):
        try:
            if "text" in row:
                level = LevelText.of_dict({**row, "source": ""})
                texts[level.digest] = level
            elif "levels" in row:
                streams[row["stream"]] = tuple(texts[digest] for digest in row["levels"])
            else:
                best[row["persona"], row["stream"]] = tuple(float(value) for value in row["best"])
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise RunError(
                "a line of the pools cannot be read",
                place=Place(str(folder / FILE), number),
                hint="restore the file from a copy",
            ) from e
    return streams, best


def _counts(settings: StudySettings) -> dict[str, int]:
    return {TRAINING: settings.training, VALIDATION: settings.validation, HELD_OUT: settings.held_out}
