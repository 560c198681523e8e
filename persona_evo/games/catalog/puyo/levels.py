"""Level files of Puyo-Puyo: TOML text to a `PuyoSetup`, every mistake with its line and column.

| key | what |
|---|---|
| seed | whole number that all pairs follow from (default 1) |
| colours | 3 to 5 (default 4) |
| drops | pairs until the level is won, 1 to 10,000 (default 150) |
| visible | pairs that a player sees, 1 to 8 (default 3): the one that falls and those after it |
| pairs | first pairs by hand, such as "RG BB" (axis, then child); the seed makes the rest |
| field | rows from top to bottom, at most 13, of the letters `.RYGBP#`; # is garbage |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from persona_evo.errors import LevelError, Place
from persona_evo.games.catalog.puyo import links, tables
from persona_evo.games.core import Level
from persona_evo.games.toml_table import TomlTable
from persona_evo.seeds import SEED_LIMIT, below, derive, stream

LIMITS = {"seed": (0, SEED_LIMIT - 1, 1), "colours": (3, 5, 4), "drops": (1, 10_000, 150), "visible": (1, 8, 3)}
"""The lowest, highest and default value of each number."""
KEYS = (*LIMITS, "pairs", "field")


@dataclass(frozen=True)
class PuyoSetup:
    """The content of a level file: `pairs` of the whole game, axis + 8 * child, and `rows`, 13 strings of 6 letters."""

    seed: int
    colours: int
    drops: int
    visible: int
    pairs: tuple[int, ...]
    rows: tuple[str, ...]


def parse(text: str, source: str) -> PuyoSetup:
    """Read a level.

    Raises:
        LevelError: the file is wrong, with line and column.
    """
    file = TomlTable.parse(text, source, LevelError, "lines such as  colours = 4")
    if not file.values:
        raise LevelError(
            "the level is empty",
            place=Place(source, 1, 1),
            found="comments alone" if text.strip() else "no text",
            expected="at least one line, such as  seed = 1",
            hint="persona-evo level new NAME --game puyo writes a level to start from",
        )
    file.allow(KEYS, "no such key")
    seed, colours, drops, visible = (file.whole(key, usual, low, high) for key, (low, high, usual) in LIMITS.items())
    first = _pairs(file, colours)[:drops]
    rest = random_pairs(seed, colours, drops)[len(first) :]
    return PuyoSetup(seed, colours, drops, visible, (*first, *rest), _field(file, colours))


def random_pairs(seed: int, colours: int, count: int) -> tuple[int, ...]:
    """Draw pairs with both colours uniform, axis + 8 * child; a longer sequence begins with the shorter one."""
    rng = stream(derive(seed, "puyo", colours))
    return tuple(int(1 + below(rng, colours) + 8 * (1 + below(rng, colours))) for _ in range(count))


def spelled(pair: int) -> str:
    """Return a pair as two letters, the axis first."""
    return tables.LETTERS[pair & 7] + tables.LETTERS[pair >> 3]


def _pairs(file: TomlTable, colours: int) -> tuple[int, ...]:
    allowed = tables.LETTERS[1 : colours + 1]
    found = []
    for match in re.finditer(r"\S+", file.text("pairs", "")):
        pair = match.group()
        wrong = next((i for i, letter in enumerate(pair) if letter not in allowed or i > 1), None)
        if wrong is None and len(pair) == 1:
            wrong = 1
        if wrong is not None:
            raise LevelError(
                "not a pair",
                place=file.places.within(("pairs",), match.start() + wrong),
                found=pair[:20],
                expected=f"two letters of {allowed} ({colours} colours)",
                hint="the axis first, then the child; a space between pairs",
            )
        found.append(tables.LETTERS.index(pair[0]) + 8 * tables.LETTERS.index(pair[1]))
    return tuple(found)


class _Row(NamedTuple):
    """A row of the field as written; `start` is the position of its first cell in the text."""

    cells: str
    start: int


def _rows(text: str) -> list[_Row]:
    """Return the rows of a text without empty ones above and below."""
    rows, start = [], 0
    for line in text.split("\n"):
        rows.append(_Row(line.strip(), start + len(line) - len(line.lstrip())))
        start += len(line) + 1
    while rows and not rows[0].cells:
        rows.pop(0)
    while rows and not rows[-1].cells:
        rows.pop()
    return rows


def _field(file: TomlTable, colours: int) -> tuple[str, ...]:
    given = _rows(file.text("field", ""))
    allowed = "." + tables.LETTERS[1 : colours + 1] + "#"
    for row in given:
        wrong = next((i for i, c in enumerate(row.cells) if c not in allowed), None)
        if wrong is not None:
            raise LevelError(
                "no such cell",
                place=file.places.within(("field",), row.start + wrong),
                found=repr(row.cells[wrong]),
                expected=f"one of {allowed}",
                hint=f"{colours} colours, # for garbage, . for an empty cell",
            )
        if len(row.cells) != tables.COLUMNS:
            raise LevelError(
                "this row has the wrong length",
                found=f"{len(row.cells)} cells",
                place=file.places.within(("field",), row.start + min(len(row.cells), tables.COLUMNS)),
                expected=f"{tables.COLUMNS} cells, . for an empty one",
                hint="add what is missing" if len(row.cells) < tables.COLUMNS else "delete from here on",
            )
    if len(given) > tables.ROWS:
        raise LevelError(
            "the field has too many rows",
            place=file.places.within(("field",), given[tables.ROWS].start),
            found=f"{len(given)} rows",
            expected=f"at most {tables.ROWS}, the topmost being the ghost row",
            hint=f"delete {len(given) - tables.ROWS} of them; empty rows on top may be omitted",
        )
    _settled(file, given)
    return ("." * tables.COLUMNS,) * (tables.ROWS - len(given)) + tuple(row.cells for row in given)


def _settled(file: TomlTable, given: list[_Row]) -> None:
    """Check that nothing floats, nothing pops by itself, and the game is not over."""
    left_out = tables.ROWS - len(given)
    rows = ["." * tables.COLUMNS] * left_out + [row.cells for row in given]

    def at(y: int, x: int) -> Place:
        return file.places.within(("field",), given[y - left_out].start + x)

    for y in range(1, tables.ROWS):
        for x in range(tables.COLUMNS):
            if rows[y][x] == "." != rows[y - 1][x]:
                raise LevelError(
                    "a puyo floats",
                    place=at(y - 1, x),
                    found=f"{rows[y - 1][x]} in column {x + 1} over nothing",
                    expected="puyos that lie on the ground or on others",
                    hint="fill the cell below it, or move it down",
                )
    top = tables.ROWS - tables.VISIBLE_ROWS
    if rows[top][tables.THIRD] != ".":
        raise LevelError(
            "the game is over before it begins",
            place=at(top, tables.THIRD),
            found="the third column is full up to row 12",
            expected="room in the third column",
            hint="the game is lost when this cell is filled",
        )
    found = links.groups([[tables.LETTERS.index(cell) for cell in row] for row in rows])
    group = next((sorted(g) for g in found if len(g) >= 4), None)
    if group:
        y, x = group[0]
        raise LevelError(
            "the field has a complete group before the first drop",
            place=at(y, x),
            found=f"a group of {len(group)} {rows[y][x]} at column {x + 1}, row {tables.ROWS - y}",
            expected="groups of three at most",
            hint="give one of them another colour",
        )


def load(text: str, name: str, source: str = "") -> Level:
    """Read a level whose pairs are all known.

    Raises:
        LevelError: the file is wrong, with line and column.
    """
    return _level(text, name, source, False)


def load_hidden(text: str, name: str, source: str = "") -> Level:
    """Read a level of which no more than the visible pairs are known, whatever the file says of later ones.

    Raises:
        LevelError: the file is wrong, with line and column.
    """
    return _level(text, name, source, True)


def _level(text: str, name: str, source: str, hidden: bool) -> Level:
    setup = parse(text, source or name)
    row, start = tables.build(setup.colours, min(setup.visible, setup.drops), setup.pairs, setup.rows, hidden)
    return Level(
        game="puyo_hidden" if hidden else "puyo",
        name=name,
        text=text,
        tables=row,
        start=start,
        max_actions=tables.PLACEMENTS,
        source=source,
        facts={"setup": setup},
        horizon=setup.drops,
    )


def restart(level: Level, seed: int) -> Any:
    """Return a start of the hidden game: both seeds decide the first visible pairs; seed 0 gives the file's."""
    state = level.start.copy()
    if seed:
        setup = level.facts["setup"]
        count = len(state) - tables.QUEUE
        state[tables.QUEUE :] = random_pairs(derive(setup.seed, "start", seed), setup.colours, count)
    return state
