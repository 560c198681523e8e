"""Checks of the folders of a reproduction's parts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, PolicyError, RunError
from persona_evo.jobs import schema
from persona_evo.jobs.folder import differences
from persona_evo.playtest.journal import CONFIG as PLAYTEST
from persona_evo.playtest.players import Player, Role
from persona_evo.search.configuration import comparable
from persona_evo.store import policies, runs


def check_evolution(folder: Path, expected: Mapping[str, Any]) -> None:
    """Check that a folder holds the expected evolution.

    Raises:
        RunError: it holds another evolution, or is damaged.
    """
    config, ours = runs.read_config(folder), json.loads(json.dumps(expected))
    known = {key: value for key, value in config.items() if key in ours} | {"persona": config["persona"]["name"]}
    other = differences(comparable(known), comparable(ours))
    if other is not None:
        raise RunError(
            "this folder holds another evolution",
            place=Place(str(folder / runs.CONFIG)),
            found=other[0],
            expected=other[1],
            hint="restore the right folder, or delete this one, which is then made again",
        )


def check_policy(path: Path, persona: str, run: str) -> None:
    policy = policies.read(path)
    found = policy.persona, str(policy.run.get("name"))
    if found != (persona, run):
        raise PolicyError(
            "this folder holds the policy of another evolution",
            place=Place(str(path)),
            found=", run ".join(found),
            expected=f"{persona}, run {run}",
            hint="restore the file, or delete it; the choice will then be made again",
        )


def make_room(folder: Path, players: Sequence[Player]) -> None:
    """Move a playtest aside if its policies are no longer the chosen ones, because their evolutions have continued."""
    path = folder / PLAYTEST
    if not path.is_file():
        return
    known = schema.read(path, RunError)[0].get("players")
    ours = [Role.of(p).to_dict() for p in players]
    if not isinstance(known, list) or len(known) != len(ours) or not all(isinstance(k, dict) for k in known):
        return
    if [k.get("label") for k in known] != [o["label"] for o in ours]:
        return
    pairs = [(row, json.loads(json.dumps(o))) for row, o in zip(known, ours, strict=True)]
    if any(o.get(k) != row.get(k) for row, o in pairs for k in (*o, "lists")):
        n = next(n for n in itertools.count(1) if not folder.with_name(f"{folder.name}-before-{n}").exists())
        folder.rename(folder.with_name(f"{folder.name}-before-{n}"))
