"""Tests the output at the end of an evolution, and the use of its policy as a user types it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from persona_evo.cli.evolution_output import finish
from persona_evo.evolve.driving import DEADLINE
from persona_evo.evolve.outcome import Outcome
from persona_evo.games import registry
from tests.cli.test_commands import EVOLVE
from tests.cli.tool import run, typed


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_evolution_compares_its_winner_and_says_it_in_words(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, *EVOLVE, "--generations", 3, "--seed-policies", "formula:0 * TO")
    assert ran.code == 0, ran.err
    for phase in ("comparing the finalists", "comparing with others", "simplifying the formula"):
        assert f"{phase}" in ran.err
    (file,) = here.glob("runs/*/policy.json")
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["comparison"]["levels"] == ["test01", "test02", "test03", "test04", "test05", "test06"]
    rivals = [rival["name"] for rival in kept["comparison"]["rivals"]]
    assert (rivals[0], rivals[-1]) == ("UCB1", "the best of its first generation")
    assert "than the best of its first generation on test01" in ran.out
    assert "than UCB1 on test01, test02" in ran.out and "95 % intervals" in ran.out
    for line in kept["words"]:
        assert line.partition(": ")[2] in ran.out

    kept["simplified"], kept["unfinished"] = "", ["simplification"]
    kept["formula"] = f"0 * ST + ({kept['formula']})"
    file.write_text(json.dumps(kept), encoding="utf-8")
    done = run(capsys, "policy", "simplify", file.parent)
    assert done.code == 0, done.err
    after = json.loads(file.read_text(encoding="utf-8"))
    assert after["simplified"] and "unfinished" not in after and after["comparison"] == kept["comparison"]
    shown = run(capsys, "policy", "show", file.parent)
    assert shown.code == 0 and "in words" in shown.out and "than UCB1 on test01" in shown.out
    refused = run(capsys, "policy", "simplify", "monster_killer")
    assert refused.code == 2 and "in a file of its own" in refused.err


def test_open_lists_are_evolved_shown_played_and_simplified(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, *EVOLVE, "--search", "anytime")
    assert ran.code == 0, ran.err
    assert "sets of open lists, the planner's with other formulas" in ran.err and "sets/s" in ran.err
    assert "list 1 " in ran.out and "% of the turns" in ran.out and "than the default lists with the utility" in ran.out
    (file,) = here.glob("runs/*/policy.json")
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["kind"] == "lists" and kept["lists"] and kept["formula"] == ""
    shown = run(capsys, "policy", "show", file.parent)
    assert shown.code == 0 and kept["lists"][0]["score"] in shown.out
    assert kept["words"][0].partition(": ")[2] in shown.out
    played = run(
        capsys,
        "playtest",
        "train01",
        "--personas",
        kept["persona"],
        "--policy",
        file.parent,
        "--trials",
        1,
        "--iterations",
        60,
        "--jobs",
        1,
        "--seed",
        5,
        "--bound-seconds",
        0,
        "--no-pictures",
    )
    assert played.code == 0, played.err
    kept["lists"][0]["score"] = f"0 * ST + ({kept['lists'][0]['score']}) + 3"
    file.write_text(json.dumps({**kept, "words": []}), encoding="utf-8")
    done = run(capsys, "policy", "simplify", file)
    assert done.code == 0 and "1 score simplified" in done.out, done.err
    after = json.loads(file.read_text(encoding="utf-8"))
    assert len(after["words"]) == len(after["lists"]) and "+ 3" not in after["lists"][0]["score"]


def test_an_evolution_ends_within_its_time(here: Path) -> None:
    began = time.monotonic()
    ran = typed(here, "evolve", "--persona", "runner", "--levels", "train", "--for", "12s", "--seed", 1, "--jobs", 1)
    took = time.monotonic() - began
    assert took < 12 + 6, "a machine that is busy with other tests is slow to start and to end"
    if "too short" in ran.err:  # a machine so slow that there is no time for anything
        assert ran.code == 2 and "are enough for 10 generations" in ran.err and not list(here.glob("runs/*"))
        return
    assert ran.code == 0, ran.err
    assert "there is time for about" in ran.err and "everything is done by" in ran.err
    assert "as the time was up" in ran.out or "The time ran out in the first generation" in ran.out
    assert "seeks" in ran.out or "saves" in ran.out


def test_a_time_that_is_too_short_is_refused_before_anything_is_made(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = run(capsys, "evolve", "--persona", "runner", "--levels", "train01", "--for", "1s", "--until", "00:00")
    assert ran.code == 2 and "the time is too short for a single generation" in ran.err
    assert "--for is the earlier one" in ran.err or "--until is the earlier one" in ran.err
    assert not list(here.glob("runs/*"))


def test_a_first_generation_without_any_result_is_no_success(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = Outcome(here / "run", DEADLINE, 0, None, first_generation=130.0)
    assert finish(outcome, registry.get("minidungeons2")) == 1
    said = capsys.readouterr().err
    assert "there is no policy; the first generation alone takes about 2 min" in said
    assert f"resume with: persona-evo evolve --resume {here / 'run'} --for 11m" in said


def test_a_persona_with_a_name_of_another_script(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "persona", "new", "Schatzsucher_ä").code == 0
    checked = run(capsys, "persona", "check", "Schatzsucher_ä.toml")
    assert checked.code == 0 and "states of random games" in checked.out and "exchange rates" in checked.out
    assert "move 0" in checked.out and "made-up" not in checked.out
    assert "DT" in (here / "Schatzsucher_ä.toml").read_text(encoding="utf-8")
    played = run(
        capsys,
        "playtest",
        "train01",
        "--personas",
        "Schatzsucher_ä.toml",
        "--trials",
        1,
        "--iterations",
        50,
        "--jobs",
        1,
        "--seed",
        1,
        "--out",
        "p",
    )
    assert played.code == 0, played.err


def test_mistakes_of_a_persona_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'game = "minidungeons2"\npriority = "TO"\nutility = "{}"\n'
    (here / "paid.toml").write_text(text.format("TO + 100 * ST - 5 * DEAD"), encoding="utf-8")
    paid = run(capsys, "persona", "check", "paid.toml")
    assert "rises with ST (steps taken), although lower is better: 100 * ST" in paid.err
    (here / "both.toml").write_text(text.format("if(TO > 0.5 and PE > 0.5, 1, 0)"), encoding="utf-8")
    both = run(capsys, "persona", "check", "both.toml")
    assert both.code == 2 and "both.toml:3:24" in both.err and "min(a > 1, b > 2)" in both.err
