"""Encodes and decodes the frames between the driver and a connected game, as specified in `unity_support/PROTOCOL.md`.

This module does not read or write sockets. The `decode_*` functions check everything that comes from outside: data that
violates the specification raises a ProtocolError that says what was found and what was expected.

Prefixes and traces stay in their encoded form, four bytes for each pair of choice and count, because a search compares,
cuts and sends them far more often than it reads them.
"""

from __future__ import annotations

import json
import math
import operator
import re
import struct
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple, TypeGuard

from persona_evo.errors import ProtocolError, json_fault

MAGIC = "persona-evo"
VERSION = (1, 0)
MOST_PAYLOAD = 16 * 2**20
MOST_HELLO = 4096
MOST_PORT = 65535
MOST_MESSAGE = 4096
MOST_CHOICES = 0xFFFE
MOST_DECISIONS = 1_000_000
PAIR = 4
"""The size of an encoded pair of choice and count, in bytes."""

_STOP = struct.pack("<HH", 0, MOST_CHOICES)

HEAD = struct.Struct("<IB")
"""The head of a frame: the size of its payload and its type."""
_ROLLOUT = struct.Struct("<QQQBBI")
RESTORE_HEAD = struct.Struct("<QIQ")
_RESULT = struct.Struct("<QBdI")
_SHAPE = struct.Struct("<IH")
_TAIL = struct.Struct("<QI")
SYMBOL = re.compile("[A-Za-z_][A-Za-z_0-9]*")
LIBRARY = "persona-evo-python 1.0"


class Kind(IntEnum):
    """The types of frames."""

    HELLO = 1
    WELCOME = 2
    ROLLOUT = 3
    RESULT = 4
    POLICY = 5
    DECIDE = 6
    CHOICE = 7
    PING = 8
    ERROR = 9
    BYE = 10
    RESTORE = 11
    PICTURE = 12


JSON = frozenset({Kind.HELLO, Kind.WELCOME, Kind.POLICY, Kind.DECIDE, Kind.CHOICE, Kind.ERROR})
"""The frames whose payload is a JSON object."""

NO_METRICS, FINAL_METRICS, ALL_METRICS = 0, 1, 2
"""The values of `flags` in ROLLOUT, without PICTURES."""

PICTURES = 4
"""Is added to `flags` if the game shall send pictures (capability `pictures`)."""

UNIFORM, WEIGHTS, POLICY, ASK = 0, 1, 2, 3
"""The values of `mode` in ROLLOUT."""

OK, TRUNCATED, ILLEGAL, EXCEPTION = 0, 1, 2, 3
"""The values of `status` in RESULT."""


class MetricInfo(NamedTuple):
    """A metric as HELLO describes it; `low` and `high` are None where it has no bound."""

    name: str
    symbol: str
    low: float | None = None
    high: float | None = None


class Hello(NamedTuple):
    """What a game reports about itself in HELLO; `game` is its name and version."""

    library: str
    game: tuple[str, str]
    nonce: str
    capabilities: tuple[str, ...]
    metrics: tuple[MetricInfo, ...]
    max_decisions: int
    protocol: tuple[int, int] = VERSION


class Rollout(NamedTuple):
    """An order to play a rollout: from the start along a prefix, then on to the end.

    Attributes:
        id, game_seed, rollout_seed: 64-bit numbers.
        flags: which metrics RESULT contains, and whether pictures are sent before it.
        mode: how the game chooses after the prefix.
        policy: the id of a POLICY, for mode 2 only.
        prefix: encoded pairs of choice and count.
        restore: the number of a state that the game may begin from; 0 for none (capability `snapshot`).
        depth: how many choices of the prefix lead to that state.
        snapshot: the number under which the game keeps the state at the end of the prefix; 0 for none.
        states: depths and numbers of states along the prefix that a process may have kept, deepest first. They are not
            sent; `restore` and `depth` are chosen from them for the process that plays the rollout.
        is_guess: whether the game may reject the prefix. This is not sent.
        level_seed: the seed of the level that is searched if that is not `game_seed`. This is not sent.
        asks: whether the driver makes the choices, in mode ASK, as the game would in `mode`, to learn their weights.
    """

    id: int
    game_seed: int
    rollout_seed: int
    flags: int = ALL_METRICS
    mode: int = UNIFORM
    policy: int = 0
    prefix: bytes = b""
    restore: int = 0
    depth: int = 0
    snapshot: int = 0
    states: tuple[tuple[int, int], ...] = ()
    is_guess: bool = False
    level_seed: int | None = None
    asks: bool = False

    def stopping(self) -> Rollout:
        """Return the order to make the choices of the prefix and no other.

        A choice that no game offers follows them. The game rejects it, and says what it offers in its place.
        """
        return self._replace(prefix=self.prefix + _STOP, is_guess=True)

    @property
    def choices(self) -> bytes:
        """The prefix without the choice that ends an order of `stopping`."""
        return self.prefix.removesuffix(_STOP) if self.is_guess else self.prefix

    def may_be_rejected(self, trace: bytes) -> bool:
        """Return whether the game may reject the prefix after the choices of this trace."""
        return self.is_guess and (self.choices == self.prefix or trace.startswith(self.choices))


