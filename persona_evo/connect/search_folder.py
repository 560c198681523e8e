"""Manages the folder of a connected search: it is locked, and a search continues there only with the same values.

`search.json` holds the values of the search. `rollouts.jsonl` gets a line for each rollout; new lines are written about
once a second and are then safe from a crash. A resumed search reads these results instead of asking the game, builds
the same tree, and continues where it was stopped. `best.json` is written whenever a better playthrough has been found.
"""

from __future__ import annotations

import csv
import math
import struct
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout, Lost
from persona_evo.connect.ordering import FinishedRollout, RolloutResult, RolloutSource
from persona_evo.connect.planner import ConnectedPlanner
from persona_evo.connect.traces import Trace
from persona_evo.errors import Place, ProtocolError, RunError
from persona_evo.formula import Formula
from persona_evo.games.core import Game, Level
from persona_evo.jobs import journal
from persona_evo.jobs.folder import JobFolder, JobKind
from persona_evo.search.settings import FAILED, Budget
from persona_evo.search.tree_policy import TreePolicy

CONFIG, ROLLOUTS, SAMPLES, BEST = "search.json", "rollouts.jsonl", "samples.csv", "best.json"
_SECONDS = 1.0
"""Seconds between two writes of results."""

KIND = JobKind(
    "search",
    CONFIG,
    ROLLOUTS,
    hint="name another folder, or use the same values as before; a search with a larger budget continues the old one",
    comparable=lambda values: {k: v for k, v in values.items() if k != "budget"},
)


ENDED = {
    "budget": "the budget is used up",
    "time": "the time is used up",
    "nodes": "the tree is as large as allowed",
    "memory": "the memory is full",
    "exhausted": "all ways to play were tried",
    "stuck": "nothing is left to try",
    "win": "ended by the first win",
    FAILED: "the game failed",
}
"""Reasons why a connected search ends, in words; a search that was stopped names what stopped it."""


def why_ended(stopped: str) -> str:
    """Say why a search ended (see `ConnectedSearch.stopped`)."""
    return ENDED.get(stopped, f"stopped by {stopped}")


def is_whole(stopped: str) -> bool:
    """Return whether the playthrough of a search that ended for this reason goes to the end of the game."""
    return stopped != FAILED


class RecordedRollout:
    """A rollout in the journal, with the part of `protocol.Result` that a search reads."""

    def __init__(self, row: journal.Row, place: Place) -> None:
        try:
            pairs, depth = list(zip(row["choices"], row["counts"], strict=True)), int(row["depth"])
            asked = row.get("asked")  # only if the game rejected this prefix
            self.prefix = p.pack(pairs[:depth]) if asked is None else p.pack(zip(asked[::2], asked[1::2], strict=True))
            self.trace = p.pack(pairs) if asked is None else p.pack(pairs[:-1]) + struct.pack("<HH", *pairs[-1])
            self.score, self.hash = float(row["score"]), int(row["hash"])
            self._rows = {depth: tuple(map(float, row["before"]))} if row["before"] else {}
            for i, values in enumerate(row.get("rows", []), int(row.get("first", 0))):
                self._rows[i] = tuple(map(float, values))
            self._last = tuple(map(float, row["end"]))
            self.weights = tuple(map(float, row.get("weights", ())))
        except (KeyError, IndexError, TypeError, ValueError, ProtocolError, struct.error) as e:
            raise RunError("a rollout cannot be read", place=place, found=str(e)[:200], hint=journal.REPEAT) from e

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return len(self.trace) // p.PAIR

    def count(self, i: int) -> int:
        """Return the number of choices at decision i."""
        return int.from_bytes(self.trace[i * p.PAIR + 2 : i * p.PAIR + 4], "little")

    def row(self, i: int) -> tuple[float, ...]:
        """Return the metrics before decision i, which has to be one that the search reads (see `_row`)."""
        return self._rows[i]

    def last(self) -> tuple[float, ...]:
        """Return the metrics at the end."""
        return self._last


def search_values(
    planner: ConnectedPlanner, utility: Formula, policy: TreePolicy, seed: int, budget: Budget
) -> dict[str, Any]:
    """Return everything that decides the results of a search, and its budget, as plain values."""
    ordering = planner.ordering
    return {
        "game": planner.game.name,
        "version": planner.game.version,
        "level": planner.level.text,
        "utility": utility.text,
        "policy": policy.text,
        "terminal": planner.settings.terminal,
        "rollout": ordering.mode,
        "slots": ordering.slots,
        "inside": ordering.inside,
        "widening": ordering.wide,
        "scores": ordering.scores,
        **({"priors": True} if ordering.priors else {}),
        **({"seeds": ordering.worlds} if ordering.worlds else {}),
        "seed": seed,
        "budget": budget.to_dict(),
    }


