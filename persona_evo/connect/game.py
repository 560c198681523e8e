"""Makes a `Game` of a connected game, so that personas, tree policies, evolution and playtests work with it.

Everything special is behind `Game.outside`: levels are names, and searches order rollouts instead of computing states.
Where a single state is needed (for a replay, or for the metrics of a child), it is represented by the choices that lead
to it, and the game is asked about it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from persona_evo.connect import protocol as p
from persona_evo.connect.cases import replay_cases
from persona_evo.connect.description import WIDENING, Description, MetricWords
from persona_evo.connect.description_file import read
from persona_evo.connect.film import Camera
from persona_evo.connect.moves import ConnectedActor
from persona_evo.connect.parallel_plans import PlanningJob, plan_in_parallel
from persona_evo.connect.planner import ConnectedPlanner, Outcome
from persona_evo.connect.process_start import Attachment, Timeouts
from persona_evo.connect.search import SCORE
from persona_evo.connect.session import Session
from persona_evo.connect.viewer import BestViewer
from persona_evo.errors import ConnectError, LevelError, SettingsError
from persona_evo.formula import parse
from persona_evo.formula.primitives import PRIMITIVES
from persona_evo.games.core import ENDED, LOST, RUNNING, WON, Game, Level, Metric, Rules, State
from persona_evo.games.outside import Arrived, Film
from persona_evo.games.python_game.contents import number_of
from persona_evo.search.moves import MovesSpec
from persona_evo.search.plan import Plan, PlanJob, PlannedOutside
from persona_evo.search.tree_policy import MOVE_VARIABLES, SEARCH_VARIABLES
from persona_evo.seeds import below

PLACE = ("X", "Y")
"""The metrics that say where the avatar stands."""


def load(path: Path) -> Game:
    """Start the game that a file describes, and return it.

    Raises:
        ConnectError: the file is wrong, or the game does not start.
        FormulaError: the condition for winning or losing is not a formula over the game's metrics.
    """
    return opened(Session(read(path)))


def started(path: Path, level: str) -> Game:
    """Return the game of a description, with all processes started at once for a level.

    Raises:
        ConnectError: the file is wrong, or the game does not start.
        SettingsError: there is no such level.
    """
    about = read(path)
    session = Session(about, all_at_once=True)
    try:
        session.pool(about.level(level, sets=True))
        return of(session)
    except BaseException:
        session.close()
        raise


def attached(path: Path, attachment: Attachment) -> Game:
    """Return the game that a file describes, after someone else has started it and it has connected.

    There is no time limit for a rollout, because someone may be stopped at a breakpoint.

    Raises:
        ConnectError: the file is wrong, or what connects is not the game.
    """
    timeouts = Timeouts(None, Timeouts.handshake, None)
    return opened(Session(dataclasses.replace(read(path), attachment=attachment, workers=1, timeouts=timeouts)))


def opened(session: Session) -> Game:
    """Return the game of a new session; if that fails, close the session."""
    try:
        return of(session)
    except BaseException:
        session.close()
        raise


def of(session: Session) -> Game:
    """Return the game of a session."""
    about, hello = session.about, session.hello()
    if about.worlds and "seed" not in hello.capabilities:
        raise ConnectError(
            "the game does not take seeds, so they cannot decide what the player does not know",
            place=about.place("deterministic"),
            found="deterministic = false",
            expected="a game that announces the capability `seed`",
        )
    metrics = _metrics(about, hello)
    symbols = tuple(m.symbol for m in metrics)
    outcome = _outcome(about, symbols)
    rules = _Rules(session, outcome, len(symbols))
    camera = Camera(about)
    functions = Rules(rules.legal, rules.step, rules.over, rules.mover, rules.measure, rules.key, rules.rollout)
    return Game(
        name=about.name,
        title=hello.game[0],
        version=_version(about, hello),
        metrics=metrics,
        rules=lambda costly=False: functions,
        load=partial(_level, about),
        action_name=lambda level, state, a: str(a),
        parse_action=_parse_action,
        deterministic=about.deterministic,
        compiled=False,
        horizon=about.horizon or hello.max_decisions,
        locate=partial(_locate, rules, symbols) if set(PLACE) <= set(symbols) else None,
        outside=PlannedOutside(
            planner=partial(ConnectedPlanner, session, outcome),
            plans=_plans,
            actor=partial(_actor, session, outcome),
            close=partial(_close, session, camera),
            findings=session.findings,
            keep_in=session.keep_in,
            failures=session.failures,
            hand_over=session.hand_over,
            take_over=session.take_over,
            watch=partial(_watch, session),
            regressions=partial(replay_cases, about),
            levels=lambda names: [str(level) for level in session.named(names)],
            film=partial(_film, about, camera),
            filmed=about.film if "pictures" in hello.capabilities else (),
            sets=about.maps,
            personas=tuple(map(str, about.personas)),
            wins=bool(about.outcome[0]),
            ordering=_ordering(about, hello),
        ),
    )


@contextlib.contextmanager
def _watch(session: Session, delay: float) -> Iterator[None]:
    """Let the session's searches show their best playthroughs (see `Outside.watch`)."""
    viewer = BestViewer(session.about, delay)
    session.show_best = viewer.show
    try:
        yield
        viewer.finish()
    finally:
        session.show_best = None
        viewer.close()
        if viewer.failure:
            session.note("viewer", f"the game that shows the best playthrough failed: {viewer.failure}")


