"""Tests exports: each gives known numbers, and those of the evaluator."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from persona_evo.errors import SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.formula.export import CSHARP, KINDS, export
from tests.formula.strategies import SYMBOLS, formulas, points

DEEP = "R + (MS - " * 120 + "PE" + ")" * 120
LARGE = " + ".join(["R * MS"] * 64)
SPECIAL = {None: math.nan, "inf": math.inf, "-inf": -math.inf}


def vectors() -> list[tuple[Formula, dict[str, float], float, float]]:
    found = []
    for v in json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))["vectors"]:
        values = {k: SPECIAL[x] if isinstance(x, str | None) else float(x) for k, x in v["values"].items()}
        found.append((parse(v["formula"]), values, float(v["expected"]), v.get("rel", 0.0)))
    return found


VECTORS = vectors()


def imported(source: str, folder: Path) -> Any:
    path = folder / "exported.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("exported", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    source_loader: Any = spec.loader
    source_loader.set_data = lambda *_, **__: (
        None
    )  # no bytecode file: the next export has the same name and may be as old
    source_loader.exec_module(module)
    return module


def in_python(f: Formula, folder: Path) -> Callable[[Mapping[str, float]], float]:
    score = imported(export(f, "python"), folder).score
    return lambda values: float(score(*(values[s] for s in sorted(f.symbols))))


def in_numpy(f: Formula, folder: Path) -> Callable[[Mapping[str, float]], float]:
    score = imported(export(f, "numpy"), folder).score
    return lambda values: float(np.max(score(*(np.full(2, values[s]) for s in sorted(f.symbols)))))


def by_evaluator(f: Formula, folder: Path) -> Callable[[Mapping[str, float]], float]:
    return f.evaluate


def in_latex(f: Formula, folder: Path) -> Callable[[Mapping[str, float]], float]:
    return parse(from_latex(export(f, "latex"))).evaluate


COMMANDS = (
    ("\\cdot", "*"),
    ("\\ln\\left|", "log("),
    ("\\sqrt{\\left|", "\\sqrt{("),
    ("\\left|", "abs("),
    ("\\right|", ")"),
    ("\\left(", "("),
    ("\\right)", ")"),
    ("\\left[", "("),
    ("\\right]", ")"),
    ("\\ge", ">="),
    ("\\le", "<="),
    ("\\exp", "exp"),
    ("\\min", "min"),
    ("\\max", "max"),
)


def from_latex(text: str) -> str:
    """Return the language of formulas again, from the few commands that the export uses."""
    text = re.sub(r"\\mathrm\{([^}]*)\}", lambda m: m[1].replace("\\_", "_"), text)
    text = re.sub(r"(-?[0-9.]+) \\cdot 10\^\{(-?[0-9]+)\}", r"(\1e\2)", text)
    for old, new in COMMANDS:
        text = text.replace(old, new)
    text = re.sub(r"\^\{([0-9]+)\}", r"^\1", text)
    while match := re.search(r"\\(frac|sqrt)(?=\{)", text):
        first, at = braces(text, match.end())
        if match[1] == "sqrt":
            text = f"{text[: match.start()]}sqrt({first}){text[at:]}"
        else:
            second, at = braces(text, at)
            text = f"{text[: match.start()]}(({first}) / ({second})){text[at:]}"
    cases = re.compile(
        r"\\begin\{cases\} ((?:(?!\\begin).)*?) & ((?:(?!\\begin).)*?) > 0 \\\\ "
        r"((?:(?!\\begin).)*?) & \\text\{otherwise\} \\end\{cases\}"
    )
    while cases.search(text):
        text = cases.sub(r"if(\2, \1, \3)", text)
    return text


def braces(text: str, at: int) -> tuple[str, int]:
    """Return what stands in the braces that open at `at`, and where they end."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return text[at + 1 : i], i + 1
    raise AssertionError(f"braces do not close in {text}")


WAYS = {"python": in_python, "numpy": in_numpy, "latex": in_latex, "evaluate": by_evaluator}


@pytest.mark.parametrize("way", ["evaluate", "python", "numpy"])
def test_golden_vectors(way: str, tmp_path: Path) -> None:
    for f, values, expected, rel in VECTORS:
        assert WAYS[way](f, tmp_path)(values) == pytest.approx(expected, rel=rel, abs=0.0), (f, values)


def test_golden_vectors_in_text_and_latex(tmp_path: Path) -> None:
    for f, values, expected, rel in VECTORS:
        assert parse(export(f, "text")).evaluate(values) == pytest.approx(expected, rel=rel, abs=0.0)
        got = in_latex(f, tmp_path)(values)
        assert got == pytest.approx(expected, rel=max(rel, 1e-15), abs=0.0), export(f, "latex")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(formulas, points)
def test_python_gives_exactly_the_evaluators_numbers(tmp_path: Path, f: Formula, point: dict[str, float]) -> None:
    assert in_python(f, tmp_path)(point) == f.evaluate(point)


ARITHMETIC = ["R", "0.25", "R / (MS - PE)", DEEP, LARGE, "if(R > MS, min(R, PE), max(-R, sqrt(ST)))", "abs(R) - 1e-7"]


