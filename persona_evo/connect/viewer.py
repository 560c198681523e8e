"""Shows the best playthrough of a search in a game of its own, slowed down, while the search goes on."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from typing import NamedTuple

from persona_evo.connect.description import Description
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.process_start import View
from persona_evo.connect.session import Session
from persona_evo.connect.stepwise import play_choices
from persona_evo.errors import PersonaEvoError


class _Closed(Exception):
    """The viewer is to end in the middle of a playthrough."""


class _Shown(NamedTuple):
    """A playthrough to show."""

    level: LevelName
    choices: tuple[int, ...]


class BestViewer:
    """A game with its window that plays the latest playthrough it was given. The search does not wait for it.

    Args:
        about: the game's description.
        delay: seconds before each decision.
    """

    def __init__(self, about: Description, delay: float) -> None:
        timeouts = dataclasses.replace(about.timeouts, rollout=None)
        self._about = dataclasses.replace(about, workers=1, slots=1, port=0, timeouts=timeouts)
        self._delay = delay
        self._changed, self._closing = threading.Condition(), threading.Event()
        self._next: _Shown | None = None
        self._thread: threading.Thread | None = None
        self.shown = 0
        self.failure = ""

    def show(self, level: LevelName, choices: Sequence[int]) -> None:
        """Show a playthrough once the present one is over, unless a later one comes before."""
        with self._changed:
            self._next = _Shown(level, tuple(choices))
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="viewer", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the game, after the decision at which it is."""
        self._closing.set()
        with self._changed:
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> None:
        """Wait until the latest playthrough has been shown, then end the game."""
        with self._changed:
            self._changed.wait_for(lambda: self._next is None or bool(self.failure) or self._closing.is_set())
        self.close()

    def _run(self) -> None:
        session = Session(self._about, View.SHOWN)
        try:
            while (shown := self._latest()) is not None:
                play_choices(session, shown.level, shown.choices, self._pause)
                self.shown += 1
                with self._changed:
                    if self._next is shown:
                        self._next = None
                    self._changed.notify_all()
        except _Closed:
            pass
        except PersonaEvoError as e:
            self.failure = str(e)
        finally:
            session.close()
            with self._changed:
                self._changed.notify_all()

    def _latest(self) -> _Shown | None:
        """Wait for a playthrough that has not been shown; None if the viewer is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._next is not None or self._closing.is_set())
            return None if self._closing.is_set() else self._next

    def _pause(self) -> None:
        if self._closing.wait(self._delay):
            raise _Closed
