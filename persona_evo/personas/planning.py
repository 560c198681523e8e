"""How a persona plans: in which games a planner takes whole levels, and whose open lists it follows there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from persona_evo.personas.lists import OpenList
from persona_evo.search.tree_policy import STATIC, TreePolicy

if TYPE_CHECKING:
    from persona_evo.games.core import Game


def planned(game: Game) -> bool:
    """Whether levels of a game are planned whole, with open lists: for one, without chance, played in this program."""
    return game.players == 1 and game.deterministic and game.outside is None


def with_lists(policy: TreePolicy, lists: Sequence[OpenList]) -> TreePolicy:
    """What a persona's policy is searched with: its own lists go before the persona's.

    Args:
        policy: as it was named, evolved or read.
        lists: those of the persona, none for the planner's defaults.

    Returns:
        The policy with the persona's lists where its score never changes and it has none of its own; else as it is.
    """
    if not lists or policy.lists or policy.holds != STATIC:
        return policy
    return replace(policy, lists=tuple(lists))


def in_words(policy: TreePolicy) -> str:
    """A tree policy as people read it, with the lists that it is searched with."""
    if not policy.lists:
        return policy.text
    lists = "open lists " + "; ".join(one.text for one in policy.lists)
    return lists if policy.formula is None else f"{policy.text}; {lists}"
