"""Pieces of HTML pages: no scripts, nothing loaded from elsewhere, pictures within the page or beside it.

All texts are escaped, so a level called `<script>` is a level called `<script>`.
"""

from __future__ import annotations

import base64
import mimetypes
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from urllib.parse import quote

from persona_evo.report.style import STYLE
from persona_evo.report.tables import Table

POLICY = "default-src 'none'; img-src data: 'self'; style-src 'unsafe-inline'"
"""What a page may load: the pictures within it or beside it, and its own style."""


WRAPS, PROSE = 20, 40
"""Letters of a table's cell from which on its column may be broken into lines, and from which on it is read as text."""


def document(title: str, subtitle: str, links: Sequence[tuple[str, str]], parts: Iterable[str]) -> str:
    """A whole page. links: (address, name) of the navigation. parts: sections; empty ones are left out."""
    under = f'<p class="sub">{escape(subtitle)}</p>' if subtitle else ""
    nav = "<nav>" + "".join(f'<a href="{where}">{escape(name)}</a>' for where, name in links) + "</nav>"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>{under}{nav}</header>\n<main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main>\n</body>\n</html>\n"
    )


def section(name: str, title: str, *content: str) -> str:
    """A section with its heading; "" without content."""
    inside = "\n".join(filter(None, content))
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{inside}\n</section>' if inside else ""


def figure(path: Path, caption: str, folder: Path | None = None) -> str:
    """A picture with a line below it; named relative to `folder` if given, else within the page."""
    text = escape(caption)
    size = _size(path)
    known = f' width="{size[0]}" height="{size[1]}"' if size else ""
    wide = ' class="wide"' if size and size[0] > 1.6 * size[1] else ""
    return (
        f'<figure{wide}><img src="{escape(_source(path, folder))}"{known} alt="{text}" loading="lazy">'
        f"<figcaption>{text}</figcaption></figure>"
    )


def table(table: Table, caption: str | None = None) -> str:
    """A table that scrolls sideways where it is too wide; its notes below."""
    left = [_classes(table, i) for i in range(len(table.headers))]
    head = "".join(f'<th scope="col"{left[i]}>{escape(h)}</th>' for i, h in enumerate(table.headers))
    body = ""
    for row in table.rows:
        cells = "".join(f"<td{left[i]}>{_whole(escape(cell))}</td>" for i, cell in enumerate(row) if i)
        body += f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'
    notes = "".join(f'<p class="dim">{escape(note)}</p>' for note in table.notes)
    title = escape(table.title if caption is None else caption)
    return (
        f'<div class="scroll"><table><caption>{title}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{notes}"
    )


def _classes(table: Table, column: int) -> str:
    """How a column is set: its texts to the left, and in lines where they are long."""
    longest = max((len(row[column]) for row in table.rows if " " in row[column]), default=0)
    names = ["left"] if column in table.left else []
    names += ["prose"] if longest > PROSE else ["wraps"] if longest > WRAPS else []
    return f' class="{" ".join(names)}"' if names else ""


def _whole(text: str) -> str:
    """A cell's text that is not broken within a number with its interval or unit."""
    return text.replace(" ± ", "\u00a0±\u00a0").replace(" %", "\u00a0%")


def grid(shown: Sequence[Table]) -> str:
    """Tables side by side, and below all of them what their notes say, each once."""
    notes = "".join(f'<p class="dim">{escape(n)}</p>' for n in dict.fromkeys(n for t in shown for n in t.notes))
    inside = "".join(f"<div>{table(replace(t, notes=[]))}</div>" for t in shown)
    return f'<div class="grids">{inside}</div>{notes}'


def folded(title: str, content: str) -> str:
    """Something to be unfolded."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def lines(texts: Iterable[str]) -> str:
    """A list; "" without lines."""
    items = "".join(f"<li>{escape(line)}</li>" for line in texts)
    return f'<ul class="plain">{items}</ul>' if items else ""


def facts(values: Mapping[str, str]) -> str:
    """Names and what they stand for; "" without any."""
    rows = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in values.items())
    return f"<dl>{rows}</dl>" if rows else ""


def _size(path: Path) -> tuple[int, int] | None:
    """Width and height from the head of a PNG or GIF file, so that the page does not jump while pictures load."""
    with path.open("rb") as stream:
        head = stream.read(24)
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) == 24:
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return None


def _source(path: Path, folder: Path | None) -> str:
    if folder is not None:
        return quote(Path(os.path.relpath(path, folder)).as_posix())
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
