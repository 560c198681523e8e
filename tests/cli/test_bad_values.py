"""Tests that senseless values of options give one message and exit code 2 before anything is created."""

from __future__ import annotations

from pathlib import Path

import pytest

from persona_evo.errors import SettingsError
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.jobs.workers import Workers
from tests.cli.tool import run

EVOLVE = ("evolve", "--persona", "runner", "--levels", "train01", "--generations", "1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set=--",), "an option without a value"),
        (("--levels=--",), "an option without a value"),
        (("--seed=--",), "an option without a value"),
        (("--set", "mutations=all"), "'mutations' is out of range"),
        (("--set", "preset=paper"), "preset is not a setting"),
        (("--set", "constant_low=1e400"), "within +-1e300"),
        (("--set", "elites=1_0"), "expected a number"),
        (("--set", "trials=1", "--set", "trials=2"), "given twice"),
        (("--population", "4", "--set", "population=5"), "found: --population 4 and --set population=5"),
        (("--set", "trials=99999999999999999999"), "from 1 to 100000"),
        (("--set", "rounds=99999999999"), "to 10000"),
        (("--set", "depth_min=99999999999"), "to 100"),
        (("--set", "final_trials=99999999"), "to 100000"),
        (("--seed", "１"), "expected a whole number"),
        (("--seconds", "1_0"), "expected a number"),
        (("--option", "rules=3"), "expected: a name"),
        (("--option", "rules=true"), "expected: a name"),
        (("--option", "text=1"), "come from its file"),
        (("--option", "name=x"), "come from its file"),
        (("--option", "source=y"), "come from its file"),
        (("--option", "allow_unreachable=x"), "true or false"),
        (("--option", "wizards=x"), "whole number"),
        (("--backend", "dask", "--address", "nonsense"), "this is not the address of a scheduler"),
        (("--address", "127.0.0.1:1"), "an address is only for a cluster"),
    ],
)
def test_values_that_make_no_sense(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    ran = run(capsys, *EVOLVE, "--out", tmp_path / "runs", *words)
    assert ran.code == 2 and message in ran.err and not (tmp_path / "runs").exists()


def test_the_least_time_there_is_is_some(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, unsimplified: None
) -> None:
    ran = run(
        capsys,
        *EVOLVE,
        "--out",
        tmp_path / "runs",
        "--seconds",
        "1e-320",
        "--population",
        10,
        "--jobs",
        1,
        "--set",
        "final_trials=1",
    )
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("command", [("playtest", "train01"), ("compare", "train01", "train02")])
def test_clusters_are_checked_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: tuple[str, ...]
) -> None:
    ran = run(capsys, *command, "--out", tmp_path / "out", "--address", "nonsense")
    assert ran.code == 2 and "address" in ran.err and not (tmp_path / "out").exists()


def test_a_requirement_on_limits_that_are_not_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "playtest", "train01", "--require", "bound_ratio > 0.5", "--bound-seconds", "0")
    assert ran.code == 2 and "bound_ratio needs the limits" in ran.err


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("persona_evo.jobs.workers.CONNECT_SECONDS", 1)
    with pytest.raises(SettingsError, match="no dask cluster answers"), Workers(1, "dask", "127.0.0.1:1"):
        pass


def test_settings_from_a_damaged_file() -> None:
    for name, value in (("metrics", 3), ("first", "ucb1"), ("mutations", 3), ("growth", []), ("trials", 10**5000)):
        with pytest.raises(SettingsError):
            EvolutionSettings.from_dict({name: value})
