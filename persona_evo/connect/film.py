"""Lets a game draw pictures of playthroughs that it has already played, in a process of its own.

The searches do not notice any of it: their processes are not asked for pictures, and what fails here is no finding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from persona_evo.connect import protocol as p
from persona_evo.connect.description import Description, LevelName
from persona_evo.connect.pictures import GamePicture
from persona_evo.connect.process_start import View
from persona_evo.connect.session import Session
from persona_evo.connect.stepwise import play_choices
from persona_evo.errors import ConnectError, ProtocolError
from persona_evo.games.outside import Film, Shot


class Camera:
    """A game that plays known playthroughs and draws them. It starts when it is first needed.

    Args:
        about: the game's description.
    """

    def __init__(self, about: Description) -> None:
        alone = dataclasses.replace(about, workers=1, slots=1, port=0)
        self._session = Session(alone, View.DRAWN)

    def shoot(self, level: LevelName, choices: Sequence[int], depths: Sequence[int]) -> Film:
        """Play a playthrough and return its pictures.

        Args:
            level: the level.
            choices: the choices from the start to the end of the game.
            depths: the numbers of decisions before which pictures are kept; the last one is that of all decisions.

        Raises:
            ConnectError, ProtocolError: the game fails, plays something else, or sends what is no picture.
        """
        kept: dict[int, bytes] = {}
        reel = _Reel(len(choices))

        def take(picture: GamePicture) -> None:
            reel.check(picture)
            if picture.depth in depths:
                kept[picture.depth] = picture.png

        result = play_choices(self._session, level, choices, pictures=take)
        made = [choice for choice, _ in p.unpack(result.trace)]
        if made != list(choices):
            raise ConnectError(
                "the game did not make the choices that it was asked to make",
                found=_shown(made),
                expected=_shown(choices),
            )
        symbols = [m.symbol for m in self._session.hello().metrics]
        rows = [*map(result.row, range(result.rows)), result.last()] if symbols else [()] * (len(choices) + 1)
        metrics = [dict(zip(symbols, row, strict=True)) for row in rows]
        shots = (Shot(depth, png, metrics[depth]) for depth, png in sorted(kept.items()))
        return Film(tuple(shots), reel.sent, result.score, metrics[-1])

    def close(self) -> None:
        """End the game; it starts again when it is needed."""
        self._session.close()


class _Reel:
    """Checks that the pictures of a playthrough come in their order, and not more than there are moments to show.

    A game that fails plays its playthrough once more, from the first picture on.
    """

    def __init__(self, decisions: int) -> None:
        self.sent = self._again = 0
        self._decisions, self._last = decisions, -1

    def check(self, picture: GamePicture) -> None:
        if picture.depth == 0 and self._last > 0 and not self._again:
            self.sent, self._again, self._last = 0, 1, -1
        if not self._last < picture.depth <= self._decisions:
            raise ProtocolError(
                "pictures came in a wrong order, or too many of them",
                found=f"a PICTURE of decision {picture.depth}",
                expected=f"one of {self._last + 1} to {self._decisions}" if self._last < self._decisions else "none",
            )
        self.sent, self._last = self.sent + 1, picture.depth


def _shown(choices: Sequence[int]) -> str:
    return " ".join(map(str, choices[:50])) or "none"
