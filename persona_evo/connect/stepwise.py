"""Lets a game play known choices one decision at a time, to watch it or to collect its pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from persona_evo.connect import protocol as p
from persona_evo.connect.asking import Decision
from persona_evo.connect.findings import completed
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.pictures import GamePicture
from persona_evo.connect.session import Session
from persona_evo.errors import ConnectError
from persona_evo.words import counted


def play_choices(
    session: Session,
    level: LevelName,
    choices: Sequence[int],
    pause: Callable[[], None] | None = None,
    pictures: Callable[[GamePicture], None] | None = None,
) -> p.Result:
    """Let the game play these choices, which it asks for one by one.

    Args:
        pause: called before each decision.
        pictures: called with each picture of the game; None to ask for none.

    Raises:
        ConnectError: the game fails, or reaches more or other decisions.
    """
    pool = session.pool(level)

    def choose(asked: Decision) -> int:
        if pause is not None:
            pause()
        if asked.depth >= len(choices) or choices[asked.depth] >= asked.count:
            raise ConnectError(
                "the game does not reach the same decisions again",
                found=f"{counted(asked.count, 'choice')} at decision {asked.depth}",
                expected=counted(len(choices), "decision"),
            )
        return choices[asked.depth]

    pool.chooser, pool.pictures = choose, pictures
    flags = p.ALL_METRICS if pictures is None else p.ALL_METRICS | p.PICTURES
    pool.submit(p.Rollout(0, level.seed, 0, flags, p.ASK))
    return completed(pool.next())
