"""The files that `playtest` and `level check` write for continuous integration: --junit and --summary."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli.parser import path
from persona_evo.errors import Place, SettingsError

if TYPE_CHECKING:
    from persona_evo.games.findings import Finding
    from persona_evo.playtest.requirement import Check
    from persona_evo.report.ci import Case

OPTIONS = ("junit", "summary")


def add(parser: argparse.ArgumentParser) -> None:
    """Add --junit and --summary."""
    parser.add_argument(
        "--junit", type=path, metavar="FILE", help="write the results as JUnit XML, even if something failed"
    )
    parser.add_argument(
        "--summary", type=path, metavar="FILE", help="write a summary in Markdown, for example for $GITHUB_STEP_SUMMARY"
    )


def check(args: argparse.Namespace) -> None:
    """Refuse files that cannot be written, before anything is played.

    Raises:
        SettingsError: a file cannot be written; the message names it.
    """
    for name in OPTIONS:
        target: Path | None = getattr(args, name)
        if target is not None and (target.is_dir() or not target.absolute().parent.is_dir()):
            found = "a folder" if target.is_dir() else "a folder that does not exist"
            raise SettingsError(
                f"--{name} does not name a file that can be written",
                place=Place(str(target)),
                found=found,
                expected="a file in a folder that exists",
            )


def wanted(args: argparse.Namespace) -> bool:
    """Return whether any of these files is to be written."""
    return any(getattr(args, name) is not None for name in OPTIONS)


def words(args: argparse.Namespace) -> list[str]:
    """Return the options as they were typed."""
    return [word for name in OPTIONS if getattr(args, name) for word in (f"--{name}", str(getattr(args, name)))]


def write(
    args: argparse.Namespace,
    title: str,
    cases: Sequence[Case],
    checks: Sequence[Check],
    findings: Sequence[Finding],
    facts: Mapping[str, str],
) -> None:
    """Write the requested files.

    Args:
        facts: by name, where the other results are and how they were made.
    """
    from persona_evo.jobs.files import write_atomically
    from persona_evo.report import ci

    if args.junit is not None:
        write_atomically(args.junit, ci.junit(cases))
    if args.summary is not None:
        write_atomically(args.summary, ci.summary(title, ci.verdict(checks, findings), checks, findings, facts))
