"""Translates marked Python functions to LLVM bitcode. Of numba, only typing and translation are used.

This module is imported only if something has to be compiled that is not on disk yet (see `machine`). It adds the types
of `arrays` to numba: rows and tables, which are only an address and sizes, and the functions of games and formulas.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, errors, types, typing
from numba.core.extending import intrinsic, lower_builtin, models, register_model
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global

from persona_evo.compiling.arrays import ArrayType, Field, Function, ScalarType
from persona_evo.compiling.checks import explained
from persona_evo.compiling.marks import reached
from persona_evo.compiling.typing import helper, texts, typed

_WORD = ir.IntType(64)


class RowArray(types.Type):
    """The numba type of an array of one or two dimensions, given as its address and sizes."""

    def __init__(self, shape: ArrayType) -> None:
        self.element = numba.from_dtype(numba.np.numpy_support.as_dtype(getattr(types, shape.dtype)))
        self.value = types.int64 if isinstance(self.element, types.Integer) else types.float64
        self.dimensions = shape.dimensions
        super().__init__(f"Row({shape.dtype}, {shape.dimensions})")

    def within(self) -> RowArray:
        """Return the type of one row of a table."""
        return RowArray(ArrayType(str(self.element), 1))


@register_model(RowArray)
class _RowModel(models.StructModel):
    def __init__(self, manager: Any, kind: RowArray) -> None:
        sizes = [(f"n{k}", types.int64) for k in range(kind.dimensions)]
        super().__init__(manager, kind, [("data", types.CPointer(kind.element)), *sizes])


class Called(types.Callable):
    """The numba type of a function with a C signature: `symbol` is its link name, "" for a call by address."""

    def __init__(self, symbol: str, takes: tuple[types.Type, ...], gives: types.Type) -> None:
        self.symbol, self.takes, self.gives = symbol, takes, gives
        super().__init__(f"Called({symbol}, {takes}, {gives})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call; numba asks for it when it types the call."""
        return typing.signature(self.gives, *self.takes, recvr=self)

    def get_call_signatures(self) -> Any:
        """Return all signatures, and whether there are more that depend on the arguments."""
        return [typing.signature(self.gives, *self.takes, recvr=self)], False

    def get_impl_key(self, signature: Any) -> Any:
        """Return the key under which the machine code of a call is registered."""
        return "persona_evo.called"


@register_model(Called)
class _CalledModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Called) -> None:
        super().__init__(manager, kind, _WORD)


def numba_type(field: Field, symbol: str = "") -> Any:
    """Return the numba type of a field; `symbol` is the link name of functions in it."""
    if isinstance(field, ArrayType):
        return RowArray(field)
    if isinstance(field, ScalarType):
        return types.float64 if field.real else types.int64
    if isinstance(field, Function):
        gives = types.void if field.gives is None else numba_type(field.gives)
        takes = tuple(numba_type(one) for one in field.takes)
        return Called(symbol if field.linked else "", takes, gives)
    members = [numba_type(member, f"{symbol}.{name}") for name, member in field.members.items()]
    return types.BaseTuple.from_types(members, field.kind)


def flat(kind: types.Type) -> list[Any]:
    """Return the C parameters for a value of a type; a row takes its address and its sizes."""
    if isinstance(kind, RowArray):
        return [_WORD] * (1 + kind.dimensions)
    return [ir.DoubleType() if kind == types.float64 else _WORD]


def c_type(takes: tuple[types.Type, ...], gives: types.Type, bare: bool = False) -> Any:
    """Return the C signature of a function; with `bare` it has no parameters for the sizes of rows."""
    result = ir.VoidType() if gives == types.void else flat(gives)[0]
    return ir.FunctionType(result, [part for one in takes for part in flat(one)[: 1 if bare else None]])


@lower_builtin("persona_evo.called", Called, types.VarArg(types.Any))
def _call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    target = signature.args[0]
    parts = []
    for kind, value in zip(target.takes, args[1:], strict=True):
        if isinstance(kind, RowArray):
            row = cgutils.create_struct_proxy(kind)(context, builder, value=value)
            parts.append(builder.ptrtoint(row.data, _WORD))
            if target.symbol:
                parts += (getattr(row, f"n{k}") for k in range(kind.dimensions))
        else:
            parts.append(value)
    kind = c_type(target.takes, target.gives, not target.symbol)
    if target.symbol:
        function = cgutils.get_or_insert_function(builder.module, kind, target.symbol)
    else:
        function = builder.inttoptr(args[0], kind.as_pointer())
    found = builder.call(function, parts)
    return context.get_dummy_value() if target.gives == types.void else found


# ---------------------------------------------------------------- rows


