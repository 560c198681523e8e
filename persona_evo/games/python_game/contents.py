"""Numbers that are the same for values with the same contents, in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from persona_evo.errors import GameError


def number_of(value: Any) -> int:
    """Return a number in [0, 2**63) that is the same for equal plain values in every process.

    Raises:
        GameError: the value holds something that has no contents to compare.
    """
    if type(value) is int:
        if 0 <= value < 2**63:
            return value
        value = hex(value)  # which takes any number of digits
    elif type(value) not in (tuple, str, bytes) or not _is_flat(value):
        value = _contents(value, 0)
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little") >> 1


def _is_flat(value: Any) -> bool:
    return type(value) is not tuple or all(type(v) in (int, float, str, bytes, bool) or v is None for v in value)


def _contents(value: Any, depth: int) -> Any:
    if depth > 50:
        raise GameError(f"a state of type {type(value).__name__} is nested too deeply to compare; write a method `key`")
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    if isinstance(value, (list, tuple)):
        return [_contents(v, depth + 1) for v in value]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(repr(_contents(v, depth + 1)) for v in value)]
    if isinstance(value, Mapping):
        return sorted((repr(_contents(k, depth + 1)), repr(_contents(v, depth + 1))) for k, v in value.items())
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.shape, value.tobytes()]
    slots = [s for c in type(value).__mro__ for s in getattr(c, "__slots__", ()) if hasattr(value, s)]
    if hasattr(value, "__dict__") or slots:
        attributes = {**getattr(value, "__dict__", {}), **{s: getattr(value, s) for s in slots}}
        return [type(value).__name__, _contents(attributes, depth + 1)]
    raise GameError(f"states cannot be compared by a {type(value).__name__}; write a method `key`")
