"""The numbers in tables and figures, and their CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from persona_evo.report import csv_rows
from persona_evo.studies.puyo.cells import (
    EVERY,
    FLAT,
    PuyoCell,
)
from persona_evo.studies.puyo.games import PuyoGame, PuyoGames


def marks(m: PuyoGames) -> list[int]:
    """Return the numbers of the drops that figures show."""
    return list(range(EVERY, m.settings.drops + 1, EVERY))


def spans(m: PuyoGames, games: Sequence[PuyoGame]) -> list[tuple[float, float, float]]:
    """Return the (lowest, mean, highest) score of the games at each mark; a lost game counts as 0."""
    found = []
    for drop in marks(m):
        scores = [p.score_at(drop) for p in games]
        found.append((float(min(scores)), sum(scores) / len(scores), float(max(scores))))
    return found


def mean_final(games: Sequence[PuyoGame]) -> float:
    """Return the mean final score; a lost game keeps its score."""
    return sum(p.final for p in games) / len(games)


def lasted(m: PuyoGames, games: Sequence[PuyoGame]) -> int:
    """Return the number of games that made all drops."""
    return sum(p.drops >= m.settings.drops and not p.dead for p in games)


def budgets(m: PuyoGames) -> list[PuyoCell]:
    clocks = [PuyoCell(FLAT, 3, "clock", c) for c in m.settings.clocks]
    return [*clocks, *(PuyoCell(FLAT, 3, "playouts", n) for n in m.settings.playouts)]


def span_csv(m: PuyoGames, number: int, lines: Mapping[str, Sequence[PuyoGame]]) -> None:
    rows: list[dict[str, object]] = []
    for name, games in lines.items():
        for drop, (low, mean, high) in zip(marks(m), spans(m, games), strict=True):
            alive = sum(p.drops >= drop for p in games)
            rows.append({"line": name, "drop": drop, "lowest": low, "mean": mean, "highest": high, "games": alive})
    csv(m, f"figure{number}", rows)


def csv(m: PuyoGames, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    csv_rows.write_csv(m.folder / "tables" / f"{name}.csv", rows)
