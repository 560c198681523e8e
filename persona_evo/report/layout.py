"""Lays texts out for a terminal: tables whose columns line up and fit, and words broken into lines."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Collection, Sequence

GAP = 2
"""Number of spaces between two columns."""

LEAST = 16
"""Width below which a column of words is not made narrower."""

WIDTH = 100
"""Width if no output is a terminal, as in a log of continuous integration."""


def terminal_width() -> int:
    """Return the terminal's width: COLUMNS if it is set, that of any standard stream that is a terminal, or WIDTH."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
        try:
            if stream is not None and (found := os.get_terminal_size(stream.fileno()).columns) > 0:
                return found
        except (OSError, ValueError, AttributeError):
            continue
    return WIDTH


def clean(text: str) -> str:
    """Return a text as one line without control characters, which a level's name could bring into a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text between words into lines of at most `width` columns; lines after the first start with `indent`.

    A word that is wider than a line is broken, too, after a sign such as / if it has one.
    """
    if columns(text) <= width:
        return [text]
    lines, line = [], text[: len(text) - len(text.lstrip(" "))]
    for word in text.split():
        longer = f"{line} {word}" if line.strip() else line + word
        if columns(longer) <= width:
            line = longer
            continue
        if line.strip():
            lines.append(line.rstrip())
            line = indent
        while columns(line + word) > width:
            head = _head(word, max(1, width - columns(line)))
            lines.append(line + head)
            word, line = word[len(head) :], indent
        line += word
    return [*lines, line] if line.strip() else lines


def table(
    title: str, rows: Sequence[Sequence[str]], notes: Sequence[str], left: Collection[int], keys: int, width: int
) -> str:
    """Format a table as lines of at most `width` columns.

    Columns of words are broken into lines if that is enough. Otherwise columns that do not fit follow in further
    blocks, each of which starts with the first `keys` columns.

    Args:
        title: the first line, "" for none.
        rows: cells, those of the head first; all rows have equally many.
        notes: lines below the table.
        left: columns that are left-aligned besides the first.
        keys: number of columns that say what a row is about.
        width: width of the terminal.
    """
    grid = [[clean(cell) for cell in row] for row in rows]
    natural = [max(columns(row[i]) for row in grid) for i in range(len(grid[0]))]
    widths = _squeezed(grid, natural, left, width)
    lines = wrapped(clean(title), width) if title else []
    for number, block in enumerate(_blocks(widths, width, keys)):
        lines += [""] * (number > 0)
        sizes = _fitted([widths[i] for i in block], keys, width)
        head, *body = (_lines([row[i] for i in block], sizes, [i == 0 or i in left for i in block]) for row in grid)
        rule = "─" * (sum(sizes) + GAP * (len(block) - 1))
        lines += [*head, rule, *(line for row in body for line in row)]
    return "\n".join([*lines, *(line for note in notes for line in wrapped(clean(note), width))])


def _head(word: str, width: int) -> str:
    """Return as much of a word as fits, up to a sign after which it may be broken."""
    end = 1
    while end < len(word) and columns(word[: end + 1]) <= width:
        end += 1
    signs = [m.end() for m in re.finditer(r"[/\\_,;]", word[:end])]
    return word[: signs[-1]] if signs and signs[-1] > end // 2 else word[:end]


def _squeezed(grid: Sequence[Sequence[str]], natural: Sequence[int], left: Collection[int], width: int) -> list[int]:
    """Return the widths of the columns, with columns of words made narrower if the whole table then fits."""
    widths = list(natural)
    over = sum(widths) + GAP * (len(widths) - 1) - width
    loose = {
        i: max(LEAST, max(columns(word) for row in grid for word in row[i].split(" ")))
        for i in range(len(widths))
        if i in left and any(" " in row[i] for row in grid)
    }
    room = sum(max(0, widths[i] - least) for i, least in loose.items())
    if not 0 < over <= room:
        return widths
    for _ in range(over):
        widest = max((i for i, least in loose.items() if widths[i] > least), key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _blocks(widths: Sequence[int], width: int, keys: int) -> list[list[int]]:
    """Group columns into blocks that fit into `width`, each starting with the first `keys` columns."""
    blocks = [list(range(min(keys, len(widths))))]
    for i in range(keys, len(widths)):
        used = sum(widths[k] + GAP for k in blocks[-1]) + widths[i]
        if used > width and len(blocks[-1]) > keys:
            blocks.append(list(range(keys)))
        blocks[-1].append(i)
    return blocks


def _fitted(widths: list[int], keys: int, width: int) -> list[int]:
    """Return the widths of one block's columns; if the block is still too wide, the widest column is made narrower."""
    sizes = list(widths)
    while sum(sizes) + GAP * (len(sizes) - 1) > width and max(sizes) > LEAST // 2:
        sizes[sizes.index(max(sizes))] -= 1
    return sizes


def _lines(cells: Sequence[str], sizes: Sequence[int], left: Sequence[bool]) -> list[str]:
    """Format one row, in as many lines as its tallest cell."""
    parts = [wrapped(cell, size) or [""] for cell, size in zip(cells, sizes, strict=True)]
    found = []
    for k in range(max(map(len, parts))):
        line = []
        for part, size, to_left in zip(parts, sizes, left, strict=True):
            text = part[k] if k < len(part) else ""
            gap = " " * (size - columns(text))
            line.append(text + gap if to_left else gap + text)
        found.append((" " * GAP).join(line).rstrip())
    return found
