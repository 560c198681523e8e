"""No module is over 400 lines, no function over 80, no two public classes have the same name, no block stands twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.shared import PACKAGE, trees

MODULE_LINES, FUNCTION_LINES, BLOCK_LINES = 400, 80, 12

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
        code: its lines of code with their numbers, without imports, docstrings, comments and lone brackets.
        definitions: its functions and classes, nested ones included.
    """

    name: str
    lines: int
    code: list[tuple[int, str]]
    definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    """Every module of the package."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = []
    for path, tree in trees().items():
        lines = path.read_text(encoding="utf-8").splitlines()
        definitions = [node for node in ast.walk(tree) if isinstance(node, kinds)]
        found.append(Module(path.relative_to(PACKAGE).as_posix(), len(lines), code(tree, lines), definitions))
    return found


def code(tree: ast.Module, lines: list[str]) -> list[tuple[int, str]]:
    """Return a module's lines of code with their numbers (see `Module`)."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Expr) and (text or not isinstance(node, ast.Expr)):
            assert node.end_lineno is not None
            left_out.update(range(node.lineno, node.end_lineno + 1))
    plain = ((number, line.strip()) for number, line in enumerate(lines, 1) if number not in left_out)
    return [(number, line) for number, line in plain if len(line) > 1 and not line.startswith("#")]


def repeated(modules: list[Module], length: int) -> dict[str, list[str]]:
    """Return the blocks of `length` lines that stand in several places: the first line and the places."""
    found: dict[str, list[str]] = {}
    for module in modules:
        for k in range(len(module.code) - length + 1):
            block = module.code[k : k + length]
            found.setdefault("\n".join(line for _, line in block), []).append(f"{module.name}:{block[0][0]}")
    return {block.partition("\n")[0]: places for block, places in found.items() if len(places) > 1}


def long_ones(modules: list[Module]) -> Iterator[tuple[str, int]]:
    """Modules and functions above their limits, with their lines; a function's decorators count."""
    for name, lines, _, nodes in modules:
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


def test_no_block_stands_twice(modules: list[Module]) -> None:
    assert not repeated(modules, BLOCK_LINES + 1)


def test_a_block_that_stands_twice_is_found() -> None:
    body = [f"    x{i} = {i}" for i in range(BLOCK_LINES + 1)]
    lines = ["import os", "def a():", '    """One."""', *body, "    # one", "def b():", *body[:5], "", *body[5:]]
    (places,) = repeated([Module("m.py", len(lines), code(ast.parse("\n".join(lines)), lines), [])], len(body)).values()
    assert places == ["m.py:4", f"m.py:{len(body) + 6}"]
