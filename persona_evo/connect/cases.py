"""Replays and shrinks the rollouts that made a connected game fail."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from persona_evo.connect import protocol as p
from persona_evo.connect.asking import Decision
from persona_evo.connect.description import CASES, Description
from persona_evo.connect.findings import FailingRollout, Lost, failure_key
from persona_evo.connect.findings_file import level_of, read_findings
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.session import Session
from persona_evo.errors import ConnectError, GameError
from persona_evo.games.findings import Finding
from persona_evo.seeds import SplitMix64
from persona_evo.words import counted, plural

UNPLAYABLE = "cannot be played, since the game has changed or is another one"
"""What is said of a case whose choices the game does not offer."""

TRIES = 300
"""The largest number of rollouts that shrinking plays."""

VAIN, VAIN_RESTARTING = 100, 20
"""The number of attempts by chance in a row that find nothing shorter, after which shrinking ends; the second one where
the failure ends the process, as each attempt may then start the game again."""

_ANY = 10_000
"""The number of restarts allowed. It is high because a case is meant to make the game fail."""


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
        pool = self._session.pool(level_of(case))
        pool.submit(p.Rollout(0, case.game_seed, case.rollout_seed, p.ALL_METRICS, case.mode, 0, p.pack(case.prefix)))
        return self._failure(pool.next())

    def shrink(
        self, case: FailingRollout, tries: int = TRIES, tell: Callable[[str], None] = lambda text: None
    ) -> FailingRollout:
        """Find a short sequence of small choices that makes the game fail in the same way.

        First parts and single choices are left out (delta debugging). Where the same choice means something else in
        another state, as on a map, hardly any can be left out alone. So attempts by chance follow: a part of any
        length is left out, or two choices at once, or chance goes on after the beginning.

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

        best = known

        def shorter(choices: Sequence[int], seed: int | None = None) -> bool:
            """Play choices, and keep them if the game fails in the same way after fewer of them, or smaller ones."""
            nonlocal best
            if self.played >= tries:
                return False
            found = self._choose(case, choices, seed)
            tell(f"{counted(self.played, 'rollout')}, {counted(len(best.prefix), 'choice')} left")
            if found is None or failure_key(found) != wanted or _size(found) >= _size(best):
                return False
            best = found
            return True

        def cut() -> None:
            size = max(1, len(best.prefix) // 2)
            while size:
                at = 0
                while at < len(best.prefix):
                    choices = [choice for choice, _ in best.prefix]
                    if not shorter(choices[:at] + choices[at + size :]):
                        at += size
                size //= 2

        cut()
        luck, vain, most = SplitMix64(0), 0, VAIN if first.kind == "exception" else VAIN_RESTARTING
        while vain < most and self.played < tries and len(best.prefix) > 1:
            choices = [choice for choice, _ in best.prefix]
            low, high = sorted((luck.below(len(choices)), luck.below(len(choices))))
            start, end = choices[:low], choices[high + 1 :]
            ways = ((start + end, None), (start + choices[low + 1 : high] + end, None), (start, luck.below(2**32)))
            if shorter(*ways[luck.below(3)]):
                vain = 0
                cut()
            else:
                vain += 1
        for at in range(len(best.prefix)):
            choices = [choice for choice, _ in best.prefix]
            if at < len(choices) and choices[at]:
                shorter([*choices[:at], 0, *choices[at + 1 :]])
        return best

    def _choose(self, case: FailingRollout, choices: Sequence[int], seed: int | None) -> FailingRollout | None:
        """Answer the decisions of a game: first with `choices`, then at random by a seed, or with choice 0 without one.

        Returns:
            The failure, whose prefix holds all choices up to it; None if the game did not fail.
        """
        pool = self._session.pool(level_of(case))
        made: list[tuple[int, int]] = []
        luck = SplitMix64(0)

        def answer(asked: Decision) -> int:
            nonlocal luck
            depth, count, weights = asked.depth, asked.count, asked.weights
            if depth == 0:
                made.clear()
                luck = SplitMix64(seed or 0)
            if depth < len(choices):
                choice = min(choices[depth], count - 1)
            elif seed is None:
                choice = 0
            else:
                by_weights = case.mode == p.WEIGHTS and weights is not None
                choice = luck.weighted(weights or ()) if by_weights else luck.below(count)
            made.append((choice, count))
            return choice

        pool.chooser = answer
        pool.submit(p.Rollout(0, case.game_seed, 0, p.ALL_METRICS, p.ASK))
        found = self._failure(pool.next())
        return found and dataclasses.replace(found, rollout_seed=0, mode=p.UNIFORM, prefix=tuple(made))

    def _failure(self, result: object) -> FailingRollout | None:
        self.played += 1
        return result.finding if isinstance(result, Lost) else None


def _size(failure: FailingRollout) -> tuple[int, int]:
    """Return how long and how large the choices of a failure are."""
    return len(failure.prefix), sum(choice for choice, _ in failure.prefix)


def replay_cases(about: Description) -> tuple[list[Finding], list[str]]:
    """Play all regression cases of a game again.

    Returns:
        A finding for each case that still makes the game fail, and what there is to tell about the cases: how many were
        played, and which of them the game does not offer any more.

    Raises:
        ConnectError: the game does not start, or the description names a file of cases that is missing or no file.
        RunError: the file of cases is damaged.
    """
    if not about.cases.is_file():
        if about.cases.exists() or about.cases != about.source.with_name(about.source.stem + CASES):
            raise ConnectError(
                "there is no such file of regression cases",
                place=about.place("cases"),
                found=f"{about.cases}{', which is no regular file' if about.cases.exists() else ''}",
                expected="a file that `connect shrink` made",
                hint="`connect shrink` without -o makes it; correct the path, or remove the key `cases`",
            )
        return [], []
    failing, told, cases = list[Finding](), list[str](), read_findings(about.cases, torn=True)
    with CasePlayer(about) as player:
        for line, case in enumerate(cases, 1):
            name, level = f"{about.cases.name}:{line}", str(level_of(case))
            try:
                found = player.play(case)
            except GameError as e:
                told.append(f"{name} {UNPLAYABLE}: {str(e).splitlines()[0]}")
                continue
            if found is not None:
                text = f"regression case {name} still fails: {found}"
                failing.append(Finding("crashes", "problem", level, text, evidence={"case": name, **found.to_dict()}))
    played = counted(player.played, "regression case")
    fails = f"{len(failing):,} still {plural(len(failing), 'fails', 'fail')}"
    lost = f"; {len(told):,} cannot be played" if told else ""
    return failing, [f"played {played} of {about.cases}: {fails if failing else 'none fails'}{lost}", *told]
