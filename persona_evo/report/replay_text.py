"""Formats a playthrough as text: state by state, with each action and what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from persona_evo.formula import parse
from persona_evo.games.core import Event, Game, Level, Metric, State
from persona_evo.games.findings import where
from persona_evo.games.guides import Guide, guide
from persona_evo.games.python_game.levels import as_text
from persona_evo.playtest.records import Playthrough
from persona_evo.report.layout import clean
from persona_evo.report.plots import drawing
from persona_evo.report.replay import states
from persona_evo.search.settings import FAILED
from persona_evo.words import counted

AVATAR = "@"
"""Sign of the avatar in the text of a level whose game cannot draw its states as characters."""

PLAN_ENDS = "--- the plan ends here; the moves below continue from there, with one search per move ---"


def told(game: Game, level: Level, record: Playthrough) -> Iterator[str]:
    """Yield the lines of a playthrough, the start first.

    Raises:
        VerificationError: the playthrough does not replay, so this is another level, or another version of the game.
    """
    words, made = guide(game), len(record.actions)
    names = [words.action(name) for name in record.all_actions]
    passed = list(states(game, level, record, whole=True))
    events = record.all_events
    yield heading(record)
    if words.signs:
        yield f"signs: {words.signs}; places are row:column from the top left"
    before: dict[str, float] = {}
    for number, state in enumerate(passed):
        now = game.measure(level, state)
        step = f"{number}/{len(names)} {names[number - 1]}" if number else f"0/{len(names)} start"
        happened = _events(words, events, number)
        parts = [step, _health(game, record, number, now), *happened, *_changes(game, before, now)]
        drawn = picture(game, level, state)
        if drawn or not number:
            yield ""
        yield clean("  ".join(filter(None, parts)))
        yield from drawn
        if number == made < len(names):
            yield ""
            yield PLAN_ENDS
        before = now
    yield ""
    hidden = game.outside is not None and not game.deterministic
    yield _ended(record, len(names), planned=not (hidden or record.opponent))


def heading(record: Playthrough) -> str:
    """Describe what is played, and by whom."""
    against = f" against {record.opponent}, moving {record.side}" if record.opponent else ""
    best = f", a route of the search of trial {record.search}" if record.search is not None else ""
    return clean(f"{record.player} in {record.level}{against}, trial {record.trial}{best}, seed {record.seed}")


def _ended(record: Playthrough, made: int, planned: bool) -> str:
    result = "the game failed" if record.stopped == FAILED else record.result or record.final
    cause = f" ({record.lost_to})" if record.lost_to else ""
    proof = ", proven to be the best" if record.proven else ""
    worth = f"utility{' of the plan' if planned else ''} {record.utility:.4g}"
    return clean(f"{result}{cause} after {counted(made, 'move')}; {worth}{proof}")


def _health(game: Game, record: Playthrough, number: int, now: dict[str, float]) -> str:
    if number < len(record.hit_points):
        points = record.hit_points[number]
    elif game.health:
        points = parse(game.health, game.symbols).evaluate(now)
    else:
        return ""
    return f"{points:g} hit {'point' if points == 1 else 'points'}"


def _events(words: Guide, events: Sequence[Event], number: int) -> list[str]:
    return [f"{words.event(e.kind)} at {where((e.x, e.y))}" for e in events if e.step == number]


def _changes(game: Game, before: dict[str, float], now: dict[str, float]) -> list[str]:
    """List the metrics that a move changed, without clocks and distances."""
    shown: list[Metric] = [m for m in game.metrics if not m.clock and not m.costly and m.symbol in before]
    return [
        f"{m.symbol} {before[m.symbol]:.4g} -> {now[m.symbol]:.4g}"
        for m in shown
        if abs(now[m.symbol] - before[m.symbol]) > 1e-12
    ]


def picture(game: Game, level: Level, state: State) -> list[str]:
    """Return a state as characters: the game's drawing, or else the level's text with the avatar; [] without either."""
    module = drawing(game)
    if module is not None and hasattr(module, "state_text"):
        return [clean(line) for line in str(module.state_text(level, state)).splitlines()]
    own = as_text(state)
    if own:
        return [clean(line) for line in own.splitlines()]
    spot = game.locate(level, state) if game.locate is not None else None
    rows = [list(line) for line in level.rows]
    if spot is None or not (0 <= spot[1] < len(rows) and 0 <= spot[0] < len(rows[spot[1]])):
        return []
    rows[spot[1]][spot[0]] = AVATAR
    return [clean("".join(row)) for row in rows]
