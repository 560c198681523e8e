"""How numba is driven: it types functions and writes them as LLVM's text, and the rest of it is left out.

numba's own pipeline optimises, links and loads each function for itself, looks for rewritings of array expressions, and
types a helper anew for each constant it is called with. None of that is wanted here: a function is translated once for
the types of its arguments, and LLVM sees it once, together with all that it calls (`frontend.translate`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from numba.core import codegen, compiler, cpu, errors, sigutils, targetconfig, types, typed_passes, untyped_passes
from numba.core.cgutils import normalize_ir_text
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.context import Context
from numba.cpython import numbers

from persona_evo.compiling.marks import is_marked, used

_FLAGS = {"nopython": True, "error_model": "numpy", "nogil": True, "boundscheck": False, "_nrt": False,
          "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # fmt: skip


class _Pipeline(compiler.CompilerBase):  # type: ignore[misc]
    """From bytecode to LLVM, and no more than that takes."""

    def define_pipelines(self) -> list[Any]:
        manager = PassManager("persona_evo")
        for one in (untyped_passes.TranslateByteCode, untyped_passes.FixupArgs, untyped_passes.IRProcessing,
                    untyped_passes.ReconstructSSA, typed_passes.NopythonTypeInference, typed_passes.PreLowerStripPhis,
                    typed_passes.IRLegalization, typed_passes.NativeLowering, typed_passes.NoPythonBackend):  # fmt: skip
            manager.add_pass(one, "")
        manager.finalize()
        return [manager]


class _Library(codegen.CodeLibrary):  # type: ignore[misc]
    """The text of one function, and the libraries of what it calls."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.texts: list[str] = []
        self.libraries: list[Any] = []

    def add_linking_library(self, library: Any) -> None:
        self.libraries.append(library)

    def add_ir_module(self, ir_module: Any) -> None:
        self.texts.append(normalize_ir_text(str(ir_module)))

    def finalize(self) -> None:
        self._finalized = True

    def get_function(self, name: str) -> Any:
        raise NotImplementedError

    get_llvm_str = get_asm_str = get_function


def texts(library: Any) -> Iterator[str]:
    """The texts of a function and of all that it calls, each once."""
    waiting, seen = [library], {id(library)}
    while waiting:
        one = waiting.pop()
        yield from one.texts
        for other in one.libraries:
            if isinstance(other, _Library) and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)


class _Helper(CPUDispatcher):  # type: ignore[misc]
    """numba's form of a marked function."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Constants among the arguments are numbers like others."""
        return super().get_call_template(tuple(types.unliteral(one) for one in args), kws)

    def compile(self, sig: Any) -> Any:
        """Translate it for the types of a call, once."""
        takes, gives = sigutils.normalize_signature(sig)
        found = self.overloads.get(tuple(takes))
        if found is None:
            found = self._compiler.compile(takes, gives)
            self.add_overload(found)
        return found.entry_point


@functools.cache
def helper(function: FunctionType) -> Any:
    """numba's form of a marked function, which uses those of what it calls."""
    where = getattr(function, "__primitive__", "")
    if where:
        module, name = where.split(":")
        return getattr(importlib.import_module(module), name)
    known = dict(function.__globals__)
    for name, value in used(function).items():
        if is_marked(value):
            known[name] = helper(value)
    plain = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    return _dispatcher(plain, forceinline=not hasattr(function, "__apart__"))


def _dispatcher(function: Callable[..., Any], **flags: Any) -> Any:
    return _Helper(function, targetoptions={**_FLAGS, **flags}, pipeline_class=_Pipeline)


def typed(function: Callable[..., Any], signature: Any) -> Any:
    """numba's result of compiling a function, and with it all that it calls, whose libraries have `texts`."""
    with global_compiler_lock, _translating_only():
        made = _dispatcher(function)
        made.compile(signature)
        (result,) = made.overloads.values()
    return result


@contextlib.contextmanager
def _translating_only() -> Iterator[None]:
    """numba neither optimises nor loads what it translates, and looks up only once what is always the same.

    Whole numbers wrap when they overflow, as hashes need it (numba would leave that undefined). What it would load is the
    key under which it finds the function again: any builtin that is equal to no other will do. Settings are compared
    by what was set.
    """
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()
    config = targetconfig.TargetConfig
    resolve, known = Context.resolve_function_type, _resolved

    def resolved(self: Any, function: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(function, types.Function) or not all(isinstance(one, _PLAIN) for one in args):
            return resolve(self, function, args, kws)
        key = function, args
        if key not in known:
            known[key] = resolve(self, function, args, kws)
        return known[key]

    def refresh(self: Any) -> None:
        for registry in tuple(self._registries):
            self.install_registry(registry)

    def equal(self: Any, other: Any) -> Any:
        return self is other or (isinstance(other, config) and self._values == other._values)

    instead: list[tuple[Any, str, Any]] = [
        (codegen.JITCPUCodegen, "_library_class", _Library),
        (cpu.CPUContext, "get_executable", lambda *_: [].append),
        (cpu.CPUContext, "refresh", refresh),
        (Context, "refresh", lambda self: None),
        (Context, "resolve_function_type", resolved),
        (config, "__eq__", equal),
        (config, "__hash__", lambda self: hash(type(self))),
        (numbers, "_int_arith_flags", lambda kind: []),
    ]
    before = [(owner, name, owner.__dict__.get(name, _MISSING)) for owner, name, _ in instead]
    for owner, name, replacement in instead:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, original in before:
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


_MISSING = object()
_PLAIN = (types.Number, types.Boolean, types.Literal)
_resolved: dict[Any, Any] = {}
