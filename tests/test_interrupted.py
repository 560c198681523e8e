"""After Ctrl-C, results say that they are not complete: as text, in a notebook and on a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import persona_evo as pe
from persona_evo.api.experiments import kept_experiment

ROOM = "XXXXXXXX\nXH T  eX\nX XX XXX\nX   M TX\nXXXXXXXX\n"


@pytest.fixture
def rooms(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "room.txt", tmp_path / "other.txt"]
    for path, text in zip(paths, (ROOM, ROOM.replace("M", " ")), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def ctrl_c(after: int) -> Callable[..., None]:
    """Return a function that Ctrl-C interrupts in this call, counted from 1, and in no other."""
    calls = iter(range(1, after + 1))

    def call(*_: object) -> None:
        if next(calls, 0) == after:
            raise KeyboardInterrupt

    return call


def shown(results: Any) -> list[str]:
    return [str(results), repr(results), results._repr_html_()]


def test_a_playtest(rooms: list[Path], tmp_path: Path) -> None:
    results = pe.playtest_levels(rooms, "runner", trials=9, iterations=20, seed=1, jobs=1, progress=ctrl_c(1))
    part = f"interrupted: {len(results.records)} of 18 playthroughs"
    assert 0 < len(results.records) < 18 and not results.complete
    page = results.write(tmp_path / "page", pictures=False).read_text(encoding="utf-8")
    assert all(part in text for text in [*shown(results), page])
    whole = pe.playtest_levels(rooms, "runner", trials=1, iterations=20, seed=1, jobs=1)
    assert not any("interrupted" in text for text in shown(whole))


def test_a_comparison(rooms: list[Path], tmp_path: Path) -> None:
    comparison = pe.compare(*rooms, "runner", trials=9, iterations=20, seed=1, jobs=1, progress=ctrl_c(1))
    part = f"interrupted: {len(comparison.results.records)} of 18 playthroughs"
    page = comparison.write(tmp_path / "page").read_text(encoding="utf-8")
    assert all(part in text for text in [*shown(comparison), page])
    assert all("nothing is compared" in text for text in shown(comparison))


def test_a_match(tmp_path: Path) -> None:
    agents = ["random", "other=random"]
    match = pe.play_match("colosseum", agents, games=6, sizes=[5], seed=1, jobs=1, progress=ctrl_c(2))
    part = f"interrupted: {len(match.records)} of {match.match.total} games"
    page = match.write(tmp_path / "page", pictures=False).page.read_text(encoding="utf-8")
    assert all(part in text for text in [*shown(match), page])


def test_an_evolution(rooms: list[Path], tmp_path: Path) -> None:
    sizes: dict[str, Any] = {"population": 8, "islands": 2, "generations": 4, "iterations": 20, "final_trials": 1}
    outcome = pe.evolve_policy("runner", rooms[0], **sizes, out=tmp_path, seed=1, jobs=1, progress=ctrl_c(1))
    assert all("interrupted, 1 generation" in text for text in shown(outcome))


def test_a_search() -> None:
    whole = pe.run("its_alive", 2000, level="train01", seed=1)
    made = pe.run("its_alive", 2000, level="train01", seed=1, callback=ctrl_c(2))
    assert 0 < made.rollouts < whole.rollouts
    assert all(f"{made.rollouts} rollouts (interrupted by Ctrl-C)" in text for text in shown(made))
    assert not any("interrupted" in text for text in shown(whole))


def test_an_experiment(tmp_path: Path) -> None:
    file, folder = tmp_path / "experiment.toml", tmp_path / "kept"
    file.write_text('title = "Some"\ngame = "its_alive"\nlevel = "train01"\nseed = 1\nreplicates = 4\nrollouts = 100\n')
    with pytest.raises(KeyboardInterrupt, match=r"interrupted: \d of 4 searches; they are kept in .*kept"):
        pe.experiment(file, folder, progress=ctrl_c(2))
    results = kept_experiment(folder)
    assert f"of which {len(results.records)} are finished" in pe.api.experiments.write_experiment(
        results, folder
    ).page.read_text(encoding="utf-8")
