"""Analyses levels without playing them: their findings, and whether they can be won at all.

Either question may take seconds per level, so workers answer it if there are any. The process caches the answers. The
folder of a playtest keeps them in `appraisals.json`, so that a resumed playtest does not compute them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import RunError
from persona_evo.games import registry, trust
from persona_evo.games.core import Game, Level
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import schema
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.search.outlook import Outlook, outlook
from persona_evo.version import __version__

FILE = "appraisals.json"
"""Name of the file in a playtest's folder that keeps the answers."""

_KEPT = 512
"""Maximum number of cached answers."""

_LETTER = 0.003
"""Estimated seconds per character of a level's text, until some levels have been timed."""


class LevelQuestion(NamedTuple):
    """A question about a level: whether it can be won if `won` is true, otherwise its findings."""

    level: LevelText
    won: bool

    def answer(self, game: Game) -> list[Finding] | Outlook:
        """Compute the answer."""
        if self.won:
            return outlook(game, self.level.load(game))
        return [] if game.outside is not None else list(diagnose(game, [self.level.load(game)]))


Appraisals = Dispatch[str, LevelQuestion, list[Finding] | Outlook]

_known: dict[tuple[Game, LevelQuestion], list[Finding] | Outlook] = {}


def findings(game: Game, level: Level) -> list[Finding]:
    """Return the findings of the analysis of a level without play."""
    (found,) = appraised(game, [LevelQuestion(LevelText.of(level), False)])
    assert isinstance(found, list)
    return found


def prospect(game: Game, level: Level) -> Outlook:
    """Return whether a level can be won, as far as is known."""
    (found,) = appraised(game, [LevelQuestion(LevelText.of(level), True)])
    assert isinstance(found, Outlook)
    return found


def appraised(
    game: Game,
    questions: Sequence[LevelQuestion],
    workers: Workers | None = None,
    begun: Appraisals | None = None,
    folder: Path | None = None,
) -> Iterator[list[Finding] | Outlook]:
    """Yield the answers to `questions`, in order.

    Args:
        workers: compute the answers; None for this process.
        begun: a dispatch that is already computing some of the answers.
        folder: the playtest's folder that keeps the answers; None to keep nothing.
    """
    if folder is not None:
        recall(folder, game, questions)
    missing = open_questions(game, questions)
    new = _answered(game, questions, workers, begun)
    for question in questions:
        while (game, question) not in _known:
            key, answer = next(new)
            _known[game, key] = answer
        yield _known[game, question]
    if folder is not None and missing:
        keep(folder, game, questions)
    while len(_known) > _KEPT:
        del _known[next(iter(_known))]


def begin_appraisals(game: Game, levels: Sequence[Level], workers: Workers, folder: Path | None) -> Appraisals | None:
    """Return a dispatch that computes the findings of levels; None if the process or the folder has all of them."""
    questions = [LevelQuestion(LevelText.of(level), False) for level in levels]
    if folder is not None:
        recall(folder, game, questions)
    return appraisals(game, open_questions(game, questions), workers)


def _answered(
    game: Game, questions: Sequence[LevelQuestion], workers: Workers | None, begun: Appraisals | None
) -> Iterator[tuple[LevelQuestion, list[Finding] | Outlook]]:
    """Yield questions with their answers: first those of `begun`, then the others that are still open."""
    if begun is not None:
        yield from zip(begun.jobs, chain.from_iterable(begun), strict=True)
    asked = open_questions(game, questions)
    more = appraisals(game, asked, workers)
    found = (q.answer(game) for q in asked) if more is None else chain.from_iterable(more)
    yield from zip(asked, found, strict=True)


def open_questions(game: Game, questions: Sequence[LevelQuestion]) -> list[LevelQuestion]:
    """Return the questions whose answers this process does not know."""
    return [q for q in questions if (game, q) not in _known]


def recall(folder: Path, game: Game, questions: Sequence[LevelQuestion]) -> None:
    """Load the answers that a playtest's folder keeps.

    Answers of another version of the program or the game are ignored, and so is a damaged file: all answers can be
    computed again.
    """
    try:
        data, _ = schema.read(folder / FILE, RunError)
        if data["of"] != _origin(game):
            return
        rows = {(row["level"], row["text"], row["won"]): row for row in data["answers"]}
        for question in open_questions(game, questions):
            if (row := rows.get(_key(question))) is not None:
                _known[game, question] = _read(row)
    except (RunError, ValueError, KeyError, TypeError):
        return


def keep(folder: Path, game: Game, questions: Sequence[LevelQuestion]) -> None:
    """Write the known answers to a playtest's folder."""
    known = [(q, _known[game, q]) for q in questions if (game, q) in _known]
    rows = [_written(question, answer) for question, answer in known]
    schema.write(folder / FILE, {"schema": 1, "of": _origin(game), "answers": rows})


def _origin(game: Game) -> dict[str, Any]:
    """Return what the answers depend on besides the level."""
    address = registry.address(game)
    return {"program": __version__, "game": address, "version": game.version, **trust.code_of(address)}


def _key(question: LevelQuestion) -> tuple[str, str, bool]:
    return question.level.name, question.level.digest, question.won


def _written(question: LevelQuestion, answer: list[Finding] | Outlook) -> dict[str, Any]:
    name, text, won = _key(question)
    content = {"outlook": asdict(answer)} if isinstance(answer, Outlook) else {"findings": [asdict(f) for f in answer]}
    return {"level": name, "text": text, "won": won, **content}


def _read(row: Mapping[str, Any]) -> list[Finding] | Outlook:
    if row["won"]:
        return Outlook(**{**row["outlook"], "actions": tuple(row["outlook"]["actions"])})
    return [
        Finding(**{**f, "places": tuple((int(x), int(y)) for x, y in f["places"]), "players": tuple(f["players"])})
        for f in row["findings"]
    ]


def appraisals(game: Game, questions: Sequence[LevelQuestion], workers: Workers | None) -> Appraisals | None:
    """Return a dispatch that computes answers with workers; None without workers or questions."""
    if workers is None or workers.alone or game.outside is not None or not questions:
        return None
    thought = [_LETTER * len(q.level.text) for q in questions]
    return Dispatch(workers, answers, registry.address(game), questions, [q.won for q in questions], thought)


def answers(address: str, questions: Sequence[LevelQuestion]) -> Iterator[list[Finding] | Outlook]:
    """Yield the answers to some questions; workers run this function."""
    game = registry.get(address)
    return (question.answer(game) for question in questions)
