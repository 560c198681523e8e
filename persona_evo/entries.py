"""Compiled functions as arguments of compiled functions, passed by address.

numba has first-class functions, but looks their address up in Python each time one is passed (50 to 90 microseconds an
argument) and asks at each call how they want to be called. An `Entry` knows the address of the one compiled version of
a function, and code that takes an `entry_type` calls it with numba's own convention, as it would a function that it
knows by name.
"""

from __future__ import annotations

from typing import Any

from numba.core import types, typing
from numba.extending import NativeValue, lower_builtin, models, register_model, unbox

_CALL = "persona_evo.entries.call"


class EntryType(types.Callable):
    """The type of a compiled function's address; `signature` is what it takes and returns."""

    def __init__(self, signature: Any) -> None:
        self.signature = signature
        super().__init__(name=f"Entry({signature})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature of a call (what numba asks when it types one)."""
        return typing.signature(self.signature.return_type, *self.signature.args, recvr=self)

    def get_call_signatures(self) -> Any:
        """All signatures, and whether there are more that depend on the arguments."""
        return [self.signature], False

    def get_impl_key(self, signature: Any) -> Any:
        """Under what the machine code of a call is registered."""
        return _CALL


register_model(EntryType)(models.OpaqueModel)


class Entry:
    """The address of a dispatcher's one compiled version, which it keeps alive."""

    def __init__(self, dispatcher: Any) -> None:
        (version,) = dispatcher.overloads.values()
        self.dispatcher = dispatcher
        self.address: int = version.library.get_pointer_to_function(version.fndesc.llvm_func_name)
        self._numba_type_ = EntryType(version.signature)


@unbox(EntryType)
def _unbox(kind: Any, entry: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(entry, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address)


@lower_builtin(_CALL, EntryType, types.VarArg(types.Any))
def _call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    target = signature.args[0].signature
    convention = context.call_conv
    kind = convention.get_function_type(target.return_type, target.args)
    address = builder.bitcast(args[0], kind.as_pointer())
    _, result = convention.call_function(builder, address, target.return_type, target.args, args[1:])
    return result
