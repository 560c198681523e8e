"""What can be said of levels without playing them: findings, and whether a level can be won at all.

Both may take seconds a level, so workers do it where there are some, and what was found is remembered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.search.outlook import Outlook, outlook

_KEPT = 512
"""Answers that are remembered."""

_LETTER = 0.003
"""Seconds for each character of a level's text, until some were timed."""


class LevelQuestion(NamedTuple):
    """A level, and whether it is asked if it can be won, or what its findings are."""

    level: LevelText
    won: bool

    def answer(self, game: Game) -> list[Finding] | Outlook:
        """Work it out."""
        if self.won:
            return outlook(game, self.level.load(game))
        return [] if game.outside is not None else list(diagnose(game, [self.level.load(game)]))


Appraisals = Dispatch[str, LevelQuestion, list[Finding] | Outlook]

_known: dict[tuple[Game, LevelQuestion], list[Finding] | Outlook] = {}


def findings(game: Game, level: Level) -> list[Finding]:
    """What the analysis without play says of a level."""
    (found,) = appraised(game, [LevelQuestion(LevelText.of(level), False)])
    assert isinstance(found, list)
    return found


def prospect(game: Game, level: Level) -> Outlook:
    """Whether a level can be won."""
    (found,) = appraised(game, [LevelQuestion(LevelText.of(level), True)])
    assert isinstance(found, Outlook)
    return found


def appraised(
    game: Game, questions: Sequence[LevelQuestion], workers: Workers | None = None, begun: Appraisals | None = None
) -> Iterator[list[Finding] | Outlook]:
    """The answers to some questions, in their order.

    Args:
        workers: who works them out, None for this process.
        begun: some that are being worked out.
    """
    new = _answered(game, questions, workers, begun)
    for question in questions:
        while (game, question) not in _known:
            key, answer = next(new)
            _known[game, key] = answer
        yield _known[game, question]
    while len(_known) > _KEPT:
        del _known[next(iter(_known))]


def _answered(
    game: Game, questions: Sequence[LevelQuestion], workers: Workers | None, begun: Appraisals | None
) -> Iterator[tuple[LevelQuestion, list[Finding] | Outlook]]:
    """Questions with their answers: those that are begun, then those of the others that are still open."""
    if begun is not None:
        yield from zip(begun.jobs, chain.from_iterable(begun), strict=True)
    asked = [q for q in questions if (game, q) not in _known]
    more = appraisals(game, asked, workers)
    found = (q.answer(game) for q in asked) if more is None else chain.from_iterable(more)
    yield from zip(asked, found, strict=True)


def appraisals(game: Game, questions: Sequence[LevelQuestion], workers: Workers | None) -> Appraisals | None:
    """Answers to be worked out by workers; None where there are none or nothing is asked."""
    if workers is None or workers.alone or game.outside is not None or not questions:
        return None
    thought = [_LETTER * len(q.level.text) for q in questions]
    return Dispatch(workers, answers, registry.address(game), questions, [q.won for q in questions], thought)


def answers(address: str, questions: Sequence[LevelQuestion]) -> Iterator[list[Finding] | Outlook]:
    """The answers to some questions (this is what workers run)."""
    game = registry.get(address)
    return (question.answer(game) for question in questions)
