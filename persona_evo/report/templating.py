"""The templates of pages and charts, and the functions that they call."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.report.tables import Block, Table

if TYPE_CHECKING:
    from jinja2 import Environment

WRAPS, PROSE = 20, 40
"""Length of a cell from which its column may be broken into lines, and from which it is treated as text."""

TEMPLATES = Path(__file__).parent / "templates"


@functools.cache
def environment() -> Environment:
    """Return the templates, with the functions that they call."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"template": _template, "whole": _whole}
    made.globals["column_style"] = _column_style
    return made


def _template(block: Block) -> str:
    """Return the path of a block's template: `blocks/` and the name of its class."""
    return f"blocks/{type(block).__name__.lower()}.html"


def _column_style(table: Table, column: int) -> str:
    """Return the style of a column: left-aligned texts, and line breaks if they are long."""
    longest = max((len(row[column]) for row in table.rows if " " in row[column]), default=0)
    names = ["left"] if column in table.left else []
    names += ["prose"] if longest > PROSE else ["wraps"] if longest > WRAPS else []
    return " ".join(names)


def _whole(text: str) -> str:
    """Format a cell so that a number is not separated from its interval or unit by a line break."""
    return text.replace(" ± ", "\u00a0±\u00a0").replace(" %", "\u00a0%")
