"""The cache of compiled code: damaged files and folders that cannot be written stop nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from persona_evo import compiling


def double(x: float) -> float:
    return 2.0 * x


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if compiling.INTERPRET:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    return tmp_path


def hits(function: Any) -> int:
    assert function(3.0) == 6.0
    return sum(function.stats.cache_hits.values())


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 40])
def test_a_damaged_file_is_made_anew(folder: Path, suffix: str, left: int) -> None:
    assert hits(compiling.jit(double)) == 0
    assert hits(compiling.jit(double)) == 1
    (kept,) = folder.rglob(f"*.{suffix}")
    kept.write_bytes(kept.read_bytes()[:left])
    assert hits(compiling.jit(double)) == 0
    assert hits(compiling.jit(double)) == 1


def test_a_warm_cache_that_cannot_be_written_is_used_and_a_cold_one_does_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numba.core import caching

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    compiling.jit(double)(3.0)
    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)
    assert hits(compiling.jit(double)) == 1
    for file in folder.rglob("*.nb?"):
        file.unlink()
    assert hits(compiling.jit(double)) == 0
    assert not list(folder.rglob("*.nb?"))