@pytest.mark.parametrize("text", ARITHMETIC)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(point=points)
def test_numpy_gives_exactly_the_evaluators_numbers(tmp_path: Path, text: str, point: dict[str, float]) -> None:
    f = parse(text)
    assert in_numpy(f, tmp_path)(point) == f.evaluate(point)


def test_numpy_takes_arrays(tmp_path: Path) -> None:
    f = parse("if(R > 1, R / MS, -PE)")
    rows = np.random.default_rng(1).integers(0, 3, (50, 3)).astype(float)
    score = imported(export(f, "numpy"), tmp_path).score
    got = score(MS=rows[:, 0], PE=rows[:, 1], R=rows[:, 2])
    assert list(got) == [f.evaluate({"MS": m, "PE": p, "R": r}) for m, p, r in rows]


@pytest.mark.parametrize("text", [DEEP, LARGE])
def test_deep_and_large_formulas_are_split_into_steps(text: str, tmp_path: Path) -> None:
    f, values = parse(text), {"R": 0.5, "MS": 2.0, "PE": 1.0}
    assert in_python(f, tmp_path)(values) == f.evaluate(values)
    longest = max(max(map(len, export(f, kind).splitlines()[4:])) for kind in ("python", "csharp", "numpy"))
    assert longest < 300


def test_latex_is_set_as_one_would() -> None:
    assert export(parse("4 * IC^4 / (MS - 2)"), "latex") == (r"\frac{4 \cdot \mathrm{IC}^{4}}{\mathrm{MS} - 2}")
    assert export(parse("(a + b)^2 - (c_1 - -1)"), "latex") == (
        r"\left(\mathrm{a} + \mathrm{b}\right)^{2} - \left(\mathrm{c\_1} - \left(-1\right)\right)"
    )


def test_the_text_is_the_formulas_own_and_comments_are_harmless(tmp_path: Path) -> None:
    f = parse("R + MS")
    assert export(f, "text") == "R + MS"
    module = imported(export(f, "python", "killer", about='a "quoted" \\ line\nand """more'), tmp_path)
    assert module.killer(1, 2) == 3 and "quoted" in module.__doc__


def test_helpers_are_written_only_where_needed() -> None:
    source = export(parse("max(R, MS)"), "python")
    assert "def divide" not in source and "def limit" in source and "def exp" not in source
    assert "class Killer" in export(parse("R"), "csharp", "killer")


@pytest.mark.parametrize(
    ("kind", "name"), [("latx", "score"), ("python", "a b"), ("csharp", "math"), ("python", "def")]
)
def test_wrong_requests(kind: str, name: str) -> None:
    with pytest.raises(SettingsError):
        export(parse("R"), kind, name)


def test_csharp_reads_well_formed() -> None:
    for f in (*(f for f, *_ in VECTORS), parse(DEEP), parse(LARGE)):
        source = export(f, "csharp")
        code = re.sub(r"///.*", "", source)
        assert all(code.count(a) == code.count(b) for a, b in ("()", "{}"))
        assert not re.search(r"(?<![\w.])[0-9]+(?![\w.])", code), "whole numbers would divide as such"
        defined = set(re.findall(r"static double (\w+)", code)) | {"Math", "IsNaN", "Evaluate"}
        called = set(re.findall(r"(?<!\.)\b([A-Z][a-z]+)\(", code))
        assert called <= defined
        names = re.findall(r"double (\w+)[,)]", code.split("Evaluate", 1)[1].split("{", 1)[0])
        assert not set(names) & CSHARP.reserved


def test_csharp_gives_the_golden_numbers(tmp_path: Path) -> None:
    compiler, runtime = shutil.which("mcs"), shutil.which("mono")
    if not (compiler and runtime):
        pytest.skip("no C# compiler here (mcs and mono)")
    lines = []
    for i, (f, values, _, _) in enumerate(VECTORS):
        (tmp_path / f"Score{i}.cs").write_text(export(f, "csharp", f"score{i}"), encoding="utf-8")
        arguments = ", ".join(csharp_number(values[s]) for s in sorted(f.symbols))
        lines.append(f'Console.WriteLine(Score{i}.Evaluate({arguments}).ToString("R", culture));')
    (tmp_path / "Program.cs").write_text(
        "using System;\nstatic class Program { static void Main() {\n"
        "var culture = System.Globalization.CultureInfo.InvariantCulture;\n" + "\n".join(lines) + "\n} }\n"
    )
    sources = sorted(str(p) for p in tmp_path.glob("*.cs"))
    subprocess.run([compiler, "-out:" + str(tmp_path / "p.exe"), *sources], check=True, timeout=120)
    out = subprocess.run([runtime, str(tmp_path / "p.exe")], check=True, timeout=120, capture_output=True, text=True)
    for got, (f, values, expected, rel) in zip(out.stdout.split(), VECTORS, strict=True):
        assert float(got) == pytest.approx(expected, rel=rel, abs=0.0), (f, values)


def csharp_number(x: float) -> str:
    if math.isnan(x):
        return "double.NaN"
    if math.isinf(x):
        return "double.PositiveInfinity" if x > 0 else "double.NegativeInfinity"
    return repr(x)


def test_every_kind_is_tested_here() -> None:
    assert set(KINDS) == {"text", "latex", "python", "numpy", "csharp"} and set(SYMBOLS) == {"R", "MS", "PE", "ST"}
