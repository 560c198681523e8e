"""The levels of a study: pools that are generated and solved once, and sets of levels that were named."""

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
"""The training levels that lines and seeds are chosen on: the first ones."""
CHOICES = 100
"""How many these are at most."""
PAPER, OTHERS = "paper", "others"
"""Sets of levels that have to be named: the maps of the paper, and levels of other designers."""


class LevelSet(NamedTuple):
    """Levels that policies are measured on. digest: names their texts."""

    name: str
    levels: tuple[LevelText, ...]
    digest: str

    @classmethod
    def of(cls, name: str, levels: Sequence[LevelText]) -> LevelSet:
        """A set of levels with its digest."""
        texts = "".join(level.digest for level in levels)
        return cls(name, tuple(levels), hashlib.blake2b(texts.encode(), digest_size=8).hexdigest())


@dataclass
class Levels:
    """All levels of a study. pools: by persona and stream. named: sets that were named, by their names."""

    pools: dict[tuple[str, str], LevelPool]
    named: dict[str, LevelSet]

    def pool(self, persona: str, stream: str) -> LevelPool:
        """The levels of a stream, with what is known of a persona's best.

        Raises:
            RunError: it is not there yet.
        """
        if (persona, stream) not in self.pools:
            raise RunError(
                "the study does not have these levels yet", found=f"{stream}, {persona}", hint="run --stage pools first"
            )
        return self.pools[persona, stream]

    def sets(self, persona: str) -> list[LevelSet]:
        """What a persona's policies are measured on."""
        return [self.set_of(persona, HELD_OUT), *self.named.values()]

    def set_of(self, persona: str, name: str) -> LevelSet:
        """A set by its name."""
        if name == CHOOSING:
            return LevelSet.of(name, self.pool(persona, TRAINING).levels[:CHOICES])
        return self.named[name] if name in self.named else LevelSet.of(name, self.pool(persona, name).levels)


def named(name: str, where: str) -> LevelSet:
    """A set of levels that are read from a folder or whatever else names levels."""
    game = study_game()
    return LevelSet.of(name, [LevelText.of(level) for level in mapsets.resolve(game, [where])])


def make(folder: Path, settings: StudySettings, runner: Runner) -> bool:
    """Generate and solve the pools that are not there yet; whether all are there."""
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
    """The pools that a folder has. sets: that were named.

    Raises:
        RunError: its file is damaged.
    """
    streams, best = _read(folder)
    found = {(name, stream): LevelPool(streams[stream], values) for (name, stream), values in best.items()}
    return Levels(found, dict(sets or {}))


def _read(
    folder: Path,
) -> tuple[dict[str, tuple[LevelText, ...]], dict[tuple[str, str], tuple[float, ...]]]:
    """The levels of each stream, and the best known of each persona and stream."""
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
