"""One page of HTML with everything a playtest found: no scripts, nothing loaded from elsewhere, pictures within it.

All texts are escaped, so a level called `<script>` is a level called `<script>`. Light and dark follow the reader's
system.
"""

from __future__ import annotations

import base64
import mimetypes
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote

from persona_evo.games.core import Metric
from persona_evo.playtest.compare import CorrelationRow, Row, headlines
from persona_evo.playtest.findings import COORDINATES, Finding
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.require import Check
from persona_evo.report import tables
from persona_evo.report.style import STYLE
from persona_evo.report.tables import Table

KINDS = ("chart", "heatmap", "replay")
"""Kinds of pictures, in the order in which a level shows them."""

POLICY = "default-src 'none'; img-src data: 'self'; style-src 'unsafe-inline'"
"""What the page may load: the pictures within it or beside it, and its own style."""


@dataclass(frozen=True)
class Picture:
    """A picture of a level (EVERY: of all together): a file, one of KINDS, and a line below it."""

    level: str
    kind: str
    path: Path
    caption: str


@dataclass
class Page:
    """What a page shows; what is empty is left out.

    facts: how it was made (seed, budget, versions, command), by name. baseline: rows of `versus_baseline`, players: of
    `between_players`, versions: of `compare_levels`. notes: what could not be shown and why.
    """

    title: str
    summaries: Sequence[Summary] = ()
    infos: Sequence[Metric] = ()
    findings: Sequence[Finding] = ()
    checks: Sequence[Check] = ()
    pictures: Sequence[Picture] = ()
    baseline: Sequence[Row] = ()
    players: Sequence[Row] = ()
    versions: Sequence[Row] = ()
    correlations: Sequence[CorrelationRow] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    subtitle: str = ""


def write(page: Page, path: Path | str, embed: bool = True) -> Path:
    """Write the page. With `embed` pictures are within the file; without, it names them relative to its folder."""
    path = Path(path)
    path.write_text(render(page, None if embed else path.parent), encoding="utf-8", newline="\n")
    return path


def render(page: Page, folder: Path | None = None) -> str:
    """The page as text; `folder`: where it will stand if pictures are to be named and not embedded."""
    levels = list(dict.fromkeys(s.level for s in page.summaries if s.level != EVERY))
    parts = [
        _versions(page, levels, folder),
        _checks(page.checks),
        _findings(page),
        _overview(page, levels, folder),
        *(_level(page, name, number, folder) for number, name in enumerate(levels)),
        _comparisons(page),
        _correlations(page.correlations),
        _made(page),
    ]
    subtitle = f'<p class="sub">{escape(page.subtitle)}</p>' if page.subtitle else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(page.title)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(page.title)}</h1>{subtitle}{_links(page, levels)}</header>\n<main>\n"
        + "\n".join(filter(None, parts))
        + "\n</main>\n</body>\n</html>\n"
    )


def _links(page: Page, levels: Sequence[str]) -> str:
    links = [("#versions", "what differs")] if page.versions else []
    links += [("#findings", "findings"), ("#overview", "overview")] if page.summaries else []
    links += [(f"#level{number}", name) for number, name in enumerate(levels)]
    links += [("#comparison", "comparison")] if page.baseline or page.players else []
    links += [("#structure", "structure")] if page.correlations else []
    links += [("#made", "how it was made")] if page.facts or page.notes else []
    return "<nav>" + "".join(f'<a href="{where}">{escape(name)}</a>' for where, name in links) + "</nav>"


def _section(name: str, title: str, *content: str) -> str:
    inside = "\n".join(filter(None, content))
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{inside}\n</section>' if inside else ""


def _checks(checks: Sequence[Check]) -> str:
    rows = []
    for c in checks:
        word, style = ("passed", "good") if c.passed else ("failed", "bad")
        value = "no value" if c.value is None else f"{c.value:.4g}"
        rest = ", ".join(filter(None, (value, c.where, c.reason)))
        rows.append(
            f'<li class="{style}"><b>{word}</b> <code>{escape(c.text)}</code> '
            f'<span class="dim">{escape(rest)}</span></li>'
        )
    return _section("requirements", "Requirements", f'<ul class="cards">{"".join(rows)}</ul>' if rows else "")


def _findings(page: Page) -> str:
    if not page.summaries and not page.findings:
        return ""
    if not page.findings:
        return _section("findings", "Findings", "<p>No problems were found.</p>")
    style = {"problem": "bad", "notice": "warn"}
    rows = [
        f'<li class="{style[f.severity]}"><b>{f.severity}</b> <span class="tag">{escape(f.level)}</span> '
        f"{escape(f.text)}</li>"
        for f in page.findings
    ]
    places = f'<p class="dim">{COORDINATES}</p>' if any(f.places for f in page.findings) else ""
    return _section("findings", "Findings", f'<ul class="cards">{"".join(rows)}</ul>', places)


