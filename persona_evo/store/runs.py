"""Run folders on disk.

| file of `runs/<utc>-<game>-<persona>-s<seed>/` | what | written |
|---|---|---|
| config.json | the frozen configuration, seed and versions | once, before anything else |
| journal.jsonl | a line for each island of each generation, times apart under "timing" | appended |
| checkpoint.json | all that the next generation depends on, and the number of generations | replaced each generation |
| checkpoint-previous.json | the checkpoint of the generation before | replaced each generation |
| hall_of_fame.json | the best formulas so far | replaced each generation |
| policy.json | the final policy | once; a run that is extended adds policy-<generations>.json |
| policy-0.json | the policy of a run whose time was up in its first generation | until it has a generation |
| lock | the process that is at work here | while it is |

One invariant holds at every moment, even if the process is killed or the machine stops: the journal has at least all
lines of the generations in the checkpoint, and whatever it has beyond them is made again. `RunFolder.resume` therefore
cuts the journal where it ended when the checkpoint was written, which also removes an incomplete line, and continues.
Except for the times, the journal then equals that of a run that was never stopped.

Every line and every file except the policies has a checksum. A checkpoint that is damaged or missing is replaced by the
one before it, whose next generation is made again. Other damage is reported, and nothing is changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from persona_evo.errors import Place, RunError
from persona_evo.jobs import files, journal, json_text, schema
from persona_evo.jobs.folder import made
from persona_evo.jobs.lock import Lock
from persona_evo.names import file_name
from persona_evo.store.checkpoints import (
    CHECKPOINT,
    PREVIOUS,
    SCHEMA,
    Checkpoint,
    digest,
    usable_checkpoint,
    versioned,
)
from persona_evo.store.checkpoints import CONFIG as CONFIG

JOURNAL, HALL, POLICY = "journal.jsonl", "hall_of_fame.json", "policy.json"
BEFORE_FIRST = "policy-0.json"
"""The policy of a run whose time was up before the end of its first generation."""
TIMING = "timing"
"""The key in a journal line for values that differ between equal runs."""


class RunFolder:
    """An open run folder, locked until `close`. `create` and `resume` make it.

    Attributes:
        recovered: what was damaged and where the run continues instead, in words; "" for no damage.
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], checkpoint: Checkpoint | None, lock: Lock) -> None:
        self.folder, self.config, self.checkpoint = folder, config, checkpoint
        self.recovered = ""
        self._lock = lock
        self._digest = digest(config)

    @classmethod
    def create(
        cls, root: Path, config: Mapping[str, Any], *, name: str | None = None, now: datetime | None = None
    ) -> RunFolder:
        """Make a new folder with its configuration below `root`.

        Args:
            config: plain values with "game", "persona" (with "name"), "seed" and "target".
            name: the name of the folder; by default it consists of the time, the game, the persona and the seed. The
                folder may exist, but must not hold a run.

        Raises:
            RunError: the folder cannot be made, or holds a run.
        """
        moment = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
        game = str(config["game"]).replace("\\", "/").rpartition("/")[2].removesuffix(".toml")
        words = (game, str(config["persona"]["name"]), f"s{config['seed']}")
        automatic = "-".join([moment, *map(file_name, words)])
        folder = _fresh(root, automatic) if name is None else _named(root / name)
        lock = Lock(folder).acquire()
        full = {"schema": SCHEMA, "created": moment, **config}
        schema.write(folder / CONFIG, full)
        return cls(folder, full, None, lock)

    @classmethod
    def resume(cls, folder: Path) -> RunFolder:
        """Open a folder, repair what a killed process left, and prepare the next generation.

        Raises:
            RunError: the folder is not a run's, is damaged (with line and column), or is in use.
        """
        config = read_config(folder)
        lock = Lock(folder).acquire()
        try:
            checkpoint, recovered = usable_checkpoint(folder, digest(config))
            if checkpoint is None:
                _check_new(folder)
            _repair(folder / JOURNAL, checkpoint)
            for part in folder.glob("*.part"):
                part.unlink()
            run = cls(folder, config, checkpoint, lock)
            run.recovered = recovered
            if checkpoint is not None and recovered:
                checkpoint.write(folder / CHECKPOINT)
        except BaseException:
            lock.release()
            raise
        return run

    def write_hall(self, generation: int, hall: Sequence[Mapping[str, Any]]) -> None:
        """Write the hall of fame after a generation."""
        schema.write(self.folder / HALL, {"generation": generation, "members": list(hall)})

    def record(
        self,
        generation: int,
        rows: Sequence[Mapping[str, Any]],
        timing: Mapping[str, Any],
        state: Mapping[str, Any],
        hall: Sequence[Mapping[str, Any]],
        target: int,
    ) -> None:
        """Record a generation: journal and hall of fame first, then the checkpoint that makes it count.

        Raises:
            RunError: the journal lacks generations that the checkpoint has, since somebody deleted it.
        """
        if self.checkpoint is not None:
            journal.check_kept(self.folder / JOURNAL, self.checkpoint.journal)
        lines = [json.dumps({**row, TIMING: dict(timing)}, allow_nan=False) for row in rows]
        end = journal.append(self.folder / JOURNAL, lines)
        self.write_hall(generation, hall)
        if self.checkpoint is not None:
            self.checkpoint.write(self.folder / PREVIOUS)
        self.checkpoint = Checkpoint(generation, target, end, state, self._digest)
        self.checkpoint.write(self.folder / CHECKPOINT)

    def aim(self, target: int) -> None:
        """Store the total number of generations, so that a resumed run knows it."""
        if self.checkpoint and self.checkpoint.target != target:
            self.checkpoint = replace(self.checkpoint, target=target)
            self.checkpoint.write(self.folder / CHECKPOINT)

    def finish(self, policy_text: str, generations: int) -> Path:
        """Write the final policy beside those of earlier ends of this run. The same policy is not written twice."""
        path = self.folder / (POLICY if generations else BEFORE_FIRST)
        if not generations:
            files.write_atomically(path, policy_text)
            return path
        if path.exists() and files.read_text(path, RunError) != policy_text:
            path = self.folder / f"policy-{generations}.json"
        if not path.exists():
            files.write_atomically(path, policy_text)
        return path

    def close(self) -> None:
        """Release the folder."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _fresh(root: Path, name: str) -> Path:
    made(root, "folder of runs")
    try:
        for n in range(1, 1000):
            folder = root / (name if n == 1 else f"{name}-{n}")
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                continue
    except OSError as e:
        raise RunError("the run's folder cannot be made", place=Place(str(root / name)), found=e.strerror) from e
    raise RunError("there are too many runs with this name", place=Place(str(root / name)))


def _named(folder: Path) -> Path:
    """Return the folder, made if missing. A folder without a configuration was left by a process that was killed."""
    if (folder / CONFIG).exists():
        raise RunError("the folder already holds a run", place=Place(str(folder)), hint="resume it, or name another")
    left = [name for name in (CHECKPOINT, PREVIOUS, JOURNAL) if (folder / name).exists()]
    if left:
        raise RunError(
            f"the folder holds a run that lacks its {CONFIG}",
            place=Place(str(folder / CONFIG)),
            found=", ".join(left),
            expected=f"{CONFIG} beside them",
            hint=f"restore {CONFIG} from a copy, or name another folder",
        )
    made(folder, "run's folder")
    return folder


def read_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of a run.

    Raises:
        RunError: the folder is not a run's, or a file is damaged.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(
            "this is not a run folder",
            place=Place(str(folder)),
            expected=f"a folder with {CONFIG}",
            hint="name a folder below runs/",
        )
    return dict(_checked(folder).data)


def config_reader(folder: Path) -> schema.Reader:
    """Return a reader for the configuration of a run (raises as `read_config`)."""
    read_config(folder)
    return _checked(folder)


def _checked(folder: Path) -> schema.Reader:
    reader = versioned(folder / CONFIG)
    reader.text_of("game")
    persona = reader.object("persona")
    persona.text_of("name")
    persona.text_of("priority", "")
    reader.whole("seed")
    reader.words("versions", {})
    reader.texts("first", [])
    if reader.whole("target") < 1:
        raise reader.fail("is out of range", "target", found=reader.whole("target"), expected="at least 1")
    return reader


def _check_new(folder: Path) -> None:
    """Refuse a run without a checkpoint that has more than the beginning of its first generation.

    Raises:
        RunError: the checkpoint was lost; nothing is deleted.
    """
    signs = [p.name for p in sorted(folder.glob("policy*.json")) if p.name != BEFORE_FIRST]
    begun = read_journal(folder)
    hall = folder / HALL
    if hall.exists() and (not begun or schema.read(hall, RunError)[0].get("generation") != 0):
        signs.insert(0, HALL)
    later = [row["generation"] for row in begun if row["generation"] != 0]
    if signs or later:
        raise RunError(
            "the run has generations but no checkpoint",
            place=Place(str(folder / CHECKPOINT)),
            found=", ".join([*signs, *([f"{JOURNAL} up to generation {max(later)}"] if later else [])]),
            expected="the file, which says where to continue",
            hint="restore it from a copy, or start a new run",
        )


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """Return all lines of a run's journal in the order written, without an incomplete last line.

    Raises:
        RunError: a line is damaged.
    """
    return [row for row, _ in _rows(folder / JOURNAL)]


def read_hall(folder: Path) -> list[dict[str, Any]]:
    """Return the hall of fame of a run, best first; [] before the first generation is finished.

    Raises:
        RunError: the file is damaged.
    """
    path = folder / HALL
    if not path.exists():
        return []
    data, text = schema.read(path, RunError)
    members = schema.Reader(data, text, str(path), RunError).items("members")
    for member in members:
        member.number("fitness")
        member.text_of("formula")
        for name in ("size", "trials", "born"):
            member.whole(name)
    return [dict(member.data) for member in members]


def comparable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a journal line without what differs between equal runs."""
    return {k: v for k, v in row.items() if k != TIMING}


