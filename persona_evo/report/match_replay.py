"""A game of a match as an animated picture: the players' colours, the board, the move, the score, and the winner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo.errors import Place
from persona_evo.games import lettering
from persona_evo.games.core import Game, Level
from persona_evo.matches.records import GameRecord
from persona_evo.matches.replays import positions
from persona_evo.report.duels import INK, PAPER, Label, cut, with_legend
from persona_evo.report.match_tables import winner
from persona_evo.report.plots import drawing
from persona_evo.report.replay import Frame, save_gif

if TYPE_CHECKING:
    from PIL.Image import Image

STEP_MS, HOLD_MS = 450, 3500
"""How long a move and the end are shown, in milliseconds."""

WIDEST = 384
"""Approximate size of a board's side in replays, in pixels."""

TEXT, LINE, GAP = 12, 18, 5
"""Height of letters and of a line, and the gap around them, in pixels."""

FAULT = "#b3261e"
"""Colour of a lost move."""


def sides(game: Game, record: GameRecord) -> list[Label]:
    """Return both players, player 0 first; [] if the game does not draw a match."""
    module = drawing(game)
    if module is None or not hasattr(module, "state_image") or not hasattr(module, "PLAYERS"):
        return []
    names = record.first, record.second
    return [Label(name, "", *colour) for name, colour in zip(names, module.PLAYERS, strict=True)]


def standing(game: Game, level: Level, record: GameRecord, place: Place | None = None) -> str:
    """Return the final score in words, "" if the game does not say.

    Args:
        place: place of the game's line in the file of games.

    Raises:
        RunError: the game does not replay.
    """
    words = getattr(drawing(game), "standing", None)
    return str(words(level, positions(game, level, record, place)[-1])) if words else ""


def save(game: Game, level: Level, record: GameRecord, path: Path, place: Place | None = None) -> Path | None:
    """Write a game as a GIF; return None if the game does not draw its states.

    Args:
        place: place of the game's line in the file of games.

    Raises:
        RunError: the game does not replay.
    """
    both = sides(game, record)
    return save_gif(frames(game, level, record, both, place), path) if both else None


def frames(
    game: Game, level: Level, record: GameRecord, both: Sequence[Label], place: Place | None = None
) -> list[Frame]:
    """Return a frame for each position, with the legend above and the move below."""
    module: Any = drawing(game)
    states, rules = positions(game, level, record, place), game.rules()
    scale = max(14, min(40, WIDEST // max(1, round(_side(level)))))
    moves, lost = record.actions.split(), {move: kind for _, move, kind, _ in record.faults}
    end = f"{module.standing(level, states[-1])}, " if hasattr(module, "standing") else ""
    found = []
    for number, state in enumerate(states):
        line, colour = "start", INK
        if number:
            side = both[int(rules.mover(level.tables, states[number - 1]))]
            line = f"{number}/{len(moves)}  {side.word} {moves[number - 1]}"
            if number - 1 in lost:
                line, colour = f"{line}  lost: {lost[number - 1]}", FAULT
        ended = number == len(moves)
        lines = ((line, colour), (f"{end}{winner(record)}" if ended else "", INK))
        board = _with_lines(module.state_image(level, state, scale=scale), lines)
        found.append(Frame(with_legend(board, both, TEXT), HOLD_MS if ended else STEP_MS))
    return found


def _side(level: Level) -> float:
    """Return the length of a level's side in cells, if the level says so."""
    return float(level.facts.get("size", 8))


def _with_lines(board: Image, lines: Sequence[tuple[str, str]]) -> Image:
    """Put a board above lines of text, each with its colour."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (board.width, board.height + len(lines) * LINE + GAP), PAPER)
    picture.paste(board, (0, 0))
    draw, font = ImageDraw.Draw(picture), lettering.font(TEXT)
    for k, (text, colour) in enumerate(lines):
        draw.text((GAP, board.height + 3 + k * LINE), cut(text, font, board.width - GAP), colour, font=font)
    return picture
