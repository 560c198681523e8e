"""Options and messages that the commands of all studies share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from persona_evo.cli import options
from persona_evo.cli.parser import path, whole
from persona_evo.cli.say import StatusLine, note, say
from persona_evo.errors import SettingsError
from persona_evo.jobs.windows import program

INTERRUPTED = 130


class Seeded(Protocol):
    """The settings of a study."""

    @property
    def seed(self) -> int:
        """The seed of all random choices."""


S = TypeVar("S", bound=Seeded)


def add_running(parser: argparse.ArgumentParser, folder: str, backend: bool = True) -> None:
    """Add --jobs, --backend, --seed, --out and --resume.

    Args:
        parser: the parser of the study's command.
        folder: the default folder, for the help.
        backend: False for a study without a choice of backends.
    """
    options.add_jobs(parser)
    if backend:
        options.add_backend(parser, address=False)
    parser.add_argument(
        "--seed", type=whole(0, options.SEEDS), metavar="N", help="seed of all random choices (default: 1)"
    )
    options.add_out(parser, f"folder for everything (default: {folder}); the reproduction that it holds is continued")
    parser.add_argument(
        "--resume", type=path, metavar="FOLDER", help="continue the reproduction in this folder, with its settings"
    )


def check_running(args: argparse.Namespace, frozen: Sequence[str], free: str = "") -> None:
    """Check the backend, and that --resume comes without options whose values the folder has.

    Args:
        args: the parsed options.
        frozen: names of the options that the folder has, without --seed, --out and --quick.
        free: further options that may come with --resume, for the message; each is followed by a comma and a space.

    Raises:
        SettingsError: an option cannot be combined with --resume, or the backend cannot be used.
    """
    given = "--jobs, --backend" if "backend" in args else "--jobs"
    if "backend" in args:
        options.check_backend(args)
    if args.resume is None:
        return
    for name in (*frozen, "seed", "out", "quick"):
        if getattr(args, name) not in (None, False):
            raise SettingsError(
                f"--{name.replace('_', '-')} cannot be combined with --resume",
                expected=free + given,
                hint="a reproduction takes everything else from its folder",
            )


def begin(args: argparse.Namespace, study: str, reopen: Callable[[Path], S], make: Callable[[], S]) -> tuple[Path, S]:
    """Return the folder of a study, and its settings: those of the folder to resume, or new ones, which are announced.

    Args:
        args: the parsed options.
        study: the name of the study.
        reopen: reads the settings in a folder.
        make: makes the settings from the options.
    """
    from persona_evo.studies.keeping import usual_folder

    if args.resume is not None:
        return args.resume, reopen(args.resume)
    settings, folder = make(), args.out or usual_folder(study, "quick" * args.quick)
    note(f"reproducing {study}, seed {settings.seed}, into {folder}")
    return folder, settings


def seed_of(args: argparse.Namespace) -> int:
    """Return the given seed, or 1 without one."""
    return 1 if args.seed is None else int(args.seed)


def drawing() -> Callable[[str], None]:
    """Return a function to call with the name of each picture that is drawn."""
    line = StatusLine()
    return lambda text: line.show(f"drawing {text}")


def finished(folder: Path, text: str, page: Path) -> int:
    """Print the results and where the rest is; return the exit code."""
    StatusLine.done_with_line()
    say(text)
    say(f"\neverything is in {folder}, start with {page}")
    return 0


def stopped(args: argparse.Namespace, folder: Path) -> int:
    """Say how to resume after Ctrl-C; return the exit code."""
    note(f"stopped; everything up to here is kept in {folder}")
    note(f"resume with: {program('reproduce', args.command_reproduce, '--resume', folder)}")
    return INTERRUPTED
