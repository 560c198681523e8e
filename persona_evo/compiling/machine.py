"""Makes machine code from bitcode: links it, optimises it once, keeps it on disk, and loads it with llvmlite.

A program is an entry with the functions of one game linked in, so that calls between them cost nothing. On a warm start
its object file is read and loaded without importing numba. Missing bitcode is translated first (`frontend`).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from persona_evo.compiling import cache, estimates
from persona_evo.compiling.arrays import Field, ScalarType
from persona_evo.compiling.marks import fingerprint, reached
from persona_evo.compiling.news import told
from persona_evo.compiling.turns import turn

SPEED = 2
"""LLVM's optimisation level, from 0 to 3."""

_ROOMS = {"games": "random games", "search": "the search", "formula": "formulas"}
"""What the functions of a folder are called in progress."""
_loaded: dict[str, int] = {}


@functools.cache
def _base() -> str:
    """Return what every translation depends on besides the function."""
    digest = hashlib.sha256()
    for module in ("arrays", "frontend", "machine", "typing"):
        digest.update((Path(__file__).parent / f"{module}.py").read_bytes())
    digest.update(f"{sys.version_info[:2]} {_version('numba')} {llvmlite.__version__} {platform.machine()}".encode())
    digest.update(f"{sys.platform}".encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


@functools.cache
def mark() -> str:
    """Return the suffix of the names of machine code: a digest of this processor, its features, and the versions."""
    return _digest(*host())[:8]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join((_base(), *parts)).encode()).hexdigest()[:40]


class NativeCode:
    """A function to be compiled, with its C signature."""

    def __init__(self, function: FunctionType, takes: tuple[Field, ...], gives: ScalarType) -> None:
        self.function, self.takes, self.gives = function, takes, gives

    @functools.cached_property
    def name(self) -> str:
        """The name under which its bitcode is kept."""
        return _digest(fingerprint(self.function), repr(self.takes), repr(self.gives))

    @property
    def symbol(self) -> str:
        """The function's name in its bitcode."""
        return f"{self.function.__name__}.{self.name[:16]}"

    @property
    def file(self) -> str:
        """The file with its bitcode."""
        return f"{self.name}.bc"

    @property
    def title(self) -> str:
        """What the function belongs to, for people."""
        module = self.function.__module__
        package, room, *rest = (*module.split("."), "")
        if package != "persona_evo":
            return f"the functions of {module}"
        return f"the rules of {rest[1]}" if (room, *rest[:1]) == ("games", "catalog") else _ROOMS.get(room, room)

    @property
    def place(self) -> str | None:
        """The address by which another process finds the function, "module:name"; None if it cannot."""
        module, name = self.function.__module__, self.function.__qualname__
        marked = getattr(sys.modules.get(module), name, None)
        if module == "__main__" or getattr(marked, "code", None) is not self:
            return None
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            return None
        known = spec is not None and spec.origin == self.function.__code__.co_filename
        return f"{module}:{name}" if known else None

    @functools.cached_property
    def size(self) -> int:
        """The size of its bytecode and of everything that it calls, in bytes."""
        return sum(len(one.__code__.co_code) for one in reached(self.function))

    def bitcode(self) -> bytes:
        """Return the bitcode of the function and everything that it calls."""
        found = cache.read(self.file)
        if found is None:
            seconds = estimates.translating([self.function])
            with turn(self.file, self.title, seconds):
                found = cache.read(self.file) or self._translated(seconds)
        return found

    def _translated(self, seconds: float) -> bytes:
        from persona_evo.compiling.frontend import translate

        with told(self.title, seconds):
            found = translate(self.function, self.takes, self.gives, self.symbol)
        cache.write(self.file, found)
        return found


class NativeProgram:
    """An entry with the functions that are linked into it.

    Args:
        entry: the function that is called from Python.
        parts: the linked functions, by the names that the entry calls them by; calls of other functions return 0.
    """

    def __init__(self, entry: NativeCode, parts: Mapping[str, NativeCode]) -> None:
        self.entry, self.parts = entry, dict(sorted(parts.items()))

    @functools.cached_property
    def name(self) -> str:
        """The name under which its machine code is kept."""
        linked = (f"{symbol}={code.name}" for symbol, code in self.parts.items())
        return _digest(self.entry.name, *linked, *host())

    @property
    def file(self) -> str:
        """The file with its machine code."""
        return f"{self.name}.{mark()}.o"

    @property
    def codes(self) -> list[NativeCode]:
        """The functions that the program is made of."""
        return [self.entry, *self.parts.values()]

    @property
    def place(self) -> tuple[str | None, dict[str, str | None]] | None:
        """The addresses by which another process finds the program (see `NativeCode.place`)."""
        if any(one.place is None for one in self.codes):
            return None
        return self.entry.place, {name: one.place for name, one in self.parts.items()}

    def is_made(self) -> bool:
        """Return whether its machine code exists."""
        return self.name in _loaded or cache.has(self.file)

    def make(self, again: bool = False) -> bytes:
        """Return the object file; make it and keep it on disk if it is missing, or in any case with `again`."""
        cache.explain(mark())
        seconds = seconds_of([self])
        with turn(self.file, self.entry.title, seconds):
            content = None if again else cache.read(self.file)
            if content is None:
                with told(self.entry.title, seconds):
                    content = _build(self)
                cache.write(self.file, content)
        return content

    def address(self) -> int:
        """Return the address of the machine code, which is made if it is missing."""
        if self.name not in _loaded:
            content, symbol = cache.read(self.file), f"program.{self.name}"
            found = _load(content, symbol) if content else 0
            _loaded[self.name] = found or _load(self.make(again=content is not None), symbol)
        return _loaded[self.name]


