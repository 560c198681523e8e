"""Tests `evolve --skill NAME`: policies for players who search again for each move."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import persona_evo as pe
from persona_evo.agents.skill import FULL_SIGHT, LADDER
from persona_evo.errors import SettingsError
from persona_evo.evolve.setting import SLOW, SkilledPlay, with_usual
from persona_evo.games import registry
from persona_evo.search.settings import Budget
from tests.cli.tool import run

LEVEL = """\
XXXXXXXX
XH     X
X XXXX X
X P e  X
XXXXXXXX
"""
SMALL = ("--persona", "runner", "--generations", 1, "--population", 4, "--islands", 1, "--jobs", 1, "--seed", 3)
TINY = {"final_trials": 1, "final_candidates": 1, "depth_min": 1, "size_limit": 3}
FEW = (
    *(word for name, value in TINY.items() for word in ("--set", f"{name}={value}")),
    "--seed-policies",
    "formula:PE",
)


@pytest.fixture
def level(tmp_path: Path) -> Path:
    """Return a small level in a file."""
    path = tmp_path / "small.txt"
    path.write_text(LEVEL)
    return path


def config_of(folder: Path) -> dict[str, object]:
    """Return the configuration of the only run in a folder."""
    (one,) = folder.iterdir()
    found: dict[str, object] = json.loads((one / "config.json").read_text())
    return found


def test_a_policy_is_evolved_for_a_skill(level: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a"
    made = run(capsys, "evolve", *SMALL, *FEW, "--levels", level, "--skill", "novice", "--out", out)
    assert made.code == 0, made.err
    played = "skill novice: 5 iterations for each legal move, 2 moves ahead, 70 % errors at temperature 1"
    assert f"{played}, seed 3" in made.err and "--skill novice" in made.out and "--baseline" not in made.out
    config = config_of(out)
    assert config["skill"] == {**dataclasses.asdict(LADDER["novice"]), "per_legal_move": True}
    (folder,) = out.iterdir()
    policy = json.loads((folder / "policy.json").read_text())
    assert policy["skill"] == config["skill"]
    shown = run(capsys, "policy", "show", folder)
    assert f"evolved for {played}" in " ".join(shown.out.split()) and "\nsearch " not in shown.out
    assert played in (folder / "index.html").read_text()
    again = run(capsys, "evolve", "--resume", folder, "--generations", 2, "--jobs", 1)
    assert again.code == 0 and played in again.err and config_of(out)["skill"] == config["skill"]
    whole = pe.evolve_policy(
        "runner",
        level,
        skill="novice",
        seed=3,
        generations=2,
        population=4,
        islands=1,
        jobs=1,
        **TINY,
        seed_policies=["formula:PE"],
        out=tmp_path / "b",
    )
    assert whole.policy is not None
    ours, theirs = (json.loads(p.read_text()) for p in (folder / "policy.json", whole.policy))
    assert (ours["formula"], ours["fitness"], ours["skill"]) == (theirs["formula"], theirs["fitness"], theirs["skill"])


def test_iterations_are_those_of_a_move(level: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("evolve", *SMALL, *FEW, "--levels", level, "--skill", "full-sight", "--iterations", 7)
    made = run(capsys, *given, "--out", tmp_path / "a")
    assert made.code == 0 and "skill full-sight: 7 iterations a move, the whole game ahead, no errors" in made.err
    config = config_of(tmp_path / "a")
    assert config["skill"] == dataclasses.asdict(FULL_SIGHT) and config["budget"]["iterations"] == 7  # type: ignore[index]


def test_drawn_levels_have_the_settings_of_slow_playthroughs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    levels = [tmp_path / f"{name}.txt" for name in "abcd"]
    for path in levels:
        path.write_text(LEVEL)
    drawn = ("--levels", *levels, "--set", "levels_a_generation=1", "--set", "tuning=0", "--skill", "novice")
    made = run(capsys, "evolve", *SMALL[:6], *SMALL[8:], *drawn, *FEW, "--out", tmp_path / "a")
    assert made.code == 0, made.err
    evolution = config_of(tmp_path / "a")["evolution"]
    chosen = {**SLOW, "population": 4, "tuning": 0, "levels_a_generation": 1}
    assert {name: evolution[name] for name in SLOW} == chosen  # type: ignore[index]


def test_slow_playthroughs_have_settings_of_their_own() -> None:
    skilled, game = SkilledPlay.of("full-sight", registry.get("minidungeons2")), registry.get("minidungeons2")
    assert with_usual({}, skilled, game, "modern", generated=True) == dict(SLOW)
    assert with_usual({"islands": 2}, skilled, game, "modern", generated=True).get("migrants") is None
    assert with_usual({}, skilled, game, "modern", generated=False) == {}
    assert with_usual({}, None, game, "modern", generated=True) == {}


def test_a_plan_with_one_list_trains_with_a_third_of_a_large_budget():
    game = registry.get("minidungeons2")
    assert with_usual({}, None, game, "modern", True, Budget(iterations=3_000)) == {"budgets": (1 / 3,)}
    assert with_usual({"budgets": (1.0,)}, None, game, "modern", True, Budget(iterations=3_000)) == {"budgets": (1.0,)}
    assert with_usual({}, None, game, "modern", True, Budget(iterations=1_000)) == {}
    assert with_usual({}, None, game, "modern", False, Budget(iterations=3_000)) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--skill", "casul"), "casual"),
        (("--skill", "perfect"), "--search anytime"),
        (("--skill", "casual", "--search", "single"), "--search cannot be combined with a skill"),
        (("--skill", "casual", "--seconds", 1), "--seconds cannot be combined with a skill"),
        (("--skill", "casual", "--agent", "x"), "--agent cannot be combined with a skill"),
        (("--skill", "casual", "--set", "variables=planner"), "without an agent or a skill"),
        (("--skill", "casual", "--set", "individual=lists"), "skill 'casual'"),
        (("--skill", "casual", "--game", "colosseum", "--persona", "duelist"), "--skill is for single-player games"),
    ],
)
def test_what_does_not_go_with_a_skill_is_refused(
    given: tuple[object, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = run(capsys, "evolve", *SMALL, *given, "--out", tmp_path)
    assert refused.code == 2 and said in refused.err and not list(tmp_path.iterdir())


def test_a_resumed_run_has_its_skill_from_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = run(capsys, "evolve", "--resume", tmp_path, "--skill", "casual")
    assert refused.code == 2 and "--skill cannot be combined with --resume" in refused.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sight": "far"}, "sight of a skill is out of range"),
        ({"errors": 2}, "errors of a skill"),
        ({"wit": 1}, "damaged"),
    ],
)
def test_a_damaged_skill_is_told(
    change: dict[str, object], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skill = {**dataclasses.asdict(LADDER["casual"]), **change}
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"schema": 1, "name": "x", "game": "none", "kind": "ucb1", "skill": skill}))
    refused = run(capsys, "policy", "show", path)
    assert refused.code == 2 and said in refused.err, refused.err


def test_a_skill_has_no_other_search_in_python(level: Path) -> None:
    with pytest.raises(SettingsError, match="search cannot be combined with a skill"):
        pe.evolve_policy("runner", level, skill="casual", search="anytime")
