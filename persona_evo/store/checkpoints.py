"""Checkpoints of a run: the last one, and the one before in case the last one is damaged."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, RunError
from persona_evo.jobs import checksum, files, json_text, schema

SCHEMA = 1
"""The version of config.json and checkpoint.json."""

CONFIG, CHECKPOINT = "config.json", "checkpoint.json"
PREVIOUS = "checkpoint-previous.json"
"""The checkpoint of the generation before the last."""


@dataclass(frozen=True)
class Checkpoint:
    """The progress of a run.

    Attributes:
        generation: the last finished generation, from 0.
        target: the total number of generations of the run.
        journal: the bytes of the journal that belong to the generations up to this one.
        state: everything that the next generation depends on.
        config: a digest of the configuration it was made with, "" if an older version wrote it.
    """

    generation: int
    target: int
    journal: int
    state: Mapping[str, Any]
    config: str = ""

    def write(self, path: Path) -> None:
        """Replace the file of a checkpoint."""
        text = json.dumps({"schema": SCHEMA, **self.__dict__}, allow_nan=False)
        files.write_atomically(path, checksum.sealed(text) + "\n")


def versioned(path: Path) -> schema.Reader:
    """Return a reader for a file of a run.

    Raises:
        RunError: the file is damaged, or of a newer version.
    """
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    return schema.Reader(data, text, str(path), RunError)


def digest(config: Mapping[str, Any]) -> str:
    """Return a digest of a configuration: the same for the same values, whatever their order."""
    plain = json.dumps(json.loads(json_text.dump(config)), sort_keys=True)
    return hashlib.blake2b(plain.encode(), digest_size=16).hexdigest()


def read_checkpoint(folder: Path, name: str = CHECKPOINT) -> Checkpoint | None:
    """Return the checkpoint of a run; None before the end of the first generation.

    Raises:
        RunError: the file is damaged.
    """
    if not os.path.lexists(folder / name):
        return None
    reader = versioned(folder / name)
    for key, least in (("generation", 0), ("target", 1), ("journal", 0)):
        if reader.whole(key) < least:
            raise reader.fail(
                "is out of range",
                key,
                found=reader.whole(key),
                expected=f"a whole number of at least {least}",
                hint=json_text.RESTORE,
            )
    return Checkpoint(
        reader.whole("generation"),
        reader.whole("target"),
        reader.whole("journal"),
        reader.get("state", dict, "an object"),
        reader.text_of("config", ""),
    )


def usable_checkpoint(folder: Path, config: str) -> tuple[Checkpoint | None, str]:
    """Return the newest usable checkpoint, and what is wrong with a newer one ("" for nothing).

    Args:
        folder: the folder of the run.
        config: the digest of its configuration.

    Raises:
        RunError: no checkpoint can be used, or it belongs to another configuration.
    """
    problem = f"{CHECKPOINT} is missing"
    try:
        checkpoint = read_checkpoint(folder)
    except RunError as damage:
        if not (folder / PREVIOUS).is_file():
            raise
        problem, checkpoint = str(damage).partition("\n")[0], None
    name = CHECKPOINT
    if checkpoint is None:
        name, checkpoint = PREVIOUS, read_checkpoint(folder, PREVIOUS)
    if checkpoint is None:
        return None, ""
    if checkpoint.config not in ("", config):
        raise RunError(
            "the checkpoint belongs to another configuration",
            place=Place(str(folder / name)),
            found=f"digest {checkpoint.config}",
            expected=f"{config}, that of {CONFIG}",
            hint=f"restore {CONFIG} and {CHECKPOINT} from a copy; for other settings start a new run",
        )
    if name == CHECKPOINT:
        return checkpoint, ""
    return checkpoint, f"{problem}; the run continues after generation {checkpoint.generation + 1}, from {PREVIOUS}"


def checkpoint_reader(folder: Path) -> schema.Reader:
    """Return a reader for the checkpoint of a run that has one (raises as `read_checkpoint`)."""
    return versioned(folder / CHECKPOINT)