def translating_of(codes: Iterable[NativeCode]) -> float:
    """Return the estimated seconds for making the missing bitcode of these functions."""
    return estimates.translating([one.function for one in codes if not cache.has(one.file)])


def optimising_of(programs: Iterable[NativeProgram]) -> float:
    """Return the estimated seconds for making programs from their bitcode."""
    return estimates.optimising(sum(one.size for program in programs for one in program.codes))


def seconds_of(programs: Collection[NativeProgram]) -> float:
    """Return the estimated seconds for making programs, with the bitcode that is missing."""
    codes = {one.file: one for program in programs for one in program.codes}
    return translating_of(codes.values()) + optimising_of(programs)


@functools.cache
def host() -> tuple[str, str]:
    """Return the processor and its features, or those that NUMBA_CPU_NAME and NUMBA_CPU_FEATURES name."""
    processor, features = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if features is None and processor == "generic":
        features = ""
    elif features is None:
        try:
            features = llvm.get_host_cpu_features().flatten()
        except RuntimeError:
            features = ""
    return processor or llvm.get_host_cpu_name(), features


def target_machine() -> Any:
    """Return a code generator for this processor; each user needs its own."""
    for start in (llvm.initialize_native_target, llvm.initialize_native_asmprinter):
        start()
    processor, features = host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=processor, features=features, opt=SPEED, reloc="default", codemodel="jitdefault", jit=True
    )


def _build(program: NativeProgram) -> bytes:
    """Build the object file of a program."""
    entry = program.entry
    target = target_machine()
    module = _for(target, llvm.parse_bitcode(entry.bitcode()))
    for symbol, code in program.parts.items():
        if symbol not in (one.name for one in module.functions):
            continue
        part = _for(target, llvm.parse_bitcode(code.bitcode()))
        part.get_function(code.symbol).name = symbol
        module.link_in(part)
    missing = [str(one) for one in module.functions if one.is_declaration and one.name.startswith("work.")]
    if missing:
        module.link_in(_for(target, llvm.parse_assembly("\n".join(_stub(one) for one in missing))))
    for one in module.functions:
        if not one.is_declaration and one.name != entry.symbol:
            one.linkage = "internal"
    module.get_function(entry.symbol).name = f"program.{program.name}"
    module.verify()
    options = llvm.create_pipeline_tuning_options(SPEED)
    # Loops here run over a node's few children, so vectorised and unrolled loops do not pay for their set-up.
    options.loop_vectorization = options.loop_unrolling = False
    options.slp_vectorization = False  # it takes a third of LLVM's time and gains nothing here
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    return bytes(target.emit_object(module))


def _for(target: Any, module: Any) -> Any:
    """Set a module's target, and return the module."""
    module.triple, module.data_layout = target.triple, str(target.target_data)
    return module


def _stub(declaration: str) -> str:
    """Return a function that returns 0, from the text of its declaration."""
    text = declaration.strip().split("\n")[-1]
    gives = text.split()[1]
    body = "ret void" if gives == "void" else f"ret {gives} {'0.0' if gives == 'double' else '0'}"
    return f"define {text.removeprefix('declare ').split(' #')[0]} {{\n  {body}\n}}"


@functools.cache
def _engine() -> Any:
    """Return the engine that loads machine code into this process."""
    machine = target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _load(content: bytes, symbol: str) -> int:
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return int(engine.get_function_address(symbol))


def c_function(address: int, numbers: int, gives: ScalarType | None = None) -> Callable[..., Any]:
    """Return a C function of this many whole numbers or addresses; Python calls it without holding the GIL."""
    result = ctypes.c_double if gives is not None and gives.real else ctypes.c_int64
    return ctypes.CFUNCTYPE(result, *[ctypes.c_int64] * numbers)(address)
