"""Provides the examples of docs/pages/extending.md; the tests install the code of its blocks."""

from __future__ import annotations

import functools
import re

from tests.shared import ROOT

PAGE = ROOT / "docs" / "pages" / "extending.md"
_BLOCK = re.compile(r"```python title=\"(?P<file>\S+)\.py\"\n(?P<text>.*?)```", re.DOTALL)


@functools.cache
def examples() -> dict[str, str]:
    """Name of a module -> its text."""
    return {found["file"]: found["text"] for found in _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))}
