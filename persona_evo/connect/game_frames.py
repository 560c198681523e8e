"""Encodes and decodes the frames that only a game needs: RESTORE, POLICY, DECIDE, and results that fit into a frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from persona_evo.connect import protocol as p
from persona_evo.errors import ConnectError, InputError, ProtocolError
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.formula import Formula


def decode_restore(payload: bytes) -> p.Rollout:
    """Decode the payload of RESTORE.

    Raises:
        ProtocolError: it violates PROTOCOL.md.
    """
    order = p.decode_rollout(payload[p.RESTORE_HEAD.size :])
    restore, depth, snapshot = p.RESTORE_HEAD.unpack_from(payload)
    if depth * p.PAIR > len(order.prefix):
        raise ProtocolError(
            "RESTORE names a state beyond its prefix",
            found=f"depth {depth}",
            expected=f"at most {len(order.prefix) // p.PAIR}",
        )
    return order._replace(restore=restore, depth=depth, snapshot=snapshot)


def check_decision(count: int, weights: Sequence[float] | None) -> None:
    """Check the choices of a decision.

    Raises:
        ConnectError: the number of choices is out of range, or differs from the number of weights.
    """
    if not 1 <= count <= p.MOST_CHOICES or (weights is not None and len(weights) != count):
        raise ConnectError(
            "a decision's choices are out of range",
            found=counted(count, "choice") + ("" if weights is None else f", {len(weights)} weights"),
            expected=f"1 to {p.MOST_CHOICES}",
        )


def encode_decide(id_: int, depth: int, count: int, weights: Sequence[float] | None, metrics: Sequence[float]) -> bytes:
    """Return a DECIDE frame; numbers may be of any type that Python takes for one, such as a bool or NumPy's."""
    asked = {"id": json_id(id_), "depth": depth, "count": int(count), "metrics": [float(m) for m in metrics]}
    return p.json_frame(p.Kind.DECIDE, {**asked, "weights": None if weights is None else [float(w) for w in weights]})


def encode_answer(
    order: p.Rollout,
    status: int,
    score: float,
    trace: bytes,
    rows: bytes,
    final: bytes,
    state: int | None,
    microseconds: int,
    message: str,
) -> bytes:
    """Return the RESULT of an order, with the metrics that it asks for.

    A RESULT that would be too large becomes an exception without trace and rows.

    Args:
        trace, rows, final: as in `protocol.Result`, for metrics before every decision.
        state: the hash that the game reported; None if it reported none.
    """
    wanted = order.flags & ~p.PICTURES
    columns = len(final) // 4 if wanted else 0
    final = final if columns else b""
    whole = len(trace) // p.PAIR * 4 * columns  # a game that failed in a decision has a row, but no choice for it
    rows = rows[:whole] if wanted == p.ALL_METRICS else b""
    result = p.Result(
        order.id,
        status,
        score,
        trace,
        len(trace) // p.PAIR if rows else 0,
        columns,
        rows,
        final,
        p.hash_of(trace, final) if state is None else state,
        min(0xFFFFFFFF, microseconds),
        message,
    )
    return encode_fitting(result)


def encode_fitting(result: p.Result) -> bytes:
    """Return a RESULT frame; if it were too large, return an exception without trace and rows instead."""
    try:
        return p.encode_result(result)
    except ProtocolError as e:
        short = result._replace(status=p.EXCEPTION, score=0.0, trace=b"", rows=0, metrics=b"")
        return p.encode_result(short._replace(message=f"the result: {e.found}"))


def json_id(number: int) -> int | str:
    """Return the id for DECIDE or CHOICE, as text if it is too large for some JSON readers to keep exactly."""
    return number if number < 2**53 else str(number)


def read_id(value: object) -> int | None:
    """Return the number of such an id; None if it is not a 64-bit number."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 20:
        value = int(value)
    return value if p.is_whole(value, 0, 2**64 - 1) else None


def read_welcome(value: Mapping[str, Any], given: dict[str, Any]) -> tuple[dict[str, Any], str, str]:
    """Read settings, variant and map from WELCOME.

    Args:
        value: the JSON object.
        given: the settings from the environment, which apply where WELCOME has null.
    """
    said = value.get("settings")
    settings = said if isinstance(said, dict) else given
    chosen = {**settings, **{k: value[k] for k in ("variant", "map") if value.get(k) is not None}}
    return settings, str(chosen.get("variant") or ""), str(chosen.get("map") or "")


def read_policy(value: Mapping[str, Any], symbols: Collection[str]) -> tuple[int, Formula]:
    """Read the id and the formula of POLICY.

    Args:
        value: the JSON object.
        symbols: the game's metrics.

    Raises:
        ProtocolError: it contains no formula over these metrics.
    """
    from persona_evo.formula import Formula

    try:
        formula, number = Formula(tuple(value["code"])), int(value["id"])
    except (KeyError, TypeError, ValueError, OverflowError, InputError) as e:
        raise ProtocolError(f"POLICY holds no formula: {e}") from e
    unknown = sorted(formula.symbols - set(symbols))
    if unknown:
        raise ProtocolError("POLICY reads no metrics of this game", found=", ".join(unknown))
    return number, formula
