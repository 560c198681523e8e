"""The numbers of the report as rows of CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from persona_evo.matches import standings
from persona_evo.report import match_tables
from persona_evo.report.cell_comparisons import effect_fields
from persona_evo.studies.colosseum import findings
from persona_evo.studies.colosseum.findings import ReportVerdict, share
from persona_evo.studies.colosseum.matches import (
    ALL,
    ColosseumGames,
    study,
)


def claim_rows(m: ColosseumGames, said: Sequence[ReportVerdict]) -> list[dict[str, object]]:
    return [
        {"report": v.claim.report, "key": v.claim.key, "says": v.claim.says, "here": v.here, "so_here": verdict(m, v)}
        for v in said
    ]


def tree_rows(m: ColosseumGames) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for row in study().trees:
        for how, match in (("iterations", f"trees-{row.size}"), ("seconds", "trees-seconds")):
            s = findings.shape(m, match, "uct_walls", row.size)
            if s is not None:
                rows.append(
                    {
                        "size": row.size,
                        "limit": how,
                        "report_breadth": row.breadth,
                        "breadth": s.breadth.value,
                        "breadth_low": s.breadth.ends[0],
                        "breadth_high": s.breadth.ends[1],
                        "report_depth": row.depth,
                        "depth": s.depth.value,
                        "depth_low": s.depth.ends[0],
                        "depth_high": s.depth.ends[1],
                        "published_breadth": row.measured[0],
                        "published_depth": row.measured[1],
                        "published_nodes": row.nodes,
                        "nodes": s.nodes,
                        "games": s.breadth.n,
                    }
                )
    return rows


def pair_rows(m: ColosseumGames) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, records in m.played.items():
        agents = list(dict.fromkeys(a for r in records for a in (r.first, r.second)))
        for level in dict.fromkeys(r.level for r in records):
            for a, b in combinations(agents, 2):
                p = standings.pair(records, a, b, level)
                s, own = share(p), standings.thinking(records, a, level)
                rows.append(
                    {
                        "match": name,
                        "level": level,
                        "a": a,
                        "b": b,
                        "games": p.games,
                        "wins": p.wins,
                        "ties": p.ties,
                        "losses": p.games - p.wins - p.ties,
                        "decided_won": s.value,
                        "decided_low": s.low,
                        "decided_high": s.high,
                        "p": p.p,
                        **effect_fields(p.effect, p.difference),
                        "a_iterations": own.iterations,
                        "a_nodes": own.nodes,
                        "a_depth": own.depth,
                    }
                )
    return rows


def game_rows(m: ColosseumGames) -> list[dict[str, object]]:
    return [{"match": name, **row} for name, records in m.played.items() for row in match_tables.game_rows(records)]


def rating_rows(m: ColosseumGames) -> list[dict[str, object]]:
    found: Any = standings.ratings(m.played["all"], ALL, m.settings.seed)
    return [
        {"agent": r.name, "points": r.points, "low": r.low, "high": r.high, "score": r.score, "games": r.games}
        for r in found
    ]


TOO_FEW = "(too few games)"
"""The text in place of a verdict if there are too few games for one."""


def verdict(m: ColosseumGames, v: ReportVerdict) -> str:
    """Return the word of a verdict, or TOO_FEW if too few games were played."""
    return TOO_FEW if findings.few(m) else v.kind
