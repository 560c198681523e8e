"""The best utility that is known for a persona in a level: what results are held against."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from persona_evo.evolve.fitness import LevelText
from persona_evo.evolve.parallel import Workers
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import Game, Level
from persona_evo.personas import Persona
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.records import Playthrough
from persona_evo.store import schema

FILE = "bounds.json"
"""Where a playtest's folder keeps what was found, so that a continued playtest does not look for it again."""

Tell = Callable[[int, int], None]

_warm: set[int] = set()
"""Processes in which the solver has been loaded."""


class Question(NamedTuple):
    """One level and utility, as they can be sent to a worker."""

    game: str
    level: LevelText
    utility: str
    seconds: float


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
) -> dict[tuple[str, str], Bound]:
    """The best utility known by (level, persona's name), from the solver and from what was played.

    Args:
        records: playthroughs, of which a better one than the solver's replaces it; a playthrough whose plan was proven
            to be the best proves the limit.
        seconds: for the solver, for each level and persona; 0 for what the records say alone, which is all there is of
            games that run elsewhere and of games for two.
        folder: where results are kept and looked up.
        progress: called with how many of how many are done.
    """
    wanted = {p.name: p for p in personas}
    known = _read(folder) if folder is not None else {}
    asked = [
        (level.name, name, Question(game_name or game.name, LevelText.of(level), persona.utility.text, seconds))
        for level in levels
        for name, persona in wanted.items()
        if seconds > 0 and game.outside is None and game.players == 1 and (level.name, name) not in known
    ]
    if asked:
        warm_up(game, levels[0])
    with Workers(jobs if len(asked) > 1 else 1) as workers:
        for i in range(0, len(asked), workers.jobs):
            part = asked[i : i + workers.jobs]
            for (level_name, name, _), bound in zip(part, workers.map(answer, [q for _, _, q in part]), strict=True):
                known[level_name, name] = bound
            if folder is not None:
                _write(folder, known)
            if progress is not None:
                progress(min(len(asked), i + len(part)), len(asked))
    names = {level.name for level in levels}
    found = {key: bound for key, bound in known.items() if key[0] in names and key[1] in wanted}
    return _with_records(found, list(records), wanted)


def warm_up(game: Game, level: Level) -> None:
    """Have the solver compiled, so that this does not count against a limit of time."""
    from persona_evo.search.bounds import solve

    solve(game, level, parse(game.symbols[0], game.symbols), states=100, width=4)


def answer(question: Question) -> Bound:
    """Ask the solver (this is what workers run)."""
    from persona_evo.search.bounds import solve

    game = registry.get(question.game)
    text = question.level
    level = game.load(text.text, text.name, text.source, **dict(text.options))
    if os.getpid() not in _warm:
        warm_up(game, level)
        _warm.add(os.getpid())
    solution = solve(game, level, parse(question.utility, game.symbols), seconds=question.seconds)
    return Bound(solution.utility, solution.proven, solution.metrics)


def _with_records(
    found: Mapping[tuple[str, str], Bound], records: Sequence[Playthrough], personas: Mapping[str, Persona]
) -> dict[tuple[str, str], Bound]:
    """The limits, or what was played where that is better: by the persona, or by another one in passing."""
    best = dict(found)
    for r in records:
        for name, persona in personas.items():
            known = best.get((r.level, name))
            if r.persona == name or not persona.utility.symbols <= set(r.metrics):
                continue
            value = persona.utility.evaluate(r.metrics)
            if known is not None and value > known.utility + 1e-12:
                best[r.level, name] = Bound(value, False, dict(r.metrics))
    for r in records:
        key = r.level, r.persona
        known = best.get(key)
        if known is None or r.utility > known.utility + 1e-12:
            best[key] = Bound(r.utility, r.proven, dict(r.metrics))
        elif r.proven and not known.proven and r.utility >= known.utility - 1e-12:
            best[key] = Bound(known.utility, True, known.metrics)
    return best


def _read(folder: Path) -> dict[tuple[str, str], Bound]:
    """What an earlier call kept; a damaged file counts as none, since all of it can be found again."""
    try:
        rows = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return {
            (r["level"], r["persona"]): Bound(float(r["utility"]), bool(r["proven"]), dict(r["metrics"])) for r in rows
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _write(folder: Path, known: Mapping[tuple[str, str], Bound]) -> None:
    rows = [
        {"level": level, "persona": name, "utility": b.utility, "proven": b.proven, "metrics": dict(b.metrics)}
        for (level, name), b in known.items()
    ]
    schema.write_atomically(folder / FILE, json.dumps(rows, indent=1) + "\n")
