"""Template files that the `new` commands write."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from persona_evo.errors import InputError, Place
from persona_evo.names import is_name


def write_template(
    args: argparse.Namespace,
    what: str,
    suffix: str,
    text: Callable[[str], str],
    error: type[InputError],
    digits: bool = False,
    scripts: bool = False,
) -> Path:
    """Write a file that can be used as it is.

    Args:
        args: the options: name; out, the path instead of the name with `suffix`; force, whether to replace a file.
        what: the kind of file with its article, for messages.
        suffix: the suffix of the file.
        text: returns the text of the file for a name.
        error: the class of errors to raise.
        digits: whether the name may begin with a digit.
        scripts: whether it may have letters other than a to z.

    Raises:
        error: the name is not allowed, or the file exists already.
    """
    letters = "letters of any script" if scripts else "letters"
    if not is_name(args.name, digits) or not (scripts or args.name.isascii()):
        raise error(
            f"not a name for {what}",
            found=repr(args.name),
            expected=f"{letters}, digits, _ and -" + ("" if digits else ", a letter first"),
        )
    target: Path = args.out or Path(f"{args.name}{suffix}")
    if target.exists() and not args.force:
        raise error("the file already exists", place=Place(str(target)), hint="--force overwrites it")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text(args.name), encoding="utf-8", newline="\n")
    return target
