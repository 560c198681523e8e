"""Pages: sections of blocks, rendered with the Jinja2 templates in `templates/`.

A page is data. `Document` holds sections, a section holds blocks, and each class of blocks has a template of its name
in `templates/blocks/`. Every text is escaped, so a level called `<script>` is a level called `<script>`. A page has no
scripts and loads nothing from elsewhere.

    page = Document("Evolution", "seed 1", [
        Section("fitness", "Fitness", [Svg(figure, "Best and mean fitness"), table, Lines(["..."])]),
        Section("made", "How it was made", [Facts({"seed": "1"})]),
    ])
    write(page, folder / "index.html")

Blocks are the classes below and `tables.Table`. A section without content and a block that is empty are left out. The
navigation is made of the sections.
"""

from __future__ import annotations

import base64
import functools
import mimetypes
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from persona_evo.jobs import files
from persona_evo.report.tables import Block as Block
from persona_evo.report.tables import Table
from persona_evo.report.templating import environment

if TYPE_CHECKING:
    from persona_evo.report.charts import Chart

POLICY = "default-src 'none'; img-src data: 'self'; style-src 'unsafe-inline'"
"""Content security policy: a page may load the pictures within it or beside it, and its own style."""


class _Blocks:
    """Base of classes that hold blocks; true if any block has content."""

    content: Sequence[Block | None]

    @property
    def blocks(self) -> list[Block]:
        """The blocks that have content."""
        return [block for block in self.content if block]

    def __bool__(self) -> bool:
        return bool(self.blocks)


@dataclass
class Section(_Blocks):
    """A part of a page.

    Attributes:
        name: its id, the target of links.
        title: its heading.
        content: blocks; empty ones and None are left out.
        link: its name in the navigation; the title if not given.
    """

    name: str
    title: str
    content: Sequence[Block | None]
    link: str = ""


@dataclass
class Document:
    """A whole page.

    Attributes:
        title: heading of the page and title of its window.
        subtitle: a line below the title; "" for none.
        sections: its parts; those without content are left out.
        home: text and address of a link to the parent page, None if there is none.
    """

    title: str
    subtitle: str
    sections: Sequence[Section]
    home: tuple[str, str] | None = None

    @property
    def parts(self) -> list[Section]:
        """The sections that have content."""
        return [s for s in self.sections if s]


@dataclass
class Heading(Block):
    """A heading within a section."""

    text: str


@dataclass
class Text(Block):
    """A paragraph; `style` is "" for plain text, "dim" for a remark, "tag" for a warning."""

    text: str
    style: str = ""


@dataclass
class Lines(Block):
    """A list of sentences."""

    texts: Iterable[str]

    def __post_init__(self) -> None:
        self.texts = list(self.texts)

    def __bool__(self) -> bool:
        return bool(self.texts)


@dataclass
class Facts(Block):
    """A list of names and values; a value of several lines is a list."""

    values: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.values)


@dataclass
class Link(Block):
    """A sentence that ends in a link to a file beside the page; `path` is relative to the page's folder."""

    text: str
    path: str


@dataclass
class Links(Block):
    """Links side by side; `addresses` maps the text of each to its target."""

    addresses: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.addresses)


@dataclass
class Code(Block):
    """A text shown unchanged in a monospaced font."""

    text: str


@dataclass
class Svg(Block):
    """A chart that is part of the page, so that it follows the page's colours."""

    content: Chart
    caption: str = ""


@dataclass
class Figure(Block):
    """A picture from a file, with a caption.

    Attributes:
        path: the picture.
        caption: the line below it.
        width: displayed width in pixels, if that differs from its own.
        enlarge: whether the picture links to its file in full size.
    """

    path: Path
    caption: str
    width: int = 0
    enlarge: bool = False

    @functools.cached_property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels as displayed."""
        found = size(self.path)
        if found is None or not self.width:
            return found
        return self.width, round(found[1] * self.width / found[0])

    @property
    def wide(self) -> bool:
        """Whether it is clearly wider than high."""
        return self.size is not None and self.size[0] > 1.6 * self.size[1]


@dataclass
class Gallery(Block):
    """Pictures and charts side by side; `kind` is their layout (chart, chart tiled, map, replay, pair or match)."""

    kind: str
    figures: Sequence[Block]

    def __bool__(self) -> bool:
        return bool(self.figures)


@dataclass
class Folded(_Blocks, Block):
    """Blocks that readers can unfold."""

    title: str
    content: Sequence[Block | None]


@dataclass
class Grid(Block):
    """Tables side by side, with each of their notes once below them; `style` is that of `Styled`."""

    tables: Sequence[Table]
    style: str = ""
    notes: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.notes = list(dict.fromkeys(note for t in self.tables for note in t.notes))
        self.tables = [replace(t, notes=[]) for t in self.tables]

    def __bool__(self) -> bool:
        return bool(self.tables)


@dataclass
class Styled(_Blocks, Block):
    """Blocks in another style: "dense" for many columns, "wrapped" for cells of several lines."""

    style: str
    content: Sequence[Block | None]


def render(page: Document, folder: Path | None = None, embed: bool = True) -> str:
    """Render the page as text.

    Args:
        page: the page.
        folder: folder in which the page will be; None for the parent of the pictures' folder.
        embed: whether pictures are part of the text; otherwise it links them.
    """
    address = functools.partial(_address, folder=folder)
    template = environment().get_template("page.html")
    return template.render(page=page, policy=POLICY, address=address, source=_data if embed else address)


def write(page: Document, path: Path | str, embed: bool = True) -> Path:
    """Write the page; `embed` puts pictures into the file, otherwise it links them relative to its folder."""
    path = Path(path)
    files.write_atomically(path, render(page, path.parent, embed))
    return path


def width_of(path: Path) -> int:
    """Return the width in pixels of a PNG or GIF file; 0 for other files."""
    found = size(path)
    return found[0] if found else 0


def size(path: Path) -> tuple[int, int] | None:
    """Return width and height from the head of a PNG or GIF file, so that pages do not jump while pictures load."""
    with path.open("rb") as stream:
        head = stream.read(24)
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) == 24:
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return None


def _address(path: Path, folder: Path | None) -> str:
    """Return the address of a picture for a page in `folder`."""
    return quote(Path(os.path.relpath(path, folder or path.parent.parent)).as_posix())


def _data(path: Path) -> str:
    """Return a picture as a data URL."""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
