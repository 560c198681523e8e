"""What can be said of a match before anything is read."""

from __future__ import annotations

from persona_evo.errors import SettingsError


def even(games: int, swap: bool) -> None:
    """See that with both sides of each board the number of games of a pair is even.

    Raises:
        SettingsError: it is not.
    """
    if swap and games % 2:
        raise SettingsError(
            "with both sides of each board the number of games is even",
            found=str(games),
            expected=str(games + 1),
            hint="--games with an even number, or no --swap",
        )
