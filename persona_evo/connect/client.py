"""The client for games in Python: a game calls it so that the driver can play the game.

    from persona_evo.connect.client import Client

    client = Client("my game", "1.0", metrics=["HP", "GOLD"], max_decisions=200)

    def play(client):                       # plays one game from start to end
        state = new_game(client.game_seed, client.map, client.variant)
        while not state.over:
            client.report_metric("HP", state.hp)
            state.make(state.moves[client.select(len(state.moves))])
        client.report_metric("HP", state.hp)
        client.supply_outcome(state.score)

    client.run(play)                        # returns when the driver is finished

`run` plays one game for each ROLLOUT and reports what `play` raises. A game with a main loop of its own calls `begin`
before each game; `select` calls it if the game has not. Both raise ExperimentFinished when the driver is finished.
Without a driver, `select` calls `client.choose`, which chooses at random by default, and `run` plays a single game.
"""

from __future__ import annotations

import contextlib
import math
import os
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from persona_evo import limits
from persona_evo.connect import protocol as p
from persona_evo.connect.driver_connection import (
    DriverConnection,
    ExperimentFinished,
    failure_text,
    fatal_error,
    settings_in,
    variable,
)
from persona_evo.connect.game_frames import (
    check_decision,
    decode_restore,
    encode_answer,
    encode_decide,
    read_id,
    read_policy,
    read_welcome,
)
from persona_evo.connect.kept_states import KeptState, KeptStates
from persona_evo.connect.pictures import GamePicture, encode_picture
from persona_evo.errors import ConnectError, InputError, ProtocolError
from persona_evo.seeds import SplitMix64, check_weights

if TYPE_CHECKING:
    from persona_evo.formula import Formula


class RolloutEnded(Exception):
    """Ends a game that the driver has no further use for: too many decisions, or a prefix that does not fit."""


class _Reached(BaseException):
    """Ends a lookahead: the state of interest has been reached."""


