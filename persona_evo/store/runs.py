"""A run on disk.

| file of `runs/<utc>-<game>-<persona>-s<seed>/` | what | written |
|---|---|---|
| config.json | the frozen configuration, seed and versions | once, before anything else |
| journal.jsonl | a line for each island of each generation, times apart under "timing" | appended |
| checkpoint.json | all that the next generation depends on, how far the run is to go | replaced each generation |
| hall_of_fame.json | the best formulas so far | replaced each generation |
| policy.json | the final policy | once; a run that is extended adds policy-<generations>.json |
| policy-0.json | the policy of a run whose time was up in its first generation | until it has a generation |
| lock | who is at work here | while it is |

What holds at every moment, also if the process is killed or the machine stops: the journal has at least all lines of
the generations that the checkpoint has, and whatever it has beyond them is made again. `Run.resume` therefore cuts the
journal where it ended when the checkpoint was written (a line that was torn is among what is cut) and continues; the
journal is then equal to that of a run that was never stopped, but for the times.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from persona_evo.errors import Place, RunError
from persona_evo.jobs import schema
from persona_evo.jobs.folder import made
from persona_evo.jobs.lock import Lock
from persona_evo.names import file_name

SCHEMA = 1
"""Version of config.json and checkpoint.json."""

CONFIG, JOURNAL, CHECKPOINT, HALL, POLICY = (
    "config.json",
    "journal.jsonl",
    "checkpoint.json",
    "hall_of_fame.json",
    "policy.json",
)
BEFORE_FIRST = "policy-0.json"
"""The policy of a run whose time was up before the end of its first generation."""
TIMING = "timing"
"""Key of a journal line under which is what differs between equal runs."""


@dataclass(frozen=True)
class Checkpoint:
    """How far a run is.

    generation: the last one finished. target: how many the run is to have. journal: bytes of the journal that belong
    to the generations up to this one. state: all that the next generation depends on. config: digest of the
    configuration that it was made with, "" where an older version wrote it.
    """

    generation: int
    target: int
    journal: int
    state: Mapping[str, Any]
    config: str = ""


class Run:
    """An open run folder, locked until `close`. Made by `create` and `resume`."""

    def __init__(self, folder: Path, config: Mapping[str, Any], checkpoint: Checkpoint | None, lock: Lock) -> None:
        self.folder, self.config, self.checkpoint = folder, config, checkpoint
        self._lock = lock
        self._digest = digest(config)

    @classmethod
    def create(
        cls, root: Path, config: Mapping[str, Any], *, name: str | None = None, now: datetime | None = None
    ) -> Run:
        """A new folder below `root`, with its configuration.

        Args:
            config: plain values; must have "game", "persona" (with "name"), "seed" and "target".
            name: of the folder, if not made of the moment, the game, the persona and the seed. It may be there, but
                not hold a run.

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
        schema.write_atomically(folder / CONFIG, schema.dump(full))
        return cls(folder, full, None, lock)

    @classmethod
    def resume(cls, folder: Path) -> Run:
        """Open a folder, repair what a killed process left, and be ready for the next generation.

        Raises:
            RunError: no run folder, damaged (with line and column), or in use.
        """
        config = read_config(folder)
        lock = Lock(folder).acquire()
        try:
            checkpoint = read_checkpoint(folder)
            if checkpoint is None:
                _check_new(folder)
            elif checkpoint.config not in ("", digest(config)):
                raise RunError(
                    "the checkpoint belongs to another configuration",
                    place=Place(str(folder / CHECKPOINT)),
                    found=f"digest {checkpoint.config}",
                    expected=f"{digest(config)}, that of {CONFIG}",
                    hint=f"restore {CONFIG} and {CHECKPOINT} from a copy; for other settings start a new run",
                )
            _repair(folder / JOURNAL, checkpoint)
            for part in folder.glob("*.part"):
                part.unlink()
        except BaseException:
            lock.release()
            raise
        return cls(folder, config, checkpoint, lock)

    def record(
        self,
        generation: int,
        rows: Sequence[Mapping[str, Any]],
        timing: Mapping[str, Any],
        state: Mapping[str, Any],
        hall: Sequence[Mapping[str, Any]],
        target: int,
    ) -> None:
        """Write down a generation: journal and hall of fame first, then the checkpoint that makes it count."""
        lines = [json.dumps({**row, TIMING: dict(timing)}, allow_nan=False) for row in rows]
        end = schema.append_lines(self.folder / JOURNAL, lines)
        schema.write_atomically(self.folder / HALL, schema.dump({"generation": generation, "members": list(hall)}))
        self.checkpoint = Checkpoint(generation, target, end, state, self._digest)
        self._save()

    def aim(self, target: int) -> None:
        """Set how many generations the run is to have, so that a resumed run knows."""
        if self.checkpoint and self.checkpoint.target != target:
            self.checkpoint = replace(self.checkpoint, target=target)
            self._save()

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        c = self.checkpoint
        data = {"schema": SCHEMA, **c.__dict__}
        schema.write_atomically(self.folder / CHECKPOINT, json.dumps(data, allow_nan=False) + "\n")

    def finish(self, policy_text: str, generations: int) -> Path:
        """Write the final policy beside those of earlier ends of this run; the same policy is not written twice."""
        path = self.folder / (POLICY if generations else BEFORE_FIRST)
        if not generations:
            schema.write_atomically(path, policy_text)
            return path
        if path.exists() and path.read_text(encoding="utf-8") != policy_text:
            path = self.folder / f"policy-{generations}.json"
        if not path.exists():
            schema.write_atomically(path, policy_text)
        return path

    def close(self) -> None:
        """Give the folder free."""
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
    raise RunError("there are too many runs of this name", place=Place(str(root / name)))


