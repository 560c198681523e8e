"""Files to start from, as the `new` commands write them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from persona_evo.errors import InputError, Place


def begun(
    args: argparse.Namespace, what: str, suffix: str, text: Callable[[str], str], error: type[InputError],
    digits: bool = False,
) -> Path:  # fmt: skip
    """Write a file that can be used as it is.

    Args:
        args: name; out, where to instead of the name with `suffix`; force, whether a file that is there may go.
        what: the file is of, with its article, for messages. text: of the file, by the name. error: what is raised.
        digits: whether the name may begin with one.

    Raises:
        error: the name is none, or the file is there already.
    """
    if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]*" if digits else "[A-Za-z][A-Za-z0-9_-]*", args.name):
        raise error(f"not a name for {what}", found=repr(args.name),
                    expected="letters, digits, _ and -" + ("" if digits else ", a letter first"))  # fmt: skip
    target: Path = args.out or Path(f"{args.name}{suffix}")
    if target.exists() and not args.force:
        raise error("there is such a file already", place=Place(str(target)), hint="--force writes over it")
    target.write_text(text(args.name), encoding="utf-8", newline="\n")
    return target
