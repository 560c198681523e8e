"""Writes the golden files again: all of them, or those that are named."""

from __future__ import annotations

import sys

from tests.search import golden

for name in sys.argv[1:] or golden.groups():
    print(f"{name}: {golden.write(name)} cases")
