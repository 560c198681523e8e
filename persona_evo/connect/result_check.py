"""Checks whether a RESULT answers the ROLLOUT that it was sent for."""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.connect import protocol as p
from persona_evo.connect.ordering import RolloutResult
from persona_evo.errors import GameError, ProtocolError
from persona_evo.search.tree import UNKNOWN
from persona_evo.words import counted


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
    return _changed(hello.game[0], asked[:depth], asked[depth][1], got[depth][1], order.game_seed)


def check_count(result: RolloutResult, depth: int, known: int, game: str, seed: int) -> None:
    """Check that a game offers as many choices at a decision as before.

    Args:
        result: a result.
        depth: the number of decisions before this one.
        known: the number of choices that the game offered there before; 0 if it was over, UNKNOWN if it is not known.
        game: the name of the game.
        seed: the game seed.

    Raises:
        GameError: the number of choices is another one.
    """
    now = 0 if result.decisions == depth else result.count(depth)
    if known not in (UNKNOWN, now):
        raise _changed(game, p.unpack(result.trace)[:depth], known, now, seed)


def _changed(game: str, before: Sequence[tuple[int, int]], known: int, now: int, seed: int) -> GameError:
    once, offered = (counted(n, "choice") if n else "no more choices, because the game was over" for n in (known, now))
    choices = " ".join(str(choice) for choice, _ in before)
    reached = f"after the choices {choices}" if choices else "before any choice"
    return GameError(
        f"{game} is not deterministic: at decision {len(before)} it offered {once} once and {offered} now, "
        f"{reached} with game seed {seed}\n"
        "  hint: all randomness must come from the game seed, and each game must start from fresh state"
    )
