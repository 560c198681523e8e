"""Tests that vectors in machine code equal plain Python, with and without an instruction for looking up bytes."""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite import ir

from persona_evo.games import vector_code, vectors
from persona_evo.games.vector_code import BYTE, BYTES, WIDE, RowAddress

HOST = llvm.get_process_triple()
FEATURES = {"with a look-up": "+ssse3", "lane by lane": ""}
BYTE_LISTS = st.lists(st.integers(0, 255), min_size=16, max_size=16).map(bytes)


def emitted(triple: str, features: str) -> str:
    """LLVM's text of functions (values i8*, row i8*, a i64, b i64) -> i64 named as the operations on vectors."""
    module = ir.Module()
    module.triple = triple

    def define(name: str, body: Any) -> None:
        kind = ir.FunctionType(WIDE, [BYTE.as_pointer(), BYTE.as_pointer(), WIDE, WIDE])
        function = ir.Function(module, kind, name)
        b = ir.IRBuilder(function.append_basic_block())
        b.features = features
        values, row = RowAddress(b, function.args[0]), RowAddress(b, function.args[1])
        b.ret(body(b, values, values.load(ir.Constant(WIDE, 0), BYTES), row, *function.args[2:]))

    code = {name: getattr(vector_code, name).emit for name in ("lane", "equal", "high", "among", "with_lane")}
    define("lane", lambda b, place, v, row, i, _: code["lane"](b, v, i))
    define("equal", lambda b, place, v, row, x, _: code["equal"](b, v, x))
    define("high", lambda b, place, v, row, x, _: code["high"](b, v))
    define("among", lambda b, place, v, row, at, _: code["among"](b, v, row, at))

    def with_lane(b: Any, place: RowAddress, v: Any, row: RowAddress, i: Any, x: Any) -> Any:
        place.store(ir.Constant(WIDE, 0), code["with_lane"](b, v, i, x))
        return i

    define("with_lane", with_lane)
    return str(module)


def machine(triple: str, features: str) -> Any:
    """LLVM's compiler for a target."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple).create_target_machine(features=features, opt=3)


@pytest.fixture(scope="module", params=FEATURES.values(), ids=FEATURES)
def compiled(request: pytest.FixtureRequest) -> Any:
    """Return the functions of `emitted` in this process's machine code."""
    text = emitted(HOST, request.param)
    host = machine(HOST, llvm.get_host_cpu_features().flatten())
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), host)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

    def call(name: str, values: Any, row: Any, a: int = 0, b: int = 0) -> int:
        return kind(engine.get_function_address(name))(values.ctypes.data, row.ctypes.data, a, b)

    return call


@given(values=BYTE_LISTS, row=BYTE_LISTS, i=st.integers(0, 15), x=st.integers(0, 255))
def test_machine_code_does_what_plain_python_does(compiled: Any, values: bytes, row: bytes, i: int, x: int) -> None:
    held = np.frombuffer(values * 2, dtype=np.uint8).copy()
    table = np.frombuffer(b"\0\0" + row, dtype=np.uint8).copy().view(np.uint16)
    assert compiled("lane", held, table, i) == vectors.lane(values, i)
    for value in (x, values[i]):
        assert compiled("equal", held, table, value) == vectors.equal(values, value)
    assert compiled("high", held, table) == vectors.high(values)
    assert compiled("among", held, table, 2) == vectors.among(values, table, 2)
    compiled("with_lane", held, table, i, x)
    assert held[:16].tobytes() == vectors.with_lane(values, i, x)


def test_a_set_of_numbers_is_found_among_lanes() -> None:
    bits = np.packbits([k in (0, 7, 8, 126) for k in range(128)], bitorder="little").view(np.uint16)
    values = bytes([0, 1, 7, 8, 9, 126, 127, *[3] * 9])
    assert vectors.among(values, bits, 0) == 0b101101


def test_bits_of_whole_numbers() -> None:
    for number in (1, 6, 2**40, 2**62 + 2**5):
        assert vectors.lowest(number) == f"{number:b}"[::-1].index("1")
        assert vectors.ones(number) == f"{number:b}".count("1")


def test_each_processor_looks_bytes_up_with_its_own_instruction() -> None:
    arm = emitted("aarch64-unknown-linux-gnu", "")
    module = llvm.parse_assembly(arm)
    target = machine("aarch64-unknown-linux-gnu", "+neon")
    assert "tbl\t" in target.emit_assembly(module)
    assert len(target.emit_object(module)) > 500
    assert vector_code.lookup_instruction("arm64-apple-darwin", "") == "llvm.aarch64.neon.tbl1.v16i8"
    assert "pshuf" in emitted("x86_64-unknown-linux-gnu", "+ssse3")
    assert "pshuf" not in emitted("x86_64-unknown-linux-gnu", "+sse2")
    assert vector_code.lookup_instruction("riscv64-unknown-linux-gnu", "+v") == ""
