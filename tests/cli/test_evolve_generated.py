"""Tests `evolve --levels generate:N`: pools from the run's seed, kept in its folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import persona_evo as pe
from persona_evo.evolve import pools
from tests.cli.tool import run

SMALL = (
    "--persona",
    "runner",
    "--generations",
    1,
    "--population",
    10,
    "--islands",
    1,
    "--iterations",
    60,
    "--jobs",
    1,
    "--set",
    "final_trials=1",
    "--set",
    "final_candidates=1",
)


def config_of(folder: Path) -> dict[str, object]:
    """Return the configuration of the only run in a folder."""
    (one,) = folder.iterdir()
    found: dict[str, object] = json.loads((one / "config.json").read_text())
    return found


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the validation set to four levels, which are quickly made."""
    usual = pools.counts
    assert usual(3)["validation"] == 30
    monkeypatch.setattr(pools, "counts", lambda train, held_out: usual(train, held_out, 4))


def test_levels_are_drawn_from_the_seed_and_kept(few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("evolve", *SMALL, "--levels", "generate:3", "--held-out", 2, "--seed", 6)
    made = run(capsys, *given, "--out", tmp_path / "a")
    assert made.code == 0, made.err
    assert "generating levels (train): 3 of 3" in made.err and "generate:" not in made.out
    assert "runner on 3 levels, 3 drawn for each generation" in made.err and "in validation" in made.err
    headline = r"^training fitness \S+, validation \S+, held-out utility \S+ \(\S+ of the best known\)$"
    assert re.search(headline, made.out, re.M)
    assert "1 trial per level of the validation set on new seeds" in made.out
    assert "on 2 generated levels (not trained on)" in made.out and made.out.count("validation-") == 4
    config = config_of(tmp_path / "a")
    assert len(config["best"]) == 3 and len(config["held_out_best"]) == 2  # type: ignore[arg-type]
    assert len(config["validation"]["levels"]) == 4  # type: ignore[index]
    texts = [level["text"] for level in config["levels"]]  # type: ignore[attr-defined]
    assert texts == [level.text for level in pe.generate_levels(3, 6, jobs=1)]
    held = [level["text"] for level in config["held_out"]]  # type: ignore[attr-defined]
    assert held == [level.text for level in pe.generate_levels(2, 6, stream="held out", jobs=1)]
    resume = next(iter((tmp_path / "a").iterdir()))
    again = run(capsys, "evolve", "--resume", resume, "--generations", 2, "--jobs", 1)
    assert again.code == 0 and "generating" not in again.err and config_of(tmp_path / "a")["levels"] == config["levels"]
    outcome = pe.evolve_policy(
        "runner",
        "generate:3",
        seed=6,
        held_out=2,
        generations=1,
        population=10,
        islands=1,
        iterations=60,
        jobs=1,
        final_trials=1,
        final_candidates=1,
        out=tmp_path / "b",
    )
    assert outcome.policy is not None and config_of(tmp_path / "b")["levels"] == config["levels"]


def test_generated_levels_can_all_be_played_in_each_generation(
    few: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run(
        capsys,
        "evolve",
        *SMALL,
        "--levels",
        "generate:3",
        "--held-out",
        2,
        "--seed",
        6,
        "--out",
        tmp_path,
        "--set",
        "levels_a_generation=0",
    )
    assert made.code == 0 and "drawn for each generation" not in made.err and "training fitness" not in made.out
    assert "generating levels (held out)" in made.err and "validation" not in made.err, "nobody would use it"
    config = config_of(tmp_path)
    assert "validation" not in config and "best" not in config
    assert config["evolution"]["race_from"] == 0  # type: ignore[index]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--levels", "generate:3", "train"], "cannot be mixed with others"),
        (["--levels", "generate:x"], "not a number of levels"),
        (["--levels", "train", "--held-out", "5"], "leave --held-out out"),
        (["--levels", "generate:3", "--game", "colosseum", "--persona", "duelist"], "no level generator"),
    ],
)
def test_what_cannot_be_generated_is_told(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = run(capsys, "evolve", *SMALL, *given, "--out", tmp_path)
    assert refused.code == 2 and re.search(said, refused.err) and not list(tmp_path.iterdir())


def test_other_commands_say_how_to_have_levels_generated(capsys: pytest.CaptureFixture[str]) -> None:
    refused = run(capsys, "playtest", "generate:20", "--personas", "runner")
    assert refused.code == 2 and "persona-evo level generate --count N" in refused.err
