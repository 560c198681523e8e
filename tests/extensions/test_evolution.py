"""Mutations and selections of parents that another package adds to the evolution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import persona_evo as pe
from persona_evo import extensions
from persona_evo.evolve.islands import generations
from persona_evo.evolve.records import Request
from tests.cli.tool import run
from tests.extensions.conftest import Install
from tests.extensions.examples import examples
from tests.extensions.packages import command
from tests.shared import ROOT

Capture = pytest.CaptureFixture[str]

POINTS = {
    "persona_evo.mutations": {"swap": "breeding:SWAP", "broken": "breeding:NOWHERE", "text": "breeding:TEXT"},
    "persona_evo.selections": {"truncation": "breeding:TRUNCATION", "nobody": "breeding:NOBODY"},
}
MORE = """
TEXT = "no operator"
NOBODY = pe.SelectionOperator(lambda candidates, settings, stream: [])
"""
EVOLVE = (
    "evolve",
    "--persona",
    "runner",
    "--levels",
    "train01",
    "--population",
    12,
    "--islands",
    1,
    "--generations",
    3,
)
LITTLE = ("--iterations", 20, "--seed", 1, "--set", "final_trials=1", "--set", "final_candidates=1")


@pytest.fixture
def installed(install: Install) -> dict[str, str]:
    source = examples()["swap_mutation"] + "\n" + examples()["truncation_selection"] + MORE
    return install("breeding", source, POINTS)


@pytest.fixture
def registered() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    yield
    extensions._registered.clear()


def test_operators_from_outside_breed(installed: dict[str, str]) -> None:
    """Swaps keep the length of a formula, so only the selection moves its mean."""
    settings = pe.EvolutionSettings.of(
        "modern",
        population=40,
        islands=2,
        generations=6,
        pool="truncation",
        mutation=1.0,
        mutations={"swap": 1.0},
        crossover=0.0,
        duplicates="off",
        elites=1,
        unique_tries=0,
    )

    def evaluate(requests: Sequence[Request]) -> list[list[float]]:
        return [[float(len(request.formula))] for request in requests]

    runs = [list(generations(settings, 3, evaluate, metrics=("a", "b"), levels=1)) for _ in range(2)]
    bred = {i.origin for island in runs[0][-1].state.islands for i in island.individuals}
    assert "mutation:swap" in bred and bred <= {"mutation:swap", "random"}
    assert [g.rows for g in runs[0]] == [g.rows for g in runs[1]]
    means = [g.rows[0].mean for g in runs[0]]
    assert means[-1] > means[0]


def test_the_command_line_takes_them(
    installed: dict[str, str], tmp_path: Path, capsys: Capture, unsimplified: None
) -> None:
    more = ("--set", "pool=truncation", "--set", "mutations.swap=5", "--jobs", 1, "--out", tmp_path / "runs")
    done = run(capsys, *EVOLVE, *LITTLE, *more)
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "runs").iterdir()
    settings = json.loads((folder / "config.json").read_text())["evolution"]
    assert settings["pool"] == "truncation" and settings["mutations"]["swap"] == 5
    assert settings["mutations"]["subtree"] == pe.EvolutionSettings().mutations["subtree"]
    without = {**installed, "PYTHONPATH": str(ROOT)}
    lacking = command(without, "evolve", "--resume", folder, "--generations", 4, cwd=folder)
    assert lacking.returncode == 2 and "truncation" in lacking.stderr, lacking.stderr
    assert "Traceback" not in lacking.stderr


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("mutations.broken=1", "the mutation 'broken' cannot be loaded"),
        ("mutations.text=1", "expected: a persona_evo.evolve.operators.MutationOperator"),
        ("mutations.swop=1", "did you mean 'swap'"),
        ("pool=nobody", "the selection 'nobody' does not choose parents"),
        ("pool=truncatoin", "did you mean 'truncation'"),
    ],
)
def test_what_is_wrong_is_named(
    installed: dict[str, str], tmp_path: Path, capsys: Capture, setting: str, says: str
) -> None:
    more = ("--set", "mutation=1", "--set", setting, "--jobs", 1, "--out", tmp_path / "runs")
    done = run(capsys, *EVOLVE, *LITTLE, *more)
    assert done.code == 2 and says in done.err, done.err


def test_registered_operators(registered: None) -> None:
    def wrong(tree: object, settings: object, primitives: object, stream: object) -> object:
        return ["no", "tree"]

    def first(candidates: list[object], settings: object, stream: object) -> list[object]:
        return candidates[:1]

    pe.register("wrong", pe.MutationOperator(wrong))
    pe.register("first", pe.SelectionOperator(first))  # type: ignore[arg-type]
    settings = pe.EvolutionSettings.of("modern", population=12, islands=1, generations=2, pool="first", mutation=0.0)
    assert len(list(generations(settings, 1, lambda r: [[1.0]] * len(r), metrics=("a",), levels=1))) == 2
    settings = pe.EvolutionSettings.of("modern", population=12, islands=1, mutations={"wrong": 1}, mutation=1.0)
    with pytest.raises(pe.PersonaEvoError, match="the mutation 'wrong' does not return a formula"):
        list(generations(settings, 1, lambda r: [[1.0]] * len(r), metrics=("a",), levels=1))


def test_only_extensions_with_a_name_are_registered(registered: None) -> None:
    with pytest.raises(pe.PersonaEvoError, match="only extensions can be registered"):
        pe.register("swap", "text")  # type: ignore[arg-type]
    with pytest.raises(pe.PersonaEvoError, match="cannot have this name"):
        pe.register("two words", pe.SelectionOperator(lambda c, s, r: c))