class Result(NamedTuple):
    """The result of a rollout.

    Attributes:
        trace: encoded pairs of choice and count.
        rows, columns: the shape of `metrics`.
        metrics, final: the metrics before each choice, one row each, and at the end; float32 little-endian.
        hash: a hash of the end state, which tells end states apart.
        microseconds: the time that the rollout took in the game.
        weights: those of the first decision after the prefix, if the order asks for them and there are any. They are
            not part of the frame.
    """

    id: int
    status: int
    score: float
    trace: bytes
    rows: int
    columns: int
    metrics: bytes
    final: bytes
    hash: int
    microseconds: int
    message: str = ""
    weights: tuple[float, ...] = ()

    @property
    def decisions(self) -> int:
        """The number of decisions, which is the number of pairs in the trace."""
        return len(self.trace) // PAIR

    def count(self, i: int) -> int:
        """Return the number of choices at decision i."""
        return int.from_bytes(self.trace[i * PAIR + 2 : i * PAIR + 4], "little")

    def row(self, i: int) -> tuple[float, ...]:
        """Return the metrics before choice i."""
        size = 4 * self.columns
        return struct.unpack(f"<{self.columns}f", self.metrics[i * size : (i + 1) * size])

    def last(self) -> tuple[float, ...]:
        """Return the metrics at the end."""
        return struct.unpack(f"<{self.columns}f", self.final)


def pack(pairs: Iterable[tuple[int, int]]) -> bytes:
    """Encode pairs of choice and count.

    Raises:
        ProtocolError: a pair is impossible (see `check_pairs`).
    """
    flat = [n for pair in pairs for n in pair]
    try:
        data = struct.pack(f"<{len(flat)}H", *flat)
    except struct.error as e:
        raise ProtocolError("no pairs of choice and count", found=str(flat[:20])) from e
    check_pairs(data, "a prefix")
    return data


def unpack(data: bytes) -> list[tuple[int, int]]:
    """Decode pairs of choice and count: the inverse of `pack`."""
    flat = struct.unpack(f"<{len(data) // 2}H", data)
    return list(zip(flat[::2], flat[1::2], strict=True))


def check_pairs(data: bytes, what: str, last_is_free: bool = False) -> None:
    """Raise a ProtocolError unless each choice is below its count and each count is from 1 to MOST_CHOICES.

    With `last_is_free` the last pair is not checked, because it reports an illegal choice (status 2).
    """
    if len(data) % PAIR:
        raise ProtocolError(f"{what} is not a row of pairs", found=f"{len(data)} bytes", expected="a multiple of 4")
    flat = struct.unpack(f"<{len(data) // 2}H", data)
    choices, counts = flat[::2], flat[1::2]
    known = len(choices) - last_is_free
    if not last_is_free and all(map(operator.lt, choices, counts)) and max(counts, default=1) <= MOST_CHOICES:
        return
    for i in range(known):
        if not choices[i] < counts[i] <= MOST_CHOICES:
            raise ProtocolError(
                f"{what} contains an impossible choice",
                found=f"choice {choices[i]} of {counts[i]} at decision {i}",
                expected=f"a choice below its count, a count from 1 to {MOST_CHOICES}",
            )


def frame(kind: int, payload: bytes = b"") -> bytes:
    """Return a complete frame.

    Raises:
        ProtocolError: the payload is too large.
    """
    if len(payload) > MOST_PAYLOAD:
        raise ProtocolError("a frame is too large", found=f"{len(payload)} bytes", expected=f"at most {MOST_PAYLOAD}")
    return HEAD.pack(len(payload), kind) + payload


