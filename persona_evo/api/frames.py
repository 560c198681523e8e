"""Playthroughs as rows of a table, for notebooks: plain dicts, pandas, or Parquet files."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from persona_evo.errors import SettingsError
from persona_evo.games.core import Game, Level
from persona_evo.playtest.records import Playthrough

if TYPE_CHECKING:
    import pandas

Value: TypeAlias = str | int | float | bool | None
Row: TypeAlias = dict[str, Value]

SHOWN = 20
"""Number of rows of a table that a notebook shows."""


def playthrough_row(record: Playthrough) -> Row:
    """Describe a playthrough in one row: how it was played, how it ended, and the metrics by symbol."""
    return {
        "level": record.level,
        "player": record.player,
        "skill": record.skill,
        "trial": record.trial,
        "seed": record.seed,
        "outcome": record.outcome,
        "won": record.won,
        "cause": record.cause,
        "utility": record.utility,
        "best_utility": record.best_utility,
        "proven": record.proven,
        "steps": record.steps,
        "stopped": record.stopped,
        "iterations": record.iterations,
        "seconds": record.seconds,
        "end": None if record.end is None else record.end.outcome,
        **record.against,
        **{f"metric_{symbol}": value for symbol, value in record.metrics.items()},
    }


def state_rows(game: Game, level: Level, record: Playthrough) -> Iterator[Row]:
    """Describe each state of a playthrough in a row: the move that led to it, the avatar's place, and the metrics.

    Raises:
        VerificationError: the playthrough cannot be played again.
    """
    from persona_evo.report import duels
    from persona_evo.report.replay import states

    side = duels.seat(game, level, record) if record.opponent else 0
    for step, state in enumerate(states(game, level, record)):
        place = None if game.locate is None else game.locate(level, state)
        yield {
            "level": record.level,
            "player": record.player,
            "trial": record.trial,
            "step": step,
            "action": record.actions[step - 1] if step else None,
            "x": None if place is None else int(place[0]),
            "y": None if place is None else int(place[1]),
            **{f"metric_{symbol}": float(value) for symbol, value in game.measure(level, state, side).items()},
        }


def to_pandas(rows: Iterable[Mapping[str, Value]]) -> pandas.DataFrame:
    """Convert rows to a data frame.

    Raises:
        SettingsError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as e:
        raise _missing("pandas", e) from e
    return pandas.DataFrame(list(rows))


def to_parquet(rows: Sequence[Mapping[str, Value]], file: str | Path) -> Path:
    """Write rows into a Parquet file.

    Raises:
        SettingsError: pyarrow is not installed.
        OSError: the file cannot be written.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as e:
        raise _missing("pyarrow", e) from e
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
    pyarrow.parquet.write_table(table, str(file))
    return Path(file)


def as_html(title: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table for a notebook; of a long table, only the beginning is shown."""
    more = f"<p>... and {len(rows) - SHOWN:,} more rows</p>" if len(rows) > SHOWN else ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in headers)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows[:SHOWN]
    )
    return f"<p>{html.escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _missing(package: str, error: ImportError) -> SettingsError:
    return SettingsError(
        f"the package {package} is not installed", found=str(error), hint='pip install "persona-evo[tables]"'
    )
