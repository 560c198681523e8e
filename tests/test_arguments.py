"""Every public function with arguments of wrong types: it succeeds, or raises an error of this package."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import persona_evo as pe
from persona_evo import arguments
from persona_evo.arguments import checked
from persona_evo.compiling import compiled
from persona_evo.errors import PersonaEvoError, SettingsError

WRONG = (5, "x", None, object(), np.array(3), 10**400, float("nan"))
ROOM = "XXXXXXXX\nXH T  eX\nX XX XXX\nX   M TX\nXXXXXXXX\n"
FUNCTIONS = [name for name in pe.__all__ if inspect.isfunction(getattr(pe, name))]

PLAYED = {"trials": 1, "iterations": 20, "seed": 1, "jobs": 1}


WORK = {
    "compare": "persona_evo.api.playtests._played",
    "evolve_policy": "persona_evo.api.evolution.EvolutionTask.check",
}
"""Functions that begin the work of others and are left out, since all arguments were looked at before."""


class NoGame:
    """A class that is no game."""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Arguments with which each function succeeds quickly, or gets as far as it can without a long job."""
    home = tmp_path_factory.mktemp("arguments")
    room, other, kept = home / "room.txt", home / "other.txt", home / "kept"
    room.write_text(ROOM, encoding="utf-8")
    other.write_text(ROOM.replace("M", " "), encoding="utf-8")
    results = pe.playtest_levels(room, "runner", folder=kept, **PLAYED)
    runner, game = pe.load_persona("runner"), pe.load_game()
    evolved = {"generations": 1, "population": 4, "islands": 1, "final_trials": 1, "jobs": 1, "out": home / "runs"}
    return {
        "check_game": {"game": game, "levels": room},
        "check_levels": {"levels": room},
        "compare": {"a": room, "b": other, "players": "runner", **PLAYED},
        "compare_playtests": {"a": results, "b": results},
        "describe_policy": {"policy": "runner"},
        "evolve_policy": {"persona": "runner", "levels": room, "iterations": 20, **evolved},
        "export_policy": {"policy": pe.load_policy("runner")},
        "experiment": {"file": home / "none.toml", "folder": home / "experiment"},
        "from_class": {"cls": NoGame},
        "generate_levels": {"count": 1, "seed": 1, "jobs": 1},
        "install_policy": {"policy": None},  # nothing is to be installed
        "kept_match": {"folder": kept},
        "kept_playtest": {"folder": kept},
        "load_level": {"name": room},
        "load_persona": {"name": "runner"},
        "load_policy": {"name": "runner"},
        "parse": {"text": "R"},
        "plan": {"level": room, "persona": "runner", "iterations": 20},
        "play_match": {"game": "colosseum", "agents": ["random", "random"], "games": 1, "sizes": [5], "jobs": 1},
        "player": {"persona": "runner"},
        "playtest_levels": {"levels": room, "players": "runner", **PLAYED},
        "register": {"name": "x", "extension": None},
        "reproduce": {"study": "minidungeons"},
        "resume_evolution": {"folder": kept},
        "resume_playtest": {"folder": kept, "jobs": 1},
        "resume_reproduction": {"folder": kept},
        "run": {"factory": "no_such_game", "num_samples": 5},
        "save_figures": {"run": home, "folder": home / "figures"},
        "simplify_policy": {"policy": home / "none.json"},
        "solve": {"level": room, "persona": "runner", "iterations": 200},
        "tree_policy": {"policy": "ucb1", "persona": runner, "game": game},
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_types_are_errors_of_this_package(
    name: str, calls: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, usual = getattr(pe, name), calls.get(name, {})
    signature, hints = arguments._known(inspect.unwrap(function))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warnings.warn", lambda *_: None)
    if name in WORK:
        monkeypatch.setattr(WORK[name], refuse)
    for argument, hint in hints.items():
        kind = signature.parameters[argument].kind if argument in signature.parameters else None
        if kind is inspect.Parameter.VAR_KEYWORD:  # Python says itself that there is no argument of this name
            continue
        for value in WRONG:
            if right(value, hint):
                continue
            try:
                if kind is inspect.Parameter.VAR_POSITIONAL:
                    function(*list(usual.values())[:1], value)
                else:
                    function(**{**usual, argument: value})
            except PersonaEvoError:
                pass
            except Exception as e:
                raise AssertionError(f"{name}({argument}={str(value)[:9]})") from e


def right(value: object, hint: Any) -> bool:
    """Whether a value is of the right type, so that the function may have much to do: None, and numbers."""
    if value is None:
        return hint is not Any and arguments._fits(value, hint)
    number = any(kind in (int, float, bool) for kind in (hint, *typing.get_args(hint)))
    return number and (value is WRONG[0] or isinstance(value, np.ndarray))


def refuse(*_: object, **__: object) -> None:
    raise SettingsError("no work is done")


METHODS = [
    (name, method)
    for name, methods in {
        "Comparison": ("playthroughs",),
        "MatchResults": ("write",),
        "Results": ("first", "check", "search_bounds", "changes_since", "write", "save_figures", "rows", "to_parquet"),
        "Run": ("save",),
    }.items()
    for method in methods
]


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_wrong_types_for_methods_are_errors_of_this_package(
    name: str, method: str, objects: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = getattr(objects[name], method)
    signature, hints = arguments._known(inspect.unwrap(function))
    usual = {"folder": tmp_path / "out", "seconds": 0.1, "trials": 1, "file": tmp_path / "file"}
    usual = {argument: value for argument, value in usual.items() if argument in signature.parameters}
    monkeypatch.chdir(tmp_path)
    for argument, hint in hints.items():
        kind = signature.parameters[argument].kind
        for value in WRONG:
            if argument == "self" or kind is inspect.Parameter.VAR_KEYWORD or right(value, hint):
                continue
            with contextlib.suppress(PersonaEvoError):
                if kind is inspect.Parameter.VAR_POSITIONAL:
                    function(value)
                else:
                    function(**{**usual, argument: value})


def test_the_functions_of_the_package_are_checked() -> None:
    assert len(FUNCTIONS) > 25
    alone = [name for name in FUNCTIONS if not hasattr(getattr(pe, name), "__wrapped__")]
    assert alone == ["register"], "it says itself what can be registered"


CLASSES = [name for name in pe.__all__ if inspect.isclass(getattr(pe, name))]
VALUES = (*WRONG, "text", 1.5, 2**70, -(2**70), float("inf"), True, [], [None], ["x"], {}, {"a": object()}, b"x")
ARRAYS = (np.array([1, 2]), np.float64("nan"), np.int64(5), np.bool_(True), np.str_("x"))


@compiled
def chosen(*_: Any) -> int:
    return 0


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One object of each public class."""
    room = tmp_path_factory.mktemp("objects") / "room.txt"
    room.write_text(ROOM, encoding="utf-8")
    results = pe.playtest_levels(room, "runner", **PLAYED)
    match = pe.play_match("colosseum", ["random", "other=random"], games=1, sizes=[5], jobs=1)
    found = [
        *(results, results.analysis, results.players[0], results.game, results.game.metrics[0], results.levels[0]),
        *(match, pe.Comparison(results, [], []), pe.Reproduction(room, "text"), pe.Outcome(room, "ended", 1, None)),
        *(pe.plan(room, "runner", iterations=20), pe.solve(room, "runner", iterations=200), pe.load_policy("runner")),
        *(pe.Budget(), pe.SearchSettings(), pe.EvolutionSettings(), pe.load_persona("runner"), pe.parse("R + 1")),
        *(
            pe.MutationOperator(chosen),
            pe.SelectionOperator(chosen),
            pe.SelectionRule(chosen),
            pe.RolloutPolicy(chosen),
        ),
        *(pe.Importer("game", (".csv",), str), pe.Operator("twice", ("a",), "a + a"), pe.ReportSection(chosen)),
        pe.Finding("crashes", "problem", "level", "text"),
        pe.run("its_alive", 5, level="train01", seed=1),
    ]
    return {type(one).__name__: one for one in found}


@pytest.mark.parametrize("name", sorted({*CLASSES} - {"PersonaEvoError"}))
def test_wrong_fields_are_errors_of_this_package(name: str, objects: dict[str, Any]) -> None:
    refused = 0
    for field in dataclasses.fields(objects[name]):
        for value in (*VALUES, *ARRAYS):
            if not field.init:
                continue
            try:
                dataclasses.replace(objects[name], **{field.name: value})
            except PersonaEvoError:
                refused += 1
            except Exception as e:
                raise AssertionError(f"{name}({field.name}={str(value)[:9]})") from e
    assert refused > 5 * len(dataclasses.fields(objects[name]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pe.SearchSettings(rollout="x"), "found: 'x'"),  # type: ignore[arg-type]
        (lambda: pe.SearchSettings(lists=5), "a list of open lists"),  # type: ignore[arg-type]
        (lambda: pe.Budget("x"), "the number of iterations is out of range"),  # type: ignore[arg-type]
        (lambda: pe.EvolutionSettings(population=None), "setting 'population' is out of range"),  # type: ignore[arg-type]
        (lambda: pe.Metric("A", "a", "a", low=float("nan")), "the metric A has no range"),
        (lambda: pe.Metric("A", "a", "a", high=10**400), "the argument high is out of range"),
        (lambda: pe.Metric("A", "a", "a", low=True), "expected: a number"),
        (lambda: pe.Metric("A", None, "a"), "the argument name is of the wrong type"),  # type: ignore[arg-type]
        (lambda: pe.Formula([None]), "not a number"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_with_a_field_is_told(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PersonaEvoError) as refused:
        make()
    assert message in str(refused.value)


def test_tuples_are_checked_value_by_value() -> None:
    @checked
    def use(pairs: Sequence[tuple[str, float]]) -> int:
        return len(pairs)

    assert use([("a", 1.0), ("b", 2)]) == 2
    with pytest.raises(SettingsError, match="wrong type"):
        use([(1, 2.0)])  # type: ignore[list-item]
    with pytest.raises(SettingsError, match="wrong type"):
        use([("a", 1.0, 2.0)])  # type: ignore[list-item]


def test_numbers_of_fields_become_those_of_python() -> None:
    metric = pe.Metric("A", "a", "a", low=np.float32(0.5), clock=np.True_)  # type: ignore[arg-type]
    assert (type(metric.low), metric.low, metric.clock) == (float, 0.5, True)
    assert pe.Budget(1e3).iterations == 1000 and type(pe.Budget(np.int64(5)).iterations) is int  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        pe.Metric("A", "a", "a", unknown=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 2 required positional arguments: 'name' and 'meaning'"):
        pe.Metric("A")  # type: ignore[call-arg]


class Other:
    pass


@checked
def example(
    text: str,
    *more: str | Path,
    lists: Sequence[str] = (),
    pairs: Mapping[str, int] | None = None,
    kind: Literal["a", "b"] = "a",
    tell: Callable[[str], None] | None = None,
    other: Other | None = None,
    cls: type[Any] = Other,
    all_: Iterable[Path] = (),
    number: float = 0,
) -> str:
    return text


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"text": None}, "text"),
        ({"text": b"a"}, "text"),
        ({"text": "a", "lists": 5}, "a list of text"),
        ({"text": "a", "lists": ["a", 5]}, "a list of text"),
        ({"text": "a", "lists": np.array(3)}, "a list of text"),
        ({"text": "a", "pairs": [("a", 1)]}, "a mapping or None"),
        ({"text": "a", "kind": "c"}, "'a' or 'b'"),
        ({"text": "a", "tell": "f"}, "a function or None"),
        ({"text": "a", "other": Other}, "an Other or None"),
        ({"text": "a", "cls": Other()}, "a class"),
        ({"text": "a", "all_": ["a"]}, "a list of paths"),
    ],
)
def test_what_was_found_and_expected_is_told(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(SettingsError, match=f"the argument {list(given)[-1]} is of the wrong type") as refused:
        example(**given)
    assert refused.value.expected == expected and type(list(given.values())[-1]).__name__ in str(refused.value.found)


def test_values_of_the_right_type_pass_and_python_tells_what_is_missing() -> None:
    calls: list[str] = []
    assert example("a", "b", Path("c"), lists=("a",), pairs={}, kind="b", tell=calls.append, other=Other()) == "a"
    assert example("a", lists=(one for one in "ab"), cls=int, all_={Path()}, number=10**400) == "a"
    with pytest.raises(SettingsError, match="argument more"):
        example("a", "b", 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'text'"):
        example()  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["x" * 5_000, "x\0y", "\ud800"])
@pytest.mark.parametrize(
    "use", [pe.load_persona, pe.load_policy, lambda name: pe.playtest_levels("test01", folder=name)]
)
def test_names_that_no_file_can_have_are_refused(use: Callable[[str], object], name: str) -> None:
    with pytest.raises(PersonaEvoError):
        use(name)


@pytest.mark.parametrize("levels", [[], (), ["test01", "test02"]])
@pytest.mark.parametrize("use", [pe.plan, pe.solve])
def test_a_plan_is_for_one_level(use: Callable[[Any, str], object], levels: Any) -> None:
    with pytest.raises(SettingsError, match="one level"):
        use(levels, "runner")


@pytest.mark.parametrize("span", [2, None, (1, 2, 3), "ab", ("a", "b")])
def test_a_constraint_has_two_numbers(span: Any) -> None:
    with pytest.raises(SettingsError, match="constraint"):
        pe.generate_levels(1, 1, constraints={"path": span})


@pytest.mark.parametrize(
    ("call", "found", "near"),
    [
        (lambda: pe.playtest_levels("test01", "runner", requirements=["deaths == 0"]), "requirements", "require"),  # type: ignore[call-arg]
        (lambda: pe.compare("test01", "test02", tolerence=0.1), "tolerence", "tolerance"),  # type: ignore[call-arg]
        (lambda: pe.plan("test01", "runner", iteration=10), "iteration", "iterations"),  # type: ignore[call-arg]
        (lambda: pe.evolve_policy("runner", ["test01"], populaton=10), "populaton", "population"),  # type: ignore[call-arg]
    ],
    ids=["playtest", "compare", "plan", "evolve"],
)
def test_no_unknown_option_is_ignored(call: Callable[[], object], found: str, near: str) -> None:
    with pytest.raises(SettingsError, match="has no such argument") as refused:
        call()
    assert refused.value.found == found and refused.value.hint == f"did you mean '{near}'?"


@pytest.mark.parametrize(
    "call",
    [
        lambda: pe.make_players("runner"),
        lambda: pe.make_players(["runner"], skills="novice"),
        lambda: pe.play_match("colosseum", "random"),
        lambda: pe.playtest_levels("test01", "runner", require="deaths == 0"),
    ],
    ids=["personas", "skills", "agents", "requirements"],
)
def test_text_is_no_list_of_its_letters(call: Callable[[], object]) -> None:
    with pytest.raises(SettingsError, match="is of the wrong type") as refused:
        call()
    assert refused.value.expected == "a list of text"


def test_what_is_no_name_is_told_by_what_it_should_name() -> None:
    with pytest.raises(SettingsError, match="this is not the name of a persona"):
        pe.plan("test01", None)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="this is not the name of a policy"):
        pe.plan("test01", "runner", 5)  # type: ignore[arg-type]
