"""Checks what a marked function contains, and reports what cannot be compiled.

numba supports more of Python than compiled code here may use, such as code that allocates memory, raises or looks
things up. Such code is rejected before numba sees it, with a message in terms of the source. What numba itself rejects
is translated from numba's message.
"""

from __future__ import annotations

import builtins
import dis
import math
import re
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from persona_evo.compiling.marks import is_marked, used
from persona_evo.errors import CompileError, Place

_ROW = "write to a row that is given, or take one from persona_evo.compiling.row(N)"
_EXPECTED = "numbers, rows, loops and marked functions"
_TEXT = "use whole numbers for names"
_FLAG = "return a number that signals the error"
_REFUSED = {
    "BUILD_LIST": ("a list", _ROW),
    "LIST_EXTEND": ("a list", _ROW),
    "BUILD_SET": ("a set", _ROW),
    "BUILD_MAP": ("a dictionary", _ROW),
    "BUILD_CONST_KEY_MAP": ("a dictionary", _ROW),
    "BUILD_STRING": ("a text", _TEXT),
    "FORMAT_VALUE": ("a text", _TEXT),
    "FORMAT_SIMPLE": ("a text", _TEXT),
    "RAISE_VARARGS": ("raise or assert", _FLAG),
    "MAKE_FUNCTION": ("a function or a comprehension within it", "write a loop, or a marked function of the module"),
    "YIELD_VALUE": ("yield", "write a loop"),
    "IMPORT_NAME": ("an import", "import at the top of the module"),
    "STORE_GLOBAL": ("a global that is assigned", "write to a row that is given"),
    "LOAD_BUILD_CLASS": ("a class", "define it at the top of the module"),
}
_BUILTINS = frozenset(
    (
        "all",
        "any",
        "dict",
        "filter",
        "frozenset",
        "getattr",
        "hash",
        "id",
        "input",
        "isinstance",
        "iter",
        "list",
        "map",
        "next",
        "open",
        "print",
        "repr",
        "set",
        "setattr",
        "sorted",
        "str",
        "sum",
        "type",
    )
)
"""The built-in functions of Python that compiled code does not have."""
_CONTAINERS = (list, dict, set, str, bytes)


def calls(function: FunctionType, wanted: FunctionType, seen: frozenset[FunctionType] = frozenset()) -> bool:
    """Return whether a function calls another one, directly or through functions that it calls."""
    marked = [value for value in used(function).values() if is_marked(value) and value not in seen]
    return wanted in marked or any(calls(one, wanted, seen | set(marked)) for one in marked)


def check(function: FunctionType) -> None:
    """Check that a marked function contains nothing that compiled code cannot do.

    Raises:
        CompileError: it does, with the line.
    """
    known = used(function)
    if calls(function, function):
        raise _refused(function, function.__code__.co_firstlineno, f"{function.__name__} calls itself", "write a loop")
    module: ModuleType | None = None
    before: Any = None
    line = function.__code__.co_firstlineno
    for one in dis.get_instructions(function.__code__):
        line = (one.positions.lineno if one.positions else None) or line
        if one.opname in _REFUSED:
            raise _refused(function, line, *_REFUSED[one.opname])
        if one.opname.startswith("LOAD_CONST") and isinstance(one.argval, (str, bytes)):
            raise _refused(function, line, "a text", _TEXT)
        if one.opname in ("BINARY_SUBSCR", "STORE_SUBSCR") and isinstance(before, int) and before < 0:
            raise _refused(function, line, f"the index {before}", "count from the beginning: row[len(row) - 1]")
        if module is not None and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            _check_attribute(function, line, module, one.argval)
        before = one.argval if one.opname.startswith("LOAD_CONST") else None
        module = None
        if one.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(one.argval)
            module = value if isinstance(value, ModuleType) else None
            _check_global(function, line, one.argval)
            if one.argval in known:
                _check_called(function, line, one.argval, value)
    if function.__code__.co_exceptiontable:
        raise _refused(function, function.__code__.co_firstlineno, "try or with", _FLAG)


def _check_global(function: FunctionType, line: int, name: str) -> None:
    """Reject a global or built-in name that compiled code cannot use."""
    if name not in function.__globals__:
        if not hasattr(builtins, name):
            raise _refused(function, line, f"the name {name}, which is not defined", "is it spelled right?")
        if name in _BUILTINS:
            raise _refused(function, line, f"{name}()", "write a loop over numbers and rows")
    elif isinstance(value := function.__globals__[name], _CONTAINERS):
        kind = {list: "list", dict: "dictionary", set: "set"}.get(type(value), "text")
        raise _refused(function, line, f"the {kind} {name}", "compiled code reads numbers and tuples of the module")


