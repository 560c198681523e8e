"""Converts a page's document to Markdown, with its charts as pictures beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from persona_evo.report.ci import escaped
from persona_evo.report.pages import Document, Facts, Gallery, Lines, Styled, Svg, Text
from persona_evo.report.tables import Table


def markdown(page: Document, pictures: Mapping[int, str]) -> str:
    """Return the document as Markdown.

    Args:
        pictures: the file of each chart, by the chart's `id`.
    """
    parts = [f"# {escaped(page.title)}", escaped(page.subtitle)]
    for section in page.parts:
        parts.append(f"## {escaped(section.title)}")
        parts += [text for block in section.blocks for text in _block(block, pictures)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _block(block: Any, pictures: Mapping[int, str]) -> Iterator[str]:
    if isinstance(block, Table):
        yield f"**{escaped(block.title)}**"
        yield _table(block)
        yield from (escaped(note) for note in block.notes)
    elif isinstance(block, Text):
        yield escaped(block.text)
    elif isinstance(block, Lines):
        yield "\n".join(f"- {escaped(text)}" for text in block.texts)
    elif isinstance(block, Facts):
        yield "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in block.values.items())
    elif isinstance(block, Svg):
        yield f"![{escaped(block.caption)}]({pictures[id(block.content)]})"
    elif isinstance(block, Gallery | Styled):
        for inner in block.figures if isinstance(block, Gallery) else block.blocks:
            yield from _block(inner, pictures)


def _table(table: Table) -> str:
    head, *rows = [[escaped(text) for text in row] for row in (table.headers, *table.rows)]
    rule = ["---" if i == 0 or i in table.left else "--:" for i in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