def _rows(path: Path, end: int | None = None) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield the complete lines of a journal, up to a byte if given, and check the order of generations and islands."""
    last = (-1, -1)
    for row, place in journal.rows(path, "line of the journal", json_text.RESTORE, end):
        if not isinstance(row.get("generation"), int):
            raise RunError(
                "the journal is damaged",
                place=place,
                found=str(row)[:40],
                expected="a JSON object with a generation",
                hint=json_text.RESTORE,
            )
        island = row.get("island")
        here = (row["generation"], island if isinstance(island, int) else -1)
        if here < last or (here == last and island is not None):
            raise RunError(
                "a line of the journal is out of order",
                place=place,
                found=f"generation {here[0]}, island {here[1]}",
                expected=f"a line that comes after generation {last[0]}, island {last[1]}",
                hint=json_text.RESTORE,
            )
        last = here
        yield row, place


def _repair(path: Path, checkpoint: Checkpoint | None) -> None:
    """Cut the journal at the end that the checkpoint recorded.

    Raises:
        RunError: a line before that is damaged, or the checkpoint's generation is not the last one there.
    """
    if checkpoint is None:
        path.unlink(missing_ok=True)
        return
    size = path.stat().st_size if path.is_file() else 0
    if size < checkpoint.journal:
        raise RunError(
            "the journal lacks lines that the checkpoint counts",
            place=Place(str(path)),
            found=f"{size} bytes",
            expected=f"{checkpoint.journal} bytes",
            hint=json_text.RESTORE,
        )
    last, number = -1, 0
    for row, place in _rows(path, checkpoint.journal):
        last, number = row["generation"], place.line
    with open(path, "rb") as f:
        f.seek(max(0, checkpoint.journal - 1))
        end = f.read(1)
    if end not in (b"", b"\n"):
        raise RunError(
            "the journal is damaged",
            place=Place(str(path), number + 1),
            found=f"a line that does not end at byte {checkpoint.journal}",
            expected="the line that the checkpoint was written after",
            hint=json_text.RESTORE,
        )
    if last != checkpoint.generation:
        raise RunError(
            "the journal does not match the checkpoint",
            place=Place(str(path), number),
            found=f"a line of generation {last}" if number else "no line",
            expected=f"generation {checkpoint.generation}",
            hint="restore both files from a copy",
        )
    if size > checkpoint.journal:
        with open(path, "r+b") as f:
            f.truncate(checkpoint.journal)
            os.fsync(f.fileno())


def policy_of(folder: Path) -> Path | None:
    """Return the newest final policy of a run, None if it has none yet."""
    found = {int(m.group(1)): p for p in folder.glob("policy-*.json") if (m := re.search(r"-(\d+)\.json$", p.name))}
    if (folder / POLICY).is_file():
        found.setdefault(1, folder / POLICY)  # the first that is not of a run without generations
    return found[max(found)] if found else None


def find_runs(root: Path) -> list[Path]:
    """Return the run folders below `root`, oldest first."""
    return sorted(f.parent for f in root.glob(f"*/{CONFIG}")) if root.is_dir() else []
