"""Runs the product as a user at a terminal does, and reads its findings. One process serves all cases.

`level check --json` gives the findings of a level that nobody has played; `playtest` writes those in `findings.json`.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .cases import Case

Finding = dict[str, Any]
CHECK, PLAYTEST = "check", "playtest"
TRIALS, ITERATIONS = 2, 1_500
"""Playthroughs of each persona in a playtest, and iterations of each."""


def command(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run a command of the product; return its exit code, output and error output."""
    from persona_evo.cli.main import main

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = int(main(list(arguments)) or 0)
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else 1
    return code, out.getvalue(), errors.getvalue()


def diagnose(case: Case, how: str) -> list[Finding]:
    """Return the product's findings about a case's levels, in its order.

    Raises:
        RuntimeError: the command failed.
    """
    with tempfile.TemporaryDirectory(prefix="findings-") as folder:
        files = []
        for name, text in zip(case.level_names, case.texts, strict=True):
            files.append(Path(folder) / f"{name}.txt")
            files[-1].write_text(text, encoding="utf-8")
        levels = [str(f) for f in files]
        if how == CHECK:
            code, out, errors = command(["level", "check", *levels, "--game", case.game, "--json", *case.options])
            data = out
        else:
            run = Path(folder) / "run"
            code, out, errors = command(
                [
                    "playtest",
                    *levels,
                    "--game",
                    case.game,
                    "--trials",
                    str(TRIALS),
                    "--iterations",
                    str(ITERATIONS),
                    "--jobs",
                    "1",
                    "--seed",
                    "1",
                    "--out",
                    str(run),
                    "--no-pictures",
                    "--no-replays",
                    *personas_of(case),
                    *case.options,
                ]
            )
            data = (run / "findings.json").read_text(encoding="utf-8") if (run / "findings.json").exists() else ""
        if code not in (0, 1) or not data.strip():
            raise RuntimeError(f"{case.name}: {how} ended with {code}\n{errors or out}")
        return list(json.loads(data)["findings"])


def personas_of(case: Case) -> list[str]:
    """Return the players of a playtest: personas that ship with the game, or those written beside a Python class."""
    if not case.game.endswith(".py"):
        return []
    game = Path(case.game)
    return ["--personas", ",".join(str(game.with_name(f"{game.stem}_{who}.toml")) for who in ("leaver", "collector"))]
