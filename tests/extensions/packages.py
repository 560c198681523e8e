"""Packages from elsewhere, as they lie in an environment after their installation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.shared import ROOT


def install(folder: Path, module: str, source: str, points: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Put a package of one module into a folder.

    Args:
        folder: that is put on the path of modules.
        module: name of the module, and of the package.
        source: text of the module.
        points: group -> name -> value of its entry points.

    Returns:
        The environment in which it is installed.
    """
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for group, of in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))}


def command(
    environment: Mapping[str, str], *words: object, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Return what the command line says in an environment."""
    line = [sys.executable, "-m", "persona_evo", *map(str, words)]
    return subprocess.run(line, env=environment, cwd=cwd, capture_output=True, encoding="utf-8", timeout=300)