class Client:
    """A game's connection to the driver.

    Args:
        name, version: the game's name and version.
        metrics: symbols, or `protocol.MetricInfo` with names and ranges.
        max_decisions: the number of decisions after which a game is cut short.
        capabilities: what the game can do: "weights", "hash"; "seed" if its random numbers come from `game_seed` or
            `random`; "maps" if every game reads `map`, `variant` and `settings` again; "lookahead" if it uses `run` and
            its games share no state, so that another one can be played to look one decision ahead; "snapshot" if games
            call `restored` and pass their state to `select`; "pictures" if they set `draw`.
        environ: the environment variables with the driver's address and nonce; by default those of the process.

    Attributes:
        choose: makes the choices where there is no driver.
        random, game_seed: what all chance of the game comes from; `random.below(6)` is a whole number from 0 to 5.
        settings: `[settings]` of the description, changed by the variant; empty without a driver.
        variant, map: the names in the level `MAP:VARIANT@SEED`; empty for the game's own.
        is_driver_present: whether a driver plays the game.
        draw: returns a picture of the present state as a PNG file of at most 1 MiB and 2048 x 2048 pixels, or None. It
            is called for the few playthroughs that a report shows; `persona_evo.connect.pictures.png` makes such files.

    Raises:
        ConnectError: the driver cannot be reached, or uses another version of the protocol.
    """

    def __init__(
        self,
        name: str,
        version: str = "1",
        *,
        metrics: Sequence[str | p.MetricInfo] = (),
        max_decisions: int = 1000,
        capabilities: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        env = os.environ if environ is None else environ
        self.metrics = tuple(m if isinstance(m, p.MetricInfo) else p.MetricInfo(m, m) for m in metrics)
        self.max_decisions, self.choose = max_decisions, _at_random
        self.draw: Callable[[], bytes | None] | None = None
        self.settings = self._given = settings_in(env)
        self.variant, self.map = str(self.settings.get("variant", "")), str(self.settings.get("map", ""))
        self.game_seed, self.planned = 0, tuple[int, ...]()  # planned: choices fixed by the driver
        self.random, self._choices = SplitMix64(0), SplitMix64(1)
        self._order: p.Rollout | None = None
        self._number = {m.symbol: i for i, m in enumerate(self.metrics)}
        self._values = [0.0] * len(self.metrics)
        self._packed = struct.Struct(f"<{len(self.metrics)}f").pack
        self._capabilities = tuple(capabilities)
        self._play: Callable[[Client], object] = _no_play
        self._policies: dict[int, Formula] = {}
        self._states, self._looking, self._score = KeptStates(), False, 0.0
        self._hash: int | None = None
        address = variable(env, "PE_ADDR", "MC_ADDR")
        self.is_driver_present = bool(address)
        if address:
            hello = p.Hello(
                p.LIBRARY,
                (name, version),
                variable(env, "PE_NONCE", "MC_NONCE"),
                tuple(capabilities),
                self.metrics,
                max_decisions,
            )
            self._driver = DriverConnection(address, int(variable(env, "PE_PORT", "MC_PORT") or 0))
            with contextlib.suppress(ExperimentFinished):  # `run` and `begin` notice it, too
                self._other(*self._driver.greet(hello))

    def run(self, play: Callable[[Client], object]) -> None:
        """Play games until the driver is finished. What `play` raises is reported as a failure of the game."""
        self._play = play
        with contextlib.suppress(ExperimentFinished):
            while True:
                self.begin()
                try:
                    play(self)
                    if self._order is not None:
                        raise ConnectError("the game ended without supply_outcome")
                except RolloutEnded:
                    pass
                except (ExperimentFinished, KeyboardInterrupt):
                    raise
                except (Exception, SystemExit) as e:
                    if not self.is_driver_present:
                        raise
                    self.fail(failure_text(e))
                if not self.is_driver_present:
                    return

    def begin(self) -> None:
        """Wait for the driver's next order.

        Raises:
            ExperimentFinished: the driver has no more orders.
        """
        self._begin(self._next_order() if self.is_driver_present else p.Rollout(0, self.game_seed, time.time_ns()))

    def restored(self) -> Any:
        """Return the state from which this game continues instead of its start, or None.

        The state is a copy of what an earlier game passed to `select`. Metrics, score and `random` are restored, too.
        """
        if self._order is None:
            self.begin()
        assert self._order is not None
        kept = None if self._looking else self._states.find(self._order)
        if kept is None:
            return None
        self._trace, self._rows, self._values = bytearray(kept.trace), bytearray(kept.rows), list(kept.values)
        self._made, self._score, self._hash = len(kept.trace) // p.PAIR, kept.score, kept.hash
        self.random.state = kept.random
        return kept.state

    def select(self, count: int, weights: Sequence[float] | None = None, state: object = None) -> int:
        """Make a decision: return the number of one of `count` choices, from 0.

        Args:
            count: the number of choices, 1 to 65,534.
            weights: how likely each choice is in a rollout by weights; finite, not negative, at least one positive.
            state: the complete state of the game, for `restored` in later games; it is copied when needed.

        Raises:
            ConnectError: the count or the weights are invalid.
            RolloutEnded, ExperimentFinished: see these classes.
        """
        if self._order is None:
            self.begin()
        check_decision(count, weights)
        if self._looking and self._made >= self._planned:
            raise _Reached
        if self._made >= self.max_decisions:
            self._end(p.TRUNCATED)
        order, flags, choice = self._order, self._flags, 0
        assert order is not None
        if order.snapshot and state is not None and self._made == self._planned and not self._looking:
            self._keep(order, state)
        if order.flags & p.PICTURES:
            self._show(order)
        if flags == p.ALL_METRICS:
            self._rows += self._packed(*self._values)
        if self._made < self._planned:
            choice, known = self._prefix[2 * self._made], self._prefix[2 * self._made + 1]
            if known != count:
                self._trace += struct.pack("<HH", choice, count)
                self._made += 1
                self._end(p.ILLEGAL)
        elif not self.is_driver_present:
            choice = int(self.choose(self, count, weights))
        elif order.mode == p.ASK:
            choice = self._ask(count, weights)
        elif order.mode == p.POLICY:
            choice = self._ahead(count, self._policies[order.policy])
        elif order.mode == p.WEIGHTS and weights is not None:
            choice = self._choices.weighted(weights)
        else:
            if weights is not None:
                check_weights(weights)
            choice = self._choices.below(count)
        self._trace += struct.pack("<HH", choice, count)
        self._made += 1
        return choice

    def report_metric(self, symbol: str, value: float) -> None:
        """Set the value of a metric from now on. All metrics are 0 when a game begins.

        Raises:
            ConnectError: there is no such metric, or the value is not a finite 32-bit number.
        """
        if self._order is None:
            self.begin()
        if symbol not in self._number:
            raise ConnectError("no such metric", found=symbol, expected=", ".join(self._number))
        if not -3.4e38 <= value <= 3.4e38:
            raise ConnectError(f"metric {symbol} is not a finite 32-bit number", found=limits.shown(value))
        self._values[self._number[symbol]] = value

    def report_score(self, score: float) -> None:
        """Set the current score, which counts if the game is cut short."""
        if not limits.is_finite(score):
            raise ConnectError("the score is not a finite number", found=limits.shown(score))
        self._score = float(score)

    def report_hash(self, state: int) -> None:
        """Set the hash of everything that decides the future (capability "hash"); the last one is sent."""
        self._hash = state & 0xFFFFFFFFFFFFFFFF

    def supply_outcome(self, score: float) -> None:
        """End the game with this score, which may be negative."""
        if self._order is None:
            self.begin()
        self.report_score(score)
        self._answer(p.OK)

    def fail(self, message: str) -> None:
        """Report to the driver that the game cannot continue, and why."""
        self._answer(p.EXCEPTION, message)

    def close(self) -> None:
        """End the connection."""
        if self.is_driver_present:
            self._driver.close()

    def _begin(self, order: p.Rollout) -> None:
        self._order, self._flags = order, order.flags & ~p.PICTURES
        self.game_seed = order.game_seed
        self.random, self._choices = SplitMix64(order.game_seed), SplitMix64(order.rollout_seed)
        self._prefix = struct.unpack(f"<{len(order.prefix) // 2}H", order.prefix)
        self.planned = self._prefix[::2]
        self._planned, self._made = len(self._prefix) // 2, 0
        self._trace, self._rows = bytearray(), bytearray()
        self._values = [0.0] * len(self.metrics)
        self._score, self._hash = 0.0, None
        self._began = time.perf_counter()

    def _keep(self, order: p.Rollout, state: object) -> None:
        """Keep the state at the end of the prefix."""
        progress = bytes(self._trace), bytes(self._rows), tuple(self._values), self._score, self._hash
        self._states.keep(order.snapshot, KeptState(order.game_seed, *progress, self.random.state, state))

    def _end(self, status: int) -> None:
        self._answer(status)
        raise RolloutEnded

    def _answer(self, status: int, message: str = "") -> None:
        if self._looking:
            if status == p.EXCEPTION or self._made != self._planned:
                raise ConnectError("the game does not reach the same state again", found=message or None)
            raise _Reached
        if self._order is not None and self._order.flags & p.PICTURES and status in (p.OK, p.TRUNCATED):
            self._show(self._order)
        order, self._order = self._order, None
        if order is None or not self.is_driver_present:
            return
        if status == p.OK and self._made < self._planned:
            status = p.ILLEGAL
            self._trace += struct.pack("<HH", self._prefix[2 * self._made], 0)
            if self._flags == p.ALL_METRICS:
                self._rows += self._packed(*self._values)
        took = int(1e6 * (time.perf_counter() - self._began))
        played = bytes(self._trace), bytes(self._rows), self._packed(*self._values)
        self._driver.send(encode_answer(order, status, self._score, *played, self._hash, took, message))

    def _show(self, order: p.Rollout) -> None:
        """Send a picture if the game draws one."""
        png = self.draw() if self.draw is not None else None
        if png is not None:
            self._driver.send(encode_picture(GamePicture(order.id, self._made, png)))

    def _ahead(self, count: int, policy: Formula) -> int:
        """Return the choice that leads to the state with the highest score; the first of several equal ones."""
        best, top = 0, -math.inf
        for choice in range(count):
            metrics = self._look(choice, count)
            score = policy.evaluate(dict(zip(self._number, metrics, strict=True)))
            if score > top:
                best, top = choice, score
        return best

    def _look(self, choice: int, count: int) -> list[float]:
        """Return the metrics after one more decision, by playing another game from the start up to there."""
        assert self._order is not None
        here = dict(self.__dict__)
        trace = bytes(self._trace) + struct.pack("<HH", choice, count)
        try:
            self._begin(self._order._replace(prefix=trace, flags=p.NO_METRICS, mode=p.UNIFORM))
            self._looking = True
            try:
                self._play(self)
            except _Reached:
                return self._values
            raise ConnectError("the game ended without supply_outcome")
        finally:
            self.__dict__.update(here)

    def _ask(self, count: int, weights: Sequence[float] | None) -> int:
        assert self._order is not None
        self._driver.send(encode_decide(self._order.id, self._made, count, weights, self._values))
        while True:
            kind, payload = self._driver.read()
            if kind == p.Kind.CHOICE:
                value = p.decode_json(kind, payload)
                choice: Any = value.get("choice")
                if read_id(value.get("id")) == self._order.id and isinstance(choice, int) and 0 <= choice < count:
                    return int(choice)
                raise ProtocolError("CHOICE does not fit", found=str(value)[:100], expected=f"0 to {count - 1}")
            self._other(kind, payload)

    def _next_order(self) -> p.Rollout:
        while True:
            kind, payload = self._driver.read()
            if kind not in (p.Kind.ROLLOUT, p.Kind.RESTORE):
                self._other(kind, payload)
                continue
            order = p.decode_rollout(payload) if kind == p.Kind.ROLLOUT else decode_restore(payload)
            if order.mode != p.POLICY or order.policy in self._policies:
                return order
            self._begin(order)
            self.fail(f"there is no policy {order.policy} that this game could play by")

    def _other(self, kind: int, payload: bytes) -> None:
        if kind == p.Kind.PING:
            self._driver.send(p.frame(kind, payload))
        elif kind == p.Kind.WELCOME:
            self.settings, self.variant, self.map = read_welcome(p.decode_json(kind, payload), self._given)
            self._states.clear()
        elif kind == p.Kind.ERROR:
            value = p.decode_json(kind, payload)
            if value.get("fatal"):
                raise ConnectError(f"the driver rejects this game: {value.get('message')}")
        elif kind == p.Kind.BYE:
            self._driver.finish()
        elif kind == p.Kind.POLICY:
            self._learn(p.decode_json(kind, payload))
        else:
            self._driver.send(fatal_error("frame", f"{p.Kind(kind).name} was not expected"))

    def _learn(self, value: Mapping[str, Any]) -> None:
        """Store a policy if this game can play by it."""
        try:
            if "lookahead" not in self._capabilities:
                raise ProtocolError("this game cannot look ahead")
            number, formula = read_policy(value, self._number)
            self._policies[number] = formula
        except InputError as e:
            self._driver.send(fatal_error("policy", f"the policy cannot be played by: {e}"))


def _no_play(client: Client) -> None:
    raise ConnectError("a game can look ahead only within `run`")


def _at_random(client: Client, count: int, weights: Sequence[float] | None) -> int:
    return client._choices.below(count) if weights is None else client._choices.weighted(weights)
