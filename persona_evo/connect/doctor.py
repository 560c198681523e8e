"""Is a connected game fit to be searched? Plays the same things twice, compares what comes back, and takes the time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from persona_evo.connect import protocol as p
from persona_evo.connect.description import LevelName
from persona_evo.connect.findings import Lost
from persona_evo.connect.game import of
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.session import Session
from persona_evo.connect.snapshot_check import check_snapshots
from persona_evo.errors import GameError
from persona_evo.personas import load
from persona_evo.words import counted

ROLLOUTS = 200
SECONDS = 5.0
_COMPARED = 8


@dataclass
class DoctorReport:
    """What was seen. rate: rollouts a second, all workers together. restarted: processes that were started anew, since
    they ended or hung. played, failed: rollouts in all, and those in which the game failed each time. faults:
    sentences, none for a game that is fit."""

    hello: p.Hello
    level: str
    workers: int
    rollouts: int = 0
    rate: float = 0.0
    decisions: float = 0.0
    scores: tuple[float, float] = (0.0, 0.0)
    restarted: int = 0
    played: int = 0
    failed: int = 0
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def examine(session: Session, level: LevelName, *, rollouts: int = ROLLOUTS, seconds: float = SECONDS) -> DoctorReport:
    """Play a level and compare; before that, see that personas and playtests can make use of the description.

    Args:
        rollouts: at most, for the rate. seconds: after which no more are played.

    Raises:
        ConnectError: the game does not start, or what it sends is not what the protocol says.
        InputError: a metric, a formula or a persona of the description is not valid.
    """
    pool = session.pool(level)
    game = of(session)
    for persona in session.about.personas:
        load(str(persona), game)
    report = DoctorReport(session.hello(), str(level), pool.size)
    try:
        first = _compare(session, pool, level, report)
        if first:
            _rate(session, pool, level, report, rollouts, seconds)
    except GameError as e:
        report.faults.append(str(e).split("\n")[0])
    if report.failed:
        report.faults.append(f"the game failed in {report.failed:,} of {counted(report.played, 'rollout')}")
    report.restarted = pool.restarted
    return report


def _compare(session: Session, pool: ProcessPool, level: LevelName, report: DoctorReport) -> bool:
    """Play some games, then each of them again as a prefix, and half of it with the same rest."""
    seeds = range(1, _COMPARED + 1)
    firsts = list(_played(pool, [_order(session, level, seed) for seed in seeds], report))
    agains = list(_played(pool, [_order(session, level, seed) for seed in seeds], report))
    for seed, a, b in zip(seeds, firsts, agains, strict=True):
        if a is not None and b is not None:
            report.faults += differences(a, b, f"rollout seed {seed}, played twice", report.hello)
    known = [(seed, a) for seed, a in zip(seeds, firsts, strict=True) if a is not None]
    orders = [_order(session, level, seed + 1000, a.trace) for seed, a in known]
    for (seed, a), b in zip(known, _played(pool, orders, report), strict=True):
        if b is not None:
            report.faults += differences(a, b, f"rollout seed {seed}, played again by its choices", report.hello)
    if known and "snapshot" in report.hello.capabilities:
        wrong, gain = check_snapshots(pool, orders, lambda a, b, what: differences(a, b, what, report.hello))
        report.faults += wrong
        report.notes.append(gain)
    if len({a.trace for _, a in known}) == 1 and len(known) > 1 and known[0][1].decisions:
        report.notes.append("all rollouts took the same choices: has this level any?")
    del report.faults[5:]
    return bool(known)


def _order(session: Session, level: LevelName, seed: int, prefix: bytes = b"") -> p.Rollout:
    return p.Rollout(0, level.seed, seed, p.ALL_METRICS, session.mode, 0, prefix)


def _played(pool: ProcessPool, orders: Iterable[p.Rollout], report: DoctorReport) -> Iterator[p.Result | None]:
    for result in pool.play(orders):
        report.played += 1
        if isinstance(result, Lost):
            report.failed += 1
            yield None
        else:
            yield result


def _rate(
    session: Session, pool: ProcessPool, level: LevelName, report: DoctorReport, rollouts: int, seconds: float
) -> None:
    began = time.perf_counter()

    def orders() -> Iterator[p.Rollout]:
        for seed in range(rollouts):
            if time.perf_counter() - began > seconds:
                return
            yield _order(session, level, seed)

    results = [r for r in _played(pool, orders(), report) if r is not None]
    spent = time.perf_counter() - began
    report.rollouts = len(results)
    if results:
        report.rate = len(results) / spent
        report.decisions = sum(r.decisions for r in results) / len(results)
        report.scores = min(r.score for r in results), max(r.score for r in results)
        cut = sum(r.status == p.TRUNCATED for r in results)
        if cut:
            report.notes.append(
                f"{cut} of {counted(len(results), 'game')} were cut short after "
                f"{counted(report.hello.max_decisions, 'decision')}"
            )


def differences(a: p.Result, b: p.Result, what: str, hello: p.Hello) -> list[str]:
    """In what two results differ that should be the same; the first place of each kind."""
    found: list[str] = []
    one, two = p.unpack(a.trace), p.unpack(b.trace)
    at = next((i for i, (x, y) in enumerate(zip(one, two, strict=False)) if x != y), min(len(one), len(two)))
    if one != two:
        shown = [f"choice {t[at][0]} of {t[at][1]}" if at < len(t) else "the end" for t in (one, two)]
        found.append(f"{what}: at decision {at} there was {shown[0]}, then {shown[1]}")
        return found
    for i in range(min(a.rows, b.rows) + 1):
        last = i == min(a.rows, b.rows)
        left, right = (a.last(), b.last()) if last else (a.row(i), b.row(i))
        for metric, x, y in zip(hello.metrics, left, right, strict=True):
            if x != y:
                where = "at the end" if last else f"before decision {i}"
                found.append(f"{what}: metric {metric.symbol} {where} was {x:g}, then {y:g}")
                return found
    if a.score != b.score:
        found.append(f"{what}: the score was {a.score:g}, then {b.score:g}")
    elif a.hash != b.hash:
        found.append(f"{what}: the state's hash was {a.hash:016x}, then {b.hash:016x}")
    return found
