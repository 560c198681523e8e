"""Configurations that search levels of a game, and what of them decides the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persona_evo.errors import InputError
from persona_evo.games.trust import CODE
from persona_evo.search.settings import SearchSettings


def comparable(values: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without the places its levels were read from and without the digest of its game's file, and with
    all fields that a search has by now.

    So moved level files and accepted code change nothing, and folders of older versions can be resumed.
    """
    values, levels = with_all_search_fields(values), values.get("levels")
    values.pop(CODE, None)
    if not isinstance(levels, list):
        return dict(values)
    texts = [{k: v for k, v in text.items() if k != "source"} if isinstance(text, dict) else text for text in levels]
    return {**values, "levels": texts}


def with_all_search_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration whose `search` has the fields that older versions lack."""
    search = values.get("search")
    if not isinstance(search, dict):
        return dict(values)
    try:
        return {**values, "search": SearchSettings.from_dict(search).to_dict()}
    except (InputError, TypeError):  # it is damaged, and so differs from any other
        return dict(values)
