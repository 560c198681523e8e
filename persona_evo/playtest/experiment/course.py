"""All searches of an experiment, each written down as soon as it is made.

| file | what | written |
|---|---|---|
| experiment.json | all that the result depends on | once, before anything else |
| results.jsonl | a line for each search, in the order of `Experiment.tasks` | appended |
| lock | who is at work here | while it is |

Whatever kills the process, the folder holds a beginning of the searches and at most one torn line, which is cut off
when the same call goes on.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.connect.traces import Trace
from persona_evo.errors import InputError, Place, RunError
from persona_evo.jobs import schema
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.lock import Lock
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.experiment.design import Cell, Experiment
from persona_evo.playtest.experiment.one import Growth, search
from persona_evo.playtest.experiment.stage import Stage
from persona_evo.store.lines import claim, made, whole_lines

SCHEMA = 1
CONFIG, RESULTS = "experiment.json", "results.jsonl"
_GUESS = 100_000.0
"""Rollouts per second, until some were timed."""
_EVERY = 0.2
"""Seconds between two words of how far a search is."""


class Task(NamedTuple):
    """A search, as it can be sent anywhere. number: of its cell. folder: where logs of a connected game that fails are
    kept, "" for a temporary one."""

    game: str
    cell: Cell
    number: int
    replicate: int
    seed: int
    folder: str = ""


@dataclass(frozen=True)
class Record:
    """What a search came to; `growth` and `best` as in `one.Run`. seconds: the only value that may differ in a second
    run."""

    cell: str
    replicate: int
    seed: int
    growth: Growth
    best: Trace
    rollouts: int
    lost: int
    nodes: int
    stopped: str
    proven: bool
    seconds: float

    @property
    def score(self) -> float:
        """The best one."""
        return self.best.utility

    def to_json(self) -> str:
        """One line."""
        best = self.best
        return json.dumps(
            {
                "cell": self.cell,
                "replicate": self.replicate,
                "seed": self.seed,
                "score": best.utility,
                "game_score": best.score,
                "growth": [list(step) for step in self.growth],
                "rollouts": self.rollouts,
                "lost": self.lost,
                "nodes": self.nodes,
                "stopped": self.stopped,
                "proven": self.proven,
                "seconds": round(self.seconds, 3),
                "game": best.game,
                "level": best.level,
                "metrics": best.metrics,
                "choices": [choice for choice, _ in best.pairs],
                "counts": [count for _, count in best.pairs],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, line: str, place: Place) -> Record:
        """The inverse of `to_json`.

        Raises:
            RunError: the line is damaged.
        """
        data = schema.parse_line(line, place, RunError)
        try:
            pairs = tuple((int(c), int(n)) for c, n in zip(data["choices"], data["counts"], strict=True))
            metrics = {str(k): float(v) for k, v in data["metrics"].items()}
            best = Trace(
                str(data["game"]), str(data["level"]), float(data["score"]), float(data["game_score"]), metrics, pairs
            )
            growth = [(int(number), float(value)) for number, value in data["growth"]]
            if not growth:
                raise ValueError("no growth")
            return cls(
                str(data["cell"]),
                int(data["replicate"]),
                int(data["seed"]),
                growth,
                best,
                int(data["rollouts"]),
                int(data["lost"]),
                int(data["nodes"]),
                str(data["stopped"]),
                bool(data["proven"]),
                float(data["seconds"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            raise RunError(
                "a result is damaged",
                place=place,
                found=f"{type(e).__name__}: {e}"[:200],
                hint="restore the file from a copy, or delete the folder",
            ) from e


class Progress(NamedTuple):
    """Told now and then: rollouts made and wanted, seconds to go (None before it can be said), what is searched."""

    done: int
    total: int
    eta: float | None
    cell: str
    replicate: int


Tell = Callable[[Progress], None]


@dataclass
class Results:
    """Searches of an experiment in their order. complete: False after Ctrl-C."""

    experiment: Experiment
    records: list[Record]
    folder: Path | None = None
    complete: bool = True

    def of(self, cell: Cell) -> list[Record]:
        """The searches of a cell."""
        return [record for record in self.records if record.cell == cell.label]


def conduct(
    experiment: Experiment, folder: Path | None = None, *, jobs: int = 1, progress: Tell | None = None
) -> Results:
    """Make all searches that are not there yet.

    Args:
        folder: where they are written down; one with the beginning of the very same experiment is continued.
        jobs: cores, for games that are played in this program; without influence on the result.
        progress: told now and then.

    Raises:
        PersonaEvoError: no such game, level or setting; the folder is another's, or damaged; the game fails.
    """
    results, logs = Results(experiment, [], folder), "" if folder is None else str(folder)
    tasks = [Task(experiment.game, experiment.cells[c], c, r, seed, logs) for c, r, seed in experiment.tasks()]
    with ExitStack() as stack:
        stack.callback(_close)
        config = configuration(experiment)
        if folder is not None:
            made(folder)
            stack.enter_context(Lock(folder))
            claim(folder / CONFIG, folder / RESULTS, config, "experiment")
            results.records = _known(folder / RESULTS, tasks)
        alone = experiment.connected or jobs == 1
        workers = stack.enter_context(Workers(1 if alone else jobs))
        pace = _Pace(tasks, len(results.records), progress)
        try:
            for new in _made(tasks, len(results.records), workers, pace):
                if folder is not None:
                    schema.append_lines(folder / RESULTS, [record.to_json() for record in new])
                results.records += new
        except KeyboardInterrupt:
            results.complete = False
    return results


def kept(folder: Path, experiment: Experiment) -> list[Record]:
    """The searches that a folder holds.

    Raises:
        RunError: they are damaged.
    """
    tasks = [Task(experiment.game, experiment.cells[c], c, r, seed) for c, r, seed in experiment.tasks()]
    return _known(folder / RESULTS, tasks)


def reopen(folder: Path) -> Experiment:
    """The experiment of a folder.

    Raises:
        RunError: none, or a damaged file.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(
            "this is not the folder of an experiment",
            place=Place(str(folder)),
            expected=f"a folder with {CONFIG}",
            hint="name the folder that --out named",
        )
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    try:
        return Experiment.from_dict(data)
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as e:
        raise RunError(
            "the experiment's file is damaged",
            place=Place(str(path)),
            found=str(e).partition("\n")[0],
            hint=schema.RESTORE,
        ) from e


