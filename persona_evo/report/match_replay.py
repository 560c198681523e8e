"""A game of a match as an animated picture: who has which colour, the board, the move, the score, and who won."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from persona_evo.games.core import Game, Level
from persona_evo.playtest.match.again import positions
from persona_evo.playtest.match.records import Record
from persona_evo.report.match_tables import winner
from persona_evo.report.plots import drawing
from persona_evo.report.replay import save_gif

if TYPE_CHECKING:
    from PIL.Image import Image

STEP_MS, HOLD_MS = 450, 3500
"""How long a move is shown, and the end, in milliseconds."""

WIDEST = 384
"""Pixels of a board's side that replays come near to."""

TEXT, LINE, GAP = 12, 18, 5
"""Pixels: of letters, of a line of them, and around them."""

GROUND, INK, FAULT = "#ffffff", "#20242f", "#b3261e"


class Side(NamedTuple):
    """A player: what people call its colour, the colour, and the agent's name."""

    word: str
    colour: str
    name: str


def sides(game: Game, record: Record) -> tuple[Side, Side] | None:
    """Both players, the first mover first; None where the game does not draw a match."""
    module = drawing(game)
    if module is None or not hasattr(module, "state_image") or not hasattr(module, "PLAYERS"):
        return None
    (one, other), names = module.PLAYERS, (record.first, record.second)
    return Side(one[0], one[1], names[0]), Side(other[0], other[1], names[1])


def standing(game: Game, level: Level, record: Record) -> str:
    """The final score in words, "" where the game does not say.

    Raises:
        VerificationError: the game does not replay.
    """
    words = getattr(drawing(game), "standing", None)
    return str(words(level, positions(game, level, record)[-1])) if words else ""


def save(game: Game, level: Level, record: Record, path: Path) -> Path | None:
    """Write a game as a GIF; None where the game does not draw its states.

    Raises:
        VerificationError: the game does not replay.
    """
    both = sides(game, record)
    if both is None:
        return None
    return save_gif(frames(game, level, record, both), path, STEP_MS, HOLD_MS)


def frames(game: Game, level: Level, record: Record, both: Sequence[Side]) -> list[Image]:
    """Pictures of all positions, the legend above, the move below."""
    module: Any = drawing(game)
    states, rules = positions(game, level, record), game.rules()
    scale = max(14, min(40, WIDEST // max(1, round(_side(level)))))
    moves, lost = record.actions.split(), {move: kind for _, move, kind, _ in record.faults}
    end = f"{module.standing(level, states[-1])}, " if hasattr(module, "standing") else ""
    found = []
    for number, state in enumerate(states):
        line, colour = "start", INK
        if number:
            side = both[int(rules.mover(level.tables, states[number - 1]))]
            line, colour = f"{number}/{len(moves)}  {side.word} {moves[number - 1]}", INK
            if number - 1 in lost:
                line, colour = f"{line}  lost: {lost[number - 1]}", FAULT
        last = f"{end}{winner(record)}" if number == len(moves) else ""
        found.append(_framed(module.state_image(level, state, scale=scale), both, (line, colour), last))
    return found


def _side(level: Level) -> float:
    """Cells of a level's side, where it says so."""
    return float(level.facts.get("size", 8))


def _framed(board: Image, both: Sequence[Side], move: tuple[str, str], last: str) -> Image:
    """A board between the legend and two lines."""
    from PIL import Image, ImageDraw, ImageFont

    head = 2 * LINE + GAP
    picture = Image.new("RGB", (board.width, head + board.height + 2 * LINE + GAP), GROUND)
    picture.paste(board, (0, head))
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(TEXT)

    def write(text: str, x: int, y: int, colour: str = INK) -> None:
        shown = text
        while len(text) > 1 and draw.textlength(shown, font=font) > board.width - x:
            text = text[:-1]
            shown = text + "…"
        draw.text((x, y), shown, colour, font=font)

    for k, side in enumerate(both):
        y = 2 + k * LINE
        draw.ellipse((GAP, y + 1, GAP + TEXT, y + 1 + TEXT), side.colour)
        write(side.name, 2 * GAP + TEXT + 2, y)
    write(move[0], GAP, head + board.height + 3, move[1])
    write(last, GAP, head + board.height + 3 + LINE)
    return picture
