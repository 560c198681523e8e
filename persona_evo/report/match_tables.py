"""Tables of a match: pairs by level and by side, ratings, thinking times and search trees, and lost moves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from persona_evo.intervals import FEWEST, Interval, wilson
from persona_evo.jobs.windows import program
from persona_evo.matches import standings
from persona_evo.matches.records import GameRecord
from persona_evo.report.tables import Table
from persona_evo.words import percent

NONE = "–"


def shown(records: Sequence[GameRecord], names: Sequence[str], levels: Sequence[str], seed: int) -> list[Table]:
    """Return the tables for a terminal: pairs by level, ratings of more than two agents, and thinking times."""
    found = [pairs(records, names, levels)]
    if len(names) > 2:
        found.append(ratings(records, names, seed))
    return [*found, thinking(records, names, levels)]


def pairs(records: Sequence[GameRecord], names: Sequence[str], levels: Sequence[str]) -> Table:
    """Tabulate each pair on each level and, if there are several, on all of them."""
    rows = []
    for a, b in itertools.combinations(names, 2):
        for level in [*levels, *([""] if len(levels) > 1 else [])]:
            p = standings.pair(records, a, b, level)
            if not p.games:
                continue
            margin = f"{p.margin.value:+.3f}" + (f" ± {p.margin.half:.3f}" if p.games >= FEWEST else "")
            rows.append(
                [
                    f"{a} – {b}",
                    level or "all",
                    str(p.games),
                    percent(p.rate.value, 1),
                    span(p.rate),
                    str(p.ties),
                    str(p.games - p.wins - p.ties),
                    f"{p.p:.2g}",
                    margin,
                    f"{p.faults[0]}, {p.faults[1]}",
                ]
            )
    heads = ["", "level", "games", "won", "95 %", "ties", "lost", "p", "margin", "faults"]
    return Table("games", heads, rows, left=frozenset({1}), keys=2)


def span(rate: Interval) -> str:
    """Format an interval of a rate."""
    return f"{percent(rate.low, 1)} to {percent(rate.high, 1)}"


def sides(records: Sequence[GameRecord], names: Sequence[str]) -> Table:
    """Tabulate each pair by who moves first, on all levels together."""
    rows = []
    for a, b in itertools.combinations(names, 2):
        row = [f"{a} – {b}"]
        for first, second in ((a, b), (b, a)):
            results = [r.result_of(a) for r in records if (r.first, r.second) == (first, second)]
            won, tied = results.count(1.0), results.count(0.5)
            rate = wilson(won, len(results)) if results else None
            row += [
                f"{won} · {tied} · {len(results) - won - tied}",
                percent(rate.value, 1) if rate else NONE,
                span(rate) if rate else NONE,
            ]
        rows.append(row)
    heads = ["", "moving first", "share", "95 %", "moving second", "share", "95 %"]
    return Table("by side: won · tied · lost by the first named, and the share of games it won", heads, rows)


def ratings(records: Sequence[GameRecord], names: Sequence[str], seed: int) -> Table:
    """Tabulate the ratings of a round robin."""
    rows = [
        [r.name, f"{r.points:+.0f}", r.interval, percent(r.score, 1), str(r.games)]
        for r in standings.ratings(records, names, seed)
    ]
    title = "ratings (Bradley-Terry, 400 points are odds of 10 to 1)"
    return Table(title, ["", "points", "95 %", "score", "games"], rows)


def thinking(records: Sequence[GameRecord], names: Sequence[str], levels: Sequence[str]) -> Table:
    """Tabulate the time and trees of each agent on each level."""
    rows = []
    for name in names:
        for level in levels:
            t = standings.thinking(records, name, level)
            trees = (t.iterations, t.nodes, t.breadth, t.depth, t.breadth_most, t.depth_most)
            if t.games:
                cells = [f"{v:.4g}" if t.searches else NONE for v in trees]
                rows.append([name, level, f"{t.seconds:.3f}", f"{t.slowest:.3f}", *cells])
    heads = ["", "level", "s/move", "slowest", "iterations", "nodes", "breadth", "depth", "broadest", "deepest"]
    return Table("thinking, means over games", heads, rows, left=frozenset({1}), keys=2)


def faults(records: Sequence[GameRecord]) -> Table:
    """Tabulate each kind of fault of each agent: moves lost by it, number of games, and an example."""
    seen: dict[tuple[str, str], list[tuple[int, int, str]]] = {}
    for number, r in enumerate(records, 1):
        for who, move, kind, what in r.faults:
            seen.setdefault(((r.first, r.second)[who], kind), []).append((number, move, what))
    rows = [
        [
            name,
            kind,
            str(len(cases)),
            str(len({game for game, *_ in cases})),
            f"game {cases[0][0]}, move {cases[0][1]}",
            cases[0][2].replace("\n", " "),
        ]
        for (name, kind), cases in seen.items()
    ]
    note = "a lost move was made by the game's random player instead"
    return Table(
        "lost moves",
        ["", "fault", "moves", "in games", "such as", "what was said"],
        rows,
        [note] if rows else [],
        left=frozenset({1, 4, 5}),
        keys=2,
    )


def winner(r: GameRecord) -> str:
    """Name the winner."""
    return "tied" if r.result == 0.5 else f"{r.first if r.result == 1 else r.second} won"


def only_ties(records: Sequence[GameRecord], game: str) -> str:
    """Warn if none of several games has a winner, as in games that never name one; return "" otherwise."""
    if len(records) < 2 or any(r.result != 0.5 for r in records):
        return ""
    return (
        f'All {len(records)} games are ties. If {game} has winners, its rules must say "won" or "lost" at the end of a '
        f'game; "ended" is a tie. Check them with: {program("game", "check", game)}'
    )


def games(records: Sequence[GameRecord]) -> Table:
    """Tabulate every game, one per line."""
    rows = [
        [str(number), r.level, r.first, r.second, winner(r), f"{r.margin:+.3f}", str(r.plies), str(len(r.faults))]
        for number, r in enumerate(records, 1)
    ]
    heads = ["game", "level", "moves first", "moves second", "result", "margin of the first", "moves", "lost moves"]
    return Table("all games", heads, rows, left=frozenset({1, 2, 3, 4}))


def game_rows(records: Sequence[GameRecord]) -> list[dict[str, Any]]:
    """Return every game for a CSV file."""
    return [
        {
            "game": number,
            "level": r.level,
            "first": r.first,
            "second": r.second,
            "number": r.number,
            "start": r.start,
            "result": r.result,
            "margin": r.margin,
            "moves": r.plies,
            "faults_first": sum(f[0] == 0 for f in r.faults),
            "faults_second": sum(f[0] == 1 for f in r.faults),
            "seconds_first": r.seconds[0],
            "seconds_second": r.seconds[1],
        }
        for number, r in enumerate(records, 1)
    ]


def pair_rows(records: Sequence[GameRecord], names: Sequence[str], levels: Sequence[str]) -> list[dict[str, Any]]:
    """Return every pair on every level, and on all levels (level ""), for a CSV file."""
    found = []
    for a, b in itertools.combinations(names, 2):
        for level in [*levels, *([""] if len(levels) > 1 else [])]:
            p = standings.pair(records, a, b, level)
            found.append(
                {
                    "a": a,
                    "b": b,
                    "level": level,
                    "games": p.games,
                    "wins": p.wins,
                    "ties": p.ties,
                    "losses": p.games - p.wins - p.ties,
                    "rate": p.rate.value,
                    "low": p.rate.low,
                    "high": p.rate.high,
                    "p": p.p,
                    "margin": p.margin.value if p.games else "",
                    "faults_a": p.faults[0],
                    "faults_b": p.faults[1],
                }
            )
    return found
