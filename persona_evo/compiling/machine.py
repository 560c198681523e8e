"""Machine code: linked of bitcode, optimised once, kept on disk, loaded by llvmlite alone.

A program is an entry with the functions of one game linked in, so that calls between them cost nothing. On a warm start
its object file is read and loaded, and numba is not imported at all. What is missing is translated first (`frontend`).
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from persona_evo.compiling import cache
from persona_evo.compiling.arrays import Field, Number
from persona_evo.compiling.marks import fingerprint

SPEED = 3
"""How much LLVM optimises, from 0 to 3."""

_loaded: dict[str, Any] = {}


@functools.cache
def _base() -> str:
    """What every translation depends on beside the function."""
    digest = hashlib.sha256()
    for module in ("arrays", "frontend", "machine", "typing"):
        digest.update((Path(__file__).parent / f"{module}.py").read_bytes())
    digest.update(f"{sys.version_info[:2]} {_version('numba')} {llvmlite.__version__} {platform.machine()}".encode())
    digest.update(f"{sys.platform}".encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join((_base(), *parts)).encode()).hexdigest()[:40]


class Code:
    """A function that is to become machine code, with its C signature."""

    def __init__(self, function: FunctionType, takes: tuple[Field, ...], gives: Number) -> None:
        self.function, self.takes, self.gives = function, takes, gives

    @functools.cached_property
    def name(self) -> str:
        """What its bitcode is kept under."""
        return _digest(fingerprint(self.function), repr(self.takes), repr(self.gives))

    @property
    def symbol(self) -> str:
        """Its name in its bitcode."""
        return f"{self.function.__name__}.{self.name[:16]}"

    def bitcode(self) -> bytes:
        """It and all that it calls, as bitcode."""
        found = cache.read(f"{self.name}.bc")
        if found is None:
            from persona_evo.compiling.frontend import translate

            found = translate(self.function, self.takes, self.gives, self.symbol)
            cache.write(f"{self.name}.bc", found)
        return found


def address_of(entry: Code, parts: Mapping[str, Code]) -> int:
    """The address of a program's machine code, made where it is not there yet.

    Args:
        entry: the function that is called from Python.
        parts: by the names that it knows them by, the functions it is linked with; calls of others give 0.
    """
    name = _digest(entry.name, *(f"{symbol}={code.name}" for symbol, code in sorted(parts.items())), *_host())
    if name not in _loaded:
        content = cache.read(f"{name}.o")
        if content is None:
            content = _build(entry, parts)
            cache.write(f"{name}.o", content)
        symbol = f"program.{name}"
        _loaded[name] = _load(content, symbol) if content else 0
    return _loaded[name]  # type: ignore[no-any-return]


@functools.cache
def _host() -> tuple[str, str]:
    """The processor and what it can do."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""
    return llvm.get_host_cpu_name(), features


def target_machine() -> Any:
    """What makes code for this processor; each user needs one of its own."""
    for start in (llvm.initialize_native_target, llvm.initialize_native_asmprinter):
        start()
    processor, features = _host()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=processor, features=features, opt=SPEED, reloc="default", codemodel="jitdefault",
                                        jit=True)  # fmt: skip


def _build(entry: Code, parts: Mapping[str, Code]) -> bytes:
    """The object file of a program."""
    host = target_machine()
    module = llvm.parse_bitcode(entry.bitcode())
    module.triple, module.data_layout = host.triple, str(host.target_data)
    for symbol, code in sorted(parts.items()):
        if symbol not in (one.name for one in module.functions):
            continue
        part = llvm.parse_bitcode(code.bitcode())
        part.triple, part.data_layout = host.triple, str(host.target_data)
        part.get_function(code.symbol).name = symbol
        module.link_in(part)
    missing = [str(one) for one in module.functions if one.is_declaration and one.name.startswith("work.")]
    if missing:
        stubs = llvm.parse_assembly("\n".join(_stub(one) for one in missing))
        stubs.triple, stubs.data_layout = host.triple, str(host.target_data)
        module.link_in(stubs)
    for one in module.functions:
        if not one.is_declaration and one.name != entry.symbol:
            one.linkage = "internal"
    name = _digest(entry.name, *(f"{symbol}={code.name}" for symbol, code in sorted(parts.items())), *_host())
    module.get_function(entry.symbol).name = f"program.{name}"
    module.verify()
    options = llvm.create_pipeline_tuning_options(SPEED)
    # Loops here run over a node's few children: what vectors and unrolled copies cost before and behind does not pay.
    options.loop_vectorization = options.loop_unrolling = False
    options.slp_vectorization = True
    passes = llvm.create_pass_builder(host, options)
    passes.getModulePassManager().run(module, passes)
    return bytes(host.emit_object(module))


def _stub(declaration: str) -> str:
    """A function that gives 0, from the text of its declaration."""
    text = declaration.strip().split("\n")[-1]
    gives = text.split()[1]
    body = "ret void" if gives == "void" else f"ret {gives} {'0.0' if gives == 'double' else '0'}"
    return f"define {text.removeprefix('declare ').split(' #')[0]} {{\n  {body}\n}}"


@functools.cache
def _engine() -> Any:
    """What loads machine code into this process."""
    machine = target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _load(content: bytes, symbol: str) -> int:
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    return int(engine.get_function_address(symbol))


def c_function(address: int, numbers: int, gives: Number | None = None) -> Callable[..., Any]:
    """A C function of so many whole numbers (addresses among them), as Python calls it without the lock."""
    result = ctypes.c_double if gives is not None and gives.real else ctypes.c_int64
    return ctypes.CFUNCTYPE(result, *[ctypes.c_int64] * numbers)(address)
