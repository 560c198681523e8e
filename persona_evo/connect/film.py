"""Lets a game draw pictures of playthroughs that it has already played, in a process of its own.

The searches do not notice any of it: their processes are not asked for pictures, and what fails here is no finding.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence

from persona_evo.connect import protocol as p
from persona_evo.connect.description import Description
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.pictures import GamePicture
from persona_evo.connect.process_start import View
from persona_evo.connect.session import Session
from persona_evo.connect.stepwise import play_choices
from persona_evo.errors import ConnectError, ProtocolError
from persona_evo.games.outside import Arrived, Film, Shot
from persona_evo.words import counted

ROLLOUTS = 10
"""All pictures of a playthrough may take as long as so many rollouts may."""


class Camera:
    """A game that plays known playthroughs and draws them. It starts when it is first needed.

    Args:
        about: the game's description.
    """

    def __init__(self, about: Description) -> None:
        alone = dataclasses.replace(about, workers=1, slots=1, port=0)
        self._session = Session(alone, View.DRAWN)
        limit = about.timeouts.rollout
        self._most_seconds = math.inf if limit is None else ROLLOUTS * limit

    def shoot(
        self, level: LevelName, choices: Sequence[int], depths: Sequence[int], arrived: Arrived | None = None
    ) -> Film:
        """Play a playthrough and return its pictures.

        Args:
            level: the level.
            choices: the choices from the start to the end of the game.
            depths: the numbers of decisions before which pictures are kept; the last one is that of all decisions.
            arrived: called with each picture, also with those that are not kept.

        Raises:
            ConnectError, ProtocolError: the game fails, takes too long, plays something else, or sends what is no
                picture.
        """
        kept: dict[int, bytes] = {}
        self._session.pool(level)  # the start of the game does not count as time for pictures
        reel = _Reel(len(choices), self._most_seconds)

        def take(picture: GamePicture) -> None:
            reel.check(picture)
            if picture.depth in depths:
                kept[picture.depth] = picture.png
            if arrived is not None:
                arrived(picture.depth + 1, len(choices) + 1)

        result = play_choices(self._session, level, choices, pause=reel.check_time, pictures=take)
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

    Args:
        decisions: the number of decisions of the playthrough.
        seconds: the time limit for all pictures together.
    """

    def __init__(self, decisions: int, seconds: float) -> None:
        self.sent = self._again = 0
        self._decisions, self._last = decisions, -1
        self._seconds, self._began = seconds, time.monotonic()

    def check_time(self) -> None:
        """Check that the game has not drawn for too long.

        Raises:
            ConnectError: it has.
        """
        if time.monotonic() - self._began > self._seconds:
            raise ConnectError(
                "the game takes too long to draw a playthrough",
                found=f"{self._last + 1} of {counted(self._decisions + 1, 'moment')} after {self._seconds:g} s",
                expected=f"all of them; the time limit is {ROLLOUTS} times that of a rollout",
                hint="draw faster, or set a higher limit: rollout in the table [timeouts] of the game's description",
            )

    def check(self, picture: GamePicture) -> None:
        """Check that a picture may come now.

        Raises:
            ConnectError, ProtocolError: it may not.
        """
        self.check_time()
        if picture.depth == 0 and self._last > 0 and not self._again:
            self.sent, self._again, self._last = 0, 1, -1
        if not self._last < picture.depth <= self._decisions:
            raise ProtocolError(
                "pictures came in the wrong order, or too many of them",
                found=f"a PICTURE of decision {picture.depth}",
                expected=f"one of {self._last + 1} to {self._decisions}" if self._last < self._decisions else "none",
            )
        self.sent, self._last = self.sent + 1, picture.depth


def _shown(choices: Sequence[int]) -> str:
    return " ".join(map(str, choices[:50])) or "none"
