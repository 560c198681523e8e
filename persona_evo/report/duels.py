"""Two-player games: tables of games won by side and opponent, and which colour belongs to whom in a replay."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from persona_evo.games import lettering
from persona_evo.games.core import Game, Level
from persona_evo.playtest.duels import Standing
from persona_evo.playtest.metrics import EVERY, Measure
from persona_evo.playtest.records import SIDES, Playthrough
from persona_evo.report.tables import Table, interval

if TYPE_CHECKING:
    from PIL.Image import Image

NOTE = "games won·drawn·lost, and the share of games won with Wilson's 95 % interval"
RATE = Measure("win_rate", "win rate", lambda r: float(r.won), ratio=True, rate=True)
MOST_LINES = 4
"""Maximum number of lines for a player's name in a legend."""

MARGIN, INK, PAPER = 4, "#20242f", "#ffffff"
"""Margin around a legend's lines in pixels, and its colours."""


class Label(NamedTuple):
    """A player in a replay: its name, its side ("" if the picture shows it), and its colour by name and as #rrggbb."""

    name: str
    side: str
    word: str
    colour: str


def standings_table(standings: Sequence[Standing], level: str = EVERY) -> Table:
    """Tabulate players and opponents (rows) by side (columns), for one level or (EVERY) for all together."""
    levels = list(dict.fromkeys(s.level for s in standings))
    chosen = {(s.player, s.opponent, s.side): s for s in standings if s.level == level or levels == [s.level]}
    rows = []
    for player, opponent in dict.fromkeys((p, o) for p, o, _ in chosen):
        cells = [_cell(chosen.get((player, opponent, side))) for side in (*SIDES, EVERY)]
        rows.append([player, "all that it met" if opponent == EVERY else opponent, *cells])
    name = "all levels" if level == EVERY and len(levels) > 1 else level if level != EVERY else levels[0]
    heads = ["", "opponent", *(f"moving {side}" for side in SIDES), "both sides"]
    return Table(f"{name} · by opponent and side", heads, rows, [NOTE, *_one_sided(chosen)], frozenset({1}), 2)


def _one_sided(chosen: Collection[tuple[str, str, str]]) -> list[str]:
    """List the opponents that were met from one side only; `chosen` are (player, opponent, side) with games."""
    found = {o: {side for _, other, side in chosen if other == o} - {EVERY} for _, o, _ in chosen if o != EVERY}
    return [f"{o} was met only when moving {next(iter(sides))}" for o, sides in found.items() if len(sides) == 1]


def _cell(s: Standing | None) -> str:
    return "–" if s is None else f"{s.wins}·{s.draws}·{s.losses}, {interval(RATE, s.rate)}"


def standing_rows(standings: Iterable[Standing]) -> list[dict[str, object]]:
    """Return standings for a CSV file; EVERY stands for all levels, opponents or sides."""
    return [
        {
            "level": s.level,
            "player": s.player,
            "opponent": s.opponent,
            "side": s.side,
            "games": s.games,
            "won": s.wins,
            "drawn": s.draws,
            "lost": s.losses,
            "win_rate": s.rate.value,
            "low": s.rate.low,
            "high": s.rate.high,
        }
        for s in standings
    ]


def seat(game: Game, level: Level, record: Playthrough) -> int:
    """Return the number of the player that a record of a two-player game is about."""
    mover = int(game.rules().mover(level.tables, game.start(level, record.seed)))
    return mover if record.side == SIDES[0] else 1 - mover


def labels(game: Game, level: Level, record: Playthrough, colours: Sequence[tuple[str, str]]) -> list[Label]:
    """Return the players of a record's replay, the record's player first; [] in single-player games.

    Args:
        colours: (name, value) of the colours of players 0 and 1.
    """
    if not record.opponent or len(colours) < 2:
        return []
    mine = seat(game, level, record)
    sides = SIDES if record.side == SIDES[0] else SIDES[::-1]
    who = zip((record.player, record.opponent), sides, (mine, 1 - mine), strict=True)
    return [Label(name, side, *colours[number]) for name, side, number in who]


def in_words(found: Sequence[Label]) -> str:
    """Describe the players in a caption: duelist (blue, moves first) against random (red)."""
    mine, other = found
    return f"{mine.name} ({mine.word}, moves {mine.side}) against {other.name} ({other.word})"


def with_legend(picture: Image, found: Sequence[Label], size: int) -> Image:
    """Put a legend above the picture: a dot in each player's colour and its name.

    Long names take several lines. `size` is the text size in pixels.
    """
    from PIL import Image, ImageDraw

    font, line = lettering.font(size), size + MARGIN
    texts = [wrapped(", ".join(filter(None, label[:2])), font, picture.width - 3 * MARGIN - size) for label in found]
    height = line * sum(map(len, texts)) + MARGIN
    whole = Image.new("RGB", (picture.width, picture.height + height), PAPER)
    draw, top = ImageDraw.Draw(whole), MARGIN
    for label, lines in zip(found, texts, strict=True):
        draw.ellipse((MARGIN, top + 1, MARGIN + size - 2, top + size - 1), label.colour)
        for text in lines:
            draw.text((2 * MARGIN + size, top), text, INK, font=font)
            top += line
    whole.paste(picture, (0, height))
    return whole


def wrapped(text: str, font: Any, width: int) -> list[str]:
    """Break a text into at most MOST_LINES lines of a maximum width in pixels, after spaces and commas if possible."""
    lines: list[str] = []
    rest = text
    while rest and font.getlength(rest) > width and len(lines) < MOST_LINES - 1:
        fits = max(1, next(n for n in range(len(rest), 0, -1) if n == 1 or font.getlength(rest[:n]) <= width))
        at = max(rest.rfind(mark, 0, fits) for mark in " ,:") + 1 or fits
        lines.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*lines, cut(rest, font, width)]


def cut(text: str, font: Any, width: int) -> str:
    """Shorten a text to a maximum width in pixels."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}...") > width:
        text = text[:-1]
    return f"{text}..."
