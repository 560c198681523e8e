"""Cases of play move by move and of the searches beside the one with a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.search.golden import Cases

GROUPS: Mapping[str, Callable[[], Cases]] = {}
