"""What modules import of each other: no cycles, those for type checking and those within functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import persona_evo

ROOT = Path(persona_evo.__file__).parent


def modules() -> dict[str, Path]:
    """All modules of the package by name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = (ROOT.name, *path.relative_to(ROOT).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == ROOT.name:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in known else node.module


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = modules()
    graph = {name: set(imported(path, known)) - {name} for name, path in known.items()}
    assert sum(map(len, graph.values())) > 1000
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None


def test_imports_are_absolute() -> None:
    for path in ROOT.rglob("*.py"):
        relative = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if getattr(n, "level", 0)]
        assert not relative, path
