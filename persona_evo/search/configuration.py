"""Compares the stored configurations of searches: what of them decides the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persona_evo.errors import InputError
from persona_evo.games.trust import CODE
from persona_evo.search.settings import SearchSettings


def comparable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a configuration that decides the results, with all fields that a search has today.

    The places from which levels were read and the digest of the game's file are left out. Moved level files and
    accepted code therefore change nothing, and folders of older versions can be resumed.
    """
    values, levels = with_all_search_fields(values), values.get("levels")
    values.pop(CODE, None)
    if not isinstance(levels, list):
        return dict(values)
    texts = [{k: v for k, v in text.items() if k != "source"} if isinstance(text, dict) else text for text in levels]
    return {**values, "levels": texts}


def with_all_search_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration whose `search` has the fields that older versions lack."""
    search = values.get("search")
    if not isinstance(search, dict):
        return dict(values)
    try:
        return {**values, "search": SearchSettings.from_dict(search).to_dict()}
    except (InputError, TypeError):  # it is damaged and therefore differs from any other
        return dict(values)
