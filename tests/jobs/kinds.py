"""A small job of every kind, to be run, killed, damaged and resumed."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from persona_evo import personas
from persona_evo.experiments import job as course
from persona_evo.experiments.design import Cell, Experiment, SearchSpec
from persona_evo.games import mapsets, registry
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.runner import Job, Runner
from persona_evo.jobs.workers import Workers
from persona_evo.matches import job as play
from persona_evo.matches import names
from persona_evo.playtest import batch
from persona_evo.playtest.players import Player
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import runs
from tests.evolve import drive_synthetic

MD2, COLOSSEUM = registry.get("minidungeons2"), registry.get("colosseum")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of job.

    Attributes:
        name: for the test's name.
        config, lines: files below the folder of the job.
        run: does the job, or what is missing of it, with a seed and a number of workers; returns nothing.
        results: how many lines there are at the end.
        other: what the message says of a folder of a job with seed 2.
        clock: keys of a line that differ between equal runs.
    """

    name: str
    config: str
    lines: str
    run: Callable[[Path, int, int], object]
    results: int
    other: str
    clock: tuple[str, ...] = ("seconds",)

    def __str__(self) -> str:
        return self.name

    def content(self, folder: Path) -> list[str]:
        """Return the lines without what is measured with a clock."""
        text = (folder / self.lines).read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
        return [json.dumps({k: v for k, v in row.items() if k not in (*self.clock, "crc")}) for row in rows]

    def same(self, one: Path, other: Path) -> bool:
        """Return whether two folders hold the same results; those of a study come in any order."""
        contents = self.content(one), self.content(other)
        return contents[0] == contents[1] or (self.name == "study" and sorted(contents[0]) == sorted(contents[1]))


def _playtest(folder: Path, seed: int, jobs: int) -> None:
    (runner,) = personas.resolve(["runner"], MD2)
    players = [Player(runner, TreePolicy.ucb1()), Player(runner, TreePolicy.of("R + PE", MD2), "other")]
    batch.playtest(
        MD2,
        mapsets.resolve(MD2, ["test01"]),
        players,
        10,
        seed=seed,
        budget=Budget(4_000),
        settings=SearchSettings.single(),
        folder=folder,
        jobs=jobs,
        backend="threading",
    )


def _match(folder: Path, seed: int, jobs: int) -> None:
    levels = (LevelText.of(COLOSSEUM.load("random 6", "size5", size=5)),)
    agents = tuple(a.with_budget(60, None) for a in names.agents(COLOSSEUM, ["random", "two_ply"]))
    play.play(play.Match("colosseum", levels, agents, 16, True, seed), folder=folder, jobs=jobs, backend="threading")


def _experiment(folder: Path, seed: int, jobs: int) -> None:
    cells = tuple(
        Cell("", player, "small01", "", "", {"choices": "factored", "player": player}, SearchSpec(150))
        for player in ("greedy", "lazy")
    )
    course.conduct(Experiment("kept", "kept", "its_alive", seed, 6, cells), folder, jobs=jobs)


def _evolution(folder: Path, seed: int, jobs: int) -> None:
    config = {**drive_synthetic.config("modern", 8), "seed": seed}
    if not (folder / runs.CONFIG).exists():
        run = runs.RunFolder.create(folder.parent, config, name=folder.name)
    else:
        run = runs.RunFolder.resume(folder)
    drive_synthetic.work(run, drive_synthetic.lazy)


STUDIES = importlib.import_module("persona_evo.studies.keeping") if find_spec("persona_evo.studies") else None
"""What studies share, where they are installed."""


def _study(folder: Path, seed: int, jobs: int) -> None:
    assert STUDIES is not None
    opened, row_journal = STUDIES.opened, STUDIES.row_journal
    with opened(folder, "evolution", {"seed": seed}), Workers(jobs, "threading") as workers:
        known = {row["number"] for row in row_journal(folder / "measures.jsonl").read()}
        wanted = [Job(f"job {n}", (seed, n)) for n in range(24) if n not in known]
        keep = functools.partial(_keep, folder / "measures.jsonl")
        Runner(workers).run("measure", squared, wanted, keep, len(known))


def _keep(path: Path, row: dict[str, Any]) -> None:
    assert STUDIES is not None
    STUDIES.row_journal(path).append([row])


def squared(task: tuple[int, int]) -> dict[str, Any]:
    """Return the job of the study."""
    time.sleep(0.01)
    return {"number": task[1], "square": task[0] * task[1] ** 2}


KINDS = (
    Kind("playtest", "playtest.json", "traces.jsonl", _playtest, 20, "other seed 1"),
    Kind("match", "match.json", "games.jsonl", _match, 16, "other seed 1", ("seconds", "slowest")),
    Kind("experiment", "experiment.json", "results.jsonl", _experiment, 12, "other seed 1"),
    Kind("evolution", "config.json", "journal.jsonl", _evolution, 24, "", ("timing",)),
    *([Kind("study", "reproduction.json", "measures.jsonl", _study, 24, "other seed 1")] if STUDIES else []),
)
