"""How far a run is: its last checkpoint, and the one before in case that the last one is damaged."""

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
"""Version of config.json and checkpoint.json."""

CONFIG, CHECKPOINT = "config.json", "checkpoint.json"
PREVIOUS = "checkpoint-previous.json"
"""The checkpoint of the generation before the last."""


@dataclass(frozen=True)
class Checkpoint:
    """How far a run is.

    Attributes:
        generation: the last one that is finished, from 0.
        target: how many generations the run is to have.
        journal: bytes of the journal that belong to the generations up to this one.
        state: everything that the next generation depends on.
        config: digest of the configuration that it was made with, "" where an older version wrote it.
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
    """A file of a run, to take values out.

    Raises:
        RunError: it is damaged, or of a newer version.
    """
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    return schema.Reader(data, text, str(path), RunError)


def digest(config: Mapping[str, Any]) -> str:
    """Names a configuration: the same for the same values, whatever their order."""
    plain = json.dumps(json.loads(json_text.dump(config)), sort_keys=True)
    return hashlib.blake2b(plain.encode(), digest_size=16).hexdigest()


def read_checkpoint(folder: Path, name: str = CHECKPOINT) -> Checkpoint | None:
    """The checkpoint of a run; None before the end of the first generation.

    Raises:
        RunError: a damaged file.
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
    """The newest checkpoint that can be used, and what is wrong with a newer one ("" for nothing).

    Args:
        folder: of the run.
        config: digest of its configuration.

    Raises:
        RunError: none can be used, or it belongs to another configuration.
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
    """The checkpoint of a run that has one, to take values out (raises as `read_checkpoint`)."""
    return versioned(folder / CHECKPOINT)
