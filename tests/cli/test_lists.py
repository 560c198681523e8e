"""Tests commands around the planner: players without a policy, search options, and lists of personas and policies."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from persona_evo.api import search_rules
from persona_evo.cli import options
from persona_evo.errors import SettingsError
from persona_evo.search import settings
from tests.cli.tool import run

PLAY = ("--trials", 2, "--iterations", 60, "--jobs", 1, "--seed", 5, "--bound-seconds", 0, "--no-pictures")
PLAIN = 'game = "minidungeons2"\npriority = "TO"\nutility = "TO + 0.1 * PE - DEAD"\n'
LISTS = '\n[[lists]]\nscore = "UTILITY - 0.001 * D"\nweight = 2\nnovel = true\n\n[[lists]]\nscore = "CARE + OWN"\n'
LISTED = {
    "schema": 1,
    "name": "mine",
    "game": "minidungeons2",
    "kind": "lists",
    "formula": "TO - 0.01 * ST",
    "lists": [{"score": "OWN", "novel": True}, {"score": "UTILITY - ST", "weight": 0.5}],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a current folder with a persona, one that brings lists, and a policy of lists."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.toml").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "lister.toml").write_text(PLAIN + LISTS, encoding="utf-8")
    (tmp_path / "mine.json").write_text(json.dumps(LISTED), encoding="utf-8")
    return tmp_path


def config(folder: Path) -> Any:
    return json.loads((folder / "playtest.json").read_text(encoding="utf-8"))


def test_the_command_line_has_the_numbers_of_the_searches() -> None:
    assert options.PRESETS == settings.PRESETS and options.TOLERANCE == search_rules.TOLERANCE == 0.01


def test_a_persona_without_a_policy_plays_by_its_utility(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "playtest", "train01", "--personas", "plain.toml,lister.toml", *PLAY, "--out", "p")
    assert ran.code == 0, ran.err
    assert "plain plays by its utility: no policy has been evolved for it yet (persona-evo evolve" in ran.err
    found = config(here / "p")
    plain, lister = found["players"]
    assert plain["policy"] == "utility" and plain["formula"] == plain["utility"] and "lists" not in plain
    assert [one["score"] for one in lister["lists"]] == ["UTILITY - 0.001 * D", "CARE + OWN"]
    assert (found["search"]["preset"], found["search"]["tolerance"], found["search"]["hedge"]) == ("anytime", 0.01, 0)
    assert run(capsys, "playtest", "--resume", "p", "--bound-seconds", 0, "--no-pictures").code == 0


def test_the_papers_search_keeps_ucb1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "playtest", "train01", "--personas", "plain.toml", "--search", "paper", *PLAY, "--out", "p")
    assert ran.code == 0 and "plain plays by UCB1: no policy has been evolved for it yet" in ran.err
    found = config(here / "p")
    assert found["players"][0]["formula"] is None
    assert (found["search"]["preset"], found["search"]["tolerance"]) == ("paper", 0)


def test_an_agent_keeps_ucb1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "mover.toml").write_text('[mover]\nkind = "search"\nutility = "TO"\niterations = 3\n', encoding="utf-8")
    ran = run(
        capsys,
        "playtest",
        "train01",
        "--personas",
        "plain.toml",
        "--agent",
        "mover.toml#mover",
        "--trials",
        1,
        "--jobs",
        1,
        "--seed",
        5,
        "--bound-seconds",
        0,
        "--no-pictures",
        "--iterations",
        2,
    )
    assert ran.code == 0 and "plain plays by UCB1" in ran.err


def test_options_of_the_planner(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--personas", "plain.toml", "--policy", "utility", "--hedge", 0.25, "--tolerance", 0.05)
    ran = run(capsys, "playtest", "train01", *words, *PLAY, "--out", "p")
    assert ran.code == 0 and "plays by" not in ran.err
    found = config(here / "p")["search"]
    assert (found["hedge"], found["tolerance"], len(found["lists"])) == (0.25, 0.05, 6)
    ran = run(capsys, "compare", "train01", "train02", "--personas", "plain.toml", *PLAY[:8], "--out", "c")
    assert ran.code == 0 and config(here / "c")["search"]["tolerance"] == 0.01
    ran = run(capsys, "playtest", "train01", "--personas", "plain.toml", "--search", "single", *PLAY, "--out", "s")
    assert ran.code == 0 and config(here / "s")["search"]["lists"] == []


def test_lists_of_a_policy_go_before_those_of_a_persona(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(
        capsys,
        "playtest",
        "train01",
        "--personas",
        "lister.toml",
        "--policy",
        "mine.json",
        "--baseline",
        *PLAY,
        "--out",
        "p",
    )
    assert ran.code == 0, ran.err
    own, baseline = config(here / "p")["players"]
    assert [one["score"] for one in own["lists"]] == ["OWN", "UTILITY - ST"] and own["formula"] == "TO - 0.01 * ST"
    assert "lists" not in baseline


def test_a_persona_shows_its_lists(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "persona", "check", "lister.toml")
    assert ran.code == 0
    assert "list 1    UTILITY - 0.001 * D (weight 2, novel states first)" in ran.out
    assert "list 2    CARE + OWN\n" in ran.out and re.search("CARE +what keeps the player", ran.out)
    assert "list 1" not in run(capsys, "persona", "check", "plain.toml").out
    assert run(capsys, "persona", "new", "fresh").code == 0
    assert "# [[lists]]" in (here / "fresh.toml").read_text(encoding="utf-8")


def test_a_policy_of_lists_is_shown_installed_and_exported_as_json(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "policy", "show", "mine.json")
    assert shown.code == 0 and "own score       TO - 0.01 * ST" in shown.out
    assert "list 1          OWN (novel states first)" in shown.out
    assert "list 2          UTILITY - ST (weight 0.5)" in shown.out
    refused = run(capsys, "policy", "export", "mine.json", "--to", "python")
    assert refused.code == 2 and "mine.json: open lists are not a single formula" in refused.err
    assert "--to json" in refused.err
    exported = run(capsys, "policy", "export", "mine.json", "--to", "json")
    assert exported.code == 0 and json.loads(exported.out)["lists"][0] == {"score": "OWN", "weight": 1.0, "novel": True}
    assert run(capsys, "policy", "install", "mine.json").code == 0
    assert "lists OWN (novel states first); UTILITY" in run(capsys, "policy", "list").out


@pytest.mark.usefixtures("unsimplified")
def test_evolving_for_the_planner(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(
        capsys,
        "evolve",
        "--persona",
        "lister.toml",
        "--levels",
        "train01",
        "--generations",
        1,
        "--population",
        8,
        "--islands",
        2,
        "--iterations",
        20,
        "--jobs",
        1,
        "--seed",
        3,
        "--search",
        "anytime",
        "--set",
        "final_trials=1",
    )
    assert ran.code == 0, ran.err
    (folder,) = (here / "runs").iterdir()
    found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert found["search"]["preset"] == "anytime" and found["search"]["tolerance"] == 0 and len(found["lists"]) == 2


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ((), {"method": "auto", "iterations": 2_000_000, "seconds": None, "seed": 0}),
        (("--iterations", 500, "--seconds", 2, "--seed", 4), {"iterations": 500, "seconds": 2.0, "seed": 4}),
        (("--method", "bfs", "--states", 70), {"method": "bfs", "states": 70}),
        (("--method", "dfs"), {"method": "dfs"}),
    ],
)
def test_what_solve_asks_the_solver(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[object, ...],
    given: dict[str, object],
) -> None:
    asked: dict[str, Any] = {}

    def solve(*_: object, **options: object) -> None:
        asked.update(options)
        raise SettingsError("asked enough")

    monkeypatch.setattr("persona_evo.api.playtests.solve_level", solve)
    monkeypatch.setattr("persona_evo.playtest.bounds.warm_up", lambda *_: None)
    ran = run(capsys, "solve", "train01", "--persona", "lister.toml", *words)
    assert ran.code == 2 and "asked enough" in ran.err
    assert {k: asked[k] for k in given} == given and len(asked["lists"]) == 2
    assert asked["states"] == given.get("states")