def _named(folder: Path) -> Path:
    """The folder, made if it is not there (one without a configuration was left by a process that was killed)."""
    if (folder / CONFIG).exists():
        raise RunError("the folder holds a run already", place=Place(str(folder)), hint="resume it, or name another")
    made(folder, "run's folder")
    return folder


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a run.

    Raises:
        RunError: no run folder, or a damaged file.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(
            "this is not a run folder",
            place=Place(str(folder)),
            expected=f"a folder with {CONFIG}",
            hint="name a folder below runs/",
        )
    return dict(_reader(path).data)


def config_reader(folder: Path) -> schema.Reader:
    """The configuration of a run, to take values out (raises as `read_config`)."""
    read_config(folder)
    return _reader(folder / CONFIG)


def _reader(path: Path) -> schema.Reader:
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    reader = schema.Reader(data, text, str(path), RunError)
    if path.name == CONFIG:
        reader.text_of("game")
        persona = reader.object("persona")
        persona.text_of("name")
        persona.text_of("priority", "")
        reader.whole("seed")
        reader.words("versions", {})
        reader.texts("first", [])
        if reader.whole("target") < 1:
            raise reader.fail("is out of range", "target", found=data["target"], expected="at least 1")
    return reader


def digest(config: Mapping[str, Any]) -> str:
    """Names a configuration: the same for the same values, whatever their order."""
    plain = json.dumps(json.loads(schema.dump(config)), sort_keys=True)
    return hashlib.blake2b(plain.encode(), digest_size=16).hexdigest()


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """The checkpoint of a run; None before the end of the first generation.

    Raises:
        RunError: a damaged file.
    """
    if not os.path.lexists(folder / CHECKPOINT):
        return None
    reader = checkpoint_reader(folder)
    for name, least in (("generation", 0), ("target", 1), ("journal", 0)):
        if reader.whole(name) < least:
            raise reader.fail(
                "is out of range",
                name,
                found=reader.whole(name),
                expected=f"a whole number of at least {least}",
                hint=schema.RESTORE,
            )
    return Checkpoint(
        reader.whole("generation"),
        reader.whole("target"),
        reader.whole("journal"),
        reader.get("state", dict, "an object"),
        reader.text_of("config", ""),
    )