def _overview(page: Page, levels: Sequence[str], folder: Path | None) -> str:
    if not page.summaries:
        return ""
    players = list(dict.fromkeys(s.player for s in page.summaries))
    by_key = {(s.level, s.player): s for s in page.summaries}
    head = "".join(f'<th scope="col">{escape(p)}</th>' for p in players)
    names = [*levels, *([EVERY] if len(levels) > 1 else [])]
    body = ""
    for name in names:
        cells = "".join(_rate(by_key.get((name, p))) for p in players)
        title = "all levels" if name == EVERY else name
        body += f'<tr{" class=total" if name == EVERY else ""}><th scope="row">{escape(title)}</th>{cells}</tr>'
    rates = (
        f'<div class="scroll"><table><caption>Win rate, with its 95 % interval</caption><thead><tr><th></th>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )
    whole = _table(tables.summary_table(page.summaries, page.infos)) if len(levels) > 1 else ""
    return _section("overview", "Overview", rates, _gallery(page.pictures, EVERY, folder), whole)


def _rate(summary: Summary | None) -> str:
    if summary is None:
        return '<td class="dim">–</td>'
    rate = summary.win_rate
    span = f"left:{rate.low * 100:.1f}%;width:{max(1.0, (rate.high - rate.low) * 100):.1f}%"
    text = f"{rate.value * 100:.0f} %<small> {rate.low * 100:.0f}–{rate.high * 100:.0f}</small>"
    return f'<td>{text}<span class="bar"><i style="{span}"></i><b style="left:{rate.value * 100:.1f}%"></b></span></td>'


def _level(page: Page, name: str, number: int, folder: Path | None) -> str:
    own = [f for f in page.findings if f.level == name]
    words = f'<p class="dim">{len(own)} finding{"s" if len(own) != 1 else ""} on this level</p>' if own else ""
    table = _table(tables.summary_table(page.summaries, page.infos, name))
    kinds = [kind for kind in KINDS if kind != "heatmap" or not _is_pair(page)]
    return _section(f"level{number}", name, words, _gallery(page.pictures, name, folder, kinds), table)


def _gallery(pictures: Sequence[Picture], level: str, folder: Path | None, kinds: Sequence[str] = KINDS) -> str:
    rows = []
    for kind in kinds:
        figures = "".join(_figure(p, folder) for p in pictures if p.level == level and p.kind == kind)
        if figures:
            rows.append(f'<div class="gallery {kind}">{figures}</div>')
    return "\n".join(rows)


def _figure(picture: Picture, folder: Path | None) -> str:
    caption = escape(picture.caption)
    size = _size(picture.path)
    known = f' width="{size[0]}" height="{size[1]}"' if size else ""
    wide = ' class="wide"' if size and size[0] > 1.6 * size[1] else ""
    return (
        f'<figure{wide}><img src="{escape(_source(picture.path, folder))}"{known} alt="{caption}" loading="lazy">'
        f"<figcaption>{caption}</figcaption></figure>"
    )


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


def _table(table: Table, caption: str | None = None) -> str:
    """A table that scrolls sideways where it is too wide; its notes below."""
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in table.headers)
    body = ""
    for row in table.rows:
        cells = "".join(
            f'<td{" class=left" if i in table.left else ""}>{escape(cell)}</td>' for i, cell in enumerate(row) if i
        )
        body += f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>'
    notes = "".join(f'<p class="dim">{escape(note)}</p>' for note in table.notes)
    title = escape(table.title if caption is None else caption)
    return (
        f'<div class="scroll"><table><caption>{title}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{notes}"
    )


def _comparisons(page: Page) -> str:
    parts: list[str] = []
    if page.baseline:
        parts += ["<h3>Against the baseline</h3>", _table(tables.counts_table(page.baseline))]
        parts.append(_folded("level by level", _table(tables.comparison_table(page.baseline, "Against the baseline"))))
    if page.players:
        keys = list(dict.fromkeys(r.measure.key for r in page.players))
        grids = "".join(f"<div>{_table(tables.matrix_table(page.players, key))}</div>" for key in keys)
        parts += ["<h3>Between players</h3>", f'<div class="grids">{grids}</div>']
        rows = tables.comparison_table(page.players, "Between players", only_differing=True)
        parts.append(_folded("level by level, what differs", _table(rows)))
    return _section("comparison", "Comparison", *parts)


def _versions(page: Page, levels: Sequence[str], folder: Path | None) -> str:
    """What differs between two versions of a level, in words, and the heatmaps of both side by side."""
    if not page.versions:
        return ""
    sentences = "".join(f"<li>{escape(s)}</li>" for s in headlines(page.versions))
    maps = [[p for p in page.pictures if p.kind == "heatmap" and p.level == name] for name in levels]
    pairs = zip(*maps, strict=False) if _is_pair(page) else ()
    beside = "".join(f'<div class="gallery pair">{"".join(_figure(p, folder) for p in pair)}</div>' for pair in pairs)
    rows = _folded("all measures", _table(tables.comparison_table(page.versions, "A and B")))
    return _section("versions", "What differs", f'<ul class="plain">{sentences}</ul>', beside, rows)


def _is_pair(page: Page) -> bool:
    """Whether the page is about two versions of a level, so that their pictures stand side by side."""
    return bool(page.versions) and len({s.level for s in page.summaries} - {EVERY}) == 2


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _correlations(rows: Sequence[CorrelationRow]) -> str:
    return _section("structure", "Structure and results", _table(tables.correlation_table(rows)) if rows else "")


def _made(page: Page) -> str:
    facts = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in page.facts.items())
    return _section("made", "How it was made", f"<dl>{facts}</dl>" if facts else "", _lines(page.notes))


def _lines(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="plain">{items}</ul>' if items else ""