def _close(session: Session, camera: Camera) -> None:
    session.close()
    camera.close()


def _film(
    about: Description, camera: Camera, level: str, actions: Sequence[str], depths: Sequence[int], arrived: Arrived
) -> Film:
    return camera.shoot(about.level(level), [int(action) for action in actions], depths, arrived)


def _ordering(about: Description, hello: p.Hello) -> dict[str, object]:
    """Return how searches of the game order rollouts, with the keys of policy files (see `store.policies.Policy`)."""
    return {
        "rollout": about.rollout,
        "policy": about.policy,
        "slots": about.slots,
        "widening": about.widening,
        **({"priors": True} if not about.worlds and about.uses_priors(hello.capabilities) else {}),
        **({"seeds": about.worlds} if about.worlds else {}),
        "constant": about.constant,
        "scores": about.scores,
        "horizon": about.horizon or hello.max_decisions,
        "max_decisions": hello.max_decisions,
    }


def _actor(session: Session, outcome: Outcome, game: Game, level: Level, spec: MovesSpec) -> ConnectedActor:
    ordering = ConnectedPlanner(session, outcome, game, level, spec.settings, 1).ordering
    return ConnectedActor(session, ordering, game, level, spec)


def _plans(jobs: Iterable[PlanJob], until: float | None) -> Iterator[Plan]:
    """Yield the plans for levels of connected games, which are searched in parallel (see `PlannedOutside.plans`)."""

    def own() -> Iterator[PlanningJob]:
        for planner, utility, policy, budget, seed in jobs:
            assert isinstance(planner, ConnectedPlanner)
            yield PlanningJob(planner, utility, policy, budget, seed)

    return plan_in_parallel(own(), until)


class _Rules:
    """Implements the functions of `games.core` for states that consist of one tuple of choices."""

    def __init__(self, session: Session, outcome: Outcome, metrics: int) -> None:
        self._session, self._outcome, self._count = session, outcome, metrics

    def legal(self, tables: State, state: State, actions: Any) -> int:
        count = self._session.state_at(tables[0], state[0]).choices
        actions[:count] = np.arange(count)
        return count

    def step(self, tables: State, state: State, action: int, rng: Any) -> int:
        state[0] = (*state[0], int(action))
        return 0

    def over(self, tables: State, state: State) -> int:
        seen = self._session.state_at(tables[0], state[0])
        if seen.choices:
            return RUNNING
        values = (*seen.metrics, seen.score)[: self._count]
        return self._outcome(dict(zip(self._symbols(), values, strict=True)))

    def mover(self, tables: State, state: State) -> int:
        return 0

    def measure(self, tables: State, state: State, player: int, out: Any) -> int:
        seen = self._session.state_at(tables[0], state[0])
        out[: self._count] = (*seen.metrics, seen.score)[: self._count]
        return 0

    def key(self, tables: State, state: State) -> int:
        return number_of(state[0])

    def rollout(
        self, tables: State, state: State, actions: Any, played: Any, length: int, rng: Any, seen: Any, every: int
    ) -> int:
        made = 0
        while made < length and self.over(tables, state) == RUNNING:
            action = int(below(rng, self.legal(tables, state, actions)))
            self.step(tables, state, action, rng)
            played[made] = action
            if every:
                self.measure(tables, state, 0, seen[made])
            made += 1
        return made

    def _symbols(self) -> list[str]:
        known = [m.symbol for m in self._session.hello().metrics]
        return known if SCORE in known else [*known, SCORE]


