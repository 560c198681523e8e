"""Drives numba, of which only the typing of functions and their translation to LLVM's text are used.

numba's own pipeline optimises, links and loads each function separately, looks for array expressions to rewrite, and
translates a helper again for each constant argument. None of that is wanted here: a function is translated once for the
types of its arguments, and LLVM sees it once, together with everything that it calls (`frontend.translate`). The
contexts are separate from numba's, so other users of numba in the same process are not affected.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from numba.core import codegen, compiler, cpu, sigutils, targetconfig, typed_passes, types, untyped_passes
from numba.core.cgutils import normalize_ir_text
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.imputils import builtin_registry
from numba.core.registry import CPUDispatcher, CPUTarget
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_registry
from numba.core.typing.context import Context
from numba.cpython import mathimpl, numbers

from persona_evo.compiling.checks import check
from persona_evo.compiling.marks import is_marked, used

_FLAGS = {
    "nopython": True,
    "error_model": "numpy",
    "nogil": True,
    "boundscheck": False,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
_NAME = "persona_evo"
_SCALAR = (types.Number, types.Boolean, types.Literal)


class _Machine(CPU):
    """A target in numba's sense, whose functions numba keeps apart from those of other targets."""


class _Pipeline(compiler.CompilerBase):
    """A minimal pipeline from bytecode to LLVM's text."""

    def define_pipelines(self) -> list[Any]:
        manager = PassManager(_NAME)
        for one in _PASSES:
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


class _Library(codegen.CodeLibrary):
    """Holds the text of one function, and the libraries of the functions that it calls."""

    _object_compiled_hook = _object_getbuffer_hook = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.texts: list[str] = []
        self.libraries: list[_Library] = []

    def add_linking_library(self, library: _Library) -> None:
        self.libraries.append(library)

    def add_ir_module(self, ir_module: Any) -> None:
        self.texts.append(normalize_ir_text(str(ir_module)))

    def finalize(self) -> None:
        self._finalized = True

    def get_function(self, name: str) -> Any:
        raise NotImplementedError

    def get_llvm_str(self) -> str:
        raise NotImplementedError

    get_asm_str = get_llvm_str


def texts(library: _Library) -> Iterator[str]:
    """Yield the texts of a function and of everything that it calls, without repeats."""
    waiting, seen = [library], {id(library)}
    while waiting:
        one = waiting.pop()
        yield from one.texts
        for other in one.libraries:
            if id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)


class _Codegen(codegen.JITCPUCodegen):
    _library_class: Any = _Library

    def set_env(self, env_name: str, env: Any) -> None:
        pass


class _Typing(Context):
    """A typing context that looks up the result types of operators and functions on numbers only once."""

    def __init__(self) -> None:
        self._results: dict[Any, Any] = {}
        super().__init__()

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(func, types.Function) or not all(isinstance(one, _SCALAR) for one in args):
            return super().resolve_function_type(func, args, kws)
        key = func, args
        if key not in self._results:
            self._results[key] = super().resolve_function_type(func, args, kws)
        return self._results[key]


class _Target(cpu.CPUContext):
    """Lowers what compiled functions may use of Python: numbers, ranges, slices, tuples, and `math`."""

    def init(self) -> None:
        self.is32bit = False
        self._internal_codegen = _Codegen(_NAME)
        self.install_registry(builtin_registry)

    def load_additional_registries(self) -> None:
        from numba.core import optional  # noqa: F401
        from numba.cpython import builtins, iterators, rangeobj, slicing, tupleobj  # noqa: F401

        self.install_registry(mathimpl.registry)

    def post_lowering(self, mod: Any, library: Any) -> None:
        pass

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """Return the key under which numba finds the function again; any built-in that equals no other will do."""
        return [].append


class _Descriptor(CPUTarget):
    @functools.cached_property
    def _toplevel_target_context(self) -> _Target:
        return _Target(self.typing_context, self._target_name)

    @functools.cached_property
    def _toplevel_typing_context(self) -> _Typing:
        return _Typing()


class _Helper(CPUDispatcher):
    """numba's form of a marked function."""

    targetdescr = _Descriptor(_NAME)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the template of a call, treating constant arguments like any other numbers."""
        return super().get_call_template(tuple(types.unliteral(one) for one in args), kws)

    def compile(self, sig: Any) -> Any:
        """Translate the function once for the types of a call."""
        takes, gives = sigutils.normalize_signature(sig)
        found: Any = self.overloads.get(tuple(takes))
        if found is None:
            found = self._compiler.compile(takes, gives)
            self.add_overload(found)
        return found.entry_point


@functools.cache
def helper(function: FunctionType) -> Any:
    """Return numba's form of a marked function, which uses numba's forms of the functions that it calls."""
    where = getattr(function, "__primitive__", "")
    if where:
        module, name = where.split(":")
        return getattr(importlib.import_module(module), name)
    check(function)
    known = dict(function.__globals__)
    for name, value in used(function).items():
        if is_marked(value):
            known[name] = helper(value)
    plain = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    return _dispatcher(plain, forceinline=not hasattr(function, "__apart__"))


def _dispatcher(function: Callable[..., Any], **flags: Any) -> Any:
    return _Helper(function, targetoptions={**_FLAGS, **flags}, pipeline_class=_Pipeline)


def _jit(**_: Any) -> Callable[[Callable[..., Any]], Any]:
    """Replace the decorator of numba's own functions that are written in Python, such as `min`."""
    return _dispatcher


target_registry[_NAME] = _Machine
dispatcher_registry[_Machine] = _Helper
jit_registry[_Machine] = _jit


def typed(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function and everything that it calls with numba; return the result, whose library has `texts`."""
    with global_compiler_lock, _settings():
        made = _dispatcher(function)
        made.compile(signature)
        (result,) = made.overloads.values()
    return result


@contextlib.contextmanager
def _settings() -> Iterator[None]:
    """Let whole numbers wrap on overflow, which hashes need, and compare numba's settings by what was set.

    Without this, numba leaves overflow undefined.
    """
    config = targetconfig.TargetConfig

    def equal(self: Any, other: Any) -> Any:
        return self is other or (isinstance(other, config) and self._values == other._values)

    instead: tuple[tuple[Any, str, Any], ...] = (
        (config, "__eq__", equal),
        (config, "__hash__", lambda self: hash(type(self))),
        (numbers, "_int_arith_flags", lambda kind: []),
    )
    before = [(owner, name, owner.__dict__[name]) for owner, name, _ in instead]
    for owner, name, replacement in instead:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)
