"""Checks whether a RESULT answers the ROLLOUT that it was sent for."""

from __future__ import annotations

from persona_evo.connect import protocol as p
from persona_evo.errors import GameError, ProtocolError


def check_result(order: p.Rollout, result: p.Result, hello: p.Hello) -> None:
    """Raise an error if a result does not answer this order.

    Raises:
        ProtocolError: its metrics, its rows or its prefix are not the ones that were ordered.
    """
    columns = len(hello.metrics) if order.flags & ~p.PICTURES else 0
    whole = result.status in (p.OK, p.TRUNCATED)
    has_rows = whole or (order.is_guess and result.status == p.ILLEGAL)
    if result.columns != columns:
        raise ProtocolError("RESULT has a wrong number of metrics", found=f"{result.columns}", expected=f"{columns}")
    if has_rows and columns and (result.rows == 0) != (order.flags & ~p.PICTURES != p.ALL_METRICS or not result.trace):
        raise ProtocolError(
            "RESULT has rows that were not requested, or lacks rows that were", found=f"{result.rows} rows"
        )
    if whole and not result.trace.startswith(order.choices):
        raise ProtocolError(
            "RESULT's trace does not begin with the prefix",
            found=str(p.unpack(result.trace))[:200],
            expected=str(p.unpack(order.choices))[:200],
        )


def not_deterministic(order: p.Rollout, result: p.Result, hello: p.Hello, game: str) -> GameError:
    """Return the error for a game that rejects a prefix which it has offered before.

    Args:
        order: the order.
        result: the answer, with status ILLEGAL.
        hello: what the game reported about itself.
        game: the game's path, for a result that does not say where the prefix became illegal.
    """
    asked, got = p.unpack(order.prefix), p.unpack(result.trace)
    depth = len(got) - 1
    if not 0 <= depth < len(asked):
        return GameError(f"{game}: RESULT says that the prefix is illegal, but not where")
    offered = f"{got[depth][1]} choices" if got[depth][1] else "no more choices, because the game was over"
    choices = " ".join(str(choice) for choice, _ in asked[:depth])
    reached = f"after the choices {choices}" if choices else "before any choice"
    return GameError(
        f"{hello.game[0]} is not deterministic: at decision {depth} it offered {asked[depth][1]} choices once and "
        f"{offered} now, {reached} with game seed {order.game_seed}\n"
        "  hint: all randomness must come from the game seed, and each game must start from fresh state"
    )
