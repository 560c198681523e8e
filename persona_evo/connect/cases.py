"""Reads, replays and shrinks the rollouts that made a connected game fail."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from persona_evo.connect import protocol as p
from persona_evo.connect.description import Description, LevelName
from persona_evo.connect.findings import FailingRollout, Lost, failure_key
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.session import Session
from persona_evo.errors import GameError, SettingsError
from persona_evo.jobs import files, journal
from persona_evo.seeds import SplitMix64
from persona_evo.words import counted

TRIES = 300
"""The largest number of rollouts that shrinking plays."""

_ANY = 10_000
"""The number of restarts allowed. It is high because a case is meant to make the game fail."""


def read_cases(path: Path, number: int | None = None) -> list[FailingRollout]:
    """Read a file of findings or cases, or only line `number` of it, counted from 1.

    Raises:
        RunError: a line is damaged.
        SettingsError: there is no such file or line.
    """
    if not path.is_file():
        raise SettingsError("there is no file of findings", found=str(path), expected="findings.jsonl of a search")
    found = [FailingRollout.from_dict(row, place) for row, place in journal.rows(path, "finding")]
    if number is None:
        return found
    if not 1 <= number <= len(found):
        raise SettingsError(
            "there is no such finding", found=f"{path}:{number}", expected=f"a line from 1 to {len(found)}"
        )
    return [found[number - 1]]


def add_case(path: Path, case: FailingRollout) -> None:
    """Append a case to a file, unless the file contains it already."""
    if not path.exists() or case not in read_cases(path):
        files.append_lines(path, [json.dumps(case.to_dict(), ensure_ascii=False)])


class CasePlayer:
    """Plays the failing rollouts of a game with a single process.

    Use it in a `with` statement, which ends the process.

    Args:
        about: the game's description.
    """

    def __init__(self, about: Description) -> None:
        about = dataclasses.replace(about, workers=1, slots=1, restarts=Restarts(_ANY, _ANY))
        self._session = Session(about)
        self.played = 0

    def __enter__(self) -> CasePlayer:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def play(self, case: FailingRollout) -> FailingRollout | None:
        """Play a case and return how the game failed; None if it went well, or failed only once in two attempts.

        Raises:
            ConnectError: the game does not start.
            GameError: the game no longer offers the choices of the case.
        """
        pool = self._session.pool(_level(case))
        pool.submit(p.Rollout(0, case.game_seed, case.rollout_seed, p.ALL_METRICS, case.mode, 0, p.pack(case.prefix)))
        return self._failure(pool.next())

    def shrink(
        self, case: FailingRollout, tries: int = TRIES, tell: Callable[[str], None] = lambda text: None
    ) -> FailingRollout:
        """Find a short sequence of small choices that makes the game fail in the same way (delta debugging).

        Args:
            case: the failing rollout.
            tries: the largest number of rollouts to play.
            tell: called with a message about the progress.

        Raises:
            GameError: the game does not fail when it asks for each choice of the case.
        """
        first = self.play(case)
        if first is None:
            raise GameError(f"the game does not fail any more: {case}")
        wanted = failure_key(first)
        known = self._choose(case, [choice for choice, _ in case.prefix], case.rollout_seed)
        if known is None or failure_key(known) != wanted:
            raise GameError(
                f"the game does not fail in this way when it asks for each choice: {case}\n"
                "  hint: shrinking needs mode 3 of the protocol (DECIDE), and weights where the rollout used them"
            )

        def fails(choices: Sequence[int]) -> FailingRollout | None:
            if self.played >= tries:
                return None
            found = self._choose(case, choices, None)
            tell(f"{counted(self.played, 'rollout')}, {counted(len(best.prefix), 'choice')} left")
            return found if found is not None and failure_key(found) == wanted else None

        best = known
        size = max(1, len(best.prefix) // 2)
        while size:
            at = 0
            while at < len(best.prefix):
                choices = [choice for choice, _ in best.prefix]
                shorter = fails(choices[:at] + choices[at + size :])
                if shorter is not None and len(shorter.prefix) < len(best.prefix):
                    best = shorter
                else:
                    at += size
            size //= 2
        for at in range(len(best.prefix)):
            choices = [choice for choice, _ in best.prefix]
            if at < len(choices) and choices[at]:
                smaller = fails([*choices[:at], 0, *choices[at + 1 :]])
                if smaller is not None and len(smaller.prefix) <= len(best.prefix):
                    best = smaller
        return best

    def _choose(self, case: FailingRollout, choices: Sequence[int], seed: int | None) -> FailingRollout | None:
        """Answer the decisions of a game: first with `choices`, then at random by a seed, or with choice 0 without one.

        Returns:
            The failure, whose prefix holds all choices up to it; None if the game did not fail.
        """
        pool = self._session.pool(_level(case))
        made: list[tuple[int, int]] = []
        luck = SplitMix64(0)

        def answer(asked: dict[str, Any]) -> int:
            nonlocal luck
            count, depth, weights = int(asked["count"]), int(asked["depth"]), asked.get("weights") or []
            if depth == 0:
                made.clear()
                luck = SplitMix64(seed or 0)
            if depth < len(choices):
                choice = min(choices[depth], count - 1)
            elif seed is None:
                choice = 0
            else:
                weighted = case.mode == p.WEIGHTS and weights
                choice = luck.weighted(weights) if weighted else luck.below(count)
            made.append((choice, count))
            return choice

        pool.chooser = answer
        pool.submit(p.Rollout(0, case.game_seed, 0, p.ALL_METRICS, p.ASK))
        found = self._failure(pool.next())
        return found and dataclasses.replace(found, rollout_seed=0, mode=p.UNIFORM, prefix=tuple(made))

    def _failure(self, result: object) -> FailingRollout | None:
        self.played += 1
        return result.finding if isinstance(result, Lost) else None


def _level(case: FailingRollout) -> LevelName:
    return LevelName(case.map, case.variant, case.game_seed)


def case_of(text: str) -> tuple[Path, int | None]:
    """Split FILE or FILE:N into the file and the number of the line."""
    file, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and len(number) < 10 and not Path(text).exists():
        return Path(file), int(number)
    return Path(text), None
