"""`persona-evo doctor`: versions, cores, and the cache of compiled code."""

from __future__ import annotations

import argparse
from typing import Any

from persona_evo import __version__
from persona_evo.cli.say import counted, is_compiled, say
from persona_evo.errors import Place, SettingsError

OPTIONAL = ("distributed", "ray")
PACKAGES = ("numba", "llvmlite", "numpy", "deap", "joblib", "sympy", "matplotlib", "pillow", *OPTIONAL)


def add(commands: Any) -> None:
    """The command's options."""
    parser = commands.add_parser("doctor", help="versions, cores and the cache of compiled code", description=__doc__)
    parser.add_argument("--clear-cache", action="store_true", help="delete compiled code; it is made anew when needed")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what is installed and whether the engine is compiled."""
    import importlib.metadata
    import platform
    import re
    import shutil

    from persona_evo import compiling
    from persona_evo.evolve.parallel import cores

    if args.clear_cache:
        root = compiling.cache_root()
        inside = root.iterdir() if root.is_dir() else ()
        folders = [f for f in inside if re.fullmatch("[0-9a-f]{16}", f.name) and any(f.rglob("*.nbi"))]
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        left = [f for f in folders if f.exists()]
        say(f"deleted {counted(len(folders) - len(left), 'folder')} of compiled code in {root}")
        if left:
            raise SettingsError(
                "compiled code cannot be deleted", place=Place(str(left[0])), found=counted(len(left), "folder"),
                hint="see that you may write there, or set PERSONA_EVO_CACHE to another folder",
            )  # fmt: skip
        return 0
    say(f"persona-evo {__version__}, Python {platform.python_version()} on {platform.platform()}, {cores()} cores")
    for package in PACKAGES:
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed" + (" (optional)" if package in OPTIONAL else "")
        say(f"  {package:<12} {version}")
    state = "the engine is compiled" if is_compiled() else "the engine will be compiled at its first use"
    say(f"{state}: {compiling.cache_folder()}")
    return 0