def configuration(experiment: Experiment) -> dict[str, Any]:
    """All that the result depends on, as plain values. Every level of the catalog is loaded for that, and so checked;
    of a connected game the first."""
    levels, version = [], 0
    for cell in experiment.cells[: 1 if experiment.connected else None]:
        try:
            stage = cell.open(experiment.game)
        except InputError as e:
            raise type(e)(
                f"{cell.label}: {e.what}", place=e.place, found=e.found, expected=e.expected, hint=e.hint
            ) from e
        try:
            stage.utility(cell.score, cell.persona)
            version = stage.game.version
            levels.append(stage.level.text if not experiment.connected else stage.name)
        finally:
            stage.close()
    return {"schema": SCHEMA, **experiment.to_dict(), "game_version": version, "levels": levels}


def _known(path: Path, tasks: Sequence[Task]) -> list[Record]:
    """The searches that are there already, which must be the first ones of those wanted."""
    found = []
    for number, line in enumerate(whole_lines(path), 1):
        place = Place(str(path), number)
        record = Record.from_json(line.decode("utf-8", "replace"), place)
        wanted = tasks[number - 1] if number <= len(tasks) else None
        if wanted is None or (record.cell, record.replicate, record.seed) != (
            wanted.cell.label,
            wanted.replicate,
            wanted.seed,
        ):
            found_here = f"{record.cell}, replicate {record.replicate + 1}"
            raise RunError(
                "a result does not belong here",
                place=place,
                found=found_here,
                hint="restore the file from a copy, or name another folder",
            )
        found.append(record)
    return found


class _Pace:
    """How far everything is, in rollouts."""

    def __init__(self, tasks: Sequence[Task], done: int, tell: Tell | None) -> None:
        sizes = [task.cell.search.rollouts for task in tasks]
        self.total, self.done, self._tell = sum(sizes), sum(sizes[:done]), tell
        self._first, self._began, self._last = self.done, time.monotonic(), 0.0

    def told(self, task: Task, more: int = 0, always: bool = False) -> None:
        """Say it, but not too often. more: rollouts of the search that is being made."""
        now = time.monotonic()
        if self._tell is None or not (always or now - self._last > _EVERY):
            return
        self._last = now
        made = self.done + more - self._first
        rate = made / max(1e-9, now - self._began)
        eta = (self.total - self.done - more) / rate if made else None
        self._tell(Progress(self.done + more, self.total, eta, task.cell.label, task.replicate))


def _made(tasks: Sequence[Task], done: int, workers: Workers, pace: _Pace) -> Iterator[list[Record]]:
    """Searches in their order: one by one in this process, or by workers."""
    left = tasks[done:]
    parts: Iterator[list[Record]] = ([make(task, functools.partial(pace.told, task))] for task in left)
    if not workers.alone:
        thought = [task.cell.search.rollouts / _GUESS for task in left]
        parts = iter(Dispatch(workers, make_all, None, left, [task.number for task in left], thought))
    for records in parts:
        chosen = tasks[done : done + len(records)]
        done += len(records)
        pace.done += sum(task.cell.search.rollouts for task in chosen)
        yield records
        pace.told(chosen[-1], always=True)


_stages: dict[tuple[str, str], Stage] = {}
_FEW = 3


def make_all(_: None, tasks: Sequence[Task]) -> Iterator[Record]:
    """The searches of some tasks (this is what workers run)."""
    return map(make, tasks)


def make(task: Task, progress: Callable[[int], object] | None = None) -> Record:
    """The search of a task."""
    cell = task.cell
    key = task.game, repr(cell.to_dict())
    if key not in _stages:
        if len(_stages) >= _FEW:
            _stages.pop(next(iter(_stages))).close()
        _stages[key] = cell.open(task.game)
        if task.folder:
            _stages[key].keep_in(Path(task.folder))
    made = search(_stages[key], cell.search, task.seed, score=cell.score, persona=cell.persona, progress=progress)
    return Record(
        cell.label,
        task.replicate,
        task.seed,
        made.growth,
        made.best,
        made.rollouts,
        made.lost,
        made.tree.nodes,
        made.stopped,
        made.proven,
        made.seconds,
    )


def _close() -> None:
    while _stages:
        _stages.popitem()[1].close()
