"""No module is over 400 lines, no function over 80, and no two public classes have the same name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.shared import PACKAGE, trees

MODULE_LINES, FUNCTION_LINES = 400, 80

ONE_UNIT = "compiled as one unit: splitting it changes what is compiled together, and its speed"

EXCEPTIONS = {
    "games/catalog/its_alive/rules.py": ONE_UNIT,
    "games/catalog/minidungeons2/rules.py": ONE_UNIT,
    "games/catalog/minidungeons2/turn.py": ONE_UNIT,
    "games/catalog/puyo/rules.py": ONE_UNIT,
    "search/open_lists.py": ONE_UNIT,
}
"""Path, or path:function -> why it is longer."""

pytestmark = pytest.mark.quick


class Module(NamedTuple):
    """What a module of the package holds.

    Attributes:
        name: its path below the package.
        lines: how many it has.
        definitions: its functions and classes, nested ones included.
    """

    name: str
    lines: int
    definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    """Every module of the package."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [
        Module(
            path.relative_to(PACKAGE).as_posix(),
            len(path.read_text(encoding="utf-8").splitlines()),
            [node for node in ast.walk(tree) if isinstance(node, kinds)],
        )
        for path, tree in trees().items()
    ]


def long_ones(modules: list[Module]) -> Iterator[tuple[str, int]]:
    """Modules and functions above their limits, with their lines; a function's decorators count."""
    for name, lines, nodes in modules:
        if lines > MODULE_LINES:
            yield name, lines
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                assert node.end_lineno is not None
                if (lines := node.end_lineno - start + 1) > FUNCTION_LINES:
                    yield f"{name}:{node.name}", lines


def test_modules_and_functions_are_short_but_for_the_exceptions(modules: list[Module]) -> None:
    found = dict(long_ones(modules))
    too_long = {name: lines for name, lines in found.items() if name not in EXCEPTIONS}
    assert not too_long, "over 400 lines (modules) or 80 (functions)"
    assert not set(EXCEPTIONS) - set(found), "exceptions that are no longer needed"


def test_public_classes_have_unique_names(modules: list[Module]) -> None:
    found: dict[str, list[str]] = {}
    for module in modules:
        for node in module.definitions:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(f"{module.name}:{node.lineno}")
    assert len(found) > 300
    assert not {name: places for name, places in found.items() if len(places) > 1}
