"""Estimates the progress of a run's folder from its journal and from the times of its files.

Runs write no progress for this: the lines of journals are counted, and the remaining time follows from them.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, RunError, json_fault
from persona_evo.jobs import schema
from persona_evo.jobs.files import opened
from persona_evo.jobs.lock import LOCK
from persona_evo.jobs.progress import Forecast
from persona_evo.store import checkpoints, runs
from persona_evo.words import counted, enumerated

_CHUNK = 1 << 16
_FRESH = 5.0
"""The seconds between the first file and the lock up to which a process counts as the one that began the run."""

_PACE = 10
"""The number of recent generations, or lines, that a time estimate uses."""

_NAMES = 3
"""The highest number of names in a title."""


@dataclass(frozen=True)
class Details:
    """The details of a run that its kind of folder provides.

    Attributes:
        game, title, seed, phase, last, done, total: as for `folders.RunEntry`.
        complete: whether all the work is done.
        pace: the seconds for a piece of work if the journal has them, else None.
        started: when it began, if the configuration has the time.
    """

    game: str
    title: str
    done: int
    total: int | None
    complete: bool
    seed: int | None = None
    phase: str = ""
    last: str = ""
    pace: float | None = None
    started: datetime | None = None


def of_playtest(r: schema.Reader, folder: Path) -> Details:
    """Return the details of a playtest: playthroughs of every player in every level."""
    players, levels = [p.text_of("label") for p in r.items("players")], [v.text_of("name") for v in r.items("levels")]
    total = r.whole("trials") * len(players) * len(levels)
    done, last = count(folder / "traces.jsonl"), _last(folder / "traces.jsonl")
    compared = (
        len(levels) == 2
        and (folder / "comparison.csv").is_file()
        and not any(p.text_of("baseline", "") for p in r.items("players"))
    )
    title = f"{' against '.join(levels) if compared else enumerated(levels, _NAMES)}: {enumerated(players, _NAMES)}"
    end = (last.get("end") or last).get("outcome", "") if last else ""
    told = f"{last['player']} in {last['level']}: {'unfinished' if end == 'running' else end}" if last else ""
    phase = "playing" if done < total else "done" if (folder / "index.html").is_file() else "report"
    return Details(r.text_of("game"), title, done, total, done >= total, r.whole("seed"), phase, told)


def of_watch(r: schema.Reader, folder: Path) -> Details:
    """Return the details of a watch: the playtest of the present version of its levels, which is never the last one."""
    levels = r.texts("levels")
    config = folder / "playtest.json"
    title = enumerated([Path(name).stem for name in levels], _NAMES)
    if not config.is_file():
        return Details(r.text_of("game"), title, 0, None, False)
    data, text = schema.read(config, RunError)
    inner = of_playtest(schema.Reader(data, text, str(config), RunError), folder)
    phase = "waiting for a change" if inner.complete else "playing"
    return Details(inner.game, inner.title, inner.done, inner.total, inner.complete, inner.seed, phase, inner.last)


def of_match(r: schema.Reader, folder: Path) -> Details:
    """Return the details of a match: games of every pair on every level."""
    agents, levels = [a.text_of("name") for a in r.items("agents")], [v.text_of("name") for v in r.items("levels")]
    total = len(agents) * (len(agents) - 1) // 2 * len(levels) * r.whole("games")
    done, last = count(folder / "games.jsonl"), _last(folder / "games.jsonl")
    result = {1: "won by the first", 0: "won by the second", 0.5: "a tie"}
    told = f"{last['first']} against {last['second']} in {last['level']}: {result[last['result']]}" if last else ""
    return Details(
        r.text_of("game"),
        f"{enumerated(agents, _NAMES)} on {counted(len(levels), 'level')}",
        done,
        total,
        done >= total,
        r.whole("seed"),
        "games" if done < total else "done",
        told,
    )


def of_experiment(r: schema.Reader, folder: Path) -> Details:
    """Return the details of an experiment: searches of each cell in each of its levels."""
    cells = r.items("cells")
    total = r.whole("replicates") * sum(max(1, len(cell.texts("levels", ()))) for cell in cells)
    done, last = count(folder / "results.jsonl"), _last(folder / "results.jsonl")
    told = f"{last['cell']}: score {last['score']:g}" if last else ""
    return Details(
        r.text_of("game"),
        f"{r.text_of('title')}, {counted(len(cells), 'combination')}",
        done,
        total,
        done >= total,
        r.whole("seed"),
        "searches" if done < total else "done",
        told,
    )


def of_evolution(r: schema.Reader, folder: Path) -> Details:
    """Return the details of an evolution: generations, then the comparison that chooses the policy."""
    checkpoint = checkpoints.read_checkpoint(folder)
    done = checkpoint.generation + 1 if checkpoint else 0
    total = checkpoint.target if checkpoint else r.whole("target")
    rows = _tail(folder / runs.JOURNAL, _PACE * len(_islands(checkpoint)) if checkpoint else 1)
    pace = {row["generation"]: float(row[runs.TIMING]["seconds"]) for row in rows if runs.TIMING in row}
    best = max((float(row["best"]) for row in rows if row["generation"] == done - 1), default=None)
    levels, persona = r.items("levels"), r.object("persona").text_of("name")
    chosen = _generations(runs.policy_of(folder)) == done
    return Details(
        r.text_of("game"),
        f"{persona} on {counted(len(levels), 'level')}",
        done,
        total,
        chosen,
        r.whole("seed"),
        "done" if chosen else "generations" if done < total else "final comparison",
        "" if best is None else f"best fitness {best:.4f} in generation {done}",
        sum(pace.values()) / len(pace) if pace else None,
        _created(r.text_of("created", "")),
    )


def _islands(checkpoint: checkpoints.Checkpoint) -> list[Any]:
    return list(checkpoint.state["islands"])


def _generations(policy: Path | None) -> int:
    """Return the number of generations after which a policy was chosen, -1 if there is none."""
    if policy is None:
        return -1
    found = schema.read(policy, RunError)[0].get("run", {}).get("generations")
    return found if isinstance(found, int) else -1


def _created(stamp: str) -> datetime | None:
    try:
        return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def of_search(r: schema.Reader, folder: Path) -> Details:
    """Return the details of a search of a connected game: a table of rollouts, and finally the best way to play."""
    best = folder / "best.json"
    done = max(0, count(folder / "samples.csv") - 1)
    if not best.is_file():
        return Details("", folder.name, done, None, False, phase="rollouts")
    found, text = schema.read(best, RunError)
    trace = schema.Reader(found, text, str(best), RunError)
    return Details(
        trace.text_of("game"),
        trace.text_of("level"),
        done,
        done,
        True,
        phase="done",
        last=f"best utility {trace.number('utility'):g}",
    )


def seconds_left(folder: Path, config: Path, lines: Path, details: Details) -> float | None:
    """Return the seconds that a running run still takes, None if they cannot be estimated.

    An evolution's journal has the time of each generation. Other runs are assumed to keep their pace so far. In a
    resumed run, the times of the last lines, spread over all cores, are used instead.
    """
    if details.total is None or details.done < 1 or details.done >= details.total:
        return None
    left, now = details.total - details.done, time.time()
    if details.pace is not None:
        return max(0.0, left * details.pace - (now - lines.stat().st_mtime))
    began = (folder / LOCK).stat().st_mtime
    if began - config.stat().st_mtime <= _FRESH:
        forecast = Forecast([left, details.done], 1, prior=0)
        forecast.made([details.done], now - began)
        return forecast.left
    spent = [_seconds(row) for row in _tail(lines, _PACE)]
    forecast = Forecast([left, len(spent)], os.cpu_count() or 1, prior=0)
    forecast.made([len(spent)], sum(spent), cores=1)
    return forecast.left


def _seconds(row: dict[str, Any]) -> float:
    value = row.get("seconds", 0.0)
    return float(sum(value)) if isinstance(value, list) else float(value)


def count(path: Path) -> int:
    """Return the number of complete lines of a file, 0 if there is no file."""
    try:
        with opened(path, RunError) as f:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: f.read(_CHUNK), b""))
    except FileNotFoundError:
        return 0


def head(path: Path) -> str:
    """Return the first characters of a file, "" if it cannot be read."""
    try:
        with opened(path, RunError) as f:
            return f.read(200).decode("utf-8", "replace")
    except (OSError, RunError):
        return ""


def _last(path: Path) -> dict[str, Any] | None:
    rows = _tail(path, 1)
    return rows[-1] if rows else None


def _tail(path: Path, number: int) -> list[dict[str, Any]]:
    """Return the last complete lines of a journal as objects, oldest first; an incomplete last line is skipped.

    Raises:
        RunError: a line is not a JSON object.
    """
    try:
        with opened(path, RunError) as f:
            start = f.seek(0, os.SEEK_END)
            text = b""
            while start > 0 and text.count(b"\n") <= number:
                size = min(_CHUNK, start)
                start = f.seek(start - size)
                text = f.read(size) + text
    except FileNotFoundError:
        return []
    lines = text[: text.rfind(b"\n") + 1].splitlines()
    try:
        rows = [json.loads(line) for line in lines[-number:] if line.strip()]
    except (ValueError, RecursionError) as e:
        raise RunError(f"a line is damaged: {json_fault(e)}", place=Place(str(path))) from e
    if not all(isinstance(row, dict) for row in rows):
        raise RunError("a line is not an object", place=Place(str(path)))
    return rows