def json_frame(kind: Kind, value: Mapping[str, Any]) -> bytes:
    """Return a complete frame that carries a JSON object."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return frame(kind, text.encode("utf-8"))
    except ValueError as e:
        raise ProtocolError(f"{kind.name} contains something that JSON cannot express: {e}") from e


def encode_rollout(r: Rollout) -> bytes:
    """Return an order as a complete frame: RESTORE if it restores or keeps a state, otherwise ROLLOUT."""
    head = _ROLLOUT.pack(r.id, r.game_seed, r.rollout_seed, r.flags, ASK if r.asks else r.mode, r.policy)
    if r.restore or r.snapshot:
        return frame(Kind.RESTORE, RESTORE_HEAD.pack(r.restore, r.depth, r.snapshot) + head + r.prefix)
    return HEAD.pack(_ROLLOUT.size + len(r.prefix), Kind.ROLLOUT) + head + r.prefix


def decode_rollout(payload: bytes) -> Rollout:
    """Decode the payload of ROLLOUT.

    Raises:
        ProtocolError: it violates PROTOCOL.md.
    """
    if len(payload) < _ROLLOUT.size:
        raise ProtocolError("ROLLOUT is too short", found=f"{len(payload)} bytes", expected=f">= {_ROLLOUT.size}")
    id_, game_seed, rollout_seed, flags, mode, policy = _ROLLOUT.unpack_from(payload)
    if flags & ~PICTURES > ALL_METRICS or mode > ASK:
        raise ProtocolError(
            "ROLLOUT has unknown flags or an unknown mode",
            found=f"flags {flags}, mode {mode}",
            expected="flags from 0 to 2, or 4 more, and a mode from 0 to 3",
        )
    prefix = payload[_ROLLOUT.size :]
    check_pairs(prefix, "a prefix")
    return Rollout(id_, game_seed, rollout_seed, flags, mode, policy, prefix)


def encode_result(r: Result) -> bytes:
    """Return a result as a complete RESULT frame.

    Raises:
        ProtocolError: the frame is too large.
    """
    message = r.message.encode("utf-8", "replace")[:MOST_MESSAGE].decode("utf-8", "ignore").encode()
    return frame(
        Kind.RESULT,
        b"".join(
            (
                _RESULT.pack(r.id, r.status, r.score, r.decisions),
                r.trace,
                _SHAPE.pack(r.rows, r.columns),
                r.metrics,
                r.final,
                _TAIL.pack(r.hash, r.microseconds),
                message,
            )
        ),
    )


def decode_result(payload: bytes) -> Result:
    """Decode the payload of RESULT and check it as far as possible without the ROLLOUT that it answers.

    Raises:
        ProtocolError: it violates PROTOCOL.md, or a score or a metric is not finite.
    """
    size = len(payload)
    try:
        id_, status, score, n = _RESULT.unpack_from(payload)
        at = _RESULT.size + PAIR * n
        rows, columns = _SHAPE.unpack_from(payload, at)
        before = at + _SHAPE.size
        final = before + 4 * rows * columns
        end = final + 4 * columns
        hash_, microseconds = _TAIL.unpack_from(payload, end)
    except struct.error as e:
        raise ProtocolError("RESULT is too short", found=f"{size} bytes") from e
    if status > EXCEPTION:
        raise ProtocolError("RESULT has an unknown status", found=str(status), expected="0 to 3")
    if not math.isfinite(score):
        raise ProtocolError("a score is not a number", found=str(score), expected="a finite number")
    if rows not in (0, n):
        raise ProtocolError("RESULT has a wrong number of rows", found=str(rows), expected=f"0 or {n}")
    tail = end + _TAIL.size
    if size - tail > MOST_MESSAGE:
        raise ProtocolError("RESULT's message is too long", found=f"{size - tail} bytes", expected=f"{MOST_MESSAGE}")
    message = ""
    if size > tail:
        try:
            message = payload[tail:].decode("utf-8")
        except UnicodeDecodeError as e:
            raise ProtocolError("RESULT's message is not UTF-8", found=repr(payload[tail : tail + 40])) from e
    if columns and not math.isfinite(sum(struct.unpack_from(f"<{(rows + 1) * columns}f", payload, before))):
        raise ProtocolError("RESULT contains a metric that is not a number", expected="finite numbers")
    trace = payload[_RESULT.size : at]
    check_pairs(trace, "a trace", last_is_free=status == ILLEGAL and n > 0)
    return Result(
        id_,
        status,
        score,
        trace,
        rows,
        columns,
        payload[before:final],
        payload[final:end],
        hash_,
        microseconds,
        message,
    )


def decode_json(kind: int, payload: bytes) -> dict[str, Any]:
    """Decode a payload that is a JSON object.

    Raises:
        ProtocolError: it is not one.
    """
    name = Kind(kind).name
    try:
        value = json.loads(payload.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as e:
        raise ProtocolError(f"{name} is not JSON: {json_fault(e)}", found=repr(payload[:40])) from e
    if not isinstance(value, dict):
        raise ProtocolError(f"{name} is not a JSON object", found=repr(payload[:40]))
    return value


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def is_whole(value: Any, low: int, high: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def hash_of(trace: bytes, final: bytes) -> int:
    """Return the state hash for a game that reports none: 64-bit FNV-1a over trace and final metrics."""
    h = 0xCBF29CE484222325
    for byte in trace + final:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h