def _proxy(context: Any, builder: Any, kind: RowArray, value: Any) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value=value)


def _make(context: Any, builder: Any, kind: RowArray, data: Any, *sizes: Any) -> Any:
    row = cgutils.create_struct_proxy(kind)(context, builder)
    row.data = data
    for k, size in enumerate(sizes):
        setattr(row, f"n{k}", size)
    return row._getvalue()


@infer_global(operator.getitem)
class _Getitem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        row, at = args
        if not isinstance(row, RowArray):
            return None
        if isinstance(at, types.SliceType):
            return typing.signature(row, row, types.slice2_type)
        if isinstance(at, types.BaseTuple):
            return typing.signature(row.value, row, types.UniTuple(types.int64, 2))
        if not isinstance(at, (types.Integer, types.Boolean)):
            return None
        return typing.signature(row.value if row.dimensions == 1 else row.within(), row, types.int64)


@infer_global(operator.setitem)
class _Setitem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        row, at, _ = args
        if not isinstance(row, RowArray) or not isinstance(at, (types.Integer, types.Boolean, types.BaseTuple)):
            return None
        index = types.UniTuple(types.int64, 2) if isinstance(at, types.BaseTuple) else types.int64
        return typing.signature(types.void, row, index, row.value)


def _place(context: Any, builder: Any, kind: RowArray, value: Any, at: Any) -> Any:
    row = _proxy(context, builder, kind, value)
    if kind.dimensions == 2:
        line, column = cgutils.unpack_tuple(builder, at)
        at = builder.add(builder.mul(line, row.n1), column)
    return builder.gep(row.data, [at], inbounds=True, source_etype=context.get_data_type(kind.element))


