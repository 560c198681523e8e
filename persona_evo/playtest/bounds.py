"""The best known utility of a persona in a level, against which results are measured."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import Place, RunError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import RUNNING, WON, Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import checksum, files, json_text, schema
from persona_evo.jobs.dispatch import Dispatch
from persona_evo.jobs.workers import Workers
from persona_evo.personas import Persona
from persona_evo.personas.lists import OpenList
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.records import OUTCOMES, Playthrough
from persona_evo.seeds import stream
from persona_evo.words import counted

FILE = "bounds.json"
"""File in a playtest's folder that keeps the limits, so that a continued playtest does not search for them again."""

CUT = "the solver's best plan stops before the level ends, and is no measure for playthroughs that go on to the end"
"""Note for limits that do not apply to playthroughs that reached the end of the game."""

Tell = Callable[[int, int], None]

Ends = Callable[[Playthrough], tuple[dict[str, float], int]]
"""Returns the metrics at the end of a playthrough's best plan, and what the game's `over` says of that state."""

_SHORT = 100
"""Number of iterations of a solver call that ends at once."""

_warm: set[int] = set()
"""Ids of processes in which the solver has been loaded."""


class BoundQuestion(NamedTuple):
    """A level and a utility, in a form that can be sent to a worker."""

    game: str
    level: LevelText
    utility: str
    seconds: float
    lists: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, game: str, level: Level, persona: Persona, seconds: float) -> BoundQuestion:
        """Return the question for a persona, with its open lists."""
        lists = tuple(one.to_dict() for one in persona.lists)
        return cls(game, LevelText.of(level), persona.utility.text, seconds, lists)


def bounds(
    game: Game,
    levels: Sequence[Level],
    personas: Iterable[Persona],
    records: Iterable[Playthrough] = (),
    *,
    seconds: float = 3.0,
    jobs: int = 1,
    folder: Path | None = None,
    progress: Tell | None = None,
    game_name: str | None = None,
    workers: Workers | None = None,
    then: Dispatch[Any, Any, Any] | None = None,
) -> dict[tuple[str, str], Bound]:
    """Return the best known utility by (level, persona's name), from the solver and from playthroughs.

    Args:
        records: playthroughs. One that is better than the solver's result replaces it; one whose plan is proven to be
            the best proves the limit.
        seconds: time for the solver per level and persona. With 0 only the records count, as they always do for games
            that run elsewhere. Two-player games and games of chance have no limit: what can be reached depends on the
            opponent or on luck.
        folder: where results are kept and looked up.
        progress: called with the number of questions done and their total.
        workers: used instead of new ones; they are left running.
        then: what the workers begin when no question is left to begin.
    """
    if not limited(game):
        return {}
    wanted = {p.name: p for p in personas}
    known = _read(folder) if folder is not None else {}
    asked = [
        (level.name, name, BoundQuestion.of(game_name or game.name, level, persona, seconds))
        for level in levels
        for name, persona in wanted.items()
        if seconds > 0 and game.outside is None and (level.name, name) not in known
    ]
    with ExitStack() as stack:
        chosen = workers or stack.enter_context(Workers(jobs if len(asked) > 1 else 1))
        questions = [question for _, _, question in asked]
        found_by = Dispatch(chosen, answers, None, questions, [level for level, _, _ in asked], [seconds] * len(asked))
        found_by.then = then
        if asked:
            found_by.begin()
            warm_up(game, levels[0])
        done = 0
        for part in found_by:
            for (level_name, name, _), bound in zip(asked[done:], part, strict=False):
                known[level_name, name] = bound
            done += len(part)
            if folder is not None:
                _write(folder, known)
            if progress is not None:
                progress(done, len(asked))
    horizons, played = {level.name: game.horizon_of(level) for level in levels}, list(records)
    found = {
        (level, name): _comparable(bound, [r for r in played if (r.level, r.persona) == (level, name)], horizons[level])
        for (level, name), bound in known.items()
        if level in horizons and name in wanted
    }
    return _with_records(found, played, wanted, _ends(game, levels))


def _ends(game: Game, levels: Sequence[Level]) -> Ends:
    """Return a function for the ends of best plans, which replays the best plan if the record shows another route."""
    by_name = {level.name: level for level in levels}

    def end(record: Playthrough) -> tuple[dict[str, float], int]:
        if record.best_actions == record.actions or record.level not in by_name:
            return _end(record)
        level = by_name[record.level]
        state, rng, step = game.start(level, record.seed), stream(record.seed), game.rules().step
        for text in record.best_actions:
            step(level.tables, state, game.parse_action(level, state, text), rng)
        return game.measure(level, state), game.over(level, state)

    return end