def _check_attribute(function: FunctionType, line: int, module: ModuleType, name: str) -> None:
    value = getattr(module, name, None)
    number = isinstance(value, type) and issubclass(value, (np.number, np.bool_))
    if not callable(value) or module is math or number or hasattr(value, "_fields"):
        return
    if is_marked(value):
        raise _refused(
            function, line, f"{module.__name__}.{name} by its module", f"from {module.__name__} import {name}"
        )
    hint = _ROW if module is np else "write it here, with numbers and rows"
    raise _refused(function, line, f"{module.__name__}.{name}", hint)


def _check_called(function: FunctionType, line: int, name: str, value: object) -> None:
    if isinstance(value, FunctionType) and not is_marked(value):
        raise _refused(
            function, line, f"the function {name}, which is not marked", f"write @compiled above def {value.__name__}"
        )
    if hasattr(value, "plain") and hasattr(value, "code"):
        raise _refused(function, line, f"{name} as Python calls it", f"use {name}.plain, under a name of its own")


def _refused(function: FunctionType, line: int, found: str, hint: str) -> CompileError:
    return CompileError(
        f"{function.__name__} cannot be compiled",
        place=Place(function.__code__.co_filename, line),
        found=found,
        expected=_EXPECTED,
        hint=hint,
    )


_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "iadd": "+=",
    "isub": "-=",
    "imul": "*=",
    "getitem": "[...]",
    "setitem": "[...] =",
    "contains": "in",
}
_TYPE = r"((?:\w+)(?:\[\w+\])?(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?)"
_MESSAGES: tuple[tuple[str, str], ...] = (
    (rf"Cannot unify {_TYPE} and {_TYPE} for '(\w+)", "{2} is {0} in one place and {1} in another"),
    (rf"No conversion from {_TYPE} to {_TYPE} for '\$\w*return", "it returns {0} instead of {1}"),
    (rf"Unknown attribute '(\w+)' of type {_TYPE}", ".{0}, which {1} does not have"),
    (rf"Invalid use of getiter with parameters \({_TYPE}\)", "a loop over {0}; loops run over range(...)"),
    (rf"failed to unpack {_TYPE}", "the entries of {0} as single variables; take them one by one"),
    (r"Untyped global name '(\w+)'.*<class '([\w.]+)'>", "the name {0}, which is an object of the class {1}"),
    (r"Cannot bind .*\"TypeError: ([^\"]*)\"", "a call with other arguments: {0}"),
    (r"calls numba_(\w+)", "{0}(), which compiled code does not have"),
)
"""Patterns of numba's messages, and what they mean; types are put into words."""


def _in_words(said: str, text: str) -> str:
    """Return numba's complaint in terms of the source, or in numba's own words if it is not known.

    Args:
        said: the first informative line of numba's message.
        text: the whole message.
    """
    if "No implementation of function" in said:
        call = re.search(r">>> (\w+)\((.*)\)", text)
        if call is not None:
            kinds = " and ".join(map(_kind, re.findall(_TYPE, call[2])))
            return f"{_OPERATORS.get(call[1], call[1] + '()')} of {kinds}"
    for pattern, words in _MESSAGES:
        found = re.search(pattern, said)
        if found is not None:
            return words.format(*map(_kind, found.groups()))
    return said


def _kind(name: str) -> str:
    """Return the name of a type of numba as people call it; anything else as it is."""
    if name.startswith("Row("):
        return "a table" if name.endswith("2)") else "a row"
    if name.startswith(("Tuple", "UniTuple")):
        return "a tuple"
    if name.startswith(("int", "uint", "Literal[int]")):
        return "a whole number"
    return {"float64": "a real number", "bool": "a truth value", "boolean": "a truth value", "none": "nothing"}.get(
        name, name
    )


_HEADER = re.compile(r"^(Failed in .*|\s*)$")
_PLACES = re.compile(r"(?:at|defined at) (\S[^\n]*?) \((\d+)\)|File \"([^\"]*)\", line (\d+)")


def explained(function: FunctionType, functions: list[FunctionType], error: BaseException) -> CompileError:
    """Return an error that says what numba rejected, with the line of the source.

    Args:
        function: the function that was to be compiled.
        functions: that function and everything that it calls.
        error: the exception that numba raised.
    """
    text = str(error)
    said = next((line.strip() for line in text.split("\n") if not _HEADER.match(line)), type(error).__name__)
    files = {one.__code__.co_filename for one in functions}
    places = [(a or c, int(b or d)) for a, b, c, d in _PLACES.findall(text)]
    known = [(file, line) for file, line in places if file in files]
    file, line = known[0] if known else (function.__code__.co_filename, function.__code__.co_firstlineno)
    name = next(
        (one.__name__ for one in functions if one.__code__.co_filename == file and line in _lines(one)),
        function.__name__,
    )
    return CompileError(
        f"{name} cannot be compiled",
        place=Place(file, line),
        found=_in_words(said, text),
        expected=_EXPECTED,
        hint="give each variable one type throughout; a row has no methods: use loops",
    )


def _lines(function: FunctionType) -> range:
    lines = [line for _, _, line in function.__code__.co_lines() if line]
    return range(min(lines), max(lines) + 1)