@lower_builtin(operator.getitem, RowArray, types.Integer)
@lower_builtin(operator.getitem, RowArray, types.UniTuple)
def _get(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind, index = signature.args
    if kind.dimensions == 2 and not isinstance(index, types.BaseTuple):
        table = _proxy(context, builder, kind, args[0])
        data = builder.gep(
            table.data,
            [builder.mul(args[1], table.n1)],
            inbounds=True,
            source_etype=context.get_data_type(kind.element),
        )
        return _make(context, builder, kind.within(), data, table.n1)
    place = _place(context, builder, kind, args[0], args[1])
    found = builder.load(place, typ=context.get_data_type(kind.element))
    return context.cast(builder, found, kind.element, kind.value)


@lower_builtin(operator.setitem, RowArray, types.Integer, types.Any)
@lower_builtin(operator.setitem, RowArray, types.UniTuple, types.Any)
def _set(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = signature.args[0]
    place = _place(context, builder, kind, args[0], args[1])
    builder.store(context.cast(builder, args[2], kind.value, kind.element), place)
    return context.get_dummy_value()


@lower_builtin(operator.getitem, RowArray, types.SliceType)
def _slice(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind, index = signature.args
    row = _proxy(context, builder, kind, args[0])
    part = context.make_helper(builder, index, args[1])
    stop = builder.select(builder.icmp_signed("<", part.stop, row.n0), part.stop, row.n0)
    rest = [row.n1] if kind.dimensions == 2 else []
    first = builder.mul(part.start, row.n1) if rest else part.start
    data = builder.gep(row.data, [first], inbounds=True, source_etype=context.get_data_type(kind.element))
    return _make(context, builder, kind, data, builder.sub(stop, part.start), *rest)


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return typing.signature(types.int64, args[0]) if isinstance(args[0], RowArray) else None


@lower_builtin(len, RowArray)
def _length(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _proxy(context, builder, signature.args[0], args[0]).n0


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RowArray

    def resolve_shape(self, row: RowArray) -> Any:
        return types.UniTuple(types.int64, row.dimensions)


@lower_getattr(RowArray, "shape")
def _shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    row = _proxy(context, builder, kind, value)
    return cgutils.pack_array(builder, [getattr(row, f"n{k}") for k in range(kind.dimensions)])


@intrinsic(prefer_literal=True)
def stack_row(context: Any, n: Any) -> Any:
    """Allocate int64[n] on the stack of the calling function; n is a constant."""
    if not isinstance(n, types.IntegerLiteral):
        return None
    kind, count = RowArray(ArrayType("int64", 1)), n.literal_value

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = cgutils.alloca_once(builder, _WORD, size=ir.Constant(_WORD, count))
        return _make(context, builder, kind, data, ir.Constant(_WORD, count))

    return kind(n), build


# ---------------------------------------------------------------- what a function is given


def assembler(takes: tuple[types.Type, ...]) -> Any:
    """Return the intrinsic that builds a function's arguments from its C parameters; a group comes as an address."""
    result = types.Tuple(takes)

    @intrinsic
    def assemble(context: Any, parts: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            given = iter(cgutils.unpack_tuple(builder, args[0]))
            values = []
            for kind in takes:
                if isinstance(kind, types.BaseTuple):
                    values.append(_unpack(context, builder, kind, _pointer(builder, next(given)), 0)[0])
                elif isinstance(kind, RowArray):
                    data = _pointer(builder, next(given))
                    values.append(_make(context, builder, kind, data, *(next(given) for _ in range(kind.dimensions))))
                else:
                    values.append(next(given))
            return context.make_tuple(builder, result, values)

        return result(parts), build

    return assemble


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.PointerType())


def _unpack(context: Any, builder: Any, kind: Any, words: Any, at: int) -> tuple[Any, int]:
    """Read a value from memory (see `arrays.words`); return it with the index of the word after it."""

    def load(as_type: Any, k: int) -> Any:
        place = builder.gep(words, [ir.Constant(_WORD, k)], inbounds=True, source_etype=_WORD)
        return builder.load(place, typ=as_type)

    if isinstance(kind, types.BaseTuple):
        values = []
        for member in kind:
            value, at = _unpack(context, builder, member, words, at)
            values.append(value)
        return context.make_tuple(builder, kind, values), at
    if isinstance(kind, RowArray):
        sizes = [load(_WORD, at + 1 + k) for k in range(kind.dimensions)]
        return _make(context, builder, kind, load(ir.PointerType(), at), *sizes), at + 1 + kind.dimensions
    if isinstance(kind, Called) and kind.symbol:
        return ir.Constant(_WORD, 0), at
    return load(ir.DoubleType() if kind == types.float64 else _WORD, at), at + 1


# ---------------------------------------------------------------- translation


def translate(function: FunctionType, takes: tuple[Field, ...], gives: ScalarType, symbol: str) -> bytes:
    """Return a function with a C signature as LLVM bitcode, together with everything that it calls.

    Args:
        function: a marked function, or one whose callees are marked.
        takes: the types of its parameters; a group is passed as the address of its words.
        gives: the type of its result.
        symbol: its name in the bitcode.
    """
    kinds = tuple(numba_type(one, "work") for one in takes)
    result = numba_type(gives)
    parameters = types.BaseTuple.from_types([part for kind in kinds for part in _parts(kind)])
    inner, assemble = helper(function), assembler(kinds)

    def outer(parts: Any) -> Any:
        return inner(*assemble(parts))

    try:
        compiled = typed(outer, result(parameters))
    except (errors.NumbaError, NotImplementedError) as e:
        raise explained(function, list(reached(function)), e) from None
    except AssertionError as e:  # numba's answer to some functions of Python
        raise explained(function, list(reached(function)), e) from e
    module = _c_function(compiled, parameters, result, symbol)
    for text in texts(compiled.library):
        module.link_in(llvm.parse_assembly(text))
    _check_linked(function, module)
    for one in module.functions:
        if not one.is_declaration and one.name != symbol:
            one.linkage = "internal"
    module.verify()
    return bytes(module.as_bitcode())


def _check_linked(function: FunctionType, module: Any) -> None:
    """Check that a module calls nothing that only numba provides, since numba is absent on a warm start."""
    for one in module.functions:
        known = one.name.startswith(("work.", "llvm.")) or llvm.address_of_symbol(one.name) is not None
        if one.is_declaration and (not known or one.name.startswith(("numba_", "NRT_", "Py"))):
            raise explained(function, [function], NotImplementedError(f"calls {one.name}"))


def _parts(kind: types.Type) -> list[types.Type]:
    if isinstance(kind, types.BaseTuple):
        return [types.int64]
    if isinstance(kind, RowArray):
        return [types.int64] * (1 + kind.dimensions)
    return [kind]


def _c_function(compiled: Any, parameters: types.BaseTuple, result: types.Type, symbol: str) -> Any:
    """Return a module with a C function that calls numba's."""
    context = compiled.target_context
    module = context.create_module(symbol)
    convention = context.call_conv
    inner = ir.Function(module, convention.get_function_type(result, [parameters]), compiled.fndesc.llvm_func_name)
    kinds = [ir.DoubleType() if one == types.float64 else _WORD for one in parameters]
    (gives,) = flat(result)
    outer = ir.Function(module, ir.FunctionType(gives, kinds), symbol)
    builder = ir.IRBuilder(outer.append_basic_block())
    given = context.make_tuple(builder, parameters, outer.args)
    _, value = convention.call_function(builder, inner, result, [parameters], [given])
    builder.ret(value)
    return llvm.parse_assembly(cgutils.normalize_ir_text(str(module)))