def checkpoint_reader(folder: Path) -> schema.Reader:
    """The checkpoint of a run that has one, to take values out (raises as `read_checkpoint`)."""
    return _reader(folder / CHECKPOINT)


def _check_new(folder: Path) -> None:
    """Refuse a run without a checkpoint that has more than the first generation's torn beginning.

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
            expected="the file, which tells where to go on",
            hint="restore it from a copy, or start a new run",
        )


def read_journal(folder: Path) -> list[dict[str, Any]]:
    """All lines of a run's journal, in the order written; a torn last line is left out.

    Raises:
        RunError: a damaged line.
    """
    path = folder / JOURNAL
    if not path.exists():
        return []
    if not path.is_file():
        raise RunError("the journal is no file", place=Place(str(path)), hint="restore it from a copy")
    lines = path.read_bytes().splitlines(keepends=True)
    return [_row(line, path, n) for n, line in enumerate(lines, 1) if line.endswith(b"\n")]


def read_hall(folder: Path) -> list[dict[str, Any]]:
    """The hall of fame of a run, best first; [] before the first generation is finished.

    Raises:
        RunError: a damaged file.
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
    """A journal line without what differs between equal runs."""
    return {k: v for k, v in row.items() if k != TIMING}


def _row(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if isinstance(row, dict) and isinstance(row.get("generation"), int):
            return row
        column = 1
    except (ValueError, RecursionError) as e:
        column = getattr(e, "colno", 1)
    raise RunError(
        "the journal is damaged",
        place=Place(str(path), number, column),
        found=repr(line[:40].decode("utf-8", "replace")),
        expected="a JSON object with a generation",
        hint=schema.RESTORE,
    )


def _repair(path: Path, checkpoint: Checkpoint | None) -> None:
    """Cut the journal where the checkpoint knew its end.

    Raises:
        RunError: it is shorter, or does not have the checkpoint's generation last.
    """
    if checkpoint is None:
        path.unlink(missing_ok=True)
        return
    size = path.stat().st_size if path.is_file() else 0
    if size < checkpoint.journal:
        raise RunError(
            "the journal lacks lines that the checkpoint has",
            place=Place(str(path)),
            found=f"{size} bytes",
            expected=f"{checkpoint.journal} bytes",
            hint=schema.RESTORE,
        )
    with open(path, "r+b") as f:
        kept = f.read(checkpoint.journal)
        _check_end(kept, checkpoint.generation, path)
        if size > checkpoint.journal:
            f.truncate(checkpoint.journal)
            os.fsync(f.fileno())


def _check_end(kept: bytes, generation: int, path: Path) -> None:
    last = kept[kept.rfind(b"\n", 0, len(kept) - 1) + 1 :]
    row = _row(last, path, kept.count(b"\n"))
    if not kept.endswith(b"\n") or row["generation"] != generation:
        raise RunError(
            "the journal does not belong to the checkpoint",
            place=Place(str(path), kept.count(b"\n") + 1),
            found=f"a line of generation {row['generation']}",
            expected=f"generation {generation}",
            hint="restore both files from a copy",
        )


def policy_of(folder: Path) -> Path | None:
    """The newest final policy of a run, None if it has none yet."""
    found = {int(m.group(1)): p for p in folder.glob("policy-*.json") if (m := re.search(r"-(\d+)\.json$", p.name))}
    if (folder / POLICY).is_file():
        found.setdefault(1, folder / POLICY)  # the first that is not of a run without generations
    return found[max(found)] if found else None


def find_runs(root: Path) -> list[Path]:
    """The run folders below `root`, oldest first."""
    return sorted(f.parent for f in root.glob(f"*/{CONFIG}")) if root.is_dir() else []