class SearchFolder:
    """The folder of a search, locked until `close` or the end of a `with` statement.

    Args:
        path: the folder.
        values: the result of `search_values`.
        game, level: what is searched.

    Raises:
        RunError: the folder holds something else, is damaged or in use, or cannot be created.
    """

    def __init__(self, path: Path, values: Mapping[str, Any], game: Game, level: Level) -> None:
        if (path / SAMPLES).exists() and not (path / CONFIG).exists():
            raise RunError(
                "the folder holds a search that cannot be continued",
                place=Place(str(path)),
                found=f"{SAMPLES} without {CONFIG}",
                expected="a new folder",
                hint="an earlier version of persona-evo made it; name another folder",
            )
        self.path = path
        self._folder = JobFolder(KIND, path, values)
        self._journal = journal.Journal(path / ROLLOUTS, journal.plain_rows("rollout"))
        self._new: list[journal.Row] = []
        self._best = -math.inf
        self._names = game.name, level.text
        self.wide, self.hidden = int(values["widening"]), "seeds" in values
        self._trace: Trace | None = None
        self._samples = (path / SAMPLES).open("w", encoding="utf-8", newline="")
        self._table = csv.writer(self._samples)
        self._table.writerow(["sample", "utility", *game.symbols, "decisions", "rollout_seed", "hash"])
        self._written = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is new, and release the folder."""
        try:
            self.flush()
        finally:
            self._samples.close()
            self._folder.close()

    def recorded(self) -> Iterator[tuple[journal.Row, Place]]:
        """Yield the results in the journal."""
        return journal.rows(self.path / ROLLOUTS, "rollout")

    def add(self, row: journal.Row) -> None:
        """Add the result of a rollout to the journal."""
        self._new.append(row)
        if time.monotonic() - self._written > _SECONDS:
            self.flush()

    def record(self, sample: FinishedRollout) -> None:
        """Add a rollout to the table, and keep it if it is the best so far."""
        s = sample
        self._table.writerow([s.number, s.utility, *s.metrics.values(), len(s.trace), s.rollout_seed, s.hash])
        if s.utility > self._best:
            self._best = s.utility
            self._trace = Trace(*self._names, s.utility, s.score, s.metrics, s.trace)

    def flush(self) -> None:
        """Write everything that is new."""
        new, self._new = self._new, []
        if new:
            self._journal.append(new)
        best, self._trace = self._trace, None
        if best is not None:
            best.save(self.path / BEST)
        self._samples.flush()
        self._written = time.monotonic()

    @staticmethod
    def seed(path: Path) -> int | None:
        """Return the seed of the search in a folder; None if it holds no search.

        Raises:
            RunError: its configuration is damaged.
        """
        return KIND.reader(path).whole("seed") if (path / CONFIG).is_file() else None


class RecordedSource:
    """Answers a search from the journal, and then from a pool, whose results are added to the journal.

    Args:
        source: plays rollouts that are not in the journal.
        folder: the folder of the search.
    """

    def __init__(self, source: RolloutSource, folder: SearchFolder) -> None:
        self._source, self._folder = source, folder
        self._recorded: Iterator[tuple[journal.Row, Place]] = folder.recorded()
        self._orders: deque[tuple[p.Rollout, tuple[journal.Row, Place] | None]] = deque()
        self.resumed = 0

    @property
    def findings(self) -> list[FailingRollout]:
        """The rollouts that made the game fail."""
        return self._source.findings

    def submit(self, order: p.Rollout) -> int:
        """Order a rollout; the game plays it only if the journal does not have it."""
        known = next(self._recorded, None)
        self._orders.append((order, known))
        if known is None:
            return self._source.submit(order)
        self.resumed += 1
        return order.id

    def next(self) -> RolloutResult | Lost:
        """Return the result of the oldest order.

        Raises:
            RunError: the journal has a rollout of another search there.
        """
        order, known = self._orders.popleft()
        if known is None:
            result = self._source.next()
            self._folder.add(_row(order, result, self._folder))
            return result
        row, place = known
        seed = row.get("seed")
        found = RecordedRollout(row, place) if "lost" not in row else None
        if seed != order.rollout_seed or (found is not None and found.prefix != order.prefix):
            raise RunError(
                "this line does not hold the rollout that the search would make next",
                place=place,
                found=f"rollout seed {seed}",
                expected=f"rollout seed {order.rollout_seed} and the choices of the search's tree",
                hint=journal.REPEAT,
            )
        return found if found is not None else Lost(order.id, FailingRollout.from_dict(row["lost"], place))

    def settle(self) -> None:
        """Forget all orders."""
        self._orders.clear()
        self._source.settle()


def _row(order: p.Rollout, result: RolloutResult | Lost, folder: SearchFolder) -> journal.Row:
    """Return a result as a row of the journal of a folder."""
    if isinstance(result, Lost):
        return {"seed": order.rollout_seed, "lost": result.finding.to_dict()}
    pairs, depth = p.unpack(result.trace), len(order.prefix) // p.PAIR
    first, more = 0 if folder.hidden else depth + 1, dict[str, Any]()
    if folder.hidden or 0 < folder.wide <= max((count for _, count in pairs[depth : depth + 1]), default=0):
        read = range(first, min(depth + 2, len(pairs)))
        more = {"first": first, "rows": [[*map(float, result.row(i))] for i in read]}
    if order.asks:
        more["weights"] = list(result.weights)
    if not result.trace.startswith(order.prefix):
        more["asked"] = [number for pair in p.unpack(order.prefix) for number in pair]
    return {
        "seed": order.rollout_seed,
        "depth": depth,
        "choices": [choice for choice, _ in pairs],
        "counts": [count for _, count in pairs],
        "before": [*map(float, result.row(depth))] if depth < len(pairs) else [],
        "end": [*map(float, result.last())],
        "score": result.score,
        "hash": result.hash,
        **more,
    }
