"""Checks whether a connected game can be searched: plays rollouts twice, compares the results, and measures rates."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from persona_evo.connect import guard
from persona_evo.connect import protocol as p
from persona_evo.connect.film import Camera
from persona_evo.connect.findings import Lost
from persona_evo.connect.game import of
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.pictures import size_of_png
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.scores import UtilityRange
from persona_evo.connect.session import Session
from persona_evo.connect.snapshot_check import check_snapshots
from persona_evo.errors import ConnectError, GameError, ProtocolError, in_one_line
from persona_evo.games.outside import Shot, moments
from persona_evo.personas import load
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.words import counted

ROLLOUTS = 200
SECONDS = 5.0
MOST_GROWTH, LEAK = 8 * 2**20, 2048
"""Growth of memory that is not reported as a leak: bytes in total, and bytes per rollout."""
_TINY, _HUGE = 1e-25, 1e12
_COMPARED = 8
_QUIET = 3.0
"""Seconds between two reports of how many pictures have come."""


@dataclass
class DoctorReport:
    """What the doctor found out about a game.

    Attributes:
        rate: rollouts a second, of all workers together.
        decisions: the mean number of decisions of a rollout.
        scores: the lowest and the highest score.
        restarted: the number of processes that were restarted because they ended or hung.
        played, failed: the number of rollouts, and of those in which the game failed at every attempt.
        faults: sentences about what is wrong; empty for a game that can be searched.
        unfilmed: sentences about what is wrong with the pictures; searches do not need them, but film strips do.
        notes: sentences about what may be wrong.
    """

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
    unfilmed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def examine(
    session: Session,
    level: LevelName,
    *,
    rollouts: int = ROLLOUTS,
    seconds: float = SECONDS,
    decode: Callable[[Shot], object] | None = None,
    progress: Callable[[str], None] | None = None,
) -> DoctorReport:
    """Play a level several times and compare the results; before that, check the description's formulas and personas.

    Args:
        session: the game.
        level: the level to play.
        rollouts: the largest number of rollouts for measuring the rate.
        seconds: the time after which no more rollouts are ordered.
        decode: decodes a picture as reports do, and raises ProtocolError if that is not possible; None to check only
            what the protocol says about pictures.
        progress: called with a description of each step when it begins, and now and then with the pictures so far.

    Raises:
        ConnectError: the game does not start, or violates the protocol.
        InputError: a metric, a formula or a persona of the description is not valid.
    """
    tell = progress or _say_nothing
    tell("starting the game")
    pool = session.pool(level)
    game = of(session)
    for persona in session.about.personas:
        load(str(persona), game)
    report = DoctorReport(session.hello(), str(level), pool.size)
    if game.outside is not None and not game.outside.wins:
        report.notes.append("no end of the game counts as won: [outcome] in the description has no formula `won`")
    try:
        tell(f"playing {counted(_COMPARED, 'rollout')} three times")
        first = _compare(session, pool, level, report)
        if first is not None:
            if "pictures" in report.hello.capabilities:
                _look_at_pictures(session, level, first, report, decode, tell)
            tell(f"playing rollouts for at most {seconds:g} s")
            results = _rate(session, pool, level, report, rollouts, seconds)
            _look_at_numbers(report, results, session.about.scores)
            _probe_prefix(session, pool, level, report, results)
    except GameError as e:
        report.faults.append(str(e).split("\n")[0])
    if report.failed:
        report.faults.append(
            f"the game failed in {report.failed:,} of {counted(report.played, 'rollout')}, repetitions included"
        )
    if pool.dropped:
        report.faults.append(f"{counted(pool.dropped, 'RESULT')} had an id that no ROLLOUT had")
    report.restarted = pool.restarted
    return report


def _compare(session: Session, pool: ProcessPool, level: LevelName, report: DoctorReport) -> p.Result | None:
    """Play some games, then each one again from its seed, and once more from all its choices.

    Returns:
        A game that was played to its end; None if the game failed in all of them.
    """
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
    if known and "weights" in report.hello.capabilities and session.mode != p.POLICY:
        orders_asked = [_order(session, level, seed)._replace(asks=True) for seed, _ in known]
        for (seed, a), b in zip(known, _played(pool, orders_asked, report), strict=True):
            if b is not None:
                report.faults += differences(a, b, f"rollout seed {seed}, played in mode 3", report.hello)
    if "weights" in report.hello.capabilities and session.mode == p.UNIFORM:
        report.notes.append(
            'the game gives its choices weights, and rollouts do not use them: see `rollout = "weights"`'
        )
    if known and "snapshot" in report.hello.capabilities:
        wrong, gain = check_snapshots(pool, orders, lambda a, b, what: differences(a, b, what, report.hello))
        report.faults += wrong
        report.notes.append(gain)
    if len({a.trace for _, a in known}) == 1 and len(known) > 1 and known[0][1].decisions:
        report.notes.append("all rollouts made the same choices: does this level have any?")
    del report.faults[5:]
    return known[0][1] if known else None


def _look_at_pictures(
    session: Session,
    level: LevelName,
    played: p.Result,
    report: DoctorReport,
    decode: Callable[[Shot], object] | None,
    tell: Callable[[str], None],
) -> None:
    """Play a game again in a process that is asked for pictures, and decode those that a film strip would show."""
    camera, choices = Camera(session.about), [choice for choice, _ in p.unpack(played.trace)]
    told = time.monotonic()

    def arrived(number: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > _QUIET:
            told = time.monotonic()
            tell(f"asking for pictures: {number} of {total}")

    try:
        tell("asking for pictures")
        film = camera.shoot(level, choices, moments(len(choices)), arrived)
        for shot in film.shots:
            if decode is not None:
                decode(shot)
    except (ConnectError, GameError) as e:
        report.unfilmed.append(f"the game does not send pictures as it should: {in_one_line(e)}")
        return
    finally:
        camera.close()
    if not film.shots:
        report.unfilmed.append("the game has the capability `pictures`, but sent none")
        return
    width, height = size_of_png(film.shots[0].png)
    mean = sum(len(shot.png) for shot in film.shots) / len(film.shots) / 1024
    all_moments = counted(len(choices) + 1, "moment")
    report.notes.append(f"pictures: {film.sent} of {all_moments}, {width} x {height} pixels, {mean:,.1f} KiB each")


def _say_nothing(text: str) -> None:
    """Discard what is being done."""


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
) -> list[p.Result]:
    began, before = time.perf_counter(), _memory(pool)

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
        growth = _memory(pool) - before
        if growth > MOST_GROWTH and growth > LEAK * len(results) and pool.restarted == 0:
            report.notes.append(
                f"memory grew by {growth / 2**20:.0f} MB in {counted(len(results), 'rollout')}; if it goes on growing, "
                "rollouts in the table [limits] replaces processes in time"
            )
    return results


def _memory(pool: ProcessPool) -> int:
    """Return the memory of all processes of a pool in bytes; 0 if the system does not report it."""
    if not sys.platform.startswith("linux"):
        return 0
    return sum(guard.resident(number) for pid in pool.pids for number in guard.descendants(pid))


def _look_at_numbers(report: DoctorReport, results: Sequence[p.Result], how: str) -> None:
    """Check whether metrics and scores are within their ranges and vary."""
    if not results:
        return
    for i, metric in enumerate(report.hello.metrics):
        seen = [row[i] for r in results for row in (*map(r.row, range(r.rows)), r.last())]
        low, high = min(seen), max(seen)
        if (metric.low is not None and low < metric.low) or (metric.high is not None and high > metric.high):
            bounds = [format(b, "g") if b is not None else "any" for b in (metric.low, metric.high)]
            report.faults.append(
                f"metric {metric.symbol} was between {low:g} and {high:g}, but is declared to be from {bounds[0]} to "
                f"{bounds[1]}"
            )
        elif low == high and len(results) > 1:
            report.notes.append(f"metric {metric.symbol} was {low:g} all the time: is it reported?")
        _look_at_bytes(report, f"metric {metric.symbol}", seen)
    scores = [r.score for r in results]
    _look_at_bytes(report, "the score", scores)
    seen_scores = UtilityRange(min(scores), max(scores), len(scores))
    if advice := seen_scores.advice(TreePolicy.ucb1(), how):
        report.notes.append(f"random games score {advice}")


def _look_at_bytes(report: DoctorReport, what: str, seen: Sequence[float]) -> None:
    """Note numbers whose bytes may be in the wrong order, or that are so large that others are lost beside them."""
    sizes = [abs(value) for value in seen if value]
    if sizes and (max(sizes) < _TINY or min(sizes) > 1 / _TINY):
        size = f"larger than {max(sizes):.3g}" if max(sizes) < _TINY else f"smaller than {min(sizes):.3g}"
        report.faults.append(f"{what} is never {size}: are its bytes in the wrong order? The protocol is little-endian")
    elif sizes and max(sizes) > _HUGE:
        report.notes.append(f"{what} is as large as {max(sizes):.3g}: smaller numbers beside it are lost in sums")


def _probe_prefix(
    session: Session, pool: ProcessPool, level: LevelName, report: DoctorReport, results: Sequence[p.Result]
) -> None:
    """Order a choice that the game does not offer, and check that the game rejects it."""
    counts = [r.count(0) for r in results if r.decisions]
    if not counts or counts[0] >= p.MOST_CHOICES:
        return
    pool.submit(_order(session, level, 1, p.pack([(counts[0], counts[0] + 1)])), probe=True)
    report.played += 1
    prefix = f"a prefix with choice {counts[0]}, where there are {counts[0]}, was answered by"
    try:
        found = pool.next()
    except ProtocolError as e:
        report.faults.append(f"{prefix} a RESULT that is wrong: {e.found}")
        return
    if isinstance(found, Lost):
        report.faults.append(f"{prefix} a failure: {found.finding.message}")
    elif found.status != p.ILLEGAL:
        report.faults.append(f"{prefix} status {found.status}; the protocol asks for status {p.ILLEGAL}")


def differences(a: p.Result, b: p.Result, what: str, hello: p.Hello) -> list[str]:
    """Describe how two results differ that should be equal, up to the first difference."""
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