def _level(about: Description, text: str, name: str, source: str = "") -> Level:
    try:
        found = about.level(text)
    except SettingsError as e:
        raise LevelError(e.what, place=e.place, found=e.found, expected=e.expected, hint=e.hint) from e
    tables, start = np.empty(1, dtype=object), np.empty(1, dtype=object)
    tables[0], start[0] = found, ()
    return Level(
        game=about.name,
        name=name,
        text=str(found),
        tables=tables,
        start=start,
        max_actions=p.MOST_CHOICES,
        source=source,
        named=True,
    )


def _parse_action(level: Level, state: State, text: str) -> int:
    if not text.isdecimal():
        raise SettingsError("no such choice", found=text, expected="the number of a choice, from 0")
    return int(text)


def _locate(rules: _Rules, symbols: Sequence[str], level: Level, state: State) -> tuple[int, int] | None:
    """Return the avatar's cell according to the metrics X and Y; None if they are not a cell."""
    values = np.zeros(len(symbols))
    rules.measure(level.tables, state, 0, values)
    x, y = values[symbols.index("X")], values[symbols.index("Y")]
    return (int(x), int(y)) if x >= 0 and y >= 0 and x.is_integer() and y.is_integer() else None


def _metrics(about: Description, hello: p.Hello) -> tuple[Metric, ...]:
    """Return the metrics that the game reports, with the descriptions from the file, and the score."""
    words = {m.symbol: m for m in about.metrics}
    known, names = [m.symbol for m in hello.metrics], (*SEARCH_VARIABLES, *MOVE_VARIABLES)
    for symbol in words:
        if symbol not in (*known, SCORE):
            raise ConnectError(
                "the game reports no such metric",
                place=about.place("symbol", "metrics"),
                found=symbol,
                expected=", ".join((*known, SCORE)),
            )
    for symbol in known:
        if symbol in names or symbol in PRIMITIVES:
            raise ConnectError(
                f"{hello.game[0]} has a metric whose name means something else in formulas",
                found=symbol,
                expected=f"none of {', '.join(names)}, nor a function's",
            )
    found = [_metric(m, words.get(m.symbol)) for m in hello.metrics]
    if set(PLACE) <= set(known):
        found = [dataclasses.replace(m, place=m.symbol in PLACE and _is_place(words.get(m.symbol))) for m in found]
    if SCORE not in known:
        own = Metric(
            SCORE, "score", "the score that the game gives at its end, 0 before", low=-math.inf, better="higher"
        )
        said = words.get(SCORE)
        found.append(
            own
            if said is None
            else dataclasses.replace(
                own, name=said.name or own.name, meaning=said.meaning or own.meaning, unit=said.unit
            )
        )
    return tuple(found)


def _is_place(words: MetricWords | None) -> bool:
    return words is None or words.place


def _metric(info: p.MetricInfo, words: Any) -> Metric:
    low = -math.inf if info.low is None else float(info.low)
    high = math.inf if info.high is None else float(info.high)
    if words is None:
        return Metric(info.symbol, info.name, info.name, low=low, high=high)
    name = words.name or info.name
    return Metric(info.symbol, name, words.meaning or name, words.unit, low, high, words.better)


def _outcome(about: Description, symbols: Sequence[str]) -> Outcome:
    """Return the function that tells from the metrics how a game ended."""
    won, lost = (
        parse(text, symbols, place=about.place(key, "outcome")) if text else None
        for key, text in zip(("won", "lost"), about.outcome, strict=True)
    )

    def outcome(metrics: dict[str, float]) -> int:
        if won is not None and won.evaluate(metrics) > 0.0:
            return WON
        return LOST if lost is not None and lost.evaluate(metrics) > 0.0 else ENDED

    return outcome


def _version(about: Description, hello: p.Hello) -> int:
    """Return a number that changes with everything that affects the results of a search."""
    parts = [
        hello.game,
        [m._asdict() for m in hello.metrics],
        hello.max_decisions,
        about.arguments,
        about.slots,
        about.rollout,
        about.policy,
        about.constant,
        about.scores,
        about.horizon,
        dict(about.settings),
        dict(about.variants),
        about.outcome,
    ]
    if about.widening != WIDENING:
        parts.append(about.widening)
    if about.uses_priors(hello.capabilities):
        parts.append("priors")
    if about.worlds:
        parts.append({"seeds": about.worlds})
    if about.environment:
        parts.append(dict(about.environment))
    text = json.dumps(parts, sort_keys=True)
    return 1 + int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little") % (2**31 - 1)
