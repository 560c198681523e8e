"""A package is installed for one test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from persona_evo import extensions
from tests.extensions import packages

Install = Callable[[str, str, Mapping[str, Mapping[str, str]]], dict[str, str]]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package (see `packages.install`) in this process and in the environment that it returns."""
    modules: list[str] = []

    def installed(module: str, source: str, points: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
        modules.append(module)
        monkeypatch.syspath_prepend(str(tmp_path))
        extensions._installed.cache_clear()
        return packages.install(tmp_path, module, source, points)

    yield installed
    extensions._installed.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)