def _end(record: Playthrough) -> tuple[dict[str, float], int]:
    """Return the metrics at the end of a playthrough's route, and what the game's `over` says of that state."""
    return dict(record.metrics), OUTCOMES.index(record.outcome)


def limited(game: Game) -> bool:
    """Return whether levels of the game have a best plan at all."""
    return game.players == 1 and game.deterministic


def warm_up(game: Game, level: Level) -> None:
    """Compile the solver in advance, so that compilation does not count against a time limit."""
    from persona_evo.search import best_first  # noqa: F401 (plays on where a plan does not come to the end)
    from persona_evo.search.bounds import solve

    solve(game, level, parse(game.symbols[0], game.symbols), iterations=_SHORT)


def answers(_: None, questions: Sequence[BoundQuestion]) -> Iterator[Bound]:
    """Ask the solver some questions; workers run this function."""
    return map(answer, questions)


def answer(question: BoundQuestion) -> Bound:
    """Ask the solver one question."""
    from persona_evo.search.bounds import solve

    game = registry.get(question.game)
    level = question.level.load(game)
    if os.getpid() not in _warm:
        warm_up(game, level)
        _warm.add(os.getpid())
    lists = [OpenList.from_dict(one) for one in question.lists]
    utility = parse(question.utility, game.symbols)
    solution = solve(game, level, utility, seconds=question.seconds, lists=lists)
    over = solution.outcome
    return Bound(solution.utility, solution.proven, solution.metrics, over != RUNNING, won=over == WON)


def _with_records(
    found: Mapping[tuple[str, str], Bound],
    records: Sequence[Playthrough],
    personas: Mapping[str, Persona],
    ends: Ends | None = None,
) -> dict[tuple[str, str], Bound]:
    """Return the limits, or results of play where these are better.

    Such a result may be the persona's own, or one that another persona reached in passing.

    Args:
        ends: returns the ends of best plans that are not the routes shown; the routes' own ends if not given.
    """
    best = dict(found)
    for r in records:
        for name, persona in personas.items():
            own, key = r.persona == name, (r.level, name)
            if not own and not persona.utility.symbols <= set(r.metrics):
                continue
            known, value = best.get(key), r.best_utility if own else persona.utility.evaluate(r.metrics)
            if known is None or value > known.utility + 1e-12:
                end, over = ends(r) if own and ends is not None else _end(r)
                best[key] = Bound(value, own and r.proven, end, over != RUNNING, won=over == WON)
            elif own and r.proven and not known.proven and value >= known.utility - 1e-12:
                best[key] = replace(known, proven=True, note="")
    return best


def _comparable(bound: Bound, records: Sequence[Playthrough], horizon: int) -> Bound:
    """Return the solver's limit, with a note if whole playthroughs cannot be compared with it.

    The solver's plan may stop wherever the utility is highest. If that is proven to be the maximum, it is a limit for
    whole playthroughs, too, unless these went on beyond the horizon.

    Args:
        records: playthroughs of the persona in the level.
    """
    if any(r.steps > horizon for r in records):
        return replace(bound, note=f"the solver looks {counted(horizon, 'move')} ahead, playthroughs are longer")
    if not bound.ended and not bound.proven and not all(r.open for r in records):
        return replace(bound, note=CUT)
    return bound


def _read(folder: Path) -> dict[tuple[str, str], Bound]:
    """Read what an earlier call kept; a damaged file counts as empty, since everything in it can be computed again.

    Earlier versions wrote a list without a checksum.
    """
    try:
        text = files.read_text(folder / FILE, RunError)
        rows = json.loads(text)
        if isinstance(rows, dict):
            checksum.verify(text, Place(str(folder / FILE)), RunError, json_text.RESTORE)
            rows = rows["bounds"]
        return {
            (r["level"], r["persona"]): Bound(
                float(r["utility"]), bool(r["proven"]), dict(r["metrics"]), bool(r["ended"]), won=bool(r["won"])
            )
            for r in rows
        }
    except (RunError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _write(folder: Path, known: Mapping[tuple[str, str], Bound]) -> None:
    rows = [
        {
            "level": level,
            "persona": name,
            "utility": b.utility,
            "proven": b.proven,
            "metrics": dict(b.metrics),
            "ended": b.ended,
            "won": b.won,
        }
        for (level, name), b in known.items()
    ]
    schema.write(folder / FILE, {"schema": 1, "bounds": rows})
