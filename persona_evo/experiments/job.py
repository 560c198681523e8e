"""Runs all searches of an experiment, and stores each as soon as it is finished.

| file | content | written |
|---|---|---|
| experiment.json | everything that the result depends on | once, before anything else |
| results.jsonl | a line for each search, in the order of `Experiment.tasks` | appended |
| lock | the process that is working here | while it is |

`persona_evo.jobs` says what is guaranteed if the process is killed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.connect.traces import Trace
from persona_evo.errors import InputError, Place, RunError
from persona_evo.experiments.design import Cell, Experiment
from persona_evo.experiments.files import placed
from persona_evo.experiments.run import Growth, search
from persona_evo.experiments.subject import ExperimentLevel
from persona_evo.games import trust
from persona_evo.jobs import json_text, runner
from persona_evo.jobs.cache import WorkerCache
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.folder import JobFolder, JobKind
from persona_evo.jobs.journal import REPEAT, Journal, LineFormat
from persona_evo.jobs.progress import Forecast, Progress, Tell
from persona_evo.jobs.workers import Workers
from persona_evo.search.configuration import comparable
from persona_evo.words import interrupted

SCHEMA = 1
CONFIG, RESULTS = "experiment.json", "results.jsonl"
_GUESS = 100_000.0
"""Estimate of rollouts per second, until some were timed."""
_EVERY = 0.2
"""Seconds between two progress reports of a search."""


class SearchTask(NamedTuple):
    """A search in a form that can be sent to another process.

    Attributes:
        cell: its cell, with one level.
        number: number of its cell.
        folder: where logs of a connected game that fails are kept, "" for a temporary folder.
    """

    game: str
    cell: Cell
    number: int
    replicate: int
    seed: int
    folder: str = ""

    @property
    def key(self) -> tuple[str, int, int]:
        """Key that identifies the line of its result."""
        return self.cell.label, self.replicate, self.seed


@dataclass(frozen=True)
class SearchRecord:
    """The result of a search; `growth` and `best` are those of `run.Run`.

    Only `seconds` may differ between two runs of the same search.
    """

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
        """The best score."""
        return self.best.utility

    def to_json(self) -> str:
        """Return one line."""
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
    def from_row(cls, data: dict[str, Any], place: Place) -> SearchRecord:
        """Create the search that a line holds.

        Raises:
            RunError: the line does not hold a search.
        """
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
                hint=REPEAT,
            ) from e


KIND = JobKind("experiment", CONFIG, RESULTS, SCHEMA, comparable=comparable)
LINES = LineFormat(
    "result",
    SearchRecord.to_json,
    SearchRecord.from_row,
    lambda record: (record.cell, record.replicate, record.seed),
    lambda key: f"{key[0]}, replicate {key[1] + 1}",
)


@dataclass
class ExperimentResults:
    """The searches of an experiment in order; `complete` is False after Ctrl-C."""

    experiment: Experiment
    records: list[SearchRecord]
    folder: Path | None = None
    complete: bool = True

    @property
    def interruption(self) -> str:
        """Says how many searches there are of how many; "" if all are there."""
        return interrupted(len(self.records), len(self.experiment.tasks()), "search")

    def of(self, cell: Cell) -> list[SearchRecord]:
        """Return the searches of a cell."""
        return [record for record in self.records if record.cell == cell.label]


def conduct(
    experiment: Experiment,
    folder: Path | None = None,
    *,
    jobs: int = 1,
    progress: Tell | None = None,
    loading: Callable[[int, int], None] | None = None,
) -> ExperimentResults:
    """Run all searches that are still missing.

    Args:
        folder: stores the searches. If it holds the beginning of the very same experiment, that experiment is
            continued.
        jobs: number of cores, for games that run in this program; it does not affect the result.
        progress: called from time to time.
        loading: called before each level is loaded, with its number from 1 and the number of levels to load.

    Raises:
        PersonaEvoError: no such game, level or setting; the folder belongs to something else or is damaged; the game
            fails.
    """
    results, logs = ExperimentResults(experiment, [], folder), "" if folder is None else str(folder)
    tasks = _tasks(experiment, logs)
    with ExitStack() as stack:
        stack.callback(_stages.clear)
        config, journal = configuration(experiment, loading), None
        if folder is not None:
            stack.enter_context(JobFolder(KIND, folder, config))
            journal = Journal(folder / RESULTS, LINES)
            results.records = journal.read([task.key for task in tasks])
        alone = experiment.connected or jobs == 1
        workers = stack.enter_context(Workers(1 if alone else jobs))
        reporter = _Reporter(tasks, len(results.records), progress)
        parts = _made(tasks[len(results.records) :], workers, reporter)
        results.complete = runner.collect(parts, results.records, journal, reporter.finished)
    return results


def kept(folder: Path, experiment: Experiment) -> list[SearchRecord]:
    """Return the searches in a folder.

    Raises:
        RunError: they are damaged.
    """
    tasks = _tasks(experiment)
    return Journal(folder / RESULTS, LINES).read([task.key for task in tasks])


def _tasks(experiment: Experiment, logs: str = "") -> list[SearchTask]:
    """Return all searches in order."""
    game, cells = experiment.game, experiment.cells
    return [SearchTask(game, cells[c].alone(r), c, r, seed, logs) for c, r, seed in experiment.tasks()]


def reopen(folder: Path) -> Experiment:
    """Read the experiment of a folder.

    Raises:
        RunError: there is none, or a file is damaged.
    """
    r = KIND.reader(folder)
    try:
        made = Experiment.from_dict(dict(r.data))
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as e:
        raise RunError(
            "the experiment's file is damaged",
            place=Place(r.source),
            found=str(e).partition("\n")[0],
            hint=json_text.RESTORE,
        ) from e
    trust.check(r)
    return made


def configuration(experiment: Experiment, loading: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """Return all that the result depends on, as plain values.

    This loads, and so checks, every level of the catalog that is used; of a connected game only the first.

    Args:
        loading: see `conduct`.
    """
    levels, version = [], 0
    every = [(cell, number) for cell in experiment.cells for number in range(experiment.levels)]
    used = every[: 1 if experiment.connected else None]
    for count, (cell, number) in enumerate(used, 1):
        if loading is not None:
            loading(count, len(used))
        try:
            stage = cell.open(experiment.game, number)
            try:
                stage.utility(cell.score, cell.persona)
                version = stage.game.version
                levels.append(stage.level.text if not experiment.connected else stage.name)
            finally:
                stage.close()
        except InputError as e:
            raise placed(e, experiment, cell) from e
    return {**experiment.to_dict(), **trust.code_of(experiment.game), "game_version": version, "levels": levels}


class _Reporter:
    """Reports the number of rollouts made.

    Args:
        tasks: all searches.
        done: how many of them existed already.
        tell: called from time to time; None to report nothing.
    """

    def __init__(self, tasks: Sequence[SearchTask], done: int, tell: Tell | None) -> None:
        sizes = [task.cell.search.rollouts for task in tasks]
        self._tasks, self._tell = tasks, tell
        self._number, self._total, self._done = done, sum(sizes), sum(sizes[:done])
        self._told, self._clock = self._done, time.monotonic()
        self._forecast = Forecast(sizes[done:], 1, prior=0)

    def making(self, rollouts: int) -> None:
        """Report the rollouts of the current search, but not too often."""
        if time.monotonic() - self._clock > _EVERY:
            self._report(self._tasks[self._number], self._done + rollouts)

    def finished(self, records: Sequence[SearchRecord]) -> None:
        """Report finished searches."""
        tasks = self._tasks[self._number : self._number + len(records)]
        self._number += len(tasks)
        self._done += sum(task.cell.search.rollouts for task in tasks)
        self._report(tasks[-1], self._done)

    def _report(self, task: SearchTask, rollouts: int) -> None:
        if self._tell is None:
            return
        now = time.monotonic()
        self._forecast.made([rollouts - self._told], now - self._clock)
        self._told, self._clock = rollouts, now
        what = f"{task.cell.label}, replicate {task.replicate + 1}"
        self._tell(Progress(rollouts, self._total, self._forecast.left, what))


def _made(tasks: Sequence[SearchTask], workers: Workers, reporter: _Reporter) -> Iterable[list[SearchRecord]]:
    """Yield searches in order: one by one in this process, or by workers."""
    if workers.alone:
        return ([make(task, reporter.making)] for task in tasks)
    thought = [task.cell.search.rollouts / _GUESS for task in tasks]
    return Dispatch(workers, make_all, None, tasks, [task.number for task in tasks], thought)


_stages: WorkerCache[ExperimentLevel] = WorkerCache(3, lambda stage: stage.close())
"""Open levels by game and combination."""


def make_all(_: None, tasks: Sequence[SearchTask]) -> Iterator[SearchRecord]:
    """Yield the searches of some tasks; workers run this function."""
    return map(make, tasks)


def make(task: SearchTask, progress: Callable[[int], object] | None = None) -> SearchRecord:
    """Run the search of a task."""
    cell = task.cell
    stage = _stages.get((task.game, repr(cell.to_dict())), lambda: cell.open(task.game))
    if task.folder:
        stage.keep_in(Path(task.folder))
    made = search(stage, cell.search, task.seed, score=cell.score, persona=cell.persona, progress=progress)
    return SearchRecord(
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
