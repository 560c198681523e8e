"""The one place where Python becomes machine code.

`compiled` marks a function for numba with the flags that pay here; `interpreted` gives the same function as plain
Python, calls to other compiled functions included: slow, and with identical results (the oracle of the tests, and the
way in which games written as Python classes are searched).

Compiled code is kept on disk. numba looks only at the file of a function when it decides whether that is stale, so the
folder is named by a hash of every source file of this package, of the versions and of the flags: an edit anywhere
starts a new folder, and old ones are removed. Where the package lies and when its files were written says nothing then:
two copies of the same sources share what was compiled.

The decorator can be exchanged before anything is imported (`PERSONA_EVO_INTERPRET=1` leaves everything in Python).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import os
import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "boundscheck": False, "_nrt": False}
"""`_nrt` is numba's private switch for reference counting, without which functions this small are five times faster;
so compiled code must not make arrays of its own."""
INTERPRET = bool(os.environ.get("PERSONA_EVO_INTERPRET")) or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether nothing is compiled, which is slow and shows more."""


def cache_root() -> Path:
    """Where compiled code is kept: $PERSONA_EVO_CACHE or the user's cache folder."""
    given = os.environ.get("PERSONA_EVO_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "persona_evo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "persona_evo"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "persona_evo"


@functools.cache
def cache_folder() -> Path:
    """The folder for exactly these sources, versions and flags."""
    import llvmlite
    import numba

    digest = hashlib.sha256()
    for part in (sys.version, numba.__version__, llvmlite.__version__, platform.machine(), repr(FLAGS)):
        digest.update(part.encode())
    package = Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        relative = source.relative_to(package)
        if relative.parts[0] in ("formula", "games", "search") or len(relative.parts) == 1:
            digest.update(str(relative).encode())
            digest.update(source.read_bytes())
    root = cache_root()
    folder = root / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK) and not any(folder.rglob("*.nbc")):
            raise PermissionError
    except OSError:
        import tempfile

        root = Path(tempfile.gettempdir()) / "persona_evo_cache"
        folder = root / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
    _forget_old(root, folder)
    return folder


def _forget_old(root: Path, current: Path, keep: int = 4) -> None:
    """Remove what older sources left; another process may be doing the same."""
    import contextlib
    import shutil

    folders = []
    for f in root.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if f != current and re.fullmatch("[0-9a-f]{16}", f.name) and _is_ours(f):
                folders.append((f.stat().st_mtime, f))
    for _, old in sorted(folders, reverse=True)[keep:]:
        shutil.rmtree(old, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether a folder holds numba's files, or nothing at all."""
    files = [f for f in folder.rglob("*") if f.is_file()]
    return folder.is_dir() and all(f.suffix in (".nbi", ".nbc", ".tmp") for f in files)


def is_warm() -> bool:
    """Whether compiled code for these sources is on disk already."""
    return any(cache_folder().rglob("*.nbc"))


def jit(
    function: Callable[..., Any],
    signature: Any = None,
    *,
    inline: bool = False,
    final: bool = False,
) -> Any:
    """`function` compiled by numba.

    Args:
        function: a function at module level (closures cannot be cached).
        signature: an explicit numba signature, needed for what is passed to or receives other functions.
        inline: ask LLVM to inline it into its callers.
        final: forbid other signatures (needed where a parameter is a function, or each process would recompile).
    """
    if INTERPRET:
        return function
    import numba
    from numba.core.typeinfer import register_dispatcher

    flags = dict(FLAGS)
    if inline:
        flags["forceinline"] = True
    dispatcher = numba.njit(**flags)(function)
    dispatcher._cache = _cache_class()(function)
    if signature is not None:
        with register_dispatcher(dispatcher):
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    elif final:
        dispatcher.disable_compile()
    return dispatcher


@functools.cache
def _cache_class() -> Any:
    """numba's cache of a function, in our folder, that neither a damaged file nor a folder without room can stop."""
    from numba.core import caching

    class Locator(caching.UserProvidedCacheLocator):
        def __init__(self, function: Any, file: str) -> None:
            self._py_file, self._lineno = file, function.__code__.co_firstlineno
            source, package = Path(file).resolve(), Path(__file__).resolve().parent
            self._ours = source.is_relative_to(package)
            inside = source.relative_to(package).with_suffix("") if self._ours else None
            self._cache_path = str(cache_folder() / (inside or self.get_suitable_cache_subpath(file)))

        def get_source_stamp(self) -> Any:
            return cache_folder().name if self._ours else super().get_source_stamp()

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            return cls(function, file) if os.path.exists(file) else None

    class Storage(caching.CompileResultCacheImpl):
        _locator_classes: ClassVar[list[Any]] = [Locator, *caching.CacheImpl._locator_classes]

    class Kept(caching.FunctionCache):
        _impl_class = Storage

        def load_overload(self, signature: Any, context: Any) -> Any:
            try:
                return super().load_overload(signature, context)
            except Exception:  # whatever unpickling makes of a damaged file: compile anew
                with contextlib.suppress(OSError):
                    os.unlink(self._cache_file._index_path)
                return None

        def save_overload(self, signature: Any, result: Any) -> None:
            with contextlib.suppress(OSError):  # read-only or full: go on with what is in memory
                super().save_overload(signature, result)

    return Kept


def compiled(function: F) -> F:
    """Mark a helper that compiled code calls: compiled with its caller and inlined."""
    return jit(function, inline=True)  # type: ignore[no-any-return]


def primitive(where: str) -> Callable[[F], F]:
    """Mark a function whose machine code is written by hand.

    Args:
        where: "module:name" of the numba intrinsic.
    """

    def mark(function: F) -> F:
        if INTERPRET:
            return function
        module, name = where.split(":")
        intrinsic = getattr(importlib.import_module(module), name)
        intrinsic.py_func = function
        return intrinsic  # type: ignore[no-any-return]

    return mark


_interpreted: dict[Any, Any] = {}


def interpreted(function: Any, keep: frozenset[str] = frozenset()) -> Any:
    """The plain Python form of a compiled function, with all compiled functions it calls by name made plain too.

    keep: names of functions that stay compiled, since they are given nothing but numbers (results are the same).
    """
    source = getattr(function, "py_func", function)
    if not isinstance(source, FunctionType):
        return function
    if (source, keep) in _interpreted:
        return _interpreted[source, keep]
    names = dict(source.__globals__)
    plain = FunctionType(source.__code__, names, source.__name__, source.__defaults__, source.__closure__)
    plain.__kwdefaults__ = source.__kwdefaults__
    _interpreted[source, keep] = plain
    for name in source.__code__.co_names:
        if hasattr(names.get(name), "py_func") and name not in keep:
            names[name] = interpreted(names[name], keep)
    return plain
