"""Repeat a published experiment or a study of this project, and write its tables beside the published numbers.

Everything is in one folder. After a stop, the same command continues with what is missing.
"""

from __future__ import annotations

import argparse
import textwrap
from typing import NoReturn

from persona_evo.api import studies
from persona_evo.cli.parser import Commands
from persona_evo.errors import SettingsError


def add(commands: Commands) -> None:
    """Add the command with a subcommand for each installed study."""
    parser = commands.add_parser("reproduce", description=__doc__)
    names = list(studies.installed())
    if not names:
        _refuse(parser, studies.not_installed(""))
        return
    found = parser.add_subparsers(dest="command_reproduce", metavar="|".join(names), required=True)
    for name in names:
        try:
            study = studies.get(name)
        except SettingsError as e:
            # With a prefix that nobody types, options are parsed like other arguments.
            _refuse(found.add_parser(name, help="cannot be loaded", prefix_chars="\0", add_help=False), e)
            continue
        command = found.add_parser(name, help=study.help, description=textwrap.fill(study.description, 80))
        study.add_arguments(command)
        command.set_defaults(run=study.run)


def _refuse(parser: argparse.ArgumentParser, error: SettingsError) -> None:
    """Let a command take any arguments and raise an error."""

    def run(args: argparse.Namespace) -> NoReturn:
        raise error

    parser.add_argument("anything", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)
